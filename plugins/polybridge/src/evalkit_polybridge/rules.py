"""The rules a design has to obey before it may be executed: every violation at once, and how to mend it.

The rules judge legality only. They neither complete a design nor predict whether it stands, and whether
the road is continuous is no rule. One mistake is reported under one code: a native anchor that is missing,
moved or dynamic is named once, and everything else is judged as if it stood where the level has it; where
ids repeat, the first node or edge counts; an edge with a defect of its own is left out of later rules.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Literal

from evalkit_polybridge import regions
from evalkit_polybridge.constants import LENGTH_TOLERANCE_M, MATERIALS, Material
from evalkit_polybridge.graph import Bridge, Edge, Level, Node

#: Largest absolute coordinate, in metres.
MAX_COORDINATE_M = 1000.0
#: A cost this far beyond the budget, in dollars, is rounding.
COST_TOLERANCE = 1e-6

#: Codes of `check`, in the order of its answer.
RULE_CODES = (
    "NON_FINITE", "OUT_OF_RANGE", "DUPLICATE_NODE_ID", "DUPLICATE_EDGE_ID",
    "ANCHOR_MISSING", "ANCHOR_RENAMED", "ANCHOR_MOVED", "ANCHOR_DYNAMIC", "INVENTED_ANCHOR",
    "UNKNOWN_ENDPOINT", "SELF_EDGE", "UNKNOWN_MATERIAL", "MATERIAL_NOT_ADMITTED",
    "ZERO_LENGTH", "EDGE_TOO_LONG", "DUPLICATE_EDGE", "ISOLATED_NODE", "DISCONNECTED",
    "OVER_BUDGET", "CLEARANCE", "NON_SEQUENTIAL_IDS",
)  # fmt: skip

# Coordinates are exact in 4 decimals: closer than this they are the same.
_HALF_STEP_M = 0.5 / regions.STEPS_PER_M

_Grid = dict[int, regions.GridPoint]
# A region's name in messages, the materials it holds for (none: all), and its corners.
_Solid = tuple[str, tuple[int, ...], regions.GridTriangle]


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing wrong with a reply or a design.

    `code` names the rule, `message` says what is wrong, where, and what to do; `ids` are the nodes or edges
    at fault, `value` the measured quantity and `limit` what it may be (units are in the message). An
    advisory problem makes nothing illegal.
    """

    code: str
    message: str
    ids: tuple[int, ...] = ()
    value: float | None = None
    limit: float | None = None
    advisory: bool = False


def is_legal(problems: Iterable[Problem]) -> bool:
    """Whether none of the problems is a violation (advisories don't count)."""
    return all(problem.advisory for problem in problems)


def check(
    level: Level,
    bridge: Bridge,
    *,
    region_offset_m: float = 0.0,
    sequential_ids: Literal["advisory", "violation"] = "advisory",
) -> list[Problem]:
    """All rules `bridge` breaks in `level`, in the order of `RULE_CODES`, then of the design.

    `region_offset_m` moves the sides of every forbidden region outwards (negative: inwards).
    `sequential_ids` says how much weight ids have that don't continue from the highest native one.
    Clearance is judged on coordinates rounded to 4 decimals. Work is linear in the design's size.
    """
    design = _Design.of(level, bridge)
    return [
        *_numbers(bridge),
        *_repeated_ids(level, bridge),
        *_native_anchors(level, bridge, design.renamed),
        *_invented_anchors(design),
        *_endpoints(bridge, design),
        *_materials(level, bridge),
        *_lengths(design),
        *_repeated_edges(bridge, design),
        *_isolated_nodes(bridge, design),
        *_disconnected_parts(bridge, design),
        *_budget(level, design),
        *_clearance(level, design, region_offset_m),
        *_id_sequence(level, bridge, design, advisory=sequential_ids == "advisory"),
    ]


@dataclass(frozen=True, slots=True)
class _Member:
    """An edge with two different usable ends and a known material."""

    edge: Edge
    a: Node
    b: Node
    material: Material
    length_m: float


@dataclass(frozen=True, slots=True)
class _Design:
    """A bridge with the defects of its identity set aside; see the module's first paragraph.

    `renamed` maps native anchor ids to the ids under which they appear instead; `supports` are the ids of
    native anchors, under their own or their other id.
    """

    nodes: dict[int, Node]
    renamed: dict[int, int]
    supports: frozenset[int]
    members: tuple[_Member, ...]

    @staticmethod
    def of(level: Level, bridge: Bridge) -> _Design:
        nodes: dict[int, Node] = {}
        for node in bridge.nodes:
            nodes.setdefault(node.id, node)
        renamed = _renamed_anchors(level, nodes)
        native = {anchor.id: anchor for anchor in level.anchors}
        nodes.update(native)
        members = tuple(_members(bridge, nodes))
        return _Design(nodes, renamed, frozenset((*native, *renamed.values())), members)


def _renamed_anchors(level: Level, nodes: dict[int, Node]) -> dict[int, int]:
    native = {anchor.id for anchor in level.anchors}
    strangers = {
        regions.grid_point((node.x, node.y)): node.id
        for node in reversed(nodes.values())
        if node.fixed and node.id not in native and _usable(node)
    }
    missing = ((a.id, regions.grid_point((a.x, a.y))) for a in level.anchors if a.id not in nodes)
    return {anchor_id: strangers[place] for anchor_id, place in missing if place in strangers}


def _members(bridge: Bridge, nodes: dict[int, Node]) -> Iterator[_Member]:
    for edge in bridge.edges:
        a, b, material = nodes.get(edge.a), nodes.get(edge.b), MATERIALS.get(edge.material)
        if a and b and material and edge.a != edge.b and _usable(a) and _usable(b):
            yield _Member(edge, a, b, material, math.hypot(b.x - a.x, b.y - a.y))


def _usable(node: Node) -> bool:
    """Whether a node has a place: false for NaN, infinities and coordinates out of range."""
    return abs(node.x) <= MAX_COORDINATE_M and abs(node.y) <= MAX_COORDINATE_M


def _numbers(bridge: Bridge) -> Iterator[Problem]:
    nodes = [node for node in bridge.nodes if not _usable(node)]
    infinite = [node for node in nodes if not (math.isfinite(node.x) and math.isfinite(node.y))]
    for node in infinite:
        message = f"node {node.id} is at ({node.x}, {node.y}): coordinates have to be finite numbers"
        yield Problem("NON_FINITE", message, (node.id,))
    for edge in bridge.edges:
        if not math.isfinite(edge.rate):
            message = f"edge {edge.id} has the rate {edge.rate}: give a finite number, 0 if unsure"
            yield Problem("NON_FINITE", message, (edge.id,))
    for node in nodes:
        if math.isfinite(node.x) and math.isfinite(node.y):
            yield out_of_range(f"node {node.id} is at ({node.x:g}, {node.y:g})", node)


def out_of_range(what: str, node: Node) -> Problem:
    """The problem of a node farther out than `MAX_COORDINATE_M`; `what` begins the message."""
    message = f"{what}: coordinates have to lie between ±{MAX_COORDINATE_M:g} m"
    return Problem("OUT_OF_RANGE", message, (node.id,), max(abs(node.x), abs(node.y)), MAX_COORDINATE_M)


def _repeated_ids(level: Level, bridge: Bridge) -> Iterator[Problem]:
    node_ids = Counter(node.id for node in bridge.nodes)
    for node_id, count in node_ids.items():
        if count > 1:
            message = f"{count} nodes have the id {node_id}: give every node an id of its own"
            yield Problem("DUPLICATE_NODE_ID", message, (node_id,), count, 1)
    taken = {*node_ids, *(anchor.id for anchor in level.anchors)}
    for edge_id, count in Counter(edge.id for edge in bridge.edges).items():
        if count > 1:
            message = f"{count} edges have the id {edge_id}: give every edge an id of its own"
            yield Problem("DUPLICATE_EDGE_ID", message, (edge_id,), count, 1)
        elif edge_id in taken:
            message = f"edge {edge_id} has the id of a node: nodes and edges share one id space, renumber it"
            yield Problem("DUPLICATE_EDGE_ID", message, (edge_id,), 2, 1)


def _native_anchors(level: Level, bridge: Bridge, renamed: dict[int, int]) -> Iterator[Problem]:
    given: dict[int, Node] = {}
    for node in bridge.nodes:
        given.setdefault(node.id, node)
    absent = [anchor for anchor in level.anchors if anchor.id not in given]
    present = [(anchor, given[anchor.id]) for anchor in level.anchors if anchor.id in given]
    for anchor in absent:
        if anchor.id not in renamed:
            message = f"native anchor {anchor.id} at {_place(anchor)} is missing: return it unchanged"
            yield Problem("ANCHOR_MISSING", message, (anchor.id,))
    for anchor in absent:
        if anchor.id in renamed:
            other = renamed[anchor.id]
            message = f"native anchor {anchor.id} at {_place(anchor)} appears as node {other}: keep its id"
            yield Problem("ANCHOR_RENAMED", message, (anchor.id, other))
    for anchor, node in present:
        if _usable(node) and (distance := math.hypot(node.x - anchor.x, node.y - anchor.y)) > _HALF_STEP_M:
            message = f"native anchor {anchor.id} moved from {_place(anchor)} to {_place(node)}: put it back"
            yield Problem("ANCHOR_MOVED", message, (anchor.id,), distance, 0.0)
    for anchor, node in present:
        if not node.fixed:
            message = f"native anchor {anchor.id} has lost isKinematic: set it to true"
            yield Problem("ANCHOR_DYNAMIC", message, (anchor.id,))


def _invented_anchors(design: _Design) -> Iterator[Problem]:
    for node in design.nodes.values():
        if node.fixed and node.id not in design.supports:
            message = f"node {node.id} is kinematic but no native anchor: new nodes need isKinematic false"
            yield Problem("INVENTED_ANCHOR", message, (node.id,))


def _endpoints(bridge: Bridge, design: _Design) -> Iterator[Problem]:
    for edge in bridge.edges:
        lost = [end for end in dict.fromkeys((edge.a, edge.b)) if end not in design.nodes]
        if lost:
            message = f"edge {edge.id} ends at {_named(lost, 'node')}, not in the design: correct or add it"
            yield Problem("UNKNOWN_ENDPOINT", message, (edge.id, *lost))
    for edge in bridge.edges:
        if edge.a == edge.b and edge.a in design.nodes:
            message = f"edge {edge.id} joins node {edge.a} to itself: connect two different nodes or drop it"
            yield Problem("SELF_EDGE", message, (edge.id, edge.a))


def _materials(level: Level, bridge: Bridge) -> Iterator[Problem]:
    admitted = ", ".join(f"{t} {MATERIALS[t].name}" for t in level.materials)
    for edge in bridge.edges:
        if edge.material not in MATERIALS:
            message = f"edge {edge.id} has the type {edge.material}, which is no material: use {admitted}"
            yield Problem("UNKNOWN_MATERIAL", message, (edge.id,), edge.material)
    for edge in bridge.edges:
        if edge.material in MATERIALS and edge.material not in level.materials:
            name = MATERIALS[edge.material].name
            message = f"edge {edge.id} is of {name}, which this level does not admit: use {admitted}"
            yield Problem("MATERIAL_NOT_ADMITTED", message, (edge.id,), edge.material)


def _lengths(design: _Design) -> Iterator[Problem]:
    for m in design.members:
        if regions.grid_point((m.a.x, m.a.y)) == regions.grid_point((m.b.x, m.b.y)):
            message = f"{_member(m)} has no length, both ends are at {_place(m.a)}: merge the two nodes"
            yield Problem("ZERO_LENGTH", message, (m.edge.id, m.a.id, m.b.id), 0.0)
    for m in design.members:
        limit = m.material.max_length_m
        if m.length_m > limit + LENGTH_TOLERANCE_M:
            message = (
                f"{_member(m)} is {_number(m.length_m)} m long and the limit is {_number(limit)} m: "
                "split it with a node in between or move an end"
            )
            yield Problem("EDGE_TOO_LONG", message, (m.edge.id,), m.length_m, limit)


def _repeated_edges(bridge: Bridge, design: _Design) -> Iterator[Problem]:
    first: dict[tuple[int, int, int], int] = {}
    ids: set[int] = set()
    for edge in bridge.edges:
        if edge.id in ids or edge.a == edge.b or edge.a not in design.nodes or edge.b not in design.nodes:
            continue
        ids.add(edge.id)
        key = (min(edge.a, edge.b), max(edge.a, edge.b), edge.material)
        if key in first:
            message = (
                f"edge {edge.id} repeats edge {first[key]}: same nodes {key[0]} and {key[1]}, same material; "
                "drop one (a second material between two nodes is legal)"
            )
            yield Problem("DUPLICATE_EDGE", message, (first[key], edge.id))
        else:
            first[key] = edge.id


def _isolated_nodes(bridge: Bridge, design: _Design) -> Iterator[Problem]:
    used = {end for edge in bridge.edges for end in (edge.a, edge.b)}
    for node in design.nodes.values():
        if node.id not in used and node.id not in design.supports and not node.fixed:
            message = f"no edge ends at node {node.id}: connect it or drop it"
            yield Problem("ISOLATED_NODE", message, (node.id,))


def _disconnected_parts(bridge: Bridge, design: _Design) -> Iterator[Problem]:
    parent = {node_id: node_id for node_id in design.nodes}

    def root(node_id: int) -> int:
        while parent[node_id] != node_id:
            parent[node_id] = parent[parent[node_id]]
            node_id = parent[node_id]
        return node_id

    for edge in bridge.edges:
        if edge.a in parent and edge.b in parent:
            parent[root(edge.a)] = root(edge.b)
    parts: dict[int, list[Node]] = {}
    for node in design.nodes.values():
        parts.setdefault(root(node.id), []).append(node)
    for part in parts.values():
        # A part of one node is isolated or hangs on an edge that was named already.
        held = any(node.id in design.supports for node in part)
        if len(part) > 1 and not held and not all(node.fixed for node in part):
            ids = tuple(node.id for node in part)
            message = f"{_named(ids, 'node')} hang together but on no native anchor: connect them to one"
            yield Problem("DISCONNECTED", message, ids, len(ids))


def _budget(level: Level, design: _Design) -> Iterator[Problem]:
    cost = math.fsum(m.length_m * m.material.cost_per_m for m in design.members)
    if cost > level.budget + COST_TOLERANCE:
        message = (
            f"the design costs ${cost:,.2f} and the budget is ${level.budget:,.2f}: "
            f"save ${cost - level.budget:,.2f} with fewer, shorter or cheaper members"
        )
        yield Problem("OVER_BUDGET", message, (), cost, level.budget)


def _clearance(level: Level, design: _Design, offset_m: float) -> Iterator[Problem]:
    solid = list(_solid_regions(level, offset_m))
    if solid:
        grid = {n.id: regions.grid_point((n.x, n.y)) for n in design.nodes.values() if _usable(n)}
        yield from _nodes_in_regions(design, grid, solid)
        yield from _members_in_regions(design, grid, solid)


def _nodes_in_regions(design: _Design, grid: _Grid, solid: list[_Solid]) -> Iterator[Problem]:
    """A node has the materials of its members; where native anchors stand is the level's affair."""
    materials: dict[int, set[int]] = {}
    for m in design.members:
        for end in (m.a.id, m.b.id):
            materials.setdefault(end, set()).add(m.material.type)
    for node_id, point in grid.items():
        if node_id in design.supports:
            continue
        for name, applies_to, triangle in solid:
            applies = not applies_to or not materials.get(node_id, set()).isdisjoint(applies_to)
            if applies and regions.touches(point, point, triangle):
                depth = regions.depth_inside_m(point, triangle)
                message = (
                    f"node {node_id} is {_number(depth)} m inside {name}: move it out, and off the boundary"
                )
                yield Problem("CLEARANCE", message, (node_id,), depth, 0.0)


def _members_in_regions(design: _Design, grid: _Grid, solid: list[_Solid]) -> Iterator[Problem]:
    for m in design.members:
        a, b = grid[m.a.id], grid[m.b.id]
        for name, applies_to, triangle in solid:
            applies = not applies_to or m.material.type in applies_to
            if applies and regions.touches(a, b, triangle):
                inside = regions.length_inside_m(a, b, triangle)
                message = (
                    f"{_member(m)} touches {name}, {_number(inside)} m of it are inside: "
                    "lead it around, touching the boundary counts"
                )
                yield Problem("CLEARANCE", message, (m.edge.id,), inside, 0.0)


def _solid_regions(level: Level, offset_m: float) -> Iterator[_Solid]:
    for number, region in enumerate(level.regions, 1):
        corners = regions.grown_triangle(region.vertices, offset_m) if offset_m else region.vertices
        if corners is not None:
            outline = " ".join(f"({_number(x)}, {_number(y)})" for x, y in corners)
            yield f"forbidden region {number} {outline}", region.applies_to, regions.grid_triangle(corners)


def _id_sequence(level: Level, bridge: Bridge, design: _Design, *, advisory: bool) -> Iterator[Problem]:
    native = {anchor.id for anchor in level.anchors}
    new = [node.id for node in bridge.nodes if node.id not in native] + [edge.id for edge in bridge.edges]
    if len(set(new)) < len(new) or not native.isdisjoint(new) or design.renamed:
        return  # the numbering was judged already
    first, last = max(native, default=0) + 1, max(native, default=0) + len(new)
    strays = sorted(i for i in new if not first <= i <= last)
    if strays:
        message = (
            f"{_named(strays, 'id')} should continue from the highest native id: number the new nodes and "
            f"edges {first} to {last}, in one sequence"
        )
        yield Problem("NON_SEQUENTIAL_IDS", message, tuple(strays), strays[-1], last, advisory)


def _member(m: _Member) -> str:
    return f"edge {m.edge.id} ({m.material.name}, nodes {m.edge.a}–{m.edge.b})"


def _place(node: Node) -> str:
    return f"({_number(node.x)}, {_number(node.y)})"


def _number(value: float) -> str:
    """At most 6 decimals, so that a length just beyond its limit doesn't look equal to it."""
    return f"{value:.6f}".rstrip("0").rstrip(".")


def _named(ids: Iterable[int], noun: str, shown: int = 12) -> str:
    listed = list(ids)
    more = f" and {len(listed) - shown} more" if len(listed) > shown else ""
    return f"{noun}{'s' if len(listed) > 1 else ''} {', '.join(map(str, listed[:shown]))}{more}"
