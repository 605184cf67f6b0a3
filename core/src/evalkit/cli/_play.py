"""Playing a plan into a run folder and scoring it: what `run`, `resume` and `rescore` share."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evalkit.cli._checks import Checks, say_problems
from evalkit.errors import ExitCode, worst_exit_code

if TYPE_CHECKING:
    from evalkit.cli._progress import Headline
    from evalkit.plugins import Plugins
    from evalkit.report.run_report import Report
    from evalkit.report.thresholds import Problem
    from evalkit.run.evidence import Gathered
    from evalkit.run.judging import Judged
    from evalkit.run.plan import Plan
    from evalkit.run.runner import Broken, Outcome
    from evalkit.store.writer import RunWriter
    from evalkit.types import EpisodeKey

#: So many of the episodes that a broken model leaves are named.
NAMED = 5
FORMATS = ("rich", "plain", "json", "github")


@dataclass(frozen=True, slots=True)
class PlayOptions:
    """How to play, as opposed to what: workers, limits of a job, when to give up, how to print and check.

    `silent` leaves printing the scores to somebody else.
    """

    jobs: int | None
    timeout_s: float
    memory_mib: int
    max_errors: int | None
    format: str
    checks: Checks = field(default_factory=Checks)
    silent: bool = False
    connections: int = 10
    cache: bool = False
    totals: Mapping[str, float] = field(default_factory=dict)

    def as_recorded(self) -> dict[str, Any]:
        """What a manifest keeps and `resume` goes on with: limits of jobs, budgets, connections."""
        return {
            "job_limits": {"timeout_s": self.timeout_s, "memory_mib": self.memory_mib},
            "totals": dict(self.totals),
            "connections": self.connections,
            "cache": self.cache,
        }


def default_format() -> str:
    """`rich` for a person at a terminal, otherwise `plain`."""
    return "rich" if sys.stdout.isatty() else "plain"


def prepare_process() -> None:
    """Settings that this process and its workers share; before numpy or numba are imported."""
    from evalkit.run.pool import worker_environment

    for name, value in worker_environment().items():
        os.environ.setdefault(name, value)


def play_and_score(
    plan: Plan, keys: Collection[EpisodeKey], plugins: Plugins, writer: RunWriter, options: PlayOptions
) -> ExitCode:
    """Play some of a plan's episodes into a run folder, close it, and print the scores of the whole run."""
    from evalkit.cli._progress import say

    failed = 0
    try:
        outcome = _play(plan, keys, plugins, writer, options, say)
        interrupted = outcome.interrupted
        if not interrupted:
            gathered = gather_evidence(writer, plugins, options.jobs, say)
            failed, interrupted = len(gathered.failed), gathered.interrupted
    finally:
        writer.close()
    if outcome.finished >= len(keys):
        outcome.exhausted = None  # the last episode may use up a budget: nothing was left to play
    report = score(writer.folder, plugins)
    if not options.silent:
        print_report(report, options.format)
    problems = [] if interrupted else check(writer.folder, report, plugins, options)
    hint = f"`evalkit resume {shlex.quote(str(writer.folder))}` goes on"
    if interrupted:
        say(f"interrupted after {outcome.finished} of {len(keys)} episodes; {hint}")
    if outcome.exhausted:
        why = f"the run's budget is used up ({outcome.exhausted})"
        say(f"stopped after {outcome.finished} of {len(keys)} episodes: {why}; {hint}")
    alone = len({key.agent for key in keys}) == 1
    for broken in outcome.broken:
        say(f"{_stopped(broken, alone=alone)}; {hint}")
    say(f"record: {writer.folder}")
    codes = [exit_code(report)]
    codes += [ExitCode.INTERRUPTED] if interrupted else []
    codes += [ExitCode.BUDGET_EXHAUSTED] if outcome.exhausted else []
    codes += [ExitCode.EPISODE_ERRORS] if outcome.broken else []
    codes += [ExitCode.EPISODE_ERRORS] if failed else []
    codes += [ExitCode.BELOW_THRESHOLD] if problems else []
    return worst_exit_code(codes)


def gather_evidence(
    writer: RunWriter, plugins: Plugins, jobs: int | None, say: Callable[[str], None]
) -> Gathered:
    """Put final designs before the suite's final executors where evidence is missing."""
    from evalkit.run.evidence import gather, missing_evidence, recorded_setup
    from evalkit.run.runner import DEFAULT_JOB_MEMORY_BYTES, DEFAULT_JOB_TIMEOUT_S
    from evalkit.store.reader import RunReader

    setup, executors, tasks, assembly = recorded_setup(RunReader(writer.folder), plugins)
    waiting = missing_evidence(RunReader(writer.folder), tasks, executors, assembly)
    if waiting:
        say(f"executing {len(waiting)} final designs ({', '.join(executors)})")
    gathered = gather(
        setup,
        plugins,
        writer,
        waiting,
        workers=_workers(plugins, setup.benchmark, executors, jobs, say),
        timeout_s=DEFAULT_JOB_TIMEOUT_S,
        memory_bytes=DEFAULT_JOB_MEMORY_BYTES,
    )
    for key, executor, why in gathered.failed:
        say(f"{key.text()}: {executor} failed, its metrics are unscored: {why}")
    return gathered


def gather_judgements(
    writer: RunWriter,
    plugins: Plugins,
    model: str,
    options: Sequence[str],
    max_cost_usd: float | None,
    say: Callable[[str], None],
) -> Judged:
    """Let a model judge the final designs that it hasn't judged yet; UsageError if it can't be reached, or
    has no known prices where there is a budget."""
    from evalkit.models import Budgeted, open_model, parse_options
    from evalkit.run.judging import judge_designs

    client = open_model(model, parse_options(options))
    try:
        client.check()
        asked = client if max_cost_usd is None else Budgeted(client, max_cost_usd)
        gathered = judge_designs(writer, plugins, asked, say)
    finally:
        client.close()
    for key, executor, why in gathered.failed:
        say(f"{key.text()}: {executor} failed: {why}")
    if gathered.stopped is not None:
        say(f"judging stopped: {gathered.stopped}")
    if gathered.unjudged:
        earlier = f"an earlier judge's evidence counts for {gathered.kept}, the others are unjudged"
        say(f"{gathered.unjudged} judgements by {model} are missing: {earlier}")
    return gathered


def score(folder: Path, plugins: Plugins) -> Report:
    """Score a run from its record and keep the scores beside it."""
    from evalkit.report.run_report import run_report
    from evalkit.store.reader import RunReader

    return run_report([RunReader(folder)], plugins, keep_scores=True)


def print_report(report: Report, format_: str) -> None:
    """Print the tables that are headlines on stdout, in one of `FORMATS`."""
    from evalkit.report import github

    if format_ == "github":
        github.print_report(report, brief=True)
    else:
        report.print(format_, brief=True)


def check(folder: Path, report: Report, plugins: Plugins, options: PlayOptions) -> list[Problem]:
    """Say what a run's figures don't meet, on stderr and to GitHub if that is the format."""
    from evalkit.report import github
    from evalkit.store.reader import RunReader

    reader = RunReader(folder)
    problems = options.checks.problems(reader, report.systems, plugins, own=True)
    say_problems(problems)
    if options.format == "github":
        github.print_annotations([reader], report.systems, problems)
    return problems


def exit_code(report: Report) -> ExitCode:
    """EPISODE_ERRORS if an episode of the run ended in an error or can't be scored."""
    broken = any(
        system.errors or system.unscored or any(a.unscored for a in system.aggregates.values())
        for system in report.systems
    )
    return ExitCode.EPISODE_ERRORS if broken else ExitCode.PASS


def _stopped(broken: Broken, *, alone: bool) -> str:
    """That a model can't be asked any more, why, and which episodes are left if others went on."""
    played = f"stopped after {broken.planned - len(broken.left)} of {broken.planned} episodes: {broken.why}"
    if alone:
        return played
    names = [key.task if key.epoch == 1 else f"{key.task} (epoch {key.epoch})" for key in broken.left]
    more = f" and {len(names) - NAMED} more" if len(names) > NAMED else ""
    return f"{broken.agent} {played}; left: {', '.join(names[:NAMED]) or 'none'}{more}"


def _workers(
    plugins: Plugins, benchmark: str, executors: Sequence[str], jobs: int | None, say: Callable[[str], None]
) -> int:
    """How many worker processes there are; one where an executor can't be used twice at a time."""
    from evalkit.run.pool import default_workers

    specs = plugins.executors(benchmark)
    exclusive = next((name for name in executors if specs[name].exclusive), None)
    if exclusive is None:
        return default_workers(jobs)
    if jobs is not None and jobs > 1:
        say(f"note: {exclusive} takes one design at a time, so there is one worker")
    return 1


def _play(
    plan: Plan,
    keys: Collection[EpisodeKey],
    plugins: Plugins,
    writer: RunWriter,
    options: PlayOptions,
    say: Callable[[str], None],
) -> Outcome:
    from evalkit.cli._progress import ProgressView
    from evalkit.run.runner import Outcome, Runner, warm_up

    if not keys:
        return Outcome()
    warm_up(plugins, plan.setup, say)
    runner = Runner(
        plan.setup,
        writer,
        plugins,
        workers=_workers(plugins, plan.setup.benchmark, plan.setup.executors, options.jobs, say),
        job_timeout_s=options.timeout_s,
        job_memory_bytes=options.memory_mib * 2**20,
        max_errors=options.max_errors,
        connections=options.connections,
        cache=options.cache,
        totals=options.totals,
    )
    live = options.format == "rich" and sys.stderr.isatty()
    with ProgressView(len(keys), _headline(plan, plugins, writer), live=live) as view:
        only = None if keys is plan.keys else set(keys)
        return runner.run(plan.jobs(only), view.watch)


def _headline(plan: Plan, plugins: Plugins, writer: RunWriter) -> Headline:
    """How the suite's first metric stands, from the episodes that have ended."""
    from evalkit.run.scoring import RunningScore
    from evalkit.store.reader import RunReader

    if not plan.suite.metrics:
        return lambda key, bodies: ""
    running = RunningScore(plan, plugins, RunReader(writer.folder))
    return running.after
