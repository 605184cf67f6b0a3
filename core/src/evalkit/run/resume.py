"""Going on with a recorded run: its plan rebuilt from the manifest, and which episodes are to be played."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from evalkit.canonical import sha256_of
from evalkit.errors import (
    END_POLICIES,
    EndPolicy,
    EndReason,
    EvalkitError,
    RecordError,
    UnknownNameError,
    UsageError,
)
from evalkit.plugins import Plugins
from evalkit.registry import Suite
from evalkit.run.assemble import Assembly, find_agent
from evalkit.run.plan import Plan, load_tasks, package_version
from evalkit.run.scoring import changed_tasks, recorded_tasks, scorable_episodes
from evalkit.run.worker import AgentChoice, PlaySetup
from evalkit.store.logs import counted, read_log
from evalkit.store.planned import Shard
from evalkit.store.reader import IndexLine, RunReader
from evalkit.store.writer import RunWriter
from evalkit.types import EpisodeKey

SELECTIONS = ("error", "unscored", "missing")
_LISTS = ("validators", "executors", "final_executors", "metrics")


def recorded_suite(reader: RunReader) -> Suite:
    """The suite as a run played it, from its manifest; RecordError if the manifest was edited."""
    manifest = reader.manifest
    protocol, about = manifest["protocol"], manifest["suite"]
    benchmark, benchmark_version = next(iter(protocol["benchmark"].items()))
    validators, executors, final_executors = (tuple(names) for names in protocol["order"])
    suite = Suite(
        name=about["name"],
        version=about["version"],
        benchmark=benchmark,
        benchmark_version=benchmark_version,
        title=about["title"],
        tags=(),
        tasks=protocol["tasks"],
        condition=protocol["condition"],
        variant=protocol["variant"],
        agent=None,
        limits=protocol["limits"],
        settings=protocol["settings"],
        validators=validators,
        executors=executors,
        final_executors=final_executors,
        metrics=tuple(protocol["metrics"]),
        thresholds=tuple(about.get("thresholds", ())),
        versions={kind: protocol[kind] for kind in _LISTS},
        origin=about["origin"],
        notices=tuple(about["notices"]),
    )
    if not suite.protocol_hash == sha256_of(protocol) == manifest["protocol_hash"]:
        raise RecordError(f"{reader.folder / 'run.json'}: protocol and protocol_hash don't belong together")
    return suite


def recorded_plan(reader: RunReader, plugins: Plugins) -> Plan:
    """The plan that a run followed; RecordError if it can't be followed with what is installed here.

    Whatever decides results has to be the same: versions in the protocol, agents, tasks, constants of
    executors. Other packages may differ (see `other_packages`).
    """
    manifest, suite = reader.manifest, recorded_suite(reader)
    plugins.require(suite.benchmark)
    changed = [*changed_components(suite, plugins), *_changed_agents(reader, suite, plugins)]
    _refuse(reader, changed)
    every = load_tasks(plugins, suite)
    tasks = recorded_tasks(reader, every)
    setup = PlaySetup(
        benchmark=suite.benchmark,
        variant=suite.variant,
        settings=dict(suite.settings),
        limits=dict(suite.limits),
        validators=suite.validators,
        executors=suite.executors,
        agents=tuple(
            AgentChoice(a["id"], a["name"], a["argument"], tuple(a.get("options", ())))
            for a in manifest["agents"]
        ),
        pictures=manifest["pictures"],
    )
    _refuse(reader, [*changed_tasks(reader, tasks), *changed_constants(reader, Assembly(setup, plugins))])
    part = manifest.get("shard")
    shard = Shard(part["number"], part["count"]) if part else None
    return Plan(suite, setup, tasks, len(every), manifest["epochs"], manifest["seed"], shard)


def other_packages(reader: RunReader) -> list[str]:
    """What differs between this installation and the one that made a run, a phrase each."""
    recorded: Mapping[str, str] = reader.manifest["versions"]
    here = {name: package_version(name) for name in recorded}
    return [
        f"{name} is {here[name]}, was {version}"
        for name, version in recorded.items()
        if here[name] != version
    ]


def changed_components(suite: Suite, plugins: Plugins) -> Iterator[str]:
    """What of a recorded protocol has another version here, or is missing, a phrase each."""
    version = plugins.benchmarks()[suite.benchmark].version
    if version != suite.benchmark_version:
        yield f"benchmark {suite.benchmark} is version {version}, was {suite.benchmark_version}"
    executors = plugins.executors(suite.benchmark)
    tables: dict[str, Mapping[str, Any]] = {
        "validators": plugins.validators(suite.benchmark),
        "executors": executors,
        "final_executors": executors,
        "metrics": plugins.metrics(suite.benchmark),
    }
    for kind, recorded in suite.versions.items():
        word = kind.removesuffix("s").replace("_", " ")
        for name, version in recorded.items():
            if name not in tables[kind]:
                yield f"{word} {name} is not installed"
            elif tables[kind][name].version != version:
                yield f"{word} {name} is version {tables[kind][name].version}, was {version}"


def changed_constants(reader: RunReader, assembly: Assembly) -> Iterator[str]:
    """Executors of a recorded run whose constants are others here, a phrase each."""
    for name, recorded in reader.manifest["executors"].items():
        if assembly.executor(name).constants_sha256 != recorded["constants_sha256"]:
            yield f"the constants of executor {name} differ"


def selected(reader: RunReader, only: Iterable[str] | None) -> list[EpisodeKey]:
    """The planned episodes to play, in order.

    Without `only` those that are missing or ended in an infrastructure error. `error` means every end in
    an error; `unscored` finished episodes whose log can't be read (others are only scored again).
    """
    index = reader.index()
    if only is None:
        return [key for key in reader.planned() if key not in index or _policy(index[key]).infrastructure]
    wanted = set(only)
    for name in wanted:
        if name not in SELECTIONS:
            raise UnknownNameError("kind of episode", name, SELECTIONS)
    unreadable: dict[EpisodeKey, str] = {}
    if "unscored" in wanted:
        for _ in scorable_episodes(reader, unreadable):
            pass
    return [
        key
        for key in reader.planned()
        if ("missing" in wanted and key not in index)
        or ("error" in wanted and key in index and _policy(index[key]).error)
        or key in unreadable
    ]


def recover(reader: RunReader, writer: RunWriter) -> list[EpisodeKey]:
    """Enter the episodes that ended just before their writer died; returns their keys."""
    index = reader.index()
    return [key for key in reader.planned() if key not in index and writer.recover(key)]


def _policy(line: IndexLine) -> EndPolicy:
    return END_POLICIES[EndReason(line["end"]["reason"])]


def _refuse(reader: RunReader, differences: list[str]) -> None:
    if differences:
        more = f" and {len(differences) - 3} more" if len(differences) > 3 else ""
        raise RecordError(
            f"{reader.name} can't go on with what is installed: {'; '.join(differences[:3])}{more}; "
            "install what it was made with, or start a new run"
        )


def _changed_agents(reader: RunReader, suite: Suite, plugins: Plugins) -> Iterator[str]:
    for agent in reader.manifest["agents"]:
        if agent.get("transport"):
            yield f"{agent['id']} played from outside ({agent['transport']}) and has to come back for that"
            continue
        try:
            version = find_agent(plugins, suite.benchmark, agent["name"]).version
        except EvalkitError as error:
            yield str(error)
        else:
            if version != agent["version"]:
                yield f"agent {agent['name']} is version {version}, was {agent['version']}"


def left_of(reader: RunReader, totals: Mapping[str, float]) -> dict[str, float]:
    """What is left of a run's budgets after everything that was spent, earlier attempts included.

    Time starts anew. UsageError if nothing is left of one.
    """
    spent: dict[str, float] = {}
    index = reader.index()
    for line in index.values():
        for counters in (line["end"]["counters"], line.get("spent_before", {})):
            for name, count in counters.items():
                spent[name] = spent.get(name, 0.0) + count
    for key in reader.planned():
        path = reader.log_path(key)
        if key not in index and path.exists():
            for name, count in counted(read_log(path).events).items():
                spent[name] = spent.get(name, 0.0) + count
    left = {n: limit if n == "seconds" else limit - spent.get(n, 0.0) for n, limit in totals.items()}
    for name, rest in left.items():
        if rest <= 0:
            raise UsageError(
                f"{reader.name} has spent its budget of {name} ({totals[name]:g}); "
                f"raise it with --total-{'time' if name == 'seconds' else name}"
            )
    return left
