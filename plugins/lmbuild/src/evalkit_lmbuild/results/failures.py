"""How designs fail: four modes with their thresholds and denominators, creations, lost track of the scene."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from evalkit import Episode, Task
from evalkit.report import Cell, Column, Rate, Table
from evalkit.stats import wilson
from evalkit_lmbuild.metrics import Assembly, FunctionalParts, Operability
from evalkit_lmbuild.objects import object_facts
from evalkit_lmbuild.results.systems import System
from evalkit_lmbuild.scoring.naming import Naming
from evalkit_lmbuild.simulation.requests import WORKS_FROM

MISPLACED = 0.5
"""A component of A.2 of at most this score is missing or misplaced: of its instances that are needed, as many
are absent, off their place or afloat."""
LARGE_SHARE = 0.5
"""From this share of required parts on, they are missing or misplaced."""

Counted = tuple[int, int]
"""How often something fails, of how many."""


@dataclass(frozen=True, slots=True)
class Mode:
    """A way to fail. `count` gives (failures, cases) of one episode, (0, 0) where it can't be said."""

    title: str
    of: str
    count: Callable[[Episode, Task], Counted]


def parts_missing(episode: Episode, task: Task) -> Counted:
    """Whether at least half of the required parts are missing or misplaced."""
    required = _required(task)
    if not required:
        return 0, 0
    rows = _components(episode, task)
    if rows is None:
        return 0, 0
    bad = sum(rows.get(name, {"score": 0.0})["score"] <= MISPLACED for name in required)
    return int(bad >= LARGE_SHARE * len(required)), 1


def sequence_fails(episode: Episode, task: Task) -> Counted:
    """Whether the declared sequence can't be carried out to its end with every part."""
    score = Assembly({}).measure(episode, task)
    if score.value is None:
        return 0, 0
    return int(score.evidence.get("E", 0.0) < 1.0), 1


def nothing_works(episode: Episode, task: Task) -> Counted:
    """Whether no capability works."""
    score = Operability({}).measure(episode, task)
    if score.value is None:
        return 0, 0
    capabilities: Any = score.evidence.get("capabilities", [])
    return int(not any(each["score"] >= WORKS_FROM for each in capabilities)), 1


def movers_missing(episode: Episode, task: Task) -> Counted:
    """Of the claimed motions, how many have a moving part that the design lacks."""
    movers = _movers(task)
    rows = _components(episode, task)
    if rows is None or not movers:
        return 0, 0
    return sum(not rows.get(name, {}).get("parts") for name in movers), len(movers)


MODES = (
    Mode("at least half of the required parts missing or misplaced", "tasks", parts_missing),
    Mode("sequence not fully executable", "tasks", sequence_fails),
    Mode("no capability works", "tasks", nothing_works),
    Mode("moving part never made", "motions", movers_missing),
)


def failures_table(systems: Sequence[System]) -> Table:
    """A row per mode, a column per system."""
    rows: tuple[tuple[Cell, ...], ...] = tuple(
        (mode.title, mode.of, *(_rate(mode.count(*each) for each in system.played) for system in systems))
        for mode in MODES
    )
    note = (
        f"A required part is missing or misplaced if its component scores at most {MISPLACED:g} in A.2. A "
        "sequence is fully executable if every part of the design has a step that succeeds (R.1, E = 1). A "
        f"capability of R.3 works from {WORKS_FROM:g}. A moving part is made if any part of the design "
        "counts as it in A.2. Tasks where the metric doesn't apply are left out; a missing design fails in "
        "every other row."
    )
    columns = (Column("failure"), Column("of"), *(Column(system.name, "right") for system in systems))
    return Table("lmbuild.failures", "How designs fail", columns, rows, note)


_UNPLACED = re.compile(r"there is no placed part|is a part that can be placed, not a placed one")
_TWICE = re.compile(r"^'.*' is placed already|^there is a (joint|part) '.*' already")
TRACKING = {"refers to what isn't placed": _UNPLACED, "adds what is there": _TWICE}
"""Refusals that show that an agent has lost track of its scene."""


def calls_table(systems: Sequence[System]) -> Table:
    """A row per system: calls, refused ones, lost track of the scene per 100 calls, creations."""
    rows = tuple(_calls_row(system) for system in systems)
    figures = ("calls", "refused", *TRACKING, "created", "created at once")
    note = (
        "Shares of all calls, failed and unknown ones included: read as errors per 100 calls. “created”: of "
        "the calls of create_part those that made a part; “created at once”: of the names tried those whose "
        "first call made a part."
    )
    columns = (Column("system"), *(Column(name, "right") for name in figures))
    return Table("lmbuild.calls", "Calls: creation and track of the scene", columns, rows, note)


def _calls_row(system: System) -> tuple[Any, ...]:
    calls = [turn for episode, _ in system.played for turn in episode.turns()]
    errors = [_error(turn) for turn in calls]
    refused = sum(error is not None for error in errors)
    tracking = [
        _share(sum(bool(error and words.search(error)) for error in errors), len(calls))
        for words in TRACKING.values()
    ]
    creations = [_creations(episode) for episode, _ in system.played]
    tried = [ok for found in creations for attempts in found.values() for ok in attempts]
    first = [attempts[0] for found in creations for attempts in found.values()]
    return (
        system.name,
        len(calls),
        _share(refused, len(calls)),
        *tracking,
        _share(sum(tried), len(tried)),
        _share(sum(first), len(first)),
    )


def _error(turn: Any) -> str | None:
    """The text with which a call was refused, or None."""
    data = None if turn.result is None else turn.result.get("data")
    if data is None and turn.observation is not None:
        data = turn.observation.get("data")
    if turn.result is not None and turn.result.get("ok", True):
        return None
    return str(data.get("error", "")) if isinstance(data, Mapping) else ""


def _creations(episode: Episode) -> dict[str, list[bool]]:
    """Calls of `create_part` by the name they give the part, each with whether it made one."""
    found: dict[str, list[bool]] = {}
    for turn in episode.turns():
        if turn.action.get("tool") == "create_part":
            arguments = episode.load(turn.action.get("arguments"))
            name = str(arguments.get("name")) if isinstance(arguments, Mapping) else ""
            found.setdefault(name, []).append(_error(turn) is None)
    return found


def _rate(counts: Iterable[Counted]) -> Rate:
    failures = cases = 0
    for failed, of in counts:
        failures, cases = failures + failed, cases + of
    return _share(failures, cases)


def _share(part: int, whole: int) -> Rate:
    if not whole:
        return Rate(None, part, whole)
    interval = wilson(part, whole)
    return Rate(part / whole, part, whole, interval.low, interval.high, method=interval.method)


def _components(episode: Episode, task: Task) -> Mapping[str, Any] | None:
    """Rows of A.2 by component; empty without a design, None where A.2 has no score."""
    score = FunctionalParts({}).measure(episode, task)
    if score.value is None:
        return None
    rows: Mapping[str, Any] = score.evidence.get("components", {})
    return rows


def _required(task: Task) -> tuple[str, ...]:
    return _claims(json.dumps(task.hidden["document"]))[0]


def _movers(task: Task) -> tuple[str, ...]:
    return _claims(json.dumps(task.hidden["document"]))[1]


@lru_cache(maxsize=256)
def _claims(document: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Components that are required, each once, and the component that moves in each claimed motion.

    Read without the reference and the catalogue, which nothing has to be compiled for.
    """
    claims = json.loads(document) | {"subpart_pool": {"parts": []}, "reference": None}
    facts = object_facts(claims)
    naming = Naming(facts)
    required = dict.fromkeys(naming.named(part.part) for part in facts.required_parts)
    movers = [naming.named(motion.moving_part) for motion in facts.motions]
    return tuple(name for name in required if name), tuple(name for name in movers if name)
