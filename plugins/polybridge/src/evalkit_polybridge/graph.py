"""A bridge as a graph, and the level it has to be built in: y up, metres, native ids.

Everything here is immutable and knows neither files nor physics. A `Level` holds what a model may see;
what it may not see (family, tags, generator parameters) is a `LevelMeta`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from evalkit_polybridge.constants import BANK_FLOOR_Y_M, BANK_LENGTH_M, MATERIALS

Point = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Node:
    """A joint. `fixed` marks a native anchor (`isKinematic` in a save)."""

    id: int
    x: float
    y: float
    fixed: bool = False


@dataclass(frozen=True, slots=True)
class Edge:
    """A member from node `a` to node `b`; `material` is a type number of `constants.MATERIALS`."""

    id: int
    material: int
    a: int
    b: int
    rate: float = 0.0


@dataclass(frozen=True, slots=True)
class Bridge:
    """A complete design: all nodes (the level's anchors included) and all members."""

    nodes: tuple[Node, ...]
    edges: tuple[Edge, ...]

    def node_by_id(self) -> dict[int, Node]:
        """Node id → node; the last one wins where ids repeat."""
        return {node.id: node for node in self.nodes}

    def lengths_m(self) -> dict[int, float]:
        """Member id → length in metres, for members whose two ends exist."""
        nodes = self.node_by_id()
        return {
            edge.id: math.hypot(nodes[edge.b].x - nodes[edge.a].x, nodes[edge.b].y - nodes[edge.a].y)
            for edge in self.edges
            if edge.a in nodes and edge.b in nodes
        }

    def cost(self) -> float:
        """Material cost in dollars: Σ length × price, summed with `math.fsum` (order-independent)."""
        lengths = self.lengths_m()
        return math.fsum(
            lengths[e.id] * MATERIALS[e.material].cost_per_m
            for e in self.edges
            if e.id in lengths and e.material in MATERIALS
        )


@dataclass(frozen=True, slots=True)
class Platform:
    """Drivable rectangular ground between the banks; `anchor_ids` are the nodes on its two upper corners."""

    x_start: float
    x_end: float
    surface_y: float
    bottom_y: float
    anchor_ids: tuple[int, int]


@dataclass(frozen=True, slots=True)
class Region:
    """A triangle that members of the given material types must not touch (empty = every material)."""

    vertices: tuple[Point, Point, Point]
    applies_to: tuple[int, ...] = ()
    type: str = "rock"


@dataclass(frozen=True, slots=True)
class Level:
    """What has to be crossed, with what and for how much: the part that a model may see.

    The left bank's edge is (0, 0), the right bank's (span_m, dy_m). Anchor 1 is the left road end and
    anchor 2 the right one, always; then platform corners in x order; then extra anchors.
    """

    name: str
    span_m: float
    dy_m: float
    anchors: tuple[Node, ...]
    vehicles_pg: tuple[float, ...]
    materials: tuple[int, ...]
    budget: float
    platforms: tuple[Platform, ...] = ()
    regions: tuple[Region, ...] = ()

    def outlines(self) -> tuple[tuple[Point, ...], ...]:
        """The ground as open polylines from left to right: left bank, platforms, right bank."""
        left = ((-BANK_LENGTH_M, 0.0), (0.0, 0.0), (0.0, BANK_FLOOR_Y_M))
        middle = tuple(
            ((p.x_start, p.bottom_y), (p.x_start, p.surface_y), (p.x_end, p.surface_y), (p.x_end, p.bottom_y))
            for p in self.platforms
        )
        right = (
            (self.span_m, BANK_FLOOR_Y_M),
            (self.span_m, self.dy_m),
            (self.span_m + BANK_LENGTH_M, self.dy_m),
        )
        return (left, *middle, right)

    def lowest_surface_y(self) -> float:
        """The lowest drivable height; a vehicle 2.5 m below it is lost."""
        return min(0.0, self.dy_m, *(p.surface_y for p in self.platforms))

    def empty_bridge(self) -> Bridge:
        """The save a level starts from: its anchors and no member."""
        return Bridge(self.anchors, ())


@dataclass(frozen=True, slots=True)
class LevelMeta:
    """What a level's author knows and a model must not see.

    `group` is one of T1, T2, T4, G; `suite` is `core` or `compositional`; `parameters` are the
    generator's own; `strict_budget` in dollars is what costs are compared to, None if that isn't known yet.
    """

    family: str
    group: str
    suite: str
    tags: tuple[str, ...]
    parameters: dict[str, Any]
    strict_budget: float | None = None
