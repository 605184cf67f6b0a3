"""A suite as an OpenEnv environment: `app("polybridge.smoke")` is what uvicorn serves.

An action is a call, an observation what it showed. The last observation of an episode has `done` and, as its
`reward`, the suite's first metric of episodes. Needs the package openenv-core, whose own requirements are
large; it is no extra of evalkit.

    uvicorn.run(app("polybridge.smoke"), port=8000)
"""

from __future__ import annotations

import base64
from typing import Any

from fastapi import FastAPI
from openenv.core.env_server.http_server import create_fastapi_app
from openenv.core.env_server.interfaces import Environment
from openenv.core.env_server.types import Action, Observation, State
from pydantic import Field

from evalkit.errors import UsageError
from evalkit.transports import _rollouts
from evalkit.transports._session import Player
from evalkit.types import Observation as Shown


class Call(Action):
    """One call of a tool."""

    tool: str
    """Its name."""
    arguments: dict[str, Any] = Field(default_factory=dict)
    """Its arguments."""


class Seen(Observation):
    """What a call showed; `done` and `reward` are OpenEnv's."""

    ok: bool = True
    """Whether the call was carried out."""
    text: str = ""
    """What it said."""
    data: dict[str, Any] = Field(default_factory=dict)
    """The rest of it, by name."""
    images: dict[str, str] = Field(default_factory=dict)
    """Pictures by name, in base64, if they are asked for."""
    end: str = ""
    """How the episode ended, in words."""


class Progress(State):
    """How far the episode is."""

    task: str = ""
    """The task's id."""
    counters: dict[str, float] = Field(default_factory=dict)
    """What was spent."""
    budget_left: dict[str, float] = Field(default_factory=dict)
    """What is left of each limited counter."""


class EvalkitEnvironment(Environment[Call, Seen, Progress]):
    """Episodes of one suite; `reset(task=…)` names a task, otherwise the suite's first is played.

    `options` are those of `Rollouts`.
    """

    SUPPORTS_CONCURRENT_SESSIONS = True

    def __init__(self, target: str, **options: Any) -> None:
        """UnknownNameError or UsageError if there is no such suite."""
        super().__init__()
        self._rollouts = _rollouts.Rollouts(target, Player("openenv", "openenv"), **options)
        self._id: str | None = None

    def reset(
        self, seed: int | None = None, episode_id: str | None = None, task: str | None = None, **kwargs: Any
    ) -> Seen:
        """Begin an episode; `seed` is the seed of the run, as in `evalkit run --seed`."""
        self._id = episode_id
        return self._seen(self._rollouts.begin(self._rollouts.stage.task(task), seed or 0))

    def step(self, action: Call, timeout_s: float | None = None, **kwargs: Any) -> Seen:
        """Carry out a call. UsageError if no episode is going on."""
        if not self._rollouts.going_on:
            raise UsageError("no episode is going on: reset first")
        return self._seen(self._rollouts.call(action.tool, action.arguments))

    @property
    def state(self) -> Progress:
        """Counters and budgets of the episode."""
        episode = self._rollouts.episode
        if episode is None:
            return Progress()
        counters = dict(episode.context.counters)
        return Progress(
            episode_id=self._id,
            step_count=int(counters.get("calls", 0)),
            task=episode.task.id,
            counters=counters,
            budget_left=dict(episode.context.budget_left),
        )

    def close(self) -> None:
        """End the episode that is going on, if there is one."""
        self._rollouts.close()

    def _seen(self, shown: Shown) -> Seen:
        episode = self._rollouts.episode
        assert episode is not None
        done = not self._rollouts.going_on
        images = {image.name: base64.b64encode(image.data()).decode("ascii") for image in shown.images}
        return Seen(
            done=done,
            reward=self._rollouts.reward() if done else None,
            ok=episode.ok,
            text=shown.text,
            data=dict(shown.data),
            images=images,
            end=self._rollouts.end,
        )


def app(target: str, **options: Any) -> FastAPI:
    """The web application that serves a suite; each session has an environment of its own."""
    served: FastAPI = create_fastapi_app(lambda: EvalkitEnvironment(target, **options), Call, Seen)
    return served
