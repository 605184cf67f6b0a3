"""Numbers of one build, from its record."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from evalkit import Episode, Score, Task
from evalkit_brickbench.specs import STABILITY

NO_VERDICT = "the build was refused before its stability was looked at, or there is none"


class _Metric:
    def __init__(self, settings: Mapping[str, Any]) -> None:
        pass


class Valid(_Metric):
    """1 for a build that passes the validators and stands."""

    def measure(self, episode: Episode, task: Task) -> Score:
        """1 or 0; the evidence says by which method stability was found."""
        found = episode.evidence(STABILITY.id)
        if found is None:
            return Score(0.0)
        return Score(float(found["success"] is True), evidence=_method(episode, found))


class Stable(_Metric):
    """1 for a build that stands, of those that came so far."""

    def measure(self, episode: Episode, task: Task) -> Score:
        """1 or 0, or not applicable."""
        found = episode.evidence(STABILITY.id)
        if found is None:
            return Score.not_applicable(NO_VERDICT)
        return Score(float(found["success"] is True), evidence=_method(episode, found))


class Parts(_Metric):
    """Number of parts."""

    def measure(self, episode: Episode, task: Task) -> Score:
        """The number, or not applicable."""
        return _number(episode, "parts")


class ComponentCount(_Metric):
    """Number of components."""

    def measure(self, episode: Episode, task: Task) -> Score:
        """The number, or not applicable."""
        return _number(episode, "components")


def _number(episode: Episode, name: str) -> Score:
    found = episode.evidence(STABILITY.id)
    return Score.not_applicable(NO_VERDICT) if found is None else Score(float(_data(episode, found)[name]))


def _method(episode: Episode, found: Mapping[str, Any]) -> dict[str, Any]:
    data = _data(episode, found)
    return {"stable": data["stable"], "method": data["stability_method"]}


def _data(episode: Episode, found: Mapping[str, Any]) -> Mapping[str, Any]:
    data: Mapping[str, Any] = episode.load(found["data"])
    return data
