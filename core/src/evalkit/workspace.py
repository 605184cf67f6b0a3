"""The walk of a workspace episode: prepare a folder, let an agent work in it, take what it hands in.

It is the walk of `evalkit.episode` with one observation (the brief) and one action (`submit`), so that
events, budgets, end reasons and everything that reads records are the same. The agent's own events
(`agent_process`) stand between the two.
"""

from __future__ import annotations

import hashlib
import logging
import os
import stat
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict

from evalkit.episode import End, Rules, Sink, play
from evalkit.errors import SandboxError
from evalkit.sandbox._exchange import stays_inside
from evalkit.sandbox._launch import remove_tree
from evalkit.sandbox._supervisor import asked_for
from evalkit.types import (
    Brief,
    Delivery,
    EpisodeKey,
    Execution,
    Observation,
    Reply,
    StepContext,
    StepResult,
    Stop,
    Task,
    Tool,
    ToolCall,
    Verdict,
    Violation,
    WorkspaceAgent,
    WorkspaceEnvironment,
)

#: Deliverables that are taken at most, entries of a workspace that are looked at, and how deep.
MAX_FILES = 2_000
MAX_ENTRIES = 50_000
MAX_DEPTH = 16
#: So many files that were left out are told in the verdict.
TOLD_OMISSIONS = 12
_OPEN_FOLDER = "/tmp"
"""Where a user id of an agent's own can reach its workspace, which can't be said of $TMPDIR."""


_log = logging.getLogger("evalkit")


class Submission(BaseModel):
    """Arguments of `submit`: SHA-256 of each file handed in, and why others weren't taken."""

    model_config = ConfigDict(extra="forbid", strict=True)

    files: dict[str, str]
    omitted: dict[str, str] = {}


SUBMIT = Tool(
    "submit", "Hand in the deliverables as they are in the workspace.", Submission, past_budget=True
)


def play_workspace(
    key: EpisodeKey,
    task: Task,
    seed: int,
    environment: WorkspaceEnvironment,
    agent: WorkspaceAgent,
    rules: Rules,
    sink: Sink,
) -> End:
    """Play one episode in a temporary folder and leave its record in `sink`."""
    with temporary_folder() as root:
        return play_in(root, key, task, seed, environment, agent, rules, sink)


def play_in(
    root: Path,
    key: EpisodeKey,
    task: Task,
    seed: int,
    environment: WorkspaceEnvironment,
    agent: WorkspaceAgent,
    rules: Rules,
    sink: Sink,
) -> End:
    """Play one episode in an empty folder, which the caller removes, and leave its record in `sink`."""
    desk = _Desk(environment, root)
    rules = replace(rules, limits={**agent.limits, **rules.limits})
    return play(key, task, seed, desk, _Worker(agent, desk, sink), rules, sink)


@contextmanager
def temporary_folder() -> Iterator[Path]:
    """A folder for untrusted code to work in, removed afterwards; if that fails, a warning says so."""
    shared = hasattr(os, "geteuid") and os.geteuid() == 0
    root = Path(tempfile.mkdtemp(prefix="evalkit-workspace-", dir=_OPEN_FOLDER if shared else None))
    try:
        yield root
    finally:
        try:
            remove_tree(root)
        except SandboxError as error:  # an immutable file, a busy mount: the episode was played all the same
            _log.warning("%s", error)


class _Desk:
    """The environment as the walk sees it."""

    def __init__(self, environment: WorkspaceEnvironment, root: Path) -> None:
        self._environment, self._root = environment, root
        self.folder = root / "work"
        self.brief: Brief
        self.delivery = Delivery({})

    def reset(self, task: Task, seed: int) -> Observation:
        self.folder.mkdir()
        brief = self._environment.prepare(self.folder, task, seed)
        if not isinstance(brief, Brief):
            raise TypeError(f"prepare gave {type(brief).__name__} instead of Brief")
        for pattern in brief.deliverables:
            if not stays_inside(pattern):
                raise ValueError(f"the deliverable {pattern!r} is not a path inside the workspace")
        self.brief = brief
        about = {"deliverables": list(brief.deliverables), "files": _hashes(self.folder)}
        return Observation(brief.text, {**brief.data, **about})

    def tools(self) -> Sequence[Tool]:
        return (SUBMIT,)

    def step(self, call: ToolCall, ctx: StepContext) -> StepResult:
        clean = Path(tempfile.mkdtemp(dir=self._root))  # a name that the agent can't have taken
        for name, content in self.delivery.files.items():
            path = clean / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
        result = self._environment.collect(clean)
        if not isinstance(result, StepResult):
            raise TypeError(f"collect gave {type(result).__name__} instead of StepResult")
        if result.candidate is None and not result.violations:
            raise ValueError("collect gave neither a candidate nor violations")
        advice = tuple(
            Violation("not_collected", f"{name} was left out: {why}", (name,), advisory=True)
            for name, why in list(self.delivery.omitted.items())[:TOLD_OMISSIONS]
        )
        return replace(result, violations=(*result.violations, *advice))

    def feedback(self, verdict: Verdict, execution: Execution | None) -> Observation:
        # Work that was cut short isn't done: the walk finds the limit, or the agent says what happened.
        return Observation(data={"valid": verdict.valid}, done=self.delivery.failure is None)

    def state(self) -> dict[str, Any]:
        return {"files": hashes(self.delivery.files)}

    @classmethod
    def from_state(cls, task: Task, state: Mapping[str, Any], settings: Mapping[str, Any]) -> _Desk:
        raise NotImplementedError("a workspace is played in one go")


class _Worker:
    """The agent as the walk sees it: works, submits, and says what went wrong if something did."""

    def __init__(self, agent: WorkspaceAgent, desk: _Desk, sink: Sink) -> None:
        self._agent, self._desk, self._sink = agent, desk, sink
        self._worked = False

    def start(self, tools: Sequence[Tool], seed: int) -> None:
        pass

    def spent(self) -> Mapping[str, float]:
        return self._agent.spent()

    def act(self, observation: Observation, ctx: StepContext) -> Reply | Stop:
        if self._worked:
            failure = self._desk.delivery.failure
            if failure is None:
                return Stop("the work was handed in")
            raise failure
        self._worked = True
        self._sink.flush()
        delivery = self._work(ctx)
        self._desk.delivery = delivery
        blobs = [
            {"name": name, "blob": self._sink.blob(content), "media_type": "application/octet-stream"}
            for name, content in delivery.files.items()
        ]
        self._sink.event("agent_process", {"phase": "delivery", "artifacts": blobs})
        arguments: dict[str, Any] = {"files": hashes(delivery.files)}
        if delivery.omitted:
            arguments["omitted"] = dict(delivery.omitted)
        return Reply((ToolCall("submit", arguments),))

    def _work(self, ctx: StepContext) -> Delivery:
        brief, folder = self._desk.brief, self._desk.folder
        failure: Exception | None = None
        try:
            delivery = self._agent.work(folder, brief, ctx, self._sink)
            if delivery is not None:
                return delivery
        except Exception as error:  # noqa: BLE001 - what was made until then is taken; raised afterwards
            failure = error
        return replace(take(folder, brief.deliverables, brief.max_bytes), failure=failure)


def hashes(files: Mapping[str, bytes]) -> dict[str, str]:
    """SHA-256 of each file, by name."""
    return {name: hashlib.sha256(content).hexdigest() for name, content in files.items()}


def take(folder: Path, patterns: Sequence[str], max_bytes: int) -> Delivery:
    """The files of a folder that fit the patterns, sorted, at most `max_bytes` together.

    Whoever filled the folder may have meant harm: no link is followed, only regular files that belong to
    the folder's owner are read (a hard link may lead to somebody else's), and depth, number and size are
    bounded. What fits and isn't taken is in `omitted` with the reason.
    """
    files: dict[str, bytes] = {}
    omitted: dict[str, str] = {}
    if folder.is_symlink() or not folder.is_dir():  # an agent without isolation can do away with it
        return Delivery(files, omitted)
    owner = folder.stat().st_uid
    looked_at = 0
    left = max_bytes
    for where, folders, names, descriptor in os.fwalk(folder, follow_symlinks=False):
        below = Path(where).relative_to(folder)
        folders.sort()
        looked_at += len(folders) + len(names)
        if len(below.parts) >= MAX_DEPTH or looked_at > MAX_ENTRIES:
            folders.clear()
        links = [name for name in folders if _is_link(name, descriptor)]
        for name in sorted([*names, *links]):
            path = (below / name).as_posix()
            if not asked_for(path, patterns):
                continue
            told = _as_text(path)
            if told == path:
                content, reason = _read(name, descriptor, left, owner)
            else:
                content, reason = b"", "its name isn't UTF-8"
            if not reason and len(files) == MAX_FILES:
                reason = f"more than {MAX_FILES} files"
            if reason:
                if len(omitted) < MAX_FILES:
                    omitted[told] = reason
            else:
                files[path] = content
                left -= len(content)
    return Delivery(dict(sorted(files.items())), dict(sorted(omitted.items())))


def _as_text(path: str) -> str:
    """The path with bytes that are no UTF-8 written as escapes: a record holds Unicode only."""
    return os.fsencode(path).decode("utf-8", "backslashreplace")


def _is_link(name: str, folder: int) -> bool:
    try:
        os.readlink(name, dir_fd=folder)
    except OSError:
        return False
    return True


def _read(name: str, folder: int, most: int, owner: int) -> tuple[bytes, str]:
    """The content of an owner's regular file and "", or nothing and why not."""
    try:
        descriptor = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK, dir_fd=folder)
    except OSError as error:
        return b"", "a symbolic link" if _is_link(name, folder) else f"can't be opened: {error.strerror}"
    with open(descriptor, "rb") as file:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            return b"", "not a regular file"
        if status.st_uid != owner:
            return b"", "somebody else's file"
        if status.st_size > most:
            return b"", "more bytes than are taken"
        return file.read(status.st_size), ""


def _hashes(folder: Path) -> dict[str, str]:
    """SHA-256 of every file below a folder that the environment filled."""
    paths = sorted(path for path in folder.rglob("*") if path.is_file())
    return {p.relative_to(folder).as_posix(): hashlib.sha256(p.read_bytes()).hexdigest() for p in paths}
