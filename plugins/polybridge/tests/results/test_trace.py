"""Traces: what changed between two designs, and an episode in words and as a picture."""

from __future__ import annotations

import io
from dataclasses import replace
from typing import Any

import pytest
from PIL import Image

from evalkit_polybridge.constants import ROAD, STEEL, WOOD
from evalkit_polybridge.figures.sheet import trace_sheet
from evalkit_polybridge.graph import Bridge, Edge, Node
from evalkit_polybridge.levels.families import generate
from evalkit_polybridge.tasks import level_task
from evalkit_polybridge.trace import compare, difference_text, trace, trace_json, trace_text, traces_table

LEVEL, META = next((level, meta) for level, meta in generate() if level.name == "T1B_Basic_06m")
TASK = level_task(LEVEL, META, "loose")

#: Anchors 1 and 2, a road of two panels over joint 3, a wooden strut to joint 4.
BRIDGE = Bridge(
    (Node(1, 0.0, 0.0, True), Node(2, 4.0, 0.0, True), Node(3, 2.0, 0.0), Node(4, 2.0, -1.0)),
    (
        Edge(5, ROAD.type, 1, 3),
        Edge(6, ROAD.type, 3, 2),
        Edge(7, WOOD.type, 3, 4),
    ),
)


def counts(before: Bridge, after: Bridge) -> tuple[int, ...]:
    d = compare(before, after)
    return (
        d.added_nodes, d.removed_nodes, d.moved_nodes, d.added_members, d.removed_members, d.changed_members,
    )  # fmt: skip


def renumbered(bridge: Bridge, by: int) -> Bridge:
    """The same thing under other ids, members turned round."""
    name = {n.id: n.id if n.fixed else n.id + by for n in bridge.nodes}
    nodes = tuple(replace(n, id=name[n.id]) for n in bridge.nodes)
    edges = tuple(Edge(e.id + by, e.material, name[e.b], name[e.a]) for e in bridge.edges)
    return Bridge(nodes, edges)


def test_new_numbers_change_nothing() -> None:
    for by in (1, 100):
        difference = compare(BRIDGE, renumbered(BRIDGE, by))
        assert difference.is_none
        assert difference_text(difference) == "the same design"


def test_a_node_that_moves_takes_its_members_along() -> None:
    moved = Bridge((*BRIDGE.nodes[:3], Node(4, 2.0, -1.5)), BRIDGE.edges)
    assert counts(BRIDGE, moved) == (0, 0, 1, 0, 0, 0)
    assert difference_text(compare(BRIDGE, moved)) == "nodes 1 moved; cost +$90"


def test_another_material_is_a_change_and_a_second_one_an_addition() -> None:
    steel = Edge(7, STEEL.type, 3, 4)
    assert counts(BRIDGE, Bridge(BRIDGE.nodes, (*BRIDGE.edges[:2], steel))) == (0, 0, 0, 0, 0, 1)
    doubled = Bridge(BRIDGE.nodes, (*BRIDGE.edges, replace(steel, id=8)))
    assert counts(BRIDGE, doubled) == (0, 0, 0, 1, 0, 0)
    assert counts(doubled, BRIDGE) == (0, 0, 0, 0, 1, 0)


def test_nodes_and_members_that_come_and_go() -> None:
    without = Bridge(BRIDGE.nodes[:3], BRIDGE.edges[:2])
    assert counts(BRIDGE, without) == (0, 1, 0, 0, 1, 0)
    assert counts(without, BRIDGE) == (1, 0, 0, 1, 0, 0)
    elsewhere = Bridge((*BRIDGE.nodes[:3], Node(9, 1.0, 1.0)), (*BRIDGE.edges[:2], Edge(10, WOOD.type, 3, 9)))
    assert counts(BRIDGE, elsewhere) == (1, 1, 0, 1, 1, 0)


def test_an_id_that_is_used_for_another_place_of_the_old_design() -> None:
    """Node 3 stands where 4 was and 4 where 3 was: nothing moved, whatever they are called."""
    name = {1: 1, 2: 2, 3: 4, 4: 3}
    swapped = Bridge(
        tuple(replace(n, id=name[n.id]) for n in BRIDGE.nodes),
        tuple(Edge(e.id, e.material, name[e.a], name[e.b]) for e in BRIDGE.edges),
    )
    assert compare(BRIDGE, swapped).is_none


@pytest.fixture(scope="module")
def found(played: Any, reply_of: Any) -> Any:
    """Unreadable, illegal, failed."""
    return trace(played(TASK, [reply_of(letter, LEVEL) for letter in "PVF"]), TASK)


@pytest.fixture(scope="module")
def repaired(played: Any, reply_of: Any) -> Any:
    """Failed, crossed."""
    return trace(played(TASK, [reply_of(letter, LEVEL) for letter in "FS"]), TASK)


def test_the_text_of_an_episode(found: Any) -> None:
    head, _, *lines = trace_text(found).splitlines()
    assert head == "reciter/T1B_Basic_06m/loose/1   VVF   budget $50,000"
    assert lines[0] == "call 1: V refused"
    assert lines[1].startswith("  PARSE_ERROR: ")
    assert lines[3] == "call 2: V refused"
    assert lines[4] == "  $1,200 (2.4 % of the budget), 0 nodes beside the anchors, 1 road"
    assert lines[5].startswith("  EDGE_TOO_LONG: ")
    assert lines[7:10] == [
        "call 3: F failed",
        "  $1,200 (2.4 % of the budget), 3 nodes beside the anchors, 4 road",
        "  since call 2: nodes +3; members +4, -1; cost +$0",
    ]
    assert lines[10].startswith("  run: lost after ")
    assert "; first break at " in lines[10]


def test_the_repair_of_a_failed_design(repaired: Any) -> None:
    assert str(repaired.trajectory) == "FS"
    first, second = trace_json(repaired)["calls"]
    assert (first["since"], first["difference"]) == (None, None)
    assert second["since"] == 1
    assert second["difference"]["added_nodes"] == 4
    assert second["difference"]["added_members"] == 4 * 2 + 3
    assert second["difference"]["removed_members"] == second["difference"]["moved_nodes"] == 0
    assert second["cost"] == pytest.approx(first["cost"] + second["difference"]["cost"])
    assert second["run"]["outcome"] == "crossed"
    assert trace_text(repaired).endswith("nothing broke\n")


def test_a_sheet_has_a_column_per_call_and_the_same_bytes_every_time(found: Any, repaired: Any) -> None:
    sheets = [trace_sheet(episode) for episode in (found, repaired)]
    widths = [Image.open(io.BytesIO(sheet)).width for sheet in sheets]
    assert widths[0] - widths[1] == 640 + 20
    assert trace_sheet(repaired) == sheets[1]


def test_a_sheet_without_a_call(played: Any) -> None:
    empty = trace(played(TASK, []), TASK)
    assert trace_text(empty).startswith("reciter/T1B_Basic_06m/loose/1   no call")
    assert Image.open(io.BytesIO(trace_sheet(empty))).width == 640 + 2 * 20


def test_the_table_of_episodes(played: Any, reply_of: Any) -> None:
    episodes = [played(TASK, [reply_of(letter, LEVEL) for letter in letters]) for letters in ("PP", "FS")]
    table = traces_table([(episode, TASK) for episode in episodes])
    assert [row[:5] for row in table.rows] == [
        ("reciter", "T1B_Basic_06m", "VV", None, 50_000.0),
        ("reciter", "T1B_Basic_06m", "FS", pytest.approx(6 * 200 + (8 * 1.25 + 3 * 1.5) * 450), 50_000.0),
    ]
