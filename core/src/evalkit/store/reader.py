"""Reading a run folder."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from functools import cached_property
from itertools import islice
from pathlib import Path
from sys import intern
from typing import Any

from evalkit.errors import RecordError, did_you_mean
from evalkit.store import RECORD_VERSION
from evalkit.store.logs import episode_path
from evalkit.store.planned import Shard, planned_keys
from evalkit.types import Episode, EpisodeKey
from evalkit.types.record import is_reference

#: Lines of the index that are parsed together.
LINES_AT_ONCE = 1000
_SHA256 = re.compile(r"[0-9a-f]{64}")

IndexLine = dict[str, Any]


class RunReader:
    """A run folder, read lazily."""

    def __init__(self, folder: Path) -> None:
        """RecordError if the folder isn't a run or was written by a newer evalkit."""
        self.folder = folder
        self.manifest = _read_manifest(folder)

    @property
    def name(self) -> str:
        """The run's name."""
        return str(self.manifest["run"])

    def planned(self) -> list[EpisodeKey]:
        """Every episode the run was to play, in order."""
        manifest = self.manifest
        shard = Shard(**manifest["shard"]) if manifest.get("shard") else None
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
                names = (intern(key["agent"]), intern(key["task"]), intern(key["condition"]))
                # most ends are alike: keeping one of each halves the memory of a long run
                line["end"] = ends.setdefault(repr(end), end)
                lines[EpisodeKey(*names, key["epoch"])] = line
        except (KeyError, TypeError, AttributeError) as error:
            raise RecordError(
                f"{path} has a line that names no episode; `evalkit verify` says which"
            ) from error
        return lines

    def episode(self, key: EpisodeKey) -> Episode:
        """One finished episode; RecordError if its log is missing or unreadable."""
        path = self.log_path(key)
        try:
            raw = path.read_bytes()
        except OSError as error:
            raise RecordError(f"{path}: {error.strerror}; `evalkit verify` says what is damaged") from error
        events = []
        for number, line in enumerate(raw.split(b"\n"), 1):
            if line:
                try:
                    events.append(json.loads(line))
                except ValueError as error:
                    raise RecordError(f"{path}:{number}: not JSON: {error}") from error
        if not events or events[-1].get("kind") != "episode_end":
            raise RecordError(f"{path}: the log has no end; `evalkit resume {self.name}` plays it again")
        return Episode(key, events, events[-1], self.load, self.evidence)

    @cached_property
    def evidence(self) -> dict[tuple[str, str], IndexLine]:
        """(candidate sha256, executor id) → the last evidence gathered after play."""
        lines = _json_lines(self.folder / "evidence.jsonl")
        return {(line["candidate_sha256"], line["executor"]): line for line in lines}

    def log_path(self, key: EpisodeKey) -> Path:
        """The file of an episode's events."""
        return episode_path(self.folder, key)

    def load(self, value: Any) -> Any:
        """The value behind a reference to a blob, or the value itself."""
        if is_reference(value):
            return json.loads(self.blob(value["blob"]))
        return value

    def blob(self, sha256: str) -> bytes:
        """The bytes of a blob; RecordError if it is missing."""
        path = self.blob_path(sha256)
        try:
            return path.read_bytes()
        except OSError as error:
            raise RecordError(f"{path}: {error.strerror}; `evalkit verify` says what is damaged") from error

    def blob_path(self, sha256: str) -> Path:
        """The file of a blob; RecordError if that is no hash."""
        if not _SHA256.fullmatch(sha256):
            raise RecordError(f"{self.folder}: {sha256!r} is no hash of a blob; the record was tampered with")
        return self.folder / "blobs" / sha256[:2] / sha256

    @cached_property
    def settings(self) -> dict[str, Any]:
        """The protocol settings of the suite."""
        settings: dict[str, Any] = self.manifest["protocol"]["settings"]
        return settings


def _json_lines(path: Path) -> Iterator[IndexLine]:
    """The lines of a file that may not exist; torn ones are passed over."""
    if not path.exists():
        return
    with open(path, encoding="utf-8", errors="replace", newline="\n") as file:
        while batch := list(islice(file, LINES_AT_ONCE)):
            yield from _parsed(batch)


def _parsed(lines: list[str]) -> Iterator[IndexLine]:
    """The JSON values of lines; together that takes half the time, if none is torn."""
    try:
        values = json.loads(f"[{','.join(lines)}]")
    except ValueError:
        values = []
    if len(values) == len(lines):
        yield from values
        return
    for line in lines:
        try:
            yield json.loads(line)
        except ValueError:
            continue


def _read_manifest(folder: Path) -> dict[str, Any]:
    path = folder / "run.json"
    try:
        manifest = json.loads(path.read_bytes())
    except FileNotFoundError as error:
        raise RecordError(f"{folder} is not a run: it has no run.json") from error
    except NotADirectoryError as error:
        raise RecordError(f"{folder} is not a folder") from error
    except OSError as error:
        raise RecordError(f"can't read {path}: {error.strerror}") from error
    except (ValueError, RecursionError) as error:
        raise RecordError(f"{path} is not JSON: {error}") from error
    version = manifest.get("record_version") if isinstance(manifest, dict) else None
    if not isinstance(version, int) or isinstance(version, bool):
        raise RecordError(f"{path} was not written by evalkit: it has no record_version")
    if version > RECORD_VERSION:
        raise RecordError(
            f"{path} has record version {version}; this evalkit reads up to {RECORD_VERSION}: upgrade it"
        )
    return dict(manifest)


def find_runs(root: Path) -> list[Path]:
    """The run folders under `root`, oldest first."""
    if not root.is_dir():
        return []
    return sorted((p.parent for p in root.glob("*/run.json")), key=lambda p: p.name)


def find_run(text: str | None, root: Path) -> Path:
    """A run by path, by name or unambiguous beginning of a name under `root`, or the `latest`."""
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
