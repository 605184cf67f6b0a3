"""Checking one episode of a release: place, level, rounds, how it ended, what was counted of it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from evalkit import EpisodeKey, Turn
from evalkit_polybridge.designs import level_from_inputs
from evalkit_polybridge.graph import Level
from evalkit_polybridge.release.check_context import Context, Key
from evalkit_polybridge.release.check_level import check_level
from evalkit_polybridge.release.check_round import (
    check_executions,
    check_feedback,
    check_files,
    check_record,
    check_verdict,
)
from evalkit_polybridge.release.figures import episode_figures
from evalkit_polybridge.release.findings import read_bytes, read_json
from evalkit_polybridge.release.gather import SessionKey
from evalkit_polybridge.release.layout import file_name, session_path
from evalkit_polybridge.release.manifest import SESSIONS
from evalkit_polybridge.release.scrub import REMOVED
from evalkit_polybridge.trajectory import Trajectory, trajectory_of

_COUNTERS = (
    "rounds_used",
    "llm_calls_used",
    "physics_attempts",
    "validation_repair_calls",
    "physics_repair_calls",
    "reached_physics",
)

_IDENTITY = ("agent", "condition", "epoch", "level")
_FIELDS = (*_IDENTITY, "run", "seed", "level_inputs", "strict_budget", "prompt_sha256", "rounds")
_ROUND_FIELDS = (
    "round",
    "outcome",
    "time",
    "reply",
    "mistake",
    "design",
    "violations",
    "executions",
    "model_calls",
    "feedback",
)


class Checked(NamedTuple):
    """An episode's key, the run that it says it is of, its figures as recomputed, its number of rounds."""

    key: Key
    run: str
    figures: dict[str, Any]
    rounds: int


def check_episode(context: Context, path: str) -> Checked:
    """Check the episode whose trajectory is in the file `path`; whatever is wrong goes to the report.

    Raises what a malformed document makes its reader raise (`Report.guarded` explains it).
    """
    document = read_json(read_bytes(context.folder / path))
    context.report.only(path, document, _FIELDS)
    key = Key(*(document[name] for name in _IDENTITY))
    _place(context, path, key)
    _run(context, path, key, document)
    level = level_from_inputs(document["level_inputs"])
    check_level(context, path, key, level, document)
    trajectory = trajectory_of(_turns(document["rounds"]), lambda value: value)
    _limits(context, path, trajectory)
    context.rounds[path.removesuffix("/trajectory.json")] = len(document["rounds"])
    _rounds(context, path, level, document["rounds"], trajectory)
    figures = episode_figures(trajectory, float(document["strict_budget"]))
    _result(context, path, document, trajectory, figures)
    return Checked(key, str(document["run"]), figures, len(document["rounds"]))


def _place(context: Context, path: str, key: Key) -> None:
    report = context.report
    session = SessionKey(key.agent, key.condition, key.epoch)
    wanted = f"{SESSIONS}/{session_path(session)}/{file_name(key.level)}/trajectory.json"
    if key in context.seen:
        report.find("duplicate", path, f"is the same episode as {context.seen[key]}")
    elif path != wanted:
        report.find("misplaced", path, f"says that it belongs to {wanted}")
    context.seen.setdefault(key, path)


def _run(context: Context, path: str, key: Key, document: Mapping[str, Any]) -> None:
    """The episode is one of its run: condition, agent and seed are the run's."""
    run = next((run for run in context.manifest["runs"] if run["name"] == document["run"]), None)
    if run is None:
        context.report.find("misplaced", path, f"is of the run {document['run']}, which the manifest lacks")
        return
    if run["condition"] != key.condition or key.agent not in run["agents"]:
        context.report.find("misplaced", path, f"{key.agent} didn't play {key.condition} in {run['name']}")
    seed = EpisodeKey(key.agent, key.level, key.condition, key.epoch).seed(run["seed"])
    if document["seed"] != seed and REMOVED not in key.level:
        context.report.find("protocol", path, f"has the seed {document['seed']}, its run gives {seed}")


def _turns(rounds: list[dict[str, Any]]) -> Iterator[Turn]:
    """The rounds as turns of a record."""
    for number, item in enumerate(rounds, 1):
        mistake, design = item["mistake"], item["design"]
        result: dict[str, Any] = {"ok": mistake is None, "data": {"code": mistake}}
        if design is not None:
            result["candidate"] = {"data": design}
        violations = {"violations": item["violations"]} if item["violations"] else None
        yield Turn(number, {"arguments": {"text": item["reply"]}}, result, violations, item["executions"])


def _limits(context: Context, path: str, trajectory: Trajectory) -> None:
    limits, outcomes = context.manifest["inclusion"]["limits"], str(trajectory)
    for name, value in _used(trajectory).items():
        if name in limits and value > limits[name]:
            context.report.find(
                "limit", path, f"{value} {name.replace('_', ' ')}, the limit is {limits[name]}"
            )
    if "S" in outcomes[:-1]:
        context.report.find("limit", path, f"goes on after a success ({outcomes})")


def _used(trajectory: Trajectory) -> dict[str, int]:
    """What an episode used of the limits that its rounds tell of."""
    calls = len(trajectory.calls)
    return {"calls": calls, "tool_calls": calls, "executions": len(trajectory.attempts)}


def _rounds(
    context: Context, path: str, level: Level, rounds: list[dict[str, Any]], trajectory: Trajectory
) -> None:
    folder, loaded = path.removesuffix("/trajectory.json"), 0
    for item, call in zip(rounds, trajectory.calls, strict=True):
        where = f"{path} round {call.number}"
        context.report.only(where, item, _ROUND_FIELDS)
        if (item["round"], item["outcome"]) != (call.number, call.outcome):
            context.report.find(
                "verdict", where, f"is told as {item['outcome']!r}, it comes out as {call.outcome!r}"
            )
        if item["executions"]:
            loaded = len(item["design"]["edges"])
        check_record(context, where, item)
        check_verdict(context, where, level, item)
        check_executions(context, where, level, item)
        check_feedback(context, where, item, loaded, last=item is rounds[-1])
        check_files(context, f"{folder}/round-{call.number}", level, item)


def _result(
    context: Context,
    path: str,
    document: Mapping[str, Any],
    trajectory: Trajectory,
    figures: Mapping[str, Any],
) -> None:
    """`result.json` says what follows from the trajectory, and nothing else."""
    report, file = context.report, path.replace("/trajectory.json", "/result.json")
    try:
        result = read_json(read_bytes(context.folder / file))
    except OSError:
        report.find("missing file", file, "there is a trajectory and no result")
        return
    report.only(file, result, (*_IDENTITY, "budget", "strict_budget", "ended", *figures))
    for name in _IDENTITY:
        if result[name] != document[name]:
            report.find("misplaced", file, f"{name} is {result[name]!r}, the trajectory's {document[name]!r}")
    budget = document["level_inputs"]["context"]["task_context"]["budget_limit"]
    if (result["budget"], result["strict_budget"]) != (budget, document["strict_budget"]):
        report.find("budget", file, "has other budgets than the trajectory")
    for name, value in figures.items():
        if result.get(name) != value:
            kind = "counter" if name in _COUNTERS else "score"
            report.find(kind, file, f"{name} is {result.get(name)!r}, the trajectory gives {value!r}")
    _end(context, file, result["ended"], trajectory)


def _end(context: Context, file: str, ended: Mapping[str, Any], trajectory: Trajectory) -> None:
    """The episode can have ended as it says; what its rounds can't show is counted."""
    outcomes, limits = str(trajectory), context.manifest["inclusion"]["limits"]
    reason, used = ended["reason"], _used(trajectory)
    name = str(ended["detail"]).partition(":")[0]
    if (reason == "done") != outcomes.endswith("S"):
        context.report.find("limit", file, f"ended as {reason!r} after {outcomes or 'no call at all'}")
    elif reason == "limit" and used.get(name, 0) < limits.get(name, 0) and name in used:
        context.report.find("limit", file, f"ended by the limit of {limits[name]} {name} at {used[name]}")
    elif reason == "limit" and name not in limits:
        context.report.find("limit", file, f"ended by a limit of {name!r}, none is declared")
    elif reason == "agent_stopped" or (reason == "limit" and name not in used):
        context.early["the agent" if reason == "agent_stopped" else f"the limit of {name}"] += 1
    elif reason not in ("done", "limit"):
        context.report.find("limit", file, f"ended as {reason!r}: such an episode has no result")
