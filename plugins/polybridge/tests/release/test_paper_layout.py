"""`export-paper`: a run's sessions in the layout of the paper's records."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from evalkit.cli.main import main
from evalkit_polybridge.contract import parse_reply
from evalkit_polybridge.designs import bridge_from_json
from evalkit_polybridge.release.layout import file_name
from evalkit_polybridge.savefile import decode


@pytest.fixture(scope="module")
def paper(bridge_run: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("paper") / "paper"
    assert main(["polybridge", "export-paper", bridge_run, "-o", str(folder)]) == 0
    return folder


def document(folder: Path, pattern: str) -> Any:
    (path,) = folder.glob(pattern)
    return json.loads(path.read_text())


def test_every_level_has_a_result_a_trajectory_and_a_folder_for_every_round(paper: Path) -> None:
    (session,) = paper.glob("scripted*/strict/epoch-1")
    names = {path.relative_to(session).as_posix() for path in session.rglob("*") if path.is_file()}
    level = "T1B_Basic_08m"
    assert {name for name in names if name.startswith(level)} == {
        f"{level}/result.json",
        f"{level}/trajectory.json",
        f"{level}/round-2/design.json",
        f"{level}/round-2/editor.png",
        f"{level}/round-3/design.json",
        f"{level}/round-3/editor.png",
        f"{level}/round-3/save.txt",
        f"{level}/round-3/frames.json",
        f"{level}/round-3/contact_sheet.png",
    }
    assert "summary.json" in names


def test_the_trajectory_tells_every_round(paper: Path) -> None:
    trajectory = document(paper, "scripted*/strict/epoch-1/T1B*/trajectory.json")
    rounds = trajectory["rounds"]
    assert [item["outcome"] for item in rounds] == ["V", "V", "F"]
    assert [v["code"] for v in rounds[0]["violations"]] == ["PARSE_ERROR"]
    assert "EDGE_TOO_LONG" in {v["code"] for v in rounds[1]["violations"]}
    assert rounds[2]["executions"][0]["data"]["outcome"] == "lost"
    assert rounds[2]["feedback"]["kind"] == "failure_or_timeout"
    assert len(rounds[2]["feedback"]["selected_timestamps_s"]) == 4
    assert set(trajectory["level_inputs"]["context"]) == {"task_context", "semantic_environment"}


def test_design_and_payload_are_the_one_that_was_run(paper: Path) -> None:
    folder = next(paper.glob("scripted*/strict/epoch-1/T1B*"))
    design = json.loads((folder / "trajectory.json").read_text())["rounds"][2]["design"]
    bridge, title = decode((folder / "round-3" / "save.txt").read_bytes())
    assert (bridge, title) == (bridge_from_json(design), "T1B_Basic_08m")
    assert parse_reply((folder / "round-3" / "design.json").read_text()).bridge == bridge


def test_the_result_counts_as_the_protocol_does(paper: Path) -> None:
    fallen = document(paper, "scripted*/strict/epoch-1/T1B*/result.json")
    assert (fallen["status"], fallen["outcomes"]) == ("failed", "VVF")
    assert (fallen["rounds_used"], fallen["physics_attempts"], fallen["validation_repair_calls"]) == (3, 1, 2)
    assert fallen["recovery_at_3"] is None
    assert fallen["cost"] is None
    crossed = document(paper, "truss/strict/epoch-1/T1B*/result.json")
    assert (crossed["status"], crossed["outcomes"], crossed["calls_to_success"]) == ("success", "S", 1)
    assert crossed["cost_ratio"] == pytest.approx(crossed["cost"] / 6500.0, abs=1e-6)


def test_the_summary_has_the_configuration_and_the_figures(paper: Path) -> None:
    summary = document(paper, "scripted*/strict/epoch-1/summary.json")
    assert summary["configuration"]["limits"] == {"calls": 3, "tool_calls": 3, "executions": 3}
    assert summary["figures"]["valid_at"]["3"]["numerator"] == 2
    assert summary["figures"]["success_at"]["3"]["numerator"] == 0
    assert summary["figures"]["errors"]["RUN_FALSE_AFTER_VALID"]["events"] == 2
    shares = [error["share"] for error in summary["figures"]["errors"].values()]
    assert sum(shares) == pytest.approx(1.0, abs=1e-5)


def test_it_says_what_it_wrote(bridge_run: str, tmp_path: Path, capsys: Any) -> None:
    assert main(["polybridge", "export-paper", bridge_run, "-o", str(tmp_path / "x"), "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert said["sessions"] == 2
    assert said["files"] == sum(1 for path in (tmp_path / "x").rglob("*") if path.is_file())


def test_names_become_file_names_without_meeting() -> None:
    assert file_name("truss") == "truss"
    odd = {file_name(name) for name in ("a/b", "a:b", "..", "a b", "")}
    assert len(odd) == 5
    assert not any(set("/:\\ ") & set(name) or name.startswith(".") for name in odd)
