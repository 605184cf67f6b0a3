"""Ratings of systems from duels: Bradley–Terry strengths on the Elo scale, around a frozen core of anchors.

Alignment and design are rated each by itself, and combined so that both spread the anchors equally. The
maths and its checks are in `evalkit.stats`; here are the benchmark's names and choices.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from evalkit.stats import RatingIntervals, bt_bootstrap, bt_bootstrap_combined, count_wins
from evalkit_brickbench.scoring.pairwise import QUESTIONS, Verdict

PRIOR = 0.5
"""Wins added to every pair in both directions: one virtual drawn game."""
DRAWS = 1000
SEED = 0
CONFIDENCE = 0.95

OVERALL = "overall"


@dataclass(frozen=True, slots=True)
class Estimate:
    """A rating in Elo with its 95 % interval; without bounds if there are fewer than two tasks."""

    elo: float
    low: float | None
    high: float | None

    @property
    def half_width(self) -> float | None:
        """Half the interval's width, the ± of the published table."""
        return None if self.low is None or self.high is None else (self.high - self.low) / 2.0


@dataclass(frozen=True, slots=True)
class SystemRating:
    """One system: combined (`elo`), by question, and the number of verdicts behind it."""

    system: str
    anchor: bool
    elo: Estimate
    alignment: Estimate
    design: Estimate
    n_verdicts: int


@dataclass(frozen=True, slots=True)
class Ratings:
    """Systems from best to worst.

    `groups` are the systems that duels link, directly or not. With more than one, only ratings within a
    group mean anything: the virtual draws alone hold the groups together.
    """

    systems: tuple[SystemRating, ...]
    groups: tuple[tuple[str, ...], ...]
    n_tasks: int

    @property
    def warning(self) -> str | None:
        """Names the groups that never met; None if all are linked."""
        return disconnection(self.groups)

    def of(self, system: str) -> SystemRating:
        """The rating of a system; KeyError if it has none."""
        for rating in self.systems:
            if rating.system == system:
                return rating
        raise KeyError(system)


def rate(
    verdicts: Sequence[Verdict],
    anchors: Collection[str] | None = None,
    *,
    prior: float = PRIOR,
    draws: int = DRAWS,
    seed: int = SEED,
) -> Ratings:
    """Ratings of all systems in `verdicts` on both questions.

    `anchors` are the systems that are rated by the duels among themselves and centred on 1000 (default:
    all); the others are fitted beside them, without moving them. Intervals resample tasks, the same ones
    for both questions; the order of the verdicts doesn't matter.

    Raises ValueError on unknown questions, without verdicts on one of the two, on anchors without
    verdicts, and with `prior` 0 where the most likely ratings aren't finite.
    """
    by_question = {name: [v for v in verdicts if v.question == name] for name in QUESTIONS}
    for name, chosen in by_question.items():
        if not chosen:
            raise ValueError(f"there are no verdicts on {name}")
    if sum(map(len, by_question.values())) < len(verdicts):
        raise ValueError(f"verdicts are on {' or '.join(QUESTIONS)}")
    systems, tasks = systems_of(verdicts), tasks_of(verdicts)
    core = _core(systems, anchors)
    tables = [wins_table(by_question[name], tasks, systems) for name in QUESTIONS]
    alignment, design = (
        bt_bootstrap(table, core, prior=prior, confidence=CONFIDENCE, draws=draws, seed=seed)
        for table in tables
    )
    combined = bt_bootstrap_combined(tables, core, prior=prior, confidence=CONFIDENCE, draws=draws, seed=seed)
    games = np.sum(tables, axis=(0, 1))
    n_verdicts = (games + games.T).sum(axis=1)
    rows = [
        SystemRating(
            system,
            index in core,
            _estimate(combined, index),
            _estimate(alignment, index),
            _estimate(design, index),
            int(n_verdicts[index]),
        )
        for index, system in enumerate(systems)
    ]
    rows.sort(key=lambda row: (-row.elo.elo, row.system))
    return Ratings(tuple(rows), linked_groups(verdicts), len(tasks))


def rate_by_setting(
    verdicts: Sequence[Verdict],
    setting_of: Mapping[str, str],
    anchors: Collection[str] | None = None,
    *,
    prior: float = PRIOR,
    draws: int = DRAWS,
    seed: int = SEED,
) -> tuple[dict[str, Ratings], list[str]]:
    """`rate` of all tasks together under `overall`, and of each setting's; why others can't be rated.

    `setting_of` maps a task to its setting. Anchors that have no verdicts among a setting's are left out
    there. KeyError on a task without a setting.
    """
    chosen: dict[str, list[Verdict]] = {OVERALL: list(verdicts)}
    for setting in sorted({setting_of[v.task] for v in verdicts}):
        chosen[setting] = [v for v in verdicts if setting_of[v.task] == setting]
    found: dict[str, Ratings] = {}
    problems: list[str] = []
    for name, part in chosen.items():
        known = None if anchors is None else set(anchors) & set(systems_of(part))
        try:
            found[name] = rate(part, known, prior=prior, draws=draws, seed=seed)
        except ValueError as error:
            problems.append(f"{name}: no ratings: {error}")
    return found, problems


def rate_one_question(
    verdicts: Sequence[Verdict],
    anchors: Collection[str] | None = None,
    *,
    prior: float = PRIOR,
    draws: int = DRAWS,
    seed: int = SEED,
) -> dict[str, Estimate]:
    """Ratings by system, sorted by name, from verdicts on one question, such as those of people.

    Raises ValueError on more than one question or none, and otherwise what `rate` raises.
    """
    asked = sorted({v.question for v in verdicts})
    if len(asked) != 1:
        raise ValueError(f"verdicts must be on one question, not on {', '.join(asked) or 'none'}")
    systems = systems_of(verdicts)
    table = wins_table(verdicts, tasks_of(verdicts), systems)
    found = bt_bootstrap(
        table, _core(systems, anchors), prior=prior, confidence=CONFIDENCE, draws=draws, seed=seed
    )
    return {system: _estimate(found, index) for index, system in enumerate(systems)}


def wins_table(
    verdicts: Sequence[Verdict], tasks: Sequence[str], systems: Sequence[str]
) -> NDArray[np.float64]:
    """wins[t, i, j] = how often system i beat system j on task t. ValueError on names that aren't listed."""
    return count_wins(
        [v.task for v in verdicts],
        [v.first for v in verdicts],
        [v.second for v in verdicts],
        [float(v.choice == 1) for v in verdicts],
        task_names=tasks,
        systems=systems,
    )


def systems_of(verdicts: Sequence[Verdict]) -> list[str]:
    """The systems that met, sorted."""
    return sorted({name for v in verdicts for name in (v.first, v.second)})


def tasks_of(verdicts: Sequence[Verdict]) -> list[str]:
    """The tasks that they met on, sorted."""
    return sorted({v.task for v in verdicts})


def linked_groups(verdicts: Sequence[Verdict]) -> tuple[tuple[str, ...], ...]:
    """Sets of systems linked by duels, whoever won: the largest first, names sorted."""
    group_of = {system: {system} for system in systems_of(verdicts)}
    for v in verdicts:
        one, other = group_of[v.first], group_of[v.second]
        if one is not other:
            one |= other
            group_of.update(dict.fromkeys(other, one))
    groups = {tuple(sorted(group)) for group in group_of.values()}
    return tuple(sorted(groups, key=lambda group: (-len(group), group)))


def disconnection(groups: Sequence[Sequence[str]]) -> str | None:
    """One line that names the groups which never met; None for a single group."""
    if len(groups) < 2:
        return None
    named = " | ".join(", ".join(group) for group in groups)
    return f"no duel links these groups, so their ratings can't be compared with each other: {named}"


def _core(systems: Sequence[str], anchors: Collection[str] | None) -> list[int]:
    """Indices of the anchors among the systems."""
    if anchors is None:
        return list(range(len(systems)))
    unknown = sorted(set(anchors) - set(systems))
    if unknown:
        raise ValueError(f"there are no verdicts on the anchors {', '.join(unknown)}")
    return [index for index, system in enumerate(systems) if system in set(anchors)]


def _estimate(found: RatingIntervals, index: int) -> Estimate:
    elo, low, high = float(found.elo[index]), float(found.low[index]), float(found.high[index])
    return Estimate(elo, None if np.isnan(low) else low, None if np.isnan(high) else high)
