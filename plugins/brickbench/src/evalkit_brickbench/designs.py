"""A design is an LDraw file; this is how it travels as a candidate."""

from __future__ import annotations

import hashlib

from evalkit import Artifact, Candidate
from evalkit_brickbench.inspection import Inspection, Reading, inspected, read_model
from evalkit_brickbench.settings import BrickSettings

MEDIA_TYPE = "text/plain"


def candidate_of(name: str, data: bytes) -> Candidate:
    """The candidate that a file holds."""
    digest = hashlib.sha256(data).hexdigest()
    return Candidate({"file": name, "sha256": digest}, (Artifact(name, data, MEDIA_TYPE),))


def look(candidate: Candidate, settings: BrickSettings, *, stand: bool) -> Inspection:
    """The checks on a candidate; LDrawError if its file can't be used."""
    file = candidate.files[0]
    return inspected(file.data, file.name, settings.protocol(), stand=stand)


def read(candidate: Candidate, settings: BrickSettings) -> Reading:
    """The candidate read and put together, without checks; LDrawError if its file can't be used."""
    file = candidate.files[0]
    return read_model(file.data, file.name, settings.protocol())
