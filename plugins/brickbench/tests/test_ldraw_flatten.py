"""Sub-models followed down to the parts."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from evalkit_brickbench.ldraw.flatten import flatten, read_scene
from evalkit_brickbench.ldraw.library import open_library
from evalkit_brickbench.ldraw.notes import LDrawError
from evalkit_brickbench.ldraw.plan import DEPTH_LIMIT
from evalkit_brickbench.ldraw.reader import read_document
from evalkit_brickbench.parts.wheels import WheelCatalogue
from evalkit_brickbench.scene import Scene

DATA = Path(__file__).parent / "data" / "ldraw"
EYE = "1 0 0 0 1 0 0 0 1"


def scene_of(text: str) -> Scene:
    return read_scene(text.encode(), name="m.ldr")[0]


def refused(text: str) -> str:
    with pytest.raises(LDrawError) as caught:
        read_scene(text.encode(), name="m.ldr")
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_everything_odd_at_once() -> None:
    scene, notes = read_scene(DATA / "quirks.mpd", open_library(DATA / "library"))
    assert scene.stems == ("block",) * 6 + ("own part",)
    assert scene.colours.tolist() == [4, 16, 1, 14, 2, 14, 0x2FF8800]
    assert scene.steps.tolist() == [0, 0, 1, 1, 1, 1, 3]
    arm = "Main Model.ldr/ARM with Spaces.LDR"
    assert scene.paths == ("", "", f"{arm}[1]", f"{arm}[1]", f"{arm}[2]", f"{arm}[2]", "")
    # The first arm is turned by a quarter (its z is the model's x), the second mirrored in x.
    assert scene.positions[2:6].tolist() == [[110, 0, 0], [120, 0, 0], [200, 0, 10], [200, 0, 20]]
    assert scene.matrices[4].tolist() == [[-1, 0, 0], [0, 1, 0], [0, 0, 1]]
    assert scene.matrices[6].tolist() == [[2, 0, 0], [0, 1, 0], [0, 0, 1]]
    assert list(scene.embedded) == ["own part", "s/own piece"]
    assert Counter(note.code for note in notes) == {"hidden": 1, "buffer": 1, "ghost": 1, "outside": 1}


def test_order_is_depth_first_and_poses_compose() -> None:
    text = f"""0 FILE a.ldr
1 1 1 0 0 {EYE} first.dat
1 2 10 0 0 0 -1 0 1 0 0 0 0 1 b.ldr
1 3 2 0 0 {EYE} last.dat
0 FILE b.ldr
1 16 5 0 0 {EYE} c.ldr
1 24 6 0 0 {EYE} b.dat
0 FILE c.ldr
1 16 0 7 0 1 0 0 0 2 0 0 0 1 c.dat
1 7 0 0 1 {EYE} d.dat"""
    scene = scene_of(text)
    assert scene.stems == ("first", "c", "d", "b", "last")
    assert scene.colours.tolist() == [1, 2, 7, 2, 3]
    assert scene.paths == ("", "a.ldr/b.ldr/c.ldr", "a.ldr/b.ldr/c.ldr", "a.ldr/b.ldr", "")
    # b turns x to y and y to −x: its (5, 7, 0) is (10 − 7, 5, 0).
    assert scene.positions.tolist() == [[1, 0, 0], [3, 5, 0], [10, 5, 1], [10, 6, 0], [2, 0, 0]]
    assert scene.matrices[1].tolist() == [[0, -2, 0], [1, 0, 0], [0, 0, 1]]


def test_ghosts_count_in_the_main_model_only() -> None:
    text = f"""0 FILE a.ldr
0 GHOST 1 1 0 0 0 {EYE} a.dat
1 1 0 0 0 {EYE} b.ldr
0 FILE b.ldr
0 GHOST 1 1 0 0 0 {EYE} b.dat
1 1 0 0 0 {EYE} c.dat"""
    assert scene_of(text).stems == ("a", "c")


def test_embedded_files_win_over_the_library() -> None:
    text = f"1 4 0 0 0 {EYE} block.dat\n0 FILE BLOCK.dat\n0 Mine\n3 16 0 0 0 1 0 0 0 1 0"
    scene, _ = read_scene(text.encode(), open_library(DATA / "library"))
    assert scene.embedded["block"].startswith("0 Mine")


def test_library_says_what_is_a_part() -> None:
    text = "".join(
        f"1 4 {x} 0 0 {EYE} {name}\n"
        for x, name in enumerate(["pair.dat", "old.dat", "tower.ldr", "cube.dat", "s\\inner.dat", "none.dat"])
    )
    scene, notes = read_scene(text.encode(), open_library(DATA / "library"))
    # A shortcut is one part, a moved one keeps its name, a model of the library is followed.
    assert scene.stems == ("pair", "old", "block", "block", "none")
    assert scene.colours.tolist() == [4, 4, 4, 14, 4]
    assert [note.code for note in notes] == ["primitive", "primitive"]


def test_file_that_is_a_part_is_placed_once() -> None:
    scene, notes = read_scene(DATA / "library" / "parts" / "hollow.dat")
    assert scene.stems == ("hollow",)
    assert "cube.dat" in scene.embedded["hollow"].lower()
    assert [note.code for note in notes] == ["part-file"]


def test_missing_sub_model_is_one_unknown_part() -> None:
    scene, notes = read_scene(f"1 4 0 0 0 {EYE} a.dat\n1 4 0 0 0 {EYE} Wing Left.ldr\n".encode())
    assert scene.stems == ("a", "wing left.ldr")
    assert [(note.code, note.line) for note in notes] == [("missing-model", 2)]


def test_unknown_parts_are_counted() -> None:
    document = read_document(f"1 4 0 0 0 {EYE} a.dat\n1 4 0 0 0 {EYE} b.dat\n1 4 0 0 0 {EYE} b.dat".encode())
    scene, notes = flatten(document, knows=lambda stem: stem == "a")
    assert len(scene) == 3
    assert [note.message for note in notes] == ["part 'b' is unknown (2 placed)"]


@pytest.mark.parametrize("matrix", ["0 0 0 0 0 0 0 0 0", "1 0 0 0 0 0 0 0 1", "1 1 0 1 1 0 0 0 1"])
def test_matrix_without_volume_places_nothing(matrix: str) -> None:
    scene, notes = read_scene(f"1 4 0 0 0 {EYE} a.dat\n1 4 0 0 0 {matrix} b.dat".encode())
    assert scene.stems == ("a",)
    assert [(note.code, note.line) for note in notes] == [("flat-matrix", 2)]


def test_scale_shear_and_mirrors_are_kept() -> None:
    matrix = [[-2.0, 0.5, 0.0], [0.0, 3.0, 0.0], [0.25, 0.0, 1e-3]]
    words = " ".join(str(value) for row in matrix for value in row)
    assert scene_of(f"1 4 0 0 0 {words} a.dat").matrices.tolist() == [matrix]


def test_blocks_in_a_circle_are_named() -> None:
    text = f"""0 FILE main.ldr
1 4 0 0 0 {EYE} arm.ldr
0 FILE arm.ldr
1 4 0 0 0 {EYE} HAND.ldr
0 FILE hand.ldr
1 4 0 0 0 {EYE} arm.ldr"""
    assert "arm.ldr → hand.ldr → arm.ldr" in refused(text)


def test_block_that_refers_to_itself() -> None:
    assert "main.ldr → main.ldr" in refused(f"0 FILE main.ldr\n1 4 0 0 0 {EYE} main.ldr")


def test_exponential_nesting_is_counted_not_built() -> None:
    levels = 30
    blocks = [f"0 FILE b{i}.ldr\n" + f"1 16 0 0 0 {EYE} b{i + 1}.ldr\n" * 10 for i in range(levels)]
    bomb = "".join(blocks) + f"0 FILE b{levels}.ldr\n1 4 0 0 0 {EYE} 3001.dat"
    assert "parts, 100,000 are the limit" in refused(bomb)
    empty = "".join(blocks) + f"0 FILE b{levels}.ldr\n0 nothing"
    assert len(scene_of(empty)) == 0


def test_part_limit_is_inclusive() -> None:
    document = read_document(f"1 4 0 0 0 {EYE} a.dat\n".encode() * 11)
    assert len(flatten(document, part_limit=11)[0]) == 11
    with pytest.raises(LDrawError, match="11 parts, 10 are the limit"):
        flatten(document, part_limit=10)


def test_depth_limit() -> None:
    def chain(length: int) -> str:
        blocks = (f"0 FILE b{i}.ldr\n1 16 1 0 0 {EYE} b{i + 1}.ldr\n" for i in range(length - 1))
        return "".join(blocks) + f"0 FILE b{length - 1}.ldr\n1 4 1 0 0 {EYE} a.dat"

    assert scene_of(chain(DEPTH_LIMIT)).positions.tolist() == [[DEPTH_LIMIT, 0, 0]]
    assert "nested" in refused(chain(DEPTH_LIMIT + 1))
    assert "nested" in refused(chain(2_000))


def test_overflow_by_nesting_leaves_the_part_out() -> None:
    huge = "1e6 0 0 0 1e6 0 0 0 1e6"
    blocks = (f"0 FILE b{i}.ldr\n1 16 1e6 0 0 {huge} b{i + 1}.ldr\n" for i in range(60))
    scene, notes = read_scene(("".join(blocks) + f"0 FILE b60.ldr\n1 4 1 0 0 {huge} a.dat").encode())
    assert len(scene) == 0
    assert [note.code for note in notes] == ["out-of-range"]


@pytest.mark.parametrize("name", ["../../etc/passwd", "/etc/passwd", "C:\\secret.ldr", "s\\..\\..\\x.dat"])
def test_names_that_leave_the_library_open_nothing(name: str, tmp_path: Path) -> None:
    library = open_library(DATA / "library")
    assert library.find(name) is None
    scene, _ = read_scene(f"1 4 0 0 0 {EYE} {name}\n1 4 0 0 0 {EYE} a.dat".encode(), library)
    assert scene.stems[-1] == "a"
    assert scene.embedded == {}


def test_hundred_thousand_parts() -> None:
    row = "".join(f"1 16 {x * 20} 0 0 {EYE} 3005.dat\n" for x in range(100))
    rows = "".join(f"1 {z % 8} 0 0 {z * 20} {EYE} row.ldr\n" for z in range(1000))
    scene = scene_of(f"0 FILE main.ldr\n{rows}0 FILE row.ldr\n{row}")
    assert len(scene) == 100_000
    assert scene.positions[54_321].tolist() == [21 * 20, 0, 543 * 20]
    assert scene.colours[54_321] == 543 % 8
    assert scene.paths[54_321] == "main.ldr/row.ldr[544]"


def test_same_bits_every_time() -> None:
    first, second = (read_scene(DATA / "quirks.mpd")[0] for _ in range(2))
    assert first.positions.tobytes() == second.positions.tobytes()
    assert first.matrices.tobytes() == second.matrices.tobytes()


def test_real_models_have_as_many_parts_as_counted_elsewhere(
    shared_data: Path, wheel_catalogue: WheelCatalogue
) -> None:
    truth = json.loads((shared_data / "brickbench" / "graph_truth.json").read_text())
    assert len(truth) == 15
    for model in truth:
        scene, _ = read_scene(shared_data / "brickbench" / "models" / model["file"])
        unknown = Counter(stem for stem in scene.stems if wheel_catalogue.resolve(stem) is None)
        assert len(scene) - unknown.total() == model["known"], model["file"]
        if model["file"].startswith("5934"):
            # The truth counts 360 primitives of an embedded wheel set, placed twice, as unknown parts.
            assert unknown == {"5934 - 71965c01": 2}
        else:
            assert len(scene) == model["leaf_refs"], model["file"]
            expected = {name.removesuffix(".dat"): count for name, count in model["unknown_top"].items()}
            assert expected.items() <= unknown.items(), model["file"]
        mirrored = np.linalg.det(scene.matrices) < 0
        assert int(mirrored.sum()) == model["neg_det"], model["file"]
