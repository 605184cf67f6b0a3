"""`--shard` and `merge`: the parts make the whole, to the byte of its scores."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from evalkit.errors import RecordError, UsageError
from evalkit.store.merge import merge_runs
from evalkit.store.planned import Shard, planned_keys
from evalkit.store.reader import RunReader
from evalkit.store.verify import verify_run


def scores(run: Path) -> bytes:
    return (run / "scores" / "scores.json").read_bytes()


def manifest_of(run: Path) -> dict:
    return json.loads((run / "run.json").read_text())


def change_manifest(run: Path, **fields: object) -> None:
    (run / "run.json").write_text(json.dumps(manifest_of(run) | fields))


@pytest.mark.parametrize("count", [1, 2, 3, 7, 50])
def test_shards_are_disjoint_cover_everything_and_are_even(count):
    keys = planned_keys(["a", "b"], [f"t{n}" for n in range(11)], "c", 2)
    parts = [
        planned_keys(["a", "b"], [f"t{n}" for n in range(11)], "c", 2, Shard(i + 1, count))
        for i in range(count)
    ]
    assert sorted(key for part in parts for key in part) == sorted(keys)
    assert max(map(len, parts)) - min(map(len, parts)) <= 1
    assert all(part == [key for key in keys if key in part] for part in parts)


@pytest.mark.parametrize("text", ["0/2", "3/2", "1", "1/0", "a/b", "-1/2", "1/2/3", ""])
def test_impossible_shards(text):
    with pytest.raises(UsageError):
        Shard.parse(text)


def test_merged_shards_equal_the_run_that_was_not_split(hazard):
    agents = ("--agent", "adder", "--agent", "doubler", "--epochs", "2")
    whole = hazard.play("plain", *agents)
    parts = [hazard.play("plain", *agents, "--shard", f"{i}/3", "-o", "parts") for i in (1, 2, 3)]
    parts = sorted((hazard.folder / "parts").iterdir())
    planned = [RunReader(part).planned() for part in parts]
    assert [len(keys) for keys in planned] == [8, 8, 8]
    assert all(len(RunReader(part).index()) == 8 for part in parts)

    done = hazard.evalkit("merge", *map(str, parts), "-o", "merged")
    assert (done.returncode, done.stdout) == (0, "merged\n"), done.stderr
    merged = hazard.folder / "merged"
    assert verify_run(merged).findings == []
    assert RunReader(merged).planned() == RunReader(whole).planned()
    report = hazard.evalkit("rescore", str(merged), "--format", "json")
    assert report.returncode == 0, report.stderr
    assert scores(merged) == scores(whole)
    assert [part["shard"] for part in manifest_of(merged)["merged"]] == [
        manifest_of(part)["shard"] for part in parts
    ]
    again = hazard.evalkit("resume", str(merged))
    assert again.returncode == 0
    assert "playing 0" in again.stderr


def test_two_shards_of_three_can_be_merged_and_resumed(hazard):
    whole = hazard.play("plain")
    for i in (1, 3):
        hazard.evalkit("run", "hazard.plain", "--shard", f"{i}/3", "-o", "parts")
    parts = sorted((hazard.folder / "parts").iterdir())
    merged = merge_runs(parts, hazard.folder / "merged").folder
    assert [f.level for f in verify_run(merged).findings] == ["note"]
    hazard.journal.unlink()
    done = hazard.evalkit("resume", str(merged))
    assert done.returncode == 0, done.stderr
    assert len(hazard.plays()) == 2
    assert scores(merged) == scores(whole)


def test_equal_duplicates_are_taken_once_and_different_ones_are_an_error(hazard):
    first, second = hazard.play("plain"), hazard.play("plain")
    merged = merge_runs([first, second], hazard.folder / "twice")
    assert len(merged.index()) == 6
    assert verify_run(merged.folder).findings == []

    other = hazard.play("plain", "--job-timeout", "500", HAZARD_DRIFT="5")
    with pytest.raises(RecordError, match="played twice with different outcomes") as caught:
        merge_runs([first, other], hazard.folder / "torn")
    assert str(first) in str(caught.value)
    assert str(other) in str(caught.value)
    left = [path.name for path in hazard.folder.iterdir() if "torn" in path.name]
    assert left == []


def test_logs_of_earlier_attempts_are_kept_and_count(copy, recorded, tmp_path):
    lines = (copy / "episodes.jsonl").read_text().splitlines(keepends=True)
    key = json.loads(lines[0])["key"]
    (copy / "episodes.jsonl").write_text("".join(lines[1:]))
    log = next(
        path
        for path in (copy / "episodes").iterdir()
        if json.dumps(key["task"]) in path.read_text() and json.dumps(key["agent"]) in path.read_text()
    )
    log.write_text("".join(log.read_text().splitlines(keepends=True)[:4]))
    merged = merge_runs([copy, recorded], tmp_path / "merged")
    assert verify_run(merged.folder).clean
    entry = {k.as_dict()["task"] + k.agent: line for k, line in merged.index().items()}[
        key["task"] + key["agent"]
    ]
    assert entry["attempt"] == 2
    assert entry["spent_before"]["tool_calls"] == 1


@pytest.mark.parametrize(
    ("field", "value", "word"),
    [
        ("seed", 7, "seed"),
        ("agents", [], "agents"),
        ("record_version", 0, "record version"),
        ("pictures", True, "pictures"),
    ],
)
def test_differences_are_refused_unless_forced(copy, recorded, tmp_path, field, value, word):
    empty = tmp_path / "other"
    shutil.copytree(copy, empty)
    shutil.rmtree(empty / "episodes")
    (empty / "episodes.jsonl").unlink()
    change_manifest(empty, **{field: value})
    with pytest.raises(UsageError, match=f"differ in their {word}; --force"):
        merge_runs([recorded, empty], tmp_path / "merged")
    merged = merge_runs([recorded, empty], tmp_path / "merged", force=True)
    assert [difference["field"] for difference in merged.manifest["forced"]] == [field]
    assert len(merged.index()) == 24


def test_another_protocol_is_refused_unless_forced(hazard):
    first = hazard.play("plain", "-n", "3")
    second = hazard.play("plain", "--slice", "3:6")
    with pytest.raises(UsageError, match="differ in their tasks: they are no parts of one run"):
        merge_runs([first, second], hazard.folder / "merged", force=True)
    third = hazard.play("plain", "-n", "3", "-T", "limits.calls=8")
    done = hazard.evalkit("merge", str(first), str(third), "-o", "merged")
    assert done.returncode == 2
    assert "differ in their protocol" in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert hazard.evalkit("merge", str(first), str(third), "-o", "merged", "--force").returncode == 0


def test_damaged_parts_existing_targets_and_lonely_runs(copy, recorded, tmp_path):
    with pytest.raises(UsageError, match="exists already"):
        merge_runs([recorded, copy], tmp_path)
    with pytest.raises(UsageError, match="at least two"):
        merge_runs([recorded], tmp_path / "merged")
    with pytest.raises(UsageError, match="named twice"):
        merge_runs([recorded, recorded], tmp_path / "merged")
    next((copy / "episodes").iterdir()).write_text("{}\n")
    with pytest.raises(RecordError, match="is damaged; `evalkit verify"):
        merge_runs([recorded, copy], tmp_path / "merged")
    assert not (tmp_path / "merged").exists()
