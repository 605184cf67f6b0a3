"""Directions a part suggests for its joint: the axis it is round about, the axes of its mass, its edges."""

from __future__ import annotations

import numpy as np

from evalkit_lmbuild.design import Floats, Mesh

ROUND = 0.1
"""Two principal spreads that differ by less than this share count as equal."""


def principal_axes(mesh: Mesh) -> tuple[Floats, Floats]:
    """Standard deviations [3] (largest first) and directions [3, 3] (rows) of a surface's area.

    Exact for the triangles: the covariance of a triangle is that of its corners and its centroid, weighted
    (1/12)·Σ corners + (3/4)·centroid.
    """
    corners = mesh.vertices[mesh.faces]
    spans = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    areas = np.linalg.norm(spans, axis=1)
    if areas.sum() <= 0:
        return np.zeros(3), np.eye(3)
    weights = areas / areas.sum()
    centroids = corners.mean(axis=1)
    middle = weights @ centroids
    local, middles = corners - middle, centroids - middle
    covariance = np.einsum("f,fci,fcj->ij", weights, local, local) / 12
    covariance += 0.75 * np.einsum("f,fi,fj->ij", weights, middles, middles)
    values, vectors = np.linalg.eigh(covariance)
    return np.sqrt(np.maximum(values[::-1], 0.0)), vectors[:, ::-1].T


def round_axes(mesh: Mesh) -> list[Floats]:
    """Axes about which a part is round: its two other spreads are equal. A ball has three, a plank none."""
    spreads, directions = principal_axes(mesh)
    axes = []
    for i in range(3):
        a, b = (spreads[j] for j in range(3) if j != i)
        if a > 0 and abs(a - b) <= ROUND * max(a, b):
            axes.append(directions[i])
    return axes


def angle_deg(axis: Floats, other: Floats) -> float:
    """Angle between two lines, 0 to 90 degrees."""
    cosine = abs(float(axis @ other)) / (float(np.linalg.norm(axis)) * float(np.linalg.norm(other)))
    return float(np.degrees(np.arccos(min(1.0, cosine))))


def offset_ratio(mesh: Mesh, origin: Floats, axis: Floats) -> float:
    """Distance of an axis from the middle of a part's bounding box, over the part's half extent across the
    axis.

    The half extent is that along the offset, or the larger one where there is no offset to speak of: 0 is an
    axle through the middle, 1 a hinge along an edge.
    """
    lowest, highest = mesh.bounds
    unit = axis / np.linalg.norm(axis)
    away = (lowest + highest) / 2 - origin
    across = away - (away @ unit) * unit
    distance = float(np.linalg.norm(across))
    points = mesh.vertices - (lowest + highest) / 2
    flat = points - np.outer(points @ unit, unit)
    half = float(np.max(np.linalg.norm(flat, axis=1), initial=0.0))
    if distance > 1e-9:
        half = float(np.max(np.abs(flat @ (across / distance)), initial=0.0))
    return distance / half if half > 0 else 0.0
