"""Reading a run folder."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from functools import cached_property
from itertools import islice
from pathlib import Path
from sys import intern
from typing import Any

from evalkit.errors import RecordError, did_you_mean
from evalkit.jsonfiles import parse_json, parse_lines, read_file, require_regular
from evalkit.store import RECORD_VERSION
from evalkit.store.logs import episode_path
from evalkit.store.planned import Shard, planned_keys
from evalkit.store.shapes import end_fault, event_fault, evidence_fault, manifest_fault
from evalkit.types import Episode, EpisodeKey
from evalkit.types.record import is_reference

#: Lines of the index that are parsed together; few enough brackets to be no deep nesting.
LINES_AT_ONCE = 24
#: Longest index or file of evidence that is read, in bytes.
MAX_INDEX_BYTES = 2**30
_SHA256 = re.compile(r"[0-9a-f]{64}")

IndexLine = dict[str, Any]


class RunReader:
    """A run folder, read lazily."""

    def __init__(self, folder: Path) -> None:
        """RecordError if the folder isn't a run, its manifest is damaged, or a newer evalkit wrote it."""
        self.folder = folder
        self.manifest = _read_manifest(folder)

    @property
    def name(self) -> str:
        """The run's name."""
        return str(self.manifest["run"])

    def planned(self) -> list[EpisodeKey]:
        """Every episode the run was to play, in order."""
        manifest = self.manifest
        part = manifest.get("shard")
        shard = Shard(part["number"], part["count"]) if part else None
        agents = [agent["id"] for agent in manifest["agents"]]
        return planned_keys(agents, manifest["tasks"], manifest["condition"], manifest["epochs"], shard)

    def index(self) -> dict[EpisodeKey, IndexLine]:
        """The last line per finished episode; torn lines are passed over (`evalkit verify` names them)."""
        path = self.folder / "episodes.jsonl"
        lines: dict[EpisodeKey, IndexLine] = {}
        ends: dict[str, Any] = {}
        try:
            for line in _json_lines(path):
                key, end = line.pop("key"), line["end"]
                epoch = key["epoch"]
                names = (intern(key["agent"]), intern(key["task"]), intern(key["condition"]))
                # most ends are alike: keeping one of each halves the memory of a long run
                text = repr(end)
                if type(epoch) is not int or (text not in ends and end_fault(end)):
                    raise TypeError("an entry has fields of other types")
                line["end"] = ends.setdefault(text, end)
                lines[EpisodeKey(*names, epoch)] = line
        except (KeyError, TypeError, AttributeError) as error:
            raise RecordError(
                f"{path} has a line that names no episode and its end; `evalkit verify` says which"
            ) from error
        return lines

    def episode(self, key: EpisodeKey) -> Episode:
        """One finished episode; RecordError if its log is missing, unreadable or damaged."""
        path = self.log_path(key)
        events = []
        for number, line in enumerate(_bytes_of(path).split(b"\n"), 1):
            if line:
                try:
                    event = parse_json(line)
                except ValueError as error:
                    raise RecordError(f"{path}:{number}: not JSON: {error}") from error
                if fault := event_fault(event):
                    raise RecordError(f"{path}:{number}: not an event: {fault}")
                events.append(event)
        if not events or events[-1]["kind"] != "episode_end":
            raise RecordError(f"{path}: the log has no end; `evalkit resume {self.name}` plays it again")
        return Episode(key, events, events[-1], self.load, self.evidence)

    @cached_property
    def evidence(self) -> dict[tuple[str, str, str], IndexLine]:
        """(task, candidate sha256, executor id) → the last evidence gathered after play."""
        path = self.folder / "evidence.jsonl"
        found: dict[tuple[str, str, str], IndexLine] = {}
        for line in _json_lines(path):
            if fault := evidence_fault(line):
                raise RecordError(f"{path} has a line that is no evidence: {fault}")
            found[line["task"], line["candidate_sha256"], line["executor"]] = line
        return found

    def log_path(self, key: EpisodeKey) -> Path:
        """The file of an episode's events."""
        return episode_path(self.folder, key)

    def load(self, value: Any) -> Any:
        """The value behind a reference to a blob, or the value itself; RecordError if the blob is damaged."""
        if not is_reference(value):
            return value
        data = self.blob(value["blob"])
        try:
            return parse_json(data)
        except ValueError as error:
            raise RecordError(f"{self.blob_path(value['blob'])}: not JSON: {error}") from error

    def blob(self, sha256: str) -> bytes:
        """The bytes of a blob; RecordError if it is missing or isn't what its name says.

        With the hash, a link that leads out of the record gives nothing that its maker hadn't got already.
        """
        path = self.blob_path(sha256)
        data = _bytes_of(path)
        if hashlib.sha256(data).hexdigest() != sha256:
            raise RecordError(f"{path}: its content has another hash; `evalkit verify` says what is damaged")
        return data

    def blob_path(self, sha256: str) -> Path:
        """The file of a blob; RecordError if that is no hash."""
        if not isinstance(sha256, str) or not _SHA256.fullmatch(sha256):
            raise RecordError(f"{self.folder}: {sha256!r} is no hash of a blob; the record was tampered with")
        return self.folder / "blobs" / sha256[:2] / sha256

    @cached_property
    def settings(self) -> dict[str, Any]:
        """The protocol settings of the suite."""
        settings: dict[str, Any] = self.manifest["protocol"]["settings"]
        return settings


def _bytes_of(path: Path) -> bytes:
    try:
        return read_file(path)
    except OSError as error:
        raise RecordError(f"{path}: {error.strerror}; `evalkit verify` says what is damaged") from error


def _json_lines(path: Path) -> Iterator[IndexLine]:
    """The lines of a file that may not exist; torn ones are passed over."""
    try:
        require_regular(path, MAX_INDEX_BYTES)
        with open(path, encoding="utf-8", errors="replace", newline="\n") as file:
            while batch := list(islice(file, LINES_AT_ONCE)):
                yield from _parsed(batch)
    except FileNotFoundError:
        return
    except OSError as error:
        raise RecordError(f"can't read {path}: {error.strerror}") from error


def _parsed(lines: list[str]) -> Iterator[IndexLine]:
    """The JSON values of lines; torn lines are passed over."""
    try:
        values = parse_lines(lines)
    except ValueError:
        values = list(_parsed_singly(lines))
    yield from values


def _parsed_singly(lines: list[str]) -> Iterator[IndexLine]:
    for line in lines:
        try:
            yield parse_json(line)
        except ValueError:
            continue


def _read_manifest(folder: Path) -> dict[str, Any]:
    path = folder / "run.json"
    try:
        manifest = parse_json(read_file(path))
    except FileNotFoundError as error:
        raise RecordError(f"{folder} is not a run: it has no run.json") from error
    except NotADirectoryError as error:
        raise RecordError(f"{folder} is not a folder") from error
    except OSError as error:
        raise RecordError(f"can't read {path}: {error.strerror}") from error
    except ValueError as error:
        raise RecordError(f"{path} is not JSON: {error}") from error
    version = manifest.get("record_version") if isinstance(manifest, dict) else None
    if not isinstance(version, int) or isinstance(version, bool):
        raise RecordError(f"{path} was not written by evalkit: it has no record_version")
    if version > RECORD_VERSION:
        raise RecordError(
            f"{path} has record version {version}; this evalkit reads up to {RECORD_VERSION}: upgrade it"
        )
    if fault := manifest_fault(manifest):
        raise RecordError(f"{path} is damaged: {fault}")
    return dict(manifest)


def find_runs(root: Path) -> list[Path]:
    """The run folders under `root`, oldest first."""
    try:
        if not root.is_dir():
            return []
        return sorted((p.parent for p in root.glob("*/run.json")), key=lambda p: p.name)
    except OSError as error:
        raise RecordError(f"can't read {root}: {error.strerror}") from error


def find_run(text: str | None, root: Path) -> Path:
    """A run by path, by name or unambiguous beginning of a name under `root`, or the `latest`.

    RecordError if there is none or several, or if a folder on the way can't be read.
    """
    try:
        return _found_run(text, root)
    except OSError as error:
        name = (text or "latest")[:200]
        raise RecordError(f"can't look for the run {name!r}: {error.strerror}") from error


def _found_run(text: str | None, root: Path) -> Path:
    if text and text != "latest" and (Path(text) / "run.json").is_file():
        return Path(text)
    runs = find_runs(root)
    if not text or text == "latest":
        if not runs:
            raise RecordError(f"there is no run under {root}; name a run's folder")
        return max(runs, key=lambda p: (p / "run.json").stat().st_mtime_ns)
    matching = [p for p in runs if p.name == text] or [p for p in runs if p.name.startswith(text)]
    if len(matching) == 1:
        return matching[0]
    if matching:
        raise RecordError(f"{text!r} fits {len(matching)} runs: {', '.join(p.name for p in matching[:4])}")
    if Path(text).exists():
        return Path(text)
    near = did_you_mean(text, [p.name for p in runs])
    hint = f"; did you mean {near[0]}?" if near else f" under {root}"
    raise RecordError(f"there is no run {text!r}{hint}")
