"""What tools answer, as JSON and words, never longer than a model can read."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np

from evalkit_brickbench.build import (
    Assembly,
    Box,
    BuildError,
    Connector,
    check,
    compatible,
    describe,
    find,
    measure,
)
from evalkit_brickbench.build._checks import ProfileName
from evalkit_brickbench.build._connectors import LISTS
from evalkit_brickbench.build._files import scene_of
from evalkit_brickbench.build._knowledge import catalogue, title_of
from evalkit_brickbench.part_rules import PartRules
from evalkit_brickbench.scene import Floats
from evalkit_brickbench.toolbox.holdings import Holdings, Thing

SHOWN_CONNECTORS = 60
SHOWN_MEMBERS = 100
SHOWN_COLLISIONS = 20
SHOWN_COMPONENTS = 20
SHOWN_IDS = 12
TEXT_CHARACTERS = 8000


def rounded(values: Sequence[float] | Floats, digits: int = 3) -> list[float]:
    """Numbers for people and models; states keep the exact ones."""
    return [round(float(value), digits) + 0.0 for value in values]


def hits(query: str, limit: int, decorated: bool) -> dict[str, Any]:
    """Parts that were found, the best first."""
    found = find(query, limit, decorated)
    rows = [{"part": hit.stem, "title": hit.title, "score": round(hit.score, 3)} for hit in found]
    return {"ok": True, "parts": rows}


def described(thing: Thing | Connector) -> str:
    """Something in a few lines."""
    return _cut(describe(thing))


def connector_rows(thing: Thing, kind: str, near: Sequence[float] | None, start: int) -> dict[str, Any]:
    """Some of the connectors of something, those of one list or all, nearest first if there is a point."""
    if kind and kind not in LISTS:
        raise BuildError(f"there is no list of connectors {kind!r}: there are {', '.join(LISTS)}")
    chosen = list(thing.connectors.of(kind) if kind else thing.connectors)
    if near is not None:
        point = np.array(near)
        order = np.argsort(
            [round(float(np.linalg.norm(c.pose.position - point)), 6) for c in chosen], kind="stable"
        )
        chosen = [chosen[i] for i in order]
    shown = chosen[start : start + SHOWN_CONNECTORS]
    return {"ok": True, "total": len(chosen), "connectors": [_connector(c) for c in shown]}


def _connector(connector: Connector) -> dict[str, Any]:
    long = {"length": round(2 * connector.half_length, 3)} if connector.half_length else {}
    return {
        "name": connector.name,
        "type": connector.subtype,
        "position": rounded(connector.position),
        "axis": rounded(connector.axis),
        **long,
    }


def fitting(to: Connector, item: str | Assembly | Any) -> dict[str, Any]:
    """Names of the connectors of an item that fit one."""
    found = compatible(to, item)
    names = [connector.name for connector in found[:SHOWN_CONNECTORS]]
    return {"ok": True, "total": len(found), "connectors": names}


def measured(thing: Thing | Connector, other: Thing | Connector | None = None) -> dict[str, Any]:
    """A box, or offset, gap and angle between two things, in LDU and degrees."""
    if other is None:
        box: Box = measure(thing)
        return {"ok": True, "low": rounded(box.low), "high": rounded(box.high), "size": str(box)}
    distance = measure(thing, other)
    angle = {} if distance.angle_deg is None else {"angle_deg": round(distance.angle_deg, 3)}
    return {"ok": True, "offset": rounded(distance.offset), "gap": rounded(distance.gap), **angle}


def members(held: Holdings, assembly: Assembly, start: int) -> dict[str, Any]:
    """What was placed in an assembly, and how many parts that makes."""
    rows = [
        {
            "id": held.id(member),
            "item": member.name if member.stem is None else f"{member.stem} {title_of(member.stem)}",
            "color": member.color,
            "position": rounded(member.pose.position),
        }
        for member in assembly.members[start : start + SHOWN_MEMBERS]
    ]
    return {
        "ok": True,
        "parts": len(assembly.parts),
        "total": len(assembly.members),
        "members": rows,
        "assemblies": list(held.assemblies),
    }


def checked(
    held: Holdings, model: Assembly, rules: PartRules | None, profile: ProfileName
) -> tuple[str, dict[str, Any]]:
    """The report of the checks, and what is at fault by ids."""
    found = check(model, profile)
    broken = [] if rules is None else rules.check(scene_of(model), catalogue())
    clashes = [
        {"parts": [held.path(clash.one), held.path(clash.other)], "kind": clash.kind}
        for clash in found.clashes[:SHOWN_COLLISIONS]
    ]
    components = [
        {"parts": len(group), "ids": [held.path(part) for part in group[:SHOWN_IDS]]}
        for group in found.components[:SHOWN_COMPONENTS]
    ]
    data = {
        "ok": True,
        "valid": found.ok and not broken,
        "parts": found.parts,
        "broken_rules": [rule.message for rule in broken],
        "colliding_pairs": len(found.clashes),
        "collisions": clashes,
        "stable": found.stable,
        "components": components,
    }
    parts = model.parts
    text = re.sub(r"#(\d+) ", lambda number: f"{held.path(parts[int(number[1])])} ", found.text)
    return _cut(text), data


def _cut(text: str) -> str:
    return text if len(text) <= TEXT_CHARACTERS else f"{text[:TEXT_CHARACTERS]}\n…"
