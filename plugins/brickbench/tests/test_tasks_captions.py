"""Captions that the user has, as tasks: what a file looks like, what is wrong with one, and a run of it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from arena_standin import evalkit
from click.testing import CliRunner

from evalkit import UsageError
from evalkit_brickbench.cli import command
from evalkit_brickbench.tasks import load_tasks

ROWS = [
    {"id": "val-1", "caption": "a red tower"},
    {"id": "val-2", "caption": "a blue tower"},
]


def file_of(folder: Path, *lines: str) -> Path:
    path = folder / "captions.jsonl"
    path.write_text("\n".join(lines) + "\n")
    return path


def loaded(path: Path, **more: object) -> list[object]:
    return list(load_tasks({"set": "bricknet-val", "captions": str(path), **more}, {}))


def test_captions_become_tasks_of_up_to_a_hundred_parts(tmp_path: Path) -> None:
    path = file_of(tmp_path, *map(json.dumps, ROWS), "")
    first, second = loaded(path)
    assert (first.id, first.inputs["prompt"]) == ("val-1", "a red tower")
    assert first.inputs["part_rules"] == {"min_parts": 1, "max_parts": 100}
    assert first.hidden["questions"] == []
    assert [task.id for task in loaded(path, names=["val-2"])] == [second.id] == ["val-2"]


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("{", "line 2 isn't JSON"),
        ("[" * 9999, "line 2 isn't JSON"),
        ("[]", "line 2: wanted"),
        ('{"id": "val-1", "caption": " "}', "line 2: wanted"),
        ('{"id": "model-001", "caption": "x"}', "'model-001' is no id"),
        ('{"id": "val-../x", "caption": "x"}', "is no id"),
        ('{"id": "val-1", "caption": "x"}', "is on line 1 as well"),
    ],
)
def test_faults_are_named(tmp_path: Path, line: str, why: str) -> None:
    with pytest.raises(UsageError, match=why):
        loaded(file_of(tmp_path, json.dumps(ROWS[0]), line))


def test_what_doesnt_go_with_captions(tmp_path: Path) -> None:
    path = file_of(tmp_path, json.dumps(ROWS[0]))
    for block, why in (
        ({"set": "bricknet-val"}, "-T tasks.captions=FILE"),
        ({"captions": str(path)}, "set: bricknet-val"),
        ({"set": "bricknet-val", "captions": str(path), "setting": "model"}, "captions have no setting"),
        ({"set": "bricknet-val", "captions": str(tmp_path / "none")}, "can't read"),
        ({"set": "bricknet-val", "captions": str(file_of(tmp_path))}, "no captions"),
    ):
        with pytest.raises(UsageError, match=why):
            load_tasks(block, {})


def test_samples_and_ground_truth_stand_beside_each_other(tmp_path: Path, monkeypatch) -> None:
    """Designs for captions are handed in like others; tables and figures do without questions."""
    file_of(tmp_path, *map(json.dumps, ROWS))
    for system, tasks in {"bricknet": ("val-1",), "truth": ("val-1", "val-2")}.items():
        for task in tasks:
            model = tmp_path / system / task / "model.mpd"
            model.parent.mkdir(parents=True)
            model.write_text("1 4 0 -24 0 1 0 0 0 1 0 0 0 1 3001.dat\n")
    agents = ["--agent", "submission:bricknet", "--agent", "submission:truth"]
    evalkit(tmp_path, "run", "brickbench.bricknet-val", "-T", "tasks.captions=captions.jsonl", *agents)
    monkeypatch.chdir(tmp_path)
    done = CliRunner().invoke(command, ["tables", "--cost", "bricknet=0.5", "--json"])
    assert done.exit_code == 0, (done.output, done.exception)
    rows = json.loads(done.stdout)["brickbench.main"]["rows"]
    assert {row[1]: row[2]["numerator"] for row in rows if row[0] == "bricknet-val"} == {
        "bricknet": 1,
        "truth": 2,
    }
    for option in ("--rent", "bricknet=1"), ("--rates", "bricknet=1/1"):
        refused = CliRunner().invoke(command, ["tables", *option]).exception
        assert isinstance(refused, UsageError)
        assert "bricknet was made elsewhere" in str(refused)
    done = CliRunner().invoke(command, ["figures", "-o", "figures", "--json"])
    assert done.exit_code == 0, (done.output, done.exception)
    assert json.loads(done.stdout)["left_out"]["question_graph"] == "val-1 has no questions"
