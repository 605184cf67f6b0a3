"""From assemblies to scenes and LDraw files."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from evalkit_brickbench.build._errors import BuildError
from evalkit_brickbench.ldraw.writer import Model, file_name, references, write_ldr, write_mpd
from evalkit_brickbench.scene import Scene

if TYPE_CHECKING:
    from evalkit_brickbench.build._assembly import Assembly


def scene_of(model: Assembly) -> Scene:
    """The parts of a model as every check takes them, in the order of `model.parts`."""
    parts = model.parts
    return Scene(
        stems=tuple(part.stem for part in parts),
        colours=np.array([part.color for part in parts], np.int32),
        matrices=np.array([part.pose.rotation for part in parts], np.float64).reshape(-1, 3, 3),
        positions=np.array([part.pose.position for part in parts], np.float64).reshape(-1, 3),
        paths=tuple(part.path for part in parts),
        steps=np.zeros(len(parts), np.int32),
    )


def write(model: Assembly, path: Path) -> Path:
    """See `Assembly.write`."""
    suffix = path.suffix.lower()
    if suffix not in (".ldr", ".mpd"):
        raise BuildError(f"{path.name}: the name of an LDraw file ends in .ldr (flat) or .mpd (sub-models)")
    data = mpd_of(model) if suffix == ".mpd" else write_ldr(scene_of(model), path.name, model.name)
    path.write_bytes(data)
    return path


def mpd_of(model: Assembly) -> bytes:
    """The model as an MPD: itself first, then each assembly in it once."""
    assemblies = _assemblies(model)
    names = _file_names(assemblies)
    blocks = []
    for assembly in assemblies:
        members = assembly.members
        placed = references(
            [file_name(m.stem or "") if m.assembly is None else names[id(m.assembly)] for m in members],
            np.array([member.color for member in members], np.int32),
            np.array([member.pose.rotation for member in members], np.float64),
            np.array([member.pose.position for member in members], np.float64),
        )
        blocks.append(Model(names[id(assembly)], assembly.name, placed))
    return write_mpd(blocks)


def _assemblies(model: Assembly) -> list[Assembly]:
    """A model and all assemblies in it, each once, in the order of their first use."""
    found: dict[int, Assembly] = {id(model): model}

    def visit(assembly: Assembly) -> None:
        for member in assembly.members:
            if member.assembly is not None and id(member.assembly) not in found:
                found[id(member.assembly)] = member.assembly
                visit(member.assembly)

    visit(model)
    return list(found.values())


def _file_names(assemblies: list[Assembly]) -> dict[int, str]:
    """Names of sub-models by the id of the assembly; equal names are numbered."""
    taken: set[str] = set()
    names = {}
    for assembly in assemblies:
        name, number = f"{assembly.name}.ldr", 1
        while name.lower() in taken:
            number += 1
            name = f"{assembly.name} {number}.ldr"
        taken.add(name.lower())
        names[id(assembly)] = name
    return names
