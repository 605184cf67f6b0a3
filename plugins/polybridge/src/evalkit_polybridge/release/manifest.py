"""The manifest of a release: what it claims to hold, under which protocol, and the hash of every file."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any

from evalkit_polybridge.release.gather import Gathered
from evalkit_polybridge.release.layout import agent_entry, configuration
from evalkit_polybridge.release.scrub import scrubbed

FORMAT = "evalkit-polybridge-release"
FORMAT_VERSION = 1
MANIFEST = "manifest.json"
SESSIONS = "sessions"
"""The folder of a release that holds the sessions."""


def file_entry(data: bytes) -> dict[str, Any]:
    """Hash and size of a file."""
    return {"sha256": hashlib.sha256(data).hexdigest(), "size": len(data)}


def manifest(
    gathered: Gathered, rounds: int, files: Mapping[str, Any], images: Mapping[str, Any]
) -> dict[str, Any]:
    """The manifest, fields in a fixed order.

    `rounds` is their number in all episodes; `files` and `images` are the entries of the files, see
    `release.write`. Times in it are those of the records.
    """
    runs = sorted(gathered.runs, key=lambda run: run.name)
    sessions = sorted(gathered.sessions)
    levels = {name: task for tasks in gathered.expected.values() for name, task in tasks.items()}
    packages = {name: version for run in runs for name, version in run.manifest["versions"].items()}
    first = runs[0]
    agents = {key.agent: next(iter(gathered.sessions[key].values())).run for key in sessions}
    document = {
        "format": FORMAT,
        "format_version": FORMAT_VERSION,
        "benchmark": first.manifest["protocol"]["benchmark"],
        "game": _game(first.manifest),
        "inclusion": inclusion(configuration(first), _reported_settings()),
        "executors": first.manifest["executors"],
        "conditions": {
            condition: {
                "expected_levels": len(tasks),
                "budgets": {
                    name: task.inputs["context"]["task_context"]["budget_limit"]
                    for name, task in sorted(tasks.items())
                },
            }
            for condition, tasks in sorted(gathered.expected.items())
        },
        "levels": {name: _level(task.hidden) for name, task in sorted(levels.items())},
        "agents": [agent_entry(run, agent) for agent, run in sorted(agents.items())],
        "sessions": [{"agent": k.agent, "condition": k.condition, "epoch": k.epoch} for k in sessions],
        "runs": [_run(run.manifest) for run in runs],
        "counts": {
            "runs": len(runs),
            "sessions": len(sessions),
            "episodes": sum(len(session) for session in gathered.sessions.values()),
            "rounds": rounds,
        },
        "packages": dict(sorted(packages.items())),
    }
    return {**scrubbed(document), "files": dict(sorted(files.items())), "images": images}


def inclusion(configured: Mapping[str, Any], reported: Mapping[str, Any]) -> dict[str, Any]:
    """Which episodes belong into the release: those played under this configuration.

    `deviations` names the settings that aren't those of the `reported` protocol.
    """
    settings = configured["settings"]
    deviations = sorted(name for name, value in reported.items() if settings.get(name) != value)
    return {**configured, "deviations": deviations}


def _reported_settings() -> dict[str, Any]:
    from evalkit_polybridge.settings import BridgeSettings

    return BridgeSettings().model_dump(mode="json")


def _game(run: Mapping[str, Any]) -> str | None:
    """The version of the game as its calibration names it; None where no game was played."""
    calibration = run["protocol"]["settings"].get("calibration")
    return None if calibration is None else str(calibration["game"])


def _level(hidden: Mapping[str, Any]) -> dict[str, Any]:
    return {name: hidden[name] for name in ("family", "group", "suite", "strict_budget")}


def _run(run: Mapping[str, Any]) -> dict[str, Any]:
    suite = run["suite"]
    return {
        "name": run["run"],
        "created": run["created"],
        "suite": f"{suite['name']}@{suite['version']}",
        "condition": run["condition"],
        "protocol_hash": run["protocol_hash"],
        "tasks_sha256": run["tasks_sha256"],
        "epochs": run["epochs"],
        "seed": run["seed"],
        "platform": run["platform"],
    }
