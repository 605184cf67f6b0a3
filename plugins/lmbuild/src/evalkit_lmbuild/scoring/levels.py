"""From metrics to levels: judged and computed halves, means over tasks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

LEVELS: dict[str, tuple[str, str, str]] = {
    "S": ("S.1", "S.2", "S.3"),
    "A": ("A.1", "A.2", "A.3"),
    "D": ("D.1", "D.2", "D.3"),
    "R": ("R.1", "R.2", "R.3"),
}
METRICS = tuple(metric for metrics in LEVELS.values() for metric in metrics)


@dataclass(frozen=True)
class Scale:
    """A clipped linear map: `low` and below give 0, `high` and above 1."""

    low: float
    high: float

    def __call__(self, value: float) -> float:
        """The value on the scale from 0 to 1."""
        return min(1.0, max(0.0, (value - self.low) / (self.high - self.low)))


@dataclass(frozen=True)
class Calibration:
    """How the halves of a metric of level D make its score: a scale and a weight for each."""

    judge: Scale
    computed: Scale | None = None
    judge_weight: float = 1.0
    computed_weight: float = 1.0


CALIBRATION: dict[str, Calibration] = {
    "D.1": Calibration(
        Scale(0.361098595910615, 0.7644482055694082), Scale(0.12761948890919605, 1.0246941813514066)
    ),
    "D.2": Calibration(Scale(0.374144242014298, 0.7251003039981829)),
    "D.3": Calibration(
        Scale(0.450001044152948, 0.7765900239285473),
        Scale(0.15358897088851234, 0.6057168520591678),
        judge_weight=3.0,
    ),
}
"""The published maps (version 3.4.5), fitted to four annotators on eight objects."""


@dataclass(frozen=True)
class Combined:
    """A metric of level D: `score` None where it is skipped; `status` is full, degraded or skipped."""

    score: float | None
    status: str


def combine(
    metric: str,
    judge: float | None,
    computed: float | None,
    calibration: Mapping[str, Calibration] = CALIBRATION,
) -> Combined:
    """Put the judged and the computed half of a D metric together, each in [0, 1] before its map.

    With one half missing the other stands alone (degraded); D.2 has no computed half and is skipped without a
    judge.
    """
    maps = calibration[metric]
    halves: list[tuple[float, float]] = []
    if judge is not None:
        halves.append((maps.judge_weight, maps.judge(judge)))
    if computed is not None and maps.computed is not None:
        halves.append((maps.computed_weight, maps.computed(computed)))
    if not halves:
        return Combined(None, "skipped")
    whole = judge is not None and (maps.computed is None or computed is not None)
    total = sum(weight for weight, _ in halves)
    return Combined(sum(weight * value for weight, value in halves) / total, "full" if whole else "degraded")


def judged(scores: Sequence[int]) -> float:
    """A judge's integers from 1 to 10, one per criterion, as a mean in [0, 1]: (s − 1)/9."""
    return sum((score - 1) / 9 for score in scores) / len(scores)


def cell(scores: Sequence[float | None]) -> float | None:
    """A cell of the main table: 100 × the mean over tasks, without those where the metric doesn't apply.

    A task whose design is missing has to be given as 0.0.
    """
    known = [score for score in scores if score is not None]
    return 100.0 * sum(known) / len(known) if known else None


def level(cells: Mapping[str, float | None], name: str) -> float | None:
    """The mean of a level's three cells, without those that don't apply."""
    known = [value for metric in LEVELS[name] if (value := cells.get(metric)) is not None]
    return sum(known) / len(known) if known else None
