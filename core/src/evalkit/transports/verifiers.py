"""A suite as a verifiers taskset (verifiers 0.4): `SuiteTaskset`, whose tools are the suite's.

A task's prompt is the first observation. Each rollout has a tool server in a process of its own, which plays
one episode; every call that reaches it is a call of that episode. The rollout stops when the episode ends;
an episode that goes on when the rollout is over ends as stopped by its agent. The reward is the suite's first
metric of episodes, negated if lower is better. An episode that evalkit wouldn't score, since something broke,
is an error of the trace. The core's counters are metrics.

    import verifiers.v1 as vf
    from evalkit.transports.verifiers import SuiteConfig, SuiteTaskset

    client = vf.EvalClientConfig(base_url="http://127.0.0.1:8000/v1", api_key_var="MY_KEY")
    tasks = SuiteTaskset(SuiteConfig(target="polybridge.smoke"))
    agent = vf.Agent(vf.AgentConfig(model="my-model", client=client, harness={"id": "null"},
                                    runtime={"type": "subprocess"}))
    traces = [await agent.run(task) for task in tasks]

For `vf-eval`, an importable module `my_suite.py` that imports `SuiteTaskset` and names it in `__all__` is a
taskset:

    vf-eval my-suite --env.taskset.target polybridge.smoke --env.taskset.task.tools.root runs …
"""

from __future__ import annotations

import asyncio
import base64
import os
import signal
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any

import verifiers.v1 as vf
from mcp_types import CallToolResult
from mcp_types import Tool as ListedTool
from pydantic import AfterValidator, Field

from evalkit.errors import END_POLICIES, EvalkitError, UsageError
from evalkit.registry_files import VARIABLE, find_registry
from evalkit.transports._driven import DrivenEpisode
from evalkit.transports._present import budget_text, observation_text
from evalkit.transports._rollouts import Rollouts
from evalkit.transports._session import Player
from evalkit.transports.mcp_server import listed, text_result, with_pictures
from evalkit.types import Observation

PLAYER = Player("verifiers", "verifiers")

#: A path that means the same to the tool server, whose working directory is another.
Absolute = Annotated[Path, AfterValidator(lambda path: path.expanduser().absolute())]


class ToolsConfig(vf.ToolsetConfig):
    """The tool server of a rollout; verifiers' own settings say where it runs."""

    registry: Absolute | None = None
    """A registry file; without it the usual one is looked for from the working directory upward."""
    root: Absolute | None = None
    """Where each rollout leaves a run folder; without it records are kept in memory for the reward only."""


class SuiteTaskConfig(vf.TaskConfig):
    """Settings of a task."""

    tools: ToolsConfig = ToolsConfig()
    """Its tool server."""


class SuiteConfig(vf.TasksetConfig):
    """Which suite, and how it is played."""

    target: str = ""
    """The suite's name. It has to be set; verifiers' command line wants a default of every setting."""
    overrides: list[str] = Field(default_factory=list)
    """Changes of the protocol, as with `-T`."""
    seed: int = 0
    """The seed of the run, as in `evalkit run --seed`; all rollouts of a task begin alike."""
    pictures: bool = False
    """Whether observations come with their pictures."""
    task: SuiteTaskConfig = SuiteTaskConfig()
    """Settings of every task."""


class SuiteData(vf.TaskData):
    """All that makes an episode of the task; its `id` is the task's."""

    suite: str
    overrides: list[str]
    seed: int
    pictures: bool


class Progress(vf.State):
    """How far the episode of a rollout is, as its tool server knows."""

    end: str = ""
    """How it ended, in words; empty while it goes on."""
    scored: bool = True
    """False if what ended it was something that broke."""
    reward: float | None = None
    """The reward, once it has ended."""
    counters: dict[str, float] = Field(default_factory=dict)
    """What was spent."""


class EpisodeTools(vf.Toolset[ToolsConfig, Progress]):
    """The tools of one episode, under their own names and with their own schemas."""

    TOOL_PREFIX = None

    def __init__(self, config: ToolsConfig) -> None:
        super().__init__(config)
        self._turn = asyncio.Lock()
        self._rollouts: Rollouts

    async def setup_task(self, task: SuiteData) -> None:
        """Begin the episode; UnknownNameError or UsageError if there is no such suite or task."""
        self._rollouts = Rollouts(
            task.suite,
            PLAYER,
            overrides=task.overrides,
            registry=self.config.registry,
            root=self.config.root,
            pictures=task.pictures,
        )
        self._rollouts.begin(self._rollouts.stage.task(task.id), task.seed)
        # uvicorn shuts down on SIGTERM and then raises it once more, which must not end the process:
        # the episode is still to be closed
        signal.signal(signal.SIGTERM, lambda number, frame: None)
        self._exit_stack.push_async_callback(self._rollout_over)

    def register(self, mcp: Any) -> None:
        """Serve the episode's own tools; verifiers' decorator would need methods known in advance."""
        mcp.list_tools, mcp.call_tool = self.list_tools, self.call_tool

    async def list_tools(self) -> list[ListedTool]:
        """The episode's tools."""
        return [listed(tool) for tool in self._episode.tools]

    async def call_tool(self, name: str, arguments: Mapping[str, Any], context: Any = None) -> CallToolResult:
        """Carry out one call; mistakes are results marked as errors. Calls made at a time take turns."""
        async with self._turn:
            result: CallToolResult = await self._with_state(self._carry_out)(name, arguments)
            return result

    @property
    def _episode(self) -> DrivenEpisode:
        episode = self._rollouts.episode
        assert episode is not None
        return episode

    async def _carry_out(self, name: str, arguments: Mapping[str, Any]) -> CallToolResult:
        try:
            shown = await asyncio.to_thread(self._rollouts.call, name, arguments)
            self._note_progress()
        except UsageError as error:
            return text_result(str(error), ok=False)
        except Exception as error:  # noqa: BLE001 - the rollout ends with it: see `first_metric`
            self.state.end, self.state.scored = f"the episode broke off: {error}", False
            return text_result(f"the episode broke off: {type(error).__name__}", ok=False)
        return with_pictures(text_result(_told(self._rollouts, shown), ok=self._episode.ok), shown)

    async def _rollout_over(self) -> None:
        """End the episode that the agent has left, and tell how it ended if the rollout still listens."""
        self._rollouts.close()
        self._state_client = None  # closed by now; without it a new one is made
        await self._with_state(self._note_progress)()

    def _note_progress(self) -> None:
        state, end = self.state, self._episode.end
        state.counters = dict(self._episode.context.counters)
        if end is not None and not state.end:
            state.scored = END_POLICIES[end.reason].scored
            state.reward = self._rollouts.reward() if state.scored else None
            state.end = self._rollouts.end


class SuiteTask(vf.Task[SuiteData, Progress, SuiteTaskConfig]):
    """One task of the suite."""

    @classmethod
    def toolsets(cls, config: SuiteTaskConfig) -> list[EpisodeTools]:
        """The tool server of a rollout."""
        tools = config.tools
        if tools.registry is None and not os.environ.get(VARIABLE):
            tools = tools.model_copy(update={"registry": find_registry(Path.cwd())})
        return [EpisodeTools(tools)]

    @vf.stop  # type: ignore[untyped-decorator]
    async def episode_ended(self, trace: vf.Trace) -> bool:
        """Stop the rollout with its episode."""
        return bool(trace.state.end)

    @vf.reward  # type: ignore[untyped-decorator]
    async def first_metric(self, trace: vf.Trace) -> float:
        """The suite's first metric of episodes. EvalkitError if the episode has no result."""
        state: Progress = trace.state
        if state.reward is None:
            raise EvalkitError(state.end or "the tool server went away before it had closed the episode")
        return float(state.reward)

    @vf.metric  # type: ignore[untyped-decorator]
    async def counters(self, trace: vf.Trace) -> dict[str, float]:
        """What the episode has spent, by the core's names."""
        return dict(trace.state.counters)


class SuiteTaskset(vf.Taskset[SuiteTask, SuiteConfig]):
    """The tasks of one suite that is played call by call."""

    def load(self) -> Iterator[SuiteTask]:
        """The suite's tasks in its order. UnknownNameError or UsageError if there is no such suite."""
        config = self.config
        if not config.target:
            raise UsageError("no suite is named: set the taskset's `target` (--env.taskset.target)")
        rollouts = Rollouts(
            config.target,
            PLAYER,
            overrides=config.overrides,
            registry=config.task.tools.registry,
            pictures=config.pictures,
        )
        try:
            for task in rollouts.stage.tasks:
                data = SuiteData(
                    id=task.id,
                    name=f"{config.target}/{task.id}",
                    prompt=_prompt(rollouts, rollouts.begin(task, config.seed)),
                    suite=config.target,
                    overrides=config.overrides,
                    seed=config.seed,
                    pictures=config.pictures,
                )
                yield SuiteTask(data, config.task)
        finally:
            rollouts.close()


def _told(rollouts: Rollouts, shown: Observation) -> str:
    """An observation in words, and below it what is left of the budget, or the end."""
    assert rollouts.episode is not None
    parts = (observation_text(shown), rollouts.end or budget_text(rollouts.episode.context))
    return "\n\n".join(part for part in parts if part)


def _prompt(rollouts: Rollouts, first: Observation) -> str | list[dict[str, Any]]:
    """The first observation as verifiers' prompt: text, or a user's message if there are pictures."""
    text = _told(rollouts, first)
    if not first.images:
        return text
    content: list[dict[str, Any]] = [{"type": "text", "text": text}]
    for image in first.images:
        encoded = base64.b64encode(image.data()).decode("ascii")
        url = f"data:{image.media_type};base64,{encoded}"
        content.append({"type": "image_url", "image_url": {"url": url}})
    return [{"role": "user", "content": content}]


if __name__ == "__main__":
    EpisodeTools.run()
