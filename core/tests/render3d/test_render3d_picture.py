"""What a picture shows: colours, light, transparency, ink, highlights."""

from __future__ import annotations

import math

import numpy as np
import pytest
from numpy.typing import NDArray
from render3d_scenes import cube, moved, sphere

from evalkit.render3d import (
    Camera,
    Light,
    Mesh,
    MeshInstance,
    bounds,
    buffers,
    highlighted,
    look_at,
    orbit,
    render,
)

FLAT = Light(1.0, ())
"""Shows every colour as it is."""
FRONT = look_at((0, -9, 0), (0, 0, 0), height=4.0)


def plain(scene: list[MeshInstance], camera: Camera = FRONT, size: int = 40) -> NDArray[np.uint8]:
    return render(scene, camera, (size, size), outlines=False, light=FLAT)


def test_an_empty_scene_is_background() -> None:
    image = render([], FRONT, (7, 5), background=(10, 20, 30))
    assert image.shape == (5, 7, 3)
    assert (image == (10, 20, 30)).all()


def test_colour_and_place() -> None:
    image = plain([MeshInstance(cube(), 0, moved(1.0, 0, 1.0), (201, 26, 9))])
    red = (image == (201, 26, 9)).all(axis=-1)
    expected = np.zeros((40, 40), bool)
    expected[5:15, 25:35] = True  # right of the middle and above it
    assert np.array_equal(red, expected)
    assert (image[~red] == 255).all()


def test_colours_of_single_triangles() -> None:
    square = Mesh([[-1, 0, -1], [1, 0, -1], [1, 0, 1], [-1, 0, 1]], [[0, 1, 2], [0, 2, 3]])
    image = plain([MeshInstance(square, 0, colour=np.array([[255, 0, 0], [0, 0, 255]]))])
    assert image[25, 27].tolist() == [255, 0, 0]
    assert image[15, 13].tolist() == [0, 0, 255]


def test_light_falls_by_the_cosine_and_on_both_sides() -> None:
    lamp = Light(0.2, ((0.0, 0.0, 1.0, 0.6),))
    square = Mesh([[-9, 0, -9], [9, 0, -9], [9, 0, 9], [-9, 0, 9]], [[0, 1, 2], [0, 2, 3]])
    for turn_deg in (0.0, 60.0, 180.0, 240.0):
        c, s = math.cos(math.radians(turn_deg)), math.sin(math.radians(turn_deg))
        matrix = np.array([[c, -s, 0, 0], [s, c, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]])
        image = render([MeshInstance(square, 0, matrix, (200, 100, 50))], FRONT, (8, 8), light=lamp)
        share = 0.2 + 0.6 * abs(c)
        assert image[4, 4].tolist() == pytest.approx([200 * share, 100 * share, 50 * share], abs=1)


def test_transparent_surfaces_blend_front_over_back() -> None:
    sheets = [
        Mesh([[-2, y, -2], [2, y, -2], [2, y, 2], [-2, y, 2]], [[0, 1, 2], [0, 2, 3]]) for y in (-1, 0, 1)
    ]
    red, green, blue = (250, 0, 0, 51), (0, 250, 0, 102), (0, 0, 250)
    scene = [
        MeshInstance(sheet, i, colour=c)
        for i, (sheet, c) in enumerate(zip(sheets, (red, green, blue), strict=True))
    ]
    assert plain(scene)[20, 20].tolist() == pytest.approx([50, 0.8 * 100, 0.8 * 0.6 * 250], abs=3)
    assert plain(scene[:1])[20, 20].tolist() == pytest.approx([254, 204, 204], abs=3)
    hidden = [MeshInstance(sheets[0], 0, colour=blue), MeshInstance(sheets[1], 1, colour=red)]
    assert plain(hidden)[20, 20].tolist() == [0, 0, 250]


def test_outlines_part_two_flush_boxes_of_one_colour() -> None:
    pair = [MeshInstance(cube(), 0, moved(-0.5)), MeshInstance(cube(), 1, moved(0.5))]
    drawn = render(pair, FRONT, (40, 40), light=FLAT).astype(int)
    without = plain(pair).astype(int)
    seam = (without - drawn)[20].sum(axis=-1)
    assert seam[19] > 100
    assert seam[20] > 100
    assert seam[14:18].sum() == seam[22:26].sum() == 0


def test_a_step_between_parallel_faces_is_outlined_and_a_smooth_sphere_is_not() -> None:
    steps = np.concatenate([cube().vertices, cube().vertices * [0.5, 1, 0.5] + [0, -0.8, 0]])
    both = Mesh(steps, np.concatenate([cube().triangles, cube().triangles + 8]))
    scene = [MeshInstance(both, 0, closed=True)]
    changed = (
        render(scene, FRONT, (80, 80), light=FLAT)
        != render(scene, FRONT, (80, 80), light=FLAT, outlines=False)
    ).any(axis=-1)
    assert changed[40, 29:32].any()
    assert not changed[38:43, 36:44].any()
    ball = [MeshInstance(sphere(1.0, 24), 0, closed=True)]
    inked = (render(ball, FRONT, (80, 80)) != render(ball, FRONT, (80, 80), outlines=False)).any(axis=-1)
    rows, columns = np.nonzero(inked)
    assert np.hypot(rows - 39.5, columns - 39.5).min() > 17.5, "only near the rim, at 20 pixels"


def test_edge_lines_are_seen_on_their_part_and_not_through_others() -> None:
    with_lines, without = (
        MeshInstance(cube(edges=flag), 0, colour=(200, 200, 200)) for flag in (True, False)
    )
    camera = look_at((4, -6, 3), (0, 0, 0))
    inked = (plain([with_lines], camera, 120) != plain([without], camera, 120)).any(axis=-1)
    corner = project(camera, np.array([0.5, -0.5, 0.0]), 120)
    assert inked[corner[1], corner[0]], "the edge towards the eye"
    back = project(camera, np.array([-0.5, 0.5, -0.2]), 120)
    assert not inked[back[1] - 2 : back[1] + 3, back[0] - 2 : back[0] + 3].any(), "the edge behind the cube"
    wall = MeshInstance(cube(), 1, moved(1.6, -2.4, 1.2, 2.0))
    assert np.array_equal(plain([with_lines, wall], camera, 120), plain([without, wall], camera, 120))


def project(camera: Camera, point: NDArray[np.float64], size: int) -> tuple[int, int]:
    x, y, z = camera.axes @ (point - camera.eye)
    assert camera.fov_deg is not None
    focal = size / 2 / math.tan(math.radians(camera.fov_deg) / 2)
    return int(size / 2 + focal * x / -z), int(size / 2 - focal * y / -z)


def test_lines_alone_and_dark_parts() -> None:
    line = Mesh([[-1, 0, 0], [1, 0, 0]], [], edges=[[0, 1]])
    image = plain([MeshInstance(line, 0, moved(0, 0, 0.05))])
    assert image[19, 12:28].max() < 120
    assert image[:18].min() == image[21:].min() == 255
    black = [MeshInstance(cube(), 0, moved(-0.5), (5, 5, 5)), MeshInstance(cube(), 1, moved(0.5), (5, 5, 5))]
    assert render(black, FRONT, (40, 40), light=FLAT)[20, 20].min() > 40, "light ink on a black part"


def test_supersampling_averages() -> None:
    half = MeshInstance(cube(), 0, moved(0.05, 0, 0), (0, 0, 0))
    assert plain([half])[20, 14:17, 0].tolist() == [255, 128, 0]
    sharp = render([half], FRONT, (40, 40), supersample=1, outlines=False, light=FLAT)
    assert set(np.unique(sharp)) == {0, 255}


def test_highlighted_parts_stand_out_and_can_be_seen_inside_others() -> None:
    inside = MeshInstance(cube(0.4), 1, colour=(0, 0, 200))
    scene = [MeshInstance(cube(2.0), 0, colour=(200, 0, 0)), inside]
    solid = plain(highlighted(scene, {0: (0, 255, 0)}))
    assert solid[20, 20].tolist() == [0, 255, 0]
    seen = plain(highlighted(scene, {1: (255, 0, 255)}, rest_alpha=60))[20, 20].astype(int)
    beside = plain(highlighted(scene, {1: (255, 0, 255)}, rest_alpha=60))[12, 12].astype(int)
    assert seen[0] - seen[1] > 80
    assert np.ptp(beside) < 60
    with pytest.raises(ValueError, match="id 9"):
        highlighted(scene, {9: (1, 2, 3)})


@pytest.mark.parametrize("up", [(0, 0, 1), (0, 1, 0), (0, -1, 0)])
@pytest.mark.parametrize("fov_deg", [15.0, 60.0, None])
def test_orbit_frames_the_box_with_its_margin(up: tuple[int, int, int], fov_deg: float | None) -> None:
    scene = [MeshInstance(cube(), 0, np.diag([3.0, 2.0, 1.0, 1.0]))]
    for yaw_deg in (5, 50, 95, 230):
        camera = orbit(
            bounds(scene), yaw_deg=yaw_deg, pitch_deg=-15, fov_deg=fov_deg, margin=1.05, up=up, aspect=1.5
        )
        rows, columns = np.nonzero(buffers(scene, camera, (300, 200)).ids == 0)
        reach = max(np.abs(rows - 99.5).max() / 100, np.abs(columns - 149.5).max() / 150)
        assert reach == pytest.approx(1 / 1.05, abs=0.015)


def test_orbit_knows_front_right_and_above() -> None:
    box = [[-1, -1, -1], [1, 1, 1]]
    for up, front, right in (
        ((0, 0, 1), (0, -1, 0), (1, 0, 0)),
        ((0, 1, 0), (0, 0, 1), (1, 0, 0)),
        ((0, -1, 0), (0, 0, -1), (1, 0, 0)),
    ):
        level = orbit(box, yaw_deg=0, pitch_deg=0, up=up)
        assert np.allclose(level.axes, [right, up, front])
        assert orbit(box, yaw_deg=90, pitch_deg=0, up=up).eye @ right > 5
        assert orbit(box, yaw_deg=0, pitch_deg=-15, up=up).eye @ up > 1
        down = orbit(box, yaw_deg=0, pitch_deg=-90, up=up)
        assert np.allclose(down.axes, [right, -np.array(front), up])


def test_bad_input_is_explained() -> None:
    square = [[0, 0, 0], [1, 0, 0], [0, 1, 0]]
    for make, words in (
        (lambda: Mesh([[0, 0]], []), r"\[n, 3\]"),
        (lambda: Mesh([[0, 0, math.nan]], []), "finite"),
        (lambda: Mesh(square, [[0, 1, 3]]), "0 … 2"),
        (lambda: Mesh(square, [[0.0, 1.0, 2.0]]), "integers"),
        (lambda: Mesh(square, [], edges=[[0, 5]]), "0 … 2"),
        (lambda: MeshInstance(cube(), -1), "id must"),
        (lambda: MeshInstance(cube(), 0, np.eye(3)), "4×4"),
        (lambda: MeshInstance(cube(), 0, np.full((4, 4), math.inf)), "4×4"),
        (lambda: MeshInstance(cube(), 0, moved(1e300)), "finite and at most"),
        (lambda: MeshInstance(cube(), 0, colour=(1, 2)), "RGB"),
        (lambda: MeshInstance(cube(), 0, colour=(1, 2, 256)), "0 … 255"),
        (lambda: bounds([]), "empty"),
        (lambda: look_at((0, 0, 0), (0, 0, 0)), "same point"),
        (lambda: look_at((0, 0, 1), (0, 0, 0)), "parallel"),
        (lambda: look_at((0, 1, 1), (0, 0, 0), fov_deg=200), "170"),
        (lambda: orbit([[1, 0, 0], [0, 1, 1]]), "lowest and highest"),
        (lambda: render([MeshInstance(cube(), 4), MeshInstance(cube(), 4)], FRONT, (8, 8)), "id 4"),
        (lambda: render([], FRONT, (0, 8)), "0×8"),
        (lambda: render([], FRONT, (9000, 8)), "samples"),
    ):  # fmt: skip
        with pytest.raises(ValueError, match=words):
            make()


def test_degenerate_and_huge_geometry_draws_without_a_crash() -> None:
    flat = Mesh(np.zeros((3, 3)), [[0, 1, 2], [0, 0, 0]])
    huge = Mesh([[-1e12, 1, 0], [1e12, 1, -1e12], [0, 1, 1e12]], [[0, 1, 2]], edges=[[0, 1], [1, 2]])
    scene = [
        MeshInstance(flat, 0),
        MeshInstance(huge, 1),
        MeshInstance(cube(), 2, np.diag([0.0, 0.0, 0.0, 1.0])),
    ]
    assert (buffers(scene, look_at((0, -5, 0), (0, 0, 0)), (30, 30)).ids == 1).any()
    assert render(scene, look_at((0, -5, 0), (0, 0, 0)), (30, 30)).shape == (30, 30, 3)
