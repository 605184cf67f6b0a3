"""Bytes to text, text to blocks, lines to references."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from evalkit_brickbench.ldraw import reader
from evalkit_brickbench.ldraw.notes import NOTES_PER_CODE, LDrawError
from evalkit_brickbench.ldraw.reader import read_document

LINE = "1 4 10 -24 30 1 0 0 0 1 0 0 0 1 3001.dat"
QUIRKS = Path(__file__).parent / "data" / "ldraw" / "quirks.mpd"


def codes(text: str | bytes) -> list[str]:
    raw = text if isinstance(text, bytes) else text.encode()
    return [note.code for note in read_document(raw).notes]


@pytest.mark.parametrize(
    ("encoding", "found"),
    [
        ("utf-8", "utf-8"),
        ("utf-8-sig", "utf-8-sig"),
        ("utf-16", "utf-16"),
        ("cp1252", "cp1252"),
    ],
)
def test_encodings(encoding: str, found: str) -> None:
    text = f"0 Château\r\n{LINE}\r\n{LINE[:-8]}Pièce été.dat\r\n"
    document = read_document(text.encode(encoding))
    assert document.encoding == found
    assert document.main.header.title == "Château"
    assert document.main.references.names == ("3001.dat", "Pièce été.dat")


def test_big_endian_utf16() -> None:
    assert read_document(b"\xfe\xff" + LINE.encode("utf-16-be")).main.references.names == ("3001.dat",)


def test_byte_undefined_in_cp1252_is_replaced_and_noted() -> None:
    document = read_document(b"0 \x81\xe9\n" + LINE.encode())
    assert document.main.header.title == "�é"
    assert [note.code for note in document.notes] == ["encoding"]


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_line_ends(end: str) -> None:
    document = read_document(end.join(["0 Title", LINE, "0 STEP", LINE]).encode())
    assert document.main.references.steps.tolist() == [0, 1]
    assert document.main.references.lines.tolist() == [2, 4]


def test_other_separators_of_unicode_end_no_line() -> None:
    document = read_document(f"0 a\u2028b\x0bc\x85d\n{LINE}".encode())
    assert len(document.main.references) == 1


def test_values_of_a_reference() -> None:
    references = read_document(b"1 0x2FF8000 1 -2.5 3e1 1 2 3 4 5 6 7 8 9.5 a b.dat  ").main.references
    assert references.names == ("a b.dat",)
    assert references.colours.tolist() == [0x2FF8000]
    assert references.positions.tolist() == [[1, -2.5, 30]]
    assert references.matrices.tolist() == [[[1, 2, 3], [4, 5, 6], [7, 8, 9.5]]]


@pytest.mark.parametrize(
    ("line", "code"),
    [
        ("1 4 0 0 0 1 0 0 0 1 0 0 0 1", "short-line"),
        ("1 4", "short-line"),
        ("1", "short-line"),
        ("1 4 0 0 x 1 0 0 0 1 0 0 0 1 3001.dat", "bad-number"),
        ("1 4 0 0 nan 1 0 0 0 1 0 0 0 1 3001.dat", "bad-number"),
        ("1 4 0 0 0 1 0 0 -inf 1 0 0 0 1 3001.dat", "bad-number"),
        ("1 4 0 0 1e300 1 0 0 0 1 0 0 0 1 3001.dat", "bad-number"),
        ("7 what is this", "unknown-line"),
        ("hello", "unknown-line"),
    ],
)
def test_bad_lines_are_left_out_and_noted(line: str, code: str) -> None:
    document = read_document(f"{LINE}\n{line}\n{LINE}".encode(), "bad.ldr")
    assert len(document.main.references) == 2
    assert document.main.references.positions.tolist() == [[10, -24, 30]] * 2
    (note,) = document.notes
    assert (note.code, note.file, note.line) == (code, "bad.ldr", 2)
    assert str(note).startswith("bad.ldr, line 2: ")


@pytest.mark.parametrize("colour", ["x", "-1", "99999999999", "0x", "1.5", "²"])
def test_bad_colour_counts_as_16(colour: str) -> None:
    document = read_document(f"1 {colour}{LINE[3:]}".encode())
    assert document.main.references.colours.tolist() == [16]
    assert [note.code for note in document.notes] == ["bad-colour"]


@pytest.mark.parametrize("colour", ["0x2102030", "0X2102030", "#2102030", "34611248"])
def test_direct_colours(colour: str) -> None:
    assert read_document(f"1 {colour}{LINE[3:]}".encode()).main.references.colours.tolist() == [0x2102030]


def test_blocks_of_an_mpd() -> None:
    document = read_document(QUIRKS)
    assert [block.name for block in document.blocks] == [
        "Main Model.ldr",
        "arm with spaces.ldr",
        "Own Part.dat",
        "s\\own piece.dat",
    ]
    assert document.find("ARM WITH SPACES.LDR") is document.blocks[1]
    assert document.find("S/Own Piece.dat") is document.blocks[3]
    assert document.find("outside.dat") is None
    assert [block.is_part for block in document.blocks] == [False, False, True, True]
    assert document.data == {"pixel.png": b"\x89PNG\r\n\x1a\n"}
    assert "outside" in [note.code for note in document.notes]


def test_damaged_data_is_noted() -> None:
    document = read_document(f"{LINE}\n0 !DATA a.png\n0 !: %%%\n".encode())
    assert document.data == {"a.png": b""}
    assert [note.code for note in document.notes] == ["bad-data"]


def test_model_before_the_first_file_line_is_the_main_one() -> None:
    document = read_document(f"0 Joined by hand\n{LINE}\n0 FILE arm.ldr\n{LINE}".encode(), "joined.ldr")
    assert [block.name for block in document.blocks] == ["joined.ldr", "arm.ldr"]


def test_comments_before_the_first_file_line_are_no_model() -> None:
    document = read_document(f"0 // exported\n\n0 FILE arm.ldr\n{LINE}".encode())
    assert [block.name for block in document.blocks] == ["arm.ldr"]


@pytest.mark.parametrize(
    ("header", "kind", "is_part"),
    [
        ("0 !LDRAW_ORG Unofficial_Part", "part", True),
        ("0 !LDRAW_ORG Part Alias UPDATE 2014-02", "part", True),
        ("0 !LDRAW_ORG Shortcut UPDATE 2013-02", "shortcut", True),
        ("0 !LDRAW_ORG Unofficial_Model", "model", False),
        ("0 !LDRAW_ORG Subpart UPDATE 2004-03", "subpart", False),
        ("0 !LDRAW_ORG Unofficial_8_Primitive", "primitive", False),
        ("0 Unofficial Part", "part", True),
        ("0 // nothing", "", False),
    ],
)
def test_kind_of_a_file_by_its_header(header: str, kind: str, is_part: bool) -> None:
    block = read_document(f"0 Title\n{header}\n{LINE}".encode(), "x.ldr").main
    assert (block.header.kind, block.is_part) == (kind, is_part)


@pytest.mark.parametrize("raw", [b"", b"\r\n \t\r\n", b"\xef\xbb\xbf", b"\0\0\0"])
def test_empty_files(raw: bytes) -> None:
    with pytest.raises(LDrawError, match="empty"):
        read_document(raw, "empty.ldr")


@pytest.mark.parametrize(
    ("raw", "words"),
    [
        (b"PK\x03\x04....", "zip"),
        (b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", "no text"),
        (bytes(range(256)) * 50, "no text"),
        (b"<html><body>404</body></html>", "no LDraw line"),
        (b"0 !DATA a.png\n0 !: AAAA", "no LDraw line"),
    ],
)
def test_what_is_no_ldraw_file_is_refused_in_one_line(raw: bytes, words: str) -> None:
    with pytest.raises(LDrawError, match=words) as caught:
        read_document(raw, "thing.ldr")
    assert str(caught.value).startswith("thing.ldr: ")
    assert "\n" not in str(caught.value)


def test_missing_file(tmp_path: Path) -> None:
    with pytest.raises(LDrawError, match=r"nowhere\.ldr: can't be read"):
        read_document(tmp_path / "nowhere.ldr")
    with pytest.raises(LDrawError, match="can't be read"):
        read_document(tmp_path)


def test_size_limit(tmp_path: Path) -> None:
    path = tmp_path / "big.ldr"
    path.write_bytes((LINE + "\n").encode() * 100)
    assert len(read_document(path).main.references) == 100
    with pytest.raises(LDrawError, match="limit for LDraw files"):
        read_document(path, size_limit_bytes=1000)


def test_limits_of_lines_and_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reader, "LINE_LIMIT", 50)
    monkeypatch.setattr(reader, "BLOCK_LIMIT", 20)
    with pytest.raises(LDrawError, match="more than 50 lines"):
        read_document((LINE + "\n").encode() * 60)
    with pytest.raises(LDrawError, match="more than 20 files"):
        read_document(LINE.encode() + b"\n" + b"0 FILE a\n" * 30)


def test_file_cut_off_in_the_middle_of_a_line() -> None:
    raw = QUIRKS.read_bytes()
    for length in range(60, len(raw), 7):
        read_document(raw[:length])


def test_zero_bytes_at_the_end_are_noted() -> None:
    document = read_document(LINE.encode() + b"\n" + b"\0" * 512)
    assert [note.code for note in document.notes] == ["zero-bytes"]
    assert len(document.main.references) == 1


def test_a_million_faults_give_few_notes() -> None:
    document = read_document(b"1 4 nonsense\n" * 100_000 + LINE.encode())
    assert len(document.notes) == NOTES_PER_CODE + 1
    assert "99980 more" in document.notes[-1].message


def test_hundred_thousand_lines_keep_their_values() -> None:
    text = "".join(
        f"1 {i % 8} {i} 0 {i * 0.25} 1 0 0 0 1 0 0 0 1 30{i % 50:02}.dat\n" for i in range(100_000)
    )
    references = read_document(text.encode()).main.references
    np.testing.assert_array_equal(references.positions[:, 2], np.arange(100_000) * 0.25)
    assert references.names[99_999] == "3049.dat"
    assert references.matrices.shape == (100_000, 3, 3)


def test_texmap_keeps_the_fallback_only() -> None:
    text = f"""0 !TEXMAP START PLANAR 0 0 0 1 0 0 0 1 0 a.png
0 !: {LINE}
0 !TEXMAP FALLBACK
{LINE}
0 !TEXMAP END"""
    assert len(read_document(text.encode()).main.references) == 1


def test_notes_of_generated_content() -> None:
    lsynth = f"""0 SYNTH BEGIN TUBE_V1 0
1 4 0 0 0 1 0 0 0 1 0 0 0 1 LS01.dat
0 SYNTH INSIDE
{LINE}
0 SYNTH SYNTHESIZED BEGIN
1 0 0 0 0 1 0 0 0 1 0 0 0 1 LS10.dat
0 SYNTH SYNTHESIZED END
0 SYNTH END
1 0 0 0 0 1 0 0 0 1 0 0 0 1 LS01.dat"""
    document = read_document(lsynth.encode())
    assert document.main.references.names == ("3001.dat", "LS10.dat", "LS01.dat")
    assert [note.code for note in document.notes] == ["constraint", "generated"]
    assert codes(f"0 !LDCAD CONTENT [type=path]\n0 !LDCAD GENERATED [generator=LDCad]\n{LINE}") == [
        "generated"
    ]


def test_buffers_nest_and_fall_back() -> None:
    text = f"""{LINE}
0 BUFEXCHG A STORE
{LINE}
0 BUFEXCHG B STORE
{LINE}
0 GHOST {LINE}
0 BUFEXCHG B RETRIEVE
0 BUFEXCHG A RETRIEVE
0 BUFEXCHG C RETRIEVE
1 1 0 0 0 1 0 0 0 1 0 0 0 1 last.dat"""
    document = read_document(text.encode())
    assert document.main.references.names == ("3001.dat", "last.dat")
    assert document.main.references.lines.tolist() == [1, 10]
    assert not document.main.references.ghosts.any()
    assert [note.code for note in document.notes] == ["buffer"] * 3
