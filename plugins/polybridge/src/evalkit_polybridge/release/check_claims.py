"""Checking what a manifest claims: its numbers, its protocol, its runs, and what is installed here."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from evalkit import sha256_of
from evalkit_polybridge.release.check_context import Context
from evalkit_polybridge.release.check_episode import Checked
from evalkit_polybridge.release.gather import SessionKey
from evalkit_polybridge.release.layout import session_path
from evalkit_polybridge.release.manifest import MANIFEST, SESSIONS, inclusion, level_entry
from evalkit_polybridge.specs import EMBEDDED, NATIVE
from evalkit_polybridge.words import counted

BENCHMARK = "polybridge"
_FIELDS = (
    "format",
    "format_version",
    "benchmark",
    "game",
    "inclusion",
    "executors",
    "conditions",
    "levels",
    "agents",
    "sessions",
    "runs",
    "counts",
    "packages",
    "files",
    "images",
)

Episodes = Mapping[SessionKey, Sequence[Checked]]
"""The episodes that were found, by session."""


def declared_sessions(manifest: Mapping[str, Any]) -> list[SessionKey]:
    """The sessions that a manifest lists."""
    return [SessionKey(s["agent"], s["condition"], s["epoch"]) for s in manifest["sessions"]]


def check_claims(context: Context, episodes: Episodes) -> None:
    """Compare the manifest with the episodes that were found, with itself, and with what is installed."""
    context.report.only(MANIFEST, context.manifest, _FIELDS)
    if list(context.manifest["benchmark"]) != [BENCHMARK]:
        context.report.find(
            "protocol", MANIFEST, f"is of {context.manifest['benchmark']}, not of {BENCHMARK}"
        )
    _sessions(context, episodes)
    _counts(context, episodes)
    _levels(context)
    _protocol(context)
    _executors(context)
    _notes(context)


def _sessions(context: Context, episodes: Episodes) -> None:
    """Sessions are those that were found, and all that the runs played: every agent in every epoch."""
    report, manifest = context.report, context.manifest
    sessions = declared_sessions(manifest)
    if not episodes:
        report.find("count", MANIFEST, "the release holds no episode")
    for session in sorted({s for s in sessions if sessions.count(s) > 1}):
        report.find("duplicate", MANIFEST, f"lists the session {session_path(session)} twice")
    for session in sorted(episodes.keys() - set(sessions)):
        report.find("extra session", f"{SESSIONS}/{session_path(session)}", "the manifest doesn't list it")
    for session in sorted(set(_played(manifest["runs"], sessions)) - set(sessions)):
        report.find("missing session", f"{SESSIONS}/{session_path(session)}", "a run of the manifest has it")
    described = [entry["id"] for entry in manifest["agents"]]
    if sorted(described) != sorted({session.agent for session in sessions}):
        report.find("duplicate", MANIFEST, "the agents it describes are not those of its sessions, once each")
    names = [run["name"] for run in manifest["runs"]]
    if len(set(names)) < len(names):
        report.find("duplicate", MANIFEST, "lists a run twice")


def _played(runs: Sequence[Mapping[str, Any]], sessions: Sequence[SessionKey]) -> Iterator[SessionKey]:
    """The sessions of the runs; however many epochs one claims, no more than it takes to find one missing."""
    for run in runs:
        for agent in run["agents"]:
            for epoch in range(1, min(run["epochs"], len(sessions) + 1) + 1):
                yield SessionKey(agent, run["condition"], epoch)


def _counts(context: Context, episodes: Episodes) -> None:
    report, manifest = context.report, context.manifest
    counted = {
        "runs": len(manifest["runs"]),
        "sessions": len(set(declared_sessions(manifest))),
        "episodes": report.episodes,
        "rounds": sum(episode.rounds for session in episodes.values() for episode in session),
    }
    for name, value in counted.items():
        if manifest["counts"][name] != value:
            report.find("count", MANIFEST, f"says {manifest['counts'][name]} {name}, there are {value}")


def _levels(context: Context) -> None:
    """Levels, their budgets and groups are those of the runs' suites as installed."""
    report, manifest, known = context.report, context.manifest, context.installed
    for fault in known.faults:
        report.find("budget", MANIFEST, fault)
    for condition, entry in sorted(manifest["conditions"].items()):
        listed, tasks = entry["budgets"], known.tasks.get(condition, {})
        if entry["expected_levels"] != len(listed):
            report.find(
                "count",
                MANIFEST,
                f"{condition}: expects {entry['expected_levels']} levels, lists {len(listed)}",
            )
        for level in sorted(tasks.keys() - listed):
            report.find("missing level", MANIFEST, f"{condition}: a run's suite has {level}")
        if condition not in known.from_files:
            for level in sorted(listed.keys() - tasks):
                report.find("extra level", MANIFEST, f"{condition}: no run's suite has {level}")
        for level in sorted(tasks.keys() & listed):
            budget = tasks[level].inputs["context"]["task_context"]["budget_limit"]
            if listed[level] != budget:
                report.find(
                    "budget", MANIFEST, f"{condition}: ${listed[level]} for {level}, its budget is ${budget}"
                )
            if manifest["levels"].get(level) != level_entry(tasks[level].hidden):
                report.find("level", MANIFEST, f"describes {level} otherwise than the installed catalogue")
    everywhere = {level for entry in manifest["conditions"].values() for level in entry["budgets"]}
    if everywhere != manifest["levels"].keys():
        report.find("level", MANIFEST, "describes other levels than its conditions list")


def _protocol(context: Context) -> None:
    """The manifest says in what it deviates, and names the prompt's hash that its settings give."""
    from evalkit_polybridge.settings import BridgeSettings

    report, claimed = context.report, context.manifest["inclusion"]
    deviations = inclusion(claimed)["deviations"]
    if deviations != claimed["deviations"]:
        report.find(
            "protocol",
            MANIFEST,
            "deviations aren't those of its limits, settings and validators from the reported ones",
        )
    fields = {n: v for n, v in claimed["settings"].items() if n in BridgeSettings.model_fields}
    given = BridgeSettings(**fields)
    if claimed["settings"]["prompt_version"] != given.prompt_version:
        report.notes.append(
            f"version {given.prompt_version} of the prompt is installed: no prompt is compared"
        )
        return
    for name, value in given.model_dump(mode="json").items():
        if claimed["settings"].get(name) != value:
            report.find("protocol", MANIFEST, f"{name} is not what its settings give")


def _executors(context: Context) -> None:
    """Constants have the hashes that stand beside them, in the predicate and in the runs."""
    from evalkit_polybridge.constants import physics_constants

    report, manifest = context.report, context.manifest
    claimed = manifest["inclusion"]["executors"]
    if claimed.keys() != manifest["executors"].keys():
        report.find("protocol", MANIFEST, "describes other executors than its predicate names")
    for id, executor in manifest["executors"].items():
        identity = {name: executor[name] for name in ("version", "constants_sha256")}
        if claimed.get(id) != identity:
            report.find("protocol", MANIFEST, f"{id} has two versions or hashes of constants")
        if sha256_of(executor["constants"]) != executor["constants_sha256"]:
            report.find("protocol", MANIFEST, f"the constants of {id} don't have their hash")
        if id == EMBEDDED.id and executor["version"] != EMBEDDED.version:
            report.notes.append(f"{id} is installed in version {EMBEDDED.version}, not {executor['version']}")
        elif id == EMBEDDED.id and executor["constants"] != physics_constants():
            report.find("protocol", MANIFEST, f"the constants of {id} are not those of its version")
    calibration = manifest["inclusion"]["settings"].get("calibration")
    if NATIVE.id in manifest["executors"] and manifest["executors"][NATIVE.id]["constants"] != calibration:
        report.find("protocol", MANIFEST, f"the constants of {NATIVE.id} are not the calibration")
    if manifest["game"] != (None if calibration is None else calibration["game"]):
        report.find("protocol", MANIFEST, "the game isn't that of the calibration")


def _notes(context: Context) -> None:
    """What is no fault and a reader has to know."""
    notes, manifest = context.report.notes, context.manifest
    deviations = manifest["inclusion"]["deviations"]
    if deviations:
        notes.append(f"the protocol is not the reported one in {', '.join(deviations)}")
    for condition, size in sorted(context.installed.sizes.items()):
        levels = len(context.installed.tasks[condition])
        if levels < size:
            notes.append(f"{condition}: {levels} of {size} levels")
    for condition in sorted(context.installed.from_files):
        notes.append(f"{condition}: levels from files are not compared with anything")
    for executor, runs in sorted(context.foreign.items()):
        notes.append(f"{counted(runs, 'run')} of {executor} can't be made again: verdicts are taken as told")
    if context.redrawn:
        notes.append(f"the pictures of {counted(context.redrawn, 'run')} are of runs that came out otherwise")
    for why, times in sorted(context.early.items()):
        notes.append(f"{counted(times, 'episode')} ended because of {why}, which can't be recomputed")
