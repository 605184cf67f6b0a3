"""Placing, moving, describing and removing parts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from evalkit_lmbuild.design import Floats, Part
from evalkit_lmbuild.legality import (
    MAX_COORDINATE_M,
    MAX_PARTS,
    MAX_TEXT,
    id_fault,
    sentence,
    short,
    size_fault,
    unknown,
    vector_fault,
)
from evalkit_lmbuild.materials import MATERIALS
from evalkit_lmbuild.scene import Instance, Scene, rounded
from evalkit_lmbuild.tools import _arguments as given
from evalkit_lmbuild.tools._geometry import BELOW_M, collisions, field_of, touching
from evalkit_lmbuild.tools._session import Outcome, Refusal, Session

GROUND = "ground"
_ANCHORS = {
    "center": (0, 0, 0),
    "top": (0, 0, 1),
    "bottom": (0, 0, -1),
    "left": (-1, 0, 0),
    "right": (1, 0, 0),
    "front": (0, -1, 0),
    "back": (0, 1, 0),
}


def place_part(session: Session, call: given.PlacePart) -> Outcome:
    """Put a part of the catalogue, or a created one, into the world."""
    scene = session.scene
    if fault := id_fault(call.instance_id):
        raise Refusal(f"instance_id {fault}")
    if call.instance_id == GROUND:
        raise Refusal("'ground' is the ground; choose another instance_id")
    if call.instance_id in scene.instances:
        raise Refusal(
            f"{call.instance_id!r} is placed already; use move_part to move it, or choose another instance_id"
        )
    if len(scene.instances) >= MAX_PARTS:
        raise Refusal(f"{MAX_PARTS} parts are placed, which is the most; remove_part makes room")
    require_part(scene, call.part_id)
    _require_words(call.role, call.material)
    instance = Instance(
        call.instance_id,
        call.part_id,
        rounded(call.position),
        rounded(call.rotation or (0, 0, 0)),
        call.role,
        call.material,
    )
    return _placed(scene, instance)


def move_part(session: Session, call: given.MovePart) -> Outcome:
    """Move or turn a placed part: position, then translation, then rotation."""
    scene = session.scene
    instance = placed(scene, call.instance_id)
    if call.position is None and call.rotation is None and call.translate_by is None:
        raise Refusal("nothing to do: give position, rotation or translate_by")
    position = np.array(instance.position if call.position is None else call.position, dtype=np.float64)
    position += call.translate_by or (0.0, 0.0, 0.0)
    rotation = instance.rotation if call.rotation is None else rounded(call.rotation)
    return _placed(scene, replace(instance, position=_within(position), rotation=rotation))


def attach(session: Session, call: given.Attach) -> Outcome:
    """Move a part so that an anchor of its bounding box meets an anchor of another part, or the ground."""
    scene = session.scene
    instance = placed(scene, call.instance_id)
    if call.target == call.instance_id:
        raise Refusal(f"{call.target!r} can't be attached to itself; name another part, or 'ground'")
    moving = anchor_point(scene.part(instance.id), call.anchor)
    if call.target == GROUND:
        goal = np.array([moving[0], moving[1], 0.0])
    else:
        goal = anchor_point(scene.part(placed(scene, call.target).id), call.target_anchor)
    goal = goal + (call.offset or (0.0, 0.0, 0.0))
    return _placed(scene, replace(instance, position=_within(np.add(instance.position, goal - moving))))


def remove_part(session: Session, call: given.RemovePart) -> Outcome:
    """Take a part away, with its joints and its step of the sequence."""
    placed(session.scene, call.instance_id)
    return Outcome({"removed_joints": session.scene.remove(call.instance_id)})


def set_part_info(session: Session, call: given.SetPartInfo) -> Outcome:
    """Say what a part is, and what it is made of."""
    instance = placed(session.scene, call.instance_id)
    if call.role is None and call.material is None:
        raise Refusal("nothing to do: give role or material")
    _require_words(call.role, call.material)
    role = instance.role if call.role is None else call.role
    material = instance.material if call.material is None else call.material
    session.scene.instances[instance.id] = replace(instance, role=role, material=material)
    return Outcome({"role": role, "material": material})


def placed(scene: Scene, name: str) -> Instance:
    """A placed part; Refusal if there is none of this id."""
    found = scene.instances.get(name)
    if found is not None:
        return found
    if scene.has_part(name):
        raise Refusal(
            f"{name!r} is a part that can be placed, not a placed one: call place_part first, then use its "
            "instance_id"
        )
    raise Refusal(f"{sentence(unknown('placed part', name, scene.instances))} get_scene lists what is placed")


def require_part(scene: Scene, part: str) -> None:
    """Refusal if a part can't be placed."""
    if scene.has_part(part):
        return
    known = [*scene.catalogue, *scene.created]
    raise Refusal(
        f"{sentence(unknown('part', part, known))} list_parts lists them; create_part makes new ones"
    )


def anchor_point(part: Part, anchor: str) -> Floats:
    """A point of a part's bounding box in the world [3], metres."""
    lowest, highest = part.world.bounds
    return np.asarray((lowest + highest) / 2 + np.multiply(_ANCHORS[anchor], highest - lowest) / 2)


def box_of(part: Part) -> dict[str, Any]:
    """A part's bounding box in the world."""
    lowest, highest = part.world.bounds
    return {"world_bbox_min": metres(lowest), "world_bbox_max": metres(highest)}


def metres(values: Sequence[float] | Floats) -> list[float]:
    """Coordinates for a result, to 0.1 mm."""
    return [round(float(value), 4) + 0.0 for value in values]


def _placed(scene: Scene, instance: Instance) -> Outcome:
    """Put an instance where it is to be, and say what it meets there."""
    scene.instances[instance.id] = instance
    part = scene.part(instance.id)
    design = scene.to_design()
    if fault := size_fault(design.parts):
        raise Refusal(fault.message)
    field = field_of(design)
    return Outcome(
        box_of(part)
        | {
            "touches": touching(field, instance.id),
            "collides": [found.seen_from(instance.id) for found in collisions(field, design, instance.id)],
            "below_ground": bool(part.world.bounds[0][2] < -BELOW_M),
        }
    )


def _within(position: Floats) -> tuple[float, float, float]:
    if vector_fault(position.tolist(), MAX_COORDINATE_M):
        raise Refusal(f"that would put the part at {metres(position)}, outside of ±{MAX_COORDINATE_M:g} m")
    return rounded(position.tolist())


def _require_words(role: str | None, material: str | None) -> None:
    if role is not None and not 0 < len(role.strip()) <= len(role) <= MAX_TEXT:
        raise Refusal(f"a role is 1 to {MAX_TEXT} characters, such as 'rear wheel'; not {short(role)}")
    if role is not None and not role.isprintable():
        raise Refusal("a role is a few printable words, such as 'rear wheel'")
    if material is not None and material not in MATERIALS:
        raise Refusal(f"{sentence(unknown('material', material, MATERIALS))} list_materials lists all")
