"""Parts that look the same in a mirror, found by their connectors and their shape.

For parts of which the catalogue has no mirror image: many of them are symmetric.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from evalkit_brickbench.build._connectors import Connector, connectors_of_part
from evalkit_brickbench.build._knowledge import catalogue, is_decorated
from evalkit_brickbench.parts.catalogue import Ints
from evalkit_brickbench.parts.meshes import MeshError
from evalkit_brickbench.parts.providers import providers
from evalkit_brickbench.scene import Floats

CONNECTOR_LDU = 0.025
AXIS_DOT = 1e-4
SHAPE_LDU, SHAPE_MEAN_LDU = 1.0, 0.2
"""Meshes of symmetric parts are off by up to 0.9 LDU where they are coarsely divided, those of others by
several LDU."""
SAMPLE_LDU = 1.5
MOST_SAMPLES = 60  # along the edge of a triangle

_AXES = (0, 2, 1)


@lru_cache(maxsize=1024)
def own_reflection(stem: str) -> Floats | None:
    """A reflection [4, 4] across a plane square to x, z or y that maps the part onto itself; None if there is
    none, no mesh to tell by, or a print that would be the wrong way round."""
    box = catalogue().bounds(stem)
    if box is None or is_decorated(stem):
        return None
    middle = np.round(box.mean(axis=0) * 2.0) / 2.0
    for axis in _AXES:
        matrix = np.eye(4)
        matrix[axis, axis] = -1.0
        matrix[axis, 3] = 2.0 * middle[axis]
        if _keeps_connectors(stem, matrix) and _keeps_shape(stem, matrix):
            return matrix
    return None


def _keeps_connectors(stem: str, reflection: Floats) -> bool:
    """Whether each connector lands on one of its type with the same axis."""
    groups: defaultdict[tuple[str, str, float], list[Connector]] = defaultdict(list)
    for connector in connectors_of_part(stem):
        groups[connector.list_name, connector.subtype, connector.half_length].append(connector)
    return all(_keeps_group(group, reflection) for group in groups.values())


def _keeps_group(group: Sequence[Connector], reflection: Floats) -> bool:
    """The same for connectors of one type."""
    from scipy.spatial import cKDTree

    origins = np.array([connector.pose.position for connector in group])
    axes = np.array([connector.pose.rotation[:, 1] for connector in group])
    moved = origins @ reflection[:3, :3].T + reflection[:3, 3]
    pairs = cKDTree(moved).sparse_distance_matrix(cKDTree(origins), CONNECTOR_LDU, output_type="ndarray")
    dots = np.einsum("ni,ni->n", axes[pairs["i"]] @ reflection[:3, :3].T, axes[pairs["j"]])
    if group[0].kind == "axle":  # which has no direction
        dots = np.abs(dots)
    return len(np.unique(pairs["i"][dots > 1.0 - AXIS_DOT])) == len(group)


def _keeps_shape(stem: str, reflection: Floats) -> bool:
    """Whether the mesh lands on itself."""
    try:
        mesh = providers().meshes.mesh(stem)
    except MeshError:
        return False
    if mesh is None or not len(mesh.triangles):
        return False
    moved = mesh.vertices @ reflection[:3, :3].T + reflection[:3, 3]
    # Most symmetric parts have symmetric vertices, which spares filling the surface with points.
    return _near(moved, mesh.vertices) or _near(moved, _surface(mesh.vertices, mesh.triangles))


def _near(points: Floats, surface: Floats) -> bool:
    """Whether all points lie near some of a surface."""
    from scipy.spatial import cKDTree

    distances = cKDTree(surface).query(points)[0]
    return bool(distances.max() <= SHAPE_LDU and distances.mean() <= SHAPE_MEAN_LDU)


def _surface(vertices: Floats, triangles: Ints) -> Floats:
    """Points [n, 3] on a surface, its vertices among them, each triangle divided evenly."""
    corners = vertices[triangles]
    longest = np.sqrt(((corners - np.roll(corners, 1, axis=1)) ** 2).sum(axis=2).max(axis=1))
    counts = np.clip(np.ceil(longest / SAMPLE_LDU), 1, MOST_SAMPLES).astype(int)
    points = [vertices]
    for count in np.unique(counts).tolist():
        i, j = np.meshgrid(np.arange(count + 1), np.arange(count + 1))
        inside = i + j <= count
        weights = np.stack([count - i[inside] - j[inside], i[inside], j[inside]], axis=1) / count
        points.append(np.einsum("pc,tcx->tpx", weights, corners[counts == count]).reshape(-1, 3))
    return np.concatenate(points)
