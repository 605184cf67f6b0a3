"""The benchmark's constants, each in one place, in metres, PolyNewtons (PN), dollars and seconds.

A vehicle's weight is given in PolyGrams (PG); 1 PG weighs `PG_PN` PN in the embedded executor.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Material:
    """What one metre of a material can do and costs.

    `type` is the number of the material in a save file, `strength_pn` the axial force at which a member
    breaks, `weight_pn_per_m` its dead weight in the embedded executor (not used by the rules).
    """

    type: int
    name: str
    strength_pn: float
    max_length_m: float
    cost_per_m: float
    weight_pn_per_m: float


ROAD = Material(1, "Road", 900.0, 2.0, 200.0, 11.0)
WOOD = Material(2, "Wood", 800.0, 2.0, 180.0, 2.8)
STEEL = Material(3, "Steel", 2000.0, 4.0, 450.0, 4.8)
MATERIALS: dict[int, Material] = {m.type: m for m in (ROAD, WOOD, STEEL)}
MATERIAL_BY_NAME: dict[str, Material] = {m.name: m for m in MATERIALS.values()}

PG_PN = 90.0
JOINT_WEIGHT_PN = 1.0

#: Coordinates of an answer are rounded to this many decimals before anything looks at them.
COORDINATE_DECIMALS = 4
#: A length this far beyond the limit is still legal, so that rounding never makes a design illegal.
LENGTH_TOLERANCE_M = 1e-6

WINDOW_S = 12.0
MAX_CALLS = 3
MAX_PHYSICS_ATTEMPTS = 3
FRAMES_PER_SECOND = 4
FEEDBACK_FRAMES = 4

#: Wheelbase and wheel radius of every vehicle, spacing of the starting positions (front axle at −2 − 4 i).
WHEELBASE_M = 1.6
WHEEL_RADIUS_M = 0.25
FIRST_START_X_M = -2.0
START_SPACING_M = 4.0
#: A vehicle has crossed when its rear wheel is this far beyond the right bank's edge.
FINISH_BEYOND_EDGE_M = 2.0
CRUISE_M_PER_S = 2.5

#: Budgets of the strict condition, in dollars; loose is one budget for every level.
BUDGET_LADDER: tuple[int, ...] = (
    6500, 7000, 7500, 8000, 8500, 9000, 9500, 10000, 11000, 12000, 13000, 14000, 15000,
    16000, 17000, 18000, 20000, 22000, 24000, 26000, 28000, 30000, 32000, 35000, 38000, 42000,
)  # fmt: skip
LOOSE_BUDGET = 50_000
