"""design.json with design.glb beside it: reading and writing the release's format.

The GLB has one node per part, called as the part's id, in world coordinates with +Z up (no axes are swapped).
Without a GLB a design is made of its `programs` and of parts of the catalogue.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, NoReturn

from evalkit_lmbuild.csg import ProgramError
from evalkit_lmbuild.design import Design, Joint, Mesh, rotation_matrix
from evalkit_lmbuild.documents import design_of, document_of, program_meshes, vector
from evalkit_lmbuild.formats.errors import DesignError
from evalkit_lmbuild.formats.glb import read_glb, write_glb
from evalkit_lmbuild.legality import problems, short, unknown

MAX_BYTES = 64 << 20
"""Of a design.json: 80 parts with the longest programs fit."""

_FIELDS = ("system", "tier", "meta", "parts", "joints", "sequence", "programs")
_ENTRY_FIELDS = {
    "parts": ("id", "role", "material", "source", "n_triangles"),
    "joints": ("id", "type", "parent", "child", "axis", "origin", "limits"),
    "sequence": ("part", "direction"),
}
_SOURCE_FIELDS = ("kind", "id", "position", "rotation")


def read_design(path: Path, pool: Mapping[str, Mesh] | None = None) -> Design:
    """The design of a file design.json, or of a folder that holds one.

    A GLB of the same name beside it gives the meshes of all parts; without one they come from the file's
    `programs` and from `pool` (meshes of the catalogue by id). Raises DesignError.
    """
    if path.is_dir():
        path = path / "design.json"
    document = _document(path)
    meshes = path.with_suffix(".glb")
    return parse_design(document, pool, read_glb(meshes) if meshes.exists() else None, path.name)


def parse_design(
    document: object,
    pool: Mapping[str, Mesh] | None = None,
    world_meshes: Mapping[str, Mesh] | None = None,
    name: str = "the design",
) -> Design:
    """The design of a parsed design.json; `world_meshes` are its GLB's by part id. Raises DesignError."""
    known = pool or {}
    world = world_meshes or {}
    faults = problems(document, known=frozenset(known), meshes=frozenset(world))
    if faults:
        more = f" (and {len(faults) - 1} more faults)" if len(faults) > 1 else ""
        raise DesignError(f"{name}: {faults[0].message}{more}")
    assert isinstance(document, Mapping)
    _check_fields(document, name)
    try:
        design = design_of(document, _MeshOf(document, known, world, name))
    except ProgramError as error:
        raise DesignError(f"{name}: {error}") from None
    if cycle := joint_cycle(design.joints):
        raise DesignError(f"{name}: joints go round in a circle: {' → '.join(cycle)}; remove or reverse one")
    return replace(design, from_generator=bool(world) and _is_bare(design))


def _is_bare(design: Design) -> bool:
    """Whether a design has nothing that generators don't give; joints may have been completed."""
    return not design.sequence and all(
        part.source == "generated" and part.role is None and part.material is None for part in design.parts
    )


class _MeshOf:
    """Meshes in the parts' own frames: out of the GLB where there is one, else by program or catalogue."""

    def __init__(
        self, document: Mapping[str, Any], pool: Mapping[str, Mesh], world: Mapping[str, Mesh], name: str
    ) -> None:
        self._made = program_meshes(document.get("programs") or {}, pool)
        self._sources = {entry["id"]: entry["source"] for entry in document["parts"]}
        self._world = world
        self._name = name

    def __call__(self, part: str, kind: str, source: str) -> Mesh:
        if part in self._world:
            return _local(self._world[part], self._sources[part])
        if self._world:
            raise DesignError(f"{self._name}: the GLB has no node {part!r}; every part needs one")
        try:
            return self._made(part, kind, source)
        except ProgramError as error:
            raise DesignError(f"{self._name}: program {source!r}: {error}") from None


def _local(world: Mesh, source: Mapping[str, Any]) -> Mesh:
    """A mesh in world coordinates (m) brought into the frame that the part's position and rotation give."""
    position = vector(source.get("position") or (0, 0, 0))
    rotation = vector(source.get("rotation") or (0, 0, 0))
    moved = world.vertices - position
    return Mesh(moved if rotation == (0.0, 0.0, 0.0) else moved @ rotation_matrix(rotation), world.faces)


def _document(path: Path) -> object:
    try:
        if path.stat().st_size > MAX_BYTES:
            raise DesignError(f"{path.name}: it is larger than {MAX_BYTES >> 20} MiB, which no design is")
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it isn't UTF-8 text"
        raise DesignError(f"{path.name}: {reason}") from None
    return parse_json(text, path.name)


def parse_json(text: str, name: str) -> Any:
    """The JSON value in a text; DesignError for anything else, and for numbers that aren't finite."""
    try:
        return json.loads(text, parse_constant=_no_constant, parse_float=_finite)
    except json.JSONDecodeError as error:
        raise DesignError(f"{name}: it isn't JSON: {error.msg} at line {error.lineno}") from None
    except RecursionError:
        raise DesignError(f"{name}: it can't be read: it is nested too deep") from None
    except ValueError as error:
        reason = str(error) if "finite" in str(error) else "it holds a number of too many digits"
        raise DesignError(f"{name}: it can't be read: {reason}") from None


def _no_constant(text: str) -> NoReturn:
    raise ValueError(f"{text} is not a finite number")


def _finite(text: str) -> float:
    number = float(text)
    return number if math.isfinite(number) else _no_constant(short(text)[1:-1])


def _check_fields(document: Mapping[str, Any], name: str) -> None:
    """Refuse fields that the format doesn't have: what they mean would be lost."""
    _check_names(document, _FIELDS, name)
    if not isinstance(document.get("meta") or {}, Mapping):
        raise DesignError(f"{name}: meta has to be an object of texts")
    for key, allowed in _ENTRY_FIELDS.items():
        for number, entry in enumerate(document.get(key) or (), 1):
            _check_names(entry, allowed, f"{name}: {key} {number}")
    for number, entry in enumerate(document["parts"], 1):
        _check_names(entry["source"], _SOURCE_FIELDS, f"{name}: source of part {number}")


def _check_names(entry: Mapping[str, Any], allowed: tuple[str, ...], where: str) -> None:
    for key in entry:
        if key not in allowed:
            raise DesignError(f"{where}: {unknown('field', key, allowed)}")


def joint_cycle(joints: Iterable[Joint]) -> list[str]:
    """Parts along a circle of joints from parent to child, or nothing.

    Two chains that meet in one child (a four-bar linkage) are no such circle.
    """
    children: dict[str, list[str]] = {}
    for joint in joints:
        children.setdefault(joint.parent, []).append(joint.child)
    done: set[str] = set()
    for start in children:
        trail: list[str] = []
        waiting = [(start, False)]
        while waiting:
            part, left = waiting.pop()
            if left:
                trail.pop()
                done.add(part)
            elif part in trail:
                return [*trail[trail.index(part) :], part]
            elif part not in done:
                trail.append(part)
                waiting += [(part, True), *((child, False) for child in children.get(part, ()))]
    return []


def write_design(
    design: Design, folder: Path, programs: Mapping[str, Any] | None = None, system: str = "", tier: str = ""
) -> Path:
    """Write design.json and design.glb into a folder; gives the path of the first.

    `programs` are those of created parts by `Part.source_id`: with them the design can be read without the
    GLB too. Positions are rounded to float32 in the GLB only.
    """
    folder.mkdir(parents=True, exist_ok=True)
    write_glb({part.id: part.world for part in design.parts}, folder / "design.glb")
    document = document_of(design, programs or {}, system, tier)
    path = folder / "design.json"
    temporary = path.with_name("design.json.part")
    temporary.write_text(json.dumps(document, indent=1, allow_nan=False) + "\n", encoding="utf-8")
    temporary.replace(path)
    return path
