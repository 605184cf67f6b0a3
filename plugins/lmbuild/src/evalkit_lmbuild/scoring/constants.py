"""Every constant a computed metric depends on, for records."""

from __future__ import annotations

from importlib.metadata import version

from evalkit_lmbuild.recorded import constants_of

KERNEL_MODULES = (
    "kernel._raster",
    "kernel._moved",
    "kernel.voxels",
    "kernel.tilt",
    "kernel.field",
    "kernel.whole",
    "kernel.distance",
    "kernel._distance",
    "kernel.joints",
    "kernel.sweeps",
)
MODULES = (
    "design",
    "materials",
    "legality",
    "lexicon_words",
    "lexicon",
    "csg.program",
    "csg.crossings",
    "csg.compiler",
    *KERNEL_MODULES,
    "scoring.samples",
    "scoring.aligned",
    "scoring.axes",
    "scoring.symmetry",
    "scoring.structure",
    "scoring.shape",
    "scoring.functional",
    "scoring.moving",
    "scoring.kinematics",
    "scoring.targets",
    "scoring.decomposition",
    "scoring.material_fit",
    "scoring.computed",
    "scoring.levels",
)
"""What is named after what it imports from, so that a constant stands with the module it belongs to."""


def as_dict() -> dict[str, object]:
    """Constants by module, and the versions of the packages whose results they are applied to."""
    packages = ("manifold3d", "numba", "numpy", "scipy")
    return {**constants_of(MODULES), "versions": {name: version(name) for name in packages}}
