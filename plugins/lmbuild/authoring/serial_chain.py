"""Objects whose joints follow one another."""

from __future__ import annotations

from serial_arms import robot_arm, sand_digger
from serial_cranes import monitor_mount, wall_crane
from serial_lamps import desk_lamp, exam_light
from serial_toys import caterpillar, folding_rule
from workshop import write_all

OBJECTS = [
    desk_lamp(),
    robot_arm(),
    sand_digger(),
    exam_light(),
    monitor_mount(),
    wall_crane(),
    folding_rule(),
    caterpillar(),
]

if __name__ == "__main__":
    write_all(OBJECTS)
