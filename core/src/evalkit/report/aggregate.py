"""From scores to one figure per metric: value, counts, interval, and what isn't in it and why.

Two figures belong to every metric: one over the scored episodes, and one in which episodes without a
result count as the metric declares (as failures, or left out). What was skipped, not applicable,
undetermined or unscored is counted by its own word and is never a 0.

Several epochs of a task resemble each other: intervals resample whole tasks (or the clusters that a metric
declares) as soon as one counts twice.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

from evalkit.errors import EvalkitError
from evalkit.hookspecs import MetricSpec
from evalkit.types import EpisodeKey, Score

STATUSES = ("ok", "not_applicable", "skipped", "degraded", "undetermined", "unscored")

#: Seed of every bootstrap, so that a report gives the same bits each time.
BOOTSTRAP_SEED = 0

#: Name of the interval of proportions.
WILSON = "wilson"


@dataclass(frozen=True, slots=True)
class Counterpart:
    """The second figure, in which the `count` episodes without a result are `counted_as` declared."""

    count: int
    counted_as: Literal["failure", "omit"]
    value: float | None
    numerator: float | None
    denominator: int
    low: float | None
    high: float | None


@dataclass(frozen=True, slots=True)
class Aggregate:
    """One metric of one agent in one run.

    `value` is a fraction for proportions and None if the denominator is 0. `numerator` is None where the
    value isn't a ratio of counts. `low` and `high` bound the 95 % interval made by `method`; both are
    None where the data can't support one. `missing` is None if no episode lacks a result. The counts by
    status are of episodes (of a metric of the whole run: of its one score); `degraded` ones are part of the
    value, the other four are not. `note` says them in words.
    """

    metric: str
    label: str
    kind: Literal["proportion", "mean", "total"]
    unit: str
    value: float | None
    numerator: float | None
    denominator: int
    low: float | None
    high: float | None
    method: str
    missing: Counterpart | None
    not_applicable: int
    skipped: int
    degraded: int
    undetermined: int
    unscored: int
    note: str

    @property
    def word(self) -> str:
        """The status that stands in place of a value, or marks one; empty if there is nothing to say."""
        if self.value is not None:
            return "degraded" if self.degraded else ""
        reasons = [name for name in ("skipped", "undetermined", "unscored") if getattr(self, name) > 0]
        return reasons[0] if len(reasons) == 1 else ""


class _Figure(NamedTuple):
    value: float | None
    numerator: float | None
    denominator: int
    low: float | None
    high: float | None
    method: str


def aggregate(
    spec: MetricSpec,
    scores: Mapping[EpisodeKey, Score],
    *,
    clusters: Mapping[EpisodeKey, str] | None,
    missing: Collection[EpisodeKey] = (),
) -> Aggregate:
    """One figure over the scores of one agent's episodes.

    `clusters` names the group that an episode is resampled with (one that isn't in it: with its task);
    None stands for tasks. `missing` are the planned episodes without an entry in `scores`; those with an
    `unscored` score lack a result, too. A missing episode counted as a failure is a 0; but where every
    score was skipped or undetermined, missing episodes don't turn that into a 0. EvalkitError if a score
    breaks the metric's contract (no value, not finite, not 0/1 in a proportion).
    """
    keys = sorted(scores)
    counts = _count_statuses(spec, (scores[key] for key in keys))
    counted = [key for key in keys if scores[key].status in ("ok", "degraded")]
    values = {key: checked_value(spec, key.text(), scores[key]) for key in counted}
    lacking = [*missing, *(key for key in keys if scores[key].status == "unscored")]
    counterpart = None
    figure = _figure(spec, values, clusters)
    if lacking:
        second = figure
        unmeasured = not values and (counts["skipped"] or counts["undetermined"])
        if spec.missing == "failure" and not unmeasured:
            second = _figure(spec, values | dict.fromkeys(sorted(lacking), 0.0), clusters)
        counterpart = Counterpart(len(lacking), spec.missing, *second[:-1])
    return _aggregate(spec, figure, counterpart, counts, _note(counts, scores.values()))


def aggregate_run(spec: MetricSpec, score: Score, *, missing: int = 0, epochs: int = 1) -> Aggregate:
    """The figure of a metric that sees all episodes of an agent at once.

    A proportion with counts gets a Wilson interval, whose name says so if there were several `epochs`: counts
    don't tell them apart. Any other value keeps the interval of its own. `missing` is the number of planned
    episodes without a result. They count as failures only in a proportion that declares so: no other value
    says what a failure would add to it.
    """
    counts = _count_statuses(spec, [score])
    figure = _run_figure(spec, score)
    if figure.method == WILSON and epochs > 1:
        figure = figure._replace(method=f"{WILSON} (epochs taken as independent)")
    counterpart = None
    if missing:
        second, counted_as = figure, spec.missing
        if spec.kind == "proportion" and figure.numerator is not None and spec.missing == "failure":
            second = _proportion(figure.numerator, figure.denominator + missing)
        else:
            counted_as = "omit"
        counterpart = Counterpart(missing, counted_as, *second[:-1])
    return _aggregate(spec, figure, counterpart, counts, _run_note(score))


def _aggregate(
    spec: MetricSpec, figure: _Figure, missing: Counterpart | None, counts: Counter[str], note: str
) -> Aggregate:
    return Aggregate(
        metric=spec.id,
        label=spec.label,
        kind=spec.kind,
        unit=spec.unit,
        value=figure.value,
        numerator=figure.numerator,
        denominator=figure.denominator,
        low=figure.low,
        high=figure.high,
        method=figure.method,
        missing=missing,
        not_applicable=counts["not_applicable"],
        skipped=counts["skipped"],
        degraded=counts["degraded"],
        undetermined=counts["undetermined"],
        unscored=counts["unscored"],
        note=note,
    )


def _figure(
    spec: MetricSpec, values: Mapping[EpisodeKey, float], clusters: Mapping[EpisodeKey, str] | None
) -> _Figure:
    total, n = math.fsum(values.values()), len(values)
    repeated = len({key.task for key in values}) < n
    if spec.kind == "proportion" and not repeated:
        return _proportion(total, n)
    if not values:
        return _Figure(None, None, 0, None, None, "")
    if spec.kind == "total":
        return _Figure(total, None, n, None, None, "")
    names = [(clusters or {}).get(key, f"task {key.task}") for key in values]
    by = f"(cluster={'task' if clusters is None else spec.cluster})"
    if spec.kind == "proportion":
        return _repeated_proportion(list(values.values()), names, by)
    from evalkit.stats import bootstrap_mean

    if clusters is None and not repeated:
        interval, by = bootstrap_mean(list(values.values()), seed=BOOTSTRAP_SEED), ""
    else:
        interval = bootstrap_mean(list(values.values()), names, seed=BOOTSTRAP_SEED)
    return _Figure(total / n, None, n, interval.low, interval.high, f"bootstrap{by}")


def _repeated_proportion(values: Sequence[float], clusters: Sequence[str], by: str) -> _Figure:
    """A proportion over several epochs.

    If all values are alike, resampling has no spread to show: the interval is then that of as many
    successes (or failures) as there are clusters.
    """
    from evalkit.stats import bootstrap_mean

    successes, n = int(math.fsum(values)), len(values)
    if 0 < successes < n:
        interval = bootstrap_mean(values, clusters, seed=BOOTSTRAP_SEED)
        return _Figure(successes / n, successes, n, interval.low, interval.high, f"bootstrap{by}")
    groups = len(set(clusters))
    alike = _proportion(groups if successes else 0, groups)
    return _Figure(successes / n, successes, n, alike.low, alike.high, f"{WILSON}{by}")


def _proportion(numerator: float, denominator: float) -> _Figure:
    from evalkit.stats import wilson

    successes, n = int(numerator), int(denominator)
    interval = wilson(successes, n)
    return _Figure(successes / n if n else None, successes, n, interval.low, interval.high, WILSON)


def _run_figure(spec: MetricSpec, score: Score) -> _Figure:
    numerator, denominator = score.numerator, score.denominator
    if spec.kind == "proportion" and numerator is not None and denominator is not None:
        if numerator != int(numerator) or denominator != int(denominator):
            raise EvalkitError(f"metric {spec.id!r}: {numerator:g}/{denominator:g} is not a ratio of counts")
        if not 0 <= numerator <= denominator:
            raise EvalkitError(f"metric {spec.id!r}: {numerator:g}/{denominator:g} is not a proportion")
        return _proportion(numerator, denominator)
    if score.status not in ("ok", "degraded") or denominator == 0:
        return _Figure(None, numerator, int(denominator or 0), None, None, "")
    method = "" if score.low is None else str(score.evidence.get("method", "metric"))
    value = checked_value(spec, "the run", score)
    return _Figure(value, numerator, int(denominator or 0), score.low, score.high, method)


def checked_value(spec: MetricSpec, where: str, score: Score) -> float:
    """The value of a score with status ok or degraded; EvalkitError, naming `where`, if it isn't right."""
    value = score.value
    if value is None or not math.isfinite(value):
        raise EvalkitError(f"metric {spec.id!r}: {where} has status {score.status} but value {value}")
    if spec.kind == "proportion" and spec.scope == "episode" and value not in (0, 1):
        raise EvalkitError(
            f"metric {spec.id!r}: {where} has value {value:g}; a proportion takes 0 or 1 (or make it a mean)"
        )
    return float(value)


def _count_statuses(spec: MetricSpec, scores: Iterable[Score]) -> Counter[str]:
    counts = Counter(score.status for score in scores)
    unknown = sorted(counts.keys() - set(STATUSES))
    if unknown:
        raise EvalkitError(f"metric {spec.id!r}: unknown status {unknown[0]!r}; known: {', '.join(STATUSES)}")
    return counts


def _note(counts: Counter[str], scores: Iterable[Score]) -> str:
    """What isn't an ordinary value, in words: `3 not applicable (never failed), 50 skipped (no judge)`."""
    reasons: dict[str, set[str]] = {}
    for score in scores:
        reasons.setdefault(score.status, set()).add(_reason(score))
    parts = []
    for status in STATUSES[1:]:
        if counts[status]:
            why = reasons[status]
            shared = f" ({next(iter(why))})" if len(why) == 1 and "" not in why else ""
            parts.append(f"{counts[status]} {status.replace('_', ' ')}{shared}")
    return ", ".join(parts)


def _run_note(score: Score) -> str:
    """What isn't an ordinary value of a run; a count of one would look like one episode."""
    if score.status == "ok":
        return ""
    why = _reason(score)
    return score.status.replace("_", " ") + (f" ({why})" if why else "")


def _reason(score: Score) -> str:
    """Why there is no ordinary value, as the metric says, or the error that it raised."""
    return str(score.evidence.get("why") or score.evidence.get("error") or "")
