"""The twelve metrics and the four levels of an episode, from its record."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from evalkit import Episode, Score, Task
from evalkit_lmbuild.scoring.lacking import REASONS, never_made
from evalkit_lmbuild.scoring.levels import CALIBRATION, LEVELS, combine
from evalkit_lmbuild.settings import maps_of
from evalkit_lmbuild.specs import GEOMETRY, JUDGE_IDS, OPERABILITY_ID

NO_DESIGN = "no design was submitted"
NO_JUDGE = "no judge: evalkit rescore --judge MODEL"
DRAWS = 1000
SEED = 0


class _Metric:
    """A metric of level S, A or R: what its executor found."""

    metric = ""
    executor = GEOMETRY.id

    def __init__(self, settings: Mapping[str, Any]) -> None:
        pass

    def measure(self, episode: Episode, task: Task) -> Score:
        """The score with its evidence; 0 without a design, not applicable with the reason.

        Without a design it doesn't apply either if it does to no design of the run, for want of what
        generators don't make.
        """
        if episode.final_design() is None:
            score = Score(0.0, evidence={"why": NO_DESIGN})
        else:
            score = self._of(self._found(episode))
            if not score.evidence.get("no_design"):
                return score
        if never_made(self.metric, self._of_designs(episode)):
            lacks = {"why": REASONS[self.metric], "design": score.evidence["why"]}
            return Score(None, "not_applicable", lacks)
        return score

    def _found(self, episode: Episode) -> Mapping[str, Any]:
        return self._own(_data(episode, self.executor))

    def _own(self, data: Mapping[str, Any]) -> Mapping[str, Any]:
        return data[self.metric] if self.executor == GEOMETRY.id and self.metric in data else data

    def _of_designs(self, episode: Episode) -> Iterator[tuple[float | None, str]]:
        """Score and reason of each design of the run."""
        for (_, _, executor), found in episode.gathered.items():
            if executor == self.executor and "error" not in found:
                row = self._own(episode.load(found["data"]))
                if not row["evidence"].get("no_design"):
                    yield row["score"], row["reason"]

    def _of(self, found: Mapping[str, Any]) -> Score:
        if "status" in found:
            return Score(None, found["status"], {"why": found["why"]})
        if found["score"] is None:
            return Score(None, "not_applicable", {**found["evidence"], "why": found["reason"]})
        evidence = dict(found["evidence"])
        return Score(
            found["score"], evidence={**evidence, "why": found["reason"]} if found["reason"] else evidence
        )


class Connectivity(_Metric):
    """S.1: is the design one piece, and fastened?"""

    metric = "S.1"


class Collisions(_Metric):
    """S.2: how many contacts are free of collisions?"""

    metric = "S.2"


class Stability(_Metric):
    """S.3: how far can it be tilted and pushed?"""

    metric = "S.3"


class Shape(_Metric):
    """A.1: does it have the reference's shape?"""

    metric = "A.1"


class FunctionalParts(_Metric):
    """A.2: are the parts there that it needs?"""

    metric = "A.2"


class Kinematics(_Metric):
    """A.3: do its joints move what they should?"""

    metric = "A.3"


class Assembly(_Metric):
    """R.1: can it be put together in the declared order?"""

    metric = "R.1"


class Materials(_Metric):
    """R.2: do the materials suit the parts?"""

    metric = "R.2"


class Operability(_Metric):
    """R.3: does it work, rigid bodies simulated?"""

    metric = "R.3"
    executor = OPERABILITY_ID


class _Judged(_Metric):
    """A metric of level D: a judged and a computed half, each through its map."""

    def __init__(self, settings: Mapping[str, Any]) -> None:
        self._maps = maps_of(settings)

    def measure(self, episode: Episode, task: Task) -> Score:
        """Both halves; degraded with one of them, skipped with none.

        An episode without a design counts 0, but not in what only a judge sees if no judge saw the run.
        """
        if episode.final_design() is None:
            if self._maps[self.metric].computed is None and not _was_judged(episode, self.metric):
                return Score(None, "skipped", {"why": NO_JUDGE})
            return Score(0.0, evidence={"why": NO_DESIGN})
        judge = _data(episode, JUDGE_IDS[self.metric])
        halves = {"judge": _half(judge)}
        no_judge = NO_JUDGE if judge.get("status") == "unscored" else judge.get("why", NO_JUDGE)
        if self._maps[self.metric].computed is not None:
            computed = self._found(episode)
            if "status" in computed:
                return self._of(computed)
            halves["computed"] = computed["score"]
        combined = combine(self.metric, halves["judge"], halves.get("computed"), self._maps)
        if combined.score is None:
            return Score(None, "skipped", {**halves, "why": no_judge})
        if combined.status == "degraded":
            why = no_judge if halves["judge"] is None else "the computed half doesn't apply"
            return Score(combined.score, "degraded", {**halves, "why": why})
        return Score(combined.score, evidence=halves)


class Decomposition(_Judged):
    """D.1: is it cut into parts sensibly?"""

    metric = "D.1"


class VisualQuality(_Judged):
    """D.2: does it look right?"""

    metric = "D.2"


class Resemblance(_Judged):
    """D.3: does it look like the object?"""

    metric = "D.3"


_BY_METRIC: dict[str, type[_Metric]] = {
    each.metric: each
    for each in (
        Connectivity,
        Collisions,
        Stability,
        Shape,
        FunctionalParts,
        Kinematics,
        Decomposition,
        VisualQuality,
        Resemblance,
        Assembly,
        Materials,
        Operability,
    )
}


class _Level:
    """A level: the mean of its metrics' means over tasks."""

    level = ""

    def __init__(self, settings: Mapping[str, Any]) -> None:
        self._metrics = {name: _BY_METRIC[name](settings) for name in LEVELS[self.level]}

    def measure_run(self, episodes: Sequence[tuple[Episode, Task]]) -> Score:
        """The level with a bootstrap interval over tasks; degraded where a metric is or lacks its judge."""
        own = of_one_system(episodes)
        scores = {
            name: [metric.measure(episode, task) for episode, task in own]
            for name, metric in self._metrics.items()
        }
        everything = [score for column in scores.values() for score in column]
        if (unscored := next((s for s in everything if s.status == "unscored"), None)) is not None:
            return Score(None, "unscored", unscored.evidence)
        cells = {name: _mean([score.value for score in column]) for name, column in scores.items()}
        known = [value for value in cells.values() if value is not None]
        if not known:
            return Score.not_applicable("none of its metrics applies")
        tasks = [task.id for _, task in episodes]
        low, high = _interval([[score.value for score in column] for column in scores.values()], tasks)
        whole = all(score.status not in ("degraded", "skipped") for score in everything)
        evidence: dict[str, Any] = {"cells": cells}
        if not whole:
            evidence["why"] = "a metric of it is degraded or skipped"
        return Score(sum(known) / len(known), "ok" if whole else "degraded", evidence, low=low, high=high)


class LevelS(_Level):
    """Structure."""

    level = "S"


class LevelA(_Level):
    """Appearance and function."""

    level = "A"


class LevelD(_Level):
    """Design."""

    level = "D"


class LevelR(_Level):
    """Realisation."""

    level = "R"


def of_one_system(played: Sequence[tuple[Episode, Task]]) -> list[tuple[Episode, Task]]:
    """The episodes of one system without what executors found of other systems' designs in the same run."""
    designs = [(episode.key.task, episode.final_design()) for episode, _ in played]
    own = {(task, design["sha256"]) for task, design in designs if design is not None}
    narrowed: dict[int, Mapping[tuple[str, str, str], Any]] = {}
    for episode, _ in played:
        if id(episode.gathered) not in narrowed:
            found = {key: each for key, each in episode.gathered.items() if key[:2] in own}
            narrowed[id(episode.gathered)] = found
    return [(replace(episode, gathered=narrowed[id(episode.gathered)]), task) for episode, task in played]


def _data(episode: Episode, executor: str) -> Mapping[str, Any]:
    """What an executor found of the final design; a status and the reason where it found nothing."""
    found = episode.evidence(executor)
    if found is None:
        return {"status": "unscored", "why": f"{executor} has not run"}
    if "error" in found:
        return {"status": "unscored", "why": found["error"]}
    data: Mapping[str, Any] = episode.load(found["data"])
    return data


def _was_judged(episode: Episode, metric: str) -> bool:
    """Whether the judge of a metric looked at any design of the run."""
    return any(executor == JUDGE_IDS[metric] for _, _, executor in episode.gathered)


def halves(episode: Episode, metric: str) -> tuple[float | None, float | None]:
    """The judged and the computed half of a metric of level D before their maps, None where there is none."""
    computed = {} if CALIBRATION[metric].computed is None else _data(episode, GEOMETRY.id).get(metric, {})
    return _half(_data(episode, JUDGE_IDS[metric])), _half(computed)


def _half(found: Mapping[str, Any]) -> float | None:
    score = found.get("score")
    return None if score is None else float(score)


def _mean(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known else None


def _interval(columns: Sequence[Sequence[float | None]], tasks: Sequence[str]) -> tuple[float, float]:
    """The middle 95 % of the level over resampled tasks, whose episodes stay together."""
    import warnings

    import numpy as np

    values = np.array([[np.nan if v is None else v for v in column] for column in columns])
    names = sorted(set(tasks))
    of_task = np.array([[task == name for task in tasks] for name in names], dtype=float)
    sums = np.nan_to_num(values) @ of_task.T
    counts = (~np.isnan(values)).astype(float) @ of_task.T
    draws = np.random.default_rng(SEED).multinomial(len(names), [1 / len(names)] * len(names), size=DRAWS)
    with np.errstate(invalid="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # a draw in which a metric never applies
        levels = np.nanmean((draws @ sums.T) / (draws @ counts.T), axis=1)
    low, high = np.nanquantile(levels, [0.025, 0.975])
    return float(low), float(high)
