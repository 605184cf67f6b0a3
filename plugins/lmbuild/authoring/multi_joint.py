"""Objects with several joints of several kinds."""

from __future__ import annotations

from multi_chair import office_chair
from multi_house import microscope, refrigerator
from multi_machines import drill_press, lathe
from multi_wheelchair import wheelchair
from multi_yard import scooter, tower_crane
from workshop import write_all

OBJECTS = [
    office_chair(),
    wheelchair(),
    drill_press(),
    lathe(),
    refrigerator(),
    microscope(),
    scooter(),
    tower_crane(),
]

if __name__ == "__main__":
    write_all(OBJECTS)
