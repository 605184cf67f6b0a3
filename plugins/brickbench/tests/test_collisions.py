"""Collisions of boxes and sheets with known answers."""

import itertools
from pathlib import Path

import numpy as np
import pytest

from evalkit_brickbench.collisions import (
    BRICKBENCH,
    BRICKNET_0_1_0,
    PROFILES,
    Collisions,
    Profile,
    TooManyPairsError,
    VerdictStore,
    collide,
)
from evalkit_brickbench.parts.catalogue import Connectors, Resolved
from evalkit_brickbench.scene import Floats, Mesh, Scene

_SQUARES = [[0, 4, 6, 2], [1, 3, 7, 5], [0, 1, 5, 4], [2, 6, 7, 3], [0, 2, 3, 1], [4, 5, 7, 6]]
_BOX = np.array([[s[0], s[k + 1], s[k]] for s in _SQUARES for k in (1, 2)], dtype=np.int32)


def block(low: Floats | list[float], high: Floats | list[float]) -> tuple[Floats, np.ndarray]:
    """A box that winds outwards."""
    vertices = np.array(list(itertools.product(*zip(low, high, strict=True))), dtype=np.float64)
    return vertices, _BOX


def mesh_of(*pieces: tuple[Floats, np.ndarray], inset: float = 0.0) -> Mesh:
    starts = np.cumsum([0, *(len(vertices) for vertices, _ in pieces)])
    vertices = np.concatenate([vertices for vertices, _ in pieces])
    triangles = np.concatenate([piece[1] + start for piece, start in zip(pieces, starts, strict=False)])
    return Mesh(vertices, triangles.astype(np.int32), inset)


class Boxes:
    """A cube of 20 with a shell of its own inside a larger one (`case`), plates, a sheet, a sugar cube."""

    id = "boxes"

    def __init__(self) -> None:
        hollow = block([-20, -20, -20], [20, 20, 20])
        self.parts = {
            "cube": mesh_of(block([-10, -10, -10], [10, 10, 10])),
            "slab": mesh_of(block([-10, 0, -20], [10, 8, 20])),
            "dot": mesh_of(block([-1.5, -1.5, -1.5], [1.5, 1.5, 1.5])),
            "sheet": mesh_of(block([-30, -0.2, -30], [30, 0.2, 30])),
            "chip": mesh_of(block([-3, -0.2, -3], [3, 0.2, 3])),
            "case": mesh_of(
                block([-30, -30, -30], [30, 30, 30]), (hollow[0], np.ascontiguousarray(hollow[1][:, ::-1]))
            ),
            "pair": mesh_of(block([-1, -1, -1], [1, 1, 1]), block([39, -1, -1], [41, 1, 1])),
            "nothing": Mesh(np.zeros((0, 3)), np.zeros((0, 3), dtype=np.int32), 0.0),
        }

    def mesh(self, stem: str) -> Mesh | None:
        return self.parts.get(stem)


def scene_of(*parts: tuple[str, list[float]] | tuple[str, list[float], Floats]) -> Scene:
    count = len(parts)
    matrices = [part[2] if len(part) == 3 else np.eye(3) for part in parts]
    return Scene(
        tuple(part[0] for part in parts),
        np.zeros(count, dtype=np.int32),
        np.array(matrices, dtype=np.float64).reshape(-1, 3, 3),
        np.array([part[1] for part in parts], dtype=np.float64).reshape(-1, 3),
        ("",) * count,
        np.zeros(count, dtype=np.int32),
    )


def turn_y(degrees: float) -> Floats:
    sine, cosine = np.sin(np.radians(degrees)), np.cos(np.radians(degrees))
    return np.array([[cosine, 0, sine], [0, 1, 0], [-sine, 0, cosine]])


def check(scene: Scene, profile: Profile = BRICKBENCH, store: VerdictStore | None = None) -> Collisions:
    return collide(scene, Boxes(), None, profile, store or VerdictStore(None))


def only_kind(scene: Scene, profile: Profile = BRICKBENCH) -> str | None:
    """The kind of the one pair there may be."""
    found = check(scene, profile)
    assert len(found) <= 1
    return found.kinds[0] if len(found) else None


@pytest.mark.parametrize("profile", PROFILES.values(), ids=list(PROFILES))
@pytest.mark.parametrize("axis", range(3))
@pytest.mark.parametrize("degrees", [0.0, 30.0])
def test_an_overlap_counts_beyond_the_depth_of_the_profile(
    profile: Profile, axis: int, degrees: float
) -> None:
    for overlap in (-0.5, 0.0, profile.depth_ldu - 0.01, profile.depth_ldu + 0.05, 6.0):
        offset = np.zeros(3)
        offset[axis] = 20 - overlap
        # Slightly aside, so that no planes but those in question coincide.
        offset[(axis + 1) % 3] = 1.3
        turn = turn_y(degrees)
        found = check(scene_of(("cube", [0, 0, 0], turn), ("cube", list(turn @ offset), turn)), profile)
        assert len(found) == (overlap > profile.depth_ldu), overlap


def test_the_box_of_an_overlap_is_that_of_the_true_surfaces() -> None:
    found = check(scene_of(("cube", [0, 0, 0]), ("cube", [100, 0, 0]), ("cube", [14, 3, -2])))
    assert found.pairs.tolist() == [[0, 2]]
    assert found.kinds == ("surface",)
    np.testing.assert_allclose(found.boxes, [[[4, -7, -10], [10, 10, 8]]], atol=0.02)


def test_what_lies_inside_is_found_though_no_surfaces_cross() -> None:
    assert only_kind(scene_of(("dot", [2, 1, 0]), ("cube", [0, 0, 0]))) == "containment"
    assert only_kind(scene_of(("cube", [0, 0, 0]), ("dot", [2, 1, 0]))) == "containment"


def test_what_stands_in_a_hollow_is_clear_and_in_its_wall_is_not() -> None:
    assert only_kind(scene_of(("case", [0, 0, 0]), ("cube", [3, 2, 1]))) is None
    assert only_kind(scene_of(("case", [0, 0, 0]), ("dot", [25, 2, 1]))) == "containment"


def test_one_shell_of_a_part_inside_is_enough() -> None:
    assert only_kind(scene_of(("pair", [0, 0, 0]), ("cube", [40, 0, 0]))) == "containment"
    assert only_kind(scene_of(("pair", [0, 0, 0]), ("cube", [20, 0, 0]))) is None


def test_duplicates_are_found_also_turned_onto_themselves() -> None:
    for degrees in (0, 180):
        assert only_kind(scene_of(("slab", [5, 0, 0]), ("slab", [5, 0, 0], turn_y(degrees)))) == "duplicate"
    assert only_kind(scene_of(("slab", [5, 0, 0]), ("slab", [5, 0, 0], turn_y(90)))) in (
        "surface",
        "containment",
    )


@pytest.mark.parametrize("shift", [0.02, 0.4, 1.0, 3.0, 8.0])
@pytest.mark.parametrize("axis", range(3))
def test_near_duplicates_count_though_all_their_other_planes_coincide(shift: float, axis: int) -> None:
    offset = [0.0, 0.0, 0.0]
    offset[axis] = min(shift, 5.0) if axis == 1 else shift
    assert only_kind(scene_of(("slab", [0, 0, 0]), ("slab", offset))) is not None


def test_sheets_thinner_than_the_inset_neither_vanish_nor_turn_over() -> None:
    assert only_kind(scene_of(("sheet", [0, 0, 0]), ("cube", [0, 3, 0]))) == "surface"
    assert only_kind(scene_of(("sheet", [0, 10.2, 0]), ("cube", [0, 0, 0]))) is None
    assert only_kind(scene_of(("chip", [0, 0, 0]), ("cube", [0, 0, 0]))) == "containment"
    assert only_kind(scene_of(("sheet", [0, 0, 0]), ("sheet", [0, 0, 0]))) == "duplicate"
    tilted = np.array([[1, 0, 0], [0, 0, -1], [0, 1, 0]], dtype=np.float64)
    assert only_kind(scene_of(("sheet", [0, 0, 0]), ("sheet", [0, 0, 0], tilted))) == "surface"


def test_matrices_are_taken_as_they_are() -> None:
    stretch = np.diag([3.0, 1.0, 1.0])
    beside = ("cube", [35.0, 0.0, 0.0])
    assert only_kind(scene_of(("cube", [0, 0, 0]), beside)) is None
    assert only_kind(scene_of(("cube", [0, 0, 0], stretch), beside)) == "surface"
    sheared = np.array([[1, 2, 0], [0, 1, 0], [0, 0, 1]], dtype=np.float64)
    assert only_kind(scene_of(("cube", [0, 0, 0], sheared), ("dot", [16, 8, 0]))) == "containment"
    assert only_kind(scene_of(("cube", [0, 0, 0], sheared), ("dot", [16, -8, 0]))) is None


def test_mirrored_parts_have_an_inside_too() -> None:
    mirror = np.diag([-1.0, 1.0, 1.0])
    assert only_kind(scene_of(("cube", [0, 0, 0], mirror), ("dot", [2, 1, 0]))) == "containment"
    assert only_kind(scene_of(("pair", [0, 0, 0], mirror), ("cube", [-40, 0, 0]))) == "containment"
    assert only_kind(scene_of(("cube", [0, 0, 0], mirror), ("cube", [19.0, 1, 0]))) is None
    assert only_kind(scene_of(("cube", [0, 0, 0], mirror), ("cube", [18.9, 1, 0]))) == "surface"


def test_what_cannot_be_checked_is_reported() -> None:
    flat = np.diag([1.0, 0.0, 1.0])
    scene = scene_of(
        ("unknown", [0, 0, 0]),
        ("cube", [0, 0, 0]),
        ("cube", [0, 0, 0], flat),
        ("nothing", [0, 0, 0]),
        ("cube", [5, 4, 3]),
    )
    found = check(scene)
    assert found.without_mesh == (0, 3)
    assert found.without_volume == (2,)
    assert found.pairs.tolist() == [[1, 4]]
    assert (found.profile, found.meshes) == (BRICKBENCH, "boxes")


def test_nothing_and_a_single_part_are_clear() -> None:
    assert len(check(scene_of())) == 0
    assert check(scene_of()).boxes.shape == (0, 2, 3)
    assert len(check(scene_of(("cube", [0, 0, 0])))) == 0


class Aliases:
    """A catalogue in which `old` is a cube 30 further along x."""

    id = "aliases"

    def resolve(self, stem: str) -> Resolved | None:
        pose = np.eye(4)
        if stem == "old":
            pose[0, 3] = 30
            return Resolved("cube", pose)
        return Resolved(stem, pose) if stem == "cube" else None

    def title(self, stem: str) -> str | None:
        return None

    def connectors(self, stem: str) -> Connectors:
        raise KeyError(stem)

    def bounds(self, stem: str) -> Floats | None:
        return None


def test_aliases_stand_where_their_pose_says() -> None:
    scene = scene_of(
        ("old", [0, 0, 0], turn_y(90)), ("cube", [0, 0, 0]), ("dot", [0, 0, -30]), ("old", [500, 0, 0])
    )
    found = collide(scene, Boxes(), Aliases(), BRICKBENCH, VerdictStore(None))
    assert found.pairs.tolist() == [[0, 2]]
    assert found.without_mesh == ()


def heap(seed: int) -> Scene:
    random = np.random.default_rng(seed)
    names = ["cube", "slab", "dot", "sheet", "pair"]
    turns = [turn_y(float(angle)) for angle in random.choice([0, 90, 180, 270, 33], 60)]
    return scene_of(
        *((names[k % 5], list(random.integers(-8, 9, 3) * 8.0), turns[k]) for k in range(60)),
    )


def test_the_order_of_the_parts_does_not_matter() -> None:
    scene, order = heap(1), np.random.default_rng(9).permutation(60)
    mixed = Scene(
        tuple(scene.stems[k] for k in order),
        scene.colours,
        scene.matrices[order],
        scene.positions[order],
        scene.paths,
        scene.steps,
    )
    one, other = check(scene), check(mixed)
    assert len(one) > 20
    assert len(set(one.kinds)) > 1
    there = {(i, j): kind for (i, j), kind in zip(one.pairs.tolist(), one.kinds, strict=True)}
    back = np.sort(order[other.pairs], axis=1).tolist()
    assert {(i, j): kind for (i, j), kind in zip(back, other.kinds, strict=True)} == there


def test_moving_everything_changes_nothing() -> None:
    scene = heap(3)
    moved = Scene(
        scene.stems,
        scene.colours,
        turn_y(90) @ scene.matrices,
        scene.positions @ turn_y(90).T + [120, -40, 360],
        scene.paths,
        scene.steps,
    )
    assert check(scene).pairs.tolist() == check(moved).pairs.tolist()


def test_a_deeper_profile_finds_no_more() -> None:
    shallow, deep = (check(heap(4), profile).pairs.tolist() for profile in (BRICKNET_0_1_0, BRICKBENCH))
    assert [pair for pair in deep if pair not in shallow] == []


def test_kept_verdicts_change_nothing_and_no_pair_is_tried_twice(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from evalkit_brickbench import collisions

    path = tmp_path / "verdicts.sqlite"
    cold = check(heap(5), store=VerdictStore(path))

    def tried(*_: object) -> int:
        raise AssertionError("a known pair was tried again")

    monkeypatch.setattr(collisions._Narrow, "verdict", tried)
    for store in (VerdictStore(path), VerdictStore(path)):
        warm = check(heap(5), store=store)
        assert warm.pairs.tolist() == cold.pairs.tolist()
        assert warm.kinds == cold.kinds
        np.testing.assert_array_equal(warm.boxes, cold.boxes)
    with pytest.raises(AssertionError, match="again"):
        check(heap(5), BRICKNET_0_1_0, VerdictStore(path))


def test_after_an_edit_only_what_is_new_is_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    from evalkit_brickbench import collisions

    grid = [("cube", [20.0 * i, 0.0, 20.0 * j]) for i in range(6) for j in range(6)]
    store = VerdictStore(None)
    assert len(check(scene_of(*grid), store=store)) == 0
    tries: list[int] = []
    verdict = collisions._Narrow.verdict

    def counted(*args: object) -> int:
        tries.append(1)
        return verdict(*args)  # type: ignore[arg-type]

    monkeypatch.setattr(collisions._Narrow, "verdict", counted)
    grid[14] = ("cube", [20.0 * 2 + 3, 4.0, 20.0 * 2])
    assert len(check(scene_of(*grid), store=store)) > 0
    assert 0 < len(tries) <= 8


def test_another_shape_under_the_same_name_has_verdicts_of_its_own() -> None:
    store, boxes = VerdictStore(None), Boxes()
    scene = scene_of(("cube", [0, 0, 0]), ("cube", [15, 3, 2]))
    assert len(collide(scene, boxes, None, BRICKBENCH, store)) == 1
    boxes.parts["cube"] = boxes.parts["dot"]
    assert len(collide(scene, boxes, None, BRICKBENCH, store)) == 0


def test_a_heap_with_too_many_unlike_pairs_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    from evalkit_brickbench import collisions

    monkeypatch.setattr(collisions, "TRIAL_LIMIT", 10)
    with pytest.raises(TooManyPairsError, match=r"limit 10\): parts are piled up"):
        check(heap(5))


def test_too_many_shapes_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    from evalkit_brickbench import collisions

    monkeypatch.setattr(collisions, "TRIANGLE_LIMIT", 12)  # one cube
    assert len(check(scene_of(("cube", [0, 0, 0]), ("cube", [50, 0, 0])))) == 0
    with pytest.raises(TooManyPairsError, match="more than 12 triangles"):
        check(scene_of(("cube", [0, 0, 0]), ("dot", [50, 0, 0])))
    stretched = scene_of(("cube", [0, 0, 0]), ("cube", [50, 0, 0]))
    stretched.matrices[1] *= 2.0
    with pytest.raises(TooManyPairsError, match="stretched in ways of their own"):
        check(stretched)
