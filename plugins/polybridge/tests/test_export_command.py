"""`evalkit polybridge export`: levels as files, which a run can be pointed at."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from evalkit import Candidate
from evalkit.cli.main import main
from evalkit_polybridge.contract import parse_reply
from evalkit_polybridge.designs import bridge_to_json
from evalkit_polybridge.executor_embedded import EmbeddedExecutor
from evalkit_polybridge.levelfiles import SUFFIXES, read_folder
from evalkit_polybridge.levels import catalogue
from evalkit_polybridge.settings import BridgeSettings
from evalkit_polybridge.tasks import load_tasks
from evalkit_polybridge.validator import RulesValidator

SETTINGS = BridgeSettings().model_dump()


def exported(capsys: Any, folder: Path, *options: str) -> dict[str, Any]:
    assert main(["polybridge", "export", str(folder), *options, "--json"]) == 0
    result: dict[str, Any] = json.loads(capsys.readouterr().out)
    return result


def loaded(runs: Path, value: dict[str, Any]) -> dict[str, Any]:
    """The value behind a reference to a blob."""
    if "blob" not in value:
        return value
    (blob,) = runs.rglob(f"blobs/*/{value['blob']}")
    document: dict[str, Any] = json.loads(blob.read_bytes())
    return document


def test_every_level_is_written_with_three_files(tmp_path: Path, capsys: Any) -> None:
    said = exported(capsys, tmp_path / "levels")
    assert len(said["levels"]) == 189
    assert said["budget"] == "strict"
    assert len(list((tmp_path / "levels").iterdir())) == 3 * 189
    entries = {e.level.name: e for e in catalogue.load("strict")}
    for level, meta in read_folder(tmp_path / "levels"):
        assert (level, meta) == (entries[level.name].level, entries[level.name].meta)


@pytest.mark.parametrize("budget", ["loose", "tight"])
def test_held_out_levels_under_another_budget_keep_the_strict_one(
    tmp_path: Path, capsys: Any, budget: Any
) -> None:
    exported(capsys, tmp_path / "levels", "--heldout", "--budget", budget)
    entries = {e.level.name: e for e in catalogue.load_heldout(budget)}
    found = read_folder(tmp_path / "levels")
    assert len(found) == 60
    for level, meta in found:
        assert level.budget == entries[level.name].level.budget
        assert meta.strict_budget == entries[level.name].strict_budget


def test_a_run_of_the_exported_levels_gives_the_same_verdicts(tmp_path: Path, capsys: Any) -> None:
    names = ["T1B_Basic_08m", "T2D_Platform_4-4-4"]
    exported(capsys, tmp_path / "levels")
    options = ["-T", f"tasks.folder={tmp_path / 'levels'}", "-j", "1", "-o", str(tmp_path / "runs")]
    assert main(["run", "polybridge.smoke", *options, *(o for n in names for o in ("--id", n))]) == 0
    tasks = {task.id: task for task in load_tasks({"budget": "strict", "names": names}, {})}
    validator, executor = RulesValidator(SETTINGS), EmbeddedExecutor(SETTINGS)
    logs = list((tmp_path / "runs").rglob("episodes/*.jsonl"))
    assert len(logs) == len(names)
    for log in logs:
        events = [json.loads(line) for line in log.read_text(encoding="utf-8").splitlines()]
        task = tasks[events[0]["key"]["task"]]
        reply = next(e for e in events if e["kind"] == "action")["arguments"]
        recorded = next(e for e in events if e["kind"] == "execution")
        text = loaded(tmp_path / "runs", reply)["text"]
        candidate = Candidate(bridge_to_json(parse_reply(text).bridge))
        assert list(validator.validate(task, candidate)) == []
        run = executor.execute(task, candidate, pictures=False)
        assert (run.success, run.data["digest"]) == (recorded["success"], recorded["data"]["digest"])


def test_it_says_what_it_wrote_and_where(tmp_path: Path, capsys: Any) -> None:
    assert main(["polybridge", "export", str(tmp_path / "x"), "--heldout"]) == 0
    said = f"60 levels with strict budgets, three files each, in {tmp_path / 'x'}\n"
    assert capsys.readouterr().out == said
    assert all(path.name.endswith(SUFFIXES) for path in (tmp_path / "x").iterdir())


def test_a_folder_that_cannot_be_is_one_line(tmp_path: Path, capsys: Any) -> None:
    (tmp_path / "file").write_text("")
    assert main(["polybridge", "export", str(tmp_path / "file" / "levels")]) == 2
    error = capsys.readouterr().err
    assert error.count("\n") == 1
    assert "can't write to" in error
