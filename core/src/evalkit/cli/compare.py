"""`evalkit compare A B`: is the second run better, how sure is that, and which tasks changed?"""

from __future__ import annotations

import sys
from pathlib import Path

import click

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
@click.option(
    "--force", is_flag=True, help="Compare runs of different protocols, physics or tasks, too, and say so."
)
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
    from evalkit.report.compare import agent_pairs, check_protocols
    from evalkit.report.compare_report import compare_runs
    from evalkit.report.formats import write_text
    from evalkit.report.run_report import terminal_width
    from evalkit.store.reader import RunReader, find_run

    a, b = (RunReader(find_run(name, Path("runs"))) for name in (run_a, run_b))
    if not force:
        check_protocols(a, b, "; --force compares them all the same")
    report = compare_runs(a, b, load_plugins(), agent_pairs(a, b, agents), patterns, paired=paired)
    form = "json" if as_json else form
    write_text(report.render(form, terminal_width()), sys.stdout, colour=None if form == "table" else False)
