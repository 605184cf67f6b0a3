"""Geometry of parts: windings by BFC, colours, edges, hostile sub-files, insets."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import trimesh

from evalkit_brickbench.ldraw import geometry as geometry_module
from evalkit_brickbench.ldraw.drawing import parse_drawing
from evalkit_brickbench.ldraw.flatten import read_scene
from evalkit_brickbench.ldraw.geometry import (
    EDGE_OF,
    Geometry,
    GeometryReader,
    LDrawMeshes,
    inset,
    part_geometry,
)
from evalkit_brickbench.ldraw.library import FolderLibrary, Library, ZipLibrary, open_library
from evalkit_brickbench.ldraw.notes import LDrawError
from evalkit_brickbench.scene import Mesh, MeshSource

DATA = Path(__file__).parent / "data" / "ldraw"
EYE = "1 0 0 0 1 0 0 0 1"


@pytest.fixture(scope="module")
def library() -> Library:
    return open_library(DATA / "library")


@pytest.fixture(scope="module")
def official(shared_data: Path) -> ZipLibrary | FolderLibrary:
    return open_library(shared_data / "ldraw" / "ldraw-subset.zip")


def volume(shape: Geometry | Mesh) -> float:
    """Signed volume, LDU³: positive if triangles wind outwards."""
    a, b, c = np.moveaxis(shape.vertices[shape.triangles], 1, 0)
    return float(np.einsum("ij,ij->", a, np.cross(b, c)) / 6)


def geometry_of(text: str, library: Library) -> Geometry:
    found = part_geometry("x", library, {"x": text})
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        ("1 16 0 0 0 {0} cube.dat", 8),
        ("1 16 0 0 0 {0} cw.dat", 8),
        ("1 16 0 0 0 -1 0 0 0 1 0 0 0 1 cube.dat", 8),
        ("1 16 0 0 0 -1 0 0 0 -1 0 0 0 1 cube.dat", 8),
        ("1 16 0 0 0 -1 0 0 0 1 0 0 0 1 cw.dat", 8),
        ("1 16 5 5 5 0 0 3 2 0 0 0 1 0 48\\cube.dat", 48),
        ("0 BFC INVERTNEXT\n1 16 0 0 0 {0} cube.dat", -8),
        ("0 BFC INVERTNEXT\n1 16 0 0 0 -1 0 0 0 1 0 0 0 1 cw.dat", -8),
        ("0 BFC INVERTNEXT\n1 16 0 0 0 {0} cube.dat\n1 16 9 0 0 2 0 0 0 1 0 0 0 1 cube.dat", 8),
        ("0 BFC CW\n1 16 0 0 0 {0} cube.dat", 8),
    ],
)
def test_windings_point_outwards(lines: str, expected: float, library: Library) -> None:
    shape = geometry_of("0 X\n0 BFC CERTIFY CCW\n" + lines.format(EYE), library)
    assert volume(shape) == pytest.approx(expected)
    assert shape.certified.all()


def test_clockwise_lines_are_turned(library: Library) -> None:
    triangle = "3 16 0 0 0 1 0 0 0 1 0"
    shape = geometry_of(f"0 X\n0 BFC CERTIFY CW\n{triangle}\n0 BFC CCW\n{triangle}", library)
    normals = np.cross(*np.diff(shape.vertices[shape.triangles], axis=1).transpose(1, 0, 2))
    assert normals[:, 2].tolist() == [-1, 1]


def test_certificates_end_at_clips_and_uncertified_files(library: Library) -> None:
    triangle = "3 16 0 0 0 1 0 0 0 1 0"
    text = f"""0 X
{triangle}
0 BFC CERTIFY CCW
{triangle}
0 BFC NOCLIP
{triangle}
1 16 0 0 0 {EYE} cube.dat
0 BFC CLIP CW
{triangle}"""
    shape = geometry_of(text, library)
    assert shape.certified.tolist() == [False, True, False, True] + [False] * 12
    loose = part_geometry("loose", library)
    assert loose is not None
    assert not loose.certified.any()


def test_part_with_hollow_and_coloured_core(library: Library) -> None:
    shape = part_geometry("HOLLOW.dat", library)
    assert shape is not None
    assert shape.missing == ()
    assert volume(shape) == pytest.approx(20**3 - 16**3 + 4**3)
    assert trimesh.Trimesh(shape.vertices, shape.triangles, process=False).is_watertight
    colours, counts = np.unique(shape.colours, return_counts=True)
    assert dict(zip(colours.tolist(), counts.tolist(), strict=True)) == {16: 24, 4: 12}


def test_closed_form_of_a_block(library: Library) -> None:
    shape = part_geometry("block", library)
    assert shape is not None
    assert volume(shape) == pytest.approx(40 * 24 * 20)
    assert len(shape.vertices) == 8
    assert shape.vertices.min(axis=0).tolist() == [-20, 0, -10]
    assert shape.vertices.max(axis=0).tolist() == [20, 24, 10]


def test_lines_and_their_colours(library: Library) -> None:
    text = f"""0 X
2 24 0 0 0 1 0 0
2 16 0 0 0 1 0 0
2 1 0 0 0 1 0 0
1 16 0 0 5 {EYE} cube.dat
1 4 0 0 0 {EYE} cube.dat
1 24 0 0 0 {EYE} cube.dat"""
    shape = geometry_of(text, library)
    assert shape.edge_colours.tolist() == [24, 16, 1, 24, EDGE_OF + 4, 24]
    assert shape.edges[3].tolist() == [[-1, -1, 4], [1, -1, 4]]
    assert shape.conditional_colours.tolist() == [24, EDGE_OF + 4, 24]
    assert shape.conditionals[0].tolist() == [[1, -1, 4], [1, 1, 4], [0, 0, 4], [1, 0, 5]]
    assert set(shape.colours.tolist()) == {16, 4, 24}


def test_concave_quads_are_cut_along_the_inner_diagonal() -> None:
    # An arrow head whose second corner points inwards: area 2 − 1.
    drawing = parse_drawing("4 16 -1 0 0 0 1 0 1 0 0 0 2 0")
    sides = np.diff(drawing.triangles, axis=1)
    normals = np.cross(sides[:, 0], sides[:, 1])
    assert (normals[:, 2] > 0).all()
    assert normals[:, 2].sum() / 2 == pytest.approx(1)


def test_damaged_lines_draw_nothing() -> None:
    text = """3 16 0 0 0 1 0 0 0 1
3 16 0 0 0 1 0 0 0 1 nan
3 16 0 0 0 1 0 0 0 1 x
3 x 0 0 0 1 0 0 0 1 0
2 24 0 0 inf 1 1 1
1 16 0 0 0 1 0 0 0 cube.dat
1 16 0 0 0 1 0 0 0 1 0 0 0 nan cube.dat
3 16 0 0 0 1 0 0 0 1 0 // the good one"""
    drawing = parse_drawing(text)
    assert len(drawing.triangles) == 1
    assert len(drawing.edges) == len(drawing.subfiles) == 0


def test_missing_sub_files_are_named(library: Library) -> None:
    shape = geometry_of(f"0 X\n1 16 0 0 0 {EYE} cube.dat\n1 16 0 0 0 {EYE} s\\None.dat", library)
    assert shape.missing == ("s/none.dat",)
    assert len(shape.triangles) == 12
    assert part_geometry("none", library) is None


def test_embedded_parts_bring_their_pieces(library: Library) -> None:
    scene, _ = read_scene(DATA / "quirks.mpd", library)
    shape = part_geometry("own part", library, scene.embedded)
    assert shape is not None
    assert shape.missing == ()
    assert len(shape.triangles) == 13
    assert shape.certified.sum() == 12


def test_moved_parts_have_the_geometry_of_the_new_one(library: Library) -> None:
    old, new = part_geometry("old", library), part_geometry("block", library)
    assert old is not None
    assert new is not None
    np.testing.assert_array_equal(old.vertices, new.vertices)


def test_sub_files_in_a_circle_and_too_many_triangles(
    library: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    circle = {"a": f"1 16 0 0 0 {EYE} b.dat", "b": f"1 16 0 0 0 {EYE} a.dat"}
    with pytest.raises(LDrawError, match="contain each other"):
        part_geometry("a", library, circle)
    deep = {f"p{i}": f"1 16 0 0 0 {EYE} p{i + 1}.dat" for i in range(5000)}
    with pytest.raises(LDrawError, match="nest too deep"):
        part_geometry("p0", library, deep)
    monkeypatch.setattr(geometry_module, "TRIANGLE_LIMIT", 10_000)
    bomb = {f"p{i}": f"1 16 0 0 0 {EYE} p{i + 1}.dat\n" * 10 for i in range(20)}
    bomb["p20"] = f"1 16 0 0 0 {EYE} cube.dat"
    with pytest.raises(LDrawError, match="more than 10,000"):
        part_geometry("p0", library, bomb)


@pytest.mark.parametrize("distance", [0.25, 0.5])
def test_inset_of_a_block_moves_every_side(distance: float, library: Library) -> None:
    shape = part_geometry("block", library)
    assert shape is not None
    mesh = inset(shape, distance)
    sizes = mesh.vertices.max(axis=0) - mesh.vertices.min(axis=0)
    np.testing.assert_allclose(sizes, np.array([40, 24, 20]) - 2 * distance, atol=1e-9)
    assert volume(mesh) == pytest.approx(float(np.prod(sizes)))
    assert mesh.inset_ldu == distance
    assert inset(mesh, 0.25).inset_ldu == distance + 0.25


def test_inset_widens_hollows(library: Library) -> None:
    shape = part_geometry("hollow", library)
    assert shape is not None
    assert volume(inset(shape, 0.5)) == pytest.approx(19**3 - 17**3 + 3**3)


def test_mesh_source(library: Library) -> None:
    source: MeshSource = LDrawMeshes(library, 0.5, {"x": f"1 16 0 0 0 {EYE} none.dat"})
    assert source.id == f"{library.id}:inset=0.5"
    mesh = source.mesh("block")
    assert mesh is not None
    assert source.mesh("block") is mesh
    assert mesh.vertices.min() == pytest.approx(-19.5)
    assert source.mesh("x") is None
    assert source.mesh("nothing") is None


def naive(text: str, library: Library, matrix: np.ndarray, flip: bool) -> list[np.ndarray]:
    """Triangles in the frame of the part, by plain recursion with 4 × 4 matrices and no cache."""
    triangles: list[np.ndarray] = []
    clockwise = invert = False
    for line in text.splitlines():
        words = line.split()
        if words[:2] == ["0", "BFC"]:
            invert = "INVERTNEXT" in words
            clockwise = clockwise if invert else "CW" in words
        elif words[:1] == ["1"]:
            x, y, z, a, b, c, d, e, f, g, h, i = map(float, words[2:14])
            inner = matrix @ np.array([[a, b, c, x], [d, e, f, y], [g, h, i, z], [0, 0, 0, 1]])
            child = library.find(" ".join(words[14:]))
            assert child is not None
            triangles += naive(child.decode(), library, inner, flip != invert)
            invert = False
        elif words[:1] in (["3"], ["4"]):
            points = np.array(words[2:], dtype=float).reshape(-1, 3)
            placed = (matrix @ np.column_stack([points, np.ones(len(points))]).T).T[:, :3]
            if (np.linalg.det(matrix[:3, :3]) < 0) != (flip != clockwise):
                placed = placed[::-1]
            triangles += [placed[[0, k, k + 1]] for k in range(1, len(placed) - 1)]
    return triangles


@pytest.mark.parametrize("part", ["3001", "3062b", "3039", "6558", "3626b", "2412b", "4589"])
def test_official_parts_agree_with_plain_recursion(part: str, official: Library) -> None:
    content = official.find(f"{part}.dat")
    assert content is not None
    expected = np.array(naive(content.decode(), official, np.eye(4), False))
    shape = part_geometry(part, official)
    assert shape is not None
    assert shape.missing == ()
    assert shape.certified.all()
    corners = shape.vertices[shape.triangles]
    a, b, c = np.moveaxis(expected, 1, 0)
    assert volume(shape) == pytest.approx(float(np.einsum("ij,ij->", a, np.cross(b, c)) / 6), rel=1e-5)
    areas = [
        np.linalg.norm(np.cross(t[:, 1] - t[:, 0], t[:, 2] - t[:, 0]), axis=1) / 2
        for t in (expected, corners)
    ]
    assert areas[1].sum() == pytest.approx(areas[0].sum(), rel=1e-4)
    assert (areas[0] > 1e-6).sum() >= len(corners) - 8
    assert abs(len(corners) - len(expected)) <= 0.02 * len(expected)


def test_official_brick_1x1_has_its_closed_form_volume(official: Library) -> None:
    shape = part_geometry("3005", official)
    assert shape is not None
    # Walls of 4 LDU around a cavity of 12 × 20 × 12, and a stud that is a prism of 16 sides (to 4 decimals).
    stud = 4 * 8 * 6**2 * np.sin(np.pi / 8)
    assert volume(shape) == pytest.approx(20 * 20 * 24 - 12 * 12 * 20 + stud, rel=1e-4)


def test_nearly_all_official_parts_wind_outwards(official: ZipLibrary | FolderLibrary) -> None:
    reader = GeometryReader(official)
    names = official.names()[::12]
    inside_out = []
    for name in names:
        shape = reader.geometry(name)
        assert shape is not None
        assert shape.missing == ()
        if volume(shape) <= 0:
            inside_out.append(name)
    assert len(names) > 150
    assert inside_out == []
