"""What geometry says of a design: every computed metric but operability, each with its evidence."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from evalkit import Artifact, Candidate, Execution, Task
from evalkit_lmbuild.candidates import candidate_design
from evalkit_lmbuild.design import Design
from evalkit_lmbuild.formats import DesignError
from evalkit_lmbuild.scoring.result import Result
from evalkit_lmbuild.specs import GEOMETRY
from evalkit_lmbuild.tasks import facts_of


class GeometryExecutor:
    """Puts a design on the lattice and beside the reference."""

    def __init__(self, settings: Mapping[str, Any]) -> None:
        self._settings = settings

    def constants(self) -> Mapping[str, Any]:
        """Pitches and thresholds, and the versions of what computes with them."""
        from evalkit_lmbuild.scoring.constants import as_dict

        return as_dict()

    def execute(self, task: Task, candidate: Candidate, *, pictures: bool) -> Execution:
        """Scores and evidence by metric; a candidate that is no design scores 0 everywhere, and says why."""
        from evalkit_lmbuild.scoring.computed import COMPUTED, computed

        try:
            design = candidate_design(task, candidate)
        except DesignError as error:
            refused = {metric: as_json(no_design(metric, error)) for metric in COMPUTED}
            return Execution(None, refused, (), GEOMETRY.id)
        found = computed(design, facts_of(task))
        data = {metric: as_json(result) for metric, result in found.items()}
        return Execution(None, data, _sheets(design) if pictures else (), GEOMETRY.id)


def no_design(metric: str, error: DesignError) -> Result:
    """What a metric gives a candidate that is no design, marked as such."""
    return Result(metric, 0.0, str(error), {"no_design": True})


def as_json(result: Result) -> dict[str, Any]:
    """A result as it is recorded."""
    return {"score": plain(result.score), "reason": result.reason, "evidence": plain(result.evidence)}


def plain(value: Any) -> Any:
    """A value in JSON's own types: numbers of NumPy and tuples are turned into Python's numbers and lists."""
    if isinstance(value, Mapping):
        return {str(key): plain(each) for key, each in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [plain(each) for each in (sorted(value) if isinstance(value, set | frozenset) else value)]
    if hasattr(value, "item"):
        return value.item() if getattr(value, "ndim", 0) == 0 else plain(value.tolist())
    return value


def _sheets(design: Design) -> tuple[Artifact, ...]:
    from evalkit_lmbuild.pictures import all_views, judge_sheet

    if not design.parts:
        return ()
    return (
        Artifact("views.png", all_views(design, clay=True), "image/png"),
        Artifact("parts.png", judge_sheet(design), "image/png"),
    )
