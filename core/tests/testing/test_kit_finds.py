"""Every check of the kit fails on a toy that was broken on purpose, and says what is wrong."""

from __future__ import annotations

import importlib
import itertools
import random
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pytest
from evalkit_blocks.environment import BlocksEnvironment
from evalkit_blocks.executor import StaticsExecutor
from evalkit_blocks.metrics import BestOfEpochs, Solved
from evalkit_blocks.validator import StackRules
from pydantic import BaseModel

from evalkit import Candidate, Execution, Image, Observation, Score, StepResult, Stop, Task, Tool, Violation
from evalkit.testing import CHECKS, Subject, check_subject

Change = Callable[[Subject], Subject]
CASES: list[Any] = []


def case(check: str, words: str) -> Callable[[Change], Change]:
    """Enter a broken variant: the check that has to fail, and words of its message."""

    def enter(change: Change) -> Change:
        CASES.append(pytest.param(check, words, change, id=f"{check}-{change.__name__}"))
        return change

    return enter


def with_environment(**methods: Any) -> Change:
    """A subject whose environment has other methods."""
    return lambda subject: replace(subject, environment=type("Broken", (BlocksEnvironment,), methods))


def with_tasks(subject: Subject, **changes: Any) -> Subject:
    """A subject whose tasks have other fields."""
    tasks = tuple(replace(task, **changes) for task in subject.tasks)
    return replace(subject, tasks=tasks, load_tasks=lambda: tasks)


def hidden_also(subject: Subject, **more: Any) -> Subject:
    return with_tasks(subject, hidden={**subject.tasks[0].hidden, **more})


# tasks


@case("tasks", "loading the tasks twice gives different ones")
def loads_otherwise(subject: Subject) -> Subject:
    numbers = itertools.count()
    return replace(subject, load_tasks=lambda: [Task("a", {"number": next(numbers)})])


@case("tasks", "two tasks have the id 'a'")
def same_ids(subject: Subject) -> Subject:
    return replace(subject, load_tasks=lambda: [Task("a", {}), Task("a", {})])


@case("tasks", "hidden of task 'a' isn't JSON")
def set_in_hidden(subject: Subject) -> Subject:
    return replace(subject, load_tasks=lambda: [Task("a", {}, {"tags": {1, 2}})])


@case("tasks", "playing changes the task")
def changes_inputs(subject: Subject) -> Subject:
    def reset(self: Any, task: Task, seed: int) -> Observation:
        task.inputs["touched"] = True  # type: ignore[index]
        return BlocksEnvironment.reset(self, task, seed)

    fresh = replace(subject, tasks=tuple(replace(task, inputs=dict(task.inputs)) for task in subject.tasks))
    return with_environment(reset=reset)(fresh)


# tools


class Loose(BaseModel):
    """Takes any further argument."""

    x: float = 0.0


TOOLS = BlocksEnvironment({}).tools()


@case("tools", "Loose takes unknown arguments")
def loose_model(subject: Subject) -> Subject:
    tools = (*TOOLS, Tool("loose", "Loose.", Loose))
    return with_environment(tools=lambda self: tools)(subject)


@case("tools", "the tool 'mute' has no description")
def no_description(subject: Subject) -> Subject:
    return with_environment(tools=lambda self: (*TOOLS, Tool("mute", " ")))(subject)


@case("tools", "two tools are called 'check'")
def same_names(subject: Subject) -> Subject:
    return with_environment(tools=lambda self: (*TOOLS, TOOLS[2]))(subject)


@case("tools", "'no name' is no name")
def bad_name(subject: Subject) -> Subject:
    return with_environment(tools=lambda self: (Tool("no name", "Blank inside."),))(subject)


@case("tools", "tools() gives other tools")
def growing_tools(subject: Subject) -> Subject:
    return with_environment(tools=lambda self: (*TOOLS, *([] if not self._boxes else [TOOLS[0]])))(subject)


# determinism, state, replay


@case("determinism", "two episodes with the same seed and calls differ")
def random_observation(subject: Subject) -> Subject:
    def placed(self: Any) -> dict[str, Any]:
        return {"ok": True, "luck": random.random()}

    return with_environment(_placed=placed)(subject)


@case("determinism", "differ: event 2")
def random_picture(subject: Subject) -> Subject:
    def reset(self: Any, task: Task, seed: int) -> Observation:
        seen = BlocksEnvironment.reset(self, task, seed)
        seen.images = (Image("noise.png", lambda: random.randbytes(8)),)
        return seen

    return with_environment(reset=reset)(subject)


@case("determinism", "at the same time get in each other's way")
def shared_boxes(subject: Subject) -> Subject:
    shared: list[Any] = []

    def reset(self: Any, task: Task, seed: int) -> Observation:
        seen = BlocksEnvironment.reset(self, task, seed)
        shared.clear()
        self._boxes = shared
        return seen

    return with_environment(reset=reset)(subject)


@case("state", "from_state(state()) has another state: state.rounds")
def forgets_rounds(subject: Subject) -> Subject:
    def from_state(cls: Any, task: Task, state: Mapping[str, Any], settings: Any) -> Any:
        return BlocksEnvironment.from_state.__func__(cls, task, {**state, "rounds": 9}, settings)  # type: ignore[attr-defined]

    return with_environment(from_state=classmethod(from_state))(subject)


@case("state", "the future differs")
def keeps_something_back(subject: Subject) -> Subject:
    def placed(self: Any) -> dict[str, Any]:
        self._asked = getattr(self, "_asked", 0) + 1
        return {"ok": True, "asked": self._asked}

    return with_environment(_placed=placed)(subject)


@case("replay", "gives other states")
def random_state(subject: Subject) -> Subject:
    def state(self: Any) -> dict[str, Any]:
        return {"luck": random.random()}

    return with_environment(state=state)(subject)


@case("replay", "gives another one")
def counts_episodes(subject: Subject) -> Subject:
    numbers = itertools.count()
    return with_environment(_placed=lambda self: {"ok": True, "number": next(numbers)})(subject)


# JSON


@case("json", "data of an execution")
def number_keys(subject: Subject) -> Subject:
    class Keyed(StaticsExecutor):
        def execute(self, task: Task, candidate: Candidate, *, pictures: bool) -> Execution:
            return Execution(True, {"heights": {1: 2.0}})

    return replace(subject, executors={"blocks.statics": Keyed})


@case("json", "the environment fails on the script")
def nan_in_state(subject: Subject) -> Subject:
    return with_environment(state=lambda self: {"x": float("nan")})(subject)


# hidden data


def reset_with(tell: Callable[[Task], Any]) -> Change:
    def reset(self: Any, task: Task, seed: int) -> Observation:
        seen = BlocksEnvironment.reset(self, task, seed)
        return replace(seen, data={**seen.data, "hint": tell(task)})

    return with_environment(reset=reset)


@case("hidden", "depends on Task.hidden['fewest_boxes']")
def tells_a_number(subject: Subject) -> Subject:
    return reset_with(lambda task: task.hidden["fewest_boxes"])(subject)


@case("hidden", "depends on Task.hidden['canary']")
def tells_everything(subject: Subject) -> Subject:
    return reset_with(lambda task: {k: v for k, v in task.hidden.items() if k.startswith("can")})(subject)


@case("hidden", "depends on Task.hidden['family']")
def tells_half_of_it(subject: Subject) -> Subject:
    return reset_with(lambda task: len(task.hidden["family"]))(subject)


@case("hidden", "holds 'seven blocks in a row' of Task.hidden['reference'][0]")
def executor_tells(subject: Subject) -> Subject:
    class Telling(StaticsExecutor):
        def execute(self, task: Task, candidate: Candidate, *, pictures: bool) -> Execution:
            found = super().execute(task, candidate, pictures=pictures)
            return replace(found, data={**found.data, "reference": task.hidden["reference"][0]})

    planted = hidden_also(subject, reference=["seven blocks in a row"])
    return replace(planted, executors={"blocks.statics": Telling})


@case("hidden", "holds 12345.678 of Task.hidden['cost']")
def number_in_the_settings(subject: Subject) -> Subject:
    return reset_with(lambda task: {"best": 12345.678})(hidden_also(subject, cost=12345.678))


# hostile calls


@case("hostile", "raises IndexError")
def no_such_box(subject: Subject) -> Subject:
    def remove(self: Any, index: int) -> StepResult:
        del self._boxes[index]
        return StepResult(Observation())

    return with_environment(_remove=remove)(subject)


@case("hostile", "is answered with ok=False and changes the state")
def mistake_that_counts(subject: Subject) -> Subject:
    def remove(self: Any, index: int) -> StepResult:
        self._rounds += 1
        return StepResult(Observation(), ok=False)

    return with_environment(_remove=remove)(subject)


@case("hostile", "the observation isn't JSON")
def takes_nan(subject: Subject) -> Subject:
    tool = Tool("place", "Takes any number.", type("Any", (Loose,), {"model_config": {"extra": "forbid"}}))

    def step(self: Any, call: Any, ctx: Any) -> StepResult:
        return StepResult(Observation(data={"twice": 2 * call.arguments.get("x", 0.0)}))

    return with_environment(tools=lambda self: (tool,), step=step)(subject)


@case("hostile", "submit({}) raises ValueError")
def validator_raises(subject: Subject) -> Subject:
    class Fragile(StackRules):
        def validate(self, task: Task, candidate: Candidate) -> list[Violation]:
            max(candidate.data["boxes"])
            return []

    return replace(subject, validators={"fragile": Fragile})


@case("hostile", "step gives NoneType, wanted a StepResult")
def nothing_given(subject: Subject) -> Subject:
    return with_environment(step=lambda self, call, ctx: None)(subject)


# meters


@case("meters", "limits.meter:chekcs: no tool spends 'chekcs'; tools spend checks")
def misspelled_meter(subject: Subject) -> Subject:
    return replace(subject, limits={"meter:chekcs": 3})


@case("meters", "meters of 'check' are 'checks', wanted a tuple")
def meters_as_a_word(subject: Subject) -> Subject:
    tool = Tool("check", "Look.", meters="checks")  # type: ignore[arg-type]
    return with_environment(tools=lambda self: (tool,))(subject)


# validators, executors


def with_rules(validate: Callable[..., Any]) -> Change:
    rules = type("Rules", (StackRules,), {"validate": validate})
    return lambda subject: replace(subject, validators={"rules": rules})


@case("validators", "says different things of one candidate")
def moody_rules(subject: Subject) -> Subject:
    moods = itertools.cycle([[], [Violation("mood", "not today", advisory=True)]])
    return with_rules(lambda self, task, candidate: next(moods))(subject)


@case("validators", "changes what it is given: candidate.boxes")
def tidying_rules(subject: Subject) -> Subject:
    return with_rules(lambda self, task, candidate: candidate.data["boxes"].reverse() or [])(subject)


@case("validators", "gives str, wanted a Violation")
def rules_in_words(subject: Subject) -> Subject:
    return with_rules(lambda self, task, candidate: ["too high"])(subject)


@case("validators", "a violation without code or message")
def wordless_rules(subject: Subject) -> Subject:
    return with_rules(lambda self, task, candidate: [Violation("x", "", advisory=True)])(subject)


def with_executor(execute: Callable[..., Any], **more: Any) -> Change:
    executor = type("Executor", (StaticsExecutor,), {"execute": execute, **more})
    return lambda subject: replace(subject, executors={"blocks.statics": executor})


@case("executors", "gives other evidence the second time: data.luck")
def lucky_executor(subject: Subject) -> Subject:
    return with_executor(lambda self, t, c, pictures: Execution(True, {"luck": random.random()}))(subject)


@case("executors", "pictures change the evidence")
def vain_executor(subject: Subject) -> Subject:
    return with_executor(lambda self, t, c, pictures: Execution(pictures))(subject)


@case("executors", "success is 1, wanted True, False or None")
def number_as_success(subject: Subject) -> Subject:
    return with_executor(lambda self, t, c, pictures: Execution(1))(subject)  # type: ignore[arg-type]


@case("executors", "changes what it is given: candidate.boxes")
def wrecking_executor(subject: Subject) -> Subject:
    return with_executor(
        lambda self, t, c, pictures: c.data["boxes"].append([0.0, 0.1, 0.1]) or Execution(True)
    )(with_rules(lambda self, task, candidate: [])(subject))


@case("executors", "says that it is 'another'")
def executor_of_another_name(subject: Subject) -> Subject:
    return with_executor(lambda self, t, c, pictures: Execution(True, executor="another"))(subject)


@case("executors", "has different constants when it is built again")
def inconstant_constants(subject: Subject) -> Subject:
    changing = itertools.count()
    return with_executor(StaticsExecutor.execute, constants=lambda self: {"g": next(changing)})(subject)


# metrics


def with_metric(measure: Callable[..., Any]) -> Change:
    metric = type("Metric", (Solved,), {"measure": measure})
    return lambda subject: replace(subject, metrics={"blocks.solved": metric})


@case("metrics", "blocks.solved raises IndexError")
def needs_a_turn(subject: Subject) -> Subject:
    return with_metric(lambda self, episode, task: Score(float(episode.turns()[0].valid)))(subject)


@case("metrics", "the status 'not_applicable' doesn't go with the value 0.0")
def zero_for_missing(subject: Subject) -> Subject:
    return with_metric(lambda self, episode, task: Score(0.0, "not_applicable"))(subject)


@case("metrics", "the status is 'n/a'; there are ok, not_applicable")
def unknown_status(subject: Subject) -> Subject:
    return with_metric(lambda self, episode, task: Score(None, "n/a"))(subject)


@case("metrics", "the value is nan")
def nan_value(subject: Subject) -> Subject:
    return with_metric(lambda self, episode, task: Score(float("nan")))(subject)


@case("metrics", "the value 7.0 of a proportion is outside 0 to 1")
def large_proportion(subject: Subject) -> Subject:
    return with_metric(lambda self, episode, task: Score(7.0))(subject)


@case("metrics", "scores one episode differently the second time")
def lucky_metric(subject: Subject) -> Subject:
    return with_metric(lambda self, episode, task: Score(random.random()))(subject)


@case("metrics", "changes the record it is given")
def eats_the_record(subject: Subject) -> Subject:
    return with_metric(lambda self, episode, task: episode.events.pop() and Score(1.0))(subject)


@case("metrics", "blocks.best raises ZeroDivisionError")
def share_of_nothing(subject: Subject) -> Subject:
    best = type("Best", (BestOfEpochs,), {"measure_run": lambda self, played: Score(1 / len(played))})
    return replace(subject, run_metrics={"blocks.best": best})


@case("metrics", "depends on the order of the episodes")
def first_come(subject: Subject) -> Subject:
    def measure_run(self: Any, played: Any) -> Score:
        return Score(len(played[0][0].events) / 1000) if played else Score.not_applicable()

    return replace(
        subject, run_metrics={"blocks.best": type("Best", (Solved,), {"measure_run": measure_run})}
    )


# agents


def with_agent(act: Callable[..., Any]) -> Change:
    methods = {
        "__init__": lambda self, argument, settings: None,
        "start": lambda self, tools, seed: None,
        "act": act,
    }
    return lambda subject: replace(subject, agents={"broken": type("Agent", (), methods)})


@case("agents", "agent error: TypeError")
def agent_raises(subject: Subject) -> Subject:
    return with_agent(lambda self, observation, ctx: len(None))(subject)  # type: ignore[arg-type]


@case("agents", "plays otherwise with the same seed")
def agent_throws_dice(subject: Subject) -> Subject:
    from evalkit_blocks.agents import TowerAgent

    class Dice(TowerAgent):
        def act(self, observation: Observation, ctx: Any) -> Any:
            return super().act(observation, ctx) if random.random() < 0.7 else Stop("bad luck")

    return replace(subject, agents={"dice": Dice})


# processes


@case("processes", "the environment, a validator or an executor can't be pickled")
def local_class(subject: Subject) -> Subject:
    class Local(BlocksEnvironment):
        pass

    return replace(subject, environment=Local)


@case("processes", "the task step-050 can't be pickled")
def unpicklable_task(subject: Subject) -> Subject:
    return with_tasks(subject, id="step-050", inputs=MappingProxyType(subject.tasks[0].inputs))


@pytest.mark.parametrize(("check", "words", "change"), CASES)
def test_fails_on(check: str, words: str, change: Change, blocks: Callable[..., Subject]) -> None:
    subject = change(blocks())
    (finding,) = check_subject(subject, [check])
    assert finding.status == "failed", finding.message
    assert words in finding.message
    assert "\n" not in finding.message


BROKEN_ELSEWHERE = """
from dataclasses import replace

from evalkit import Execution
from evalkit_blocks.executor import StaticsExecutor


class Unpicklable(StaticsExecutor):
    def execute(self, task, candidate, *, pictures):
        return replace(super().execute(task, candidate, pictures=pictures), replay=lambda: None)


class Unordered(StaticsExecutor):
    def execute(self, task, candidate, *, pictures):
        order = list({f"box {i}" for i in range(20)})
        return Execution(True, {"order": order})

"""


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("Unpicklable", "can't be pickled"),
        ("Unordered", "another process"),
    ],
)
def test_fails_in_another_process(
    name: str, words: str, blocks: Callable[..., Subject], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "broken_elsewhere.py").write_text(BROKEN_ELSEWHERE)
    monkeypatch.syspath_prepend(tmp_path)
    executor = getattr(importlib.import_module("broken_elsewhere"), name)
    (finding,) = check_subject(replace(blocks(), executors={"blocks.statics": executor}), ["processes"])
    assert finding.status == "failed"
    assert words in finding.message


def test_a_core_that_forgets_meters_is_found(
    blocks: Callable[..., Subject], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("evalkit.episode._Walk._over_budget", lambda self, tool: None)
    (finding,) = check_subject(blocks(), ["meters"])
    assert finding.status == "failed"
    assert "check" in finding.message


def test_every_check_has_a_broken_variant() -> None:
    assert {param.values[0] for param in CASES} == set(CHECKS)
