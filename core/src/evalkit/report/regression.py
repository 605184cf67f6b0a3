"""Whether a run is worse than an earlier one, the baseline.

A metric has regressed if it is worse than in the baseline by more than is allowed: in percentage points
where its unit is percent (0.02 = two points), otherwise as a share of the baseline's figure (0.02 = 2 %).
Both figures are over the same tasks, those for which the baseline has a value. An episode that the new run
lost counts against it in a proportion; one that the baseline lost counts for neither.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from evalkit.errors import UsageError
from evalkit.plugins import Plugins
from evalkit.report.compare import Comparison, Lost, Side, check_protocols, compare_sides, side_of
from evalkit.report.systems import System
from evalkit.report.table import listed
from evalkit.report.thresholds import Problem
from evalkit.run.assemble import Assembly
from evalkit.run.resume import changed_constants
from evalkit.run.scoring import RunScores, changed_tasks, score_run
from evalkit.store.reader import RunReader

if TYPE_CHECKING:
    from evalkit.run.plan import Plan

#: Setbacks that are rounding: a mean over tasks in another order, say.
ROUNDING = 1e-12


class Baseline:
    """An earlier run, scored when it is first needed."""

    def __init__(self, reader: RunReader) -> None:
        self.reader = reader
        self._scores: RunScores | None = None

    def agent_for(self, agent: str, others: Sequence[str]) -> str:
        """The baseline's agent to compare one with: its namesake, or the only one of both runs.

        UsageError if there is none.
        """
        known = [entry["id"] for entry in self.reader.manifest["agents"]]
        if agent in known:
            return agent
        if len(known) == len(others) == 1:
            return str(known[0])
        raise UsageError(f"the baseline {self.reader.name} has no agent {agent!r}, only {', '.join(known)}")

    def check(self, agents: Sequence[str], tasks: Sequence[str]) -> None:
        """UsageError if the baseline says nothing of one of these agents, or of all these tasks."""
        for agent in agents:
            self.agent_for(agent, agents)
        if not set(tasks) & set(self.reader.manifest["tasks"]):
            raise UsageError(f"the baseline {self.reader.name} has none of the tasks")

    def check_installed(self, plan: Plan, plugins: Plugins) -> None:
        """UsageError if what is installed would play a plan with other constants or tasks than here."""
        differences = list(changed_constants(self.reader, Assembly(plan.setup, plugins)))
        if [task.id for task in plan.tasks] == self.reader.manifest["tasks"]:
            differences += changed_tasks(self.reader, plan.tasks)
        if differences:
            raise UsageError(
                f"the baseline {self.reader.name} can't be compared with what is installed: "
                f"{'; '.join(differences)}; play a new baseline"
            )

    def regressions(
        self, reader: RunReader, systems: Sequence[System], plugins: Plugins, allowed: float
    ) -> list[Problem]:
        """What is worse in a run (with its systems) than here. UsageError if they can't be compared."""
        check_protocols(self.reader, reader)
        if self._scores is None:
            self._scores = score_run(self.reader, plugins)
        scores = score_run(reader, plugins)
        agents = [system.agent for system in systems]
        problems = []
        for system in systems:
            old = side_of(self.reader, self._scores, self.agent_for(system.agent, agents))
            new = side_of(reader, scores, system.agent)
            problems += _regressions(old, new, system, allowed)
        return problems


def _regressions(old: Side, new: Side, system: System, allowed: float) -> list[Problem]:
    lost = {id: Lost.against_b(spec) for id, spec in old.scores.specs.items()}
    problems = []
    for comparison in compare_sides(old, new, lost):
        message = _fault(comparison, allowed, old.run)
        if message is not None:
            problems.append(Problem("regressed", system, comparison.spec.id, message))
    return problems


def _fault(found: Comparison, allowed: float, baseline: str) -> str | None:
    """In what way a metric has regressed, or None."""
    spec = found.spec
    if found.setback is None or found.a is None or found.b is None:
        if found.valued_a and not found.valued_b and found.unknown_b:
            return f"{spec.label} has no value any more: no known result for {listed(found.unknown_b)}"
        return None
    limit = allowed if spec.unit == "%" else allowed * abs(found.a)
    if found.setback <= limit + ROUNDING:
        return None
    over = f"over the {found.pairs} tasks in both" if found.pairs else "over the run"
    if spec.unit == "%":
        size = f"{found.setback * 100:.3g} points worse than in {baseline}, {allowed * 100:g} allowed"
    else:
        size = f"worse than in {baseline} by more than the {allowed * 100:g} % allowed"
    tasks = found.lost if spec.higher_is_better else found.gained
    flipped = f"; failing now: {listed(tasks)}" if tasks and found.binary else ""
    unknown = f"; no known result: {listed(found.unknown_b)}" if found.unknown_b else ""
    return f"{spec.label} went from {found.a:.6g} to {found.b:.6g} {over}: {size}{flipped}{unknown}"
