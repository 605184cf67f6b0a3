"""Checking a run folder against itself: chains, index, plan, limits, blobs. Nothing is played or scored.

What contradicts the rest is damage; what a killed writer leaves behind, and a resumed run mends, is a note.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Literal

from evalkit.canonical import sha256_of
from evalkit.errors import RecordError
from evalkit.jsonfiles import parse_json, read_file
from evalkit.store import RECORD_VERSION
from evalkit.store.limits import LimitCheck
from evalkit.store.lock import refuse_if_written
from evalkit.store.logs import LogReading, attempt_path, blob_references, episode_path, read_log
from evalkit.store.reader import MAX_INDEX_BYTES, RunReader
from evalkit.store.shapes import entry_fault, evidence_fault, manifest_fault
from evalkit.store.writer import spent_in
from evalkit.types import EpisodeKey

_LOG_NAME = re.compile(r"(?P<stem>[A-Za-z0-9_-]+)(?:\.attempt(?P<attempt>[1-9]\d*))?\.jsonl")


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing found: where (a file below the run folder, a line from 1), and what."""

    level: Literal["damage", "note"]
    file: str
    line: int | None
    message: str

    def text(self) -> str:
        """The finding in one line."""
        return f"{self.level}: {self.file}{f':{self.line}' if self.line else ''}: {self.message}"


@dataclass(slots=True)
class Verification:
    """All findings about a run, and what was looked at."""

    run: str
    findings: list[Finding] = field(default_factory=list)
    planned: int = 0
    ended: int = 0
    events: int = 0
    blobs: int = 0

    @property
    def clean(self) -> bool:
        """Whether nothing is damaged."""
        return all(finding.level != "damage" for finding in self.findings)

    def as_json(self) -> dict[str, Any]:
        """The verification as `evalkit verify --json` prints it."""
        counts = {name: getattr(self, name) for name in ("planned", "ended", "events", "blobs")}
        findings = [asdict(finding) for finding in self.findings]
        return {"run": self.run, "clean": self.clean, **counts, "findings": findings}


def verify_run(folder: Path) -> Verification:
    """Check a run folder; RecordError if it isn't one, or a newer evalkit's."""
    found = Verification(folder.name)
    faults = list(_manifest_faults(folder / "run.json"))
    found.findings += [Finding("damage", "run.json", None, fault) for fault in faults]
    if not faults:
        _Check(RunReader(folder), found).run()
    return found


def _manifest_faults(path: Path) -> Iterator[str]:
    """What is wrong with a manifest; a foreign, newer or unreadable one is left to the reader to refuse."""
    try:
        manifest = parse_json(read_file(path))
    except ValueError as error:
        yield f"not JSON: {error}"
        return
    except OSError:
        return
    version = manifest.get("record_version") if isinstance(manifest, dict) else None
    if type(version) is not int or version > RECORD_VERSION:
        return
    if fault := manifest_fault(manifest):
        yield fault
    elif sha256_of(manifest["protocol"]) != manifest["protocol_hash"]:
        yield "protocol_hash is not the hash of the protocol"
    elif manifest["condition"] != manifest["protocol"]["condition"]:
        yield f"condition is {manifest['condition']!r}, the protocol's {manifest['protocol']['condition']!r}"


class _Check:
    def __init__(self, reader: RunReader, found: Verification) -> None:
        self._reader, self._found = reader, found
        self._folder = reader.folder
        self._planned = {key: number for number, key in enumerate(reader.planned())}
        self._entries: dict[EpisodeKey, dict[int, tuple[int, dict[str, Any]]]] = {}
        self._references: dict[str, tuple[str, int, int | None]] = {}
        self._designs: set[str] = set()
        self._limits = LimitCheck(reader.manifest["protocol"]["limits"])

    def run(self) -> None:
        try:
            refuse_if_written(self._folder)
        except RecordError as error:
            self._note("run.lock", None, str(error))
        self._index()
        self._episodes()
        self._evidence()
        self._blobs()

    def _damage(self, path: Path | str, line: int | None, message: str) -> None:
        self._found.findings.append(Finding("damage", self._name(path), line, message))

    def _note(self, path: Path | str, line: int | None, message: str) -> None:
        self._found.findings.append(Finding("note", self._name(path), line, message))

    def _name(self, path: Path | str) -> str:
        return path if isinstance(path, str) else path.relative_to(self._folder).as_posix()

    # The index

    def _index(self) -> None:
        path = self._folder / "episodes.jsonl"
        for number, line in self._json_lines(path):
            if fault := entry_fault(line):
                self._damage(path, number, f"not an entry of the index: {fault}")
                continue
            key = EpisodeKey(*(line["key"][name] for name in ("agent", "task", "condition", "epoch")))
            entries = self._entries.setdefault(key, {})
            if key not in self._planned:
                self._damage(path, number, f"{key.text()} is no planned episode{self._stranger(key)}")
            elif entries and line["attempt"] <= max(entries):
                first = max(number for number, _ in entries.values())
                self._damage(path, number, f"{key.text()} is listed already, in line {first}")
            entries.setdefault(line["attempt"], (number, line))
        self._found.planned = len(self._planned)
        self._found.ended = len(self._entries.keys() & self._planned.keys())
        if self._found.ended < self._found.planned:
            missing = self._found.planned - self._found.ended
            self._note(path, None, f"{missing} of {self._found.planned} planned episodes have not ended")

    def _stranger(self, key: EpisodeKey) -> str:
        """What of an unplanned key the run doesn't have."""
        agents = [agent["id"] for agent in self._reader.manifest["agents"]]
        condition = self._reader.manifest["condition"]
        if key.agent not in agents:
            return f": the run has no agent {key.agent!r}"
        return "" if key.condition == condition else f": the run's condition is {condition!r}"

    def _json_lines(self, path: Path) -> Iterator[tuple[int, Any]]:
        """Numbered JSON values of a file's lines; torn and damaged lines are findings."""
        if not path.exists():
            return
        try:
            *whole, rest = read_file(path, MAX_INDEX_BYTES).split(b"\n")
        except OSError as error:
            self._damage(path, None, f"can't be read: {error.strerror}")
            return
        for number, line in enumerate(whole, 1):
            try:
                yield number, parse_json(line)
            except ValueError:
                self._damage(path, number, "not JSON")
        if rest:
            self._note(path, len(whole) + 1, "torn last line: its writer was killed")

    # Logs

    def _episodes(self) -> None:
        stems = {key.file_stem(): key for key in self._planned}
        logs: dict[EpisodeKey, list[int]] = {}
        for path in sorted((self._folder / "episodes").glob("*")):
            match = _LOG_NAME.fullmatch(path.name)
            if match is None:
                self._note(path, None, "not part of the record")
            elif match["stem"] not in stems:
                self._damage(path, None, "the log of no planned episode")
            else:
                logs.setdefault(stems[match["stem"]], []).append(int(match["attempt"] or 0))
        for key in self._planned:
            if key in logs or key in self._entries:
                self._attempts(key, sorted(logs.get(key, [])))
        for file, line, message in self._limits.tool_calls():
            self._damage(file, line, message)

    def _attempts(self, key: EpisodeKey, numbers: list[int]) -> None:
        """All logs of one episode; `numbers` are those of earlier attempts, and 0 for the last one."""
        path = episode_path(self._folder, key)
        earlier = [number for number in numbers if number]
        logs = {number: attempt_path(path, number) for number in earlier}
        if earlier != list(range(1, len(earlier) + 1)):
            self._damage(path, None, f"logs of earlier attempts have gaps: {earlier}")
        if 0 in numbers:
            logs[max(earlier, default=0) + 1] = path
        entries = self._entries.get(key, {})
        for attempt, (number, entry) in entries.items():
            if attempt not in logs:
                self._damage(
                    "episodes.jsonl", number, f"the log of {key.text()}, attempt {attempt}, is missing"
                )
            elif attempt > 1 and entry.get("spent_before") != spent_in(logs[n] for n in range(1, attempt)):
                self._damage("episodes.jsonl", number, "spent_before isn't what earlier attempts spent")
        for attempt, log in logs.items():
            self._log(key, log, entries.get(attempt, (None, None))[1])

    def _log(self, key: EpisodeKey, path: Path, entry: dict[str, Any] | None) -> None:
        try:
            reading = read_log(path)
        except RecordError as error:
            self._damage(path, None, str(error))
            return
        for line, message in reading.faults:
            self._damage(path, line, message)
        self._walk(key, path, reading)
        self._collect(path, reading)
        last = reading.lines[-1] if reading.lines else 0
        for message in self._limits.look(self._name(path), reading):
            self._damage(path, last or None, message)
        if entry is not None:
            for message in _contradictions(entry, reading):
                self._damage(path, last or None, message)
            if reading.torn is not None:
                self._damage(path, reading.torn, "torn last line in the log of an episode that has ended")
            return
        if reading.torn is not None:
            self._note(path, reading.torn, "torn last line: its writer was killed")
        if reading.end is not None:
            self._note(path, last, "ended, but not in the index; `evalkit resume` enters it")
        else:
            self._note(path, last or None, f"interrupted after {len(reading.events)} events")

    def _walk(self, key: EpisodeKey, path: Path, reading: LogReading) -> None:
        """The order that every log keeps: a start with the right key and seed, an end and nothing after."""
        for position, (line, event) in enumerate(zip(reading.lines, reading.events, strict=True)):
            if (event["kind"] == "episode_start") != (position == 0):
                self._damage(path, line, "the first event has to be the only episode_start")
            elif event["kind"] == "episode_end" and position < len(reading.events) - 1:
                self._damage(path, line, "events follow the end of the episode")
        if reading.events:
            start = reading.events[0]
            if start.get("key", key.as_dict()) != key.as_dict():
                self._damage(path, reading.lines[0], "belongs to another episode")
            elif start.get("seed") != key.seed(self._reader.manifest["seed"]):
                self._damage(path, reading.lines[0], "the seed is not the one that the run's seed gives")

    def _collect(self, path: Path, reading: LogReading) -> None:
        self._found.events += len(reading.events)
        for line, event in zip(reading.lines, reading.events, strict=True):
            try:
                references = list(blob_references(event))
                design = str(event["candidate"]["sha256"]) if event.get("candidate") else None
            except (KeyError, TypeError, AttributeError):
                self._damage(path, line, f"not an event of kind {event['kind']}")
                continue
            if design is not None:
                self._designs.add(design)
            for sha256, size in references:
                self._references.setdefault(sha256, (self._name(path), line, size))

    def _evidence(self) -> None:
        path = self._folder / "evidence.jsonl"
        for number, line in self._json_lines(path):
            if fault := evidence_fault(line):
                self._damage(path, number, f"not the evidence of an executor: {fault}")
                continue
            if line["candidate_sha256"] not in self._designs:
                self._damage(path, number, "evidence about a design that no episode made")
            for sha256, size in blob_references({"kind": "execution", **line}):
                self._references.setdefault(sha256, (self._name(path), number, size))

    # Blobs

    def _blobs(self) -> None:
        present = {path.name: path for path in sorted((self._folder / "blobs").glob("*/*"))}
        for sha256, (file, line, size) in self._references.items():
            path = present.get(sha256)
            if path is None or path.parent.name != sha256[:2]:
                self._damage(file, line, f"the blob {sha256} is missing")
                continue
            try:
                data = read_file(path)
            except OSError as error:
                self._damage(path, None, f"can't be read: {error.strerror}")
                continue
            if hashlib.sha256(data).hexdigest() != sha256:
                self._damage(path, None, f"its content has another hash (referred to in {file}:{line})")
            elif size is not None and size != len(data):
                self._damage(file, line, f"the blob {sha256} has {len(data)} bytes, not {size}")
        for name in sorted(present.keys() - self._references.keys()):
            self._note(present[name], None, "no event refers to it")
        self._found.blobs = len(self._references)


def _contradictions(entry: Mapping[str, Any], reading: LogReading) -> Iterator[str]:
    """Where the index and the log of an episode that has ended disagree."""
    if reading.end is None:
        yield f"the index lists its end, but the log stops after {len(reading.events)} events"
        return
    if entry["events"] != len(reading.events):
        yield f"the index counts {entry['events']} events, the log has {len(reading.events)}"
    if entry["chain"] != reading.chain:
        yield "the chain ends with another hash than in the index"
    for name in ("reason", "counters", "detail"):
        if entry["end"].get(name) != reading.end.get(name):
            yield f"{name} of the end differs from the index"
