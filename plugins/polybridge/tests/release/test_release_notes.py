"""What `release check` says beside its faults: things that a reader has to know, and no fault."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from evalkit import sha256_of
from evalkit_polybridge.release.check import check_release


def test_other_evidence_under_the_same_verdict_takes_a_simulation(tampered: Any) -> None:
    tampered.edit(
        "sessions/scripted*/*/*/T1B*/trajectory.json",
        lambda d: d["rounds"][2]["executions"][0]["data"].update(peak_utilisation=0.9),
    )
    tampered.seal()
    assert check_release(tampered.folder).findings == []
    (finding,) = check_release(tampered.folder, simulate=True).findings
    assert finding.kind == "simulation"
    assert "peak_utilisation" in finding.message


def test_deviating_limits_that_are_named_are_noted_and_no_fault(tampered: Any) -> None:
    tampered.declare(lambda c: c["limits"].update(calls=4, tool_calls=4))
    deviations = ["limits.calls", "limits.tool_calls"]
    tampered.manifest(lambda m: m["inclusion"].update(deviations=deviations))
    tampered.edit_all(
        "sessions/scripted*/*/*/*/result.json",
        lambda d: d.update(ended={"reason": "agent_stopped", "detail": ""}),
    )
    tampered.seal()
    report = check_release(tampered.folder)
    assert report.findings == []
    assert report.notes == [
        "the protocol is not the reported one in limits.calls, limits.tool_calls",
        "strict: 2 of 189 levels",
        "2 episodes ended because of the agent, which can't be recomputed",
    ]


def test_levels_from_files_are_noted_and_not_compared(tampered: Any) -> None:
    tampered.manifest(lambda m: m["runs"][0].update(tasks={"folder": "levels"}))
    tampered.seal()
    report = check_release(tampered.folder)
    assert report.findings == []
    assert report.notes == ["strict: levels from files are not compared with anything"]


def declare_constants(tampered: Any, honest: Path, version: str) -> None:
    """Other constants with their hash everywhere, as those of a version of the embedded executor."""
    manifest = json.loads((honest / "manifest.json").read_text())
    constants = {**manifest["executors"]["polybridge.embedded"]["constants"], "PG_PN": 90.0 + 1e-7}
    identity = {"version": version, "constants_sha256": sha256_of(constants)}
    tampered.manifest(lambda m: m["executors"]["polybridge.embedded"].update(identity, constants=constants))
    tampered.declare(lambda c: c["executors"]["polybridge.embedded"].update(identity))

    def run(document: Any) -> None:
        for execution in (e for item in document["rounds"] for e in item["executions"]):
            execution.update(identity)

    tampered.edit_all("sessions/*/*/*/*/trajectory.json", run)
    tampered.seal()


def test_other_constants_under_the_installed_version_are_a_fault(tampered: Any, honest: Path) -> None:
    declare_constants(tampered, honest, version="1")
    (finding,) = check_release(tampered.folder).findings
    assert (finding.kind, finding.file) == ("protocol", "manifest.json")
    assert "the constants of polybridge.embedded are not those of its version" in finding.message


def test_another_version_is_noted_and_no_simulation_confirms_it(tampered: Any, honest: Path) -> None:
    declare_constants(tampered, honest, version="0")
    report = check_release(tampered.folder)
    assert report.findings == []
    assert "polybridge.embedded is installed in version 1, not 0" in report.notes
    (finding,) = check_release(tampered.folder, simulate=True).findings
    assert finding.text() == (
        "simulation: manifest.json: 4 runs made with other constants can't be simulated here"
    )


def test_runs_of_foreign_executors_are_counted(tampered: Any) -> None:
    def rename(document: Any) -> None:
        document["executors"] = {"their.executor": document["executors"].pop("polybridge.embedded")}

    def run(document: Any) -> None:
        for item in document["rounds"]:
            for execution in item["executions"]:
                execution["executor"] = "their.executor"
            if "detector" in item["feedback"]:
                item["feedback"]["detector"] = "their.executor"

    tampered.manifest(rename)
    tampered.declare(rename)
    tampered.edit_all("sessions/*/*/*/*/trajectory.json", run)
    tampered.seal()
    report = check_release(tampered.folder)
    assert report.findings == []
    told = "4 runs of their.executor can't be made again: verdicts are taken as told"
    assert told in report.notes
    again = check_release(tampered.folder, simulate=True)
    assert [finding.message for finding in again.findings] == [
        "4 runs of their.executor can't be simulated here"
    ]
    assert again.simulated == 0


def test_pictures_of_another_run_are_counted(tampered: Any) -> None:
    tampered.edit_all("sessions/truss/*/*/*/round-1/frames.json", lambda d: d.update(matches_record=False))
    tampered.seal()
    report = check_release(tampered.folder)
    assert report.findings == []
    assert "the pictures of 2 runs are of runs that came out otherwise" in report.notes
