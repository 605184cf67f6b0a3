"""Playing a plan into a run folder and scoring it: what `run`, `resume` and `rescore` share."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Collection
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from evalkit.errors import ExitCode, worst_exit_code

if TYPE_CHECKING:
    from evalkit.plugins import Plugins
    from evalkit.report.run_report import Report
    from evalkit.run.evidence import Gathered
    from evalkit.run.plan import Plan
    from evalkit.run.runner import Outcome
    from evalkit.store.writer import RunWriter
    from evalkit.types import EpisodeKey

FORMATS = ("rich", "plain", "json")


@dataclass(frozen=True, slots=True)
class PlayOptions:
    """How to play, as opposed to what: workers, limits of a job, when to give up, how to print."""

    jobs: int | None
    timeout_s: float
    memory_mib: int
    max_errors: int | None
    format: str

    def job_limits(self) -> dict[str, float]:
        """The limits of a job as the manifest keeps them."""
        return {"timeout_s": self.timeout_s, "memory_mib": self.memory_mib}


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

    name = writer.folder.name
    failed = 0
    try:
        outcome = _play(plan, keys, plugins, writer, options, say)
        interrupted = outcome.interrupted
        if not interrupted:
            gathered = gather_evidence(writer, plugins, options.jobs, say)
            failed, interrupted = len(gathered.failed), gathered.interrupted
    finally:
        writer.close()
    report = print_scores(writer.folder, plugins, options.format)
    if interrupted:
        say(f"interrupted after {outcome.finished} of {len(keys)} episodes; `evalkit resume {name}` goes on")
    say(f"record: {writer.folder}")
    codes = [ExitCode.INTERRUPTED] if interrupted else []
    return worst_exit_code([*codes, ExitCode.EPISODE_ERRORS if failed else ExitCode.PASS, exit_code(report)])


def gather_evidence(
    writer: RunWriter, plugins: Plugins, jobs: int | None, say: Callable[[str], None]
) -> Gathered:
    """Put final designs before the suite's final executors where evidence is missing."""
    from evalkit.run.evidence import gather, missing_evidence, recorded_setup
    from evalkit.run.pool import default_workers
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
        workers=default_workers(jobs),
        timeout_s=DEFAULT_JOB_TIMEOUT_S,
        memory_bytes=DEFAULT_JOB_MEMORY_BYTES,
    )
    for key, executor, why in gathered.failed:
        say(f"{key.text()}: {executor} failed, its metrics are unscored: {why}")
    return gathered


def print_scores(folder: Path, plugins: Plugins, format_: str) -> Report:
    """Score a run from its record, keep the scores beside it, and print its tables on stdout."""
    from evalkit.report.run_report import run_report
    from evalkit.store.reader import RunReader

    report = run_report([RunReader(folder)], plugins, keep_scores=True)
    report.print(format_, brief=True)
    return report


def exit_code(report: Report) -> ExitCode:
    """EPISODE_ERRORS if an episode of the run ended in an error or can't be scored."""
    broken = any(
        system.errors or system.unscored or any(a.unscored for a in system.aggregates.values())
        for system in report.systems
    )
    return ExitCode.EPISODE_ERRORS if broken else ExitCode.PASS


def _play(
    plan: Plan,
    keys: Collection[EpisodeKey],
    plugins: Plugins,
    writer: RunWriter,
    options: PlayOptions,
    say: Callable[[str], None],
) -> Outcome:
    from evalkit.cli._progress import ProgressView
    from evalkit.run.pool import default_workers
    from evalkit.run.runner import Runner, warm_up

    warm_up(plugins, plan.setup, say)
    runner = Runner(
        plan.setup,
        writer,
        plugins,
        workers=default_workers(options.jobs),
        job_timeout_s=options.timeout_s,
        job_memory_bytes=options.memory_mib * 2**20,
        max_errors=options.max_errors,
    )
    live = options.format == "rich" and sys.stderr.isatty()
    with ProgressView(len(keys), _headline(plan, plugins, writer), live=live) as view:
        return runner.run(plan.jobs(set(keys)), view.watch)


def _headline(plan: Plan, plugins: Plugins, writer: RunWriter) -> Callable[[EpisodeKey], str]:
    """How the suite's first metric stands, from the episodes that have ended."""
    from evalkit.run.scoring import RunningScore
    from evalkit.store.reader import RunReader

    if not plan.suite.metrics:
        return lambda key: ""
    running = RunningScore(plan, plugins, RunReader(writer.folder))
    return running.after
