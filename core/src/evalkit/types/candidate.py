"""A complete design, what is wrong with it, and what happened when it was put to the test."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from evalkit.canonical import sha256_of


@dataclass(frozen=True, slots=True)
class Artifact:
    """A named file: a picture, a mesh, a save."""

    name: str
    data: bytes
    media_type: str = "application/octet-stream"


@dataclass(frozen=True, slots=True)
class Candidate:
    """A complete design as JSON, with files beside it where JSON won't do."""

    data: Mapping[str, Any]
    files: tuple[Artifact, ...] = ()

    @property
    def sha256(self) -> str:
        """Hash of the canonical JSON and of every file."""
        if not self.files:
            return sha256_of(self.data)
        from hashlib import sha256

        return sha256_of([self.data, {f.name: sha256(f.data).hexdigest() for f in self.files}])


@dataclass(frozen=True, slots=True)
class Violation:
    """One broken rule: what, which ids, the measured value, the limit; the message says what to do.

    An `advisory` violation is told to the agent and recorded, and doesn't make the design invalid.
    """

    code: str
    message: str
    ids: tuple[int | str, ...] = ()
    value: float | None = None
    limit: float | None = None
    advisory: bool = False


@dataclass(frozen=True, slots=True)
class Verdict:
    """What all validators of the protocol say of a candidate."""

    violations: tuple[Violation, ...] = ()

    @property
    def valid(self) -> bool:
        """True if nothing but advice was found."""
        return all(v.advisory for v in self.violations)


@dataclass(frozen=True, slots=True)
class Execution:
    """Evidence about a candidate from one executor.

    `success` is None where the executor gives evidence without a verdict. `data` is JSON and goes into
    the record; the environment decides what of it an agent sees. `artifacts` become blobs. `replay`
    holds what `feedback` needs beyond JSON (frames, say): never recorded, and None when an execution was
    read back from a record.
    """

    success: bool | None
    data: Mapping[str, Any] = field(default_factory=dict)
    artifacts: tuple[Artifact, ...] = ()
    executor: str = ""
    replay: object = None
