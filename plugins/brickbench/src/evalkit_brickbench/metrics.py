"""Numbers of one build, from its record."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import fsum
from typing import Any

from evalkit import Episode, Score, Task
from evalkit_brickbench.specs import STABILITY, VQA

NO_VERDICT = "the build was refused before its stability was looked at, or there is none"

NO_BUILD = "there is no build"
NO_JUDGE = "no judge: evalkit rescore --judge MODEL"


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


class Vqa(_Metric):
    """Share of the questions that hold, of the builds that a judge saw."""

    def measure(self, episode: Episode, task: Task) -> Score:
        """0 to 1; skipped without a judge, not applicable without a build or a usable reply."""
        return _vqa(episode)


class VqaZeroFilled(_Metric):
    """The mean of `Vqa`, with 0 where there is no build."""

    def measure_run(self, episodes: Sequence[tuple[Episode, Task]]) -> Score:
        """0 to 1; skipped until all builds were judged; those whose replies can't be used are left out."""
        scores = []
        for episode, _ in episodes:
            score = Score(0.0) if episode.final_design() is None else _vqa(episode)
            if score.status in ("skipped", "unscored"):
                return Score(None, score.status, score.evidence)
            if score.value is not None:
                scores.append(score.value)
        if not scores:
            return Score.not_applicable(NO_BUILD)
        total = fsum(scores)
        return Score(total / len(scores), numerator=total, denominator=len(scores))


def _vqa(episode: Episode) -> Score:
    if episode.final_design() is None:
        return Score.not_applicable(NO_BUILD)
    found = episode.evidence(VQA.id)
    if found is None:
        return Score(None, "skipped", {"why": NO_JUDGE})
    if "error" in found:
        return Score(None, "unscored", {"error": found["error"]})
    data = _data(episode, found)
    if data["score"] is None:
        return Score.not_applicable(f"no reply could be used: {data['failures'][-1]}")
    return Score(data["score"], evidence={"judge": data["judge"], "held": data["held"]})


def _number(episode: Episode, name: str) -> Score:
    found = episode.evidence(STABILITY.id)
    return Score.not_applicable(NO_VERDICT) if found is None else Score(float(_data(episode, found)[name]))


def _method(episode: Episode, found: Mapping[str, Any]) -> dict[str, Any]:
    data = _data(episode, found)
    return {"stable": data["stable"], "method": data["stability_method"]}


def _data(episode: Episode, found: Mapping[str, Any]) -> Mapping[str, Any]:
    data: Mapping[str, Any] = episode.load(found["data"])
    return data
