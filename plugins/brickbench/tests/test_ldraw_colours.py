"""Colours from LDConfig.ldr and the built-in table."""

from __future__ import annotations

from pathlib import Path

from evalkit_brickbench.ldraw.colours import builtin_palette, palette_of, parse_ldconfig
from evalkit_brickbench.ldraw.library import open_library

CONFIG = Path(__file__).parent / "data" / "ldraw" / "library" / "LDConfig.ldr"


def test_ldconfig() -> None:
    palette, notes = parse_ldconfig(CONFIG.read_text())
    assert len(palette) == 11
    black = palette.colour(0)
    assert (black.name, black.rgb, black.edge, black.alpha, black.finish) == (
        "Black", (0x10, 0x18, 0x20), (0x80, 0x80, 0x80), 255, "solid",
    )  # fmt: skip
    assert palette.colour(47).alpha == 128
    assert (palette.colour(21).alpha, palette.colour(21).luminance) == (250, 15)
    assert palette.colour(383).finish == "chrome"
    glitter = palette.colour(114)
    assert (glitter.rgb, glitter.alpha, glitter.finish) == ((0xDF, 0x66, 0x95), 128, "material")
    assert [(note.code, note.line) for note in notes] == [("bad-colour", 7)]


def test_first_definition_counts() -> None:
    lines = [
        f"0 !COLOUR {name} CODE 5 VALUE #{value} EDGE #333333"
        for name, value in (("A", "010203"), ("B", "0"))
    ]
    palette, _ = parse_ldconfig("\n".join(lines))
    assert palette.colour(5).name == "A"


def test_direct_colours() -> None:
    palette = builtin_palette()
    opaque, clear = palette.colour(0x2FF8000), palette.colour(0x3102030)
    assert (opaque.name, opaque.rgb, opaque.alpha) == ("#FF8000", (0xFF, 0x80, 0), 255)
    assert (clear.rgb, clear.alpha) == ((0x10, 0x20, 0x30), 128)


def test_edges_are_seen_against_their_colour() -> None:
    palette = builtin_palette()
    for code in (0, 272, 308, 15, 14, 4):
        colour = palette.colour(code)
        assert max(abs(a - b) for a, b in zip(colour.rgb, colour.edge, strict=True)) > 60


def test_unknown_colours_are_noted_and_visible() -> None:
    palette = builtin_palette()
    assert palette.colour(9999).name == "Unknown"
    assert palette.colour(9999).rgb == (255, 0, 255)
    notes = palette.note_unknown([4, 9999, 0x2FF0000, 9999, 7777, 16], "m.ldr")
    assert [note.message.split()[1] for note in notes] == ["7777", "9999"]


def test_palette_of_a_library() -> None:
    assert palette_of(open_library(CONFIG.parent)).colour(0).rgb == (0x10, 0x18, 0x20)
    assert palette_of(None) is builtin_palette()


def test_built_in_table_agrees_with_the_official_one(shared_data: Path) -> None:
    official = palette_of(open_library(shared_data / "ldraw" / "ldraw-subset.zip"))
    assert len(official) == 212
    built_in = builtin_palette()
    assert len(built_in) > 180
    for code in range(600):
        if built_in.knows(code):
            ours, theirs = built_in.colour(code), official.colour(code)
            assert (ours.name, ours.rgb, ours.alpha, ours.finish) == (
                theirs.name, theirs.rgb, theirs.alpha, theirs.finish,
            )  # fmt: skip
