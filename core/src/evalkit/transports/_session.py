"""From the name of a suite to an episode that can be driven, and the run folder that records it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evalkit.episode import End, Rules, Sink
from evalkit.errors import UsageError
from evalkit.plugins import CORE_PLUGIN, Plugins, load_plugins, resolve
from evalkit.registry import Registry, Suite
from evalkit.run.plan import Plan, Selection, load_tasks, manifest, run_name
from evalkit.run.worker import PlaySetup, event_body
from evalkit.store.reader import RunReader
from evalkit.store.writer import RunWriter
from evalkit.transports._driven import DrivenEpisode
from evalkit.types import Episode, EpisodeKey, Observation, Task, Tool

if TYPE_CHECKING:
    from evalkit.run.assemble import Assembly

#: Version of the transports' behaviour, recorded with every player.
VERSION = "1"


@dataclass(frozen=True, slots=True)
class Player:
    """Who plays from outside: a name for tables, the transport, and how the client calls itself."""

    id: str
    transport: str
    client: str = ""

    def entry(self) -> dict[str, str]:
        """The player among the agents of a manifest."""
        return {
            "id": self.id,
            "name": self.transport,
            "argument": "",
            "version": VERSION,
            "plugin": CORE_PLUGIN,
            "transport": self.transport,
            "client": self.client,
        }


class Stage:
    """A suite that players from outside can play. What is costly is built when it is first needed."""

    def __init__(self, plugins: Plugins, suite: Suite, *, pictures: bool = True) -> None:
        self.plugins, self.suite = plugins, suite
        self.tasks = load_tasks(plugins, suite)
        if plugins.environment(suite.benchmark, suite.variant).mode != "turns":
            raise UsageError(f"{suite.name} is played in a workspace, not call by call; use `evalkit run`")
        self.setup = PlaySetup(
            benchmark=suite.benchmark,
            variant=suite.variant,
            settings=dict(suite.settings),
            limits=dict(suite.limits),
            validators=tuple(suite.validators),
            executors=tuple(suite.executors),
            agents=(),
            pictures=pictures,
        )

    @classmethod
    def open(
        cls,
        target: str,
        overrides: Sequence[str] = (),
        registry: Path | None = None,
        *,
        pictures: bool = True,
    ) -> Stage:
        """The stage of a suite by name; UsageError if the name stands for several, or for none."""
        plugins = load_plugins()
        return cls(plugins, Registry.load(plugins, registry).one(target, overrides), pictures=pictures)

    def task(self, name: str | None) -> Task:
        """A task by id, or the first one; UnknownNameError if there is no such task."""
        chosen = Selection(slice(1), ids=() if name is None else (name,))
        return chosen.apply(self.tasks, self.suite.name)[0]

    def tools(self, task: Task) -> Sequence[Tool]:
        """The tools of an episode, from an environment of its own: no kernel is loaded for this."""
        spec = self.plugins.environment(self.suite.benchmark, self.suite.variant)
        environment = resolve(spec.target, self.plugins.origin(spec).plugin)(self.setup.settings)
        environment.reset(task, 0)
        return tuple(environment.tools())

    def key(self, player: str, task: Task) -> EpisodeKey:
        """The key of a player's episode."""
        return EpisodeKey(player, task.id, self.suite.condition, 1)

    def episode(self, key: EpisodeKey, task: Task, run_seed: int, sink: Sink) -> DrivenEpisode:
        """A new episode, its record going to `sink`."""
        assembly = self._assembly
        rules = Rules(self.setup.limits, assembly.validators, assembly.executors, self.setup.pictures)
        return DrivenEpisode(key, task, key.seed(run_seed), assembly.environment(), rules, sink)

    def manifest(self, task: Task, run_seed: int, player: Player, name: str) -> dict[str, Any]:
        """The manifest of a run with this one episode."""
        plan = Plan(self.suite, self.setup, (task,), len(self.tasks), epochs=1, seed=run_seed)
        return manifest(plan, self.plugins, name) | {"agents": [player.entry()]}

    def warm_up(self, say: Callable[[str], None]) -> None:
        """Compile kernels, if that hasn't been done on this machine; says so if it takes a moment."""
        from evalkit.run.runner import warm_up

        warm_up(self.plugins, self.setup, say)

    @cached_property
    def _assembly(self) -> Assembly:
        from evalkit.run.assemble import Assembly

        return Assembly(self.setup, self.plugins)


class RecordedEpisode:
    """A driven episode and the run folder it is recorded in; `first` is what the player sees first.

    `closed` tells that the episode has ended and its record is whole: others may write to the folder.
    """

    def __init__(self, stage: Stage, task: Task, player: Player, root: Path, seed: int = 0) -> None:
        """Make the run folder and begin; StorageError if it can't be written."""
        name = run_name(stage.suite.name)
        self.folder = root / name
        self._key = stage.key(player.id, task)
        self._writer = RunWriter.create(self.folder, stage.manifest(task, seed, player, name))
        self._log, self._attempt = self._writer.begin(self._key)
        self._plugins = stage.plugins
        self._events = 0
        self._settled = self.closed = False
        self.episode = stage.episode(self._key, task, seed, self)
        self.first: Observation = self.episode.start()
        self._settle()

    def call(self, tool: str, arguments: Mapping[str, Any], error: str = "") -> Observation:
        """As `DrivenEpisode.call`; the end of the episode closes its record."""
        try:
            return self.episode.call(tool, arguments, error)
        finally:
            self._settle()

    def stop(self, reason: str) -> End:
        """As `DrivenEpisode.stop`; closes the record."""
        try:
            return self.episode.stop(reason)
        finally:
            self._settle()

    def record(self) -> Episode:
        """The episode that has ended, read back from its record."""
        return RunReader(self.folder).episode(self._key)

    # a sink for the walk: an event is on its way to the disk before what it announces begins

    def event(self, kind: str, fields: Mapping[str, Any]) -> None:
        """Append an event to the log, and tell observers."""
        body = event_body(self._events, kind, fields)
        self._log.append([body])
        self._events += 1
        if self._plugins.observed:
            self._plugins.notify(json.loads(body))

    def blob(self, data: bytes) -> str:
        """Keep bytes in the run folder."""
        sha256 = hashlib.sha256(data).hexdigest()
        self._writer.blob(sha256, data)
        return sha256

    def flush(self) -> None:
        """Nothing to do: events are written as they come."""

    def _settle(self) -> None:
        """Enter the episode in the index once it has ended, and give the run folder back."""
        end = self.episode.end
        if end is None or self._settled:
            return
        self._settled = True
        summary: dict[str, Any] = {"reason": end.reason.value, "counters": dict(end.counters)}
        if end.detail:
            summary["detail"] = end.detail
        try:
            self._writer.finish(self._key, self._log, self._attempt, summary)
        finally:
            self._writer.close()
        self.closed = True
