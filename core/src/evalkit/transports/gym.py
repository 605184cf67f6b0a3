"""A suite as a Gymnasium environment, for trainers: `EvalkitEnv("polybridge.smoke")`.

    action       a JSON object as text: {"tool": "propose", "arguments": {"text": "…"}}
    observation  a JSON object as ASCII text: {"ok": true, "text": "…", "data": {…}, "end": ""}
    reward       0, and in the last step the suite's first metric of episodes (negated if lower is better;
                 0 if it doesn't apply)
    terminated   the environment said that the episode is over
    truncated    a budget was used up, or something broke; `info["end"]` says which
    info         task, ok, counters, budget_left, end, images (PNG by name, with `pictures=True`)

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

from evalkit.errors import EndReason, UnknownNameError, UsageError
from evalkit.transports._present import parsed_json
from evalkit.transports._rollouts import Rollouts
from evalkit.transports._session import Player
from evalkit.types import Observation, Task

MAX_ACTION_CHARACTERS = 200_000
MAX_OBSERVATION_CHARACTERS = 4_000_000
UNREADABLE = "unreadable"


class EvalkitEnv(gymnasium.Env[str, str]):
    """Episodes of one suite, each begun by `reset`.

    `task` is one of the suite's tasks (None: each reset draws one; `options={"task": …}` names one);
    everything else is as in `Rollouts`.
    """

    metadata: dict[str, Any] = {"render_modes": []}  # noqa: RUF012 - as Gymnasium declares it

    def __init__(
        self,
        target: str,
        task: str | None = None,
        *,
        overrides: Sequence[str] = (),
        registry: Path | str | None = None,
        root: Path | str | None = None,
        pictures: bool = False,
    ) -> None:
        """UnknownNameError or UsageError if there is no such suite or task."""
        self.action_space = Text(MAX_ACTION_CHARACTERS, charset=string.printable)
        self.observation_space = Text(MAX_OBSERVATION_CHARACTERS, charset=string.printable)
        self._rollouts = Rollouts(
            target,
            Player("gym", "gym"),
            overrides=overrides,
            registry=registry,
            root=root,
            pictures=pictures,
        )
        self._fixed = None if task is None else self._rollouts.stage.task(task)

    def reset(
        self, *, seed: int | None = None, options: Mapping[str, Any] | None = None
    ) -> tuple[str, dict[str, Any]]:
        """Begin an episode; one that was going on ends as stopped by its agent.

        `seed` is the seed of the run, as in `evalkit run --seed`; without it every episode draws its own.
        UnknownNameError for a task or an option that there isn't.
        """
        super().reset(seed=seed)
        for name in options or {}:
            if name != "task":
                raise UnknownNameError("option of reset", name, ["task"])
        drawn = int(self.np_random.integers(len(self._rollouts.stage.tasks)))
        run_seed = int(self.np_random.integers(2**31)) if seed is None else seed
        task = self._task(drawn, (options or {}).get("task"))
        return self._seen(self._rollouts.begin(task, run_seed))

    def step(self, action: str) -> tuple[str, float, bool, bool, dict[str, Any]]:
        """Carry out one action. ResetNeeded if no episode is going on."""
        if not self._rollouts.going_on:
            raise ResetNeeded("no episode is going on: call reset() first")
        text, info = self._seen(self._rollouts.call(*_call(action)))
        episode = self._rollouts.episode
        if episode is None or episode.end is None:
            return text, 0.0, False, False, info
        done = episode.end.reason is EndReason.DONE
        return text, self._rollouts.reward(), done, not done, info

    def close(self) -> None:
        """End the episode that is going on, if there is one."""
        self._rollouts.close()

    def _task(self, drawn: int, named: str | None) -> Task:
        if named is not None:
            return self._rollouts.stage.task(named)
        return self._fixed or self._rollouts.stage.tasks[drawn]

    def _seen(self, observation: Observation) -> tuple[str, dict[str, Any]]:
        episode, end = self._rollouts.episode, self._rollouts.end
        assert episode is not None
        told = {"ok": episode.ok, "text": observation.text, "data": dict(observation.data), "end": end}
        info = {
            "task": episode.task.id,
            "ok": episode.ok,
            "counters": dict(episode.context.counters),
            "budget_left": dict(episode.context.budget_left),
            "end": end,
            "images": {image.name: image.data() for image in observation.images},
        }
        return json.dumps(told), info


def _call(action: str) -> tuple[str, dict[str, Any], str]:
    """Tool and arguments of an action, and what is wrong with it if it is no call."""
    try:
        value = parsed_json(str(action))
        if not isinstance(value, dict) or not isinstance(value.get("tool"), str):
            raise UsageError("the action is no JSON object with a 'tool'")
        arguments = value.get("arguments", {})
        if not isinstance(arguments, dict):
            raise UsageError("'arguments' of the action is no JSON object")
    except UsageError as error:
        return UNREADABLE, {"action": str(action)[:2000]}, str(error)
    return value["tool"], arguments, ""
