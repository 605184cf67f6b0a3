"""Colours by LDraw code: from LDConfig.ldr where there's one, else from a small table of common ones."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from itertools import pairwise

from evalkit_brickbench.ldraw._colour_table import TABLE
from evalkit_brickbench.ldraw.library import Library
from evalkit_brickbench.ldraw.lines import LARGEST_COLOUR, parse_colour
from evalkit_brickbench.ldraw.notes import Note, NoteList, shorten

FIRST_DIRECT = 0x2000000
"""From here on a code is a colour by itself: 0x2RRGGBB opaque, 0x3RRGGBB transparent."""
_TRANSPARENT_ALPHA = 128
_UNKNOWN_RGB = (255, 0, 255)
_LIGHT, _DARK = (0x96, 0x96, 0x96), (0x33, 0x33, 0x33)
_FINISHES = ("CHROME", "PEARLESCENT", "RUBBER", "MATTE_METALLIC", "METAL", "MATERIAL")

Rgb = tuple[int, int, int]


@dataclass(frozen=True, slots=True)
class Colour:
    """`rgb` and `edge` (for lines) from 0 to 255, `alpha` 255 where opaque, `luminance` 0 to 255, `finish`:
    "solid", "chrome", "pearlescent", "rubber", "matte_metallic", "metal" or "material"."""

    code: int
    name: str
    rgb: Rgb
    edge: Rgb
    alpha: int = 255
    luminance: int = 0
    finish: str = "solid"


class Palette:
    """Colours by code; `id` says where they come from."""

    def __init__(self, colours: Iterable[Colour], source: str) -> None:
        self.id = source
        self._colours = {colour.code: colour for colour in colours}

    def __len__(self) -> int:
        return len(self._colours)

    def __iter__(self) -> Iterator[Colour]:
        """The colours in the order of their definition."""
        return iter(self._colours.values())

    def knows(self, code: int) -> bool:
        """Whether a code is in the table or a direct colour."""
        return code in self._colours or FIRST_DIRECT <= code < FIRST_DIRECT + 0x2000000

    def colour(self, code: int) -> Colour:
        """The colour of a code; a loud magenta named "Unknown" for one that isn't known."""
        if code in self._colours:
            return self._colours[code]
        if self.knows(code):
            rgb = (code >> 16 & 0xFF, code >> 8 & 0xFF, code & 0xFF)
            alpha = 255 if code < FIRST_DIRECT + 0x1000000 else _TRANSPARENT_ALPHA
            return Colour(code, f"#{code & 0xFFFFFF:06X}", rgb, edge_for(rgb), alpha)
        return Colour(code, "Unknown", _UNKNOWN_RGB, edge_for(_UNKNOWN_RGB))

    def note_unknown(self, codes: Iterable[int], file: str) -> tuple[Note, ...]:
        """A note for each distinct code that isn't known, in the order of the codes."""
        notes = NoteList()
        for code in sorted(set(codes)):
            if not self.knows(code):
                notes.add(
                    "unknown-colour",
                    f"colour {code} isn't in the table ({self.id}); it's shown in magenta",
                    file,
                )
        return notes.finish()


def edge_for(rgb: Rgb) -> Rgb:
    """A grey that is seen against a colour, for where no edge colour is given (Rec. 601 luma)."""
    red, green, blue = rgb
    return _LIGHT if 299 * red + 587 * green + 114 * blue < 80_000 else _DARK


def parse_ldconfig(text: str, name: str = "LDConfig.ldr") -> tuple[Palette, tuple[Note, ...]]:
    """The `0 !COLOUR` lines of an LDConfig.ldr; what isn't one is passed over, damaged ones are noted. The
    first of several definitions of a code counts."""
    colours: dict[int, Colour] = {}
    notes = NoteList()
    for number, line in enumerate(text.splitlines(), 1):
        fields = line.split()
        if [f.upper() for f in fields[:2]] != ["0", "!COLOUR"]:
            continue
        colour = _parse_colour_line(fields[2:])
        if colour is None:
            notes.add("bad-colour", f"'{shorten(line.strip(), 60)}' has no code, value or edge", name, number)
        else:
            colours.setdefault(colour.code, colour)
    return Palette(colours.values(), name), notes.finish()


@cache
def builtin_palette() -> Palette:
    """About 190 common colours, and the main and edge colours as they're shown when nothing is above."""
    colours = [
        Colour(16, "Main_Colour", (0xFF, 0xFF, 0x80), _DARK),
        Colour(24, "Edge_Colour", (0x7F, 0x7F, 0x7F), _DARK),
    ]
    for row in TABLE.splitlines():
        code, value, alpha, finish, name = row.split()
        rgb = _rgb(int(value, 16))
        colours.append(Colour(int(code), name, rgb, edge_for(rgb), int(alpha), finish=finish))
    return Palette(colours, "built-in")


def palette_of(library: Library | None) -> Palette:
    """Colours of a library's LDConfig.ldr, or the built-in ones."""
    content = library.find("ldconfig.ldr") if library is not None else None
    if library is None or content is None:
        return builtin_palette()
    palette, _ = parse_ldconfig(content.decode("utf-8", errors="replace"), f"LDConfig.ldr of {library.id}")
    return palette if len(palette) else builtin_palette()


def _parse_colour_line(fields: list[str]) -> Colour | None:
    """A colour from the words after `!COLOUR`: its name, then keywords with values. What follows MATERIAL
    describes grains and has keywords of the same names."""
    words = [field.upper() for field in fields]
    values: dict[str, int | None] = {}
    for word, text in pairwise(words[1:]):
        if word == "MATERIAL":
            break
        if word in ("CODE", "VALUE", "EDGE", "ALPHA", "LUMINANCE"):
            values.setdefault(word, parse_colour(text))
    code, value, edge = values.get("CODE"), values.get("VALUE"), values.get("EDGE")
    if code is None or value is None or edge is None:
        return None
    finish = next((word.lower() for word in words[1:] if word in _FINISHES), "solid")
    edge_rgb = (
        _rgb(edge) if fields[words.index("EDGE") + 1].startswith(("#", "0x", "0X")) else edge_for(_rgb(value))
    )
    alpha, luminance = values.get("ALPHA", 255), values.get("LUMINANCE", 0)
    return Colour(code, fields[0], _rgb(value), edge_rgb, _byte(alpha, 255), _byte(luminance, 0), finish)


def _byte(value: int | None, default: int) -> int:
    return default if value is None else min(value, 255)


def _rgb(value: int) -> Rgb:
    value &= LARGEST_COLOUR
    return (value >> 16 & 0xFF, value >> 8 & 0xFF, value & 0xFF)
