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
#: Where the frames of a run that is lost end; those of any other go on to the end of the window.
CUTOFF_RULE = "first frame with the failure marker"

#: Wheelbase and wheel radius of every vehicle, spacing of the starting positions (front axle at −2 − 4 i).
WHEELBASE_M = 1.6
WHEEL_RADIUS_M = 0.25
FIRST_START_X_M = -2.0
START_SPACING_M = 4.0
#: A vehicle has crossed when its rear wheel is this far beyond the right bank's edge.
FINISH_BEYOND_EDGE_M = 2.0
CRUISE_M_PER_S = 2.5

#: The ground: length of the banks, how deep they go (the floor of the water), and how deep platforms go.
BANK_LENGTH_M = 60.0
BANK_FLOOR_Y_M = -8.0
PLATFORM_FLOOR_Y_M = -7.0

#: Budgets of the strict condition, in dollars; loose is one budget for every level.
BUDGET_LADDER: tuple[int, ...] = (
    6500, 7000, 7500, 8000, 8500, 9000, 9500, 10000, 11000, 12000, 13000, 14000, 15000,
    16000, 17000, 18000, 20000, 22000, 24000, 26000, 28000, 30000, 32000, 35000, 38000, 42000,
)  # fmt: skip
LOOSE_BUDGET = 50_000

# --- Physics: the embedded executor's model -------------------------------------------------------
# Calibrated in the embedded executor; the game's own values are not public.

#: Acceleration of gravity; a mass is a weight divided by it.
GRAVITY_M_PER_S2 = 9.81
#: Step of the semi-implicit Euler integration.
STEP_S = 1.0 / 1920.0
#: A member of 1 m or more breaks at this strain: k = strength / (BREAK_STRAIN · max(length, 1 m)).
BREAK_STRAIN = 0.005
STIFFNESS_MIN_LENGTH_M = 1.0
#: Axial damper of a member, as a share of the critical damping of its two ends.
MEMBER_DAMPING_RATIO = 0.2
#: Every node is slowed by this share of its speed per second.
DRAG_PER_S = 0.2
#: A member breaks on its force behind a first-order filter with this time constant.
FORCE_FILTER_S = 0.010
#: A node's inertia is at least 2 Σk / MAX_NODE_RATE², so that none outruns the step; its weight isn't raised.
MAX_NODE_RATE_PER_S = 1400.0
#: Weights grow linearly from 0 during this time, so that a bridge isn't dropped into place.
GRAVITY_RAMP_S = 0.15

#: Penalty contact between a wheel and the ground or a road member.
CONTACT_STIFFNESS_PN_PER_M = 40_000.0
CONTACT_DAMPING_RATIO = 0.3
#: A wheel's drive force is at most FRICTION · normal force and at most GRADE · its share of the weight.
FRICTION = 0.9
GRADE = 0.5
#: The driver asks for (target − speed) / DRIVER_RESPONSE_S between these limits, beside a slope's share.
MAX_ACCELERATION_M_PER_S2 = 1.75
MAX_BRAKING_M_PER_S2 = 4.5
DRIVER_RESPONSE_S = 0.2
#: The axle between the wheels swings at this rate, whatever the vehicle weighs.
AXLE_RATE_PER_S = 200.0
AXLE_DAMPING_RATIO = 0.3
#: The target speed is cruise × (gap − FOLLOW_STOP_M) ÷ FOLLOW_SLOW_M, within ± cruise: a driver stops behind
#: a stalled vehicle and gives way to one that slides back. Vehicles don't touch each other.
FOLLOW_STOP_M = 0.8
FOLLOW_SLOW_M = 1.4

#: A vehicle is lost when both wheels are this far below the lowest drivable surface, or when its front wheel
#: has come to lie this far behind the rear one.
LOST_DEPTH_M = 2.5
OVERTURNED_M = 0.5 * WHEELBASE_M
#: Nodes may sink this far into banks and platforms before these stop them: ground is no support for a bridge.
GROUND_SKIN_M = 0.05
#: Segments within this distance of a wheel are looked at until the list is made anew, REFRESH_S later.
CONTACT_REACH_M = 0.75
REFRESH_S = 1.0 / 60.0


def physics_constants() -> dict[str, float]:
    """Every number that decides an outcome of the embedded executor, for hashing into a manifest."""
    numbers: dict[str, float] = {
        "PG_PN": PG_PN,
        "JOINT_WEIGHT_PN": JOINT_WEIGHT_PN,
        "WINDOW_S": WINDOW_S,
        "WHEELBASE_M": WHEELBASE_M,
        "WHEEL_RADIUS_M": WHEEL_RADIUS_M,
        "FIRST_START_X_M": FIRST_START_X_M,
        "START_SPACING_M": START_SPACING_M,
        "FINISH_BEYOND_EDGE_M": FINISH_BEYOND_EDGE_M,
        "CRUISE_M_PER_S": CRUISE_M_PER_S,
        "BANK_LENGTH_M": BANK_LENGTH_M,
        "BANK_FLOOR_Y_M": BANK_FLOOR_Y_M,
        "GRAVITY_M_PER_S2": GRAVITY_M_PER_S2,
        "STEP_S": STEP_S,
        "BREAK_STRAIN": BREAK_STRAIN,
        "STIFFNESS_MIN_LENGTH_M": STIFFNESS_MIN_LENGTH_M,
        "MEMBER_DAMPING_RATIO": MEMBER_DAMPING_RATIO,
        "DRAG_PER_S": DRAG_PER_S,
        "FORCE_FILTER_S": FORCE_FILTER_S,
        "MAX_NODE_RATE_PER_S": MAX_NODE_RATE_PER_S,
        "GRAVITY_RAMP_S": GRAVITY_RAMP_S,
        "CONTACT_STIFFNESS_PN_PER_M": CONTACT_STIFFNESS_PN_PER_M,
        "CONTACT_DAMPING_RATIO": CONTACT_DAMPING_RATIO,
        "FRICTION": FRICTION,
        "GRADE": GRADE,
        "MAX_ACCELERATION_M_PER_S2": MAX_ACCELERATION_M_PER_S2,
        "MAX_BRAKING_M_PER_S2": MAX_BRAKING_M_PER_S2,
        "DRIVER_RESPONSE_S": DRIVER_RESPONSE_S,
        "AXLE_RATE_PER_S": AXLE_RATE_PER_S,
        "AXLE_DAMPING_RATIO": AXLE_DAMPING_RATIO,
        "FOLLOW_STOP_M": FOLLOW_STOP_M,
        "FOLLOW_SLOW_M": FOLLOW_SLOW_M,
        "LOST_DEPTH_M": LOST_DEPTH_M,
        "OVERTURNED_M": OVERTURNED_M,
        "GROUND_SKIN_M": GROUND_SKIN_M,
        "CONTACT_REACH_M": CONTACT_REACH_M,
        "REFRESH_S": REFRESH_S,
    }
    for material in MATERIALS.values():
        numbers[f"{material.name}.strength_pn"] = material.strength_pn
        numbers[f"{material.name}.weight_pn_per_m"] = material.weight_pn_per_m
    return numbers
