"""Where the embedded objects are written: solids as expressions, parts placed in the world, claims beside
them.

    seat = cylinder(0.15, 0.03)
    stool = Object("milking_stool", "milking stool", family="static_load", category="seat")
    stool.part("seat", seat, at=(0, 0, 0.385), role="seat", material="solid_wood_hardwood")
    stool.write(folder)

A solid is written in its own coordinates and keeps them: `at` is where its own origin goes, `turn` turns it
about the origin before. Parts of one shape share a program. Lengths in m, angles in degrees.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from sizes import OTHERS, OTHERS_PER_USED, USED, draw, factors

from evalkit_lmbuild.csg import compile_program
from evalkit_lmbuild.design import Vector, rotation_matrix

OBJECTS = Path(__file__).parents[1] / "src" / "evalkit_lmbuild" / "tasks" / "objects"


@dataclass(frozen=True)
class Solid:
    """An operation on other solids; `fields` are those of the program's node."""

    op: str
    fields: tuple[tuple[str, Any], ...] = ()
    inputs: tuple[Solid, ...] = ()

    def __add__(self, other: Solid) -> Solid:
        return Solid("union", (), (self, other))

    def __sub__(self, other: Solid) -> Solid:
        return Solid("difference", (), (self, other))

    def __and__(self, other: Solid) -> Solid:
        return Solid("intersection", (), (self, other))

    def at(self, x: float = 0.0, y: float = 0.0, z: float = 0.0) -> Solid:
        """The solid, moved."""
        return Solid("transform", (("position", (x, y, z)),), (self,))

    def turned(self, x: float = 0.0, y: float = 0.0, z: float = 0.0) -> Solid:
        """The solid, turned about the fixed X, then Y, then Z axes, degrees."""
        return Solid("transform", (("rotation", (x, y, z)),), (self,))

    def mirrored(self, x: float = 0.0, y: float = 0.0, z: float = 0.0) -> Solid:
        """The mirror image in the plane through the origin with this normal."""
        return Solid("mirror", (("normal", (x, y, z)),), (self,))

    def program(self) -> dict[str, Any]:
        """The solid as a program; equal solids in it become one node."""
        names: dict[Solid, str] = {}
        nodes: list[dict[str, Any]] = []
        output = _visit(self, names, nodes)
        return {"nodes": nodes, "output": output}


def _visit(solid: Solid, names: dict[Solid, str], nodes: list[dict[str, Any]]) -> str:
    if solid in names:
        return names[solid]
    inputs = [_visit(each, names, nodes) for each in solid.inputs]
    name = f"n{len(nodes) + 1}"
    names[solid] = name
    node: dict[str, Any] = {"id": name, "op": solid.op, **{key: _plain(value) for key, value in solid.fields}}
    if solid.op in ("transform", "mirror", "shell"):
        node["input"] = inputs[0]
    elif inputs:
        node["inputs"] = inputs
    nodes.append(node)
    return name


def _plain(value: Any) -> Any:
    return [_plain(each) for each in value] if isinstance(value, tuple) else value


def box(x: float, y: float, z: float) -> Solid:
    """A box about the origin."""
    return Solid("box", (("size", (x, y, z)),))


def cylinder(radius: float, height: float, radius_top: float | None = None) -> Solid:
    """A cylinder or cone along Z about the origin."""
    fields: tuple[tuple[str, Any], ...] = (("radius", radius), ("height", height))
    return Solid("cylinder", fields if radius_top is None else (*fields, ("radius_top", radius_top)))


def sphere(radius: float) -> Solid:
    """A ball about the origin."""
    return Solid("sphere", (("radius", radius),))


def torus(major: float, minor: float) -> Solid:
    """A ring in the XY plane about the origin."""
    return Solid("torus", (("major", major), ("minor", minor)))


def extrude(polygon: Iterable[tuple[float, float]], height: float) -> Solid:
    """A counter-clockwise polygon, as high as `height`, centred in z."""
    return Solid("extrude", (("polygon", tuple(polygon)), ("height", height)))


def revolve(profile: Iterable[tuple[float, float]], degrees: float | None = None) -> Solid:
    """A counter-clockwise profile of [r, z] turned about Z; not centred."""
    fields: tuple[tuple[str, Any], ...] = (("profile", tuple(profile)),)
    return Solid("revolve", fields if degrees is None else (*fields, ("degrees", degrees)))


def hull(*solids: Solid) -> Solid:
    """The convex hull of solids."""
    return Solid("hull", (), solids)


def union(*solids: Solid) -> Solid:
    """Solids as one."""
    return Solid("union", (), solids)


def difference(solid: Solid, *others: Solid) -> Solid:
    """A solid without others."""
    return Solid("difference", (), (solid, *others))


@dataclass
class Object:
    """An object being written; `write` puts it into a file."""

    task_id: str
    name: str
    family: str
    category: str
    aliases: Sequence[str] = ()
    free_standing: bool = True
    briefs: dict[str, str] = field(default_factory=dict)
    document: dict[str, Any] = field(default_factory=dict)
    shapes: dict[str, Solid] = field(default_factory=dict)
    _offsets: dict[str, np.ndarray] = field(default_factory=dict)
    _parts: list[dict[str, Any]] = field(default_factory=list)
    _joints: list[dict[str, Any]] = field(default_factory=list)
    _steps: list[dict[str, Any]] = field(default_factory=list)
    _pool: list[tuple[str, Solid]] = field(default_factory=list)

    def brief(self, name_only: str, attributes: str, functional: str) -> None:
        """The three texts; each is used with and without a picture."""
        self.briefs = {"name_only": name_only, "attributes": attributes, "functional": functional}

    def part(
        self,
        id: str,
        solid: Solid,
        at: Vector = (0.0, 0.0, 0.0),
        turn: Vector = (0.0, 0.0, 0.0),
        *,
        role: str,
        material: str,
        direction: Vector | None = None,
        shape: str | None = None,
    ) -> None:
        """A placed part, which is also the next step of the assembly, moved along `direction`.

        `shape` names the solid in the catalogue, where its size is added; by default it is the part's role.
        """
        name = self._shape_name(solid, shape or role)
        centre = rotation_matrix(turn) @ self._offsets[name] + np.asarray(at, dtype=float)
        source = {
            "kind": "pool",
            "id": name,
            "position": [round(float(v), 6) + 0.0 for v in centre],
            "rotation": [float(v) for v in turn],
        }
        self._parts.append({"id": id, "role": role, "material": material, "source": source})
        self._steps.append({"part": id, "direction": None if direction is None else list(direction)})

    def _shape_name(self, solid: Solid, wanted: str) -> str:
        for name, known in self.shapes.items():
            if known == solid:
                return name
        name, number = wanted.replace(" ", "_"), 1
        while name in self.shapes:
            number += 1
            name = f"{wanted.replace(' ', '_')}_{number}"
        compiled = compile_program(solid.program())
        self.shapes[name] = solid
        self._offsets[name] = np.asarray(compiled.recentred_by, dtype=float)
        return name

    def joint(
        self,
        id: str,
        type: str,
        parent: str,
        child: str,
        origin: Vector | None = None,
        axis: Vector | None = None,
        limits: tuple[float, float] | None = None,
    ) -> None:
        """A joint; `origin` in world coordinates."""
        self._joints.append(
            {
                "id": id,
                "type": type,
                "parent": parent,
                "child": child,
                "axis": None if axis is None else list(axis),
                "origin": None if origin is None else list(origin),
                "limits": None if limits is None else list(limits),
            }
        )

    def fix(self, parent: str, *children: str) -> None:
        """Fixed joints from a part to others."""
        for child in children:
            self.joint(f"{parent}_{child}", "fixed", parent, child)

    def sequence(self, *ids: str) -> None:
        """The order of assembly, where it isn't the order in which parts were written."""
        steps = {step["part"]: step for step in self._steps}
        self._steps = [steps[id] for id in ids]

    def offer(self, name: str, solid: Solid) -> None:
        """A part of the catalogue that the reference doesn't use."""
        self._pool.append((name, solid))

    def require(self, **parts: str) -> None:
        """Required parts as `name_of_part="why"`; underscores stand for spaces."""
        rows = self.document.setdefault("required_parts", [])
        for part, why in parts.items():
            rows.append(
                {"id": f"P{len(rows) + 1}", "part": part.replace("_", " "), "why": why, "source": SOURCE}
            )

    def attribute(self, kind: str, statement: str, source: str = "") -> None:
        """A statement about the object: kind `dimension`, `count`, `material`, `shape` …"""
        rows = self.document.setdefault("required_attributes", [])
        rows.append(
            {"id": f"A{len(rows) + 1}", "kind": kind, "statement": statement, "source": source or SOURCE}
        )

    def subsystem(
        self,
        subsystem: str,
        function: str,
        parts: Sequence[str],
        connections: Sequence[tuple[str, str, str]] = (),
        source: str = "",
    ) -> None:
        """Components that do a job together; connections as (from, to, what is carried)."""
        rows = self.document.setdefault("functional_subsystems", [])
        links = [{"from": start, "to": end, "carries": carries} for start, end, carries in connections]
        rows.append(
            {
                "id": f"F{len(rows) + 1}",
                "subsystem": subsystem,
                "function": function,
                "parts": list(parts),
                "connections": links,
                "source": source or SOURCE,
            }
        )

    def motion(
        self,
        moving_part: str,
        relative_to: str,
        joint_type: str,
        motion: str,
        axis: str | None = None,
        range: tuple[float, float] | None = None,
        source: str = "",
    ) -> None:
        """A motion the object has to have; `range` in rad or m."""
        rows = self.document.setdefault("required_kinematics", [])
        rows.append(
            {
                "id": f"K{len(rows) + 1}",
                "moving_part": moving_part,
                "relative_to": relative_to,
                "joint_type": joint_type,
                "motion": motion,
                "axis": axis,
                "range": None if range is None else list(range),
                "source": source or SOURCE,
            }
        )

    def made_of(self, part: str, *classes: str, source: str = "") -> None:
        """Classes of material that suit a component."""
        rows = self.document.setdefault("material_claims", [])
        rows.append({"part": part, "classes": list(classes), "source": source or SOURCE})

    def human(self, *predicates: Mapping[str, Any], source: str = "") -> None:
        """A check of how a person would use the object."""
        rows = self.document.setdefault("human_checks", [])
        rows.append({"id": f"H{len(rows) + 1}", "predicates": list(predicates), "source": source or SOURCE})

    def as_document(self, distractors: Sequence[tuple[str, Solid]] = ()) -> dict[str, Any]:
        """The object's file. All of its reference is in the catalogue, so every tier can build it."""
        catalogue = self._catalogue(distractors)
        ids = {solid: f"P{number:03}" for number, solid in enumerate(catalogue, 1)}
        parts = [
            {**part, "source": {**part["source"], "id": ids[self.shapes[part["source"]["id"]]]}}
            for part in self._parts
        ]
        return {
            "task_id": self.task_id,
            "object": {
                "name": self.name,
                "aliases": list(self.aliases),
                "category": self.category,
                "family": self.family,
            },
            "free_standing": self.free_standing,
            "conditions": [{"condition_id": id, "text": text} for id, text in self.briefs.items()],
            "subpart_pool": {
                "parts": [
                    {"pool_part_id": ids[solid], "name": name, "program": solid.program()}
                    for solid, name in catalogue.items()
                ]
            },
            **self.document,
            "reference": {
                "programs": {},
                "parts": parts,
                "joints": self._joints,
                "sequence": self._steps,
            },
        }

    def _catalogue(self, distractors: Sequence[tuple[str, Solid]]) -> dict[Solid, str]:
        """Names by solid: shapes of the reference, offers and distractors, all in series of sizes.

        Names tell sizes and the order goes by a hash, so that neither tells which parts the reference uses.
        """
        used = [(name.replace("_", " "), solid) for name, solid in self.shapes.items()]
        wanted = round(OTHERS_PER_USED * len(used))
        others = [*self._pool, *sorted(distractors, key=lambda each: draw(self.task_id, _hash(each[1])))]
        others = list(
            {solid: (name, solid) for name, solid in others if solid not in self.shapes.values()}.values()
        )
        names: dict[Solid, str] = {}
        for shapes, lengths in ((used, USED), (others[:wanted], OTHERS)):
            shapes = sorted(shapes, key=lambda each: draw(self.task_id, "length", _hash(each[1])))
            start = draw(self.task_id, "start") % len(lengths)
            for number, (name, solid) in enumerate(shapes, start):
                for each in _series(solid, lengths[number % len(lengths)], f"{self.task_id} {name}"):
                    names.setdefault(each, f"{name} {_size_mm(each)}")
        return {solid: names[solid] for solid in sorted(names, key=_hash)}


SOURCE = "ordinary engineering knowledge"


def _size_mm(solid: Solid) -> str:
    """Extents as a catalogue gives them: "320 x 320 x 30"."""
    return " x ".join(f"{extent:.0f}" for extent in _extents_mm(solid))


@cache
def _extents_mm(solid: Solid) -> tuple[float, ...]:
    size = compile_program(solid.program()).mesh.size
    return tuple(round(1000 * float(extent), 3) for extent in size)


def _series(solid: Solid, count: int, seed: str) -> list[Solid]:
    """The solid and other sizes of it."""
    return [solid, *(scaled(solid, factor) for factor in factors(_extents_mm(solid), count, seed))]


def _hash(solid: Solid) -> str:
    return hashlib.sha256(json.dumps(solid.program()).encode()).hexdigest()


def scaled(solid: Solid, factor: float) -> Solid:
    """A solid with all its lengths multiplied."""
    fields = tuple(
        (key, value if key in ("rotation", "normal", "degrees") else _times(value, factor))
        for key, value in solid.fields
    )
    return Solid(solid.op, fields, tuple(scaled(each, factor) for each in solid.inputs))


def _times(value: Any, factor: float) -> Any:
    if isinstance(value, tuple):
        return tuple(_times(each, factor) for each in value)
    return round(value * factor, 6)


def write_all(objects: Sequence[Object], folder: Path = OBJECTS) -> None:
    """Write the files of all objects; see `document_of`."""
    folder.mkdir(parents=True, exist_ok=True)
    for number, each in enumerate(objects):
        text = json.dumps(document_of(objects, number), indent=1, ensure_ascii=False) + "\n"
        (folder / f"{each.task_id}.json").write_text(text, encoding="utf-8")


def document_of(objects: Sequence[Object], number: int) -> dict[str, Any]:
    """The file of one of a family's objects; distractors of its catalogue are shapes of the others."""
    others = [each for place, each in enumerate(objects) if place != number]
    shapes = [(name.replace("_", " "), solid) for other in others for name, solid in other.shapes.items()]
    return objects[number].as_document(shapes)
