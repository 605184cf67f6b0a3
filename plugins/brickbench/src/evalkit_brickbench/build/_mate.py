"""The pose that joins two connectors exactly."""

from __future__ import annotations

from evalkit_brickbench._connections_match import AXLE_MIN_HALF_LENGTH_LDU, AXLE_MIN_OVERLAP_LDU
from evalkit_brickbench.build._connectors import FREEDOMS, Connector, family_of
from evalkit_brickbench.build._errors import BuildError
from evalkit_brickbench.build._knowledge import seating
from evalkit_brickbench.build._pose import Pose, move, turned


def mate(
    to: Connector,
    by: Connector,
    *,
    flip: bool = False,
    slide: float = 0.0,
    yaw: float = 0.0,
    pitch: float = 0.0,
    roll: float = 0.0,
    seat: bool = True,
) -> Pose:
    """Where the thing that has `by` stands, in the frame of `to`, when the two are joined.

    Both axes point the same way, or opposite ways with `flip`; `yaw` (°) turns about the axis, and `slide`
    (LDU) shifts along the axis of `to`. With `seat` a pin goes into a socket up to its collar, else their
    middles meet; `slide` counts from there. `pitch` and `roll` (°) are for balls only.

    BuildError if the two don't fit, or a freedom is asked for that they don't have.
    """
    family = family_of(to, by)
    if family is None:
        raise BuildError(f"{by.name} of {by.stem} ({by.kind} {by.subtype}) doesn't fit {to}")
    asked = {"flip": flip, "slide": slide, "yaw": yaw, "pitch": pitch, "roll": roll}
    for freedom, value in asked.items():
        if value and freedom not in FREEDOMS[family]:
            free = ", ".join(FREEDOMS[family]) or "nothing"
            raise BuildError(f"a {family} connection has no {freedom}: {free} can be chosen")
    along = slide + (_seated(to, by, -1 if flip else 1) if seat and family == "axle" else 0.0)
    if family == "axle":
        _require_overlap(to, by, along)
    joint = move(0.0, -along, 0.0) @ turned(yaw, pitch, roll) @ turned(0.0, 180.0 if flip else 0.0)
    return to.pose @ joint @ by.pose.inverse()


def _require_overlap(to: Connector, by: Connector, along: float) -> None:
    """The rule of the benchmark for axles on one line; its slack there is left out."""
    lengths = [max(c.half_length, AXLE_MIN_HALF_LENGTH_LDU) for c in (to, by)]
    reach = sum(lengths) - AXLE_MIN_OVERLAP_LDU
    if not abs(along) <= reach:
        raise BuildError(
            f"{by.name} of {by.stem} would slide out of {to.name} of {to.stem}: it may stand "
            f"up to {reach:g} LDU from the middle, not {along:g}"
        )


def _seated(to: Connector, by: Connector, sense: int) -> float:
    """How far along the axis of `to` the middle of `by` stands when a pin is pushed in up to its collar; 0 if
    it isn't known. `sense` is −1 where the axes are opposite."""
    if (to.subtype, by.subtype) == ("socket", "pin"):
        return _pin_from_socket(by, to, sense)
    if (to.subtype, by.subtype) == ("pin", "socket"):
        return -sense * _pin_from_socket(to, by, sense)
    return 0.0


def _pin_from_socket(pin: Connector, socket: Connector, sense: int) -> float:
    """Offset of the pin's middle from the socket's along the socket's axis.

    The data has, for a pin, which way along its axis its tip lies and whether it has a collar that sinks into
    a recess; for a socket, how deep the recesses at the end on its axis and at the other end are (LDU).
    """
    data = seating()
    tip, collar = data.pins.get(f"{pin.stem}:{pin.number}") or (None, None)
    if tip is None:
        return 0.0
    inwards = int(tip) * sense
    ends = data.sockets.get(f"{socket.stem}:{socket.number}") or (None, None)
    recess = ends[1] if inwards > 0 else ends[0]
    if recess is None:
        return 0.0
    depth = float(recess) if collar else min(float(recess), 0.0)
    return inwards * (pin.half_length - socket.half_length + depth)
