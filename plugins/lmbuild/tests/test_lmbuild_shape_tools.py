"""Clouds, axes and symmetry against closed forms and other libraries."""

import numpy as np
import pytest
import trimesh

from evalkit_lmbuild.design import Design, Mesh, Part, rotation_matrix
from evalkit_lmbuild.scoring.axes import angle_deg, offset_ratio, principal_axes, round_axes
from evalkit_lmbuild.scoring.samples import Frame, f_score, quarter_turned, surface_cloud
from evalkit_lmbuild.scoring.symmetry import mirror_iou, symmetry_match


def mesh_of(shape: trimesh.Trimesh) -> Mesh:
    return Mesh(np.asarray(shape.vertices, dtype=float), np.asarray(shape.faces, dtype=np.int32))


def box(x: float, y: float, z: float) -> Mesh:
    return mesh_of(trimesh.creation.box((x, y, z)))


def rod(radius: float, height: float) -> Mesh:
    return mesh_of(trimesh.creation.cylinder(radius, height, sections=48))


def test_cloud_is_area_weighted_and_repeatable():
    large, small = Part("large", box(1, 1, 1)), Part("small", box(0.5, 0.5, 0.5), position=(3, 0, 0))
    cloud = surface_cloud(Design((large, small)), 20_000, seed=0)
    assert np.mean(cloud.owners == 0) == pytest.approx(0.8, abs=0.01)  # areas 6 and 1.5
    assert np.all(np.abs(cloud.points[cloud.owners == 0]).max(axis=1) == pytest.approx(0.5))
    again = surface_cloud(Design((large, small)), 20_000, seed=0)
    assert np.array_equal(cloud.points, again.points)
    assert not np.array_equal(cloud.points, surface_cloud(Design((large, small)), 20_000, seed=1).points)


def test_cloud_of_nothing():
    assert len(surface_cloud(Design(), 100, seed=0).points) == 0
    flat = Mesh(np.zeros((3, 3)), np.array([[0, 1, 2]], dtype=np.int32))
    assert len(surface_cloud(Design((Part("flat", flat),)), 100, seed=0).points) == 0


def test_frame_centres_grounds_and_scales():
    design = Design((Part("a", box(3, 4, 12), position=(5, 6, 7)),))
    frame = Frame.of(design)
    assert frame.diagonal == pytest.approx(13)
    points = frame.normalised(design.parts[0].world.vertices)
    assert points.min(axis=0) == pytest.approx([-1.5 / 13, -2 / 13, 0])
    assert points.max(axis=0) == pytest.approx([1.5 / 13, 2 / 13, 12 / 13])


def test_quarter_turns_are_rotations():
    points = np.random.default_rng(0).random((10, 3))
    for turn in range(4):
        assert quarter_turned(points, turn) == pytest.approx(points @ rotation_matrix((0, 0, 90 * turn)).T)


def test_f_score_of_known_clouds():
    line = np.column_stack([np.arange(10.0), np.zeros(10), np.zeros(10)])
    assert f_score(line, line, 0.1) == 1.0
    half = line[:5]
    assert f_score(half, line, 0.1) == pytest.approx(2 * 1.0 * 0.5 / 1.5)  # precision 1, recall ½
    assert f_score(line, line + np.array([0, 5, 0]), 0.1) == 0.0
    assert f_score(line, np.empty((0, 3)), 0.1) == 0.0


def test_principal_axes_agree_with_dense_sampling():
    turned = box(1, 2, 3).vertices @ rotation_matrix((20, 30, 40)).T
    mesh = Mesh(turned, box(1, 2, 3).faces)
    spreads, directions = principal_axes(mesh)
    points = surface_cloud(Design((Part("a", mesh),)), 400_000, seed=0).points
    values, vectors = np.linalg.eigh(np.cov(points.T))
    assert spreads == pytest.approx(np.sqrt(values[::-1]), rel=5e-3)
    assert angle_deg(directions[0], vectors[:, -1]) < 1.0
    assert angle_deg(directions[0], rotation_matrix((20, 30, 40))[:, 2]) < 1e-6


def test_round_axes():
    wheel = round_axes(rod(0.12, 0.08))
    assert len(wheel) == 1
    assert angle_deg(wheel[0], np.array([0, 0, 1.0])) < 1e-6
    assert round_axes(box(1, 2, 3)) == []
    assert len(round_axes(mesh_of(trimesh.creation.icosphere(3)))) == 3


@pytest.mark.parametrize(
    ("origin", "axis", "ratio"),
    [
        ((0, 0, 0), (0, 0, 1), 0.0),
        ((-0.4, 0, 0), (0, 0, 1), 1.0),
        ((0, 0.04, 0), (0, 0, 1), 2.0),
        ((-0.2, 0, 5.0), (0, 0, 2), 0.5),
    ],
)
def test_offset_of_an_axis(origin, axis, ratio):
    leaf = box(0.8, 0.04, 2.0)
    assert offset_ratio(leaf, np.array(origin, dtype=float), np.array(axis, dtype=float)) == pytest.approx(
        ratio
    )


def test_mirror_iou_of_known_shapes():
    assert mirror_iou(np.ones((30, 20, 70), dtype=bool)) == 1.0
    assert mirror_iou(np.zeros((3, 3, 3), dtype=bool)) == 0.0
    wedge = np.tri(40, 40, dtype=bool)[:, :, None].repeat(
        3, axis=2
    )  # a right isosceles triangle: mirror at 45°
    assert mirror_iou(wedge) == 1.0
    lame = np.ones((40, 20, 4), dtype=bool)
    lame[:20, :10, :2] = False
    brute = max(_iou(lame, lame[::-1]), _iou(lame, lame[:, ::-1]))
    assert mirror_iou(lame) >= brute
    assert mirror_iou(lame) == pytest.approx(brute, abs=0.05)


def _iou(a, b) -> float:
    return float((a & b).sum() / (a | b).sum())


def test_symmetry_match_reproduces_the_recorded_value(lmbuild_data):
    import json

    recorded = json.loads((lmbuild_data / "recorded_scores.json").read_text())["designs"][0]["D3"]
    found = symmetry_match(recorded["symmetry_iou"], recorded["reference_symmetry_iou"])
    assert found == pytest.approx(recorded["symmetry_match"], abs=1e-12)


def test_symmetry_match_at_the_ends():
    assert symmetry_match(0.7, 0.7) == 1.0
    assert symmetry_match(0.0, 1.0) == 0.0
    assert symmetry_match(1.0, 0.0) == 0.0
