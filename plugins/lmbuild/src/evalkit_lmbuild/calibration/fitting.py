"""Fitting the maps of level D: clipped lines from halves of a score to the mean rating, by least squares."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from evalkit_lmbuild.calibration.ratings import Rated, RatingsError
from evalkit_lmbuild.scoring.levels import CALIBRATION, Calibration, Scale

if TYPE_CHECKING:
    from evalkit_lmbuild.design import Floats

FEWEST = 4
"""Designs that a map needs; two numbers are fitted to them."""
MAX_EDGES = 200
PIECES = 64
"""Lines are tried in so many lots, to save memory."""


def fit(items: Sequence[Rated], like: Mapping[str, Calibration] = CALIBRATION) -> dict[str, Calibration]:
    """Maps for every metric that is rated, of two halves together; the weights are those of `like`.

    RatingsError names a half that has too few designs or doesn't rise with the ratings.
    """
    from evalkit_lmbuild.calibration.joint import fit_both

    found: dict[str, Calibration] = {}
    for metric, maps in like.items():
        rated = [item for item in items if item.metric == metric]
        if not rated:
            continue
        judge, computed = _fit_half(metric, "judge", rated), None
        weights = (maps.judge_weight, maps.computed_weight)
        if maps.computed is not None:
            alone = (judge, _fit_half(metric, "computed", rated))
            known = [item for item in rated if (item.judge, item.computed) != (None, None)]
            values = [(item.judge, item.computed) for item in known]
            judge, computed = fit_both(values, [item.rating for item in known], weights, alone)
        found[metric] = Calibration(judge, computed, *weights)
    return found


def fit_scale(values: Sequence[float], ratings: Sequence[float]) -> Scale:
    """The clipped line that comes closest to ratings in [0, 1] by the sum of squares.

    The sum has many local minima, each the plain regression line of the values between its own ends: where a
    value reaches an end the sum only ever bends down, so no minimum lies there. Hence all runs of
    neighbouring values are tried, and the line with the smallest sum over all values is the best
    there is with two values on its slope. ValueError for fewer than four values, for equal ones, and
    where ratings don't rise with values.
    """
    import numpy as np

    x, y = np.asarray(values, dtype=np.float64), np.asarray(ratings, dtype=np.float64)
    if len(x) < FEWEST:
        raise ValueError(f"{len(x)} designs have it, {FEWEST} are needed")
    if np.ptp(x) < 1e-9:
        raise ValueError("it is the same for all designs")
    if float(((x - x.mean()) * (y - y.mean())).sum()) <= 0:
        raise ValueError("it doesn't rise with the ratings")
    order = np.lexsort((y, x))
    x, y = x[order], y[order]
    offsets, slopes = _regressions(x, y)
    lines = zip(np.array_split(offsets, PIECES), np.array_split(slopes, PIECES), strict=True)
    sums = [((np.clip(a[:, None] + b[:, None] * x, 0.0, 1.0) - y) ** 2).sum(axis=1) for a, b in lines]
    best = int(np.argmin(np.concatenate(sums)))
    offset, slope = float(offsets[best]), float(slopes[best])
    return Scale(-offset / slope, (1 - offset) / slope)


def _regressions(x: Floats, y: Floats) -> tuple[Floats, Floats]:
    """Offsets and slopes of the rising regression lines of all runs of neighbouring values.

    `x` is sorted. Where there are more than 200 different values runs begin and end at 200 of them.
    """
    import numpy as np

    firsts = np.flatnonzero(np.diff(x, prepend=-np.inf) > 0)
    edges = np.append(firsts, len(x))
    if len(edges) > MAX_EDGES:
        edges = edges[np.unique(np.linspace(0, len(edges) - 1, MAX_EDGES).round().astype(int))]
    begins, ends = np.triu_indices(len(edges), 1)
    low, high = edges[begins], edges[ends]
    centred, middle = x - x.mean(), x.mean()
    columns = np.column_stack([np.ones_like(x), centred, y, centred * centred, centred * y])
    before = np.vstack([np.zeros(5), np.cumsum(columns, axis=0)])
    n, sx, sy, sxx, sxy = (before[high] - before[low]).T
    spread, rise = n * sxx - sx * sx, n * sxy - sx * sy
    rising = (spread > 1e-12) & (rise > 1e-12)
    slopes = rise[rising] / spread[rising]
    offsets = (sy[rising] - slopes * sx[rising]) / n[rising] - slopes * middle
    return offsets, slopes


def _fit_half(metric: str, half: str, rated: Sequence[Rated]) -> Scale:
    known = [(value, item.rating) for item in rated if (value := getattr(item, half)) is not None]
    try:
        return fit_scale([value for value, _ in known], [rating for _, rating in known])
    except ValueError as error:
        raise RatingsError(f"the {half} half of {metric} can't be fitted: {error}") from error
