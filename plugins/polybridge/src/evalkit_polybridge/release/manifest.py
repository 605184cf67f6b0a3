"""The manifest of a release: what it claims to hold, under which protocol, and the hash of every file."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import PurePath
from typing import Any

from evalkit_polybridge.constants import MAX_CALLS, MAX_PHYSICS_ATTEMPTS
from evalkit_polybridge.release.gather import Gathered, agent_entry
from evalkit_polybridge.release.layout import configuration
from evalkit_polybridge.release.scrub import scrubbed
from evalkit_polybridge.specs import RULES

FORMAT = "evalkit-polybridge-release"
FORMAT_VERSION = 2
MANIFEST = "manifest.json"
SESSIONS = "sessions"
"""The folder of a release that holds the sessions."""
IN_PLACE, PACKED, LEFT_OUT = "in place", "packed", "left out"
"""Where a manifest says that the pictures are."""


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
        "inclusion": inclusion(configuration(first)),
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
        "levels": {name: level_entry(task.hidden) for name, task in sorted(levels.items())},
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


def inclusion(configured: Mapping[str, Any]) -> dict[str, Any]:
    """Which episodes belong into the release: those played under this configuration.

    `deviations` names what isn't the reported protocol's: settings, limits, validators; what is missing too.
    """
    found = []
    for part, usual in _reported().items():
        names = {**usual, **configured[part]}
        prefix = "" if part == "settings" else f"{part}."
        found += [f"{prefix}{name}" for name in names if configured[part].get(name) != usual.get(name)]
    return {**configured, "deviations": sorted(found)}


def _reported() -> dict[str, dict[str, Any]]:
    """The protocol of the reported results, in the parts of a configuration."""
    from evalkit_polybridge.settings import BridgeSettings

    return {
        "limits": {"calls": MAX_CALLS, "tool_calls": MAX_CALLS, "executions": MAX_PHYSICS_ATTEMPTS},
        "settings": BridgeSettings().model_dump(mode="json"),
        "validators": {RULES.id: RULES.version},
    }


def _game(run: Mapping[str, Any]) -> str | None:
    """The version of the game as its calibration names it; None where no game was played."""
    calibration = run["protocol"]["settings"].get("calibration")
    return None if calibration is None else str(calibration["game"])


def level_entry(hidden: Mapping[str, Any]) -> dict[str, Any]:
    """What a manifest says of a level, from what its author knows of it."""
    return {name: hidden[name] for name in ("family", "group", "suite", "strict_budget")}


def _options(tasks: Mapping[str, Any]) -> dict[str, Any]:
    """Which levels a run played under which budget; of a folder of level files its own name alone."""
    if "folder" not in tasks:
        return dict(tasks)
    return {**tasks, "folder": PurePath(str(tasks["folder"])).name}


def _run(run: Mapping[str, Any]) -> dict[str, Any]:
    suite = run["suite"]
    return {
        "name": run["run"],
        "created": run["created"],
        "suite": f"{suite['name']}@{suite['version']}",
        "condition": run["condition"],
        "tasks": _options(run["protocol"]["tasks"]),
        "agents": [agent["id"] for agent in run["agents"]],
        "protocol_hash": run["protocol_hash"],
        "tasks_sha256": run["tasks_sha256"],
        "epochs": run["epochs"],
        "seed": run["seed"],
        "platform": run["platform"],
    }
