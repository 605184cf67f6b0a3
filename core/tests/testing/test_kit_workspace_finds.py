"""Every check of suites that are played in a workspace fails on a toy that was broken on purpose."""

from __future__ import annotations

import importlib
import itertools
import json
import random
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from evalkit_blocks.agents import WriterAgent
from evalkit_blocks.executor import StaticsExecutor
from evalkit_blocks.metrics import Solved
from evalkit_blocks.validator import StackRules
from evalkit_blocks.workspace import FILE, BlocksWorkspace

from evalkit import Brief, Candidate, Execution, Observation, Score, StepResult, Task, Violation
from evalkit.testing import CHECKS, Subject, check_subject

Change = Callable[[Subject], Subject]
CASES: list[Any] = []
#: What a workspace has nothing to be checked for.
SKIPPED = {"tools", "state", "meters"}


def case(check: str, words: str) -> Callable[[Change], Change]:
    """Enter a broken variant: the check that has to fail, and words of its message."""

    def enter(change: Change) -> Change:
        CASES.append(pytest.param(check, words, change, id=f"{check}-{change.__name__}"))
        return change

    return enter


def with_environment(**methods: Any) -> Change:
    """A subject whose environment has other methods."""
    return lambda subject: replace(subject, environment=type("Broken", (BlocksWorkspace,), methods))


def preparing(also: Callable[[Path, Task], Any]) -> Change:
    """A subject whose environment does something more to the folder or the task."""

    def prepare(self: Any, folder: Path, task: Task, seed: int) -> Brief:
        also(folder, task)
        return BlocksWorkspace.prepare(self, folder, task, seed)

    return with_environment(prepare=prepare)


def briefing(changed: Callable[[Brief, Path, Task], Brief]) -> Change:
    """A subject whose environment says something else."""

    def prepare(self: Any, folder: Path, task: Task, seed: int) -> Brief:
        return changed(BlocksWorkspace.prepare(self, folder, task, seed), folder, task)

    return with_environment(prepare=prepare)


def collecting(collect: Callable[[Path], Any]) -> Change:
    """A subject whose environment reads what was handed in differently."""
    return with_environment(collect=lambda self, folder: collect(folder))


def hidden_also(subject: Subject, **more: Any) -> Subject:
    tasks = tuple(replace(task, hidden={**task.hidden, **more}) for task in subject.tasks)
    return replace(subject, tasks=tasks, load_tasks=lambda: tasks)


def refused(words: str) -> StepResult:
    return StepResult(Observation(), violations=(Violation("format", words),))


# tasks


@case("tasks", "playing changes the task")
def changes_inputs(subject: Subject) -> Subject:
    fresh = replace(subject, tasks=tuple(replace(task, inputs=dict(task.inputs)) for task in subject.tasks))
    return preparing(lambda folder, task: task.inputs.update(touched=True))(fresh)  # type: ignore[attr-defined]


@case("tasks", "prepare gave NoneType instead of Brief")
def no_brief(subject: Subject) -> Subject:
    return briefing(lambda brief, folder, task: None)(subject)  # type: ignore[arg-type,return-value]


@case("tasks", "'../stack.json' is not a path inside the workspace")
def deliverable_outside(subject: Subject) -> Subject:
    return briefing(lambda brief, folder, task: replace(brief, deliverables=("../stack.json",)))(subject)


# determinism, replay


@case("determinism", "differ: files.luck.txt is")
def random_file(subject: Subject) -> Subject:
    return preparing(lambda folder, task: (folder / "luck.txt").write_text(str(random.random())))(subject)


@case("determinism", "differ: brief.text is '…")
def tells_where_it_is(subject: Subject) -> Subject:
    def changed(brief: Brief, folder: Path, task: Task) -> Brief:
        return replace(brief, text=f"{brief.text} Leave it in {folder}.")

    return briefing(changed)(subject)


@case("determinism", "differ: brief.max_bytes is")
def other_limits(subject: Subject) -> Subject:
    numbers = itertools.count(1000)
    return briefing(lambda brief, folder, task: replace(brief, max_bytes=next(numbers)))(subject)


@case("determinism", "(result): candidate.sha256 is")
def random_candidate(subject: Subject) -> Subject:
    return collecting(
        lambda folder: StepResult(Observation(), Candidate({"boxes": [[0, random.random(), 1]]}))
    )(subject)


@case("determinism", "at the same time get in each other's way")
def shared_memory(subject: Subject) -> Subject:
    last: dict[str, Any] = {}

    def prepare(self: Any, folder: Path, task: Task, seed: int) -> Brief:
        last["owner"] = self
        return BlocksWorkspace.prepare(self, folder, task, seed)

    def collect(self: Any, folder: Path) -> StepResult:
        return BlocksWorkspace.collect(self, folder) if last["owner"] is self else refused("not mine")

    return with_environment(prepare=prepare, collect=collect)(subject)


@case("replay", "replaying the record gives another one")
def collects_once(subject: Subject) -> Subject:
    times = itertools.count()

    def collect(self: Any, folder: Path) -> StepResult:
        return BlocksWorkspace.collect(self, folder) if next(times) % 2 == 0 else refused("once is enough")

    return with_environment(collect=collect)(subject)


# JSON


@case("json", "data of the brief changes when it is written as JSON")
def number_as_key(subject: Subject) -> Subject:
    return briefing(lambda brief, f, t: replace(brief, data={**brief.data, "widths": {3: 4}}))(subject)


@case("json", "a candidate changes when it is written as JSON")
def candidate_with_number_keys(subject: Subject) -> Subject:
    plain = replace(subject, validators={}, executors={})
    return collecting(lambda folder: StepResult(Observation(), Candidate({"sides": {1: 2}})))(plain)


# hidden

REFERENCE = "seven blocks in a row"


@case("hidden", f"the file notes.txt holds '{REFERENCE}' of Task.hidden['reference'][0]")
def reference_in_a_file(subject: Subject) -> Subject:
    plain = hidden_also(subject, reference=[REFERENCE])
    return preparing(lambda folder, task: (folder / "notes.txt").write_text(f"Not {REFERENCE}."))(plain)


@case("hidden", "the file deep/cost.json holds 12345.678 of Task.hidden['cost']")
def number_in_a_file(subject: Subject) -> Subject:
    def also(folder: Path, task: Task) -> None:
        (folder / "deep").mkdir()
        (folder / "deep" / "cost.json").write_text(json.dumps({"best": [12345.678]}))

    return preparing(also)(hidden_also(subject, cost=12345.678))


@case("hidden", f"observation 1 holds '{REFERENCE}' of Task.hidden['reference']")
def reference_in_the_brief(subject: Subject) -> Subject:
    plain = hidden_also(subject, reference=REFERENCE)
    return briefing(lambda b, f, t: replace(b, text=f"{b.text} Not {REFERENCE}."))(plain)


@case("hidden", "observation 1 holds 12345.678 of Task.hidden['cost']")
def number_in_the_data(subject: Subject) -> Subject:
    plain = hidden_also(subject, cost=12345.678)
    return briefing(lambda b, f, t: replace(b, data={**b.data, "best": 12345.678}))(plain)


@case("hidden", "depends on Task.hidden['fewest_boxes']: files.hint.txt is")
def hint_in_a_file(subject: Subject) -> Subject:
    return preparing(lambda f, task: (f / "hint.txt").write_text("x" * task.hidden["fewest_boxes"]))(subject)


@case("hidden", "depends on Task.hidden['fewest_boxes']: brief.max_bytes is")
def hint_in_the_limits(subject: Subject) -> Subject:
    return briefing(lambda b, f, task: replace(b, max_bytes=9000 + task.hidden["fewest_boxes"]))(subject)


# hostile files


@case("hostile", "no file: environment error: FileNotFoundError")
def needs_the_file(subject: Subject) -> Subject:
    return collecting(
        lambda folder: StepResult(Observation(), Candidate(json.loads((folder / FILE).read_text())))
    )(subject)


def reading(read: Callable[[bytes], Any]) -> Change:
    """A subject whose environment copes with a missing file, and reads others with `read`."""

    def collect(folder: Path) -> StepResult:
        path = folder / FILE
        if not path.exists():
            return refused("there is no file")
        found = read(path.read_bytes())
        return found if isinstance(found, StepResult) else StepResult(Observation(), Candidate(found))

    return collecting(collect)


@case("hostile", "stack.json: empty: environment error: IndexError")
def looks_at_the_first_byte(subject: Subject) -> Subject:
    return reading(lambda data: refused(f"it begins with {data[0]}"))(subject)


@case("hostile", "stack.json: random bytes: environment error: UnicodeDecodeError")
def takes_it_for_text(subject: Subject) -> Subject:
    return reading(lambda data: refused(data.decode()[:10] or "nothing"))(subject)


def loaded(data: bytes, *caught: type[Exception]) -> Any:
    try:
        return json.loads(data)
    except caught as error:
        return refused(f"no JSON: {error}")


@case("hostile", "arrays in arrays: environment error: RecursionError")
def forgets_depth(subject: Subject) -> Subject:
    return reading(lambda data: refused(str(loaded(data, ValueError))[:50]))(subject)


@case("hostile", "stack.json: a surrogate: environment error: TypeError")
def takes_it_for_an_object(subject: Subject) -> Subject:
    def read(data: bytes) -> Any:
        found = loaded(data, ValueError, RecursionError)
        return found if isinstance(found, StepResult) else {"boxes": found["boxes"]}

    return reading(read)(subject)


@case("hostile", "validator error: TypeError")
def validator_gets_anything(subject: Subject) -> Subject:
    def read(data: bytes) -> Any:
        found = loaded(data, ValueError, RecursionError)
        if not isinstance(found, dict) or not isinstance(found.get("boxes"), list):
            return refused("no stack")
        return found if all(isinstance(box, list) for box in found["boxes"]) else refused("no boxes")

    return reading(read)(subject)


@case("hostile", "environment error: ValueError: Out of range float values")
def candidate_with_nan(subject: Subject) -> Subject:
    plain = replace(subject, validators={}, executors={})
    return reading(lambda data: {"size": float("nan") if b"NaN" in data else len(data)})(plain)


@case("hostile", "collect gives NoneType, wanted a StepResult")
def nothing_given(subject: Subject) -> Subject:
    return collecting(lambda folder: None)(subject)


@case("hostile", "collect gave neither a candidate nor violations")
def neither_nor(subject: Subject) -> Subject:
    return collecting(lambda folder: StepResult(Observation()))(subject)


@case("hostile", "is a folder: environment error: IsADirectoryError")
def any_file_anywhere(subject: Subject) -> Subject:
    class Anywhere(BlocksWorkspace):
        def prepare(self, folder: Path, task: Task, seed: int) -> Brief:
            return replace(super().prepare(folder, task, seed), deliverables=("parts/**",))

        def collect(self, folder: Path) -> StepResult:
            for path in (folder / "parts").glob("*"):
                path.read_bytes()
            return refused("parts are no stack")

    return replace(subject, environment=Anywhere, scripts={task.id: {} for task in subject.tasks})


@case("hostile", "no file: gives something else the second time: event 6 (violation)")
def tells_where_it_looked(subject: Subject) -> Subject:
    return collecting(lambda folder: refused(f"there is no {folder / FILE}"))(subject)


# validators, executors, metrics


@case("validators", "says different things of one candidate")
def moody_rules(subject: Subject) -> Subject:
    moods = itertools.cycle([[], [Violation("mood", "not today", advisory=True)]])
    rules = type("Rules", (StackRules,), {"validate": lambda self, task, candidate: next(moods)})
    return replace(subject, validators={"rules": rules})


@case("executors", "gives other evidence the second time: data.luck")
def lucky_executor(subject: Subject) -> Subject:
    methods = {"execute": lambda self, t, c, pictures: Execution(True, {"luck": random.random()})}
    return replace(subject, executors={"blocks.statics": type("Lucky", (StaticsExecutor,), methods)})


def with_metric(measure: Callable[..., Any]) -> Change:
    metric = type("Metric", (Solved,), {"measure": measure})
    return lambda subject: replace(subject, metrics={"blocks.solved": metric})


@case("metrics", "blocks.solved raises TypeError")
def needs_a_candidate(subject: Subject) -> Subject:
    return with_metric(lambda self, episode, task: Score(len(episode.final_candidate()["boxes"])))(subject)


@case("metrics", "blocks.solved raises IndexError")
def needs_a_delivery(subject: Subject) -> Subject:
    return with_metric(lambda self, episode, task: Score(float(episode.turns()[0].valid)))(subject)


# agents


def with_agent(work: Callable[..., Any]) -> Change:
    return lambda subject: replace(subject, agents={"broken": type("Agent", (WriterAgent,), {"work": work})})


@case("agents", "agent error: ZeroDivisionError")
def agent_raises(subject: Subject) -> Subject:
    return with_agent(lambda self, folder, brief, ctx, record: 1 / 0)(subject)


@case("agents", "leaves no design: there is no stack.json")
def idle_agent(subject: Subject) -> Subject:
    return with_agent(lambda self, folder, brief, ctx, record: None)(subject)


@case("agents", "plays otherwise with the same seed: files.stack.json is")
def agent_throws_dice(subject: Subject) -> Subject:
    def work(self: Any, folder: Path, brief: Brief, ctx: Any, record: Any) -> None:
        (folder / FILE).write_text(json.dumps({"boxes": [[0, 1, random.random() + 0.1]]}))

    return with_agent(work)(subject)


# processes


@case("processes", "the environment, a validator or an executor can't be pickled")
def local_class(subject: Subject) -> Subject:
    class Local(BlocksWorkspace):
        pass

    return replace(subject, environment=Local)


@case("processes", "step-050: a candidate can't be pickled")
def candidate_with_a_view(subject: Subject) -> Subject:
    return replace(subject, environment=Viewing)


class Viewing(BlocksWorkspace):
    """Hands on a view of its own mapping."""

    def collect(self, folder: Path) -> StepResult:
        found = super().collect(folder)
        assert found.candidate is not None
        return replace(found, candidate=Candidate(View(found.candidate.data)))


class View(dict[str, Any]):
    """Can be copied, and not be sent to another process."""

    def __deepcopy__(self, memo: Any) -> View:
        return self

    def __reduce__(self) -> Any:
        raise TypeError("a view")


@pytest.mark.parametrize(("check", "words", "change"), CASES)
def test_fails_on(check: str, words: str, change: Change, workspace: Callable[..., Subject]) -> None:
    subject = change(workspace())
    (finding,) = check_subject(subject, [check])
    assert finding.status == "failed", finding.message
    assert words in finding.message
    assert "\n" not in finding.message


BROKEN_ELSEWHERE = """
from evalkit_blocks.workspace import BlocksWorkspace


class Unordered(BlocksWorkspace):
    def prepare(self, folder, task, seed):
        (folder / "order.txt").write_text(" ".join({f"box {i}" for i in range(20)}))
        return super().prepare(folder, task, seed)
"""


def test_another_order_in_another_process_is_found(
    workspace: Callable[..., Subject], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "broken_workspace.py").write_text(BROKEN_ELSEWHERE)
    monkeypatch.syspath_prepend(tmp_path)
    environment = importlib.import_module("broken_workspace").Unordered
    (finding,) = check_subject(replace(workspace(), environment=environment), ["processes"])
    assert finding.status == "failed"
    assert "another process gets another episode" in finding.message


def test_every_check_that_applies_has_a_broken_variant() -> None:
    assert {param.values[0] for param in CASES} == set(CHECKS) - SKIPPED


def test_what_applies_to_calls_only_says_so(workspace: Callable[..., Subject]) -> None:
    findings: Mapping[str, str] = {f.check: f.message for f in check_subject(workspace(), sorted(SKIPPED))}
    assert all("a workspace" in message for message in findings.values()), findings
