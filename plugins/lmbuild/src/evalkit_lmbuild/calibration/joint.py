"""Fitting both halves of a metric together: the weighted mean of two clipped lines, by least squares.

A half that is fitted alone takes for its own what the other half does to the ratings; only where both say
the same of all designs do the two ways agree.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING

import numpy as np
from scipy.optimize import least_squares

from evalkit_lmbuild.scoring.levels import Scale

if TYPE_CHECKING:
    from evalkit_lmbuild.design import Floats

STARTS = ((0.0, 1.0), (0.0, 0.5), (0.5, 1.0), (0.25, 0.75))
"""Quantiles of a half's values at which a line that the search starts from is 0 and 1."""
SPREAD = 0.1
"""How far lines are taken to lie from those fitted alone before ratings tell, as a standard deviation. It
decides what ratings leave open: how halves that rise together share the rise, and how two lines that are
clipped nowhere share their height."""
LEAST_PULL = 1e-6
FLATTEST = 0.01
"""The least slope: of a half that adds nothing to the other."""
PRECISION = 1e-12
MAX_STEPS = 200


def fit_both(
    values: Sequence[tuple[float | None, float | None]],
    ratings: Sequence[float],
    weights: tuple[float, float],
    alone: tuple[Scale, Scale],
) -> tuple[Scale, Scale]:
    """The scales of two halves whose weighted mean comes closest to ratings in [0, 1].

    `values` are (judge, computed) by design; where one is None the other stands alone, as in a score.
    `alone` are the halves' own fits. The best of 25 local searches (trust region, from lines at quantiles of
    the values) tells the ratings' error; by that the distance from `alone` is weighed in a second round.
    """
    table = np.array(
        sorted(
            [*(-1.0 if value is None else value for value in both), rating]
            for both, rating in zip(values, ratings, strict=True)
        )
    )
    x, y = table[:, :2], table[:, 2]
    share = np.where(x < 0, 0.0, np.asarray(weights, dtype=float))
    share /= share.sum(axis=1, keepdims=True)
    centre = np.array([x[share[:, half] > 0, half].mean() for half in (0, 1)])
    x = np.where(share > 0, x - centre, 0.0)
    own = np.array([_line(scale, middle) for scale, middle in zip(alone, centre, strict=True)])
    halves = _Halves(x, y, share, own)
    starts = [
        np.array(lines)
        for lines in product(*(_starts(x[share[:, half] > 0, half], own[half]) for half in (0, 1)))
    ]
    closest = halves.best(starts, LEAST_PULL)
    variance = halves.cost(closest, 0.0) / max(1, len(y) - closest.size)
    best = halves.best([closest, *starts], max(LEAST_PULL, variance / (len(y) * SPREAD**2)))
    judge, computed = (_scale(line, middle) for line, middle in zip(best, centre, strict=True))
    return judge, computed


@dataclass(frozen=True)
class _Halves:
    """Values from their mean [n, 2], ratings [n], weights [n, 2], and own lines [2, 2].

    A line is its height at 0 and its slope.
    """

    x: Floats
    y: Floats
    share: Floats
    own: Floats

    def best(self, starts: Sequence[Floats], pull: float) -> Floats:
        """The lines at the lowest of the minima next to starts."""
        return min((self._search(start, pull) for start in starts), key=lambda lines: self.cost(lines, pull))

    def _search(self, start: Floats, pull: float) -> Floats:
        bounds = ([-np.inf, FLATTEST] * 2, np.inf)
        found = least_squares(
            lambda flat: self._residuals(flat.reshape(2, 2), pull),
            np.where([False, True], np.maximum(start, 2 * FLATTEST), start).ravel(),
            lambda flat: self._derivatives(flat.reshape(2, 2), pull),
            bounds,
            xtol=PRECISION,
            ftol=PRECISION,
            gtol=PRECISION,
            max_nfev=MAX_STEPS,
        )
        lines: Floats = found.x.reshape(2, 2)
        return lines

    def cost(self, lines: Floats, pull: float) -> float:
        """The sum of squares that is to be small."""
        return float((self._residuals(lines, pull) ** 2).sum())

    def _residuals(self, lines: Floats, pull: float) -> Floats:
        score = (self.share * np.clip(self._levels(lines), 0.0, 1.0)).sum(axis=1)
        away = (self.share > 0) * self._levels(lines - self.own)
        return np.concatenate([score - self.y, pull**0.5 * away.T.ravel()])

    def _derivatives(self, lines: Floats, pull: float) -> Floats:
        levels = self._levels(lines)
        inside = self.share * ((levels > 0.0) & (levels < 1.0))
        there, nothing = pull**0.5 * (self.share > 0), np.zeros((len(self.y), 2))
        score, away = (
            [np.column_stack([by[:, half], by[:, half] * self.x[:, half]]) for half in (0, 1)]
            for by in (inside, there)
        )
        rows = [score, [away[0], nothing], [nothing, away[1]]]
        return np.vstack([np.hstack(row) for row in rows])

    def _levels(self, lines: Floats) -> Floats:
        levels: Floats = lines[:, 0] + lines[:, 1] * self.x
        return levels


def _starts(x: Floats, own: Floats) -> list[Floats]:
    """Lines to start from: that of the half alone, and those from quantile to quantile."""
    found = [own]
    for share_low, share_high in STARTS:
        low, high = np.quantile(x, [share_low, share_high])
        slope = 1 / max(high - low, 1e-3)
        found.append(np.array([-low * slope, slope]))
    return found


def _line(scale: Scale, centre: float) -> tuple[float, float]:
    slope = 1 / (scale.high - scale.low)
    return (centre - scale.low) * slope, slope


def _scale(line: Floats, centre: float) -> Scale:
    height, slope = (float(number) for number in line)
    return Scale(float(centre) - height / slope, float(centre) + (1 - height) / slope)
