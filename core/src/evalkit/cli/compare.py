"""`evalkit compare A B`: is the second run better, how sure is that, and which tasks changed?"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from evalkit.errors import UsageError

if TYPE_CHECKING:
    from evalkit.plugins import Plugins
    from evalkit.report.compare import Comparison, Side
    from evalkit.store.reader import RunReader

FORMATS = ("table", "markdown", "csv", "json")


@click.command(
    name="compare",
    epilog="""\b
Examples:
  evalkit compare 20260130 latest
  evalkit compare runs/a runs/b --metric 'success*' --format markdown
  evalkit compare latest latest --agent flat --agent truss
  evalkit compare 20260130 latest --paired --json""",
)
@click.argument("run_a", metavar="A")
@click.argument("run_b", metavar="B")
@click.option(
    "--metric", "patterns", multiple=True, metavar="PATTERN", help="Only metrics whose id or label fits."
)
@click.option(
    "--agent",
    "agents",
    multiple=True,
    metavar="NAME",
    help="The agent to compare; given twice: that of A, then that of B. Default: the only one of each run, "
    "or all that both have.",
)
@click.option(
    "--paired",
    is_flag=True,
    help="Leave out episodes that either run has no result of, instead of counting them as failures.",
)
@click.option("--force", is_flag=True, help="Compare runs of different protocols, and say so.")
@click.option(
    "--format", "form", type=click.Choice(FORMATS), default="table", show_default=True, help="How to write."
)
@click.option("--json", "as_json", is_flag=True, help="The same as --format json.")
def command(
    run_a: str,
    run_b: str,
    patterns: tuple[str, ...],
    agents: tuple[str, ...],
    paired: bool,
    force: bool,
    form: str,
    as_json: bool,
) -> None:
    """Compare run B with run A, task by task.

    For each metric: both figures, the difference B − A with its 95 % interval, a p-value (exact McNemar
    test for proportions, paired bootstrap otherwise) and the same corrected for the number of metrics; then
    the tasks that changed. The value of a task is its mean over the epochs.
    """
    from evalkit.plugins import load_plugins
    from evalkit.report.compare import adjusted, agent_pairs, check_protocols
    from evalkit.report.compare_tables import ComparedPair, ComparisonReport
    from evalkit.report.formats import write_text
    from evalkit.report.run_report import terminal_width
    from evalkit.store.reader import RunReader, find_run

    a, b = (RunReader(find_run(name, Path("runs"))) for name in (run_a, run_b))
    if not force:
        check_protocols(a, b, "; --force compares them all the same")
    sides = _sides(a, b, agent_pairs(a, b, agents), load_plugins(), patterns)
    found = [_compared(one, other, paired) for one, other in sides]
    every = iter(adjusted(comparison for comparisons in found for comparison in comparisons))
    pairs = [
        ComparedPair(one, other, [next(every) for _ in comparisons])
        for (one, other), comparisons in zip(sides, found, strict=True)
    ]
    form = "json" if as_json else form
    report = ComparisonReport(pairs, paired)
    write_text(report.render(form, terminal_width()), sys.stdout, colour=None if form == "table" else False)


def _sides(
    a: RunReader, b: RunReader, agents: Sequence[tuple[str, str]], plugins: Plugins, patterns: Sequence[str]
) -> list[tuple[Side, Side]]:
    """Both sides of each pair of agents, scored by the chosen metrics."""
    from evalkit.report.compare import side_of
    from evalkit.report.run_report import chosen_metrics
    from evalkit.run.scoring import score_run

    metrics_a, metrics_b = chosen_metrics([a, b], plugins, patterns)
    scores_a = score_run(a, plugins, metrics_a)
    scores_b = score_run(b, plugins, metrics_b) if b.folder != a.folder else scores_a
    if not set(scores_a.specs) & set(scores_b.specs):
        raise UsageError(f"{a.name} and {b.name} have no metric in common")
    return [(side_of(a, scores_a, one), side_of(b, scores_b, other)) for one, other in agents]


def _compared(a: Side, b: Side, paired: bool) -> list[Comparison]:
    from evalkit.report.compare import Lost, compare_sides

    nothing = Lost(None, None)
    return compare_sides(
        a, b, {id: nothing if paired else Lost.as_declared(spec) for id, spec in a.scores.specs.items()}
    )
