"""What has been built in an episode: instances, joints, sequence, created parts, as JSON-able state."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from evalkit_lmbuild.catalogue import Catalogue
from evalkit_lmbuild.design import Design, Joint, Mesh, Part, Step, Vector
from evalkit_lmbuild.documents import (
    compiled_mesh,
    document_of,
    joint_entry,
    read_joint,
    read_step,
    step_entry,
)

DECIMALS = 6
"""Placements are kept to a micrometre and a millionth of a degree, so that equal calls give equal states."""


@dataclass(frozen=True)
class Instance:
    """A placed part: `part` is the id of a part of the catalogue or of a created one."""

    id: str
    part: str
    position: Vector
    rotation: Vector = (0.0, 0.0, 0.0)
    role: str | None = None
    material: str | None = None


def rounded(values: Sequence[float]) -> Vector:
    """Three numbers as they are kept; never −0.0."""
    x, y, z = (round(float(value), DECIMALS) + 0.0 for value in values)
    return (x, y, z)


class Scene:
    """The state of an episode. Tools change it; whoever changes it keeps its ids resolvable."""

    def __init__(self, catalogue: Catalogue) -> None:
        self.catalogue = catalogue
        self.instances: dict[str, Instance] = {}
        self.joints: dict[str, Joint] = {}
        self.sequence: tuple[Step, ...] = ()
        self.created: dict[str, Any] = {}
        self.round = 1
        self.over = False
        self._parts: dict[str, tuple[Instance, Part]] = {}

    def has_part(self, part: str) -> bool:
        """Whether a part can be placed: it is in the catalogue or was created."""
        return part in self.created or part in self.catalogue

    def mesh(self, part: str) -> Mesh:
        """The mesh of a part that can be placed; KeyError if it can't."""
        return compiled_mesh(self.created[part]) if part in self.created else self.catalogue[part]

    def part(self, instance: str) -> Part:
        """A placed part with its mesh; KeyError if it isn't placed."""
        found = self.instances[instance]
        known = self._parts.get(instance)
        if known is None or known[0] != found:
            source = "created" if found.part in self.created else "pool"
            mesh = self.mesh(found.part)
            made = Part(
                found.id, mesh, found.position, found.rotation, found.role, found.material, source, found.part
            )
            known = self._parts[instance] = (found, made)
        return known[1]

    def to_design(self) -> Design:
        """The scene as a design."""
        parts = tuple(self.part(instance) for instance in self.instances)
        return Design(parts, tuple(self.joints.values()), self.sequence)

    def document(self, system: str = "", tier: str = "") -> dict[str, Any]:
        """The scene as a design.json that needs no meshes where programs make its parts."""
        used = {instance.part for instance in self.instances.values()}
        programs = {part: self.created[part] for part in used if part in self.created}
        for part in used - programs.keys():
            if (program := self.catalogue.program(part)) is not None:
                programs[part] = dict(program)
        return document_of(self.to_design(), programs, system, tier)

    def remove(self, instance: str) -> list[str]:
        """Take a part away, with its joints and its step; the ids of the joints."""
        del self.instances[instance]
        self._parts.pop(instance, None)
        gone = [joint.id for joint in self.joints.values() if instance in (joint.parent, joint.child)]
        for joint in gone:
            del self.joints[joint]
        self.sequence = tuple(step for step in self.sequence if step.part != instance)
        return gone

    def state(self) -> dict[str, Any]:
        """Everything an agent has set, as JSON."""
        return {
            "round": self.round,
            "over": self.over,
            "instances": [
                {
                    "id": instance.id,
                    "part": instance.part,
                    "position": list(instance.position),
                    "rotation": list(instance.rotation),
                    "role": instance.role,
                    "material": instance.material,
                }
                for instance in self.instances.values()
            ],
            "joints": [joint_entry(joint) for joint in self.joints.values()],
            "sequence": [step_entry(step) for step in self.sequence],
            "created": [{"name": name, "program": program} for name, program in self.created.items()],
        }

    def restore(self, state: Mapping[str, Any]) -> None:
        """Become what a `state()` of a scene with the same catalogue describes."""
        self.round, self.over = state["round"], state["over"]
        self.created = {entry["name"]: entry["program"] for entry in state["created"]}
        self.instances = {
            entry["id"]: Instance(
                entry["id"],
                entry["part"],
                rounded(entry["position"]),
                rounded(entry["rotation"]),
                entry["role"],
                entry["material"],
            )
            for entry in state["instances"]
        }
        self.joints = {entry["id"]: read_joint(entry) for entry in state["joints"]}
        self.sequence = tuple(read_step(entry) for entry in state["sequence"])

    def copy(self) -> Scene:
        """A scene that can be changed without changing this one."""
        twin = Scene(self.catalogue)
        twin.take(self)
        return twin

    def take(self, other: Scene) -> None:
        """Become equal to another scene with the same catalogue."""
        self.instances, self.joints = dict(other.instances), dict(other.joints)
        self.sequence, self.created = other.sequence, dict(other.created)
        self.round, self.over = other.round, other.over
        self._parts = dict(other._parts)
