"""What is known of an object that is to be built: the public brief, and the hidden claims it is judged by.

The shapes follow the official task format. Names of components (`part`, `parts`, `moving_part` …) are plain
words such as "rear wheels"; the roles that designs give their parts are matched to them by a lexicon.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from evalkit_lmbuild.design import Design, Mesh, Vector


@dataclass(frozen=True)
class Condition:
    """How the brief is put: `id` one of name_only, attributes, functional, each optionally `+image`."""

    id: str
    text: str
    images: tuple[str, ...] = ()


@dataclass(frozen=True)
class RequiredPart:
    """A part the object can't do without, and why. `source` says where the claim comes from."""

    id: str
    part: str
    why: str
    source: str = ""


@dataclass(frozen=True)
class Attribute:
    """A statement about the object; `kind` such as material, dimension, count, colour."""

    id: str
    kind: str
    statement: str
    source: str = ""


@dataclass(frozen=True)
class Connection:
    """What passes between two components of a subsystem; `carries` is motion, force, load, material …"""

    start: str
    end: str
    carries: str


@dataclass(frozen=True)
class Subsystem:
    """Components that do a job together."""

    id: str
    subsystem: str
    function: str
    parts: tuple[str, ...]
    connections: tuple[Connection, ...] = ()
    source: str = ""


@dataclass(frozen=True)
class Motion:
    """A claimed motion. `axis` is a hint in words (axle, vertical, hinge edge …), `range` in rad or m."""

    id: str
    moving_part: str
    relative_to: str
    joint_type: str
    motion: str
    axis: str | None = None
    range: tuple[float, float] | None = None
    source: str = ""


@dataclass(frozen=True)
class MaterialClaim:
    """Material classes (see `materials`) that suit a component."""

    part: str
    classes: tuple[str, ...]
    source: str = ""


@dataclass(frozen=True)
class HumanCheck:
    """Predicates that a person's use of the object puts to it; each holds `pred` and its arguments."""

    id: str
    predicates: tuple[Mapping[str, object], ...]
    source: str = ""


@dataclass(frozen=True, eq=False)
class PoolPart:
    """A part of the catalogue that tiers A and B retrieve from; `size` in metres, world axes."""

    id: str
    name: str
    mesh: Mesh

    @property
    def size(self) -> Vector:
        """Extents of the bounding box, metres."""
        x, y, z = self.mesh.size.tolist()
        return (x, y, z)


@dataclass(frozen=True, eq=False)
class ObjectFacts:
    """An object: its brief (name, conditions, pool) and what it is judged by (everything else)."""

    id: str
    name: str
    conditions: tuple[Condition, ...]
    aliases: tuple[str, ...] = ()
    category: str = ""
    family: str = ""
    free_standing: bool = True
    required_parts: tuple[RequiredPart, ...] = ()
    attributes: tuple[Attribute, ...] = ()
    subsystems: tuple[Subsystem, ...] = ()
    motions: tuple[Motion, ...] = ()
    materials: tuple[MaterialClaim, ...] = ()
    human_checks: tuple[HumanCheck, ...] = ()
    pool: tuple[PoolPart, ...] = ()
    reference: Design | None = None
