"""Arguments of the tools as pydantic models: closed, without conversions, numbers finite and bounded."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from evalkit_lmbuild.legality import MAX_ANGLE_DEG, MAX_COORDINATE_M, MAX_MESHES

Coordinate = Annotated[float, Field(ge=-MAX_COORDINATE_M, le=MAX_COORDINATE_M, allow_inf_nan=False)]
Angle = Annotated[float, Field(ge=-MAX_ANGLE_DEG, le=MAX_ANGLE_DEG, allow_inf_nan=False)]
Number = Annotated[float, Field(ge=-1e6, le=1e6, allow_inf_nan=False)]
Point = Annotated[list[Coordinate], Field(min_length=3, max_length=3)]
Rotation = Annotated[list[Angle], Field(min_length=3, max_length=3)]
Direction = Annotated[list[Number], Field(min_length=3, max_length=3)]
Anchor = Literal["center", "top", "bottom", "left", "right", "front", "back"]
View = Literal["cond", "iso", "front", "side", "back_iso", "top"]

_ROLE = Field(default=None, description="What the part is in the object, such as 'rear wheel'.")
_MATERIAL = Field(default=None, description="An id from list_materials.")
_POSITION = "World position of the centre of the part's bounding box, [x, y, z] in metres."
_ROTATION = "Degrees about the fixed X, then Y, then Z axes."


class Arguments(BaseModel):
    """What all have in common."""

    model_config = ConfigDict(extra="forbid", strict=True)


class ListParts(Arguments):
    """Arguments of `list_parts`."""

    query: str | None = Field(default=None, description="Only parts whose id or name holds this text.")


class InspectPart(Arguments):
    """Arguments of `inspect_part`."""

    part_id: str


class PlacePart(Arguments):
    """Arguments of `place_part`."""

    part_id: str = Field(description="A part of the catalogue, or one you created.")
    instance_id: str = Field(description="A new id: 1 to 48 letters, digits, _ or -.")
    position: Point = Field(description=_POSITION)
    rotation: Rotation | None = Field(default=None, description=_ROTATION)
    role: str | None = _ROLE
    material: str | None = _MATERIAL


class MovePart(Arguments):
    """Arguments of `move_part`."""

    instance_id: str
    position: Point | None = Field(default=None, description=_POSITION)
    rotation: Rotation | None = Field(default=None, description=f"New rotation. {_ROTATION}")
    translate_by: Point | None = Field(default=None, description="Shift in metres, after `position`.")


class Attach(Arguments):
    """Arguments of `attach`."""

    instance_id: str = Field(description="The part to move.")
    anchor: Anchor = Field(description="Which point of its bounding box goes to the target's anchor.")
    target: str = Field(description="Another placed part, or 'ground'.")
    target_anchor: Anchor = Field(default="top", description="Point of the target's bounding box.")
    offset: Point | None = Field(default=None, description="Shift in metres away from the target's anchor.")


class Measure(Arguments):
    """Arguments of `measure`."""

    a: str = Field(description="A placed part, or 'ground'.")
    b: str = Field(description="Another placed part, or 'ground'.")


class RemovePart(Arguments):
    """Arguments of `remove_part`."""

    instance_id: str


class SetPartInfo(Arguments):
    """Arguments of `set_part_info`."""

    instance_id: str
    role: str | None = _ROLE
    material: str | None = _MATERIAL


class AddJoint(Arguments):
    """Arguments of `add_joint`."""

    joint_id: str = Field(description="A new id: 1 to 48 letters, digits, _ or -.")
    type: Literal["fixed", "revolute", "continuous", "prismatic", "cylindrical", "ball"]
    parent: str = Field(description="The placed part that stays.")
    child: str = Field(description="The placed part that moves.")
    axis: Direction | None = Field(default=None, description="Axis of the motion in the world.")
    origin: Point | None = Field(
        default=None, description="World point on the axis, at rest, where the two parts meet."
    )
    limits: Annotated[list[Number], Field(min_length=2, max_length=2)] | None = Field(
        default=None, description="[lower, upper] in radians or metres; left out: unbounded."
    )


class JointId(Arguments):
    """Arguments of `remove_joint` and `inspect_joint`."""

    joint_id: str


class SequenceStep(Arguments):
    """A step with the direction in which the part moves to its place."""

    part: str
    direction: Direction | None = None


class SetSequence(Arguments):
    """Arguments of `set_assembly_sequence`."""

    steps: Annotated[list[SequenceStep | str], Field(max_length=MAX_MESHES)] = Field(
        description="Ids of placed parts in the order of assembly, or objects with part and direction."
    )


class CreatePart(Arguments):
    """Arguments of `create_part`."""

    name: str = Field(description="The new part's id: 1 to 48 letters, digits, _ or -.")
    program: dict[str, Any] | str = Field(description="A CSG program: an object, or its JSON text.")


class Render(Arguments):
    """Arguments of `render`."""

    views: Annotated[list[View], Field(max_length=6)] | None = Field(
        default=None, description="Which views; left out: cond, iso, front, side."
    )
