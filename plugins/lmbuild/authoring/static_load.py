"""Objects that carry a load and don't move."""

from __future__ import annotations

from static_furniture import bed_frame, bookcase, milking_stool, trestle_table
from static_stands import easel, footbridge, plant_stand, step_ladder
from workshop import write_all

OBJECTS = [
    milking_stool(),
    bookcase(),
    trestle_table(),
    step_ladder(),
    footbridge(),
    plant_stand(),
    bed_frame(),
    easel(),
]

if __name__ == "__main__":
    write_all(OBJECTS)
