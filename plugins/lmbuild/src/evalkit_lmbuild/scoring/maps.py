"""Maps of level D as documents: written by a calibration, read by a protocol's settings."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from evalkit_lmbuild.scoring.levels import CALIBRATION, Calibration, Scale


class MapsError(ValueError):
    """A document holds no maps; the text says which metric and why."""


def maps_document(
    maps: Mapping[str, Calibration], fitted: Iterable[str] = (), held_out: Iterable[str] = ()
) -> dict[str, Any]:
    """Maps as JSON in the shape in which the published ones come, with the objects on both sides."""
    document: dict[str, Any] = {}
    for metric, each in maps.items():
        weights = [each.judge_weight, 0.0 if each.computed is None else each.computed_weight]
        document[metric] = {"weights": weights, "judge": [each.judge.low, each.judge.high]}
        if each.computed is not None:
            document[metric]["computed"] = [each.computed.low, each.computed.high]
    return document | {"fit": sorted(fitted), "test": sorted(held_out)}


def read_maps(document: Mapping[str, Any]) -> dict[str, Calibration]:
    """The maps in a document of this shape; MapsError names what is wrong."""
    found: dict[str, Calibration] = {}
    for metric in CALIBRATION:
        if metric not in document:
            continue
        given = document[metric]
        judge_weight, computed_weight = _two_numbers(metric, given, "weights")
        judge = Scale(*_two_numbers(metric, given, "judge"))
        computed = Scale(*_two_numbers(metric, given, "computed")) if "computed" in given else None
        if any(scale is not None and not scale.low < scale.high for scale in (judge, computed)):
            raise MapsError(f"a map of {metric} doesn't go up")
        if computed is None:
            found[metric] = Calibration(judge, judge_weight=judge_weight)
        else:
            found[metric] = Calibration(judge, computed, judge_weight, computed_weight)
    return found


def _two_numbers(metric: str, given: Any, name: str) -> tuple[float, float]:
    if not isinstance(given, Mapping):
        raise MapsError(f"the maps of {metric} can't be read: they have to be an object")
    if name not in given:
        raise MapsError(f"the maps of {metric} can't be read: there is no field {name!r}")
    try:
        one, other = (float(number) for number in given[name])
    except (TypeError, ValueError, OverflowError) as error:
        raise MapsError(f"the maps of {metric} can't be read: {name!r} has to be two numbers") from error
    return one, other
