"""Checking one round of an episode: reply, verdict, runs, what the agent was told, and the round's files."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from evalkit_polybridge import savefile
from evalkit_polybridge.contract import parse_reply
from evalkit_polybridge.designs import bridge_from_json, bridge_to_json
from evalkit_polybridge.environment import frame_times_s
from evalkit_polybridge.feedback import Feedback
from evalkit_polybridge.frames import select
from evalkit_polybridge.graph import Level
from evalkit_polybridge.release.check_context import Context, Ran
from evalkit_polybridge.release.check_native import check_native, kept_frames
from evalkit_polybridge.release.findings import read_bytes, read_json
from evalkit_polybridge.release.scrub import REMOVED, scrubbed_text
from evalkit_polybridge.rules import Problem, check, is_legal
from evalkit_polybridge.specs import EMBEDDED, NATIVE

#: Mistakes of calls that never reach the environment; what exceeds the budget of calls is no round.
MISTAKES = ("unknown_tool", "arguments")

Round = Mapping[str, Any]
"""One entry of a trajectory's `rounds`."""


def check_verdict(context: Context, where: str, level: Level, item: Round) -> None:
    """Reply, design and violations belong together: the reply is read and validated again."""
    report = context.report
    if item["mistake"] is not None:
        _mistake(context, where, level, item)
        return
    problems, design = _judged(context, level, item["reply"])
    if design != item["design"]:
        report.find("design", where, "the design isn't the one in the reply")
    _violations(context, where, item, problems)
    if not is_legal(problems) and item["executions"]:
        report.find("verdict", where, "an illegal design was run")
    if is_legal(problems) and not item["executions"]:
        what = "refused" if item["outcome"] == "V" else "not run"
        report.find("verdict", where, f"a legal design was {what}")


def _judged(context: Context, level: Level, text: str) -> tuple[list[Problem], dict[str, Any] | None]:
    """What the rules find in a reply, and its design."""
    settings = context.settings
    reply = parse_reply(text, parser=settings["parser"])
    if reply.bridge is None:
        return list(reply.problems), None
    found = check(
        level,
        reply.bridge,
        region_offset_m=settings["region_offset_m"],
        sequential_ids=settings["sequential_ids"],
    )
    return [*reply.problems, *found], bridge_to_json(reply.bridge)


def _mistake(context: Context, where: str, level: Level, item: Round) -> None:
    """A call that never reached the environment brought nothing, and could not have brought a bridge."""
    report = context.report
    if item["mistake"] not in MISTAKES:
        report.find("verdict", where, f"there is no mistake {item['mistake']!r}")
    for name in ("design", "violations", "executions"):
        if item[name]:
            report.find("verdict", where, f"is told as a mistake and has {name}")
    problems, design = _judged(context, level, item["reply"])
    if design is not None and is_legal(problems):
        report.find("verdict", where, "is told as a mistake, the reply is a legal design")


def _violations(context: Context, where: str, item: Round, problems: Sequence[Problem]) -> None:
    """The recorded violations are the validator's, word by word where the reply wasn't scrubbed."""
    found = [(p.code, bool(p.advisory)) for p in problems]
    recorded = [(v["code"], bool(v.get("advisory"))) for v in item["violations"]]
    if found != recorded:
        context.report.find(
            "verdict",
            where,
            f"recorded are {_codes(recorded)}; the validator finds {_codes(found)}",
        )
    elif REMOVED not in item["reply"]:
        for problem, violation in zip(problems, item["violations"], strict=True):
            if _details(problem) != _recorded_details(violation):
                context.report.find("verdict", where, f"{problem.code} is told otherwise than it was found")


def _codes(listed: Sequence[tuple[str, bool]]) -> str:
    return ", ".join(f"{code} (advice)" if advice else code for code, advice in listed) or "no violations"


def _details(problem: Problem) -> tuple[Any, ...]:
    return scrubbed_text(problem.message), list(problem.ids), problem.value or 0, problem.limit or 0


def _recorded_details(violation: Mapping[str, Any]) -> tuple[Any, ...]:
    """As `_details`; a record leaves out what is zero or empty."""
    values = (violation.get(name) or 0 for name in ("value", "limit"))
    return violation["message"], list(violation.get("ids", ())), *values


def check_record(context: Context, where: str, item: Round) -> None:
    """What nothing can be computed from has the shape in which it is written: time and calls of a model."""
    if type(item["time"]) not in (int, float) or item["time"] < 0:
        context.report.find("form", where, f"its time is {item['time']!r}, which is no number of seconds")
    for call in item["model_calls"]:
        found = [name for name in call if name not in _MODEL_CALL or not _MODEL_CALL[name](call[name])]
        for name in found:
            context.report.find("form", where, f"a model call has no such {name!r}: {call[name]!r}")


def _is_count(value: Any) -> bool:
    return value is None or (type(value) is int and value >= 0)


def _is_text(value: Any) -> bool:
    return value is None or isinstance(value, str)


def _is_usage(value: Any) -> bool:
    names = {"input", "output", "cached", "reasoning"}
    return isinstance(value, dict) and value.keys() <= names and all(map(_is_count, value.values()))


def _is_error(value: Any) -> bool:
    if not isinstance(value, dict) or value.keys() - {"kind", "message", "status", "phase"}:
        return False
    return _is_count(value.get("status")) and all(_is_text(v) for n, v in value.items() if n != "status")


#: Fields of a call to a model, and whether a value can be theirs.
_MODEL_CALL: Mapping[str, Callable[[Any], bool]] = {
    "usage": _is_usage,
    "cache": _is_text,
    "finish_reason": _is_text,
    "model": _is_text,
    "seconds": lambda value: type(value) in (int, float) and value >= 0,
    "error": _is_error,
}


def check_executions(context: Context, where: str, level: Level, item: Round) -> None:
    """Runs were made by the declared executors, once each, and their evidence doesn't contradict itself."""
    report, declared = context.report, context.manifest["inclusion"]["executors"]
    ran = [execution["executor"] for execution in item["executions"]]
    if ran and (ran[0] != next(iter(declared)) or len(set(ran)) < len(ran)):
        report.find("protocol", where, f"was run by {', '.join(ran)}, declared are {', '.join(declared)}")
    for execution in item["executions"]:
        who = {name: execution[name] for name in ("version", "constants_sha256")}
        if declared.get(execution["executor"]) != who:
            report.find("protocol", where, f"was run by another {execution['executor']} than declared")
        evidence = execution["data"]
        if (evidence["outcome"] == "crossed") != (execution["success"] is True):
            report.find(
                "verdict", where, f"success is {execution['success']}, the outcome {evidence['outcome']!r}"
            )
        if (evidence["outcome"] == "lost") != (evidence["lost_s"] is not None):
            report.find(
                "verdict", where, f"the outcome is {evidence['outcome']!r}, lost_s {evidence['lost_s']}"
            )
        cost = bridge_from_json(item["design"]).cost()
        if abs(evidence["cost"] - cost) > 0.001:
            report.find("score", where, f"a cost of ${evidence['cost']}, the design costs ${cost:.4f}")
        if execution["executor"] == EMBEDDED.id:
            context.runs.append(Ran(where, level, item["design"], execution))
        else:
            context.foreign[execution["executor"]] += 1
    check_native(context, where, level.name, item)


def check_feedback(context: Context, where: str, item: Round, loaded: int, *, last: bool) -> None:
    """The agent was told what the declared feedback mode says, and no more.

    `loaded` is the number of members in the editor after the round.
    """
    report, said = context.report, item["feedback"]
    if item["mistake"] is not None:
        if said is not None:
            report.find("protocol", where, "feedback on a call that never reached the environment")
        return
    if said is None:
        if not last:
            report.find("protocol", where, "no feedback, and yet the play went on")
        return
    told = Feedback.of(context.settings)
    expected = _expected_feedback(item, told, str(context.settings["cutoff_rule"]))
    if item["outcome"] != "S":
        expected["save_members"] = loaded if told.topology else 0
    for name in sorted({**said, **expected}):
        if said.get(name) != expected.get(name):
            report.find(
                "protocol",
                where,
                f"feedback {name} is {said.get(name)!r}, the declared protocol gives {expected.get(name)!r}",
            )


def _expected_feedback(item: Round, told: Feedback, cutoff_rule: str) -> dict[str, Any]:
    """The feedback on a round, but for the number of members that were shown."""
    if item["outcome"] == "S":
        return {"kind": "success", "pictures": [], "save_members": None}
    if item["outcome"] == "V":
        return {"kind": "rejected", "pictures": ["editor.png"]}
    execution = item["executions"][0]
    evidence = execution["data"]
    times = evidence.get("frame_times_s") or frame_times_s(evidence["lost_s"])
    chosen = select(len(times), told.frames, told.choice) if told.frames else []
    return {
        "kind": "failure_or_timeout",
        "duration_s": times[-1],
        "detector": execution["executor"],
        "selected_timestamps_s": [times[i] for i in chosen],
        "cutoff": {"rule": cutoff_rule, "applied": evidence["lost_s"] is not None},
        "pictures": ["editor.png", "contact_sheet.png"] if told.frames else ["editor.png"],
    }


def check_files(context: Context, folder: str, level: Level, item: Round) -> None:
    """Design, save and frames in the round's `folder` are those of the trajectory, and pictures are there."""
    report = context.report
    embedded = any(execution["executor"] == EMBEDDED.id for execution in item["executions"][:1])
    wanted = ["design.json"] if item["design"] is not None else []
    wanted += ["save.txt"] if item["executions"] else []
    wanted += ["frames.json"] if embedded else []
    for name in wanted:
        file = f"{folder}/{name}"
        try:
            data = read_bytes(context.folder / file)
        except OSError:
            report.find("missing file", file, "the round has no such file")
            continue
        with report.guarded(file):
            if name == "frames.json":
                _frames(context, file, read_json(data), item["executions"][0]["data"])
            elif _design_in(name, data, level) != item["design"]:
                report.find("design", file, "holds another design than the trajectory")
    needed, allowed = kept_frames(context, item)
    known = {execution["executor"] for execution in item["executions"]} <= {EMBEDDED.id, NATIVE.id}
    context.frames[folder] = allowed if known else None
    if not context.has_pictures or item["design"] is None:
        return
    drawn = ["editor.png", "contact_sheet.png"] if embedded else ["editor.png"]
    for name in [*drawn, *(f"frames/{kept}" for kept in sorted(needed))]:
        if f"{folder}/{name}" not in context.manifest["images"]["files"]:
            report.find("missing file", f"{folder}/{name}", "the manifest lists no such picture")


def _design_in(name: str, data: bytes, level: Level) -> dict[str, Any] | None:
    """The design in a `design.json` or in the `save.txt` of this level; None if there is none."""
    if name == "save.txt":
        bridge, title = savefile.decode(data)
        return bridge_to_json(bridge) if title == level.name else None
    decoded = parse_reply(data.decode()).bridge
    return None if decoded is None else bridge_to_json(decoded)


def _frames(context: Context, file: str, said: Mapping[str, Any], evidence: Mapping[str, Any]) -> None:
    """`frames.json` tells of the recorded run, unless it says itself that it couldn't be repeated."""
    if said["matches_record"] is not True:
        context.redrawn += 1
        return
    times = frame_times_s(evidence["lost_s"])
    expected = {
        "outcome": evidence["outcome"],
        "frames": len(times),
        "cut_at_failure_marker": evidence["lost_s"] is not None,
        "selected": [{"index": i, "t_s": times[i]} for i in select(len(times))],
        "matches_record": True,
    }
    if said != expected:
        context.report.find("protocol", file, "tells of other frames than those of the recorded run")
