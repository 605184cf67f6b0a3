"""One episode as text: what the agent did, what was wrong with it, what happened, what it was told."""

from __future__ import annotations

import contextlib
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from evalkit.errors import RecordError
from evalkit.report.table import printable
from evalkit.types import Episode, EpisodeKey, Event, Turn

#: Longer texts and JSON are cut to this many characters; `evalkit show --json` has all of it.
SHOWN_CHARACTERS = 400

#: What the letters of an outcome mean.
LETTERS = "V invalid, F failed, S succeeded, X executed without a verdict, e refused call"

_SHA256 = re.compile("[0-9a-f]{64}")


def outcome(episode: Episode) -> str:
    """One letter per design proposed or call refused; `LETTERS` explains them.

    `V e F S` is an episode with an invalid first design, a call with wrong arguments (say), a failed second
    design and a successful third one. Calls that merely looked have no letter.
    """
    return " ".join(letter for turn in episode.turns() if (letter := _letter(turn)))


def episode_text(episode: Episode) -> str:
    """The episode from start to end, each call with all that followed from it."""
    lines = [printable(episode.key.text()), *_end_lines(episode)]
    first = next((e for e in episode.events if e["kind"] in ("observation", "action")), None)
    if first is not None and first["kind"] == "observation":
        lines += ["", "what the agent sees first", *_indented(_observation_lines(episode, first))]
    for turn in episode.turns():
        lines += ["", *_turn_lines(episode, turn)]
    return "\n".join(line.rstrip() for line in lines) + "\n"


def episode_json(episode: Episode) -> dict[str, Any]:
    """The episode as JSON: key, outcome, end and every event, long values in full."""
    return {
        "key": episode.key.as_dict(),
        "outcome": outcome(episode),
        "end": dict(episode.end),
        "events": [_resolved(episode, event) for event in episode.events],
    }


def find_episode(text: str, keys: Sequence[EpisodeKey]) -> list[EpisodeKey]:
    """The episodes that a text means: a whole key, a task's id, otherwise all keys that contain it."""
    for fits in (
        [key for key in keys if key.text() == text],
        [key for key in keys if key.task == text],
        [key for key in keys if text.lower() in key.text().lower()],
    ):
        if fits:
            return fits
    return []


def was_refused(turn: Turn) -> bool:
    """Whether a call was a mistake that brought no design: wrong arguments, no such tool, over budget."""
    return turn.result is not None and not turn.result["ok"] and not turn.proposed


def _letter(turn: Turn) -> str:
    if turn.violations is not None and not turn.violations["valid"]:
        return "V"
    if turn.succeeded:
        return "S"
    if was_refused(turn):
        return "e"
    verdicts = [execution["success"] for execution in turn.executions]
    return "" if not verdicts else "F" if False in verdicts else "X"


def _end_lines(episode: Episode) -> Iterator[str]:
    end = episode.end
    detail = f" ({printable(end['detail'])})" if end.get("detail") else ""
    yield f"ended: {end['reason'].replace('_', ' ')}{detail}"
    if letters := outcome(episode):
        yield f"outcome: {letters}   ({LETTERS})"
    spent = [f"{name.replace('_', ' ')} {value:g}" for name, value in episode.counters.items()]
    if "seconds" in end:
        spent.append(f"{end['seconds']:.3g} s")
    yield f"spent: {', '.join(spent)}"


def _turn_lines(episode: Episode, turn: Turn) -> Iterator[str]:
    yield f"call {turn.number}: {printable(turn.action['tool'])}"
    yield from _indented(_value_lines(episode, turn.action["arguments"]))
    if "note" in turn.action:
        yield from _indented(_labelled("the agent's note", _value_lines(episode, turn.action["note"])))
    if turn.result is not None:
        yield from _indented(_result_lines(episode, turn.result))
    if turn.violations is not None:
        yield from _indented(_violation_lines(turn.violations))
    for execution in turn.executions:
        yield from _indented(_execution_lines(episode, execution))
    if turn.observation is not None:
        yield from _indented(_labelled("feedback", _observation_lines(episode, turn.observation)))


def _result_lines(episode: Episode, result: Event) -> Iterator[str]:
    if not result["ok"]:
        yield "refused: a mistake of the agent"
    yield from _labelled("answer", _observation_lines(episode, result))
    if result.get("candidate") is not None:
        yield f"design {result['candidate']['sha256'][:12]}"


def _violation_lines(event: Event) -> Iterator[str]:
    found = event["violations"]
    broken = sum(not violation.get("advisory") for violation in found)
    yield (
        "legal, with advice" if event["valid"] else f"invalid: {broken} violation{'s' if broken != 1 else ''}"
    )
    for violation in found:
        advice = " (advice)" if violation.get("advisory") else ""
        yield f"  {printable(violation['code'])}{advice}: {printable(violation['message'])}"


def _execution_lines(episode: Episode, execution: Event) -> Iterator[str]:
    verdict = {True: "succeeded", False: "failed", None: "no verdict"}[execution["success"]]
    yield f"{printable(execution['executor'])} {execution['version']}: {verdict}"
    yield from _indented(_value_lines(episode, execution["data"]))
    names = [artifact["name"] for artifact in execution.get("artifacts", ())]
    if names:
        yield f"  files: {printable(', '.join(names))}"


def _observation_lines(episode: Episode, event: Event) -> Iterator[str]:
    if "text" in event:
        yield from _shortened(str(_resolved(episode, event["text"]))).splitlines()
    if "data" in event:
        yield from _value_lines(episode, event["data"])
    pictures = [image["name"] for image in event.get("images", ())]
    if pictures:
        yield f"pictures: {printable(', '.join(pictures))}"


def _value_lines(episode: Episode, value: Any) -> Iterator[str]:
    """A JSON object as a line per field, text as it is, everything else compact; all cut to size."""
    value = _resolved(episode, value)
    if not isinstance(value, Mapping):
        yield _shortened(_compact(value))
        return
    for name, inner in value.items():
        text = inner if isinstance(inner, str) else _compact(inner)
        first, *rest = _shortened(text).splitlines() or [""]
        yield f"{printable(name)}: {first}"
        yield from _indented(rest)


def _labelled(label: str, lines: Iterator[str]) -> Iterator[str]:
    """The lines under a label, or nothing if there are none."""
    for count, line in enumerate(lines):
        if count == 0:
            yield label
        yield f"  {line}"


def _indented(lines: Sequence[str] | Iterator[str]) -> Iterator[str]:
    return (f"  {line}" for line in lines)


def _compact(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(", ", ": "))


def _shortened(text: str) -> str:
    if len(text) <= SHOWN_CHARACTERS:
        return printable(text)
    return f"{printable(text[:SHOWN_CHARACTERS])}… ({len(text):,} characters)"


def _resolved(episode: Episode, value: Any) -> Any:
    """The value with every reference to a blob in it replaced by what it stands for.

    A thing that an agent made up to look like a reference stays as it is.
    """
    if isinstance(value, Mapping):
        if value.keys() == {"blob", "size", "media_type"} and _SHA256.fullmatch(str(value["blob"])):
            with contextlib.suppress(RecordError):
                return episode.load(value)
        return {name: _resolved(episode, inner) for name, inner in value.items()}
    if isinstance(value, list):
        return [_resolved(episode, inner) for inner in value]
    return value
