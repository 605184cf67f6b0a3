"""Designs as JSON: the release's design.json with an object `programs`, so that it needs no meshes.

    {"system", "tier", "meta": {…},
     "parts": [{"id", "role", "material", "source": {"kind", "id", "position", "rotation"}}],
     "joints": [{"id", "type", "parent", "child", "axis", "origin", "limits"}],
     "sequence": [{"part", "direction"}],
     "programs": {name: CSG program}}

A part of kind `created` is made by the program that its `source.id` names, one of kind `pool` by the
part of the catalogue of that id, or by a program of that name. `position` is where the centre of its
bounding box goes, in m.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any

from evalkit_lmbuild.csg import compile_program
from evalkit_lmbuild.design import Design, Joint, Mesh, Part, Step, Vector

MeshOf = Callable[[str, str, str], Mesh]
"""From a part's id, its source's kind and its source's id to a mesh in the part's own frame, or KeyError."""


def design_of(document: Mapping[str, Any], mesh_of: MeshOf) -> Design:
    """The design of a document that has passed `legality.problems`.

    KeyError if a part has no mesh, `ProgramError` for a program that doesn't compile.
    """
    parts = tuple(_part(entry, mesh_of) for entry in document.get("parts", ()))
    meta = {key: str(value) for key, value in (document.get("meta") or {}).items()}
    meta |= {key: str(document[key]) for key in ("system", "tier") if document.get(key)}
    return Design(
        parts=parts,
        joints=tuple(read_joint(entry) for entry in document.get("joints") or ()),
        sequence=tuple(read_step(entry) for entry in document.get("sequence") or ()),
        meta=meta,
    )


def document_of(
    design: Design, programs: Mapping[str, Any], system: str = "", tier: str = ""
) -> dict[str, Any]:
    """A design as a document; `programs` are those of its parts, by `Part.source_id`."""
    return {
        "system": system,
        "tier": tier,
        "meta": dict(design.meta),
        "parts": [
            {
                "id": part.id,
                "role": part.role,
                "material": part.material,
                "source": {
                    "kind": part.source,
                    "id": part.source_id,
                    "position": list(part.position),
                    "rotation": list(part.rotation),
                },
                "n_triangles": len(part.mesh.faces),
            }
            for part in design.parts
        ],
        "joints": [joint_entry(joint) for joint in design.joints],
        "sequence": [step_entry(step) for step in design.sequence],
        "programs": {name: programs[name] for name in sorted(programs)},
    }


def joint_entry(joint: Joint) -> dict[str, Any]:
    """A joint as an entry of a document."""
    return {
        "id": joint.id,
        "type": joint.type,
        "parent": joint.parent,
        "child": joint.child,
        "axis": None if joint.axis is None else list(joint.axis),
        "origin": None if joint.origin is None else list(joint.origin),
        "limits": None if joint.limits is None else list(joint.limits),
    }


def step_entry(step: Step) -> dict[str, Any]:
    """A step of the assembly as an entry of a document."""
    return {"part": step.part, "direction": None if step.direction is None else list(step.direction)}


def program_meshes(programs: Mapping[str, Any], pool: Mapping[str, Mesh]) -> MeshOf:
    """Meshes by program or from the catalogue: what a document without a file of meshes refers to."""

    def mesh_of(part: str, kind: str, source: str) -> Mesh:
        if source in programs:
            return compiled_mesh(programs[source])
        return pool[source]

    return mesh_of


def compiled_mesh(program: Any) -> Mesh:
    """The mesh of a program, compiled once; `ProgramError` says what is wrong with it."""
    return _compiled(json.dumps(program, sort_keys=True))


@lru_cache(maxsize=2048)
def _compiled(text: str) -> Mesh:
    return compile_program(text, strict=False).mesh


def _part(entry: Mapping[str, Any], mesh_of: MeshOf) -> Part:
    source = entry["source"]
    return Part(
        id=entry["id"],
        mesh=mesh_of(entry["id"], source["kind"], str(source.get("id"))),
        position=vector(source.get("position") or (0, 0, 0)),
        rotation=vector(source.get("rotation") or (0, 0, 0)),
        role=entry.get("role"),
        material=entry.get("material"),
        source=source["kind"],
        source_id=source.get("id"),
    )


def read_joint(entry: Mapping[str, Any]) -> Joint:
    """A joint from an entry of a document."""
    axis, origin, limits = entry.get("axis"), entry.get("origin"), entry.get("limits")
    return Joint(
        id=entry["id"],
        type=entry["type"],
        parent=entry["parent"],
        child=entry["child"],
        axis=None if axis is None else vector(axis),
        origin=None if origin is None else vector(origin),
        limits=None if limits is None else (float(limits[0]), float(limits[1])),
    )


def read_step(entry: Mapping[str, Any]) -> Step:
    """A step of the assembly from an entry of a document."""
    direction = entry.get("direction")
    return Step(entry["part"], None if direction is None else vector(direction))


def vector(values: Any) -> Vector:
    """Three numbers as floats."""
    x, y, z = values
    return (float(x), float(y), float(z))
