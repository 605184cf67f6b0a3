"""Runs as the commands of plugins read them."""

import shutil

import pytest

from evalkit.errors import RecordError, UnknownNameError, UsageError
from evalkit.report import recorded_episode, recorded_run

BUILDERS = {
    "careful": {"T-1": [1], "T-2": [0, 2], "T-3": [4, 3], "T-4": [5, 6, 7]},
    "hasty": {"T-1": [9, 9, 9], "T-2": [2], "T-3": [None]},
}


@pytest.fixture
def runs(toy, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    plugins = toy.plugins()
    monkeypatch.setattr("evalkit.report.recorded.load_plugins", lambda: plugins)
    toy.record(tmp_path / "runs", BUILDERS)
    return tmp_path / "runs"


def test_a_run_holds_what_has_a_result_and_names_what_is_missing(runs):
    run = recorded_run("latest", "towers")
    assert [(e.key.agent, t.id) for e, t in run.played] == [
        ("careful", "T-1"),
        ("hasty", "T-1"),
        ("careful", "T-2"),
        ("hasty", "T-2"),
        ("careful", "T-3"),
        ("careful", "T-4"),
    ]
    assert [(key.agent, task.id) for key, task in run.missing] == [("hasty", "T-3"), ("hasty", "T-4")]
    assert all(episode.key.task == task.id for episode, task in run.played)
    assert run.manifest["run"] == run.name


def test_a_copy_reads_the_same_without_what_is_derived(runs, tmp_path):
    (folder,) = runs.iterdir()
    copy = shutil.copytree(folder, tmp_path / "copy", ignore=shutil.ignore_patterns("scores"))
    first, second = (recorded_run(str(path), "towers") for path in (folder, copy))
    assert [e.events for e, _ in first.played] == [e.events for e, _ in second.played]


def test_a_damaged_episode_is_missing_and_named(runs, caplog):
    (log,) = (path for path in runs.glob("*/episodes/T-1-*") if b'"careful"' in path.read_bytes())
    log.write_bytes(log.read_bytes()[:-40])
    run = recorded_run("latest", "towers")
    assert ("careful", "T-1") in [(key.agent, key.task) for key, _ in run.missing]
    assert log.name in caplog.text


def test_an_episode_by_part_of_its_key(runs):
    episode, task = recorded_episode("latest", "careful/T-2", "towers")
    assert (episode.key.agent, task.id) == ("careful", "T-2")


def test_what_cannot_be_found_is_explained(runs):
    with pytest.raises(UsageError, match="is one of towers, not of bridges"):
        recorded_run("latest", "bridges")
    with pytest.raises(RecordError, match="no run 'nosuch'"):
        recorded_run("nosuch", "towers")
    with pytest.raises(UsageError, match="fits 2 episodes"):
        recorded_episode("latest", "T-2", "towers")
    with pytest.raises(UnknownNameError, match="unknown episode 'T-9'"):
        recorded_episode("latest", "T-9", "towers")
    with pytest.raises(RecordError, match="has not been played"):
        recorded_episode("latest", "hasty/T-4", "towers")
