"""Studies with people: who compares what, what came back, and how far people agree with the judge.

A study of designs shows builds for the same prompt side by side, four views each (`pairwise.select_views`).
A study against human models shows a build beside a published model of about as many parts.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import log, sqrt
from statistics import stdev

import numpy as np
from numpy.typing import NDArray

from evalkit.stats import Interval, wilson
from evalkit_brickbench.scoring.pairwise import Verdict, fair_coin_p_value

PER_RATER = 40
PREFERENCE = "preference"
"""The question of verdicts by people."""
CENTRE_ELO = 1000.0


@dataclass(frozen=True, slots=True)
class Comparison:
    """What one rater is shown: `first` on the left, `second` on the right. `id` says nothing of them."""

    id: str
    rater: int
    task: str
    first: str
    second: str


@dataclass(frozen=True, slots=True)
class Judgments:
    """Verdicts that came back, the raters they're from, and comparisons without an answer."""

    verdicts: tuple[Verdict, ...]
    raters: tuple[int, ...]
    unanswered: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Agreement:
    """Two rankings of the same systems: Kendall's τ-b, and pairs of systems ordered alike.

    τ is None if either ranking doesn't tell any two systems apart.
    """

    tau: float | None
    agreeing: int
    n_pairs: int


@dataclass(frozen=True, slots=True)
class Match:
    """A build and the human model it's shown beside, with their numbers of parts."""

    build: str
    human_model: str
    build_parts: int
    human_parts: int


@dataclass(frozen=True, slots=True)
class HumanRate:
    """How often a system's builds were preferred to human models.

    `p_value` is the exact two-sided test against ½, `interval` Wilson's 95 % interval of the share.
    """

    system: str
    preferred: int
    n: int
    interval: Interval
    p_value: float

    @property
    def share(self) -> float:
        """`preferred` of `n`, 0 … 1."""
        return self.preferred / self.n


def study_design(
    builds: Mapping[str, Iterable[str]], n_raters: int, *, per_rater: int = PER_RATER, seed: int = 0
) -> list[Comparison]:
    """Deals out comparisons of builds for the same prompt; `builds` maps a task to its systems.

    No rater sees the same two builds twice. Beyond that, counts are kept as even as they can be: first how
    often each pair of systems is shown, then each of its tasks, then how often a rater meets a task. Each
    pair is shown equally often either way round (within one). The result depends on seed and names only.

    Raises ValueError if there are fewer different comparisons than a rater gets, or no raters.
    """
    items = [(task, pair) for task in sorted(builds) for pair in combinations(sorted(set(builds[task])), 2)]
    return _dealt(items, n_raters, per_rater, seed)


def study_against_humans(
    builds: Mapping[str, Iterable[str]],
    n_raters: int,
    human: str = "human",
    *,
    per_rater: int = PER_RATER,
    seed: int = 0,
) -> list[Comparison]:
    """Deals out builds beside human models as `study_design` does; `human` is what these are called as a
    system. Which model stands beside which build is decided by `match_human_models`. ValueError likewise."""
    items = [(task, (human, system)) for task in sorted(builds) for system in sorted(set(builds[task]))]
    return _dealt(items, n_raters, per_rater, seed)


def _dealt(
    items: Sequence[tuple[str, tuple[str, str]]], n_raters: int, per_rater: int, seed: int
) -> list[Comparison]:
    if n_raters < 1 or per_rater < 1:
        raise ValueError(f"a study needs raters and comparisons, not {n_raters} × {per_rater}")
    if len(items) < per_rater:
        raise ValueError(
            f"there are {len(items)} different comparisons, too few for {per_rater} per rater; "
            "ask less of each or add prompts"
        )
    deck = _Deck(items, seed)
    return [
        Comparison(f"r{rater:03}-{number:02}", rater, *dealt)
        for rater in range(1, n_raters + 1)
        for number, dealt in enumerate(deck.hand(per_rater), 1)
    ]


class _Deck:
    """Comparisons, and how often each of them, their tasks and their pairs of systems were dealt."""

    def __init__(self, items: Sequence[tuple[str, tuple[str, str]]], seed: int) -> None:
        rng = np.random.Generator(np.random.PCG64(seed))
        self._items = items
        pairs = sorted({pair for _, pair in items})
        tasks = sorted({task for task, _ in items})
        self._pair = np.array([pairs.index(pair) for _, pair in items])
        self._task = np.array([tasks.index(task) for task, _ in items])
        self._swapped = rng.integers(0, 2, len(pairs)).astype(bool)
        self._pair_count = np.zeros(len(pairs), dtype=int)
        self._item_count = np.zeros(len(items), dtype=int)
        self._rng, self._n_tasks = rng, len(tasks)

    def hand(self, size: int) -> list[tuple[str, str, str]]:
        """What one rater gets: task, left and right system, `size` times."""
        seen = np.zeros(len(self._items), dtype=bool)
        task_count = np.zeros(self._n_tasks, dtype=int)
        return [self._deal(seen, task_count) for _ in range(size)]

    def _deal(self, seen: NDArray[np.bool_], task_count: NDArray[np.int64]) -> tuple[str, str, str]:
        """The comparison that keeps the counts most even, ties by lot; entered in what the rater has seen."""
        best = np.flatnonzero(~seen)
        for count in (self._pair_count[self._pair], self._item_count, task_count[self._task]):
            best = _fewest(best, count)
        chosen = int(self._rng.choice(best))
        pair, task = self._pair[chosen], self._task[chosen]
        seen[chosen] = True
        self._pair_count[pair] += 1
        self._item_count[chosen] += 1
        task_count[task] += 1
        self._swapped[pair] = not self._swapped[pair]
        name, systems = self._items[chosen]
        left, right = systems[::-1] if self._swapped[pair] else systems
        return name, left, right


def _fewest(candidates: NDArray[np.intp], count: NDArray[np.int64]) -> NDArray[np.intp]:
    counts = count[candidates]
    fewest: NDArray[np.intp] = candidates[counts == counts.min()]
    return fewest


def read_judgments(rows: Iterable[Mapping[str, str]], design: Iterable[Comparison]) -> Judgments:
    """Verdicts from rows with `id` (of a comparison) and `choice` (1 the left, 2 the right build).

    An empty choice is no answer. Raises ValueError that names the row on an unknown or repeated id and on
    another choice.
    """
    shown = {comparison.id: comparison for comparison in design}
    answers: dict[str, int | None] = {}
    for number, row in enumerate(rows, 1):
        if not {"id", "choice"} <= row.keys():
            raise ValueError(f"row {number} lacks the column id or choice")
        name, choice = row["id"].strip(), row["choice"].strip()
        if name not in shown:
            raise ValueError(f"row {number}: there is no comparison {name!r} in this design")
        if name in answers:
            raise ValueError(f"row {number}: {name} is answered twice")
        if choice not in ("1", "2", ""):
            raise ValueError(f"row {number}: the choice is 1, 2 or empty, not {choice!r}")
        answers[name] = int(choice) if choice else None
    verdicts: list[Verdict] = []
    raters: list[int] = []
    for name, comparison in shown.items():
        answer = answers.get(name)
        if answer is not None:
            verdicts.append(Verdict(comparison.task, PREFERENCE, comparison.first, comparison.second, answer))
            raters.append(comparison.rater)
    unanswered = tuple(name for name in shown if answers.get(name) is None)
    return Judgments(tuple(verdicts), tuple(raters), unanswered)


def agreement(a: Mapping[str, float], b: Mapping[str, float]) -> Agreement:
    """Compares two ratings of the same systems (Kendall 1945, τ-b: ties count for neither side).

    Raises ValueError on different systems or fewer than two.
    """
    if a.keys() != b.keys() or len(a) < 2:
        raise ValueError("an agreement needs the same systems, at least two, in both ratings")
    signs = [(_sign(a[i] - a[j]), _sign(b[i] - b[j])) for i, j in combinations(sorted(a), 2)]
    agreeing = sum(x * y > 0 for x, y in signs)
    opposed = sum(x * y < 0 for x, y in signs)
    untied_a, untied_b = sum(x != 0 for x, _ in signs), sum(y != 0 for _, y in signs)
    tau = (agreeing - opposed) / sqrt(untied_a * untied_b) if untied_a and untied_b else None
    return Agreement(tau, agreeing, len(signs))


def scale_factor(ratings: Mapping[str, float], reference: Mapping[str, float]) -> float:
    """The factor by which `ratings` are stretched about 1000 so that they spread as `reference` does.

    The ratio of standard deviations over the systems of both: swapping the two gives the inverse, which a
    regression line wouldn't. Raises ValueError on different systems, fewer than two, or no spread.
    """
    if ratings.keys() != reference.keys() or len(ratings) < 2:
        raise ValueError("scales are aligned by the same systems, at least two, in both ratings")
    spread, wanted = (stdev(values[name] for name in sorted(values)) for values in (ratings, reference))
    if not spread or not wanted:
        raise ValueError("one of the ratings has no spread: its scale can't be aligned")
    return wanted / spread


def rescaled(ratings: Mapping[str, float], factor: float) -> dict[str, float]:
    """1000 + factor · (rating − 1000) of each system."""
    return {system: CENTRE_ELO + factor * (elo - CENTRE_ELO) for system, elo in ratings.items()}


def match_human_models(builds: Mapping[str, int], human_models: Mapping[str, int]) -> list[Match]:
    """Gives each build a human model of about as many parts, sorted by build; both map a name to parts.

    The sum of |log ratio| of the numbers of parts is the smallest with no human model used more often than
    builds / human models, rounded up.

    Raises ValueError without human models and on numbers of parts below 1.
    """
    if not human_models:
        raise ValueError("there are no human models to match")
    if min([*builds.values(), *human_models.values()]) < 1:
        raise ValueError("a model has at least one part")
    from scipy.optimize import linear_sum_assignment

    names, models = sorted(builds), sorted(human_models)
    uses = -(-len(names) // len(models))
    build_log = np.array([log(builds[name]) for name in names])
    human_log = np.array([log(human_models[name]) for name in models] * uses)
    _, chosen = linear_sum_assignment(np.abs(build_log[:, None] - human_log[None, :]))
    return [
        Match(name, model, builds[name], human_models[model])
        for name, model in zip(names, (models[index % len(models)] for index in chosen), strict=True)
    ]


def rates_against_humans(verdicts: Sequence[Verdict], human: str = "human") -> list[HumanRate]:
    """How often each system was preferred to the human model beside it, sorted by system.

    `human` is what verdicts call the human models. Raises ValueError on a verdict without one.
    """
    counts: dict[str, list[int]] = {}
    for verdict in verdicts:
        if human not in (verdict.first, verdict.second):
            raise ValueError(f"no human model in {verdict.first!r} against {verdict.second!r}")
        system = verdict.second if verdict.first == human else verdict.first
        count = counts.setdefault(system, [0, 0])
        count[0] += verdict.winner == system
        count[1] += 1
    return [
        HumanRate(system, won, n, wilson(won, n), fair_coin_p_value(won, n))
        for system, (won, n) in sorted(counts.items())
    ]


def _sign(x: float) -> int:
    return int(x > 0) - int(x < 0)
