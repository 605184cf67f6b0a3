"""Linear statics of pin-jointed plane trusses: many geometries of one topology, all load cases, one solve.

Textbook direct stiffness (K = A k Aᵀ with A the equilibrium matrix of unit vectors). Small displacements,
members that only carry axial force, joints without friction. Shapes: G geometries, n joints, m members,
c load cases. Forces are in PN, tension positive.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from evalkit_polybridge.constants import WHEELBASE_M

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]


class MechanismError(ValueError):
    """The truss can move without stretching a member, so it has no statical solution."""


def unit_vectors(xy: Floats, members: Ints) -> tuple[Floats, Floats]:
    """Unit vectors (G, m, 2) from each member's first joint to its second, and lengths (G, m) in metres."""
    delta = xy[:, members[:, 1]] - xy[:, members[:, 0]]
    length = np.sqrt(np.sum(delta * delta, axis=2))
    return delta / length[:, :, None], length


def relative_stiffness(strength_pn: Floats, length_m: Floats) -> Floats:
    """Axial stiffness of members up to a common factor, (G, m).

    Every material is assumed to break at the same strain, so the stiffness goes with strength ÷ length.
    Only ratios matter for forces; for the same reason the choice of the factor needs no measurement.
    """
    return strength_pn / np.maximum(length_m, 1.0)


def member_forces(xy: Floats, members: Ints, stiffness: Floats, fixed: Bools, loads: Floats) -> Floats:
    """Member forces (G, m, c) under joint loads.

    Args:
        xy: joint coordinates in metres, (G, n, 2).
        members: joint indices of the two ends of each member, (m, 2).
        stiffness: axial stiffness k of each member in PN/m, (G, m).
        fixed: joints that don't move, (n,).
        loads: forces on the joints in PN, (G, n, 2, c) or (1, n, 2, c) for the same loads everywhere.

    Raises:
        MechanismError: a geometry has no unique solution.
    """
    geometries, joints = xy.shape[:2]
    unit, _ = unit_vectors(xy, members)
    equilibrium = np.zeros((geometries, joints, 2, len(members)))
    column = np.arange(len(members))
    equilibrium[:, members[:, 0], :, column] = -unit.transpose(1, 0, 2)
    equilibrium[:, members[:, 1], :, column] = unit.transpose(1, 0, 2)
    free = ~fixed
    A = equilibrium[:, free].reshape(geometries, -1, len(members))
    P = loads[:, free].reshape(len(loads), A.shape[1], -1)
    K = (A * stiffness[:, None, :]) @ A.transpose(0, 2, 1)
    try:
        displacement = np.linalg.solve(K, np.broadcast_to(P, (geometries, *P.shape[1:])))
    except np.linalg.LinAlgError:
        raise MechanismError("a truss of this topology is a mechanism: it has no statical solution") from None
    forces: Floats = stiffness[:, :, None] * (A.transpose(0, 2, 1) @ displacement)
    return forces


def axle_loads(vehicles_pg: tuple[float, ...], spacing_m: float, pg_pn: float) -> tuple[Floats, Floats]:
    """Distances behind the first axle in metres and weights in PN of a train of two-axle vehicles."""
    behind = [i * spacing_m + axle for i in range(len(vehicles_pg)) for axle in (0.0, WHEELBASE_M)]
    weight = [w * pg_pn / 2 for w in vehicles_pg for _ in range(2)]
    return np.array(behind), np.array(weight)


def train_on_deck(deck_x: Floats, behind_m: Floats, weight_pn: Floats, step_m: float) -> Floats:
    """Vertical loads on the deck's joints for every position of a train of axles: (positions, joints), PN.

    `deck_x` are the joints' x, increasing; an axle between two joints is split by the lever rule; axles
    off the deck load nothing. The train advances by `step_m` from its first axle's entry to its last exit.
    """
    start, end = float(deck_x[0]), float(deck_x[-1])
    first = np.arange(start, end + float(behind_m.max()) + step_m, step_m)
    axle = first[:, None] - behind_m[None, :]
    panel = np.clip(np.searchsorted(deck_x, axle, side="right") - 1, 0, len(deck_x) - 2)
    share = (axle - deck_x[panel]) / (deck_x[panel + 1] - deck_x[panel])
    on_deck = (axle >= start) & (axle <= end)
    loads = np.zeros((len(first), len(deck_x)))
    row = np.broadcast_to(np.arange(len(first))[:, None], axle.shape)
    np.add.at(loads, (row, panel), np.where(on_deck, weight_pn * (1 - share), 0.0))
    np.add.at(loads, (row, panel + 1), np.where(on_deck, weight_pn * share, 0.0))
    return loads
