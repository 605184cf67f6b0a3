"""Faults that users of other LDraw programs have reported in public: this reader must not have them.

Where the wording of a report wasn't at hand, its test holds the fault that such a program can have there,
and says so.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from evalkit_brickbench.ldraw.colours import builtin_palette
from evalkit_brickbench.ldraw.flatten import read_scene
from evalkit_brickbench.ldraw.geometry import part_geometry
from evalkit_brickbench.ldraw.library import open_library
from evalkit_brickbench.ldraw.reader import read_document
from evalkit_brickbench.parts.wheels import WheelCatalogue
from evalkit_brickbench.scene import Scene

DATA = Path(__file__).parent / "data" / "ldraw"
EYE = "1 0 0 0 1 0 0 0 1"


def scene_of(text: str) -> Scene:
    return read_scene(text.encode())[0]


def test_leocad_533_two_files_of_one_name() -> None:
    """A file that places a second one of its own name: no endless recursion, the reference
    is an unknown part."""
    text = f"""0 FILE torso.ldr
1 0 0 0 0 {EYE} torso.ldr
0 NOFILE
0 FILE torso.ldr
1 1 0 0 0 {EYE} 973.dat
0 NOFILE"""
    scene, notes = read_scene(text.encode())
    assert scene.stems == ("torso.ldr",)
    assert {note.code for note in notes} == {"repeated-name"}


def test_leocad_533_with_the_reported_file(shared_data: Path) -> None:
    """The reported file itself."""
    scene, _ = read_scene(shared_data / "brickbench" / "models" / "torso_same_name_leocad533.mpd")
    assert scene.stems == ("torso.ldr",)


def test_leocad_64_case_of_names() -> None:
    """Assumed from the project (names are looked up on systems that tell cases apart): references and files
    spelled in different cases belong together, in the file and in the library."""
    scene, notes = read_scene(
        f"0 FILE Main.LDR\n1 4 0 0 0 {EYE} ARM.Ldr\n0 FILE arm.ldr\n1 4 0 0 0 {EYE} BLOCK.DAT".encode(),
        open_library(DATA / "library"),
    )
    assert scene.stems == ("block",)
    assert notes == ()


def test_importldraw_7_spaces_in_names() -> None:
    """Assumed from the project: names of files with (several) spaces aren't cut at the first one."""
    assert scene_of(
        f"0 FILE my car.ldr\n1 4 0 0 0 {EYE} left  front  wheel.ldr \n"
        f"0 FILE left  front  wheel.ldr\n1 4 0 0 0 {EYE} 30 01.dat"
    ).stems == ("30 01",)


def test_importldraw_95_letters_behind_numbers(wheel_catalogue: WheelCatalogue) -> None:
    """3023, 3023a and 3023b are files of their own: the reader keeps the names, the catalogue decides."""
    scene = scene_of("".join(f"1 4 0 0 0 {EYE} 3023{letter}.dat\n" for letter in ("", "a", "b")))
    assert scene.stems == ("3023", "3023a", "3023b")
    assert wheel_catalogue.resolve("3023") is not None


def test_lpub3d_734_279_220_sub_models_in_callouts() -> None:
    """From a test file of that project: `!LPUB` commands change nothing, the main file has no title,
    sub-models in callouts are placed each time, and their steps are those of the main model."""
    text = f"""0 FILE a.mpd
0 Author: X
0 !LPUB CALLOUT BEGIN
1 16 0 72 20 {EYE} sub.ldr
0 !LPUB CALLOUT END
0 STEP
1 14 0 -24 0 {EYE} 3003.dat
0 !LPUB CALLOUT BEGIN
1 16 0 0 20 {EYE} sub.ldr
0 !LPUB CALLOUT END
0 NOFILE
0 FILE sub.ldr
1 1 0 0 0 {EYE} 30526.dat
0 STEP
1 10 0 0 0 {EYE} 32000.dat
0 NOFILE"""
    scene = scene_of(text)
    assert scene.stems == ("30526", "32000", "3003", "30526", "32000")
    assert scene.steps.tolist() == [0, 0, 1, 1, 1]


def test_lpub3d_734_279_220_with_the_file_of_the_project(shared_data: Path) -> None:
    """The file itself: eight parts in five steps."""
    scene, notes = read_scene(shared_data / "brickbench" / "models" / "ldraw_test_lpub3d.mpd")
    assert (len(scene), int(scene.steps.max()), notes) == (8, 4, ())


def test_three_js_15453_mirrored_and_inverted_parts() -> None:
    """Assumed from the project (a renderer that culls back faces): a mirrored sub-file and INVERTNEXT each
    turn triangles, both together leave them."""
    library = open_library(DATA / "library")
    mirror = "-1 0 0 0 1 0 0 0 1"
    volumes = []
    for before, matrix in (
        ("", EYE),
        ("", mirror),
        ("0 BFC INVERTNEXT\n", EYE),
        ("0 BFC INVERTNEXT\n", mirror),
    ):
        shape = part_geometry("x", library, {"x": f"0 BFC CERTIFY CCW\n{before}1 16 0 0 0 {matrix} cube.dat"})
        assert shape is not None
        a, b, c = np.moveaxis(shape.vertices[shape.triangles], 1, 0)
        volumes.append(round(float(np.einsum("ij,ij->", a, np.cross(b, c)) / 6)))
    assert volumes == [8, 8, -8, -8]


def test_three_js_16245_tabs_blanks_and_carriage_returns() -> None:
    """Assumed from the project (a parser that looks at characters): tabs, leading and trailing blanks and
    CRLF are no part of names or numbers."""
    scene = scene_of("0 FILE  a.ldr \r\n\t1\t4  0 0\t0 1 0 0 0 1 0 0 0 1\t b.ldr \t\r\n0 FILE b.ldr\r\n"
                     f"   1 4 0 0 0 {EYE} 3001.dat\r\n")  # fmt: skip
    assert scene.stems == ("3001",)


def test_3dtold_43_numbers_in_all_spellings() -> None:
    """Assumed from the project (a converter between formats): exponents, signs, missing zeros, minus zero."""
    scene = scene_of("1 4 +1.5e1 -.5 1E-3 1. 0 -0 0 1 0 0 0 1 3001.dat")
    assert scene.positions.tolist() == [[15, -0.5, 0.001]]
    assert scene.matrices[0].tolist() == np.eye(3).tolist()


def test_ldrawloader_3_missing_files() -> None:
    """Assumed from the project (a loader of whole libraries): a missing part or sub-model stops nothing and
    stays countable."""
    scene, notes = read_scene(
        f"1 4 0 0 0 {EYE} gone.ldr\n1 4 0 0 0 {EYE} gone.dat\n1 4 0 0 0 {EYE} block.dat".encode(),
        open_library(DATA / "library"),
    )
    assert scene.stems == ("gone.ldr", "gone", "block")
    assert [note.code for note in notes] == ["missing-model"]


def test_buildinginstructions_38_colours() -> None:
    """Assumed from the project (a viewer with a table of colours of its own): direct colours, inherited ones
    and codes that no table has."""
    scene, notes = read_scene(
        f"0 FILE a.ldr\n1 0x2123456 0 0 0 {EYE} b.ldr\n1 16 0 0 0 {EYE} b.ldr\n1 98765 0 0 0 {EYE} c.dat\n"
        f"0 FILE b.ldr\n1 16 0 0 0 {EYE} c.dat\n1 24 0 0 0 {EYE} c.dat".encode()
    )
    assert scene.colours.tolist() == [0x2123456, 0x2123456, 16, 16, 98765]
    assert [builtin_palette().knows(code) for code in scene.colours.tolist()] == [True] * 4 + [False]
    assert [note.code for note in notes] == ["unknown-colour"]


def test_weldr_37_byte_order_mark() -> None:
    """A byte-order mark in front of the first line doesn't hide it: `1 …` and `0 FILE …` alike."""
    for encoding in ("utf-8-sig", "utf-16"):
        assert read_scene(f"1 4 0 0 0 {EYE} 3001.dat".encode(encoding))[0].stems == ("3001",)
        document = read_document(f"0 FILE ä.ldr\n1 4 0 0 0 {EYE} 3001.dat".encode(encoding))
        assert document.main.name == "ä.ldr"


def test_ldr_importer_75_one_byte_that_is_not_utf8() -> None:
    """One byte of another encoding in a comment: everything else is still read, and it's said."""
    scene, notes = read_scene(f"0 Author: Andr\xe9\n1 4 0 0 0 {EYE} 3001.dat".encode("latin-1"))
    assert scene.stems == ("3001",)
    assert [note.code for note in notes] == ["encoding"]
