"""Every number the verdict on stability depends on. LDU = 0.4 mm, +y is down."""

from __future__ import annotations

DENSITY_KG_PER_LDU3 = 1000.0 * 0.0004**3
GRAVITY_LDU_PER_S2 = 24_525.0

LIMIT_LDU = 3.0
"""A component that moves further than this has failed."""
DROP_FAILS_LDU = 3.02
"""A free fall beyond this fails without simulation; what is nearer to `LIMIT_LDU` is simulated."""
DROP_FLAG_LDU = 0.05
"""Falls this close to the limit are flagged: geometry isn't exact enough to be sure."""

REACH_LDU = 3.5
"""Surfaces further apart than this don't touch while everything stays within the limit."""
OVERLAP_LDU = 1.0
"""Surfaces that overlap by up to this much count as touching; deeper ones aren't facing each other."""
TOUCH_LDU = 0.05
"""A gap below this carries load."""
AIR_LDU = 0.05
"""A component that can fall further than this starts in the air."""

SUPPORT_NORMAL_Y = 0.5
"""Contacts steeper than this (|n_y|, 60°) aren't trusted to carry weight."""
FRICTION_SCREEN = 0.5
TILT_DEGREES = 0.5
"""Gravity is tilted by this much to either side: what only balances isn't called stable."""
SHIFT_SUPPORT_LDU = 0.2
"""The centres of mass are shifted by this much, too: closer to an edge, engines and truth part."""
SUPPORT_DROP_LDU = 0.3
"""Equilibrium at rest says nothing about what first falls further than this."""
LONE_MARGIN_LDU = 0.5
"""How far inside its support the centre of mass of a component by itself must be, after tilting."""

SHIFT_DISPLACEMENT_LDU = 0.1
STABLE_MOTION_LDU = 0.5
"""Motion without any friction that stays below this proves stability."""

NEAR_LDU = 4.0
"""Surfaces within this distance of another component's parts take part in the simulation."""
PIECE_DEPTH_LDU = 1.0
PIECE_SHRINK_LDU = 0.02
FEET_HEIGHT_LDU = 8.0
"""Corners of a component up to this far above the ground meet it in the simulation."""

STEP_S = 0.001
STEPS = 2000
SAMPLE_STEPS = 10
SOLVER_ITERATIONS = 20
FRICTION = 10.0
RESTITUTION = 0.0
CONTACT_SLOP_LDU = 0.01
CONTACT_BREAKING_LDU = 0.005
ERP = 0.5

REST_STEPS = 200
REST_GROWTH_LDU = 0.05
"""The simulation ends when no displacement grew by `REST_GROWTH_LDU` in the last `REST_STEPS`."""
KICK_STEPS = 30
KICK_FACTOR = 0.75
KICK_SLACK_LDU = 0.5
"""Within `KICK_STEPS` nothing falls further than KICK_FACTOR·g·t² + KICK_SLACK_LDU unless it was pushed."""
OVERLAP_AT_START_LDU = 0.5
"""Pieces that overlap more than this at the start push each other apart: the outcome means nothing."""
DRIFT_LDU_PER_S = 10.0
"""What crosses the limit slower than this creeps numerically; anything that falls is faster."""


def as_dict() -> dict[str, float]:
    """All constants by lower-case name, for records."""
    return {name.lower(): value for name, value in sorted(globals().items()) if name.isupper()}
