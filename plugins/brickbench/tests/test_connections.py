"""Connections with answers known by hand: families, tolerances and their borders, reports."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from connection_scenes import LabelCatalogue, at, scene, turn

from evalkit_brickbench import _connections_match
from evalkit_brickbench.connections import FAMILIES, CrowdedSceneError, connect, unlabelled_contacts
from evalkit_brickbench.ldraw.flatten import read_scene
from evalkit_brickbench.parts.small import SmallCatalogue

SINGLE = LabelCatalogue(
    {
        "stud": {"stud": {"stud": [[0, 0, 0, 0, 0]]}},
        "open": {"stud": {"open": [[0, 0, 0, 0, 0]]}},
        "hole": {"hole": {"hole": [[0, 0, 0, 0, 0]]}},
        "tube": {"hole": {"tube": [[0, 0, 0, 0, 0]]}},
        "post": {"hole": {"post": [[0, 0, 0, 0, 0]]}},
        **{
            f"{kind}{subtype}{polarity}": {kind: {subtype: {polarity: [row]}}}
            for kind, row in (
                ("hinge", [0, 0, 0, 0, 0, 0]),
                ("ball", [0, 0, 0]),
                ("fixed", [0, 0, 0, 0, 0, 0]),
            )
            for subtype in ("0", "3", "4")
            for polarity in ("in", "on")
        },
        **{
            f"{subtype}{half}": {"axle": {subtype: [[0, 0, 0, 0, 0, half]]}}
            for subtype in ("pin", "axle", "bar", "socket", "cross", "clip", "hole")
            for half in (1, 9, 10, 100)
        },
    }
)


def _edges(a: str, b: str, *, matrix: Any = None, **offset: float) -> int:
    return len(connect(scene(at(a, 0), at(b, **{"x": 0.0, **offset}, matrix=matrix)), SINGLE))


STUD_MATES = {("stud", "hole"), ("stud", "tube"), ("open", "hole"), ("open", "tube"), ("open", "post")}


@pytest.mark.parametrize("stud", ["stud", "open"])
@pytest.mark.parametrize("hole", ["hole", "tube", "post", "stud"])
def test_what_studs_go_into(stud: str, hole: str) -> None:
    assert _edges(stud, hole) == ((stud, hole) in STUD_MATES)


AXLE_MATES = {("pin", "socket"), ("axle", "socket"), ("axle", "cross"), ("bar", "clip"), ("bar", "cross")}


@pytest.mark.parametrize("male", ["pin", "axle", "bar", "hole"])
@pytest.mark.parametrize("female", ["socket", "cross", "clip", "hole", "pin"])
def test_what_axles_go_into(male: str, female: str) -> None:
    assert _edges(f"{male}9", f"{female}9") == ((male, female) in AXLE_MATES)


@pytest.mark.parametrize("kind", ["hinge", "ball", "fixed"])
def test_same_subtype_in_with_on(kind: str) -> None:
    assert _edges(f"{kind}0in", f"{kind}0on") == 1
    assert _edges(f"{kind}0in", f"{kind}0in") == 0
    assert _edges(f"{kind}0in", f"{kind}3on") == 0
    assert _edges(f"{kind}0in", "hinge4on") == 0


PAIRS = [("stud", "hole"), ("hinge0in", "hinge0on"), ("ball0on", "ball0in"), ("fixed0in", "fixed0on")]


@pytest.mark.parametrize(("a", "b"), PAIRS)
@pytest.mark.parametrize("axis", ["x", "y", "z"])
def test_three_ldu_connect_and_a_little_more_does_not(a: str, b: str, axis: str) -> None:
    assert _edges(a, b, **{axis: 3.0}) == 1
    assert _edges(a, b, **{axis: 3.01}) == 0
    assert _edges(a, b, **{axis: -3.0}) == 1


@pytest.mark.parametrize(("a", "b"), [*PAIRS, ("pin9", "socket9")])
def test_exactly_three_ldu_stay_inside_after_a_rotation(a: str, b: str) -> None:
    tilt = turn("x", 33.3) @ turn("z", 71.7)
    for distance, edges in ((3.0, 1), (3.001, 0)):
        offset = tilt @ [distance, 0, 0] + [1234.5, -987.6, 55.5]
        pair = scene(at(a, 1234.5, -987.6, 55.5, tilt), (b, offset, tilt))
        assert len(connect(pair, SINGLE)) == edges


STUD_LIMIT = np.degrees(np.arccos(0.95))
AXLE_LIMIT = np.degrees(np.arccos(0.9))
STIFF_LIMIT = np.degrees(np.arccos(0.9999))


@pytest.mark.parametrize(
    ("a", "b", "limit_deg"),
    [
        ("stud", "hole", STUD_LIMIT),
        ("hinge0in", "hinge0on", STUD_LIMIT),
        ("pin9", "socket9", AXLE_LIMIT),
        ("fixed0in", "fixed0on", STIFF_LIMIT),
    ],
)
def test_axes_may_tilt_so_far(a: str, b: str, limit_deg: float) -> None:
    assert _edges(a, b, matrix=turn("x", limit_deg - 0.01)) == 1
    assert _edges(a, b, matrix=turn("x", limit_deg + 0.01)) == 0


def test_signed_and_unsigned_axes() -> None:
    upside_down = turn("z", 180)
    assert _edges("stud", "hole", matrix=upside_down) == 0
    assert _edges("hinge0in", "hinge0on", matrix=upside_down) == 1
    assert _edges("pin9", "socket9", matrix=upside_down) == 1
    assert _edges("ball0in", "ball0on", matrix=turn("x", 77)) == 1


def test_fixed_connectors_up_to_subtype_three_do_not_turn() -> None:
    limit = np.degrees(np.arccos(0.995))  # of the angle, by a trace of 2.99
    for subtype in ("0", "3"):
        assert _edges(f"fixed{subtype}in", f"fixed{subtype}on", matrix=turn("y", limit - 0.01)) == 1
        assert _edges(f"fixed{subtype}in", f"fixed{subtype}on", matrix=turn("y", limit + 0.01)) == 0
    assert _edges("fixed4in", "fixed4on", matrix=turn("x", 120)) == 1


@pytest.mark.parametrize(
    ("male", "female", "across", "reach"),
    [
        ("pin9", "socket10", 0.0, 9 + 10 + 3 - 4),
        ("pin9", "socket10", 3.0, 9 + 10 - 4),
        ("pin9", "socket10", 1.8, 9 + 10 + 2.4 - 4),
        ("bar1", "clip1", 0.0, 4 + 4 + 3 - 4),  # half-lengths are at least 4
        ("axle100", "cross10", 0.0, 100 + 10 + 3 - 4),
        ("axle100", "cross1", 0.0, 100 + 4 + 3 - 4),
    ],
)
def test_axles_must_overlap(male: str, female: str, across: float, reach: float) -> None:
    for sign in (1, -1):
        assert _edges(male, female, x=across, y=sign * reach) == 1
        assert _edges(male, female, x=across, y=sign * (reach + 0.01)) == 0
    assert _edges(male, female, x=3.01) == 0


def test_the_axis_of_the_axle_decides_what_is_across() -> None:
    # The cross stands 50 along the tilted axle: across by the axle's axis 0, by its own 50·sin 20°.
    tilt = turn("z", 20)
    position = tilt @ [0, 50, 0]
    tilted = connect(scene(("axle100", position, tilt), at("cross10", 0)), SINGLE)
    assert len(tilted) == 1
    assert tilted.residual_ldu[0] == pytest.approx(0.0, abs=1e-9)
    assert tilted.residual_rad[0] == pytest.approx(np.radians(20))


def test_side_a_is_stud_in_or_socket() -> None:
    parts = [
        ("hole", "stud"),
        ("hinge0on", "hinge0in"),
        ("pin9", "socket9"),
        ("bar9", "clip9"),
        ("axle9", "cross9"),
    ]
    for number, (b, a) in enumerate(parts):
        for names in ((a, b), (b, a)):
            found = connect(scene(at(names[0], number), at(names[1], number)), SINGLE)
            assert [names[found.part_a[0]], names[found.part_b[0]]] == [a, b]


def test_residuals() -> None:
    found = connect(scene(at("stud", 0), at("hole", 1, 0, 2, turn("x", 5))), SINGLE)
    assert found.residual_ldu[0] == pytest.approx(np.sqrt(5))
    assert found.residual_rad[0] == pytest.approx(np.radians(5))
    tiny = connect(scene(at("stud", 0), at("hole", 0, matrix=turn("x", 1e-7))), SINGLE)
    assert tiny.residual_rad[0] == pytest.approx(np.radians(1e-7), rel=1e-6)
    stiff = connect(scene(at("fixed0in", 0), at("fixed0on", 0, matrix=turn("y", 2))), SINGLE)
    assert stiff.residual_rad[0] == pytest.approx(np.radians(2))
    assert connect(scene(at("pin9", 0), at("socket9", 0, 7)), SINGLE).residual_ldu[0] == 0.0


def test_a_connector_may_hold_several_and_never_its_own_part() -> None:
    found = connect(scene(at("stud", 0), at("hole", 1), at("tube", 2)), SINGLE)
    assert found.part_a.tolist() == [0, 0]
    assert found.part_b.tolist() == [1, 2]
    own = LabelCatalogue({"p": {"stud": {"stud": [[0, 0, 0, 0, 0]]}, "hole": {"hole": [[0, 0, 0, 0, 0]]}}})
    assert len(connect(scene(at("p", 0)), own)) == 0
    assert len(connect(scene(at("p", 0), at("p", 0)), own)) == 2


def test_a_brick_on_a_brick() -> None:
    found = connect(scene(at("3001", 0), at("3001", 40, -24), at("3023", 0, 24)), SmallCatalogue())
    # Four studs of the lower brick; the plate below lies between its rows of holes.
    assert found.by_family() == {"stud": 4}
    assert set(found.part_a.tolist()) == {0}
    names = found.placed.subtype_names
    assert {names[i] for i in found.subtypes_b} == {"hole"}
    assert found.components().labels.tolist() == [0, 0, 1]
    assert found.components().sizes.tolist() == [2, 1]


def test_a_model_from_a_file(request: pytest.FixtureRequest) -> None:
    model, notes = read_scene(request.path.parent / "data" / "parts" / "crane.ldr")
    assert not notes
    found = connect(model, SmallCatalogue())
    # 3020 on 3001: 8 studs; the beams on 3020: 4 and 2; the pin in both: 2; the axle in bush and beam: 2.
    assert found.by_family() == {"axle": 4, "stud": 14}
    assert found.unknown == (("973", 1),)
    assert found.parts.known.tolist() == [True] * 7 + [False]
    assert found.components().labels.tolist() == [0, 0, 0, 0, 0, 0, 0, -1]
    assert found.residual_ldu.max() == 0.0


def test_edges_are_sorted_and_name_connectors_of_the_part() -> None:
    found = connect(scene(at("3001", 0, -24), at("3001", 0)), SmallCatalogue())
    assert found.part_a.tolist() == [1] * 8
    brick = SmallCatalogue().connectors("3001")
    assert found.connector_a.tolist() == sorted(found.connector_a.tolist())
    assert {brick.subtypes[i] for i in found.connector_a} == {"stud"}
    assert {FAMILIES[i] for i in found.families} == {"stud"}
    offset = brick.origins[found.connector_a] - brick.origins[found.connector_b]
    np.testing.assert_array_equal(offset, [[0, -24, 0]] * 8)


def test_unknown_parts_are_counted_most_frequent_first() -> None:
    found = connect(scene(at("x", 0), at("3001", 0), at("y", 0), at("y", 0), at("w", 0)), SmallCatalogue())
    assert found.unknown == (("y", 2), ("w", 1), ("x", 1))
    assert found.components().labels.tolist() == [-1, 0, -1, -1, -1]


def test_nothing_at_all() -> None:
    for empty in (scene(), scene(at("unknown", 0))):
        found = connect(empty, SmallCatalogue())
        assert len(found) == 0
        assert found.by_family() == {}
        assert found.components().sizes.tolist() == []
        assert len(unlabelled_contacts(found, SmallCatalogue())) == 0


def test_an_alias_moves_its_connectors() -> None:
    moved = np.eye(4)
    moved[1, 3] = 30
    catalogue = LabelCatalogue(
        {"p": {"stud": {"stud": [[0, 0, 0, 0, 0]]}}, "h": {"hole": {"hole": [[0, 0, 0, 0, 0]]}}},
        aliases={"old": ("p", moved)},
    )
    found = connect(scene(at("old", 0, 0, 0, turn("z", 90)), at("h", -30, 0, 0, turn("z", 90))), catalogue)
    assert len(found) == 1
    assert found.parts.stems == ("p", "h")
    np.testing.assert_allclose(found.parts.positions[0], [-30, 0, 0], atol=1e-12)


def test_scale_and_shear_are_removed_and_reported() -> None:
    sheared = np.array([[1, 0.3, 0], [0, 1, 0], [0, 0, 1]])
    model = scene(
        at("3001", 0, matrix=np.diag([1, 1.5, 1])), at("3001", 0, -24), at("3005", 200, matrix=sheared)
    )
    found = connect(model, SmallCatalogue())
    assert found.parts.deformed.tolist() == [True, False, True]
    assert len(found) == 8
    np.testing.assert_allclose(
        found.parts.rotations @ found.parts.rotations.transpose(0, 2, 1), [np.eye(3)] * 3, atol=1e-12
    )


def test_reflections_are_kept_and_reported() -> None:
    mirrored = np.diag([-1.0, 1.0, 1.0])
    slope = scene(at("3040b", 0, matrix=np.diag([1.0, 1.0, -1.0])), at("3005", 0, -24), at("3005", 0, 24, 20))
    found = connect(slope, SmallCatalogue())
    assert found.parts.reflected.tolist() == [True, False, False]
    # Mirrored, the slope falls towards +z: its second hole takes the stud there.
    assert found.part_a.tolist() == [0, 2]
    assert connect(scene(at("3001", 0, matrix=mirrored)), SmallCatalogue()).parts.reflected.tolist() == [True]


def test_files_round_and_rounded_rotations_still_connect() -> None:
    rounded = np.round(turn("y", 30), 3)
    model = scene(at("3001", 0, matrix=rounded), ("3001", (0, -24, 0), rounded))
    found = connect(model, SmallCatalogue())
    assert len(found) == 8
    assert not found.parts.deformed.any()


@pytest.mark.parametrize("number", [np.nan, np.inf])
def test_poses_must_be_finite(number: float) -> None:
    with pytest.raises(ValueError, match="part 1 has a pose that isn't finite"):
        connect(scene(at("3001", 0), at("3001", number)), SmallCatalogue())
    with pytest.raises(ValueError, match="part 0 has a pose that isn't finite"):
        connect(scene(at("3001", 0, matrix=np.full((3, 3), number))), SmallCatalogue())


def test_a_zero_matrix_is_a_deformed_part() -> None:
    found = connect(scene(at("3001", 0, matrix=np.zeros((3, 3)))), SmallCatalogue())
    assert found.parts.deformed.tolist() == [True]


def test_the_scene_is_left_alone() -> None:
    moved = np.eye(4)
    moved[0, 3] = 5
    catalogue = LabelCatalogue({"p": {"stud": {"stud": [[0, 0, 0, 0, 0]]}}}, aliases={"old": ("p", moved)})
    model = scene(at("old", 0, matrix=np.diag([2.0, 1.0, 1.0])))
    model.matrices.flags.writeable = model.positions.flags.writeable = False
    connect(model, catalogue)
    assert model.positions.tolist() == [[0, 0, 0]]
    assert model.matrices[0, 0, 0] == 2.0


def test_crowds_are_refused_before_they_fill_the_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    crowd = scene(*(at("3004", 0, 24 * (i % 2)) for i in range(3000)))
    with pytest.raises(CrowdedSceneError, match="4,500,000 pairs of connectors lie in the same places"):
        connect(crowd, SmallCatalogue())
    monkeypatch.setattr(_connections_match, "MAX_CROWDED_PAIRS", 100)
    spread = scene(*(at("3004", 100 * (i // 2), 24 * (i % 2)) for i in range(60)))
    assert len(connect(spread, SmallCatalogue())) == 60


def test_studs_inside_a_part_without_a_connection_are_reported() -> None:
    labels = {"base": {"stud": {"stud": [[0, 0, 0, 0, 0], [20, 0, 0, 0, 0]]}}, "tail": {"stud": {"stud": []}}}
    box = [[-10, 0, -10], [10, 24, 10]]
    catalogue = LabelCatalogue(labels, {"tail": box})
    found = connect(scene(at("base", 0), at("tail", 20, -24), at("tail", 60, -24)), catalogue)
    contacts = unlabelled_contacts(found, catalogue)
    assert contacts.stud_parts.tolist() == [0]
    assert contacts.stud_connectors.tolist() == [1]
    assert contacts.parts.tolist() == [1]


def test_connected_parts_are_not_reported() -> None:
    wall = scene(at("3001", 0), at("3001", 0, -24), at("3001", 0, -48), at("3005", 0, -24))
    found = connect(wall, SmallCatalogue())
    assert len(found.components().sizes) == 1
    assert len(unlabelled_contacts(found, SmallCatalogue())) == 0
