"""Objects whose parts slide."""

from __future__ import annotations

from sliding_furniture import abacus, chest_of_drawers, sash_window, wardrobe
from sliding_tools import barrel_bolt, bench_vise, paper_cutter, telescopic_stand
from workshop import write_all

OBJECTS = [
    chest_of_drawers(),
    wardrobe(),
    bench_vise(),
    barrel_bolt(),
    telescopic_stand(),
    paper_cutter(),
    abacus(),
    sash_window(),
]

if __name__ == "__main__":
    write_all(OBJECTS)
