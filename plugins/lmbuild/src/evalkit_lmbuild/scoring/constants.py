"""Every constant a computed metric depends on, for records."""

from __future__ import annotations

from dataclasses import asdict
from importlib.metadata import version

from evalkit_lmbuild.kernel import PITCH, sweeps, voxels, whole
from evalkit_lmbuild.scoring import (
    aligned,
    axes,
    computed,
    functional,
    kinematics,
    levels,
    material_fit,
    samples,
    shape,
    structure,
    symmetry,
    targets,
)


def as_dict() -> dict[str, object]:
    """Constants by metric, and the versions of the packages whose results they are applied to."""
    return {
        "pitch_m": PITCH,
        "finest_pitch_m": voxels.MIN_PITCH,
        "snap_cells": voxels.SNAP,
        "S.1": {
            "interlock_m3": structure.INTERLOCK_M3,
            "contact_m2": structure.CONTACT_M2,
            "origin_m": structure.ORIGIN_M,
            "stud_m": structure.STUD_M,
        },
        "S.2": {
            "collision_m3": structure.COLLISION_M3,
            "share": structure.COLLISION_SHARE,
            "joined_share": structure.JOINED_COLLISION_SHARE,
        },
        "S.3": {"tilt_range_deg": structure.TILT_RANGE_DEG, "push_range": structure.PUSH_RANGE},
        "A.1": {
            "samples": samples.SAMPLES,
            "shape_threshold": aligned.SHAPE_THRESHOLD,
            "part_threshold": shape.PART_THRESHOLD,
            "shape_weight": shape.SHAPE_WEIGHT,
            "min_points": shape.MIN_POINTS,
        },
        "A.2": {
            "near": functional.NEAR,
            "unverified": functional.UNVERIFIED,
            "floating": functional.FLOATING,
            "visible_weight": functional.VISIBLE_WEIGHT,
            "enclosed": whole.ENCLOSED,
            "part_samples": aligned.PART_SAMPLES,
        },
        "A.3": {
            "default_span_rad": kinematics.DEFAULT_SPAN,
            "default_travel": kinematics.DEFAULT_TRAVEL,
            "buried": kinematics.BURIED,
            "poses": [sweeps.POSES, sweeps.TURN_POSES],
            "free": [sweeps.FREE_CELLS, sweeps.FREE_SHARE],
            "lenient": targets.LENIENT,
            "aligned_deg": targets.ALIGNED_DEG,
            "cap": targets.CAP,
            "round": axes.ROUND,
        },
        "D.3": {
            "cell": aligned.CELL,
            "symmetry_pitch_m": computed.SYMMETRY_PITCH,
            "symmetry_step_deg": symmetry.STEP_DEG,
        },
        "R.2": {"covered": material_fit.COVERED},
        "calibration": {metric: asdict(maps) for metric, maps in levels.CALIBRATION.items()},
        "versions": {name: version(name) for name in ("manifold3d", "numba", "numpy", "scipy")},
    }
