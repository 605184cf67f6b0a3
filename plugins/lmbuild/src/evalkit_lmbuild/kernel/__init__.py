"""The geometry kernel: parts on a voxel lattice, and what can be asked of them.

One implementation for the agent's tools and the scores. Importing this package loads numba; `warm` compiles
the loops (or loads them from numba's cache), which takes some seconds once.
"""

from evalkit_lmbuild.kernel.distance import Gap, distance_to_surface, gap
from evalkit_lmbuild.kernel.field import Field, components
from evalkit_lmbuild.kernel.joints import MovingSet, moving_set, origin_distances, origin_ok
from evalkit_lmbuild.kernel.sweeps import Pose, SweepResult, approach, sweep_free, turned
from evalkit_lmbuild.kernel.tilt import Tilt, support_band
from evalkit_lmbuild.kernel.voxels import PITCH, KernelError, Voxels, design_pitch, part_voxels, voxelise
from evalkit_lmbuild.kernel.warming import warm
from evalkit_lmbuild.kernel.whole import enclosed_parts, filled_cells

__all__ = [
    "PITCH",
    "Field",
    "Gap",
    "KernelError",
    "MovingSet",
    "Pose",
    "SweepResult",
    "Tilt",
    "Voxels",
    "approach",
    "components",
    "design_pitch",
    "distance_to_surface",
    "enclosed_parts",
    "filled_cells",
    "gap",
    "moving_set",
    "origin_distances",
    "origin_ok",
    "part_voxels",
    "support_band",
    "sweep_free",
    "turned",
    "voxelise",
    "warm",
]
