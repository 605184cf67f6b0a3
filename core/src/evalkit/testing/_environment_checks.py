"""Checks of tasks, tools and environment: each returns what it looked at, or raises `Broken` or `Skip`."""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from evalkit.canonical import canonical_json
from evalkit.testing._finding import Broken, Skip, difference, raised, short
from evalkit.testing._play import SEED, Played, play_script, script_of
from evalkit.testing._subject import Subject
from evalkit.testing._watch import Watched
from evalkit.types import Brief, Observation, StepContext, StepResult, Task, ToolCall

#: States are taken from so many places of a script.
RESUMED_AT = 6
#: Strings of this length and numbers with so many digits are no coincidence when they turn up again.
TELLING_CHARACTERS = 8
TELLING_DIGITS = 5


def check_tasks(subject: Subject) -> str:
    """Loading twice gives equal tasks, made of JSON, with distinct ids; playing doesn't change them."""
    first, second = subject.load_tasks(), subject.load_tasks()
    ids = [task.id for task in first]
    if twice := sorted({i for i in ids if ids.count(i) > 1}):
        raise Broken(f"two tasks have the id {twice[0]!r}")
    for one, other in zip(first, second, strict=False):
        for name in ("id", "inputs", "hidden"):
            require_json(getattr(one, name), f"{name} of task {one.id!r}")
            if found := difference(getattr(one, name), getattr(other, name), name):
                raise Broken(f"loading the tasks twice gives different ones: {one.id}: {found}")
    if len(first) != len(second):
        raise Broken(f"loading the tasks twice gives {len(first)}, then {len(second)}")
    for task in subject.tasks:
        before = copy.deepcopy((task.inputs, task.hidden))
        play_script(subject, task)
        if found := difference(before, (task.inputs, task.hidden), "task"):
            raise Broken(f"playing changes the task {task.id}: {found}")
    return f"{len(first)} tasks"


def check_tools(subject: Subject) -> str:
    """Tools have distinct names, a description and a closed JSON Schema, and stay the same."""
    task = subject.tasks[0]
    environment = subject.environment(subject.settings)
    environment.reset(task, SEED)
    tools = list(environment.tools())
    if not tools:
        raise Broken("the environment has no tools")
    names = [tool.name for tool in tools]
    for tool in tools:
        if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_-]{0,63}", tool.name):
            raise Broken(f"{tool.name!r} is no name for a tool: letters, digits, _ and -, at most 64")
        if names.count(tool.name) > 1:
            raise Broken(f"two tools are called {tool.name!r}")
        if not tool.description.strip():
            raise Broken(f"the tool {tool.name!r} has no description")
        _check_schema(tool.name, tool.parameters())
    play_on = play_script(subject, task, wrap=_tools_stay(tools))
    return f"{len(tools)} tools: {', '.join(names)}; unchanged in {len(play_on.calls())} calls"


def _check_schema(tool: str, schema: Mapping[str, Any]) -> None:
    require_json(schema, f"the schema of {tool!r}")
    if schema.get("type") != "object":
        raise Broken(f"the arguments of {tool!r} are {schema.get('type')!r}, wanted an object")
    for part in _parts(schema):
        if "$ref" in part and part["$ref"].rpartition("/")[2] not in schema.get("$defs", {}):
            raise Broken(f"the schema of {tool!r} refers to {part['$ref']}, which isn't there")
        if "properties" in part and part.get("additionalProperties") is not False:
            title = part.get("title", tool)
            raise Broken(f"{tool!r}: {title} takes unknown arguments; set extra='forbid' in its model")


def _parts(schema: Any) -> Iterator[Mapping[str, Any]]:
    """Every object inside a schema, itself too."""
    if isinstance(schema, Mapping):
        yield schema
    inside: Iterable[Any] = schema.values() if isinstance(schema, Mapping) else schema
    for part in inside:
        if isinstance(part, Mapping | list):
            yield from _parts(part)


def _tools_stay(tools: list[Any]) -> Any:
    class Same(Watched):
        def step(self, call: ToolCall, ctx: StepContext) -> StepResult:
            result = super().step(call, ctx)
            if list(self.inner.tools()) != tools:
                raise Broken(f"tools() gives other tools after {call.name!r}")
            return result

    return Same


def check_determinism(subject: Subject) -> str:
    """The same task, seed and calls give the same observations, pictures, states and candidates.

    In a workspace: the same task and seed prepare the same folder, the same files give the same candidate.
    """
    calls = 0
    for task in subject.tasks:
        first = play_script(subject, task, pictures=True)
        second = play_script(subject, task, pictures=True)
        if found := _other_episode(first, second):
            raise Broken(f"{task.id}: two episodes with the same seed and calls differ: {found}")
        third = play_script(subject, task, wrap=lambda inner: _Twin(subject, inner), pictures=True)
        if found := _other_episode(first, third):
            raise Broken(f"{task.id}: two episodes at the same time get in each other's way: {found}")
        calls += len(first.calls())
    what = "deliveries" if subject.mode == "workspace" else "calls"
    return f"{len(subject.tasks)} tasks, {calls} {what}, three times each"


def _other_episode(one: Played, other: Played) -> str | None:
    """Where two episodes differ first; long texts and files are compared as they were, not by hash."""
    return (
        difference(one.brief, other.brief, "brief")
        or difference(one.files, other.files, "files")
        or first_difference(one.events(), other.events())
    )


class _Twin(Watched):
    """Plays every call in a second environment first, and prepares and collects there first."""

    def __init__(self, subject: Subject, inner: Any) -> None:
        super().__init__(inner)
        self._twin = subject.environment(subject.settings)

    def reset(self, task: Task, seed: int) -> Observation:
        observation = super().reset(task, seed)
        self._twin.reset(task, seed)
        return observation

    def step(self, call: ToolCall, ctx: StepContext) -> StepResult:
        self._twin.step(call, ctx)
        return super().step(call, ctx)

    def prepare(self, folder: Path, task: Task, seed: int) -> Brief:
        brief = super().prepare(folder, task, seed)
        with TemporaryDirectory() as other:
            self._twin.prepare(Path(other), task, seed)
        return brief

    def collect(self, folder: Path) -> StepResult:
        self._twin.collect(folder)
        return super().collect(folder)


def check_state(subject: Subject) -> str:
    """`from_state` of a state that went through JSON gives the same state and the same future."""
    resumed = 0
    for task in subject.tasks:
        plain = play_script(subject, task).events()
        count = len(subject.scripts[task.id])
        for at in sorted({round(i * count / RESUMED_AT) for i in range(RESUMED_AT)}):
            resumed_play = play_script(subject, task, wrap=_resumer(subject, task, at))
            if found := first_difference(plain, resumed_play.events()):
                raise Broken(f"{task.id}: after from_state before call {at + 1} the future differs: {found}")
            resumed += 1
    return f"resumed {resumed} times"


def _resumer(subject: Subject, task: Task, at: int) -> Any:
    class Resumed(Watched):
        """Is replaced by what `from_state` makes of its state before call `at` (from 0)."""

        count = 0

        def step(self, call: ToolCall, ctx: StepContext) -> StepResult:
            if self.count == at:
                state = json.loads(canonical_json(self.inner.state()))
                self.inner = type(self.inner).from_state(task, state, subject.settings)
                if found := difference(state, json.loads(canonical_json(self.inner.state())), "state"):
                    raise Broken(f"{task.id}: from_state(state()) has another state: {found}")
            self.count += 1
            return super().step(call, ctx)

    return Resumed


def check_replay(subject: Subject) -> str:
    """The calls of a record, played again, give the same chain of state hashes and the same end."""
    states = 0
    for task in subject.tasks:
        first = play_script(subject, task)
        again = play_script(subject, task, script=script_of(subject, first))
        hashes = [[e["state"] for e in p.events() if e["kind"] == "result"] for p in (first, again)]
        if found := difference(hashes[0], hashes[1], "state"):
            raise Broken(f"{task.id}: replaying the record gives other states: {found}")
        if found := first_difference(first.events(), again.events()):
            raise Broken(f"{task.id}: replaying the record gives another one: {found}")
        states += len(hashes[0])
    return f"{states} states"


def check_json(subject: Subject) -> str:
    """States, observations, candidates and evidence are JSON, and the same after a round trip."""
    for task in subject.tasks:
        played = play_script(subject, task)
        require_json(played.brief.get("data"), f"{task.id}: data of the brief")
        for number, state in enumerate(played.states, 1):
            require_json(state, f"{task.id}: state {number}")
        for candidate in played.candidates:
            require_json(candidate.data, f"{task.id}: a candidate")
        for execution in played.executions:
            require_json(execution.data, f"{task.id}: data of an execution by {execution.executor}")
    return f"{len(subject.tasks)} tasks"


def require_json(value: Any, what: str) -> None:
    """Broken unless a value is JSON and survives being written and read: NaN, sets and number keys don't."""
    try:
        again = json.loads(canonical_json(value))
    except (TypeError, ValueError, RecursionError) as error:
        raise Broken(f"{what} isn't JSON: {raised(error)}") from error
    if found := difference(value, again):
        raise Broken(f"{what} changes when it is written as JSON and read back: {found}")


def first_difference(one: list[dict[str, Any]], other: list[dict[str, Any]]) -> str | None:
    """The first event in which two records differ, in words."""
    for number, (a, b) in enumerate(zip(one, other, strict=False), 1):
        if found := difference(a, b):
            return f"event {number} ({a['kind']}): {found}"
    if len(one) != len(other):
        return f"{len(one)} events, then {len(other)}"
    return None


def check_hidden(subject: Subject) -> str:
    """What an agent sees doesn't depend on `Task.hidden` and holds nothing of it."""
    looked_at = 0
    for task in subject.tasks:
        secret = {k: v for k, v in task.hidden.items() if k not in subject.visible}
        planted = {**secret, "canary": "canary-7c1f0e2a", "canary_number": 90210.731}
        _check_influence(subject, task, planted)
        _check_values(subject, task, secret)
        looked_at += len(secret)
    seen = f"; visible: {', '.join(sorted(subject.visible))}" if subject.visible else ""
    return f"{looked_at} hidden entries of {len(subject.tasks)} tasks{seen}"


def _check_influence(subject: Subject, task: Task, planted: Mapping[str, Any]) -> None:
    """Broken if the environment gives other observations for a task that differs in what is hidden only."""
    plain = play_script(subject, task, pictures=_shows_pictures(subject))
    if _told(subject, task, planted, plain) is None:
        return
    for key in planted:  # name the culprit
        if found := _told(subject, task, {key: planted[key]}, plain):
            raise Broken(f"{task.id}: what an agent sees depends on Task.hidden[{key!r}]: {found}")
    raise Broken(f"{task.id}: what an agent sees depends on Task.hidden")


def _told(subject: Subject, task: Task, secret: Mapping[str, Any], plain: Played) -> str | None:
    changed = Task(task.id, task.inputs, {**task.hidden, **{k: _other(v, k) for k, v in secret.items()}})

    class Misled(Watched):
        def reset(self, task: Task, seed: int) -> Observation:
            return super().reset(changed, seed)

        def prepare(self, folder: Path, task: Task, seed: int) -> Brief:
            return super().prepare(folder, changed, seed)

    try:
        misled = play_script(subject, task, wrap=Misled, pictures=_shows_pictures(subject))
    except Broken as error:
        return f"with another value, {error}"
    return _other_episode(plain, misled)


def _shows_pictures(subject: Subject) -> bool:
    """Whether agents may see pictures: a brief has none, and those of executors needn't be drawn for it."""
    return subject.mode == "turns"


def _other(value: Any, path: str) -> Any:
    """A value of the same shape that is different throughout."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, int | float):
        return value + 7919
    if isinstance(value, Mapping):
        return {k: _other(v, f"{path}.{k}") for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [_other(v, f"{path}.{i}") for i, v in enumerate(value)]
    return f"canary {path}"


def _check_values(subject: Subject, task: Task, secret: Mapping[str, Any]) -> None:
    """Broken if a hidden value turns up in what the agent sees and isn't among the inputs.

    Numbers are looked for in the first observation and in files that are there from the start: later
    observations hold results that may equal them.
    """
    played = play_script(subject, task)
    seen = [(f"observation {n}", _text(observation)) for n, observation in enumerate(played.seen(), 1)]
    start = [*seen[:1], *((f"the file {name}", _text(content)) for name, content in played.files.items())]
    inputs = _text(task.inputs)
    for path, value in _leaves(secret, ""):
        if not _telling(value) or _mentions(inputs, value):
            continue
        for where, text in start + seen[1:] if isinstance(value, str) else start:
            if _mentions(text, value):
                raise Broken(f"{task.id}: {where} holds {short(value)} of Task.hidden{path}")


def _leaves(value: Any, path: str) -> Iterator[tuple[str, Any]]:
    if isinstance(value, Mapping):
        for key, inside in value.items():
            yield from _leaves(inside, f"{path}[{key!r}]")
    elif isinstance(value, list | tuple):
        for number, inside in enumerate(value):
            yield from _leaves(inside, f"{path}[{number}]")
    else:
        yield path, value


def _telling(value: Any) -> bool:
    if isinstance(value, str):
        return len(value) >= TELLING_CHARACTERS
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    return len(repr(value).replace(".", "").strip("-0")) >= TELLING_DIGITS


def _mentions(text: str, value: Any) -> bool:
    if isinstance(value, str):
        return _text(value).strip('"') in text
    return re.search(rf"(?<![\d.]){re.escape(repr(value))}(?!\d)", text) is not None


def _text(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, default=str)


def skip_without_script(subject: Subject) -> None:
    """Skip if no task has a script."""
    if not any(subject.scripts[task.id] for task in subject.tasks):
        what = "files to hand in" if subject.mode == "workspace" else "calls to play"
        raise Skip(f"there are no {what}: the suite has no offline agent; give scripts")
