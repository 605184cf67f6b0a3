"""`release check`: an honest release passes, and each kind of tampering is told by its kind.

Tampered releases are sealed again: their manifest lists the hashes of the changed files, so that it takes
more than comparing hashes to find them, unless the hash is the point.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from evalkit.cli.main import main
from evalkit_polybridge.designs import bridge_from_json
from evalkit_polybridge.graph import Bridge
from evalkit_polybridge.release.check import check_release
from evalkit_polybridge.release.findings import Report
from evalkit_polybridge.savefile import encode
from evalkit_polybridge.settings import BridgeSettings

LEVELS = ("T1B_Basic_08m", "T2D_Platform_4-4-4")
KEY = "sk-" + "a1B2" * 8
SUBSET = "strict: 2 of 189 levels"

Tamper = Callable[[Any], None]
"""What is done to a `Tampered` release."""


FAILING = "sessions/scripted*/strict/epoch-1/T1B*"
CROSSING = "sessions/truss/strict/epoch-1/T1B*"


def in_manifest(change: Callable[[Any], Any]) -> Tamper:
    return lambda release: release.edit("manifest.json", change)


def in_trajectory(change: Callable[[Any], Any], where: str = FAILING) -> Tamper:
    return lambda release: release.edit(f"{where}/trajectory.json", change)


def in_result(change: Callable[[Any], Any], where: str = FAILING) -> Tamper:
    return lambda release: release.edit(f"{where}/result.json", change)


def in_summary(change: Callable[[Any], Any]) -> Tamper:
    return lambda release: release.edit("sessions/truss/strict/epoch-1/summary.json", change)


def put(*path: Any, value: Any) -> Callable[[Any], None]:
    """A change that puts a value at a path."""

    def change(document: Any) -> None:
        for step in path[:-1]:
            document = document[step]
        document[path[-1]] = value

    return change


def declare_success(document: Any) -> None:
    execution = document["rounds"][2]["executions"][0]
    execution["success"], execution["data"]["outcome"] = True, "crossed"
    told = {"kind": "success", "pictures": [], "save_members": None}
    document["rounds"][2]["outcome"], document["rounds"][2]["feedback"] = "S", told


def cheaper_budget(document: Any) -> None:
    document["level_inputs"]["context"]["task_context"]["budget_limit"] = 6600.0


def play_on(document: Any) -> None:
    document["rounds"].append({**document["rounds"][-1], "round": len(document["rounds"]) + 1})


def lighter_vehicle(document: Any) -> None:
    document["level_inputs"]["context"]["task_context"]["vehicle_weights_pg"][0] = 1.0


def other_design(document: Any) -> None:
    document["rounds"][0]["design"]["edges"].pop()


def hide_violation(document: Any) -> None:
    document["rounds"][1]["violations"] = []


def copy_level(release: Any) -> None:
    level = release.find(FAILING)
    shutil.copytree(level, level.with_name("again"))


def drop_level(release: Any) -> None:
    shutil.rmtree(release.find(FAILING))


def drop(pattern: str) -> Tamper:
    return lambda release: release.find(pattern).unlink()


def save_of_another_design(release: Any) -> None:
    document = json.loads(release.find(f"{FAILING}/trajectory.json").read_text())
    design = bridge_from_json(document["rounds"][2]["design"])
    fewer = Bridge(design.nodes, design.edges[:-1])
    release.find(f"{FAILING}/round-3/save.txt").write_text(encode(fewer, document["level"]))


def declare_skill(release: Any) -> None:
    """Say consistently that there was advice, which the recorded prompts didn't hold."""
    settings = {"skill": "Triangles.", "prompt_sha256": BridgeSettings(skill="Triangles.").prompt_sha256}
    release.edit("manifest.json", lambda m: m["inclusion"]["settings"].update(settings))
    release.edit("manifest.json", lambda m: m["inclusion"].update(deviations=["prompt_sha256", "skill"]))
    for agent in ("scripted*", "truss"):
        summary = f"sessions/{agent}/strict/epoch-1/summary.json"
        release.edit(summary, lambda document: document["configuration"]["settings"].update(settings))


def another_picture(release: Any) -> None:
    shutil.copy(
        release.find("sessions/truss/*/*/T2D*/round-1/editor.png"),
        release.find(f"{FAILING}/round-3/editor.png"),
    )


def leave_env(release: Any) -> None:
    (release.folder / ".env").write_text("DEBUG=1\n")


def cut_short(release: Any) -> None:
    release.find(f"{FAILING}/trajectory.json").write_text("{")


def leave_key(document: Any) -> None:
    document["ended"]["detail"] = f"asked with {KEY}"


def leave_path(document: Any) -> None:
    document["run"] = "/home/ann/runs/1"


def leave_header(document: Any) -> None:
    document["rounds"][0]["model_calls"] = [{"Authorization": "Basic YW5uOnNlY3JldA=="}]


TAMPERED: dict[str, tuple[str, Tamper]] = {
    "episode twice": ("duplicate", copy_level),
    "session twice": ("duplicate", in_manifest(lambda m: m["sessions"].append(m["sessions"][0]))),
    "level missing": ("missing level", drop_level),
    "trajectory missing": ("missing trajectory", drop(f"{FAILING}/trajectory.json")),
    "result missing": ("missing file", drop(f"{FAILING}/result.json")),
    "summary missing": ("missing file", drop("sessions/truss/strict/epoch-1/summary.json")),
    "save missing": ("missing file", drop(f"{FAILING}/round-3/save.txt")),
    "budget of an episode": ("budget", in_trajectory(cheaper_budget)),
    "budget of a result": ("budget", in_result(put("budget", value=6600.0))),
    "budget in the manifest": (
        "budget",
        in_manifest(put("conditions", "strict", "budgets", LEVELS[0], value=7000.0)),
    ),
    "strict budget": ("budget", in_trajectory(put("strict_budget", value=9999.0), CROSSING)),
    "limit in a session": ("limit", in_summary(put("configuration", "limits", "calls", value=5))),
    "a fourth call": ("limit", in_trajectory(play_on)),
    "a call after success": ("limit", in_trajectory(play_on, CROSSING)),
    "feedback mode": ("protocol", in_summary(put("configuration", "settings", "feedback_frames", value=8))),
    "frames shown": (
        "protocol",
        in_trajectory(put("rounds", 2, "feedback", "selected_timestamps_s", value=[0.0])),
    ),
    "sheet shown": (
        "protocol",
        in_trajectory(put("rounds", 2, "feedback", "pictures", value=["editor.png"])),
    ),
    "topology shown": ("protocol", in_trajectory(put("rounds", 2, "feedback", "save_members", value=0))),
    "skill": ("protocol", in_summary(put("configuration", "settings", "skill", value="Use triangles."))),
    "skill declared everywhere": ("protocol", declare_skill),
    "another prompt": ("protocol", in_trajectory(put("prompt_sha256", value="0" * 64))),
    "another executor": (
        "protocol",
        in_trajectory(put("rounds", 2, "executions", 0, "constants_sha256", value="0" * 64)),
    ),
    "deviations hidden": ("protocol", in_manifest(put("inclusion", "settings", "parser", value="fenced"))),
    "another level": ("level", in_trajectory(lighter_vehicle)),
    "another level's name": ("misplaced", in_result(put("level", value="T1B_Basic_10m"))),
    "another agent": ("misplaced", in_trajectory(put("agent", value="someone"))),
    "a design exchanged": ("design", in_trajectory(other_design, CROSSING)),
    "a save exchanged": ("design", save_of_another_design),
    "a violation hidden": ("verdict", in_trajectory(hide_violation)),
    "another violation": (
        "verdict",
        in_trajectory(put("rounds", 1, "violations", 0, "code", value="OVER_BUDGET")),
    ),
    "success without crossing": (
        "verdict",
        in_trajectory(put("rounds", 2, "executions", 0, "success", value=True)),
    ),
    "an outcome's letter": ("verdict", in_trajectory(put("rounds", 0, "outcome", value="F"))),
    "a counter": ("counter", in_result(put("physics_attempts", value=2))),
    "repair calls": ("counter", in_result(put("validation_repair_calls", value=0))),
    "a score": ("score", in_result(put("success_at", "3", value=True))),
    "a cost": ("score", in_result(put("cost", value=1.0), CROSSING)),
    "an error's share": ("score", in_result(put("error_events", value={}))),
    "a summary's rate": ("score", in_summary(put("figures", "success_at", "3", "numerator", value=1))),
    "number of episodes": ("count", in_manifest(put("counts", "episodes", value=5))),
    "number of rounds": ("count", in_manifest(put("counts", "rounds", value=99))),
    "number of levels": ("count", in_manifest(put("conditions", "strict", "expected_levels", value=189))),
    "a session unlisted": ("extra session", in_manifest(lambda m: m["sessions"].pop())),
    "a level unlisted": (
        "extra level",
        in_manifest(lambda m: m["conditions"]["strict"]["budgets"].pop(LEVELS[0])),
    ),
    "an .env file": ("secret", leave_env),
    "an API key": ("secret", in_result(leave_key)),
    "a local path": ("secret", in_trajectory(leave_path)),
    "a header": ("secret", in_trajectory(leave_header)),
    "rounds that are none": ("form", in_trajectory(put("rounds", value=7))),
    "JSON that is none": ("form", cut_short),
}
"""What was done → the kind of finding that has to name it."""


def kinds(report: Report) -> set[str]:
    return {finding.kind for finding in report.findings}


def test_an_honest_release_has_no_fault(honest: Path) -> None:
    report = check_release(honest, simulate=True)
    assert report.findings == []
    assert report.notes == [SUBSET]
    assert (report.episodes, report.simulated) == (4, 4)


def test_sealing_alone_is_no_fault(tampered: Any) -> None:
    tampered.seal()
    assert check_release(tampered.folder).findings == []


@pytest.mark.parametrize("what", TAMPERED)
def test_tampering_is_found(tampered: Any, what: str) -> None:
    kind, tamper = TAMPERED[what]
    tamper(tampered)
    tampered.seal()
    report = check_release(tampered.folder)
    assert kind in kinds(report), [finding.text() for finding in report.findings]
    assert all("\n" not in finding.text() for finding in report.findings)


@pytest.mark.parametrize(
    ("kind", "tamper"),
    [
        ("changed file", another_picture),
        ("missing file", lambda r: r.find(f"{FAILING}/round-3/contact_sheet.png").unlink()),
        ("extra file", lambda r: (r.folder / "notes.txt").write_text("hello")),
        ("changed file", lambda r: r.edit(f"{FAILING}/result.json", put("level", value=LEVELS[0]))),
    ],
    ids=["changed", "missing", "extra", "reformatted"],
)
def test_files_that_are_not_the_manifests_are_found(tampered: Any, kind: str, tamper: Any) -> None:
    tamper(tampered)
    assert kinds(check_release(tampered.folder)) == {kind}


def test_a_verdict_that_hangs_together_takes_a_simulation(tampered: Any) -> None:
    tampered.edit(f"{FAILING}/trajectory.json", declare_success)
    tampered.seal()
    assert "simulation" not in kinds(check_release(tampered.folder))
    assert "simulation" in kinds(check_release(tampered.folder, simulate=True))


def test_a_simulation_is_that_of_the_very_level(tampered: Any) -> None:
    def heavier_vehicle(document: Any) -> None:
        document["level_inputs"]["context"]["task_context"]["vehicle_weights_pg"][0] = 90.0

    tampered.edit(f"{CROSSING}/trajectory.json", heavier_vehicle)
    tampered.seal()
    assert {"level", "simulation"} <= kinds(check_release(tampered.folder, simulate=True))


def test_runs_under_other_constants_are_not_taken_for_simulated(tampered: Any) -> None:
    def change(document: Any) -> None:
        document["rounds"][2]["executions"][0]["constants_sha256"] = "1" * 64

    tampered.edit(f"{FAILING}/trajectory.json", change)
    tampered.seal()
    found = [finding.text() for finding in check_release(tampered.folder, simulate=True).findings]
    assert "simulation: manifest.json: 1 run made with other constants can't be simulated here" in found


def test_a_link_is_no_file_of_a_release(tampered: Any, tmp_path: Path) -> None:
    path = tampered.find(f"{FAILING}/round-3/save.txt")
    shutil.move(path, tmp_path / "elsewhere")
    path.symlink_to(tmp_path / "elsewhere")
    assert "changed file" in kinds(check_release(tampered.folder))


def test_the_command_says_what_is_wrong_and_exits_with_1(tampered: Any, capsys: Any) -> None:
    assert main(["polybridge", "release", "check", str(tampered.folder)]) == 0
    assert capsys.readouterr().out.endswith(" files, 4 episodes: no fault\n")
    (tampered.folder / "notes.txt").write_text("hello")
    assert main(["polybridge", "release", "check", str(tampered.folder)]) == 1
    assert "extra file: notes.txt: the manifest doesn't list it\n" in capsys.readouterr().out
    assert main(["polybridge", "release", "check", str(tampered.folder), "--json"]) == 1
    said = json.loads(capsys.readouterr().out)
    assert said["clean"] is False
    assert said["findings"][0]["kind"] == "extra file"


@pytest.mark.parametrize("content", [None, "{", "[]", '{"format": "other"}'])
def test_what_is_no_release_is_one_line_and_exit_code_2(
    tmp_path: Path, capsys: Any, content: str | None
) -> None:
    if content is not None:
        (tmp_path / "manifest.json").write_text(content)
    assert main(["polybridge", "release", "check", str(tmp_path)]) == 2
    assert capsys.readouterr().err.count("\n") == 1


@pytest.mark.parametrize(("version", "remedy"), [(3, "upgrade"), (1, "write it anew")])
def test_a_release_of_another_format_is_refused(
    tampered: Any, capsys: Any, version: int, remedy: str
) -> None:
    tampered.edit("manifest.json", put("format_version", value=version))
    assert main(["polybridge", "release", "check", str(tampered.folder)]) == 2
    assert remedy in capsys.readouterr().err
