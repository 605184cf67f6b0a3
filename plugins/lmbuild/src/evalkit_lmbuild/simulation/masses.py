"""Mass, centre and inertia of parts and of bodies made of parts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.spatial import ConvexHull

from evalkit_lmbuild.design import Floats, Ints, Mesh
from evalkit_lmbuild.simulation.shapes import hull_of

DENSITY = 1000.0
"""Uniform density of the simulation, kg/m³."""
MIN_MASS_KG = 1e-6


@dataclass(frozen=True, eq=False)
class Mass:
    """`kg`, `centre` [3] in m, `inertia` [3, 3] in kg·m² about the centre, world axes."""

    kg: float
    centre: Floats
    inertia: Floats


def mass_of(mesh: Mesh, volume_m3: float) -> Mass:
    """Mass of a part in world coordinates, spread like the mesh's solid, or its hull's if it isn't one."""
    kg = max(volume_m3 * DENSITY, MIN_MASS_KG)
    solid = _solid(mesh.vertices, mesh.faces)
    if solid is None:
        points = hull_of(mesh.vertices).points
        solid = _solid(points, _outward(points))
    assert solid is not None, "a hull has a volume"
    volume, centre, inertia = solid
    floor = kg * 1e-8  # a needle's least moment, so that engines can invert it
    return Mass(kg, centre, inertia * kg / volume + np.eye(3) * floor)


def joined(masses: Sequence[Mass]) -> Mass:
    """Several masses as one (parallel axes)."""
    kg = sum(mass.kg for mass in masses)
    centre = np.asarray(sum(mass.kg * mass.centre for mass in masses)) / kg
    inertia = np.zeros((3, 3))
    for mass in masses:
        off = mass.centre - centre
        inertia += mass.inertia + mass.kg * (off @ off * np.eye(3) - np.outer(off, off))
    return Mass(kg, centre, inertia)


def principal(inertia: Floats) -> tuple[Floats, Floats]:
    """Principal moments [3] and the right-handed rotation [3, 3] whose columns are their axes."""
    moments, axes = np.linalg.eigh(inertia)
    if np.linalg.det(axes) < 0:
        axes[:, 2] = -axes[:, 2]
    return moments, axes


def _solid(vertices: Floats, faces: Ints) -> tuple[float, Floats, Floats] | None:
    """Volume, centre and inertia per unit density by summing tetrahedra; None if it isn't a sound solid."""
    lowest, highest = vertices.min(axis=0), vertices.max(axis=0)
    shift = (lowest + highest) / 2
    a, b, c = (np.moveaxis(vertices[faces] - shift, 1, 0)[i] for i in range(3))
    six = np.einsum("ij,ij->i", a, np.cross(b, c))
    volume = float(six.sum()) / 6
    if volume < 1e-3 * float(np.prod(highest - lowest)) or volume < 1e-15:
        return None
    centre = (six @ (a + b + c)) / 24 / volume
    sums = a + b + c
    second = sum(np.einsum("i,ij,ik->jk", six, p, p) for p in (a, b, c, sums)) / 120
    second = second - volume * np.outer(centre, centre)
    inertia = np.trace(second) * np.eye(3) - second
    sound = bool(np.all(np.abs(centre) <= (highest - lowest) / 2)) and np.linalg.eigvalsh(second).min() > 0
    return (volume, centre + shift, inertia) if sound else None


def _outward(points: Floats) -> Ints:
    """Triangles of the hull of points, counter-clockwise from outside."""
    hull = ConvexHull(points)
    corners = points[hull.simplices]
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    inward = np.einsum("ij,ij->i", normals, hull.equations[:, :3]) < 0
    outward: Ints = np.where(inward[:, None], hull.simplices[:, ::-1], hull.simplices)
    return outward
