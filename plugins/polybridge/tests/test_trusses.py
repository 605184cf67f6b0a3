"""The vocabulary of trusses: stable, legal, and shaped as its names say."""

from __future__ import annotations

import numpy as np
import pytest

from evalkit_polybridge.candidates import Design, assemble, level_batches
from evalkit_polybridge.clearance import keeps_clear, obstacle_triangles
from evalkit_polybridge.constants import MATERIALS
from evalkit_polybridge.graph import Level, Node, Platform, Region
from evalkit_polybridge.levels import generate
from evalkit_polybridge.regions import grid_point, grid_triangle, touches
from evalkit_polybridge.rules import check, is_legal
from evalkit_polybridge.statics import member_forces
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

SPAN = Span(Node(1, 0.0, 0.0, True), Node(2, 12.0, 1.0, True))
LEVELS = {level.name: level for level, _ in generate()}


def gap(span_m: float = 12.0, *, supports: tuple[Node, ...] = (), **fields: object) -> Level:
    anchors = (Node(1, 0.0, 0.0, True), Node(2, span_m, 0.0, True), *supports)
    values: dict[str, object] = {"materials": (1, 2, 3), "budget": 50_000.0, "vehicles_pg": (3.0,)} | fields
    return Level("gap", span_m, 0.0, anchors, **values)  # type: ignore[arg-type]


def plain(web: str, side: int, panels: int) -> Topology:
    return next(t for t in topologies(SPAN, panels) if (t.web, t.side) == (web, side))


@pytest.mark.parametrize("panels", range(2, 14))
def test_every_plain_truss_is_stable_and_once_indeterminate(panels: int) -> None:
    """Between two pinned ends a simple truss has one redundant: the thrust."""
    for topology in topologies(SPAN, panels):
        xy = coordinates(SPAN, topology, np.array([1.2]), np.array([0.5]))
        loads = np.zeros((1, len(topology.u), 2, 1))
        loads[0, :, 1] = -1.0
        k = np.ones((1, len(topology.members)))
        forces = member_forces(xy, topology.members, k, topology.fixed, loads)
        assert np.abs(forces).max() < 1e3
        assert len(topology.members) - 2 * (~topology.fixed).sum() == 1


@pytest.mark.parametrize("side", [BELOW, ABOVE])
@pytest.mark.parametrize(("web", "sign"), [("pratt", 1), ("howe", -1)])
def test_pratt_diagonals_are_pulled_and_howe_diagonals_pushed(web: str, side: int, sign: int) -> None:
    level = Span(Node(1, 0.0, 0.0, True), Node(2, 12.0, 0.0, True))
    topology = plain(web, side, 8)
    xy = coordinates(level, topology, np.array([1.2]), np.array([0.0]))
    loads = np.zeros((1, len(topology.u), 2, 1))
    loads[0, 1:8, 1] = -1.0
    # The deck's ends are pinned; a soft deck takes no thrust, as in a simply supported truss.
    stiffness = np.where(topology.road, 1e-4, 1.0)[None]
    forces = member_forces(xy, topology.members, stiffness, topology.fixed, loads)[0, :, 0]
    delta = xy[0, topology.members[:, 1]] - xy[0, topology.members[:, 0]]
    sloped = (np.abs(delta) > 0.1).all(axis=1)
    sloped &= ~np.isin(topology.members, [0, 8]).any(axis=1)
    assert sloped.sum() == 6
    assert (np.sign(forces[sloped]) == sign).all()


def test_road_panels_come_first_and_run_from_bank_to_bank() -> None:
    for topology in topologies(SPAN, 7):
        assert topology.members[:7].tolist() == [[i, i + 1] for i in range(7)]
        assert topology.road.sum() == 7
        assert topology.fixed[[0, 7]].all()


def test_depth_and_rise_mean_what_they_say() -> None:
    topology = plain("warren", BELOW, 6)
    xy = coordinates(SPAN, topology, np.array([1.5]), np.array([0.4]))[0]
    assert xy[0].tolist() == [0.0, 0.0]
    assert xy[6].tolist() == [12.0, 1.0]
    assert xy[3] == pytest.approx([6.0, 0.5 + 0.4])
    assert xy[7] == pytest.approx([1.0, 1 / 12 + 4 * 0.4 * (1 / 12) * (11 / 12) - 1.5])


def test_panels_are_never_longer_than_a_road() -> None:
    assert panel_counts(SPAN)[0] == 7  # 12.04 m of road: six panels of 2 m don't reach
    assert panel_counts(Span(SPAN.left, Node(2, 12.0, 0.0, True)))[0] == 6


def test_platforms_are_used_or_passed_over() -> None:
    platforms = (Platform(4.0, 6.0, 0.0, -7.0, (3, 4)), Platform(10.0, 12.0, 0.0, -7.0, (5, 6)))
    corners = tuple(
        Node(i, x, 0.0, True)
        for p in platforms
        for i, x in zip(p.anchor_ids, (p.x_start, p.x_end), strict=True)
    )
    ways = level_spans(gap(16.0, supports=corners, platforms=platforms))
    assert [[(s.left.id, s.right.id) for s in way] for way in ways] == [
        [(1, 3), (4, 5), (6, 2)],
        [(1, 3), (4, 2)],
        [(1, 5), (6, 2)],
        [(1, 2)],
    ]


def test_no_member_enters_a_platform_that_is_passed_over() -> None:
    platform = Platform(5.0, 7.0, -0.5, -7.0, (3, 4))
    corners = (Node(3, 5.0, -0.5, True), Node(4, 7.0, -0.5, True))
    over = level_batches(gap(supports=corners, platforms=(platform,)))[-1][0]
    assert over
    triangles = obstacle_triangles([], [platform])
    for batch in over:
        assert keeps_clear(batch.xy, batch.topology.members, triangles, margin_m=0.0).all()


@pytest.mark.parametrize(
    ("supports", "uses"),
    [
        ((Node(3, 0.0, -2.0, True), Node(4, 12.0, -2.0, True)), {"", "chord end", "bracket"}),
        ((Node(3, 0.0, 2.0, True),), {"", "chord end", "bracket"}),
        ((Node(3, 6.0, -2.0, True),), {"", "column", "pier"}),
    ],
)
def test_native_supports_are_used_where_they_exist(supports: tuple[Node, ...], uses: set[str]) -> None:
    (span,) = level_spans(gap(supports=supports))[0]
    found = list(topologies(span, 6))
    assert {t.support for t in found} == uses
    for topology in found:
        anchors = {s.id for s in topology.supports}
        assert anchors == ({s.id for s in supports} if topology.support else set())


def test_a_column_stands_under_the_middle_of_the_deck() -> None:
    (span,) = level_spans(gap(supports=(Node(3, 6.0, -2.0, True),)))[0]
    column = next(t for t in topologies(span, 6) if t.support == "column")
    assert column.members[-1].tolist() == [len(column.u) - 1, 3]


def test_the_deck_humps_over_a_rock_above_the_line() -> None:
    level = LEVELS["T4D_Elevated_14m_E1m_6PG"]
    (span,) = level_batches(level)[0]
    assert span
    assert min(float(batch.rise_m.min()) for batch in span) > 1.0


def test_triangle_test_agrees_with_the_exact_rule() -> None:
    rng = np.random.default_rng(7)
    for _ in range(300):
        triangle = np.round(rng.uniform(-2, 2, (3, 2)), 4)
        ends = np.round(rng.uniform(-3, 3, (1, 2, 2)), 4)
        apart = bool(keeps_clear(ends, np.array([[0, 1]]), triangle[None], margin_m=0.0)[0])
        a, b = (grid_point(tuple(p)) for p in ends[0].tolist())
        corners = [tuple(p) for p in triangle.tolist()]
        assert apart != touches(a, b, grid_triangle((corners[0], corners[1], corners[2])))


def test_the_margin_is_kept() -> None:
    rock = obstacle_triangles([Region(((0.0, 0.0), (-1.0, -2.0), (1.0, -2.0)))], [])
    above = np.array([[[-1.0, 0.03], [1.0, 0.03]]])
    assert keeps_clear(above, np.array([[0, 1]]), rock, margin_m=0.02).all()
    assert not keeps_clear(above, np.array([[0, 1]]), rock, margin_m=0.04).any()


@pytest.mark.parametrize("name", sorted(LEVELS)[::7])
def test_every_topology_of_a_level_makes_a_legal_bridge(name: str) -> None:
    level = LEVELS[name]
    for way in level_batches(level):
        for number in range(max(len(span) for span in way)):
            batches = [span[number % len(span)] for span in way if span]
            if len(batches) < len(way):
                continue
            strongest = [b.pricing.choose(np.full((1, len(b.topology.members)), 1e9)) for b in batches]
            designs = [Design(b, 0, option[0]) for b, option in zip(batches, strongest, strict=True)]
            problems = [p for p in check(level, assemble(level, designs)) if p.code != "OVER_BUDGET"]
            assert is_legal(problems), problems


def test_assembled_ids_continue_from_the_anchors() -> None:
    level = gap()
    (span,) = level_batches(level)[0]
    design = Design(span[0], 0, np.zeros(len(span[0].topology.members), dtype=np.int64))
    bridge = assemble(level, [design])
    ids = [node.id for node in bridge.nodes] + [edge.id for edge in bridge.edges]
    assert ids == list(range(1, len(ids) + 1))
    assert bridge.nodes[:2] == level.anchors
    assert design.cost() == pytest.approx(bridge.cost())
    lengths = bridge.lengths_m()
    assert all(lengths[e.id] <= MATERIALS[e.material].max_length_m for e in bridge.edges)
