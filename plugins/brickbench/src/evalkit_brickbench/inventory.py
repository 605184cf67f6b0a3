"""A stock of parts: what may be used, in which colours, how often.

The file is the benchmark's: `{"3001": {"red": 2}}`, part numbers to names of colours to counts.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from evalkit_brickbench.ldraw.colours import Palette
from evalkit_brickbench.ldraw.names import stem as stem_of
from evalkit_brickbench.parts.catalogue import Catalogue
from evalkit_brickbench.scene import Scene

Stock = Mapping[tuple[str, int], int]
LARGEST_COUNT = 100_000


class InventoryError(ValueError):
    """A file that holds no stock; the message is one line."""


@dataclass(frozen=True, slots=True)
class Overdraft:
    """More used of a part in a colour than there is."""

    stem: str
    colour: int
    used: int
    available: int


def read_inventory(text: str, colours: Mapping[str, int]) -> dict[tuple[str, int], int]:
    """The stock in a file's text: (stem, colour code) → count. `colours`: codes by lower-case name.

    Two names of one colour add up. InventoryError says what is wrong and where.
    """
    try:
        found = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InventoryError(f"the inventory isn't JSON: {error}") from error
    if not isinstance(found, dict):
        raise InventoryError("the inventory has to be an object of part numbers")
    stock: dict[tuple[str, int], int] = {}
    for part, counts in found.items():
        if not isinstance(counts, dict):
            raise InventoryError(f"part {part}: wanted an object of colours and counts")
        for name, count in counts.items():
            code = colours.get(str(name).strip().lower().replace("_", " "))
            if code is None:
                raise InventoryError(f"part {part}: there is no colour {name!r}")
            if type(count) is not int or not 0 < count <= LARGEST_COUNT:
                raise InventoryError(f"part {part}, {name}: {count!r} is no count")
            key = stem_of(part), code
            stock[key] = stock.get(key, 0) + count
    if not stock:
        raise InventoryError("the inventory has no pieces")
    return stock


def colour_codes(palette: Palette, names: Mapping[str, int] | None = None) -> dict[str, int]:
    """Codes by lower-case name with blanks, from a palette and names of a catalogue (which win)."""
    own = {colour.name.lower().replace("_", " "): colour.code for colour in palette}
    return {**own, **{name.lower().replace("_", " "): code for name, code in (names or {}).items()}}


def used(scene: Scene, catalogue: Catalogue | None = None) -> Counter[tuple[str, int]]:
    """How often each part is used in each colour; a catalogue resolves aliases."""
    stems = {stem: _resolved(stem, catalogue) for stem in set(scene.stems)}
    return Counter((stems[s], int(c)) for s, c in zip(scene.stems, scene.colours, strict=True))


def resolved_stock(stock: Stock, catalogue: Catalogue | None = None) -> Counter[tuple[str, int]]:
    """The stock with aliases counted as their parts."""
    available: Counter[tuple[str, int]] = Counter()
    for (stem, colour), count in stock.items():
        available[_resolved(stem, catalogue), colour] += count
    return available


def overdrafts(scene: Scene, stock: Stock, catalogue: Catalogue | None = None) -> list[Overdraft]:
    """Where a scene uses more than the stock has, sorted by part and colour; aliases count as their parts."""
    available = resolved_stock(stock, catalogue)
    return [
        Overdraft(stem, colour, count, available[stem, colour])
        for (stem, colour), count in sorted(used(scene, catalogue).items())
        if count > available[stem, colour]
    ]


def stock_as_json(stock: Stock) -> dict[str, dict[str, int]]:
    """The stock with colour codes as text, for a task."""
    found: dict[str, dict[str, Any]] = {}
    for (stem, colour), count in sorted(stock.items()):
        found.setdefault(stem, {})[str(colour)] = count
    return found


def stock_from_json(value: Mapping[str, Mapping[str, int]]) -> dict[tuple[str, int], int]:
    """The inverse of `stock_as_json`."""
    return {(stem, int(code)): count for stem, counts in value.items() for code, count in counts.items()}


def _resolved(stem: str, catalogue: Catalogue | None) -> str:
    found = None if catalogue is None else catalogue.resolve(stem)
    return stem if found is None else found.stem
