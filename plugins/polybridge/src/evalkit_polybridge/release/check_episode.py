"""Checking one episode of a release: its level, every round of it, its files, and what was counted of it."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from evalkit import Turn, sha256_of
from evalkit_polybridge import savefile
from evalkit_polybridge.contract import parse_reply
from evalkit_polybridge.designs import bridge_from_json, bridge_to_json, level_from_inputs
from evalkit_polybridge.environment import frame_times_s
from evalkit_polybridge.feedback import Feedback
from evalkit_polybridge.frames import select
from evalkit_polybridge.graph import Level
from evalkit_polybridge.release.figures import episode_figures
from evalkit_polybridge.release.findings import Report, read_bytes, read_json
from evalkit_polybridge.release.gather import SessionKey
from evalkit_polybridge.release.layout import file_name, session_path
from evalkit_polybridge.release.manifest import SESSIONS
from evalkit_polybridge.rules import check, is_legal
from evalkit_polybridge.specs import EMBEDDED
from evalkit_polybridge.trajectory import Trajectory, trajectory_of

_COUNTERS = (
    "rounds_used",
    "llm_calls_used",
    "physics_attempts",
    "validation_repair_calls",
    "physics_repair_calls",
    "reached_physics",
)
_FEEDBACK_KIND = {"V": "rejected", "F": "failure_or_timeout", "S": "success"}


class Key(NamedTuple):
    """Which episode."""

    agent: str
    condition: str
    epoch: int
    level: str


class Checked(NamedTuple):
    """An episode's key and figures as recomputed, and its number of rounds."""

    key: Key
    figures: dict[str, Any]
    rounds: int


@dataclass(slots=True)
class Context:
    """What all episodes of a release share; `seen` and `levels` fill as they are checked.

    `runs` are designs that the embedded executor ran: where, level, design, what was recorded.
    """

    folder: Path
    manifest: Mapping[str, Any]
    report: Report
    seen: dict[Key, str] = field(default_factory=dict)
    levels: dict[tuple[str, str], tuple[str, str]] = field(default_factory=dict)
    runs: list[tuple[str, Level, Mapping[str, Any], Mapping[str, Any]]] = field(default_factory=list)

    @property
    def settings(self) -> Mapping[str, Any]:
        """The protocol settings that the release declares."""
        settings: Mapping[str, Any] = self.manifest["inclusion"]["settings"]
        return settings


def check_episode(context: Context, path: str) -> Checked:
    """Check the episode whose trajectory is in the file `path`; whatever is wrong goes to the report.

    Raises what a malformed document makes its reader raise (`Report.guarded` explains it).
    """
    document = read_json(read_bytes(context.folder / path))
    key = Key(*(document[name] for name in ("agent", "condition", "epoch", "level")))
    _place(context, path, key)
    level = level_from_inputs(document["level_inputs"])
    _level(context, path, key, level, document)
    trajectory = trajectory_of(_turns(document["rounds"]), lambda value: value)
    _limits(context, path, trajectory)
    for item, call in zip(document["rounds"], trajectory.calls, strict=True):
        where = f"{path} round {call.number}"
        if (item["round"], item["outcome"]) != (call.number, call.outcome):
            context.report.find(
                "verdict", where, f"is told as {item['outcome']!r}, it comes out as {call.outcome!r}"
            )
        _verdict(context, where, level, item)
        _executions(context, where, level, item)
        _feedback(context, where, item, call.outcome)
        _round_files(context, path, level, item)
    figures = episode_figures(trajectory, float(document["strict_budget"]))
    _result(context, path, document, figures)
    return Checked(key, figures, len(document["rounds"]))


def _place(context: Context, path: str, key: Key) -> None:
    report = context.report
    session = SessionKey(key.agent, key.condition, key.epoch)
    wanted = f"{SESSIONS}/{session_path(session)}/{file_name(key.level)}/trajectory.json"
    if key in context.seen:
        report.find("duplicate", path, f"is the same episode as {context.seen[key]}")
    elif path != wanted:
        report.find("misplaced", path, f"says that it belongs to {wanted}")
    context.seen.setdefault(key, path)


def _level(context: Context, path: str, key: Key, level: Level, document: Mapping[str, Any]) -> None:
    """The level is the declared one under the declared budget, and the same for everybody."""
    report, manifest = context.report, context.manifest
    budgets = manifest["conditions"].get(key.condition, {"budgets": {}})["budgets"]
    if level.name != key.level:
        report.find("level", path, f"is about {key.level} and holds the level {level.name}")
    if key.level not in budgets:
        report.find("extra level", path, f"the manifest has no level {key.level} under {key.condition}")
    elif level.budget != budgets[key.level]:
        report.find("budget", path, f"was played for ${level.budget:g}, declared are ${budgets[key.level]:g}")
    strict = manifest["levels"].get(key.level, {}).get("strict_budget")
    if document["strict_budget"] != strict:
        report.find(
            "budget", path, f"compares costs to ${document['strict_budget']}, the manifest to ${strict}"
        )
    fingerprint = sha256_of(document["level_inputs"])
    first, other = context.levels.setdefault((key.condition, key.level), (fingerprint, path))
    if first != fingerprint:
        report.find("level", path, f"has another level than {other}")
    _prompt(context, path, level, document["prompt_sha256"])


def _prompt(context: Context, path: str, level: Level, recorded: str) -> None:
    """The episode began with the prompt that the declared settings give; known for the installed version."""
    from evalkit_polybridge.prompt import PROMPT_VERSION, system_prompt

    settings = context.settings
    if settings["prompt_version"] != PROMPT_VERSION:
        return
    prompt = system_prompt(
        level,
        skill=settings["skill"],
        region_offset_m=settings["region_offset_m"],
        feedback=Feedback.of(settings),
    )
    if hashlib.sha256(prompt.encode()).hexdigest() != recorded:
        context.report.find("protocol", path, "began with another prompt than the declared settings give")


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
    used = {"calls": len(outcomes), "tool_calls": len(outcomes), "executions": len(trajectory.attempts)}
    for name, value in used.items():
        if name in limits and value > limits[name]:
            context.report.find(
                "limit", path, f"{value} {name.replace('_', ' ')}, the limit is {limits[name]}"
            )
    if "S" in outcomes[:-1]:
        context.report.find("limit", path, f"goes on after a success ({outcomes})")


def _verdict(context: Context, where: str, level: Level, item: Mapping[str, Any]) -> None:
    """Reply, design and violations belong together: the reply is read and validated again."""
    report, settings = context.report, context.settings
    if item["mistake"] is not None:
        return
    reply = parse_reply(item["reply"], parser=settings["parser"])
    design = None if reply.bridge is None else bridge_to_json(reply.bridge)
    if design != item["design"]:
        report.find("design", where, "the design isn't the one in the reply")
    problems = list(reply.problems)
    if item["design"] is not None:
        problems += check(
            level,
            bridge_from_json(item["design"]),
            region_offset_m=settings["region_offset_m"],
            sequential_ids=settings["sequential_ids"],
        )
    found = sorted({problem.code for problem in problems})
    recorded = sorted({violation["code"] for violation in item["violations"]})
    if found != recorded:
        report.find(
            "verdict",
            where,
            f"recorded are {', '.join(recorded) or 'no violations'}; "
            f"the validator finds {', '.join(found) or 'none'}",
        )
    if not is_legal(problems) and item["executions"]:
        report.find("verdict", where, "an illegal design was run")
    if is_legal(problems) and item["outcome"] == "V":
        report.find("verdict", where, "a legal design was refused")


def _executions(context: Context, where: str, level: Level, item: Mapping[str, Any]) -> None:
    declared = context.manifest["inclusion"]["executors"]
    for execution in item["executions"]:
        who = {name: execution[name] for name in ("version", "constants_sha256")}
        if declared.get(execution["executor"]) != who:
            context.report.find(
                "protocol", where, f"was run by another {execution['executor']} than declared"
            )
        evidence = execution["data"]
        if (evidence["outcome"] == "crossed") != (execution["success"] is True):
            context.report.find(
                "verdict", where, f"success is {execution['success']}, the outcome {evidence['outcome']!r}"
            )
        cost = bridge_from_json(item["design"]).cost()
        if abs(evidence["cost"] - cost) > 0.001:
            context.report.find(
                "score", where, f"a cost of ${evidence['cost']}, the design costs ${cost:.4f}"
            )
        if execution["executor"] == EMBEDDED.id:
            context.runs.append((where, level, item["design"], execution))


def _feedback(context: Context, where: str, item: Mapping[str, Any], outcome: str) -> None:
    """The agent was told what the declared feedback mode says, and no more."""
    said = item["feedback"]
    if said is None or outcome not in _FEEDBACK_KIND:
        return
    if said["kind"] != _FEEDBACK_KIND[outcome]:
        context.report.find(
            "protocol", where, f"feedback of kind {said['kind']!r} on a call with outcome {outcome}"
        )
        return
    if outcome != "F":
        return
    told, evidence = Feedback.of(context.settings), item["executions"][0]["data"]
    members = len(item["design"]["edges"]) if told.topology else 0
    if said["save_members"] != members:
        context.report.find("protocol", where, f"a save with {said['save_members']} members, not {members}")
    times = evidence.get("frame_times_s") or frame_times_s(evidence["lost_s"])
    chosen = [times[i] for i in select(len(times), told.frames, told.choice)] if told.frames else []
    if said["selected_timestamps_s"] != chosen:
        context.report.find(
            "protocol", where, f"frames at {said['selected_timestamps_s']}, declared are {chosen}"
        )
    if ("contact_sheet.png" in said["pictures"]) != bool(told.frames):
        context.report.find(
            "protocol", where, f"pictures {said['pictures']} with {told.frames} frames declared"
        )


def _round_files(context: Context, path: str, level: Level, item: Mapping[str, Any]) -> None:
    """Design and save in the round's folder are those of the trajectory."""
    folder = f"{path.removesuffix('/trajectory.json')}/round-{item['round']}"
    report, wanted = context.report, []
    if item["design"] is not None:
        wanted.append("design.json")
    if item["executions"]:
        wanted.append("save.txt")
    for name in wanted:
        file = f"{folder}/{name}"
        try:
            data = read_bytes(context.folder / file)
        except OSError:
            report.find("missing file", file, "the round has no such file")
            continue
        with report.guarded(file):
            if name == "save.txt":
                bridge, title = savefile.decode(data)
                same = title == level.name and bridge_to_json(bridge) == item["design"]
            else:
                decoded = parse_reply(data.decode()).bridge
                same = decoded is not None and bridge_to_json(decoded) == item["design"]
            if not same:
                report.find("design", file, "holds another design than the trajectory")


def _result(context: Context, path: str, document: Mapping[str, Any], figures: Mapping[str, Any]) -> None:
    report, file = context.report, path.replace("/trajectory.json", "/result.json")
    try:
        result = read_json(read_bytes(context.folder / file))
    except OSError:
        report.find("missing file", file, "there is a trajectory and no result")
        return
    for name in ("agent", "condition", "epoch", "level"):
        if result[name] != document[name]:
            report.find("misplaced", file, f"{name} is {result[name]!r}, the trajectory's {document[name]!r}")
    budget = document["level_inputs"]["context"]["task_context"]["budget_limit"]
    if (result["budget"], result["strict_budget"]) != (budget, document["strict_budget"]):
        report.find("budget", file, "has other budgets than the trajectory")
    for name, value in figures.items():
        if result.get(name) != value:
            kind = "counter" if name in _COUNTERS else "score"
            report.find(kind, file, f"{name} is {result.get(name)!r}, the trajectory gives {value!r}")


def simulate_designs(context: Context) -> None:
    """Run every design of the embedded executor again; other constants than the installed ones are noted."""
    from evalkit_polybridge.constants import physics_constants
    from evalkit_polybridge.physics import Run, simulate

    installed = sha256_of(physics_constants())
    again: dict[tuple[Level, str], Run] = {}
    foreign = 0
    for where, level, design, execution in context.runs:
        if execution["constants_sha256"] != installed:
            foreign += 1
            continue
        key = (level, sha256_of(design))
        with context.report.guarded(where):
            if key not in again:
                again[key] = simulate(level, bridge_from_json(design))
            _compare(context, where, again[key], execution)
    context.report.simulated = len(again)
    if foreign:
        context.report.notes.append(f"{foreign} runs were made with other constants: not simulated again")


def _compare(context: Context, where: str, run: Any, execution: Mapping[str, Any]) -> None:
    evidence = execution["data"]
    if (run.success, run.outcome) != (execution["success"], evidence["outcome"]):
        context.report.find(
            "simulation",
            where,
            f"recorded is {evidence['outcome']!r}, simulated again it ends {run.outcome!r}",
        )
    elif run.digest != evidence["digest"]:
        context.report.find("simulation", where, "the same verdict, but not the same run (digest)")
