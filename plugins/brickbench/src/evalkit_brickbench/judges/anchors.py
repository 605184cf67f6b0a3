"""Anchors: the systems that fix the scale of ratings, as a named file whose hash goes with the numbers."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from evalkit import UsageError
from evalkit_brickbench.judges.entrants import Build

NOT_COMPARABLE = (
    "not comparable with the published table, whose anchors' builds aren't published: ratings depend on them"
)


@dataclass(frozen=True, slots=True)
class Anchors:
    """`systems` fix the scale; `builds` are SHA-256 of their model files by system and task, where given."""

    name: str
    sha256: str
    systems: tuple[str, ...]
    builds: Mapping[str, Mapping[str, str]]


def read_anchors(path: Path) -> Anchors:
    """Read `{"name": …, "systems": [name, …], "builds": {system: {task: sha256}}}`; builds may be left out.

    UsageError if it can't be read or is something else.
    """
    try:
        content = path.read_bytes()
        found = json.loads(content)
    except OSError as error:
        raise UsageError(f"can't read {path}: {error.strerror}") from error
    except (ValueError, RecursionError) as error:
        raise UsageError(f"{path} isn't JSON: {error}") from error
    if not _is_sound(found):
        raise UsageError(
            f'{path}: wanted {{"name": text, "systems": [names, two or more], "builds": {{system: {{task: '
            "sha256}}}, of which builds may be left out"
        )
    digest = hashlib.sha256(content).hexdigest()
    return Anchors(found["name"], digest, tuple(found["systems"]), found.get("builds", {}))


def check_anchors(anchors: Anchors, entrants: Mapping[str, Mapping[str, Build]]) -> None:
    """UsageError if an anchor is not in the arena, or comes with another build than the file names."""
    present = {system for builds in entrants.values() for system in builds}
    if missing := sorted(set(anchors.systems) - present):
        there = ", ".join(sorted(present)) or "nobody"
        raise UsageError(f"the anchors {', '.join(missing)} have no builds in these runs; there are {there}")
    for system, builds in sorted(anchors.builds.items()):
        for task, sha256 in sorted(builds.items()):
            build = entrants.get(task, {}).get(system)
            if build is not None and build.sha256 != sha256:
                raise UsageError(f"{system} on {task} is another build than the anchors' file names")


def _is_sound(found: Any) -> bool:
    if not isinstance(found, dict) or not {"name", "systems"} <= found.keys() <= {
        "name",
        "systems",
        "builds",
    }:
        return False
    systems, builds = found["systems"], found.get("builds", {})
    return (
        isinstance(found["name"], str)
        and isinstance(systems, list)
        and all(isinstance(name, str) for name in systems)
        and len(set(systems)) > 1
        and isinstance(builds, dict)
        and all(isinstance(b, dict) and all(map(_is_text, b.values())) for b in builds.values())
    )


def _is_text(value: Any) -> bool:
    return isinstance(value, str)
