"""What is measured; names and denominators stand in `plugin`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from evalkit import Episode, Score, Task
from evalkit_blocks import executor, judge


def _tests(episode: Episode) -> list[Mapping[str, Any]]:
    """What happened to each legal stack, in order."""
    return [episode.load(e["data"]) for e in episode.of("execution") if e["executor"] == executor.ID]


def _solved(episode: Episode) -> bool:
    return any(e["success"] is True for e in episode.of("execution") if e["executor"] == executor.ID)


class _Measure:
    def __init__(self, settings: Mapping[str, Any]) -> None:
        pass


class Solved(_Measure):
    """Whether a stack stood and was high enough."""

    def measure(self, episode: Episode, task: Task) -> Score:
        """0 or 1."""
        return Score(float(_solved(episode)))


class Stable(_Measure):
    """Whether the last legal stack stood, however high."""

    def measure(self, episode: Episode, task: Task) -> Score:
        """0 or 1; not applicable without a legal stack."""
        tests = _tests(episode)
        return Score(float(tests[-1]["stable"])) if tests else Score.not_applicable("no legal stack")


class Height(_Measure):
    """Greatest height of a stack that stood, as a share of the height asked for."""

    def measure(self, episode: Episode, task: Task) -> Score:
        """From 0; not applicable if none stood."""
        heights = [test["height_m"] for test in _tests(episode) if test["stable"]]
        if not heights:
            return Score.not_applicable("no stack stood")
        return Score(max(heights) / task.inputs["height_m"])


class Neatness(_Measure):
    """The judge's rating of the last stack."""

    def measure(self, episode: Episode, task: Task) -> Score:
        """0 to 1; not applicable if nothing was rated, unscored if the judge failed."""
        found = episode.evidence(judge.ID)
        if found is not None and "error" in found:
            return Score(None, "unscored", {"error": found["error"]})
        rating = None if found is None else episode.load(found["data"])["neatness"]
        return Score.not_applicable("no stack was rated") if rating is None else Score(rating)


class Errors(_Measure):
    """Calls that the tools refused."""

    def measure(self, episode: Episode, task: Task) -> Score:
        """A count."""
        return Score(float(episode.counters.get("errors", 0)))


class BestOfEpochs(_Measure):
    """Share of tasks solved in at least one epoch."""

    def measure_run(self, episodes: Sequence[tuple[Episode, Task]]) -> Score:
        """Tasks solved ÷ tasks played; not applicable if none was played."""
        best: dict[str, bool] = {}
        for episode, task in episodes:
            best[task.id] = best.get(task.id, False) or _solved(episode)
        if not best:
            return Score.not_applicable("no task was played")
        solved = sum(best.values())
        return Score(solved / len(best), numerator=solved, denominator=len(best))
