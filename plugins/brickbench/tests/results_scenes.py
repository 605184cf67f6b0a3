"""Outcomes made by hand, for tests of tables and figures: four systems, one of them twice."""

from __future__ import annotations

from evalkit import Task
from evalkit_brickbench.designs import candidate_of
from evalkit_brickbench.judges.entrants import Build
from evalkit_brickbench.results import Outcome, Outcomes
from evalkit_brickbench.scoring.pairwise import Verdict, schedule
from evalkit_brickbench.scoring.ratings import Ratings, rate_by_setting
from evalkit_brickbench.scoring.tables import BuildRecord, Contents

GRAPH = [
    ("tower", "Is there a tower?", "entity", "whole", []),
    ("red", "Is the tower red?", "attribute", "color", ["tower"]),
    ("flag", "Is there a flag?", "entity", "part", ["tower"]),
    ("top", "Does the flag fly from the top of the tower?", "relation", "spatial", ["tower", "flag"]),
]
FIELDS = ("key", "question", "kind", "subtype", "dependencies")
SOUND, LARGE = Contents(20, 3, 2, 0, 0, 1, True), Contents(500, 9, 4, 0, 0, 2, True)


def task(name: str, setting: str = "model", category: str = "castle") -> Task:
    """A task with four questions."""
    questions = [dict(zip(FIELDS, row, strict=True)) for row in GRAPH]
    hidden = {"setting": setting, "category": category, "questions": questions}
    return Task(name, {"prompt": f"A red tower with a flag, {name}.", "setting": setting}, hidden)


def build(system: str, colour: int = 4, parts: int = 2) -> Build:
    """A tower of bricks."""
    lines = [f"1 {colour} 0 {-24 * n} 0 1 0 0 0 1 0 0 0 1 3001.dat" for n in range(1, parts + 1)]
    candidate = candidate_of("model.ldr", "\n".join(["0 Tower", *lines, ""]).encode())
    return Build(system, candidate.data["sha256"], candidate, {})


def outcome(
    system: str,
    name: str,
    *,
    contents: Contents | None = SOUND,
    held: tuple[bool, ...] | None = None,
    setting: str = "model",
    category: str = "castle",
    agent: str | None = None,
    kit: str = "library",
    **fields: object,
) -> Outcome:
    """One outcome; without contents there is no build."""
    vqa = None if held is None else sum(held) / len(held)
    record = BuildRecord(**{"system": system, "setting": setting, "task": name, "contents": contents,
                            "vqa": vqa, **fields})  # fmt: skip
    made = None if contents is None else build(system)
    sha256 = None if made is None else made.sha256
    return Outcome(record, agent or system, kit, task(name, setting, category), held, sha256, lambda: made)


def world() -> Outcomes:
    """Two systems that were judged, one that delivers nothing, and one with the other kit."""
    yes, half, no = (True,) * 4, (True, True, False, False), (False,) * 4
    found = [
        outcome("ann", "t1", held=yes, cost_usd=2.0),
        outcome("ann", "t2", held=half, cost_usd=1.0, category="train"),
        outcome("ann", "s1", held=yes, cost_usd=3.0, setting="set", contents=LARGE),
        outcome("bob", "t1", held=no, cost_usd=0.1, contents=Contents(30, 2, 1, 3, 2, 1, None)),
        outcome("bob", "t2", held=half, cost_usd=0.1, contents=Contents(7, 2, 1, 0, 0, 2, False)),
        outcome("bob", "s1", cost_usd=0.1, contents=None, setting="set"),
        outcome("cy", "t1", contents=None),
        outcome("ann (ldraw)", "t1", held=half, agent="ann", kit="ldraw", obeys_part_rules=False),
    ]
    return Outcomes(tuple(found), ("r1: a note",))


def ratings() -> dict[str, Ratings]:
    """Ratings of ann and bob: ann wins three duels of four on each task."""
    duels = schedule({name: {"ann": 4, "bob": 4} for name in ("t1", "t2")})
    verdicts = [
        Verdict(d.task, d.question, d.first, d.second, 2 if (d.task, d.first) == ("t2", "ann") else 1)
        if d.first == "ann"
        else Verdict(d.task, d.question, d.first, d.second, 2)
        for d in duels
    ]
    return rate_by_setting(verdicts, {"t1": "model", "t2": "model"})[0]
