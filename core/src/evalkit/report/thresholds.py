"""Conditions on the figures of a run: `success>=0.8`.

A threshold must not be met by losing episodes. In a proportion, every episode whose result isn't known
(missing, unscored, skipped, undetermined) counts against the condition: as 0 under `>=` and `>`, as 1
under `<=` and `<`. A mean or total whose lost episodes are failures by its own declaration takes them as 0
under `>=` and `>`. Any other figure misses its threshold as long as an episode's result isn't known; and
so does a figure without a value.
"""

from __future__ import annotations

import math
import operator
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from evalkit.errors import UnknownNameError, UsageError
from evalkit.hookspecs import MetricSpec
from evalkit.report.aggregate import Aggregate
from evalkit.report.systems import System

_COMPARE: Mapping[str, Callable[[float, float], bool]] = {
    ">=": operator.ge,
    "<=": operator.le,
    ">": operator.gt,
    "<": operator.lt,
}
_FORM = re.compile(
    r"\s*(?P<metric>[^<>=]*[^<>=\s])\s*(?P<sign>>=|<=|>|<)\s*(?P<limit>[+-]?\d+(\.\d*)?([eE][+-]?\d+)?)\s*"
)


@dataclass(frozen=True, slots=True)
class Threshold:
    """A condition; `metric` is what was written, an id or a label in any case."""

    metric: str
    sign: str
    limit: float

    @classmethod
    def parse(cls, text: str) -> Threshold:
        """Read `METRIC>=NUMBER` (also `>`, `<=`, `<`). Raises UsageError."""
        match = _FORM.fullmatch(text)
        if match is None or not math.isfinite(float(match["limit"])):
            raise UsageError(f"{text!r} is no threshold; write it like success>=0.8 (or >, <=, <)")
        return cls(match["metric"], match["sign"], float(match["limit"]))

    @property
    def condition(self) -> str:
        """The condition without the metric: `>= 0.8`."""
        return f"{self.sign} {self.limit:g}"

    @property
    def from_below(self) -> bool:
        """Whether large values meet the condition."""
        return self.sign in (">=", ">")

    def holds(self, value: float) -> bool:
        """Whether a value meets the condition."""
        return _COMPARE[self.sign](value, self.limit)


@dataclass(frozen=True, slots=True)
class Problem:
    """What an agent's figure doesn't meet; `message` is one line without the agent's name."""

    kind: Literal["missed", "regressed"]
    system: System
    metric: str
    message: str

    def __str__(self) -> str:
        return f"{self.system.suite} · {self.system.agent}: {self.message}"


def find_metric(name: str, specs: Iterable[MetricSpec]) -> MetricSpec | None:
    """The metric with that id, or else the one with that label, in any case.

    UsageError if several metrics bear the label.
    """
    wanted, known = name.casefold(), list(specs)
    found = [s for s in known if s.id.casefold() == wanted] or [
        s for s in known if s.label.casefold() == wanted
    ]
    if len(found) > 1:
        raise UsageError(f"{name!r} is the label of several metrics: {', '.join(s.id for s in found)}")
    return found[0] if found else None


def check_names(thresholds: Sequence[Threshold], suites: Sequence[Sequence[MetricSpec]], where: str) -> None:
    """Every threshold needs a metric in one of the suites at least, and a limit that can be met.

    `where` says where the thresholds were written. Raises UnknownNameError or UsageError.
    """
    for threshold in thresholds:
        found = [spec for specs in suites if (spec := find_metric(threshold.metric, specs)) is not None]
        if not found:
            known = [name for specs in suites for spec in specs for name in (spec.id, spec.label)]
            raise UnknownNameError("metric", threshold.metric, known, where)
        for spec in found:
            if spec.kind == "proportion" and not 0 <= threshold.limit <= 1:
                raise UsageError(
                    f"{spec.label} {threshold.condition} ({where}): a proportion lies between 0 and 1; "
                    f"80 % is 0.8"
                )


def missed_thresholds(
    system: System, specs: Sequence[MetricSpec], thresholds: Sequence[Threshold]
) -> list[Problem]:
    """The thresholds that an agent's figures don't meet; one on a metric it lacks is passed over."""
    problems = []
    for threshold in thresholds:
        spec = find_metric(threshold.metric, specs)
        if spec is None:
            continue
        message = _fault(threshold, spec, system.aggregates[spec.id])
        if message is not None:
            problems.append(Problem("missed", system, spec.id, message))
    return problems


def _fault(threshold: Threshold, spec: MetricSpec, figure: Aggregate) -> str | None:
    """Why the figure doesn't meet the threshold, or None if it does."""
    value, words = _judged(spec, figure, from_below=threshold.from_below)
    if value is not None and threshold.holds(value):
        return None
    found = "has no certain value" if value is None else f"is {value:.6g}"
    return f"{figure.label} {found} ({words}), wanted {threshold.condition}"


def _judged(spec: MetricSpec, figure: Aggregate, *, from_below: bool) -> tuple[float | None, str]:
    """The value that is judged, with every unknown result against it, and the counts behind it in words."""
    lost = unknown_episodes(figure)
    value, counts = figure.value, _counts(figure)
    if value is None:
        return None, f"{counts}; {figure.note}" if figure.note else counts
    if not lost:
        return value, counts
    if spec.kind == "proportion" and figure.numerator is not None:
        numerator, n = figure.numerator + (0 if from_below else lost), figure.denominator + lost
        return numerator / n, f"{numerator:g}/{n}, {lost} without a known result counted against it"
    second = figure.missing
    if from_below and second is not None and second.counted_as == "failure" and second.count == lost:
        return second.value, f"n={second.denominator}, {lost} without a result counted as 0"
    return None, f"{value:.6g} over {counts}, but the result of {lost} more is not known"


def unknown_episodes(figure: Aggregate) -> int:
    """How many episodes could have a value that isn't known (not applicable ones have none to know)."""
    lost = figure.missing.count if figure.missing is not None else 0
    return lost + figure.skipped + figure.undetermined


def _counts(figure: Aggregate) -> str:
    if figure.kind == "proportion" and figure.numerator is not None:
        return f"{figure.numerator:g}/{figure.denominator}"
    return f"n={figure.denominator}"
