"""Does a build show what its prompt asks for? Yes-or-no questions that depend on each other.

All questions about a build go to the judge in one request with eight pictures. A yes counts only if
everything the question depends on holds too: the colour of a horn can't be right where there is no horn.

answers = parse_answers(reply, len(questions))
score = build_score(gate(questions, answers))
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter
from math import fsum
from typing import TYPE_CHECKING

from evalkit_brickbench.scoring.replies import ReplyError, quoted

if TYPE_CHECKING:
    from evalkit_brickbench.tasks.schema import Question

N_VIEWS = 8

_LINE = re.compile(r"([1-9][0-9]{0,5})\s*:\s*(yes|no)", re.ASCII | re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class JudgedBuild:
    """One prompt, and what the judge said of the build for it.

    `held` has one entry per question, after gating; None means that there is no build. A build that is
    there but got no usable verdict has no place here: count it apart.
    """

    task: str
    category: str
    questions: Sequence[Question]
    held: tuple[bool, ...] | None


@dataclass(frozen=True, slots=True)
class SystemScore:
    """Mean of the builds' scores (0 … 1).

    `existing` leaves out prompts without a build (the published number) and is None if there is no build
    at all; `zero_filled` counts them as 0.
    """

    existing: float | None
    zero_filled: float
    n_builds: int
    n_missing: int


@dataclass(frozen=True, slots=True)
class SubtypeShare:
    """How many questions of a subtype hold, over all builds that exist."""

    kind: str
    subtype: str
    held: int
    asked: int

    @property
    def share(self) -> float:
        """`held` of `asked`, 0 … 1."""
        return self.held / self.asked


def request_text(questions: Sequence[Question]) -> str:
    """What the judge reads after the eight pictures of one build: the questions, numbered from 1.

    Raises ValueError without questions.
    """
    if not questions:
        raise ValueError("there is nothing to ask: the question graph is empty")
    numbered = "\n".join(
        f"{number}: {' '.join(question.question.split())}" for number, question in enumerate(questions, 1)
    )
    return (
        f"The {N_VIEWS} pictures show one model made of toy bricks, from {N_VIEWS} sides in turn. "
        "Look at all of them before you answer, and go by what can be seen: what no picture shows "
        "isn't there. Allow for the coarse shapes of bricks, but not for missing or different things.\n\n"
        f"{numbered}\n\n"
        f"Answer every question from 1 to {len(questions)} on a line of its own, as its number, a colon and "
        "yes or no, such as\n1: yes\nWrite nothing else."
    )


def parse_answers(reply: str, n_questions: int) -> tuple[bool, ...]:
    """The answers in a reply of lines `<number>: yes|no`, in the order of the questions.

    Lines may come in any order; empty lines and letter case don't matter. Raises ReplyError on any other
    text, a number that wasn't asked or comes twice, and if one is missing.
    """
    answers: dict[int, bool] = {}
    for line in filter(None, map(str.strip, reply.splitlines())):
        match = _LINE.fullmatch(line)
        if match is None:
            raise ReplyError(f"a line is not '<number>: yes' or '<number>: no': {quoted(line)}")
        number = int(match[1])
        if number > n_questions:
            raise ReplyError(f"question {number} is answered, but there are only {n_questions}")
        if number in answers:
            raise ReplyError(f"question {number} is answered twice")
        answers[number] = match[2].lower() == "yes"
    missing = [number for number in range(1, n_questions + 1) if number not in answers]
    if missing:
        raise ReplyError(f"{len(missing)} of {n_questions} answers are missing, the first is {missing[0]}")
    return tuple(answers[number] for number in range(1, n_questions + 1))


def gate(questions: Sequence[Question], answers: Sequence[bool]) -> tuple[bool, ...]:
    """Which questions hold: answered yes, as is everything they depend on, directly or not.

    Raises ValueError if the answers are more or fewer than the questions, or the graph has a key twice,
    a dependency that isn't in it, or a cycle.
    """
    if len(answers) != len(questions):
        raise ValueError(f"{len(questions)} questions but {len(answers)} answers")
    holds = {question.key: answer for question, answer in zip(questions, answers, strict=True)}
    dependencies = {question.key: tuple(question.dependencies) for question in questions}
    if len(dependencies) < len(questions):
        raise ValueError("a key comes twice in the question graph")
    for key in _dependencies_first(dependencies):
        holds[key] = holds[key] and all(holds[needed] for needed in dependencies[key])
    return tuple(holds[question.key] for question in questions)


def _dependencies_first(dependencies: dict[str, tuple[str, ...]]) -> list[str]:
    for key, needed in dependencies.items():
        for name in needed:
            if name not in dependencies:
                raise ValueError(f"question {key!r} depends on {name!r}, which isn't in the graph")
    try:
        return list(TopologicalSorter(dependencies).static_order())
    except CycleError as error:
        raise ValueError(
            f"questions depend on each other in a circle: {' → '.join(error.args[1])}"
        ) from error


def build_score(held: Sequence[bool]) -> float:
    """Share of the questions that hold, after `gate`. Raises ValueError without questions."""
    if not held:
        raise ValueError("a build without questions has no score")
    return sum(held) / len(held)


def system_score(builds: Iterable[JudgedBuild]) -> SystemScore:
    """Mean over builds, each prompt weighing the same. Raises ValueError without prompts."""
    scores = [None if build.held is None else build_score(build.held) for build in builds]
    if not scores:
        raise ValueError("a score needs at least one prompt")
    found = [score for score in scores if score is not None]
    total = fsum(found)
    return SystemScore(
        existing=total / len(found) if found else None,
        zero_filled=total / len(scores),
        n_builds=len(found),
        n_missing=len(scores) - len(found),
    )


def scores_by_category(builds: Iterable[JudgedBuild]) -> dict[str, SystemScore]:
    """`system_score` of the prompts of each category, sorted by name."""
    members: dict[str, list[JudgedBuild]] = {}
    for build in builds:
        members.setdefault(build.category, []).append(build)
    return {category: system_score(members[category]) for category in sorted(members)}


def shares_by_subtype(builds: Iterable[JudgedBuild]) -> list[SubtypeShare]:
    """Questions that hold, pooled over the builds that exist, sorted by kind and subtype."""
    counts: dict[tuple[str, str], list[int]] = {}
    for build in builds:
        if build.held is None:
            continue
        for question, held in zip(build.questions, build.held, strict=True):
            count = counts.setdefault((question.kind, question.subtype), [0, 0])
            count[0] += held
            count[1] += 1
    return [
        SubtypeShare(kind, subtype, held, asked) for (kind, subtype), (held, asked) in sorted(counts.items())
    ]
