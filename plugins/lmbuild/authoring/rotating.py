"""Objects whose parts turn."""

from __future__ import annotations

from rotating_carts import hand_cart, wheelbarrow
from rotating_household import coffee_grinder, lazy_susan, potters_wheel, table_fan
from rotating_yard import well_windlass, windmill
from workshop import write_all

OBJECTS = [
    hand_cart(),
    wheelbarrow(),
    lazy_susan(),
    potters_wheel(),
    table_fan(),
    coffee_grinder(),
    windmill(),
    well_windlass(),
]

if __name__ == "__main__":
    write_all(OBJECTS)
