"""The screen: what can be decided about a cluster of bodies without simulating it.

Three questions, each a linear program. How far could each body fall straight down (a shortest-path problem,
whose dual it is)? Do forces exist that hold everything where it is? Without friction, how far could anything
move downhill at all?
"""

from __future__ import annotations

import numpy as np
from scipy.optimize import linprog
from scipy.sparse import coo_matrix, csr_matrix

from evalkit_brickbench.scene import Floats
from evalkit_brickbench.stability.bodies import Body
from evalkit_brickbench.stability.constants import (
    FRICTION_SCREEN,
    SHIFT_SUPPORT_LDU,
    SUPPORT_NORMAL_Y,
    TILT_DEGREES,
    TOUCH_LDU,
)
from evalkit_brickbench.stability.contacts import GROUND, Contacts

SIDES = ((1.0, 1.0), (1.0, -1.0), (-1.0, 1.0), (-1.0, -1.0))
MOTION_CAP_LDU = 20.0
MOTION_COST = 1e-5
"""Price of motion that gains nothing, against one LDU of descent of the heaviest body."""
OBJECTIVE_SCALE = 1e3


def drops(count: int, contacts: Contacts) -> Floats:
    """How far each of `count` bodies falls straight down before it rests on another or the ground, LDU.

    The largest d with d_upper − d_lower ≤ fall for each contact and d = 0 for the ground.
    """
    known = np.isfinite(contacts.falls) & (np.abs(contacts.normals[:, 1]) > 0)
    a, b = contacts.a[known], contacts.b[known]
    a_above = contacts.normals[known, 1] < 0
    upper, lower = np.where(a_above, a, b), np.where(a_above, b, a)
    fall = np.maximum(contacts.falls[known], 0.0)
    drop = np.full(count + 1, np.inf)
    drop[GROUND] = 0.0
    for _ in range(count + 1):
        before = drop.copy()
        np.minimum.at(drop, upper, drop[lower] + fall)
        drop[GROUND] = 0.0
        if np.array_equal(before, drop):
            break
    return drop[:count]


def rests(bodies: list[Body], contacts: Contacts, drop: Floats) -> bool:
    """Whether forces at the contacts hold every body after its drop, with gravity tilted to four sides.

    Unknown: for each contact that touches and isn't steep, the four edges of its friction pyramid. Six
    equations of equilibrium a body, moments about its centre of mass.
    """
    touching = residual_gaps(contacts, drop) < TOUCH_LDU
    held = contacts.select(touching & (np.abs(contacts.normals[:, 1]) > SUPPORT_NORMAL_Y))
    weights = np.array([body.mass_kg for body in bodies])
    if not len(held):
        return False
    matrix = _force_matrix(bodies, held)
    lean = float(np.tan(np.radians(TILT_DEGREES)))
    for x, z in SIDES:
        gravity = np.array([lean * x, 1.0, lean * z])
        shift = SHIFT_SUPPORT_LDU * np.array([x, 0.0, z])
        load = np.zeros((len(bodies), 6))
        load[:, :3] = gravity
        load[:, 3:] = np.cross(shift, gravity) / np.array([body.size_ldu for body in bodies])[:, None]
        load *= (weights / weights.max())[:, None]
        answer = linprog(np.ones(matrix.shape[1]), A_eq=matrix, b_eq=-load.ravel(), method="highs")
        if answer.status != 0:
            return False
    return True


def _force_matrix(bodies: list[Body], contacts: Contacts) -> csr_matrix:
    """Column 4k + e: force and scaled moment on both bodies of contact k by edge e of its pyramid."""
    helper = np.where(np.abs(contacts.normals[:, :1]) < 0.9, [[1.0, 0.0, 0.0]], [[0.0, 0.0, 1.0]])
    u = np.cross(contacts.normals, helper)
    u /= np.linalg.norm(u, axis=1)[:, None]
    v = np.cross(contacts.normals, u)
    tangents = np.stack([u, v, -u, -v], axis=1)
    forces = contacts.normals[:, None, :] + FRICTION_SCREEN * tangents
    rows, columns, values = [], [], []
    column = np.arange(4 * len(contacts)).reshape(-1, 4)
    for which, sign in ((contacts.a, 1.0), (contacts.b, -1.0)):
        on_body = which != GROUND
        index = which[on_body]
        centres = np.array([bodies[i].centre for i in index]).reshape(-1, 3)
        sizes = np.array([bodies[i].size_ldu for i in index])
        arms = (contacts.points[on_body] - centres)[:, None, :]
        force = sign * forces[on_body]
        wrench = np.concatenate([force, np.cross(arms, force) / sizes[:, None, None]], axis=2)
        row = 6 * index[:, None, None] + np.arange(6)
        rows.append(np.broadcast_to(row, wrench.shape).ravel())
        columns.append(np.broadcast_to(column[on_body][:, :, None], wrench.shape).ravel())
        values.append(wrench.ravel())
    shape = (6 * len(bodies), 4 * len(contacts))
    entries = (np.concatenate(values), (np.concatenate(rows), np.concatenate(columns)))
    return coo_matrix(entries, shape=shape).tocsr()


def residual_gaps(contacts: Contacts, drop: Floats) -> Floats:
    """Gaps [k] along the normals after the bodies have dropped, LDU."""
    extended = np.append(drop, 0.0)
    moved = extended[contacts.a] - extended[contacts.b]
    residual: Floats = contacts.gaps + contacts.normals[:, 1] * moved
    return residual


def free_motion(bodies: list[Body], contacts: Contacts, shift_ldu: float) -> Floats:
    """How far [n] bodies move, LDU, when all slide without friction to where the potential energy is least.

    Small motions v + ω × r of each body, n·(u_a − u_b) ≥ −gap at each contact, walls included; the centres
    of mass are shifted by `shift_ldu` to four sides.
    Motion that gains nothing costs a little, so that it is left out.
    """
    matrix = _motion_matrix(bodies, contacts)
    free = np.maximum(contacts.gaps, 0.0)
    mass = np.array([body.mass_kg for body in bodies])
    share = OBJECTIVE_SCALE * mass / mass.max()
    worst = np.zeros(len(bodies))
    for x, z in ((0.0, 0.0), *SIDES):
        gain = np.zeros((len(bodies), 6))
        gain[:, 1] = share
        for i, body in enumerate(bodies):
            shift = shift_ldu * np.array([x, z]) / body.size_ldu
            gain[i, 3], gain[i, 5] = -share[i] * shift[1], share[i] * shift[0]
        flat = gain.ravel()
        price = MOTION_COST * np.repeat(share, 6)
        answer = linprog(
            np.concatenate([price - flat, price + flat]),
            A_ub=_doubled(matrix),
            b_ub=free,
            bounds=(0.0, MOTION_CAP_LDU),
            method="highs",
        )
        if answer.status != 0:
            return np.full(len(bodies), np.inf)
        half = 6 * len(bodies)
        worst = np.maximum(worst, _corner_motion(bodies, answer.x[:half] - answer.x[half:]))
    return worst


def _motion_matrix(bodies: list[Body], contacts: Contacts) -> csr_matrix:
    """Row k: −n·(u_a − u_b) at contact k, of v and size·ω of each body."""
    rows, columns, values = [], [], []
    for which, sign in ((contacts.a, -1.0), (contacts.b, 1.0)):
        on_body = np.flatnonzero(which != GROUND)
        index = which[on_body]
        centres = np.array([bodies[i].centre for i in index]).reshape(-1, 3)
        sizes = np.array([bodies[i].size_ldu for i in index])
        normal = sign * contacts.normals[on_body]
        turn = np.cross(contacts.points[on_body] - centres, normal) / sizes[:, None]
        entry = np.concatenate([normal, turn], axis=1)
        rows.append(np.repeat(on_body, 6))
        columns.append((6 * index[:, None] + np.arange(6)).ravel())
        values.append(entry.ravel())
    entries = (np.concatenate(values), (np.concatenate(rows), np.concatenate(columns)))
    return coo_matrix(entries, shape=(len(contacts), 6 * len(bodies))).tocsr()


def _doubled(matrix: csr_matrix) -> csr_matrix:
    """The matrix for variables split into positive and negative parts."""
    both = coo_matrix(matrix)
    columns = np.concatenate([both.col, both.col + both.shape[1]])
    rows = np.concatenate([both.row, both.row])
    values = np.concatenate([both.data, -both.data])
    return coo_matrix((values, (rows, columns)), shape=(both.shape[0], 2 * both.shape[1])).tocsr()


def _corner_motion(bodies: list[Body], motion: Floats) -> Floats:
    rows = motion.reshape(-1, 6)
    return np.array(
        [
            float(
                np.linalg.norm(
                    row[:3] + np.cross(row[3:] / body.size_ldu, body.hull - body.centre), axis=1
                ).max()
            )
            for body, row in zip(bodies, rows, strict=True)
        ]
    )
