"""The sessions of runs: one agent under one condition in one epoch, all levels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from evalkit import Episode, Task, UsageError
from evalkit.report import RecordedRun, recorded_run
from evalkit_polybridge.release.scrub import scrubbed

_SHOWN = 3
#: What is kept of an agent's entry in a run's manifest; its options and addresses stay at home.
_AGENT_FIELDS = ("id", "name", "version", "plugin")
_MODEL_FIELDS = ("model", "provider", "client", "controls", "sha256")


@dataclass(frozen=True, slots=True, order=True)
class SessionKey:
    """Whose session: agent × condition × epoch."""

    agent: str
    condition: str
    epoch: int


@dataclass(slots=True)
class Played:
    """An episode with its task and the run that recorded it."""

    episode: Episode
    task: Task
    run: RecordedRun


@dataclass(slots=True)
class Gathered:
    """Runs of one protocol.

    `sessions` maps keys to level → episode; `expected` the conditions to the tasks of their suites, played or
    not.
    """

    runs: Sequence[RecordedRun]
    sessions: dict[SessionKey, dict[str, Played]] = field(default_factory=dict)
    expected: dict[str, dict[str, Task]] = field(default_factory=dict)

    @property
    def protocol(self) -> Mapping[str, Any]:
        """The protocol, of which all runs have everything that `frozen` names."""
        protocol: Mapping[str, Any] = self.runs[0].manifest["protocol"]
        return protocol


def gather(names: Sequence[str]) -> Gathered:
    """The sessions of the named runs.

    UsageError if the runs follow different protocols, two hold the same episode, an episode has no result or
    was played on another level than the installed one.
    """
    gathered = Gathered(named_runs(names))
    first = gathered.runs[0]
    agents: dict[str, RecordedRun] = {}
    for run in gathered.runs:
        _require_same_protocol(first, run)
        _require_complete(run)
        _require_same_agents(agents, run)
        expected = gathered.expected.setdefault(run.manifest["condition"], {})
        for task in run.tasks.values():
            if expected.setdefault(task.id, task) != task:
                raise UsageError(f"{run.name} has another level {task.id} than a run before it")
        for episode, task in run.played:
            _add(gathered, Played(episode, task, run))
    for key, session in gathered.sessions.items():
        _require_all_levels(key, len(session), len(gathered.expected[key.condition]))
    return gathered


def named_runs(names: Sequence[str]) -> list[RecordedRun]:
    """The named runs, each once, whatever it is called (`latest`, a name, a folder)."""
    runs = [recorded_run(name, "polybridge") for name in dict.fromkeys(names)]
    return list({run.reader.folder.resolve(): run for run in runs}.values())


def frozen(run: RecordedRun) -> dict[str, Any]:
    """What all runs of a release share: whatever decides what a model sees and what counts."""
    protocol = run.manifest["protocol"]
    executors = {id: dict(executor) for id, executor in run.manifest["executors"].items()}
    return {
        "benchmark": protocol["benchmark"],
        "limits": protocol["limits"],
        **{f"settings.{name}": value for name, value in protocol["settings"].items()},
        "validators": protocol["validators"],
        "executors": executors,
    }


def agent_entry(run: RecordedRun, agent: str) -> dict[str, Any]:
    """What a release says of an agent: who it is and, of a model, which and how it was asked."""
    entry = next(entry for entry in run.manifest["agents"] if entry["id"] == agent)
    public: dict[str, Any] = {name: entry[name] for name in _AGENT_FIELDS}
    if "model" in entry:
        public["model"] = {name: entry["model"][name] for name in _MODEL_FIELDS if name in entry["model"]}
    result: dict[str, Any] = scrubbed(public)
    return result


def _require_same_protocol(first: RecordedRun, run: RecordedRun) -> None:
    one, other = frozen(first), frozen(run)
    names = [name for name in {**one, **other} if one.get(name) != other.get(name)]
    if names:
        raise UsageError(
            f"{first.name} and {run.name} can't be in one release, they differ in "
            f"{', '.join(names[:_SHOWN])}: write one release each"
        )


def _require_same_agents(known: dict[str, RecordedRun], run: RecordedRun) -> None:
    """An agent is the same in all runs: its version and, of a model, how it was asked."""
    for entry in run.manifest["agents"]:
        other = known.setdefault(entry["id"], run)
        one, new = agent_entry(other, entry["id"]), agent_entry(run, entry["id"])
        names = [name for name in {**one, **new} if one.get(name) != new.get(name)]
        if names:
            raise UsageError(
                f"{other.name} and {run.name} can't be in one release, {entry['id']} is another one in each "
                f"({', '.join(names)}): write one release each"
            )


def _require_complete(run: RecordedRun) -> None:
    if run.missing:
        listed = ", ".join(key.text() for key, _ in run.missing[:_SHOWN])
        more = ", …" if len(run.missing) > _SHOWN else ""
        raise UsageError(
            f"{run.name} has no result of {len(run.missing)} episodes ({listed}{more}): "
            f"`evalkit resume {run.name}` plays them"
        )


def _require_all_levels(key: SessionKey, played: int, expected: int) -> None:
    if played < expected:
        raise UsageError(
            f"{key.agent} played {played} of the {expected} levels of {key.condition}: play the others too, "
            "or a suite of fewer levels (-T tasks.names=[…])"
        )


def _add(gathered: Gathered, played: Played) -> None:
    key, run = played.episode.key, played.run
    first = next(played.episode.of("observation"), {})
    if played.episode.load(first.get("data", {}).get("context")) != played.task.inputs["context"]:
        raise UsageError(f"{run.name}: {key.text()} was played on another level than the installed one")
    session = gathered.sessions.setdefault(SessionKey(key.agent, key.condition, key.epoch), {})
    if key.task in session:
        raise UsageError(
            f"{session[key.task].run.name} and {run.name} both hold {key.text()}: leave one of them out"
        )
    session[key.task] = played
