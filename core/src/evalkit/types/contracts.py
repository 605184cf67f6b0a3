"""What a plugin's classes have to offer. They are protocols: nothing has to be subclassed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, Self

from evalkit.types.action import Reply, Stop, Tool, ToolCall
from evalkit.types.candidate import Candidate, Execution, Verdict, Violation
from evalkit.types.observation import Observation, StepContext, StepResult
from evalkit.types.record import Episode, Score
from evalkit.types.task import Task
from evalkit.types.workspace import Brief, Delivery

if TYPE_CHECKING:
    from evalkit.episode import Sink

Settings = Mapping[str, Any]


class Environment(Protocol):
    """One episode's state.

    Synchronous; the same task, seed and calls give the same states. Never calls a model. Never raises
    on what an agent sends: a mistake is a `StepResult` with `ok=False` or violations.

    It may have two methods more. `limits(limits)` hears the episode's limits before `reset`.
    `refusal(call, code, message) -> Mapping` words calls that never reach `step` (unknown tools, wrong
    arguments, budgets that are used up) as the environment words its own refusals, in a field `message` or
    `error`; what the agent sees holds `ok` and `code` beside it.
    """

    def __init__(self, settings: Settings) -> None: ...

    def reset(self, task: Task, seed: int) -> Observation:
        """Start the episode and say what the agent sees first."""
        ...

    def tools(self) -> Sequence[Tool]:
        """The tools on offer, the same for the whole episode."""
        ...

    def step(self, call: ToolCall, ctx: StepContext) -> StepResult:
        """Carry out one call. Arguments have passed the tool's schema."""
        ...

    def feedback(self, verdict: Verdict, execution: Execution | None) -> Observation:
        """What the agent sees of the verdict on its candidate (execution is None if it was illegal)."""
        ...

    def state(self) -> dict[str, Any]:
        """All that the agent has set, as JSON; hashed after every call."""
        ...

    @classmethod
    def from_state(cls, task: Task, state: Mapping[str, Any], settings: Settings) -> Self:
        """An environment that goes on from a `state()`."""
        ...


class WorkspaceEnvironment(Protocol):
    """An episode that is played in a folder (`EnvironmentSpec.mode="workspace"`).

    The same task and seed prepare the same folder; the same files give the same candidate.
    """

    def __init__(self, settings: Settings) -> None: ...

    def prepare(self, folder: Path, task: Task, seed: int) -> Brief:
        """Fill an empty folder with what the agent gets (nothing hidden), and say what is asked of it."""
        ...

    def collect(self, folder: Path) -> StepResult:
        """Read a candidate from what was handed in.

        The folder holds the brief's deliverables and nothing else, as regular files of bounded size, but
        their content may be anything. What can't be read is violations; never raises.
        """
        ...


class Validator(Protocol):
    """Deterministic legality of a candidate."""

    def __init__(self, settings: Settings) -> None: ...

    def validate(self, task: Task, candidate: Candidate) -> Sequence[Violation]:
        """All violations together; empty if the candidate is legal."""
        ...


class Executor(Protocol):
    """Turns a candidate into evidence: a simulation, a game, a judge."""

    def __init__(self, settings: Settings) -> None: ...

    def constants(self) -> Mapping[str, Any]:
        """Every constant the outcome depends on; hashed into the manifest."""
        ...

    def execute(self, task: Task, candidate: Candidate, *, pictures: bool) -> Execution:
        """Put a legal candidate to the test; `pictures` says whether anyone will look at any."""
        ...


class Metric(Protocol):
    """A pure function of one episode's record and its task."""

    def __init__(self, settings: Settings) -> None: ...

    def measure(self, episode: Episode, task: Task) -> Score:
        """The episode's value, or a `Score` that says why there is none."""
        ...


class RunMetric(Protocol):
    """A pure function of all episodes of one agent in a run."""

    def __init__(self, settings: Settings) -> None: ...

    def measure_run(self, episodes: Sequence[tuple[Episode, Task]]) -> Score:
        """One value for the run; `Score.numerator` and `denominator` where it is a ratio of counts."""
        ...


class Agent(Protocol):
    """A player. It sees observations and nothing else."""

    def __init__(self, argument: str, settings: Settings) -> None: ...

    def start(self, tools: Sequence[Tool], seed: int) -> None:
        """A new episode begins."""
        ...

    def act(self, observation: Observation, ctx: StepContext) -> Reply | Stop:
        """Answer an observation."""
        ...


class WorkspaceAgent(Protocol):
    """A player that works in a folder.

    `limits` are budgets of an episode, by counter; those of the suite go before them.
    """

    limits: Mapping[str, float]

    def __init__(self, argument: str, settings: Settings) -> None: ...

    def work(self, folder: Path, brief: Brief, ctx: StepContext, record: Sink) -> Delivery | None:
        """Do what the brief asks, within `ctx.budget_left`; events and blobs go to `record`.

        None means that the deliverables are in the folder. What is raised ends the episode after the
        deliverables were taken; an attribute `end_reason` (an `EndReason`) says why, `agent_error` otherwise.
        """
        ...

    def spent(self) -> Mapping[str, float]:
        """What was used up so far, by counter."""
        ...
