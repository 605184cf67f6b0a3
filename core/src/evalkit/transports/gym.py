"""A suite as a Gymnasium environment, for trainers: `EvalkitEnv("polybridge.smoke")`.

    action       a JSON object as text: {"tool": "propose", "arguments": {"text": "…"}}
    observation  a JSON object as ASCII text: {"ok": true, "text": "…", "data": {…}, "end": ""}
    reward       0, and in the last step the suite's first metric of episodes (negated if lower is better;
                 0 if it doesn't apply)
    terminated   the environment said that the episode is over
    truncated    a budget was used up, or something broke; `info["end"]` says which
    info         task, ok, counters, budget_left, end, mistake, images (PNG by name, with `pictures=True`)

An action that is no such object is a call like any other: it is counted, recorded under the tool name
`unreadable`, and answered with an error.
"""

from __future__ import annotations

import json
import string
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import gymnasium
from gymnasium.error import ResetNeeded
from gymnasium.spaces import Text

from evalkit.errors import EndReason, UsageError
from evalkit.plugins import resolve
from evalkit.run.scoring import metric_specs
from evalkit.run.trial import MemorySink
from evalkit.transports._driven import DrivenEpisode, ended
from evalkit.transports._present import parsed_json
from evalkit.transports._session import Player, RecordedEpisode, Stage
from evalkit.types import Episode, Event, Observation, Task

MAX_ACTION_CHARACTERS = 200_000
MAX_OBSERVATION_CHARACTERS = 4_000_000
UNREADABLE = "unreadable"
PLAYER = Player("gym", "gym")


class EvalkitEnv(gymnasium.Env[str, str]):
    """Episodes of one suite, each begun by `reset`.

    `target` is the suite, `task` one of its tasks (None: each reset draws one; `options={"task": …}` names
    one), `overrides` are `-T` options, `registry` is a registry file. With `root` every episode is recorded
    as a run folder there, otherwise records are kept in memory for the reward only.
    """

    metadata: dict[str, Any] = {"render_modes": []}  # noqa: RUF012 - as Gymnasium declares it

    def __init__(
        self,
        target: str,
        task: str | None = None,
        *,
        overrides: Sequence[str] = (),
        registry: Path | None = None,
        root: Path | None = None,
        pictures: bool = False,
    ) -> None:
        """UnknownNameError or UsageError if there is no such suite or task."""
        self.action_space = Text(MAX_ACTION_CHARACTERS, charset=string.printable)
        self.observation_space = Text(MAX_OBSERVATION_CHARACTERS, charset=string.printable)
        self._stage = Stage.open(target, overrides, registry, pictures=pictures)
        self._fixed = None if task is None else self._stage.task(task)
        self._root = root
        self._played: _InMemory | RecordedEpisode | None = None
        self._scorer, self._sign = _reward(self._stage)

    def reset(
        self, *, seed: int | None = None, options: Mapping[str, Any] | None = None
    ) -> tuple[str, dict[str, Any]]:
        """Begin an episode; one that was going on ends as stopped by its agent.

        `seed` is the seed of the run, as in `evalkit run --seed`; without it every episode draws its own.
        """
        super().reset(seed=seed)
        self.close()
        drawn = int(self.np_random.integers(len(self._stage.tasks)))
        run_seed = int(self.np_random.integers(2**31)) if seed is None else seed
        task = self._task(drawn, (options or {}).get("task"))
        if self._root is None:
            self._played = _InMemory(self._stage, task, run_seed)
        else:
            self._played = RecordedEpisode(self._stage, task, PLAYER, self._root, run_seed)
        return self._seen(self._played.first)

    def step(self, action: str) -> tuple[str, float, bool, bool, dict[str, Any]]:
        """Carry out one action. ResetNeeded if no episode is going on."""
        if self._played is None or self._over():
            raise ResetNeeded("no episode is going on: call reset() first")
        mistake = ""
        try:
            observation = self._played.call(*_call(action))
        except UsageError as error:
            mistake = str(error)
            observation = self._played.call(UNREADABLE, {"action": str(action)[:2000]})
        text, info = self._seen(observation, mistake)
        end = self._played.episode.end
        if end is None:
            return text, 0.0, False, False, info
        done = end.reason is EndReason.DONE
        return text, self._value(), done, not done, info

    def close(self) -> None:
        """End the episode that is going on, if there is one."""
        if self._played is not None:
            self._played.stop("the trainer went on to something else")

    def _over(self) -> bool:
        return self._played is not None and self._played.episode.end is not None

    def _task(self, drawn: int, named: str | None) -> Task:
        if named is not None:
            return self._stage.task(named)
        return self._fixed or self._stage.tasks[drawn]

    def _seen(self, observation: Observation, mistake: str = "") -> tuple[str, dict[str, Any]]:
        assert self._played is not None
        episode = self._played.episode
        end = "" if episode.end is None else ended(episode.end)
        told = {"ok": episode.ok, "text": observation.text, "data": dict(observation.data), "end": end}
        info = {
            "task": episode.task.id,
            "ok": episode.ok,
            "counters": dict(episode.context.counters),
            "budget_left": dict(episode.context.budget_left),
            "end": end,
            "mistake": mistake,
            "images": {image.name: image.data() for image in observation.images},
        }
        return json.dumps(told), info

    def _value(self) -> float:
        assert self._played is not None
        if self._scorer is None:
            return 0.0
        score = self._scorer.measure(self._played.record(), self._played.episode.task)
        return 0.0 if score.value is None else self._sign * float(score.value)


class _InMemory:
    """A driven episode whose record is kept in memory."""

    def __init__(self, stage: Stage, task: Task, seed: int) -> None:
        self._sink = MemorySink()
        self.episode: DrivenEpisode = stage.episode(stage.key(PLAYER.id, task), task, seed, self._sink)
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


def _call(action: str) -> tuple[str, dict[str, Any]]:
    """Tool and arguments of an action; UsageError if it is no call."""
    value = parsed_json(str(action))
    if not isinstance(value, dict) or not isinstance(value.get("tool"), str):
        raise UsageError("the action is no JSON object with a 'tool'")
    arguments = value.get("arguments", {})
    if not isinstance(arguments, dict):
        raise UsageError("'arguments' of the action is no JSON object")
    return value["tool"], arguments
