"""The geometry kernel: parts on a voxel lattice, and what can be asked of them.

One implementation for the agent's tools and the scores. Importing this package loads numba; `warm` compiles the
loops (or loads them from numba's cache), which takes some seconds once.
"""

from evalkit_lmbuild.kernel.field import Field, components
from evalkit_lmbuild.kernel.tilt import Tilt, support_band
from evalkit_lmbuild.kernel.voxels import PITCH, KernelError, Voxels, design_pitch, part_voxels, voxelise

__all__ = [
    "PITCH",
    "Field",
    "KernelError",
    "Tilt",
    "Voxels",
    "components",
    "design_pitch",
    "part_voxels",
    "support_band",
    "voxelise",
]
