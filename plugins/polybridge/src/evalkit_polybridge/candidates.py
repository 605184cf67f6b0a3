"""Candidate trusses of a level as arrays: every topology with all its geometries, and the forces in them.

This is what the `truss` agent and the reference designer have in common: a level's spans, the legal
geometries of each topology, static design forces, and the materials that carry a margin times those forces.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from evalkit_polybridge.clearance import keeps_clear, obstacle_triangles
from evalkit_polybridge.constants import (
    COORDINATE_DECIMALS,
    JOINT_WEIGHT_PN,
    PG_PN,
    START_SPACING_M,
)
from evalkit_polybridge.graph import Bridge, Edge, Level, Node
from evalkit_polybridge.sizing import Pricing, Stock, of_option
from evalkit_polybridge.statics import (
    Floats,
    Ints,
    axle_loads,
    member_forces,
    relative_stiffness,
    train_on_deck,
)
from evalkit_polybridge.trusses import (
    ABOVE,
    BELOW,
    Span,
    Topology,
    coordinates,
    level_spans,
    panel_counts,
    topologies,
)

#: Truss depths tried, in metres.
DEPTHS_M = (0.3, 0.45, 0.57, 0.7, 0.85, 1.0, 1.15, 1.3, 1.5, 1.7, 1.9, 2.2, 2.6)
#: Deck rise tried, as a share of the span; flat and gently cambered.
CAMBERS = (0.0, 0.04)
#: The train of wheels stops every so many metres.
TRAIN_STEP_M = 0.4
#: Dead load is applied in a fraction of a second, which overshoots the static force.
DEAD_LOAD_FACTOR = 1.6
#: Peak over static force under a moving train, by side of the deck.
MOVING_LOAD_FACTOR = {BELOW: 1.15, ABOVE: 1.30}
#: No member is designed for less, so that margins stay finite.
LEAST_FORCE_PN = 1.0
#: Air left between a hump's deck and the rock below it, in metres.
HUMP_CLEARANCE_M = (0.1, 0.25)
#: Shorter members are not tried: a joint that close to another is no help.
SHORTEST_M = 0.15


@dataclass(frozen=True, slots=True)
class Batch:
    """The legal geometries of one topology over one span.

    Attributes:
        xy: joint coordinates (G, n, 2), rounded as an answer's are.
        triangles: what has to be kept clear of, (t, 3, 2).
        train_pn: vertical loads on the deck's inner joints, one row per position of the vehicles,
            (positions, panels − 1).
    """

    span: Span
    topology: Topology
    depth_m: Floats
    rise_m: Floats
    xy: Floats
    length_m: Floats
    stock: Stock
    pricing: Pricing
    triangles: Floats
    train_pn: Floats

    def design_forces(self, option: Ints) -> Floats:
        """Forces (G, m) in PN to size members for, given their present materials.

        Dead load and moving load get a dynamic factor each; the greater of pull and push counts.
        """
        strength = of_option(self.pricing.strength_pn, option)
        stiffness = relative_stiffness(strength, self.length_m)
        forces = member_forces(
            self.xy, self.topology.members, stiffness, self.topology.fixed, self._loads(option)
        )
        dead, unit = forces[:, :, :1], forces[:, :, 1:]
        moving = unit @ self.train_pn.T * MOVING_LOAD_FACTOR[self.topology.side]
        pull = (dead + np.maximum(moving.max(axis=2, keepdims=True), 0.0))[:, :, 0]
        push = (dead + np.minimum(moving.min(axis=2, keepdims=True), 0.0))[:, :, 0]
        live = np.maximum(abs(pull), abs(push))
        design: Floats = np.maximum(np.maximum(DEAD_LOAD_FACTOR * abs(dead[:, :, 0]), live), LEAST_FORCE_PN)
        return design

    def _loads(self, option: Ints) -> Floats:
        """Dead weight in the first column, then a unit load on every inner deck joint: (G, n, 2, panels)."""
        geometries, joints = self.xy.shape[:2]
        weight = of_option(self.pricing.weight_pn_per_m, option) * self.length_m / 2
        on_joint = np.full((geometries, joints), JOINT_WEIGHT_PN)
        for end in (0, 1):
            incidence = np.eye(joints)[self.topology.members[:, end]]
            on_joint += weight @ incidence
        loads = np.zeros((geometries, joints, 2, self.topology.panels))
        loads[:, :, 1, 0] = -on_joint
        inner = np.arange(1, self.topology.panels)
        loads[:, inner, 1, inner] = -1.0
        return loads

    def with_geometry(self, depth_m: Floats, rise_m: Floats) -> Batch | None:
        """The same topology with other geometries, those of them that are legal; None if none is."""
        return _batch(self.span, self.topology, depth_m, rise_m, self.stock, self.triangles, self.train_pn)

    def take(self, geometries: Ints) -> Batch:
        """Only some geometries."""
        return replace(
            self,
            depth_m=self.depth_m[geometries],
            rise_m=self.rise_m[geometries],
            xy=self.xy[geometries],
            length_m=self.length_m[geometries],
            pricing=self.pricing.take(geometries),
        )


def level_batches(level: Level) -> list[list[list[Batch]]]:
    """For every way to cut the level into spans, for every span, the batches of its topologies."""
    stock = Stock.of(level.materials)
    return [[_span_batches(level, span, stock, spans) for span in spans] for spans in level_spans(level)]


def _span_batches(level: Level, span: Span, stock: Stock, spans: tuple[Span, ...]) -> list[Batch]:
    ends = {node.id for s in spans for node in (s.left, s.right)}
    passed_over = [p for p in level.platforms if not ends & set(p.anchor_ids)]
    triangles = obstacle_triangles(level.regions, passed_over)
    rises = _rises(span, triangles)
    depth, rise = (grid.ravel() for grid in np.meshgrid(DEPTHS_M, rises, indexing="ij"))
    batches = []
    for panels in panel_counts(span):
        deck_x = span.left.x + span.length_m * np.arange(panels + 1) / panels
        train = train_on_deck(deck_x, *axle_loads(level.vehicles_pg, START_SPACING_M, PG_PN), TRAIN_STEP_M)
        for topology in topologies(span, panels):
            batch = _batch(span, topology, depth, rise, stock, triangles, train[:, 1:-1])
            if batch is not None:
                batches.append(batch)
    return batches


def _batch(
    span: Span,
    topology: Topology,
    depth: Floats,
    rise: Floats,
    stock: Stock,
    triangles: Floats,
    train: Floats,
) -> Batch | None:
    """The geometries among (depth, rise) that are legal: lengths within limits, clear of triangles."""
    xy = np.round(coordinates(span, topology, depth, rise), COORDINATE_DECIMALS) + 0.0
    delta = xy[:, topology.members[:, 1]] - xy[:, topology.members[:, 0]]
    length = np.hypot(delta[:, :, 0], delta[:, :, 1])
    possible = np.isfinite(Pricing.of(stock, length, topology.road).price).any(axis=2)
    legal = np.asarray(np.all(possible & (length > SHORTEST_M), axis=1))
    legal[legal] = keeps_clear(xy[legal], topology.members, triangles)
    if not legal.any():
        return None
    length = length[legal]
    pricing = Pricing.of(stock, length, topology.road)
    return Batch(
        span, topology, depth[legal], rise[legal], xy[legal], length, stock, pricing, triangles, train
    )


def _rises(span: Span, triangles: Floats) -> Floats:
    """Deck rises at midspan to try: the cambers, and humps over what stands a little above the line."""
    need = 0.0
    for x, y in triangles.reshape(-1, 2):
        u = (x - span.left.x) / span.length_m
        height = y - span.line_y(float(x))
        if 0 < u < 1 and -0.1 < height < 1.5:
            need = max(need, height / (4 * u * (1 - u)))
    humps = [need + air for air in HUMP_CLEARANCE_M] if need > 0 else []
    return np.array(sorted({*(c * span.length_m for c in CAMBERS), *humps}))


@dataclass(frozen=True, slots=True)
class Design:
    """One geometry of a batch with a material option for every member."""

    batch: Batch
    geometry: int
    option: Ints

    def cost(self) -> float:
        """Dollars."""
        price = self.batch.pricing.price[self.geometry]
        return math.fsum(price[np.arange(len(self.option)), self.option])

    def strength_pn(self) -> Floats:
        """Strength of every member, (m,)."""
        strength: Floats = of_option(self.batch.pricing.strength_pn, self.option[None])[0]
        return strength

    def resized(self, required_pn: Floats) -> Design:
        """The same truss with the cheapest options that have the required strengths (m,)."""
        one = self.batch.pricing.take(np.array([self.geometry]))
        return replace(self, option=one.choose(required_pn[None])[0])

    def stacks(self) -> list[tuple[int, ...]]:
        """The material types of every member, in the order of the topology's members."""
        kinds = self.batch.topology.road.tolist()
        return [
            self.batch.stock.stacks[int(road)][o] for road, o in zip(kinds, self.option.tolist(), strict=True)
        ]


def assemble(level: Level, designs: Sequence[Design]) -> Bridge:
    """The bridge of one design per span: native ids kept, new joints and then members numbered on."""
    nodes = list(level.anchors)
    next_id = max(node.id for node in level.anchors) + 1
    joints: list[list[int]] = []
    for design in designs:
        topology, span = design.batch.topology, design.batch.span
        native = {0: span.left.id, topology.panels: span.right.id}
        first_support = len(topology.u) - len(topology.supports)
        native |= {first_support + i: s.id for i, s in enumerate(topology.supports)}
        ids = []
        for joint, (x, y) in enumerate(design.batch.xy[design.geometry].tolist()):
            if joint not in native:
                nodes.append(Node(next_id, x, y))
                native[joint] = next_id
                next_id += 1
            ids.append(native[joint])
        joints.append(ids)
    edges: list[Edge] = []
    for design, ids in zip(designs, joints, strict=True):
        for (a, b), stack in zip(design.batch.topology.members.tolist(), design.stacks(), strict=True):
            for material in stack:
                edges.append(Edge(next_id, material, ids[a], ids[b]))
                next_id += 1
    return Bridge(tuple(nodes), tuple(edges))
