"""What a check finds, and the reading of files that anyone may have changed."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from evalkit_polybridge import strictjson
from evalkit_polybridge.release.scrub import field_text

#: Longest file of a release that is read, in bytes; pictures and trajectories are far shorter.
MAX_FILE_BYTES = 256 * 2**20


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing wrong: what kind, in which file (below the release), and what."""

    kind: str
    file: str
    message: str

    def text(self) -> str:
        """The finding in one line."""
        return " ".join(f"{self.kind}: {self.file}: {self.message}".split())


@dataclass(slots=True)
class Report:
    """Everything found in a release; `notes` are what could not be looked at, and no fault."""

    folder: Path
    findings: list[Finding] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    files: int = 0
    episodes: int = 0
    simulated: int = 0

    @property
    def clean(self) -> bool:
        """Whether nothing is wrong."""
        return not self.findings

    def find(self, kind: str, file: str, message: str) -> None:
        """Take note of something wrong."""
        self.findings.append(Finding(kind, file, message))

    def only(self, file: str, document: Mapping[str, Any], names: Iterable[str]) -> None:
        """Find fields that such a document doesn't have, and miss those that it has."""
        for name in sorted(document.keys() ^ set(names)):
            what = "has a field that no release has" if name in document else "lacks a field"
            self.find("form", file, f"{what}: {name!r}")

    @contextmanager
    def guarded(self, file: str) -> Iterator[None]:
        """Turn what a malformed document does to its reader into a finding."""
        try:
            yield
        except OSError as error:
            self.find("form", file, f"can't be read: {error.strerror}")
        except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
            self.find("form", file, f"is not in the form of a release ({type(error).__name__}: {error})")

    def as_json(self) -> dict[str, Any]:
        """The report as `--json` prints it."""
        counts = {name: getattr(self, name) for name in ("files", "episodes", "simulated")}
        findings = [asdict(finding) for finding in self.findings]
        return {"clean": self.clean, **counts, "findings": findings, "notes": self.notes}


def read_bytes(path: Path) -> bytes:
    """A regular file's content; OSError for anything else, ValueError if it is too long."""
    if path.is_symlink() or not path.is_file():
        raise OSError(0, "it is no regular file", str(path))
    if path.stat().st_size > MAX_FILE_BYTES:
        raise ValueError(f"it is longer than {MAX_FILE_BYTES} bytes")
    return path.read_bytes()


def read_json(data: bytes) -> Any:
    """The JSON value that a file consists of; ValueError for anything else."""
    return strictjson.loads(data.decode())


def listed(folder: Path) -> list[str]:
    """All files and links below a folder by their paths from it with `/`, sorted."""
    found = []
    for parent, folders, names in os.walk(folder):
        links = [name for name in folders if (Path(parent) / name).is_symlink()]
        found += [(Path(parent) / name).relative_to(folder).as_posix() for name in [*names, *links]]
    return sorted(found)


def is_picture(path: str) -> bool:
    """Whether a file is one of the pictures, by its name."""
    return path.endswith(".png")


def texts_in(path: str, data: bytes) -> Iterator[str]:
    """The texts of a file: the strings and names of a JSON document, any other text as a whole."""
    if is_picture(path):
        return
    text = data.decode(errors="replace")
    if path.endswith(".json"):
        try:
            yield from _strings(json.loads(text))
        except (ValueError, RecursionError):
            yield text
        return
    yield text


def _strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for name, inner in value.items():
            # name and text together: a header is known by its name
            yield field_text(name, inner) if isinstance(inner, str) else name
            yield from _strings(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _strings(inner)
