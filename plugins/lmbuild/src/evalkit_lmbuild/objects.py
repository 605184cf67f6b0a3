"""Files of objects: what is to be built, the parts on offer, and the claims it is judged by.

`docs/lmbuild-tasks.md` describes the format; its field names are those of the official tasks. A file is read
into an `ObjectFile` (checked, nothing compiled), and that into `ObjectFacts` (meshes and all).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    SerializerFunctionWrapHandler,
    ValidationError,
    field_validator,
    model_serializer,
    model_validator,
)

from evalkit_lmbuild.csg import ProgramError
from evalkit_lmbuild.design import Design, Mesh
from evalkit_lmbuild.documents import compiled_mesh, design_of, program_meshes, vector
from evalkit_lmbuild.facts import (
    Attribute,
    Condition,
    Connection,
    HumanCheck,
    MaterialClaim,
    Motion,
    ObjectFacts,
    PoolPart,
    RequiredPart,
    Subsystem,
)
from evalkit_lmbuild.faults import first_fault
from evalkit_lmbuild.formats.errors import DesignError
from evalkit_lmbuild.human_checks import read_predicate
from evalkit_lmbuild.legality import problems

BRIEFS = ("name_only", "attributes", "functional")
"""What a brief says of an object; with `+image` it comes with a picture."""
IMAGE = "+image"
CONDITIONS = tuple(brief + image for brief in BRIEFS for image in ("", IMAGE))
FAMILIES = ("static_load", "hinged", "sliding", "rotating", "serial_chain", "multi_joint")
"""Mechanism families, by which objects are grouped."""
MAX_BYTES = 4 << 20

Program = dict[str, Any]


class ObjectError(ValueError):
    """A file of an object is wrong: says which field and why, in one line."""


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class ObjectName(_Strict):
    """What the object is called. Aliases are its other names, `category` what it is (each object its own)."""

    name: str = Field(min_length=1)
    aliases: tuple[str, ...] = ()
    category: str = ""
    family: Literal["", "static_load", "hinged", "sliding", "rotating", "serial_chain", "multi_joint"] = ""


class ConditionText(_Strict):
    """A brief: its text, and the picture that goes with it (a path, relative to the folder of the file)."""

    condition_id: str
    text: str = Field(min_length=1)
    image: str | None = None


class DataFile(_Strict):
    """A file of the data that users pull, and the hash by which it is known."""

    file: str = Field(min_length=1)
    sha256: str = Field(pattern=r"^[0-9a-f]{64}$")


class MeshFile(DataFile):
    """A part's GLB in glTF's axes: `unit_m` metres a unit, `size_m` its size by the catalogue, world axes."""

    unit_m: float = Field(default=1.0, gt=0)
    size_m: tuple[float, float, float] | None = None


class ReferenceMesh(DataFile):
    """A reference as a GLB with its joints, see `formats.assets.reference_design`."""

    joints: tuple[dict[str, Any], ...] = ()


class PoolPartFile(_Strict):
    """A part of the catalogue, by its program or by its mesh."""

    pool_part_id: str = Field(pattern=r"^[A-Za-z0-9_-]{1,48}$")
    name: str = Field(min_length=1)
    program: Program | None = None
    mesh: MeshFile | None = None

    @model_validator(mode="after")
    def _one_of_both(self) -> PoolPartFile:
        if (self.program is None) == (self.mesh is None):
            raise ValueError(f"part {self.pool_part_id!r} needs either a program or a mesh")
        return self

    @model_serializer(mode="wrap")
    def _what_it_has(self, handler: SerializerFunctionWrapHandler) -> dict[str, Any]:
        return {key: value for key, value in handler(self).items() if value is not None}


class Pool(_Strict):
    """The catalogue that tiers A and B retrieve from."""

    parts: tuple[PoolPartFile, ...] = ()


class RequiredPartFile(_Strict):
    """See `RequiredPart`."""

    id: str
    part: str
    why: str
    source: str = ""


class AttributeFile(_Strict):
    """See `Attribute`."""

    id: str
    kind: str
    statement: str
    source: str = ""


class ConnectionFile(_Strict):
    """What passes from one component to another."""

    start: str = Field(alias="from")
    end: str = Field(alias="to")
    carries: str


class SubsystemFile(_Strict):
    """See `Subsystem`."""

    id: str
    subsystem: str
    function: str
    parts: tuple[str, ...]
    connections: tuple[ConnectionFile, ...] = ()
    source: str = ""


class MotionFile(_Strict):
    """See `Motion`; `range` in rad or m."""

    id: str
    moving_part: str
    relative_to: str
    joint_type: Literal["revolute", "continuous", "prismatic", "cylindrical", "ball"]
    motion: str
    axis: str | None = None
    range: tuple[float, float] | None = None
    source: str = ""


class MaterialClaimFile(_Strict):
    """See `MaterialClaim`."""

    part: str
    classes: tuple[str, ...] = Field(min_length=1)
    source: str = ""


class HumanCheckFile(_Strict):
    """See `HumanCheck`; each predicate has `pred` and its arguments."""

    id: str
    predicates: tuple[dict[str, Any], ...] = Field(min_length=1)
    source: str = ""

    @field_validator("predicates")
    @classmethod
    def _known(cls, predicates: tuple[dict[str, Any], ...]) -> tuple[dict[str, Any], ...]:
        for predicate in predicates:
            read_predicate(predicate)
        return predicates


class ObjectFile(_Strict):
    """A whole file. `reference` is a design.json with an object `programs`; `reference_mesh` stands for it.

    `photo` shows the object, whatever the brief. `free_standing` None: as the reference stands.
    """

    task_id: str = Field(pattern=r"^[a-z0-9_]{1,48}$")
    object: ObjectName
    free_standing: bool | None = True
    conditions: tuple[ConditionText, ...]
    subpart_pool: Pool = Pool()
    required_parts: tuple[RequiredPartFile, ...] = ()
    required_attributes: tuple[AttributeFile, ...] = ()
    functional_subsystems: tuple[SubsystemFile, ...] = ()
    required_kinematics: tuple[MotionFile, ...] = ()
    material_claims: tuple[MaterialClaimFile, ...] = ()
    human_checks: tuple[HumanCheckFile, ...] = ()
    reference: dict[str, Any] | None = None
    reference_mesh: ReferenceMesh | None = None
    photo: DataFile | None = None

    @model_validator(mode="after")
    def _distinct(self) -> ObjectFile:
        for what, ids in (
            ("condition_id", [c.condition_id for c in self.conditions]),
            ("pool_part_id", [p.pool_part_id for p in self.subpart_pool.parts]),
        ):
            if twice := sorted({i for i in ids if ids.count(i) > 1}):
                raise ValueError(f"{what} {twice[0]!r} occurs twice")
        return self


def read_object(path: Path) -> dict[str, Any]:
    """The checked document of an object file, all conditions spelt out; ObjectError names file and field."""
    try:
        with open(path, "rb") as file:
            raw = file.read(MAX_BYTES + 1)
        if len(raw) > MAX_BYTES:
            raise ObjectError(f"{path.name}: larger than {MAX_BYTES >> 20} MiB")
        data = json.loads(raw.decode("utf-8"))
    except OSError as error:
        raise ObjectError(f"can't read {path.name}: {error.strerror}") from error
    except (ValueError, RecursionError) as error:
        raise ObjectError(f"{path.name}: not JSON: {error}") from error
    try:
        return checked_document(data)
    except ObjectError as error:
        raise ObjectError(f"{path.name}: {error}") from error


def checked_document(data: object) -> dict[str, Any]:
    """An object's document with defaults filled in and, for each brief, its condition with a picture.

    A brief without a `+image` condition of its own gets one with the same text and the picture
    `images/TASK_ID.png`. ObjectError names the field that is wrong.
    """
    found = _parsed(data).model_dump(mode="json", by_alias=True)
    listed = found["conditions"]
    known = {condition["condition_id"] for condition in listed}
    for condition in list(listed):
        pictured = condition["condition_id"] + IMAGE
        if condition["condition_id"] in BRIEFS and pictured not in known:
            image = f"images/{found['task_id']}.png"
            listed.append({"condition_id": pictured, "text": condition["text"], "image": image})
    return found


def _parsed(data: object) -> ObjectFile:
    try:
        return ObjectFile.model_validate_json(json.dumps(data))
    except ValidationError as error:
        raise ObjectError(first_fault(error, "field", tuple(ObjectFile.model_fields))) from error
    except (TypeError, ValueError, RecursionError) as error:
        raise ObjectError(f"not an object of JSON: {error}") from error


DataPath = Callable[[str, str], Path]
"""From a file's name and SHA-256 to where it is, verified."""


def no_data(file: str, sha256: str) -> Path:
    """For objects that need no pulled data; ObjectError for those that do."""
    raise ObjectError(f"{file} is part of data that has to be pulled first")


def object_facts(document: Mapping[str, Any], data: DataPath = no_data) -> ObjectFacts:
    """Everything that is known of an object, its pool and reference compiled; cached by content.

    ObjectError names the part or program that is wrong.
    """
    return _facts(json.dumps(document, sort_keys=True), data)


@lru_cache(maxsize=64)
def _facts(text: str, data: DataPath) -> ObjectFacts:
    file = _parsed(json.loads(text))
    pool = tuple(_pool_part(part, data) for part in file.subpart_pool.parts)
    reference = _reference(file, pool, data)
    return ObjectFacts(
        id=file.task_id,
        name=file.object.name,
        conditions=tuple(
            Condition(c.condition_id, c.text, () if c.image is None else (c.image,)) for c in file.conditions
        ),
        aliases=file.object.aliases,
        category=file.object.category,
        family=file.object.family,
        free_standing=_stands(reference) if file.free_standing is None else file.free_standing,
        required_parts=tuple(RequiredPart(p.id, p.part, p.why, p.source) for p in file.required_parts),
        attributes=tuple(Attribute(a.id, a.kind, a.statement, a.source) for a in file.required_attributes),
        subsystems=tuple(_subsystem(s) for s in file.functional_subsystems),
        motions=tuple(Motion(**motion.model_dump()) for motion in file.required_kinematics),
        materials=tuple(MaterialClaim(m.part, m.classes, m.source) for m in file.material_claims),
        human_checks=tuple(HumanCheck(h.id, h.predicates, h.source) for h in file.human_checks),
        pool=pool,
        reference=reference,
    )


def _subsystem(given: SubsystemFile) -> Subsystem:
    connections = tuple(Connection(c.start, c.end, c.carries) for c in given.connections)
    return Subsystem(given.id, given.subsystem, given.function, given.parts, connections, given.source)


def pool_mesh_of(part: Mapping[str, Any], data: DataPath) -> Mesh:
    """The mesh of an entry of the pool, compiled or read; `ProgramError` or `DesignError` if it has none."""
    if "program" in part:
        return compiled_mesh(part["program"])
    from evalkit_lmbuild.formats.assets import pool_mesh

    mesh = part["mesh"]
    size = None if mesh["size_m"] is None else vector(mesh["size_m"])
    return pool_mesh(data(mesh["file"], mesh["sha256"]), mesh["unit_m"], size)


def _pool_part(part: PoolPartFile, data: DataPath) -> PoolPart:
    try:
        return PoolPart(part.pool_part_id, part.name, pool_mesh_of(part.model_dump(mode="json"), data))
    except (ProgramError, DesignError) as error:
        raise ObjectError(f"subpart_pool: part {part.pool_part_id!r}: {error}") from error


def _stands(reference: Design | None) -> bool:
    """Whether a reference stands by itself: its centre of mass is above its support, or there is none."""
    from evalkit_lmbuild.scoring.structure import structure_field

    if reference is None or not reference.parts:
        return True
    return structure_field(reference).tilt().angle_deg > 0


def _reference(file: ObjectFile, pool: tuple[PoolPart, ...], data: DataPath) -> Design | None:
    if file.reference_mesh is not None:
        return _mesh_reference(file.reference_mesh, data)
    if file.reference is None:
        return None
    document = file.reference
    if found := problems(document, known={part.id for part in pool}):
        raise ObjectError(f"reference: {found[0].message}")
    meshes = {part.id: part.mesh for part in pool}
    try:
        return design_of(document, program_meshes(document.get("programs") or {}, meshes))
    except ProgramError as error:
        raise ObjectError(f"reference: {error}") from error


def _mesh_reference(given: ReferenceMesh, data: DataPath) -> Design:
    from evalkit_lmbuild.formats.assets import reference_design

    try:
        return reference_design(data(given.file, given.sha256), given.joints)
    except DesignError as error:
        raise ObjectError(f"reference: {error}") from error
