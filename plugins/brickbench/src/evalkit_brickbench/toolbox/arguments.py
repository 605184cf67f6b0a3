"""The tools and their arguments. Everything is bounded: who calls isn't trusted."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

MOST_LDU = 50_000.0
MOST_ITEMS = 100

Text = Annotated[str, Field(min_length=1, max_length=100)]
Name = Annotated[str, Field(pattern=r"^[A-Za-z][A-Za-z0-9 _-]{0,39}$", max_length=40)]
Number = Annotated[float, Field(ge=-MOST_LDU, le=MOST_LDU, allow_inf_nan=False)]
Triple = Annotated[list[Number], Field(min_length=3, max_length=3)]
Degrees = Annotated[float, Field(ge=-360.0, le=360.0, allow_inf_nan=False)]
Count = Annotated[int, Field(ge=0, le=100_000)]
Ids = Annotated[list[Text], Field(min_length=1, max_length=MOST_ITEMS)]
Color = Annotated[
    Annotated[str, Field(max_length=60)] | int,
    Field(description="A name (`red`), an LDraw code (4) or `#RRGGBB`."),
]
Axis = Literal["x", "y", "z"]

MODEL = "model"
"""The assembly that is handed in; others are pieces of it."""


class _Arguments(BaseModel):
    model_config = ConfigDict(extra="forbid")


class Search(_Arguments):
    """Arguments of `search`."""

    query: Text = Field(description="Words of the title, or an id.")
    limit: int = Field(10, ge=1, le=40)
    decorated: bool = Field(False, description="Also parts with prints and stickers.")


class Describe(_Arguments):
    """Arguments of `describe`."""

    thing: Text = Field(description="A part by id or words, `p3`, `a4/p2`, an assembly, or `p3.stud[0]`.")


class Connectors(_Arguments):
    """Arguments of `connectors`."""

    thing: Text = Field(description="A part by id or words, `p3`, `a4/p2`, or an assembly.")
    kind: str = Field("", max_length=20, description="Only this list, such as `stud` or `hole`.")
    near: Triple | None = Field(None, description="Nearest first to this point [x, y, z] in LDU.")
    start: Count = Field(0, description="Leave out so many.")


class Compatible(_Arguments):
    """Arguments of `compatible`."""

    to: Text = Field(description="A connector of something placed, such as `p3.stud[0]`.")
    item: Text = Field(description="A part by id or words, or an assembly.")


class Item(_Arguments):
    """One thing to place."""

    item: Text = Field(description="A part by id or words, or the name of an assembly.")
    at: Triple = Field([0.0, 0.0, 0.0], description="[studs right, studs back, plates up].")
    move: Triple = Field([0.0, 0.0, 0.0], description="Further shift [x, y, z] in LDU, y down.")
    spin: Degrees = Field(0.0, description="Turn on the spot in degrees, clockwise from above about y.")
    about: Axis = Field("y", description="The axis to turn about.")
    color: Color | None = None


class Place(_Arguments):
    """Arguments of `place`."""

    items: list[Item] = Field(min_length=1, max_length=MOST_ITEMS)
    into: Text = Field(MODEL, description="The assembly to place them in.")


class Join(_Arguments):
    """Arguments of `join`."""

    item: Text = Field(description="A part by id or words, or the name of an assembly.")
    to: Text = Field(description="A connector of something placed: `p3.stud[0]`, `a4/p2.stud[1]`.")
    by: str = Field(
        "", max_length=100, description="The item's connector: `hole[0]`; `p2.hole[0]` of an assembly."
    )
    flip: bool = Field(False, description="Axles and hinges end to end.")
    slide: Number = Field(0.0, description="Along the axis of `to`, LDU.")
    yaw: Degrees = 0.0
    pitch: Degrees = 0.0
    roll: Degrees = 0.0
    seat: bool = Field(True, description="Pins go in up to their collar.")
    color: Color | None = None


class Change(_Arguments):
    """Arguments of `change`."""

    ids: Ids = Field(description="What was placed: `p3`, `a4`.")
    at: Triple = Field([0.0, 0.0, 0.0], description="Shift by [studs right, studs back, plates up].")
    move: Triple = Field([0.0, 0.0, 0.0], description="Shift by [x, y, z] in LDU, y down.")
    spin: Degrees = Field(0.0, description="Turn on the spot, degrees.")
    about: Axis = "y"
    color: Color | None = None


class Remove(_Arguments):
    """Arguments of `remove`."""

    ids: Ids = Field(description="What was placed: `p3`, `a4`.")


class NewAssembly(_Arguments):
    """Arguments of `new_assembly`."""

    name: Name


class Mirror(_Arguments):
    """Arguments of `mirror`."""

    assembly: Text
    name: Name = Field(description="What the mirror image is called.")
    axis: Axis = "x"
    at: Number = Field(0.0, description="The plane is axis = at, in LDU.")


class Measure(_Arguments):
    """Arguments of `measure`."""

    thing: Text = Field(description="A part, something placed, an assembly, or a connector.")
    other: str = Field("", max_length=100, description="Another one: how the two stand to each other.")


class Contents(_Arguments):
    """Arguments of `contents`."""

    assembly: Text = MODEL
    start: Count = Field(0, description="Leave out so many.")


class Check(_Arguments):
    """Arguments of `check`."""

    assembly: Text = MODEL


class View(_Arguments):
    """Arguments of `view`."""

    assembly: Text = MODEL
    side: Annotated[int, Field(ge=0, le=7)] | None = Field(
        None,
        description="0 is the front, each further one 45° to the right; left out: four sides on a sheet.",
    )


class Submit(_Arguments):
    """Arguments of `submit`: none."""


@dataclass(frozen=True, slots=True)
class ToolSpec:
    """A tool: what it is for, and its arguments."""

    summary: str
    arguments: type[BaseModel]


TOOLS: Mapping[str, ToolSpec] = {
    "search": ToolSpec("Find parts by words.", Search),
    "describe": ToolSpec("What something is, how large, which connectors it has, what fits it.", Describe),
    "connectors": ToolSpec("The connectors of something: names, positions, axes.", Connectors),
    "compatible": ToolSpec("Which connectors of an item fit one.", Compatible),
    "place": ToolSpec("Place parts or assemblies by position; gives their ids. All or none.", Place),
    "join": ToolSpec("Place a part or an assembly so that a connector joins another, exactly.", Join),
    "change": ToolSpec("Shift, turn or recolour what was placed. All or none.", Change),
    "remove": ToolSpec("Take out what was placed. All or none.", Remove),
    "new_assembly": ToolSpec("Begin a piece that can be placed as often as you like.", NewAssembly),
    "mirror": ToolSpec("Make a new assembly, the mirror image of one.", Mirror),
    "measure": ToolSpec("The box around something, or offset and gap between two things.", Measure),
    "contents": ToolSpec("What was placed in an assembly: ids, parts, colours, positions.", Contents),
    "check": ToolSpec(
        "Part rules, connections, collisions, stability: what decides whether it is valid.", Check
    ),
    "view": ToolSpec("Look at an assembly; what collides is coloured.", View),
    "submit": ToolSpec("Hand in the assembly `model`. This ends the work.", Submit),
}
