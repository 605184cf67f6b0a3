"""`reference`: builds an object's reference by tool calls, as an agent could: the upper bound of the scale.

It knows what is hidden from agents, so it stands apart from them. Parts and joints get ids of its own: what
an agent gets to see must not hold anything of the reference.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from evalkit import Observation, Reply, StepContext, Stop, Tool, ToolCall
from evalkit_lmbuild.settings import settings_of
from evalkit_lmbuild.tasks import embedded_document


class ReferenceAgent:
    """Plays the reference of a task of this project's own; where there is none it stops."""

    def __init__(self, argument: str, settings: Mapping[str, Any]) -> None:
        self._settings = settings_of(settings)
        self._document: Mapping[str, Any] | None = None
        self._calls: Iterator[ToolCall] = iter(())

    def use_task(self, task: str) -> None:
        """Take up a task's reference."""
        self._document = embedded_document(task)

    def start(self, tools: Sequence[Tool], seed: int) -> None:
        """Begin at the first call."""
        self._calls = iter(self._script())

    def act(self, observation: Observation, ctx: StepContext) -> Reply | Stop:
        """The next call."""
        call = next(self._calls, None)
        return Stop("there is no reference to build") if call is None else Reply((call,))

    def _script(self) -> list[ToolCall]:
        if self._document is None or self._document["reference"] is None:
            return []
        calls = reference_calls(self._document, self._settings.tier)
        return calls + [ToolCall("submit")] * self._settings.rounds


def reference_calls(document: Mapping[str, Any], tier: str) -> list[ToolCall]:
    """The calls that build an object's reference in a tier, without the submission.

    In tier C parts of the catalogue are created by their programs; in tier A a part with a program of its own
    is taken from the catalogue where that has the same one, and otherwise left out.
    """
    reference = document["reference"]
    pool = {part["pool_part_id"]: part["program"] for part in document["subpart_pool"]["parts"]}
    programs = reference.get("programs") or {}
    builder = _Builder(tier, pool, programs)
    for part in reference["parts"]:
        builder.place(part)
    for joint in reference.get("joints") or []:
        builder.join(joint)
    builder.order(reference.get("sequence") or [])
    return builder.calls


class _Builder:
    def __init__(self, tier: str, pool: Mapping[str, Any], programs: Mapping[str, Any]) -> None:
        self._tier, self._pool, self._programs = tier, pool, programs
        self.calls: list[ToolCall] = []
        self._ids: dict[str, str] = {}
        self._made: dict[str, str] = {}
        self._joints = 0

    def place(self, part: Mapping[str, Any]) -> None:
        """Create the part if need be, and place it."""
        source = self._source(part["source"]["id"])
        if source is None:
            return
        name = self._ids[part["id"]] = f"p{len(self._ids) + 1:02}"
        call = {
            "part_id": source,
            "instance_id": name,
            "position": part["source"]["position"],
            "rotation": part["source"].get("rotation"),
            "role": part.get("role"),
            "material": part.get("material"),
        }
        self._call("place_part", call)

    def join(self, joint: Mapping[str, Any]) -> None:
        """Add a joint whose parts are both there."""
        if joint["parent"] not in self._ids or joint["child"] not in self._ids:
            return
        self._joints += 1
        call = {key: joint.get(key) for key in ("type", "axis", "origin", "limits")}
        call |= {"joint_id": f"j{self._joints:02}"}
        call |= {key: self._ids[joint[key]] for key in ("parent", "child")}
        self._call("add_joint", call)

    def order(self, sequence: Sequence[Mapping[str, Any]]) -> None:
        """Set the sequence."""
        steps = [
            {"part": self._ids[step["part"]], "direction": step.get("direction")}
            for step in sequence
            if step["part"] in self._ids
        ]
        if steps:
            self._call("set_assembly_sequence", {"steps": steps})

    def _source(self, name: str) -> str | None:
        program = self._programs.get(name, self._pool.get(name))
        if self._tier != "C" and name not in self._programs:
            return name
        if self._tier == "A":
            return next((part for part, other in self._pool.items() if other == program), None)
        if name not in self._made:
            self._made[name] = f"made{len(self._made) + 1:02}"
            self._call("create_part", {"name": self._made[name], "program": program})
        return self._made[name]

    def _call(self, tool: str, arguments: Mapping[str, Any]) -> None:
        given = {key: value for key, value in arguments.items() if value is not None}
        self.calls.append(ToolCall(tool, given))
