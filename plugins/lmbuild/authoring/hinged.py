"""Objects with parts that swing on hinges."""

from __future__ import annotations

from hinged_cases import cabinet, keepsake_box, toolbox
from hinged_devices import laptop, nutcracker
from hinged_frames import drop_leaf_table, folding_screen, garden_gate
from workshop import write_all

OBJECTS = [
    keepsake_box(),
    cabinet(),
    folding_screen(),
    toolbox(),
    laptop(),
    garden_gate(),
    nutcracker(),
    drop_leaf_table(),
]

if __name__ == "__main__":
    write_all(OBJECTS)
