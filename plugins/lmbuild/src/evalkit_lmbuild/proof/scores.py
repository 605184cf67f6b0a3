"""Scores of a design by metric: everything that is computed, R.3 by MuJoCo under the protocol `inset`."""

from __future__ import annotations

from evalkit_lmbuild.design import Design
from evalkit_lmbuild.facts import ObjectFacts
from evalkit_lmbuild.operability import Operability
from evalkit_lmbuild.scoring.computed import COMPUTED, Scorer
from evalkit_lmbuild.simulation import Settings

SCORED = (*COMPUTED, "R.3")
"""Metrics in the order of tables; D.1 and D.3 with their computed half before its map."""


def scores_of(design: Design, facts: ObjectFacts) -> dict[str, float | None]:
    """Scores in [0, 1] by metric, None where one doesn't apply."""
    scorer = Scorer(design, facts)
    found = {metric: scorer.score(metric).score for metric in COMPUTED}
    return found | {"R.3": Operability(scorer).result(Settings(protocol="inset")).score}
