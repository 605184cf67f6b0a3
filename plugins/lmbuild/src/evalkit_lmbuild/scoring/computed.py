"""The computed metrics of a design: all but operability and what only a judge sees."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property, lru_cache

from evalkit_lmbuild.design import Design
from evalkit_lmbuild.facts import ObjectFacts
from evalkit_lmbuild.kernel import (
    Field,
    KernelError,
    components,
    enclosed_parts,
    filled_cells,
    origin_ok,
)
from evalkit_lmbuild.kernel.joints import ORIGIN_LIMIT
from evalkit_lmbuild.scoring.aligned import Aligned
from evalkit_lmbuild.scoring.assembly import assembly
from evalkit_lmbuild.scoring.decomposition import decomposition
from evalkit_lmbuild.scoring.functional import Places, functional_parts, verified_parts
from evalkit_lmbuild.scoring.kinematics import Target, kinematics
from evalkit_lmbuild.scoring.lacking import lacking
from evalkit_lmbuild.scoring.material_fit import material_fit
from evalkit_lmbuild.scoring.naming import Naming
from evalkit_lmbuild.scoring.resemblance import resemblance
from evalkit_lmbuild.scoring.result import Result, not_applicable
from evalkit_lmbuild.scoring.shape import shape
from evalkit_lmbuild.scoring.structure import (
    Targets,
    collisions,
    connectivity,
    stability,
    stability_targets,
    structure_field,
)
from evalkit_lmbuild.scoring.symmetry import mirror_iou
from evalkit_lmbuild.scoring.targets import targets_of

SYMMETRY_PITCH = 0.01
ENCLOSED_CELLS = 150
ENCLOSED_PITCH = (0.0005, 0.004)
COMPUTED = ("S.1", "S.2", "S.3", "A.1", "A.2", "A.3", "D.1", "D.3", "R.1", "R.2")


class Standard:
    """What an object's facts come to once, for all designs of it."""

    def __init__(self, facts: ObjectFacts) -> None:
        self.facts = facts
        self.naming = Naming(facts)

    @cached_property
    def targets(self) -> Targets:
        """Tilt and push that count as full stability."""
        return stability_targets(self.facts.reference)

    @cached_property
    def motions(self) -> tuple[Target, ...]:
        """Motions that are looked for."""
        return targets_of(self.facts, self.naming.component, self.naming.named)

    @cached_property
    def symmetry(self) -> float:
        """Best mirror overlap of the reference."""
        return _symmetry(self.facts.reference) if self.facts.reference else 0.0

    @cached_property
    def materials(self) -> dict[str, frozenset[str]]:
        """Accepted classes of material by component."""
        found: dict[str, frozenset[str]] = {}
        for claim in self.facts.materials:
            if (name := self.naming.named(claim.part)) is not None:
                found[name] = found.get(name, frozenset()) | frozenset(claim.classes)
        return found


@lru_cache(maxsize=8)
def standard(facts: ObjectFacts) -> Standard:
    """The standard of an object; kept for the objects seen last."""
    return Standard(facts)


class Scorer:
    """Scores one design of an object; what several metrics need is worked out once."""

    def __init__(self, design: Design, facts: ObjectFacts) -> None:
        self.design = design
        self.facts = facts
        self.standard = standard(facts)
        self.naming = self.standard.naming

    @cached_property
    def structure(self) -> Field:
        """The design on the lattice of S.1–S.3."""
        return structure_field(self.design)

    @cached_property
    def field(self) -> Field:
        """The design at 4 mm."""
        return Field(self.design.parts)

    @cached_property
    def aligned(self) -> Aligned | None:
        """The design laid over the reference."""
        reference = self.facts.reference
        return Aligned(self.design, reference) if reference is not None and reference.parts else None

    @cached_property
    def places(self) -> Places | None:
        """Where the reference has its components."""
        return Places(self.aligned, self.naming.component) if self.aligned is not None else None

    @cached_property
    def floating(self) -> frozenset[str]:
        """Parts outside the largest group that hangs together."""
        limit = ORIGIN_LIMIT * self.structure.scale
        joined = [(j.parent, j.child) for j in self.design.joints if origin_ok(self.design, j, limit)]
        ids = [part.id for part in self.design.parts]
        groups = components(ids, [*self.structure.touching(), *joined])
        largest = max(groups, key=lambda group: sum(self.structure.volume(name) for name in group))
        return frozenset(ids) - frozenset(largest)

    @cached_property
    def enclosed(self) -> frozenset[str]:
        """Parts that can't be seen from outside; at a pitch of a 150th of the diagonal, 0.5 to 4 mm."""
        finest, coarsest = ENCLOSED_PITCH
        pitch = min(max(self.design.diagonal / ENCLOSED_CELLS, finest), coarsest)
        return enclosed_parts(Field(self.design.parts, pitch))

    @cached_property
    def verified(self) -> dict[str, dict[str, float]]:
        """Parts by the component they count for, with how sure that is."""
        return verified_parts(self.design, self.naming.component, self.places, self.enclosed)

    def score(self, metric: str) -> Result:
        """One metric. A design without parts, or one that can't be put on a lattice, scores 0."""
        if not self.design.parts:
            return Result(metric, 0.0, "the design is empty")
        if why := lacking(metric, self.design):
            return not_applicable(metric, why)
        try:
            return _METRICS[metric](self)
        except KernelError as error:
            return Result(metric, 0.0, str(error))

    def _functional(self) -> Result:
        return functional_parts(self.naming.needed, self.verified, self.places, self.floating)

    def _kinematics(self) -> Result:
        motions = self.standard.motions
        return kinematics(self.design, self.field, motions, self.naming.component, self.field.touching())

    def _resemblance(self) -> Result:
        if self.aligned is None:
            return not_applicable("D.3", "there is no reference to compare with")
        return resemblance(self.aligned, _symmetry(self.design), self.standard.symmetry)

    def _materials(self) -> Result:
        accepted = self.standard.materials
        return material_fit(self.design, accepted, self.naming.component, self.facts.reference, self.aligned)


_METRICS: dict[str, Callable[[Scorer], Result]] = {
    "S.1": lambda s: connectivity(s.design, s.facts, s.structure),
    "S.2": lambda s: collisions(s.design, s.facts, s.structure),
    "S.3": lambda s: stability(s.design, s.facts, s.structure, s.standard.targets),
    "A.1": lambda s: shape(s.design, s.aligned, s.naming.component, s.naming.telling),
    "A.2": Scorer._functional,
    "A.3": Scorer._kinematics,
    "D.1": lambda s: decomposition(s.design, s.facts.reference, s.structure.touching(), s.structure.scale),
    "D.3": Scorer._resemblance,
    "R.1": lambda s: assembly(s.design, s.facts, s.field, s.standard.targets),
    "R.2": Scorer._materials,
}


def computed(design: Design, facts: ObjectFacts) -> dict[str, Result]:
    """The computed metrics of a design, D.1 and D.3 with their computed half before its map."""
    scorer = Scorer(design, facts)
    return {metric: scorer.score(metric) for metric in COMPUTED}


def _symmetry(design: Design) -> float:
    return mirror_iou(filled_cells(Field(design.parts, SYMMETRY_PITCH)))
