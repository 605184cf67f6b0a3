"""Libraries as folders and zips: look-ups, headers, moved parts, hostile names."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest

from evalkit_brickbench.ldraw.library import (
    FolderLibrary,
    Library,
    ZipLibrary,
    open_library,
    part_type,
    resolve_moved,
)
from evalkit_brickbench.ldraw.notes import LDrawError

FOLDER = Path(__file__).parent / "data" / "ldraw" / "library"


@pytest.fixture(params=["folder", "zip", "zip with a folder in it"])
def library(request: pytest.FixtureRequest, tmp_path: Path) -> Library:
    if request.param == "folder":
        return open_library(FOLDER)
    path = tmp_path / "complete.zip"
    prefix = "LDraw/" if "folder" in request.param else ""
    with zipfile.ZipFile(path, "w") as archive:
        for file in sorted(FOLDER.rglob("*")):
            if file.is_file():
                archive.write(file, prefix + file.relative_to(FOLDER).as_posix())
    return open_library(path)


@pytest.mark.parametrize(
    ("name", "title"),
    [
        ("block.dat", "0 Block  2 x  1"),
        ("BLOCK.DAT", "0 Block  2 x  1"),
        ("s\\inner.dat", "0 ~Inner cube"),
        ("S/Inner.dat", "0 ~Inner cube"),
        ("cube.dat", "0 Cube from -1 to 1"),
        ("48\\cube.dat", "0 Cube, fine"),
        ("tower.ldr", "0 Tower"),
        ("LDConfig.ldr", "0 LDraw.org Configuration File"),
    ],
)
def test_names_find_their_file(library: Library, name: str, title: str) -> None:
    content = library.find(name)
    assert content is not None
    assert content.decode().splitlines()[0] == title


@pytest.mark.parametrize(
    "name",
    ["", ".", "..", "nothing.dat", "inner.dat", "../parts/block.dat", "s/../block.dat", "parts/block.dat",
     "/etc/passwd", "..\\..\\etc\\passwd", "C:\\block.dat", "block.dat\0", "s//inner.dat"],
)  # fmt: skip
def test_other_names_find_nothing(library: Library, name: str) -> None:
    assert library.find(name) is None


def test_links_out_of_the_folder_are_still_only_found_by_their_name(tmp_path: Path) -> None:
    (tmp_path / "parts").mkdir()
    (tmp_path / "parts" / "a.dat").write_text("0 A\n")
    (tmp_path / "secret.dat").write_text("0 Secret\n")
    assert open_library(tmp_path).find("secret.dat") is None


def test_official_files_come_before_unofficial_ones(tmp_path: Path) -> None:
    for folder, title in (("parts", "official"), ("UnOfficial/parts", "unofficial")):
        (tmp_path / folder).mkdir(parents=True)
        (tmp_path / folder / "a.dat").write_text(f"0 {title}\n")
    (tmp_path / "UnOfficial" / "parts" / "b.dat").write_text("0 only there\n")
    library = open_library(tmp_path)
    assert library.find("a.dat") == b"0 official\n"
    assert library.find("b.dat") == b"0 only there\n"


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("block.dat", "part"),
        ("pair.dat", "shortcut"),
        ("cube.dat", "primitive"),
        ("48/cube.dat", "primitive"),
        ("s/inner.dat", "subpart"),
        ("tower.ldr", "model"),
        ("nothing.dat", None),
    ],
)
def test_part_types(library: Library, name: str, kind: str | None) -> None:
    assert part_type(library, name) == kind


def test_moved_parts_are_followed(library: Library) -> None:
    assert resolve_moved(library, "Old.DAT") == "block"
    assert resolve_moved(library, "block") == "block"
    assert resolve_moved(library, "nothing") == "nothing"


def test_moves_in_a_circle_end(tmp_path: Path) -> None:
    (tmp_path / "parts").mkdir()
    (tmp_path / "parts" / "a.dat").write_text("0 ~Moved to b\n")
    (tmp_path / "parts" / "b.dat").write_text("0 ~Moved to a\n")
    assert resolve_moved(open_library(tmp_path), "a") == "b"


def test_ids_name_the_content(library: Library, tmp_path: Path) -> None:
    same = open_library(FOLDER)
    assert library.id.split(":", 1)[1] == same.id.split(":", 1)[1]
    (tmp_path / "parts").mkdir()
    (tmp_path / "parts" / "a.dat").write_text("0 A\n")
    assert open_library(tmp_path).id.split(":", 1)[1] != same.id.split(":", 1)[1]


def test_names_are_those_of_parts(library: FolderLibrary | ZipLibrary) -> None:
    assert library.names() == ("block", "hollow", "loose", "newer", "old", "pair")


def test_no_library_is_one_clear_line(tmp_path: Path) -> None:
    with pytest.raises(LDrawError, match="no LDraw library"):
        open_library(tmp_path)
    damaged = tmp_path / "library.zip"
    damaged.write_bytes(b"not a zip")
    for path in (damaged, tmp_path / "missing"):
        with pytest.raises(LDrawError, match="not a readable zip"):
            open_library(path)


def test_real_library(shared_data: Path) -> None:
    library = open_library(shared_data / "ldraw" / "ldraw-subset.zip")
    assert len(library.names()) == 1939
    assert part_type(library, "3001.dat") == "part"
    assert part_type(library, "s\\3001s01.dat") == "subpart"
    assert part_type(library, "stud.dat") == "primitive"
    assert part_type(library, "10352c01.dat") == "shortcut"
    assert resolve_moved(library, "110") == "u9409-f1"
