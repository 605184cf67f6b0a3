"""What was built with tools: assemblies and their members by id, and how that is written as JSON."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from typing import Any

import numpy as np

from evalkit_brickbench.build import Assembly, BuildError, Connector, Member, Part, PlacedPart, Pose
from evalkit_brickbench.toolbox.arguments import MODEL

MAX_PARTS = 5_000
"""Of an assembly, those of the assemblies in it counted each time; the largest setting allows 4,000."""
MAX_ASSEMBLIES = 200

Thing = Part | Member | PlacedPart | Assembly

_ID = re.compile(r"[pa][1-9]\d{0,8}")
_PATH = re.compile(r"[pa][1-9]\d{0,8}(/[pa][1-9]\d{0,8})*")
_CONNECTOR = re.compile(r"(.+)\.([a-z_]+)\[(-?\d{1,6})\]")


class Holdings:
    """All assemblies by name, `model` among them, and all members by id: `p3` a part, `a4` an assembly."""

    def __init__(self) -> None:
        self.assemblies: dict[str, Assembly] = {MODEL: Assembly(MODEL)}
        self._members: dict[str, Member] = {}
        self._ids: dict[int, str] = {}
        self._next = 1

    # what there is

    def assembly(self, name: str) -> Assembly:
        """An assembly by name; BuildError with near ones."""
        found = self.assemblies.get(name)
        if found is None:
            near = get_close_matches(name, self.assemblies, 3, 0.5) or list(self.assemblies)[:8]
            raise BuildError(f"there is no assembly {name!r}: did you mean {', '.join(near)}?")
        return found

    def member(self, id: str) -> Member:
        """What was placed under an id; BuildError if nothing was, or it was removed."""
        found = self._members.get(id)
        if found is None:
            near = get_close_matches(id, self._members, 3, 0.5)
            hint = f"did you mean {', '.join(near)}?" if near else "`contents` lists what there is"
            raise BuildError(f"nothing is called {id!r}: {hint}")
        return found

    def id(self, member: Member) -> str:
        """The id of a member."""
        return self._ids[id(member)]

    def path(self, part: PlacedPart) -> str:
        """Ids that lead to a part, such as `a4/p2`."""
        return "/".join(self.id(member) for member in part.chain)

    def thing(self, text: str) -> Thing:
        """What a text means: an assembly, something placed, or a part of the catalogue."""
        if text in self.assemblies:
            return self.assemblies[text]
        if not _PATH.fullmatch(text):
            return Part(text)
        first, *rest = text.split("/")
        member = self.member(first)
        return self._inside(member, text) if rest else member

    def item(self, text: str) -> Part | Assembly | str:
        """What a text means as something to place; names of parts stay as they are: aliases may move."""
        if text in self.assemblies:
            return self.assemblies[text]
        if _ID.fullmatch(text):
            raise BuildError(f"{text} is placed already: give a part or an assembly")
        return text

    def connector(self, text: str) -> Connector:
        """A connector such as `p3.stud[0]`."""
        match = _CONNECTOR.fullmatch(text)
        if match is None:
            raise BuildError(f"{text!r} names no connector: write it like 'p3.stud[0]'")
        return self.thing(match[1]).connectors.of(match[2])[int(match[3])]

    def connector_inside(self, assembly: Assembly, text: str) -> Connector:
        """A connector of an assembly in its own frame: `stud[0]`, or `p2.stud[0]` of a part in it."""
        found = self.connector(text) if "." in text else self.connector(f"{assembly.name}.{text}")
        if found.root is not assembly:
            raise BuildError(f"{text} isn't a connector of {assembly.name}")
        return found

    def _inside(self, member: Member, path: str) -> PlacedPart:
        found = next((part for part in member.parts if self.path(part) == path), None)
        if found is None:
            raise BuildError(f"there is no part {path}: describe {self.id(member)}, and name a part in it")
        return found

    # changing it

    def new_assembly(self, name: str) -> Assembly:
        """An empty assembly; BuildError if the name is taken, or a part's id."""
        self.require_free(name)
        if len(self.assemblies) >= MAX_ASSEMBLIES:
            raise BuildError(f"there are {MAX_ASSEMBLIES} assemblies already, which is the most there may be")
        self.assemblies[name] = Assembly(name)
        return self.assemblies[name]

    def require_free(self, name: str) -> None:
        """BuildError if no new assembly can have this name."""
        if name.lower() in (taken.lower() for taken in self.assemblies) or _ID.fullmatch(name):
            raise BuildError(f"{name!r} is taken: give another name")

    @staticmethod
    def plain(pose: Pose) -> Pose:
        """The same pose without negative zeros, which would make equal states differ."""
        return Pose(pose.matrix + 0.0)

    def register(self, members: Iterable[Member]) -> list[str]:
        """Ids for members that were placed.

        BuildError, with all of them out again, if there are too many parts.
        """
        placed = list(members)
        try:
            self._require_few()
        except BuildError:
            for member in placed:
                member.root.remove(member)
            raise
        return [self._enter(member) for member in placed]

    def adopt(self, assembly: Assembly) -> None:
        """Take up an assembly that was made elsewhere, with all in it; names that are taken are numbered."""
        new = [made for made in _reachable(assembly) if self.assemblies.get(made.name) is not made]
        if len(self.assemblies) + len(new) > MAX_ASSEMBLIES:
            raise BuildError(f"that would make more than {MAX_ASSEMBLIES} assemblies")
        for made in new:
            made.name = self._free_name(made.name)
            self.assemblies[made.name] = made
            for member in made.members:
                self._enter(member)

    def remove(self, ids: Iterable[str]) -> None:
        """Take members out; BuildError, with nothing changed, if one isn't there."""
        members = {id: self.member(id) for id in ids}
        for id_, member in members.items():
            member.root.remove(member)
            del self._members[id_]
            del self._ids[id(member)]

    def _enter(self, member: Member) -> str:
        name = f"{'p' if member.assembly is None else 'a'}{self._next}"
        self._next += 1
        member.pose = self.plain(member.pose)
        self._members[name], self._ids[id(member)] = member, name
        return name

    def _free_name(self, name: str) -> str:
        taken = {other.lower() for other in self.assemblies}
        number, free = 1, name
        while free.lower() in taken:
            number += 1
            free = f"{name} {number}"
        return free

    def _require_few(self) -> None:
        counts: dict[int, int] = {}

        def count(assembly: Assembly) -> int:
            if id(assembly) not in counts:
                inside = (1 if m.assembly is None else count(m.assembly) for m in assembly.members)
                counts[id(assembly)] = sum(inside)
            return counts[id(assembly)]

        for name, assembly in self.assemblies.items():
            if count(assembly) > MAX_PARTS:
                raise BuildError(f"{name} would have {counts[id(assembly)]:,} parts, more than {MAX_PARTS:,}")

    # as JSON

    def as_json(self) -> dict[str, Any]:
        """Everything, so that `of_json` makes the same again to the last bit."""
        return {
            "next": self._next,
            "assemblies": [
                {"name": name, "members": [self._member_json(member) for member in assembly.members]}
                for name, assembly in self.assemblies.items()
            ],
        }

    @classmethod
    def of_json(cls, state: Mapping[str, Any]) -> Holdings:
        """What `as_json` wrote."""
        made = cls()
        made.assemblies = {saved["name"]: Assembly(saved["name"]) for saved in state["assemblies"]}
        for saved in state["assemblies"]:
            for row in saved["members"]:
                what = made.assemblies[row["assembly"]] if "assembly" in row else Part(row["part"])
                pose = np.eye(4)
                pose[:3] = np.reshape(row["pose"], (3, 4))
                member = made.assemblies[saved["name"]].add(what, color=row["color"])
                member.pose = Pose(pose)
                made._members[row["id"]], made._ids[id(member)] = member, row["id"]
        made._next = state["next"]
        return made

    def _member_json(self, member: Member) -> dict[str, Any]:
        what = {"part": member.stem} if member.assembly is None else {"assembly": member.assembly.name}
        return {
            "id": self.id(member),
            **what,
            "color": member.color,
            "pose": member.pose.matrix[:3].ravel().tolist(),
        }


def _reachable(assembly: Assembly) -> list[Assembly]:
    """An assembly and those in it, each once, in the order of their first use."""
    found: dict[int, Assembly] = {}

    def visit(one: Assembly) -> None:
        if id(one) not in found:
            found[id(one)] = one
            for member in one.members:
                if member.assembly is not None:
                    visit(member.assembly)

    visit(assembly)
    return list(found.values())
