"""Putting the parts of a run together: one folder with every episode of several.

The parts have to be shards, or interrupted copies, of one plan under one protocol. The new folder appears
whole or not at all.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from evalkit.errors import RecordError, StorageError, UsageError
from evalkit.store.lock import refuse_if_written
from evalkit.store.logs import added, attempt_path, counted, earlier_attempts, episode_path, read_log
from evalkit.store.planned import planned_keys
from evalkit.store.reader import IndexLine, RunReader
from evalkit.store.verify import verify_run
from evalkit.store.writer import RunWriter, pretty_json, storage_errors, write_atomically
from evalkit.types import EpisodeKey, Event

#: What parts have to agree on: manifest field → its name for people. The first are never forced.
_PLAN = {"tasks": "tasks", "tasks_sha256": "contents of tasks", "epochs": "epochs", "condition": "condition"}
_FORCEABLE = {
    "record_version": "record version",
    "protocol_hash": "protocol",
    "seed": "seed",
    "agents": "agents",
    "executors": "constants of executors",
    "pictures": "pictures",
}


def merge_runs(folders: Sequence[Path], target: Path, *, force: bool = False) -> RunReader:
    """Merge run folders into a new one and return it.

    Raises UsageError if `target` exists or parts differ in what decides results (unless `force`, which the
    manifest then tells), RecordError if a part is damaged, being written, or has played an episode that
    another part has played differently.
    """
    if target.exists():
        raise UsageError(f"{target} exists already; name a new folder with -o")
    readers = [RunReader(folder) for folder in folders]
    _check_names(readers)
    forced = _differences(readers, force=force)
    for reader in readers:
        refuse_if_written(reader.folder)
        if not verify_run(reader.folder).clean:
            raise RecordError(f"{reader.folder} is damaged; `evalkit verify {reader.folder}` says where")
    merged = _manifest(readers, target.name, forced)
    building = target.with_name(f".{target.name}.{os.getpid()}.tmp")
    try:
        _Merge(readers, merged).write(building)
        with storage_errors(target):
            os.rename(building, target)
    except (RecordError, StorageError):
        shutil.rmtree(building, ignore_errors=True)
        raise
    return RunReader(target)


def _check_names(readers: Sequence[RunReader]) -> None:
    folders = [reader.folder.resolve() for reader in readers]
    if len(folders) < 2:
        raise UsageError("name at least two runs to merge")
    for folder in folders:
        if folders.count(folder) > 1:
            raise UsageError(f"{folder} is named twice")


def _differences(readers: Sequence[RunReader], *, force: bool) -> list[dict[str, Any]]:
    """What the parts differ in although they should not; UsageError unless that is forced."""
    found = []
    for name, word in {**_PLAN, **_FORCEABLE}.items():
        values = [_comparable(name, reader.manifest.get(name)) for reader in readers]
        other = next((i for i, value in enumerate(values) if value != values[0]), None)
        if other is None:
            continue
        between = f"{readers[0].folder} and {readers[other].folder} differ in their {word}"
        if name in _PLAN:
            raise UsageError(f"{between}: they are no parts of one run; `evalkit report` takes several runs")
        if not force:
            raise UsageError(f"{between}; --force merges them all the same, and the manifest says so")
        found.append({"field": name, "values": values})
    return found


def _comparable(name: str, value: Any) -> Any:
    if name == "executors" and isinstance(value, Mapping):
        return {id: executor["constants_sha256"] for id, executor in value.items()}
    return value


def _manifest(readers: Sequence[RunReader], run: str, forced: list[dict[str, Any]]) -> dict[str, Any]:
    """The first part's manifest without its shard, with all agents, and where the episodes came from."""
    first = readers[0].manifest
    agents = {agent["id"]: agent for reader in readers for agent in reader.manifest["agents"]}
    parts = [
        {name: reader.manifest.get(name) for name in ("run", "created", "shard", "versions", "platform")}
        for reader in readers
    ]
    order_dependent = any(reader.manifest.get("order_dependent") for reader in readers)
    changed = {"run": run, "agents": list(agents.values()), "shard": None, "order_dependent": order_dependent}
    return {**first, **changed, "merged": parts, "forced": forced}


class _Merge:
    def __init__(self, readers: Sequence[RunReader], manifest: dict[str, Any]) -> None:
        self._readers, self._manifest = readers, manifest
        self._indexes = [reader.index() for reader in readers]

    def write(self, folder: Path) -> None:
        """Write everything; the manifest comes last, for a folder without one is no run."""
        agents = [agent["id"] for agent in self._manifest["agents"]]
        manifest = self._manifest
        keys = planned_keys(agents, manifest["tasks"], manifest["condition"], manifest["epochs"])
        with storage_errors(folder):
            folder.mkdir(parents=True)
        with RunWriter(folder) as writer:
            for key in keys:
                self._episode(key, writer)
            for reader in self._readers:
                for path in sorted((reader.folder / "blobs").glob("??/*")):
                    if not path.name.startswith("."):
                        writer.blob(path.name, path.read_bytes())
            for line in self._evidence():
                writer.evidence(line)
        write_atomically(folder / "run.json", [pretty_json(self._manifest)])

    def _episode(self, key: EpisodeKey, writer: RunWriter) -> None:
        """One episode's logs: the one that counts last, all others as earlier attempts."""
        target = episode_path(writer.folder, key)
        owner = self._owner(key)
        earlier: list[Path] = []
        for number, reader in enumerate(self._readers):
            path = episode_path(reader.folder, key)
            earlier += earlier_attempts(path)
            if path.exists() and key not in self._indexes[number]:
                earlier.append(path)
        spent: dict[str, float] = {}
        for attempt, path in enumerate(earlier, 1):
            _copy(path, attempt_path(target, attempt))
            spent = added(spent, counted(read_log(path).events))
        if owner is not None:
            _copy(episode_path(self._readers[owner].folder, key), target)
            line = self._indexes[owner][key]
            writer.enter(key, line["end"], len(earlier) + 1, line["events"], line["chain"], spent)

    def _owner(self, key: EpisodeKey) -> int | None:
        """The part whose log of an ended episode is taken; RecordError if others tell it differently."""
        owners = [number for number, index in enumerate(self._indexes) if key in index]
        if not owners:
            return None
        first, *others = owners
        for other in others:
            same = self._indexes[first][key]["chain"] == self._indexes[other][key]["chain"]
            if not same and self._content(first, key) != self._content(other, key):
                a, b = self._readers[first].log_path(key), self._readers[other].log_path(key)
                raise RecordError(f"{key.text()} was played twice with different outcomes: {a} and {b}")
        return first

    def _content(self, number: int, key: EpisodeKey) -> list[Event]:
        return [without_times(event) for event in self._readers[number].episode(key).events]

    def _evidence(self) -> Iterator[IndexLine]:
        """Evidence found after play: per task, design and executor the first without an error."""
        found: dict[tuple[str, str, str], IndexLine] = {}
        for reader in self._readers:
            for name, line in reader.evidence.items():
                if name not in found or ("error" in found[name] and "error" not in line):
                    found[name] = line
        yield from found.values()


def without_times(event: Event) -> dict[str, Any]:
    """What two events have to share to be equal: everything but times, durations and the chain."""
    return {name: value for name, value in event.items() if name not in ("time", "seconds", "prev")}


def _copy(source: Path, target: Path) -> None:
    with storage_errors(target):
        shutil.copyfile(source, target)
