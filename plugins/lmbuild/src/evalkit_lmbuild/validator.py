"""The validator: whether a candidate is a design at all. Whether it is a good one is for the metrics."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from evalkit import Candidate, Task, Violation
from evalkit_lmbuild.candidates import candidate_design, candidate_document, is_generated, mesh_ids
from evalkit_lmbuild.design import Part
from evalkit_lmbuild.formats import DesignError
from evalkit_lmbuild.legality import Problem, problems, size_fault

MAX_REACH_M = 50.0
"""A vertex farther from the origin than this isn't part of anything that tools could have built."""


class DesignValidator:
    """Loadable, finite, references resolve, limits kept."""

    def __init__(self, settings: Mapping[str, Any]) -> None:
        self._settings = settings

    def validate(self, task: Task, candidate: Candidate) -> Sequence[Violation]:
        """All faults of the document; where there is none, those of its programs and meshes."""
        pool = {part["pool_part_id"] for part in task.inputs["subpart_pool"]["parts"]}
        try:
            if not is_generated(candidate):
                document = candidate_document(task, candidate)
                found = problems(document, known=pool, meshes=mesh_ids(candidate))
                if found:
                    return [_violation(problem) for problem in found]
            design = candidate_design(task, candidate)
        except DesignError as error:
            return [Violation("unloadable", str(error))]
        faults = [fault for part in design.parts if (fault := _fault(part)) is not None]
        if not faults and (large := size_fault(design.parts)) is not None:
            faults = [_violation(large)]
        return faults


def _violation(problem: Problem) -> Violation:
    return Violation(problem.code, problem.message, problem.ids, problem.value, problem.limit)


def _fault(part: Part) -> Violation | None:
    """What is wrong with a part's mesh."""
    if not len(part.mesh.faces):
        return Violation("empty_mesh", f"the mesh of {part.id!r} has no triangles; leave it out", (part.id,))
    vertices = part.world.vertices
    if not np.isfinite(vertices).all():
        return Violation("not_finite", f"the mesh of {part.id!r} holds NaN or infinity", (part.id,))
    reach = float(np.abs(vertices).max())
    if reach > MAX_REACH_M:
        message = f"{part.id!r} reaches {reach:.4g} m from the origin; put it within {MAX_REACH_M:g} m"
        return Violation("too_far", message, (part.id,), reach, MAX_REACH_M)
    return None
