"""`verify` names every kind of damage, with file and line, and calls a sound record clean."""

from __future__ import annotations

import hashlib
import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from evalkit.canonical import sha256_of
from evalkit.errors import RecordError
from evalkit.store.limits import LimitCheck
from evalkit.store.logs import LogReading
from evalkit.store.reader import RunReader
from evalkit.store.verify import Finding, verify_run


def log_of(run: Path, task: str = "t00002") -> Path:
    return next((run / "episodes").glob(f"{task}-*.jsonl"))


def index_of(run: Path) -> list[dict]:
    return [json.loads(line) for line in (run / "episodes.jsonl").read_text().splitlines()]


def write_index(run: Path, lines: list[dict]) -> None:
    (run / "episodes.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))


def edit(path: Path, line: int, change: Callable[[str], str]) -> None:
    lines = path.read_text().splitlines(keepends=True)
    lines[line - 1] = change(lines[line - 1])
    path.write_text("".join(lines))


def damages(run: Path) -> list[Finding]:
    return [finding for finding in verify_run(run).findings if finding.level == "damage"]


def test_a_sound_record_is_clean(recorded):
    found = verify_run(recorded)
    assert found.clean
    assert found.findings == []
    assert (found.planned, found.ended) == (24, 24)
    assert found.events > 100
    assert found.blobs >= 1


def test_an_edited_event_breaks_the_chain_at_the_next_line(copy):
    log = log_of(copy)
    edit(log, 4, lambda line: line.replace('"ok":true', '"ok":false'))
    (first, *_) = damages(copy)
    assert (first.file, first.line) == (f"episodes/{log.name}", 5)
    assert "prev" in first.message


def test_an_edited_last_event_contradicts_the_index(copy):
    log = log_of(copy)
    edit(log, len(log.read_text().splitlines()), lambda line: line.replace('"calls":3', '"calls":2'))
    messages = [d.message for d in damages(copy) if d.file == f"episodes/{log.name}"]
    assert "the chain ends with another hash than in the index" in messages
    assert "counters of the end differs from the index" in messages


def test_a_truncated_log_is_named(copy):
    log = log_of(copy)
    log.write_text("".join(log.read_text().splitlines(keepends=True)[:-2]))
    (found,) = damages(copy)
    assert found.file == f"episodes/{log.name}"
    assert "stops after" in found.message


def test_a_log_torn_in_its_last_line_is_damage_once_it_was_finished(copy):
    log = log_of(copy)
    log.write_bytes(log.read_bytes()[:-20])
    assert any("torn" in d.message and d.file == f"episodes/{log.name}" for d in damages(copy))


def test_a_dropped_line_breaks_chain_and_numbering(copy):
    log = log_of(copy)
    lines = log.read_text().splitlines(keepends=True)
    log.write_text("".join(lines[:3] + lines[4:]))
    messages = " ".join(d.message for d in damages(copy))
    assert "prev" in messages
    assert "seq is 4, expected 3" in messages


def test_lines_that_are_no_events(copy):
    edit(log_of(copy), 2, lambda line: "{broken\n")
    edit(log_of(copy, "t00003"), 2, lambda line: "[1]\n")
    messages = {(d.line, d.message) for d in damages(copy)}
    assert {(2, "not JSON"), (2, "not an event: it has no kind")} <= messages


def test_a_missing_log(copy):
    log_of(copy).unlink()
    (found,) = damages(copy)
    assert found.file == "episodes.jsonl"
    assert found.line is not None
    assert "t00002" in found.message
    assert "missing" in found.message


def test_a_log_in_the_place_of_another(copy):
    shutil.copy(log_of(copy, "t00003"), log_of(copy))
    assert "belongs to another episode" in [d.message for d in damages(copy)]


def test_a_foreign_log(copy):
    shutil.copy(log_of(copy), copy / "episodes" / "t99999-0123456789.jsonl")
    (found,) = damages(copy)
    assert found == Finding(
        "damage", "episodes/t99999-0123456789.jsonl", None, "the log of no planned episode"
    )


def test_events_after_the_end(copy):
    log = log_of(copy)
    lines = log.read_bytes().splitlines(keepends=True)
    event = json.loads(lines[-1]) | {
        "prev": hashlib.sha256(lines[-1][:-1]).hexdigest(),
        "seq": len(lines),
    }
    log.write_bytes(b"".join(lines) + json.dumps(event).encode() + b"\n")
    assert "events follow the end of the episode" in [d.message for d in damages(copy)]


def test_a_duplicate_in_the_index(copy):
    lines = index_of(copy)
    write_index(copy, [*lines, lines[4]])
    (found,) = damages(copy)
    assert (found.file, found.line) == ("episodes.jsonl", len(lines) + 1)
    assert "listed already, in line 5" in found.message


def test_a_foreign_key_in_the_index(copy):
    lines = index_of(copy)
    lines[0]["key"]["task"] = "t77777"
    write_index(copy, lines)
    messages = [d.message for d in damages(copy)]
    assert any("no planned episode" in message for message in messages)


def test_a_key_of_an_agent_or_a_condition_that_the_run_lacks(copy):
    lines = index_of(copy)
    lines[0]["key"]["agent"] = "somebody"
    lines[1]["key"]["condition"] = "loose"
    write_index(copy, lines)
    messages = [d.message for d in damages(copy) if d.file == "episodes.jsonl"]
    assert messages[0].endswith("is no planned episode: the run has no agent 'somebody'")
    assert messages[1].endswith("is no planned episode: the run's condition is 'default'")


def test_a_condition_that_is_not_the_protocols(copy):
    manifest = json.loads((copy / "run.json").read_text())
    (copy / "run.json").write_text(json.dumps(manifest | {"condition": "loose"}))
    assert [d.message for d in damages(copy)] == ["condition is 'loose', the protocol's 'default'"]


def with_limits(run: Path, **limits: float) -> list[Finding]:
    """The damages of a run under other limits, what names them excepted."""
    manifest = json.loads((run / "run.json").read_text())
    manifest["protocol"]["limits"] = limits
    manifest["protocol_hash"] = sha256_of(manifest["protocol"])
    (run / "run.json").write_text(json.dumps(manifest))
    return damages(run)


@pytest.mark.parametrize("name", ["calls", "executions", "meter:adds"])
def test_a_limit_that_was_exceeded_is_damage(copy, name):
    spent = max(line["end"]["counters"].get(name, 0) for line in index_of(copy))
    assert spent >= 1
    assert with_limits(copy, **{name: spent}) == []
    found = with_limits(copy, **{name: spent - 1})
    assert {d.message for d in found} == {f"limit {name} exceeded: {spent} of {spent - 1}"}
    assert all(d.file.startswith("episodes/") and d.line for d in found)


def test_limits_of_what_is_known_only_once_it_is_spent_may_be_exceeded(copy):
    assert with_limits(copy, seconds=1e-9, tokens=0) == []


def reading(*events: dict) -> LogReading:
    return LogReading(list(events), list(range(1, len(events) + 1)))


def call(tool: str, code: str = "") -> list[dict]:
    answer = {"code": code, "message": "the budget of tool_calls (1) is used up"} if code else {}
    return [
        {"kind": "action", "turn": 1, "tool": tool, "arguments": {}},
        {"kind": "result", "ok": not code, "data": answer},
    ]


def test_a_tool_that_the_limit_refused_can_not_be_carried_out_beyond_it():
    check = LimitCheck({"tool_calls": 1})
    honest = reading(*call("add"), *call("add", "over_budget"), *call("submit"))
    assert list(check.look("a", honest)) == []
    assert list(check.tool_calls()) == []
    assert list(check.look("b", reading(*call("add"), *call("add")))) == []
    (found,) = check.tool_calls()
    assert found == ("b", 4, "limit tool_calls exceeded: add was carried out as call 2 of 1")


def test_an_index_line_that_is_none(copy):
    lines = index_of(copy)
    del lines[2]["chain"]
    write_index(copy, lines)
    assert ("episodes.jsonl", 3, "not an entry of the index: chain is missing") in {
        (d.file, d.line, d.message) for d in damages(copy)
    }


def test_a_changed_outcome_in_the_index(copy):
    lines = index_of(copy)
    position = next(i for i, line in enumerate(lines) if line["end"]["reason"] == "worker_crashed")
    lines[position]["end"]["reason"] = "done"
    write_index(copy, lines)
    assert [d.message for d in damages(copy)] == ["reason of the end differs from the index"]


def test_a_torn_last_line_of_the_index_is_noted_and_no_damage(copy):
    path = copy / "episodes.jsonl"
    path.write_bytes(path.read_bytes()[:-15])
    found = verify_run(copy)
    assert found.clean
    notes = {(f.file, f.line) for f in found.findings}
    assert ("episodes.jsonl", 24) in notes
    assert any("ended, but not in the index" in f.message for f in found.findings)


def test_missing_changed_and_unreferenced_blobs(copy):
    (blob,) = sorted((copy / "blobs").glob("*/*"))[:1]
    extra = copy / "blobs" / "ab" / ("ab" + "0" * 62)
    extra.parent.mkdir(exist_ok=True)
    extra.write_bytes(b"stray")
    found = verify_run(copy)
    assert found.clean
    assert [(f.level, f.message) for f in found.findings] == [("note", "no event refers to it")]
    blob.write_bytes(blob.read_bytes() + b" ")
    assert "another hash" in damages(copy)[0].message
    blob.unlink()
    (first, *_) = damages(copy)
    assert first.file.startswith("episodes/")
    assert first.line is not None
    assert "is missing" in first.message


def test_a_changed_protocol_or_seed_in_the_manifest(copy):
    manifest = json.loads((copy / "run.json").read_text())
    (copy / "run.json").write_text(json.dumps(manifest | {"seed": 1}))
    assert "the seed is not the one that the run's seed gives" in {d.message for d in damages(copy)}
    manifest["protocol"]["limits"]["calls"] = 100
    (copy / "run.json").write_text(json.dumps(manifest))
    assert [d.message for d in damages(copy)] == ["protocol_hash is not the hash of the protocol"]


def test_a_task_dropped_from_the_manifest(copy):
    manifest = json.loads((copy / "run.json").read_text())
    manifest["tasks"].remove("t00002")
    (copy / "run.json").write_text(json.dumps(manifest))
    messages = [d.message for d in damages(copy)]
    assert "the log of no planned episode" in messages
    assert any("is no planned episode" in m for m in messages)


def test_a_truncated_manifest_is_damage_and_a_strange_folder_is_an_error(copy, tmp_path):
    path = copy / "run.json"
    path.write_bytes(path.read_bytes()[:-100])
    (found,) = damages(copy)
    assert (found.file, found.message[:8]) == ("run.json", "not JSON")
    with pytest.raises(RecordError, match=r"has no run\.json"):
        verify_run(tmp_path)


def test_missing_episodes_are_noted(copy):
    lines = index_of(copy)
    RunReader(copy).log_path(next(iter(RunReader(copy).index()))).unlink()
    write_index(copy, lines[1:])
    found = verify_run(copy)
    assert found.clean
    assert found.findings == [
        Finding("note", "episodes.jsonl", None, "1 of 24 planned episodes have not ended")
    ]


def test_evidence_of_a_design_nobody_made(copy):
    (copy / "evidence.jsonl").write_text(
        json.dumps({"executor": "hazard.total", "candidate_sha256": "0" * 64, "data": {}})
        + '\n"text"\n{"execu'
    )
    found = verify_run(copy)
    assert [(f.level, f.line) for f in found.findings] == [("damage", 1), ("damage", 2), ("note", 3)]


def test_the_command_tells_damage_by_exit_code_and_names_it(hazard, copy):
    clean = hazard.evalkit("verify", str(copy))
    assert (clean.returncode, clean.stderr) == (0, "")
    assert "24 of 24 episodes" in clean.stdout
    log = log_of(copy)
    log.write_text("".join(log.read_text().splitlines(keepends=True)[:-1]))
    damaged = hazard.evalkit("verify", str(copy))
    assert damaged.returncode == 1
    assert re.search(rf"damage: episodes/{log.name}:\d+: ", damaged.stdout)
    document = json.loads(hazard.evalkit("verify", str(copy), "--json").stdout)
    assert document["clean"] is False
    assert document["findings"][0]["file"] == f"episodes/{log.name}"
