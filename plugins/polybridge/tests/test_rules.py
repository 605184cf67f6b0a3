"""The rules of a design: legal ones pass, and each mistake is caught by exactly its own rule."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evalkit_polybridge.constants import LENGTH_TOLERANCE_M
from evalkit_polybridge.graph import Bridge, Edge, Level, Node, Region
from evalkit_polybridge.rules import RULE_CODES, Problem, check, is_legal

Mutation = Callable[[Level, Bridge], tuple[Level, Bridge]]


def codes(problems: list[Problem]) -> set[str]:
    return {problem.code for problem in problems}


def next_id(bridge: Bridge) -> int:
    return max(item.id for item in (*bridge.nodes, *bridge.edges)) + 1


def with_nodes(bridge: Bridge, *nodes: Node) -> Bridge:
    return Bridge((*bridge.nodes, *nodes), bridge.edges)


def with_edges(bridge: Bridge, *edges: Edge) -> Bridge:
    return Bridge(bridge.nodes, (*bridge.edges, *edges))


def change_node(bridge: Bridge, index: int, **changes: Any) -> Bridge:
    nodes = list(bridge.nodes)
    nodes[index] = replace(nodes[index], **changes)
    return Bridge(tuple(nodes), bridge.edges)


def change_edge(bridge: Bridge, index: int, **changes: Any) -> Bridge:
    edges = list(bridge.edges)
    edges[index] = replace(edges[index], **changes)
    return Bridge(bridge.nodes, tuple(edges))


def rename_anchor(level: Level, bridge: Bridge) -> tuple[Level, Bridge]:
    new = next_id(bridge)
    swap = {1: new}
    edges = tuple(replace(e, a=swap.get(e.a, e.a), b=swap.get(e.b, e.b)) for e in bridge.edges)
    return level, change_node(Bridge(bridge.nodes, edges), 0, id=new)


def stack_node(level: Level, bridge: Bridge) -> tuple[Level, Bridge]:
    below, new = bridge.nodes[-1], next_id(bridge)
    return level, with_edges(with_nodes(bridge, Node(new, below.x, below.y)), Edge(new + 1, 2, new, below.id))


def float_a_bar(level: Level, bridge: Bridge) -> tuple[Level, Bridge]:
    new = next_id(bridge)
    bar = with_nodes(bridge, Node(new, -3.0, 3.0), Node(new + 1, -2.0, 3.0))
    return level, with_edges(bar, Edge(new + 2, 2, new, new + 1))


def rock_on_a_member(level: Level, bridge: Bridge) -> tuple[Level, Bridge]:
    nodes, edge = bridge.node_by_id(), bridge.edges[-1]
    x = (nodes[edge.a].x + nodes[edge.b].x) / 2.0
    y = (nodes[edge.a].y + nodes[edge.b].y) / 2.0
    rock = Region(((x - 0.05, y - 0.05), (x + 0.05, y - 0.05), (x, y + 0.05)))
    return replace(level, regions=(*level.regions, rock)), bridge


MUTATIONS: list[tuple[str, Mutation]] = [
    ("NON_FINITE", lambda v, b: (v, change_node(b, -1, y=math.nan))),
    ("NON_FINITE", lambda v, b: (v, change_node(b, -1, x=-math.inf))),
    ("NON_FINITE", lambda v, b: (v, change_edge(b, 0, rate=math.inf))),
    ("NON_FINITE", lambda v, b: (v, change_node(b, 0, x=math.nan))),
    ("OUT_OF_RANGE", lambda v, b: (v, change_node(b, -1, y=-1e308))),
    ("DUPLICATE_NODE_ID", lambda v, b: (v, with_nodes(b, replace(b.nodes[-1], x=-4.0)))),
    ("DUPLICATE_NODE_ID", lambda v, b: (v, with_nodes(b, b.nodes[0]))),
    ("DUPLICATE_EDGE_ID", lambda v, b: (v, change_edge(b, 1, id=b.edges[0].id))),
    ("DUPLICATE_EDGE_ID", lambda v, b: (v, with_edges(b, b.edges[0]))),
    ("DUPLICATE_EDGE_ID", lambda v, b: (v, change_edge(b, 0, id=b.nodes[-1].id))),
    ("DUPLICATE_EDGE_ID", lambda v, b: (v, change_edge(b, 0, id=1))),
    ("ANCHOR_MISSING", lambda v, b: (v, Bridge(b.nodes[1:], b.edges))),
    ("ANCHOR_RENAMED", rename_anchor),
    ("ANCHOR_RENAMED", lambda v, b: (v, change_node(b, 0, id=next_id(b)))),
    ("ANCHOR_RENAMED", lambda v, b: (v, change_node(b, 0, id=9999))),
    ("ANCHOR_MOVED", lambda v, b: (v, change_node(b, 1, x=b.nodes[1].x + 0.0001))),
    ("ANCHOR_MOVED", lambda v, b: (v, change_node(b, 1, y=50.0))),
    ("ANCHOR_DYNAMIC", lambda v, b: (v, change_node(b, 0, fixed=False))),
    ("INVENTED_ANCHOR", lambda v, b: (v, change_node(b, -1, fixed=True))),
    ("INVENTED_ANCHOR", lambda v, b: (v, with_nodes(b, Node(next_id(b), 1.0, 1.0, True)))),
    ("UNKNOWN_ENDPOINT", lambda v, b: (v, with_edges(b, Edge(next_id(b), 2, b.nodes[-1].id, 9999)))),
    ("UNKNOWN_ENDPOINT", lambda v, b: (v, with_edges(b, Edge(next_id(b), 2, 9999, 9999)))),
    ("SELF_EDGE", lambda v, b: (v, with_edges(b, Edge(next_id(b), 2, 1, 1)))),
    ("UNKNOWN_MATERIAL", lambda v, b: (v, change_edge(b, -1, material=0))),
    ("UNKNOWN_MATERIAL", lambda v, b: (v, change_edge(b, -1, material=7))),
    ("MATERIAL_NOT_ADMITTED", lambda v, b: (v, change_edge(b, -1, material=3))),
    ("ZERO_LENGTH", stack_node),
    ("EDGE_TOO_LONG", lambda v, b: (v, with_edges(b, Edge(next_id(b), 2, 1, 2)))),
    ("DUPLICATE_EDGE", lambda v, b: (v, with_edges(b, replace(b.edges[-1], id=next_id(b))))),
    (
        "DUPLICATE_EDGE",
        lambda v, b: (v, with_edges(b, replace(b.edges[0], id=next_id(b), a=b.edges[0].b, b=b.edges[0].a))),
    ),
    ("ISOLATED_NODE", lambda v, b: (v, with_nodes(b, Node(next_id(b), -3.0, 3.0)))),
    ("DISCONNECTED", float_a_bar),
    ("OVER_BUDGET", lambda v, b: (replace(v, budget=b.cost() - 0.01), b)),
    ("CLEARANCE", rock_on_a_member),
    ("NON_SEQUENTIAL_IDS", lambda v, b: (v, change_edge(b, -1, id=next_id(b) + 7))),
]


@given(data=st.data())
@settings(max_examples=40)
def test_legal_designs_have_no_problems(designs: st.SearchStrategy[Any], data: st.DataObject) -> None:
    level, bridge = data.draw(designs)
    assert check(level, bridge) == []
    assert check(replace(level, budget=bridge.cost()), bridge) == []


@pytest.mark.parametrize("number", range(len(MUTATIONS)))
@given(data=st.data())
@settings(max_examples=8)
def test_one_mistake_is_caught_by_exactly_its_rule(
    designs: st.SearchStrategy[Any], number: int, data: st.DataObject
) -> None:
    code, mutate = MUTATIONS[number]
    problems = check(*mutate(*data.draw(designs)))
    assert codes(problems) == {code}
    assert is_legal(problems) == (code == "NON_SEQUENTIAL_IDS")
    assert all("\n" not in problem.message for problem in problems)


def test_every_rule_has_a_mutation() -> None:
    assert {code for code, _ in MUTATIONS} == set(RULE_CODES)


def test_all_mistakes_come_together_in_a_fixed_order(design: tuple[Level, Bridge]) -> None:
    level, bridge = design
    bad = ("OVER_BUDGET", "ISOLATED_NODE", "EDGE_TOO_LONG", "DISCONNECTED", "ANCHOR_DYNAMIC", "SELF_EDGE")
    for code in bad:
        mutate = next(mutation for name, mutation in MUTATIONS if name == code)
        level, bridge = mutate(level, bridge)
    found = [problem.code for problem in check(level, bridge)]
    assert set(found) == set(bad)
    assert found == sorted(found, key=RULE_CODES.index)


def test_a_problem_says_what_where_and_how_much(design: tuple[Level, Bridge]) -> None:
    level, bridge = design
    new = next_id(bridge)
    (problem,) = check(level, with_edges(bridge, Edge(new, 2, 1, 2)))
    assert (problem.code, problem.ids, problem.value, problem.limit) == ("EDGE_TOO_LONG", (new,), 8.0, 2.0)
    assert problem.message == (
        f"edge {new} (Wood, nodes 1–2) is 8 m long and the limit is 2 m: "
        "split it with a node in between or move an end"
    )
    cost = bridge.cost()
    (problem,) = check(replace(level, budget=cost - 100.0), bridge)
    assert problem.value == pytest.approx(cost)
    assert problem.limit == pytest.approx(cost - 100.0)
    assert "save $100.00" in problem.message


def two_bars(*nodes: Node, budget: float = 50_000.0, materials: tuple[int, ...] = (1, 2, 3)) -> Level:
    return Level("Bars", 4.0, 0.0, nodes, (3.0,), materials, budget)


LEFT, RIGHT = Node(1, 0.0, 0.0, True), Node(2, 4.0, 0.0, True)


@pytest.mark.parametrize(("excess_m", "legal"), [(0.0, True), (0.9, True), (1.1, False)])
def test_the_length_tolerance_is_a_millionth_of_a_metre(excess_m: float, legal: bool) -> None:
    # The third node is not on the 4-decimal grid, as in a design that never went through a reply.
    node = Node(3, 2.0 + excess_m * LENGTH_TOLERANCE_M, 0.0)
    problems = check(two_bars(LEFT, RIGHT), Bridge((LEFT, RIGHT, node), (Edge(4, 1, 1, 3),)))
    assert codes(problems) == (set() if legal else {"EDGE_TOO_LONG"})
    assert all("2.000001" in problem.message for problem in problems)


def test_two_materials_between_two_nodes_and_unused_anchors_are_legal() -> None:
    deck = Bridge((LEFT, RIGHT, Node(3, 2.0, 0.0)), (Edge(4, 1, 1, 3), Edge(5, 2, 3, 1)))
    assert check(two_bars(LEFT, RIGHT), deck) == []
    assert check(two_bars(LEFT, RIGHT), Bridge((LEFT, RIGHT), ())) == []


def test_a_part_that_only_an_invented_anchor_holds_is_disconnected() -> None:
    bar = Bridge((LEFT, RIGHT, Node(3, 1.0, 1.0, True), Node(4, 2.0, 1.0)), (Edge(5, 2, 3, 4),))
    assert codes(check(two_bars(LEFT, RIGHT), bar)) == {"INVENTED_ANCHOR", "DISCONNECTED"}


def test_swapped_anchors_have_moved() -> None:
    swapped = Bridge((replace(LEFT, id=2), replace(RIGHT, id=1)), ())
    problems = check(two_bars(LEFT, RIGHT), swapped)
    assert [(problem.code, problem.ids, problem.value) for problem in problems] == [
        ("ANCHOR_MOVED", (1,), 4.0),
        ("ANCHOR_MOVED", (2,), 4.0),
    ]


def test_ids_out_of_sequence_can_be_made_a_violation(design: tuple[Level, Bridge]) -> None:
    level, bridge = design
    stray = next_id(bridge) + 7
    bridge = change_edge(bridge, -1, id=stray)
    assert is_legal(check(level, bridge))
    (problem,) = check(level, bridge, sequential_ids="violation")
    assert not is_legal([problem])
    assert problem.ids == (stray,)


def rocky(*corners: tuple[float, float], applies_to: tuple[int, ...] = ()) -> Level:
    a, b, c = corners
    return replace(two_bars(LEFT, RIGHT), regions=(Region((a, b, c), applies_to),))


BAR = Bridge((LEFT, RIGHT, Node(3, 2.0, 0.0)), (Edge(4, 2, 1, 3),))


@pytest.mark.parametrize(
    ("apex_y", "touched"),
    [(0.0, True), (-0.0001, False), (0.0001, True)],
)
def test_touching_the_boundary_counts(apex_y: float, touched: bool) -> None:
    problems = check(rocky((1.0, apex_y), (0.5, -3.0), (1.5, -3.0)), BAR)
    assert codes(problems) == ({"CLEARANCE"} if touched else set())


def test_a_region_holds_for_the_materials_it_names() -> None:
    triangle = ((1.0, 1.0), (0.5, -3.0), (2.5, -3.0))
    assert check(rocky(*triangle, applies_to=(1, 3)), BAR) == []
    (problem,) = check(rocky(*triangle, applies_to=(2,)), BAR)
    assert problem.ids == (4,)
    # A quarter of the way down, the sides are 0.125 m left and 0.375 m right of the apex.
    assert problem.value == pytest.approx(0.5)


def test_a_node_inside_a_region_is_named_with_its_depth() -> None:
    problems = check(rocky((1.5, -1.0), (2.5, -1.0), (2.0, 1.0), applies_to=(2,)), BAR)
    assert [problem.ids for problem in problems] == [(3,), (4,)]
    # The sides through (2, 1) have the slope ±4: (2, 0) is 1 / √17 from each, and 1 from the base.
    assert problems[0].value == pytest.approx(1.0 / math.sqrt(17.0))


def test_native_anchors_are_not_blamed_for_where_the_level_put_them() -> None:
    around_anchor = rocky((-1.0, -1.0), (1.0, -1.0), (0.0, 1.0))
    assert check(around_anchor, Bridge((LEFT, RIGHT), ())) == []
    assert [problem.ids for problem in check(around_anchor, BAR)] == [(4,)]


def test_the_region_offset_grows_and_shrinks_regions() -> None:
    below = rocky((1.0, -0.5), (-3.0, -4.5), (5.0, -4.5))  # sides at 45°: the apex rises by offset · √2
    assert check(below, BAR, region_offset_m=0.35) == []
    assert codes(check(below, BAR, region_offset_m=0.36)) == {"CLEARANCE"}
    through = rocky((1.0, 0.5), (-3.0, -4.5), (5.0, -4.5))
    assert codes(check(through, BAR)) == {"CLEARANCE"}
    assert check(through, BAR, region_offset_m=-0.5) == []
    assert check(through, BAR, region_offset_m=-50.0) == []


@pytest.mark.parametrize("shape", ["chain", "star", "parallel", "lost"])
def test_a_hostile_graph_is_judged_all_the_same(shape: str) -> None:
    count = 100_000
    nodes = tuple(Node(i, float(i % 900), -3.0 - i % 7) for i in range(3, count + 3))
    ends = {
        "chain": lambda i: (i, i + 1),
        "star": lambda i: (3, i + 1),
        "parallel": lambda i: (3, 4),
        "lost": lambda i: (-i, -i - 1),
    }[shape]
    edges = tuple(Edge(count + i, 2, *ends(i)) for i in range(3, count + 2))
    problems = check(rocky((1.0, -1.0), (0.5, -3.0), (9.5, -3.0)), Bridge((LEFT, RIGHT, *nodes), edges))
    assert not is_legal(problems)
