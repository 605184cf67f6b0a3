"""All tables of some systems, in the order in which they are read."""

from __future__ import annotations

from collections.abc import Sequence

from evalkit.report import Table
from evalkit_lmbuild.results.ablations import ablation_tables
from evalkit_lmbuild.results.failures import calls_table, failures_table
from evalkit_lmbuild.results.main import kinds_table, levels_table, main_table, mechanisms_table
from evalkit_lmbuild.results.stability import stability_table
from evalkit_lmbuild.results.systems import System


def all_tables(systems: Sequence[System], sample: int | None = None) -> list[Table]:
    """The tables that these systems are enough for; `sample`: tasks in a sample of the stability table."""
    tables = [main_table(systems), levels_table(systems)]
    if len({system.family for system in systems}) > 1:
        tables.append(kinds_table(systems))
    tables += [mechanisms_table(systems), *ablation_tables(systems), failures_table(systems)]
    tables.append(calls_table(systems))
    if (stability := stability_table(systems, sample)) is not None:
        tables.append(stability)
    return tables
