"""Compiled CSG programs against closed forms, reference values and trimesh."""

from __future__ import annotations

import json
import math
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
import trimesh

from evalkit_lmbuild.csg import Compiled, ProgramError, compile_program, compiler, read_program
from evalkit_lmbuild.csg.crossings import crossing_pairs
from evalkit_lmbuild.csg.flattening import flattened


def _node(name: str, op: str, **fields: object) -> dict[str, object]:
    return {"id": name, "op": op, **fields}


def _program(*nodes: dict[str, object]) -> dict[str, object]:
    return {"nodes": list(nodes), "output": nodes[-1]["id"]}


def _compiled(*nodes: dict[str, object], strict: bool = True) -> Compiled:
    return compile_program(_program(*nodes), strict=strict)


def _prism_share(segments: int = 48) -> float:
    """Area of the regular polygon in a circle of radius 1."""
    return segments / 2 * math.sin(2 * math.pi / segments)


BOX = _node("box", "box", size=[0.1, 0.2, 0.3])
CYLINDER = _node("cylinder", "cylinder", radius=0.009, height=0.07)
CONE = _node("cone", "cylinder", radius=0.05, radius_top=0, height=0.06)
SPHERE = _node("sphere", "sphere", radius=0.05)
TORUS = _node("torus", "torus", major=0.05, minor=0.01)


@pytest.mark.parametrize(
    ("node", "triangles", "volume"),
    [
        (BOX, 12, 0.006),
        (CYLINDER, 188, 1.77620e-5),
        (CONE, 94, _prism_share() * 0.05**2 * 0.06 / 3),
        (SPHERE, 1152, 5.1836e-4),
        (TORUS, 4608, 9.8134e-5),
    ],
)
def test_reference_values(node: dict[str, object], triangles: int, volume: float) -> None:
    compiled = _compiled(node)
    assert compiled.n_triangles == triangles
    assert compiled.volume == pytest.approx(volume, rel=1e-5)
    assert compiled.pieces == 1
    assert compiled.warnings == ()


def test_rotation_order_is_x_then_y_then_z() -> None:
    turned = _compiled(BOX, _node("turned", "transform", input="box", rotation=[90, 0, 90]))
    assert turned.size == pytest.approx((0.3, 0.1, 0.2), abs=1e-15)


def test_rotation_comes_before_translation() -> None:
    moved = _compiled(
        BOX, _node("moved", "transform", input="box", rotation=[0, 0, 90], position=[0.5, 0.1, -0.2])
    )
    assert moved.recentred_by == pytest.approx((0.5, 0.1, -0.2))
    assert moved.size == pytest.approx((0.2, 0.1, 0.3))


L_SHAPE = [[0, 0], [0.3, 0], [0.3, 0.1], [0.1, 0.1], [0.1, 0.2], [0, 0.2]]


@pytest.mark.parametrize(
    ("nodes", "volume"),
    [
        ([_node("l", "extrude", polygon=L_SHAPE, height=0.5)], 0.04 * 0.5),
        (
            [_node("r", "revolve", profile=[[0.1, 0], [0.2, 0], [0.2, 0.3], [0.1, 0.3]])],
            _prism_share() * (0.2**2 - 0.1**2) * 0.3,
        ),
        (
            [_node("r", "revolve", profile=[[0, 0], [0.2, 0], [0.2, 0.3], [0, 0.3]], degrees=90)],
            48 / 2 * math.sin(math.pi / 2 / 48) * 0.2**2 * 0.3,
        ),
        ([BOX, _node("m", "mirror", input="box", normal=[1, 2, 3])], 0.006),
        (
            [BOX, _node("c", "box", size=[0.05, 0.05, 1]), _node("d", "difference", inputs=["box", "c"])],
            0.00525,
        ),
        (
            [BOX, _node("c", "box", size=[0.05, 0.05, 1]), _node("i", "intersection", inputs=["box", "c"])],
            0.00075,
        ),
        ([BOX, _node("c", "box", size=[0.05, 0.05, 1]), _node("u", "union", inputs=["box", "c"])], 0.00775),
        (
            [
                _node("low", "box", size=[0.2, 0.2, 0.01]),
                _node("point", "box", size=[0.1, 0.1, 0.01]),
                _node("high", "transform", input="point", position=[0, 0, 0.31]),
                _node("h", "hull", inputs=["low", "high"]),
            ],
            0.0004 + 0.31 / 3 * (0.04 + 0.01 + 0.02),
        ),
        ([BOX, _node("one", "difference", inputs=["box"])], 0.006),
    ],
)
def test_volumes_against_closed_forms(nodes: list[dict[str, object]], volume: float) -> None:
    assert _compiled(*nodes).volume == pytest.approx(volume, rel=3e-8)  # outlines are rounded so far


def _bracket() -> list[dict[str, object]]:
    return [
        _node("plate", "box", size=[0.4, 0.3, 0.02]),
        CYLINDER,
        *(
            _node(f"hole{i}", "transform", input="cylinder", position=[x, y, 0])
            for i, (x, y) in enumerate([(-0.15, -0.1), (0.15, -0.1), (-0.15, 0.1), (0.15, 0.1)])
        ),
        _node("drilled", "difference", inputs=["plate", "hole0", "hole1", "hole2", "hole3"]),
        TORUS,
        _node("ring", "transform", input="torus", rotation=[37, 11, 5], position=[0.02, 0.01, 0.05]),
        _node("bracket", "union", inputs=["drilled", "ring"]),
    ]


def test_result_is_a_watertight_manifold_by_trimesh_too() -> None:
    compiled = _compiled(*_bracket())
    solid = trimesh.Trimesh(compiled.mesh.vertices, compiled.mesh.faces, process=False)
    assert solid.is_watertight
    assert solid.is_winding_consistent
    assert solid.volume == pytest.approx(compiled.volume, rel=1e-9)
    assert np.allclose(solid.bounds.sum(axis=0), 0.0, atol=1e-15)
    assert solid.euler_number == 2 - 2 * 5  # four holes, and a ring that meets the plate twice


def test_same_program_gives_the_same_bits_in_another_process() -> None:
    program = _program(*_bracket())
    code = f"from evalkit_lmbuild.csg import compile_program; print(compile_program({program!r}).mesh.key)"
    other = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert other.stdout.strip() == compile_program(program).mesh.key


def test_vertices_and_faces_stand_in_canonical_order() -> None:
    mesh = _compiled(*_bracket()).mesh
    assert np.array_equal(np.lexsort(mesh.vertices.T[::-1]), np.arange(len(mesh.vertices)))
    assert (mesh.faces[:, 0] == mesh.faces.min(axis=1)).all()
    assert not np.signbit(mesh.vertices[mesh.vertices == 0]).any()


def test_several_pieces_are_a_warning() -> None:
    apart = _compiled(
        BOX, SPHERE, _node("far", "transform", input="sphere", position=[1, 0, 0]),
        _node("both", "union", inputs=["box", "far"]),
    )  # fmt: skip
    assert apart.pieces == 2
    assert apart.piece_volumes == pytest.approx((0.006, 5.1836e-4), rel=1e-4)
    assert "2 separate pieces" in apart.warnings[0]


def test_a_void_inside_is_no_piece() -> None:
    hollow = _compiled(
        _node("out", "box", size=[0.3, 0.3, 0.3]),
        _node("in", "box", size=[0.1, 0.1, 0.1]),
        _node("hollow", "difference", inputs=["out", "in"]),
        _node("copy", "transform", input="out", position=[1, 0, 0]),
        _node("both", "union", inputs=["hollow", "copy"]),
    )
    assert hollow.piece_volumes == pytest.approx((0.027, 0.026))


def test_shell_is_an_extension_of_the_lenient_mode() -> None:
    shell = _compiled(
        _node("out", "box", size=[0.3, 0.2, 0.1]),
        _node("s", "shell", input="out", thickness=0.01),
        strict=False,
    )
    assert shell.volume == pytest.approx(0.3 * 0.2 * 0.1 - 0.28 * 0.18 * 0.08)
    assert shell.pieces == 1


def test_a_ring_that_crosses_itself_is_a_warning() -> None:
    ring = [[0, 0], [0.3, 0], [0.3, 0.2], [0.1, -0.1], [0, 0.2]]
    assert "crosses itself" in _compiled(_node("a", "extrude", polygon=ring, height=0.1)).warnings[0]


def _chain(links: int) -> Iterator[dict[str, object]]:
    yield TORUS
    for i in range(links):
        yield _node(
            f"t{i}", "transform", input="torus", position=[0.05 * i, 0, 0], rotation=[90 * (i % 2), 0, 0]
        )
    yield _node("chain", "union", inputs=[f"t{i}" for i in range(links)])


def _comb(teeth: int) -> dict[str, object]:
    """A comb of thin teeth: two of them cross in teeth² places."""
    width = 1 / (2 * teeth)
    ring = [[-0.5, -0.5], [0.5, -0.5], [0.5, -0.45]]
    for tooth in reversed(range(teeth)):
        left = -0.5 + 2 * tooth * width + width / 4
        ring += [[left + width, -0.45], [left + width, 0.5], [left, 0.5], [left, -0.45]]
    return _node("comb", "extrude", polygon=[*ring, [-0.5, -0.45]], height=1)


@pytest.mark.parametrize(
    ("nodes", "words"),
    [
        (
            [BOX, SPHERE, _node("far", "transform", input="sphere", position=[1, 0, 0]),
             _node("none", "intersection", inputs=["box", "far"])],
            ['output "none" is empty'],
        ),
        (
            [_node("a", "box", size=[2, 2, 2]), _node("b", "transform", input="a", position=[1.5, 0, 0]),
             _node("c", "union", inputs=["a", "b"])],
            ['"c" is 3.5 × 2 × 2 m', "at most 3 m"],
        ),
        (list(_chain(30)), ['"chain"', "the limit is 100,000"]),
        (
            [_comb(120), _node("turned", "transform", input="comb", rotation=[1, 2, 93]),
             _node("grid", "intersection", inputs=["comb", "turned"])],
            ['"grid"', "would cross"],
        ),
        (
            [TORUS, _node("s", "shell", input="torus", thickness=0.002)],
            ['"s"', "shell takes up to 1,200 triangles"],
        ),
    ],
)  # fmt: skip
def test_hostile_or_empty_programs_are_refused(nodes: list[dict[str, object]], words: list[str]) -> None:
    with pytest.raises(ProgramError) as caught:
        _compiled(*nodes, strict=False)
    for word in words:
        assert word in str(caught.value)


def test_the_work_of_all_nodes_together_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compiler, "MAX_WORK", 100_000)
    repeats = [_node(f"g{i}", "intersection", inputs=["comb", "turned"]) for i in range(9)]
    nodes = [_comb(20), _node("turned", "transform", input="comb", rotation=[0, 0, 90]), *repeats]
    with pytest.raises(ProgramError, match=r'node "g[1-5]": the program is too much work'):
        _compiled(*nodes, _node("all", "union", inputs=[node["id"] for node in repeats]))


def test_a_hull_of_a_long_chain_is_fine() -> None:
    hull = _compiled(*_chain(18), _node("hull", "hull", inputs=["chain"]))
    assert hull.pieces == 1
    assert hull.size == pytest.approx((0.97, 0.12, 0.12))


def test_the_largest_ordinary_program_compiles() -> None:
    """96 nodes: a plate with 93 holes drilled in one difference."""
    spots = [(-0.4 + 0.08 * (i % 10), -0.4 + 0.08 * (i // 10)) for i in range(93)]
    compiled = _compiled(
        _node("plate", "box", size=[1, 1, 0.02]),
        _node("drill", "cylinder", radius=0.02, height=0.1),
        *(_node(f"h{i}", "transform", input="drill", position=[x, y, 0]) for i, (x, y) in enumerate(spots)),
        _node("drilled", "difference", inputs=["plate", *(f"h{i}" for i in range(93))]),
    )
    assert compiled.volume == pytest.approx(0.02 * (1 - 93 * _prism_share() * 0.02**2))


def test_pairs_are_bounded_from_above() -> None:
    generator = np.random.Generator(np.random.PCG64(3))
    a, b = (generator.random((400, 1, 3)) + 0.1 * generator.random((400, 3, 3)) for _ in range(2))
    overlap = (a.min(axis=1)[:, None] <= b.max(axis=1)) & (b.min(axis=1) <= a.max(axis=1)[:, None])
    true = int(overlap.all(axis=2).sum())
    assert true <= crossing_pairs(a, b) <= 3 * true
    assert crossing_pairs(a, b + 5.0) == 0


def _drilled(links: int) -> Iterator[dict[str, object]]:
    """A plate with one hole more per node."""
    yield _node("d0", "box", size=[1, 1, 0.02])
    yield _node("drill", "cylinder", radius=0.02, height=0.1)
    for i in range(links):
        spot = [-0.4 + 0.12 * (i % 7), -0.4 + 0.12 * (i // 7), 0]
        yield _node(f"h{i}", "transform", input="drill", position=spot)
        yield _node(f"d{i + 1}", "difference", inputs=[f"d{i}", f"h{i}"])


def test_a_chain_of_differences_is_one() -> None:
    program = read_program(_program(*_drilled(47)))
    nodes = flattened(program)
    assert [node.op for node in nodes].count("difference") == 1
    assert nodes[-1].inputs == ("d0", *(f"h{i}" for i in range(47)))
    compiled = _compiled(*_drilled(47))
    assert compiled.volume == pytest.approx(0.02 * (1 - 47 * _prism_share() * 0.02**2))


def test_links_that_are_used_elsewhere_stay() -> None:
    nodes = [
        _node("a", "box", size=[0.1, 0.1, 0.1]),
        _node("b", "transform", input="a", position=[0.05, 0, 0]),
        _node("c", "transform", input="a", position=[0, 0.05, 0]),
        _node("ab", "difference", inputs=["a", "b"]),
        _node("abc", "difference", inputs=["ab", "c"]),
        _node("c_ab", "difference", inputs=["c", "ab"]),
        _node("all", "union", inputs=["abc", "c_ab"]),
    ]
    assert [node.id for node in flattened(read_program(_program(*nodes)))] == [node["id"] for node in nodes]
    assert _compiled(*nodes).volume == pytest.approx(0.1 * (0.05 * 0.05 + 0.1 * 0.1 - 0.05 * 0.05))


def test_a_link_is_taken_in_only_where_the_sets_agree() -> None:
    """a − (b − c) is not a − b − c."""
    nodes = [
        _node("a", "box", size=[0.1, 0.1, 0.1]),
        _node("b", "box", size=[0.05, 0.05, 0.2]),
        _node("c", "box", size=[0.2, 0.2, 0.04]),
        _node("bc", "difference", inputs=["b", "c"]),
        _node("abc", "difference", inputs=["a", "bc"]),
    ]
    assert _compiled(*nodes).volume == pytest.approx(0.001 - 0.05 * 0.05 * 0.06)


def test_the_desk_of_the_shared_scenes(lmbuild_data: Path) -> None:
    scenes = json.loads((lmbuild_data / "golden_scenes.json").read_text())
    created = scenes["smoke_desk"]["create"]
    volumes = {}
    for name, text in created.items():
        op, _, size = text.partition(" ")
        volumes[name] = _compiled(_node(name, op, size=json.loads(size))).volume
    assert volumes == pytest.approx({"top": 1.2 * 0.6 * 0.03, "leg": 0.05 * 0.05 * 0.72})
