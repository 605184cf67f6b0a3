"""What the checks found, for programs and for people: the same content as JSON and as lines of text."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from evalkit_brickbench.connections import FAMILIES
from evalkit_brickbench.inspection import Inspection
from evalkit_brickbench.stability.constants import AIR_LDU
from evalkit_brickbench.stability.verdict import ComponentMotion, Stability

SHOWN_COLLISIONS = 12
SHOWN_LINES = 8
EXACT_LDU = 1e-3
"""Connections with a larger residual are reported: files hold three to six digits."""
EXACT_RAD = 1e-3


def as_json(found: Inspection) -> dict[str, Any]:
    """The report as plain JSON values; indices count the parts in depth-first file order."""
    scene, connections, contacts = found.scene, found.connections, found.contacts
    unknown = dict(connections.unknown)
    counts = Counter(zip(scene.stems, scene.colours.tolist(), strict=True))
    report: dict[str, Any] = {
        "model_sha256": found.sha256,
        "parts": len(scene),
        "known_parts": int((found.components.labels >= 0).sum()),
        "unknown_parts": unknown,
        "distinct_parts": len(set(scene.stems)),
        "part_colour_counts": {f"{stem} {colour}": n for (stem, colour), n in sorted(counts.items())},
        "components": len(found.components.sizes),
        "component_sizes": sorted(found.components.sizes.tolist(), reverse=True),
        "connection_edges": {name: connections.by_family().get(name, 0) for name in FAMILIES},
        "inexact_connections": inexact(found),
        "unlabelled_stud_contacts": None
        if contacts is None
        else np.unique(np.stack([contacts.stud_parts, contacts.parts], axis=1), axis=0).tolist(),
        "mirrored_parts": np.flatnonzero(connections.parts.reflected).tolist(),
        "deformed_parts": np.flatnonzero(connections.parts.deformed).tolist(),
        "tolerance_profile": found.protocol.profile,
        "tau_ldu": found.depth_ldu,
        "collision_pairs": None if found.collisions is None else found.collisions.pairs.tolist(),
        "colliding_parts": [] if found.collisions is None else np.unique(found.collisions.pairs).tolist(),
        "collisions": collision_rows(found),
        "collision_pair_counts": pair_counts(found),
        "unchecked_parts": unchecked(found),
        **_stability(found),
        "notes": [str(note) for note in found.notes],
        "failures": list(found.failures),
        "providers": dict(found.sources),
        "seconds": dict(found.seconds),
    }
    return report


def _stability(found: Inspection) -> dict[str, Any]:
    stability = found.stability
    if stability is None:
        return {"stable": None, "stability_method": None, "max_displacement_ldu": None, "stability": None}
    return {
        "stable": stability.stable,
        "stability_method": stability.method,
        "max_displacement_ldu": round(stability.max_displacement_ldu, 4),
        "stability": {
            "engine": stability.engine,
            "ground": None if stability.ground_part is None else part(found, stability.ground_part),
            "ground_ldu": stability.ground_ldu,
            "moving": [_motion(found, motion) for motion in stability.moving],
            "in_the_air": [_motion(found, motion) for motion in stability.in_the_air],
            "touching": [list(pair) for pair in stability.touching],
            "clusters": [
                {
                    "components": list(cluster.components),
                    "stable": cluster.stable,
                    "method": cluster.method,
                    "reason": cluster.reason,
                }
                for cluster in stability.clusters
            ],
            "notes": list(stability.notes),
        },
    }


def _motion(found: Inspection, motion: ComponentMotion) -> dict[str, Any]:
    return {
        "component": motion.component,
        "parts": motion.parts,
        "path": _common_path(found, motion.component),
        "drop_ldu": round(motion.drop_ldu, 4),
        "displacement_ldu": round(motion.displacement_ldu, 4),
        "furthest_part": part(found, motion.furthest_part),
        "centre_margin_ldu": None if motion.centre_margin_ldu is None else round(motion.centre_margin_ldu, 4),
    }


def part(found: Inspection, index: int) -> dict[str, Any]:
    """One part: its index, name, sub-model and where it stands."""
    scene = found.scene
    return {
        "index": int(index),
        "stem": scene.stems[index],
        "path": scene.paths[index],
        "position": [round(float(x), 4) for x in scene.positions[index]],
    }


def collision_rows(found: Inspection, most: int = SHOWN_COLLISIONS) -> list[dict[str, Any]]:
    """The first collisions in full: both parts, where they overlap, what they are attached to."""
    collisions = found.collisions
    if collisions is None:
        return []
    pairs = collisions.pairs[:most].tolist()
    neighbours = _neighbours(found, [part for pair in pairs for part in pair])
    return [
        {
            "parts": [part(found, i), part(found, j)],
            "kind": collisions.kinds[number],
            "overlap_box": [[round(float(x), 3) for x in corner] for corner in collisions.boxes[number]],
            "attached_to": [neighbours[i], neighbours[j]],
        }
        for number, (i, j) in enumerate(pairs)
    ]


def collision_line(found: Inspection, row: Mapping[str, Any]) -> str:
    """One of these for people."""
    one, other = (_named(found, p["index"]) for p in row["parts"])
    size = np.subtract(row["overlap_box"][1], row["overlap_box"][0])
    return f"{one} and {other}: {row['kind']}, boxes share {_numbers(size)} LDU"


def _neighbours(found: Inspection, parts: Sequence[int]) -> dict[int, list[int]]:
    """Indices of the parts that each of some parts is connected to."""
    a, b = found.connections.part_a, found.connections.part_b
    return {
        index: sorted({*b[a == index].tolist(), *a[b == index].tolist()} - {index}) for index in set(parts)
    }


def pair_counts(found: Inspection) -> dict[str, int]:
    """Colliding pairs by names of their parts, most frequent first."""
    stems = found.scene.stems
    pairs = [] if found.collisions is None else found.collisions.pairs.tolist()
    counts = Counter(" + ".join(sorted((stems[i], stems[j]))) for i, j in pairs)
    return dict(sorted(counts.items(), key=lambda item: (-item[1], item[0])))


def inexact(found: Inspection) -> list[dict[str, Any]]:
    """Connections that hold within the tolerances but not exactly, the loosest first."""
    edges = found.connections
    loose = np.flatnonzero((edges.residual_ldu > EXACT_LDU) | (edges.residual_rad > EXACT_RAD))
    order = loose[np.lexsort((loose, -edges.residual_rad[loose], -edges.residual_ldu[loose]))]
    return [
        {
            "parts": [int(edges.part_a[e]), int(edges.part_b[e])],
            "family": FAMILIES[edges.families[e]],
            "residual_ldu": round(float(edges.residual_ldu[e]), 4),
            "residual_rad": round(float(edges.residual_rad[e]), 5),
        }
        for e in order.tolist()
    ]


def unchecked(found: Inspection) -> dict[str, int]:
    """Parts that collisions weren't looked for, by name: no mesh, or squeezed flat by their matrix."""
    if found.collisions is None:
        return {}
    indices = (*found.collisions.without_mesh, *found.collisions.without_volume)
    return dict(sorted(Counter(found.scene.stems[i] for i in indices).items()))


def _common_path(found: Inspection, component: int) -> str:
    """The sub-model that all parts of a component stand in, as far as they share one."""
    chains = [found.scene.paths[i].split("/") for i in np.flatnonzero(found.components.labels == component)]
    shared = []
    for names in zip(*chains, strict=False):
        if len(set(names)) > 1:
            break
        shared.append(names[0])
    return "/".join(shared)


def as_text(found: Inspection, title: str, *, name_collisions: bool = True) -> list[str]:
    """The report in lines for people; without `name_collisions` colliding pairs are counted only."""
    return [
        f"{title}: {_summary(found)}",
        *_unknown_lines(found),
        *_connection_lines(found),
        *_collision_lines(found, name_collisions),
        *_stability_lines(found),
        *(f"failure: {failure}" for failure in found.failures),
        *_cut([f"note: {note}" for note in found.notes], "notes"),
        f"sources: {'; '.join(f'{name} {_short(id)}' for name, id in found.sources.items())}",
    ]


def _summary(found: Inspection) -> str:
    sizes = sorted(found.components.sizes.tolist(), reverse=True)
    shown = ", ".join(map(str, sizes[:SHOWN_LINES])) + (" …" if len(sizes) > SHOWN_LINES else "")
    kinds = len(set(found.scene.stems))
    return (
        f"{_count(len(found.scene), 'part')} of {_count(kinds, 'kind')}, "
        f"{_count(len(sizes), 'component')}{f' ({shown})' if sizes else ''}"
    )


def _unknown_lines(found: Inspection) -> list[str]:
    unknown = found.connections.unknown
    if not unknown:
        return []
    total = sum(n for _, n in unknown)
    names = ", ".join(f"{stem} × {n}" for stem, n in unknown[:SHOWN_LINES])
    more = f" and {len(unknown) - SHOWN_LINES} more kinds" if len(unknown) > SHOWN_LINES else ""
    return [f"unknown parts: {total} ({names}{more}); they connect to nothing"]


def _connection_lines(found: Inspection) -> list[str]:
    edges = found.connections.by_family()
    shown = ", ".join(f"{name} {edges[name]}" for name in FAMILIES if name in edges) or "none"
    lines = [f"connections: {len(found.connections)} ({shown})"]
    loose = inexact(found)
    if loose:
        worst = loose[0]
        i, j = worst["parts"]
        lines.append(
            f"  {_count(len(loose), 'connection')} not exact; the loosest by {worst['residual_ldu']:g} LDU, "
            f"{worst['residual_rad']:g} rad ({worst['family']}): {_named(found, i)} and {_named(found, j)}"
        )
    if found.contacts is not None and len(found.contacts):
        stud, other = int(found.contacts.stud_parts[0]), int(found.contacts.parts[0])
        lines.append(
            f"  {_count(len(found.contacts), 'stud')} inside parts of other components without a labelled "
            f"connection, such as of {_named(found, stud)} in {_named(found, other)}"
        )
    return lines


def _collision_lines(found: Inspection, named_too: bool) -> list[str]:
    if found.collisions is None:
        return ["collisions: not checked"]
    depth = f"deeper than {found.depth_ldu:g} LDU, profile {found.protocol.profile}"
    lines = [f"colliding pairs: {len(found.collisions)} ({depth})"]
    if named_too:
        lines += [f"  {collision_line(found, row)}" for row in collision_rows(found)]
    if len(found.collisions) > SHOWN_COLLISIONS:
        counts = list(pair_counts(found).items())
        named = ", ".join(f"{pair} × {n}" for pair, n in counts[:SHOWN_LINES])
        more = " …" if len(counts) > SHOWN_LINES else ""
        lines.append(f"  and {len(found.collisions) - SHOWN_COLLISIONS} more; by parts: {named}{more}")
    left = unchecked(found)
    if left:
        names = ", ".join(f"{stem} × {n}" for stem, n in list(left.items())[:SHOWN_LINES])
        lines.append(f"  not checked, no mesh or no volume: {names}{' …' if len(left) > SHOWN_LINES else ''}")
    return lines


def _stability_lines(found: Inspection) -> list[str]:
    stability = found.stability
    if stability is None:
        return ["stability: not looked at"]
    verdict = {True: "stable", False: "unstable", None: "undetermined"}[stability.stable]
    unsure = "neither screen nor simulation can tell"
    by = unsure if stability.stable is None else f"by {stability.method}"
    simulated = stability.engine is not None and stability.method != "screen"
    engine = f", {stability.engine}" if simulated else ""
    lines = [f"stability: {verdict} ({by}{engine}); moves {stability.max_displacement_ldu:.3g} LDU at most"]
    if found.collisions is not None and len(found.collisions):
        lines.append("  colliding parts were taken as they are: the verdict holds if they are mended")
    if stability.ground_part is not None and stability.stable is not True:
        lines.append(f"  the ground is where {_named(found, stability.ground_part)} ends")
    lines += _cut([f"  {_motion_line(found, m)}" for m in _at_fault(stability)], "components")
    lines += [f"  {cluster.reason}" for cluster in stability.clusters if cluster.stable is None][:SHOWN_LINES]
    return lines + [f"  {note}" for note in stability.notes]


def _at_fault(stability: Stability) -> list[ComponentMotion]:
    return [m for m in stability.components if m in stability.moving or m in stability.in_the_air]


def _motion_line(found: Inspection, motion: ComponentMotion) -> str:
    where = _common_path(found, motion.component)
    name = f"component {motion.component} ({_count(motion.parts, 'part')}{f' of {where}' if where else ''})"
    air = f" starts {motion.drop_ldu:.2f} LDU in the air," if motion.drop_ldu > AIR_LDU else ""
    moves = (
        f"{name}{air} moves {motion.displacement_ldu:.2f} LDU, furthest {_named(found, motion.furthest_part)}"
    )
    margin = motion.centre_margin_ldu
    if margin is None:
        return moves
    side = "inside" if margin >= 0 else "outside"
    return f"{moves}; its centre of mass is {abs(margin):.1f} LDU {side} its support"


def _named(found: Inspection, index: int) -> str:
    path = found.scene.paths[index]
    at = _numbers(found.scene.positions[index])
    return f"#{index} {found.scene.stems[index]}{f' in {path}' if path else ''} at ({at})"


def _numbers(values: Any) -> str:
    return ", ".join(f"{float(x):.4g}" for x in values)


def _short(id: str) -> str:
    """An id with its hashes cut."""
    return re.sub(r"(sha256:[0-9a-f]{12})[0-9a-f]+", r"\1…", id)


def _count(n: int, noun: str) -> str:
    return f"{n:,} {noun}{'' if n == 1 else 's'}"


def _cut(lines: list[str], what: str) -> list[str]:
    if len(lines) <= SHOWN_LINES:
        return lines
    return [*lines[:SHOWN_LINES], f"  … and {len(lines) - SHOWN_LINES} more {what}"]
