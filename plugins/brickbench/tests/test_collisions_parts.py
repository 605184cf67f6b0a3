"""Pieces that collisions are made of: inset, boxes, poses, points inside, the store."""

import itertools
import sqlite3
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from evalkit_brickbench import _collisions_poses as poses
from evalkit_brickbench._collisions_inset import inset, volume
from evalkit_brickbench._collisions_shapes import make_shape, winding_number
from evalkit_brickbench._collisions_store import VerdictStore
from evalkit_brickbench.scene import Floats, Ints, Mesh

_SQUARES = [[0, 2, 6, 4], [1, 5, 7, 3], [0, 4, 5, 1], [2, 3, 7, 6], [0, 1, 3, 2], [4, 6, 7, 5]]


def box(low: list[float], high: list[float]) -> tuple[Floats, Ints]:
    """A box that winds outwards: 8 vertices, 12 triangles."""
    vertices = np.array(list(itertools.product(*zip(low, high, strict=True))), dtype=np.float64)
    triangles = [[s[0], s[k], s[k + 1]] for s in _SQUARES for k in (1, 2)]
    turned = np.array(triangles, dtype=np.int32)
    return vertices, turned if volume(vertices, turned) > 0 else turned[:, ::-1].copy()


def test_a_box_shrinks_on_all_sides() -> None:
    vertices, triangles = inset(*box([0, 0, 0], [10, 20, 30]), 0.5)
    np.testing.assert_allclose(vertices.min(axis=0), [0.5, 0.5, 0.5])
    np.testing.assert_allclose(vertices.max(axis=0), [9.5, 19.5, 29.5])
    assert volume(vertices, triangles) == pytest.approx(9 * 19 * 29)


def test_unwelded_corners_move_together() -> None:
    vertices, triangles = box([0, 0, 0], [10, 10, 10])
    soup = vertices[triangles].reshape(-1, 3)
    moved, welded = inset(soup, np.arange(36, dtype=np.int32).reshape(-1, 3), 0.5)
    assert len(moved) == 8
    assert volume(moved, welded) == pytest.approx(9**3)


def test_a_hollow_grows() -> None:
    outer, inner = box([0, 0, 0], [20, 20, 20]), box([5, 5, 5], [15, 15, 15])
    vertices = np.concatenate([outer[0], inner[0]])
    triangles = np.concatenate([outer[1], inner[1][:, ::-1] + 8])
    moved, kept = inset(vertices, triangles, 0.5)
    assert volume(moved, kept) == pytest.approx(19**3 - 11**3)


@pytest.mark.parametrize("thickness", [0.05, 0.3, 0.9, 1.0])
def test_a_sheet_thinner_than_the_inset_keeps_its_thickness(thickness: float) -> None:
    vertices, triangles = inset(*box([0, 0, 0], [20, thickness, 20]), 0.5)
    assert volume(vertices, triangles) > 0
    assert np.ptp(vertices[:, 1]) <= thickness + 1e-9


def test_a_mesh_without_area_comes_back_empty() -> None:
    assert len(inset(np.zeros((3, 3)), np.array([[0, 1, 2]], dtype=np.int32), 0.5)[1]) == 0


def test_boxes_that_meet_are_those_found_one_by_one() -> None:
    random = np.random.default_rng(5)
    low = random.uniform(-100, 100, (300, 3))
    high = low + random.uniform(0, 40, (300, 3))
    expected = [
        (i, j)
        for i, j in itertools.combinations(range(300), 2)
        if (low[i] < high[j]).all() and (low[j] < high[i]).all()
    ]
    assert len(expected) > 100
    assert list(map(tuple, poses.meeting_boxes(low, high, 10**6).tolist())) == expected


def test_boxes_in_many_chunks_are_all_found(monkeypatch: pytest.MonkeyPatch) -> None:
    low = np.zeros((40, 3))
    monkeypatch.setattr(poses, "CHUNK", 7)
    assert len(poses.meeting_boxes(low, low + 1, 10**6)) == 40 * 39 // 2


def test_a_pile_is_refused() -> None:
    low = np.zeros((200, 3))
    with pytest.raises(poses.TooManyPairsError, match=r"more than 1,000 pairs.*piled up"):
        poses.meeting_boxes(low, low + 1, 1000)


def test_matrices_come_apart_and_go_together_again() -> None:
    random = np.random.default_rng(2)
    turns = np.linalg.qr(random.normal(size=(50, 3, 3)))[0]
    turns[:, 0] *= np.sign(np.linalg.det(turns))[:, None]
    shears = np.array(
        [np.diag([2.0, 1.0, 0.5]), np.diag([-1.0, 1.0, 1.0]), [[1, 0.3, 0], [0, 1, 0], [0, 0, 1]]]
    )
    for shear in shears:
        matrices = turns @ shear
        rotations, stretches, flat = poses.rotations_and_stretches(matrices)
        assert not flat.any()
        np.testing.assert_allclose(rotations @ stretches, matrices, atol=3e-4)
        np.testing.assert_allclose(np.linalg.det(rotations), 1.0)
    _, stretches, _ = poses.rotations_and_stretches(np.round(turns, 3))
    assert (stretches == np.eye(3)).all()


def test_matrices_without_volume_are_told_apart() -> None:
    matrices = np.array([np.eye(3), np.diag([1.0, 0.0, 1.0]), np.zeros((3, 3)), np.diag([1.0, 1e-3, 1.0])])
    assert poses.rotations_and_stretches(matrices)[2].tolist() == [False, True, True, False]


def test_keys_differ_with_shape_order_and_pose() -> None:
    names = np.array([[1, 2], [3, 4]], dtype=np.uint64)
    steps = np.zeros((4, 12), dtype=np.int64)
    steps[3, 11] = 1
    keys = poses.pose_keys(names, np.array([0, 1, 0, 0]), np.array([1, 0, 0, 1]), steps)
    assert len({tuple(key) for key in keys.tolist()}) == 4
    assert (keys[0] == poses.pose_keys(names, np.array([0]), np.array([1]), steps[:1])[0]).all()


def test_points_inside_are_told_from_those_in_a_hollow() -> None:
    outer, inner = box([0, 0, 0], [20, 20, 20]), box([5, 5, 5], [15, 15, 15])
    vertices = np.concatenate([outer[0], inner[0]])
    triangles = np.concatenate([outer[1], inner[1][:, ::-1] + 8])
    shape = make_shape(Mesh(vertices, triangles, 0.0), np.eye(3), 0.0)
    assert shape.contains(np.array([[2.0, 10.0, 10.0]]))
    assert not shape.contains(np.array([[10.0, 10.0, 10.0], [30.0, 10.0, 10.0]]))
    assert all(shape.contains(probe[None]) for probe in shape.probes())
    # One of the twelve triangles of the outer surface left out: the solid angle sees through the hole.
    opened = make_shape(Mesh(vertices, triangles[1:], 0.0), np.eye(3), 0.0)
    assert opened.contains(np.array([[18.0, 17.0, 10.0]]))
    assert not opened.contains(np.array([[10.0, 10.0, 10.0]]))


def test_a_closed_surface_winds_once_around_what_is_inside() -> None:
    vertices, triangles = box([0, 0, 0], [4, 5, 6])
    corners = vertices[triangles]
    assert winding_number(corners, np.array([1.0, 1.0, 1.0])) == pytest.approx(1)
    assert winding_number(corners, np.array([7.0, 1.0, 1.0])) == pytest.approx(0)


def test_every_shell_has_a_probe() -> None:
    blocks = [box([30 * k, 0, 0], [30 * k + 10 - k, 10 - k, 10 - k]) for k in range(5)]
    vertices = np.concatenate([block[0] for block in blocks])
    triangles = np.concatenate([block[1] + 8 * k for k, block in enumerate(blocks)])
    probes = make_shape(Mesh(vertices, triangles, 0.0), np.eye(3), 0.0).probes()
    assert {int(x // 30) for x in probes[:, 0]} == set(range(5))


def keys_of(*numbers: int) -> np.ndarray:
    return np.array([[number, number] for number in numbers], dtype=np.uint64)


def test_verdicts_outlive_the_process(tmp_path: Path) -> None:
    path = tmp_path / "cache" / "verdicts.sqlite"
    VerdictStore(path).put(keys_of(1, 2), [0, 3])
    assert VerdictStore(path).get(keys_of(2, 7, 1)) == [3, None, 0]


@pytest.mark.parametrize("content", [b"no database" * 100, b"", b"SQLite format 3\x00" + b"\xff" * 2000])
def test_a_damaged_file_is_made_anew(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "verdicts.sqlite"
    path.write_bytes(content)
    store = VerdictStore(path)
    assert store.get(keys_of(1)) == [None]
    store.put(keys_of(1), [2])
    assert VerdictStore(path).get(keys_of(1)) == [2]


def test_a_file_of_another_make_is_let_be(tmp_path: Path) -> None:
    path = tmp_path / "verdicts.sqlite"
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE verdicts (key BLOB PRIMARY KEY)")
    connection.close()
    store = VerdictStore(path)
    assert store.get(keys_of(1)) == [None]
    store.put(keys_of(1), [2])
    assert store.get(keys_of(1)) == [2]


def test_a_folder_that_cannot_be_written_costs_nothing_but_the_file(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    store = VerdictStore(tmp_path / "file" / "verdicts.sqlite")
    store.put(keys_of(1), [2])
    assert store.get(keys_of(1)) == [2]


def test_processes_share_a_file(tmp_path: Path) -> None:
    path = tmp_path / "verdicts.sqlite"
    script = (
        "import sys, numpy as np\n"
        "from pathlib import Path\n"
        "from evalkit_brickbench._collisions_store import VerdictStore\n"
        "store, first = VerdictStore(Path(sys.argv[1])), int(sys.argv[2])\n"
        "for k in range(first, first + 40):\n"
        "    store.put(np.array([[k, k]], dtype=np.uint64), [k % 4])\n"
    )
    running = [
        subprocess.Popen([sys.executable, "-c", script, str(path), str(first)]) for first in (0, 20, 40)
    ]
    assert [process.wait() for process in running] == [0, 0, 0]
    assert VerdictStore(path).get(keys_of(*range(80))) == [k % 4 for k in range(80)]
