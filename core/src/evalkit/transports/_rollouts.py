"""Episodes of a suite one after the other, each with a reward: what adapters for trainers share."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from evalkit.plugins import resolve
from evalkit.run.scoring import metric_specs
from evalkit.run.trial import MemorySink
from evalkit.transports._driven import DrivenEpisode, ended
from evalkit.transports._session import Player, RecordedEpisode, Stage
from evalkit.types import Episode, Event, Observation, Task


class Rollouts:
    """Plays a suite for a trainer; `begin` ends the episode before.

    `target` is the suite, `overrides` are `-T` options, `registry` is a registry file. With `root` every
    episode is recorded as a run folder there, otherwise records are kept in memory for the reward only.
    """

    def __init__(
        self,
        target: str,
        player: Player,
        *,
        overrides: Sequence[str] = (),
        registry: Path | str | None = None,
        root: Path | str | None = None,
        pictures: bool = False,
    ) -> None:
        """UnknownNameError or UsageError if there is no such suite."""
        self.stage = Stage.open(
            target, overrides, None if registry is None else Path(registry), pictures=pictures
        )
        self._player, self._root = player, None if root is None else Path(root)
        self._played: _InMemory | RecordedEpisode | None = None
        self._scorer, self._sign = _reward(self.stage)

    @property
    def episode(self) -> DrivenEpisode | None:
        """The last episode that was begun."""
        return None if self._played is None else self._played.episode

    @property
    def going_on(self) -> bool:
        """Whether an episode has begun and isn't over."""
        return self.episode is not None and self.episode.end is None

    @property
    def end(self) -> str:
        """How the last episode ended, in words; empty while it goes on."""
        return "" if self.episode is None or self.episode.end is None else ended(self.episode.end)

    def begin(self, task: Task, run_seed: int) -> Observation:
        """Begin an episode; one that was going on ends as stopped by its agent."""
        self.close()
        if self._root is None:
            self._played = _InMemory(self.stage, task, self._player, run_seed)
        else:
            self._played = RecordedEpisode(self.stage, task, self._player, self._root, run_seed)
        return self._played.first

    def call(self, tool: str, arguments: Mapping[str, Any], error: str = "") -> Observation:
        """As `DrivenEpisode.call`, for the episode that is going on."""
        assert self._played is not None
        return self._played.call(tool, arguments, error)

    def reward(self) -> float:
        """The suite's first metric of episodes for the episode that has ended.

        Negated if lower is better, so that more is better; 0 if it doesn't apply or there is no such metric.
        """
        assert self._played is not None
        if self._scorer is None:
            return 0.0
        score = self._scorer.measure(self._played.record(), self._played.episode.task)
        return 0.0 if score.value is None else self._sign * float(score.value)

    def close(self) -> None:
        """End the episode that is going on, if there is one."""
        if self._played is not None:
            self._played.stop("the trainer went on to something else")


class _InMemory:
    """A driven episode whose record is kept in memory."""

    def __init__(self, stage: Stage, task: Task, player: Player, seed: int) -> None:
        self._sink = MemorySink()
        self.episode = stage.episode(stage.key(player.id, task), task, seed, self._sink)
        self.first = self.episode.start()
        self.call, self.stop = self.episode.call, self.episode.stop

    def record(self) -> Episode:
        """The episode as metrics see it."""
        events = list[Event](self._sink.events)
        return Episode(self.episode.key, events, events[-1], self._sink.load)


def _reward(stage: Stage) -> tuple[Any, float]:
    """The metric that is the reward, built, and the sign that makes more of it better; None without one."""
    suite = stage.suite
    specs = metric_specs(stage.plugins, suite.benchmark, list(suite.metrics)).values()
    spec = next((spec for spec in specs if spec.scope == "episode"), None)
    if spec is None:
        return None, 1.0
    scorer = resolve(spec.target, stage.plugins.origin(spec).plugin)(dict(suite.settings))
    return scorer, 1.0 if spec.higher_is_better else -1.0
