"""`evalkit run`: play suites, score them, print what came out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from evalkit.cli._checks import CheckOptions, Checks, check_options, write_junit
from evalkit.cli._common import JOB_MEMORY_MIB, JOB_TIMEOUT_S, JOBS, SEED
from evalkit.cli._model_options import ModelChoice, model_options
from evalkit.cli._play import FORMATS, PlayOptions, default_format
from evalkit.errors import ExitCode, UsageError, worst_exit_code
from evalkit.store.planned import Shard

if TYPE_CHECKING:
    from evalkit.plugins import Plugins
    from evalkit.run.plan import Plan, Selection


@dataclass(frozen=True, slots=True)
class _Options:
    agents: tuple[str, ...]
    epochs: int
    seed: int
    shard: Shard | None
    pictures: bool
    root: Path
    play: PlayOptions
    junitxml: Path | None
    choice: ModelChoice


@click.command(
    name="run",
    epilog="""\b
Examples:
  evalkit run polybridge.strict
  evalkit run polybridge.strict --agent truss --agent flat -j 2
  evalkit run polybridge.loose -k Multi --epochs 2
  evalkit run polybridge.strict -m openai/gpt-4.1 -m anthropic/claude-sonnet-4-6 --max-connections 20
  evalkit run polybridge.smoke -m openai/local -M base_url=http://localhost:8000/v1
  evalkit run polybridge.strict --shard 1/4
  evalkit run ci.smoke --fail-under 'success@3>=0.8' --junitxml smoke.xml --format github
  evalkit run polybridge.smoke -T parser=fenced --format json
  evalkit run polybridge.strict --executor native --calibration game.json""",
)
@click.argument("targets", nargs=-1, required=True, metavar="TARGET...")
@click.option("--agent", "agents", multiple=True, metavar="NAME", help="Who plays (repeatable).")
@click.option("-n", "first", type=click.IntRange(1), metavar="N", help="Only the first N tasks.")
@click.option("--slice", "span", metavar="A:B", help="Only tasks A to B of the list, as in Python.")
@click.option("-k", "keyword", metavar="PATTERN", help="Only tasks whose id matches (substring or glob).")
@click.option("--id", "ids", multiple=True, metavar="ID", help="Only this task (repeatable).")
@click.option(
    "--epochs", type=click.IntRange(1), default=1, show_default=True, help="Times each task is played."
)
@click.option("--seed", type=SEED, default=0, show_default=True, help="Seed of the run.")
@click.option(
    "-T", "settings", multiple=True, metavar="KEY=VALUE", help="Change the protocol, e.g. -T limits.calls=5."
)
@click.option(
    "--executor", "executors", multiple=True, metavar="NAME",
    help="Who puts designs to the test, in place of the suite's executors (repeatable).",
)  # fmt: skip
@click.option(
    "--calibration", type=click.Path(path_type=Path, dir_okay=False), metavar="FILE",
    help="For --executor: what it has to know of this machine, the same as -T calibration=@FILE.",
)  # fmt: skip
@click.option("-j", "jobs", type=JOBS, metavar="N", help="Worker processes (default: one per core).")
@click.option(
    "--job-timeout", type=JOB_TIMEOUT_S, default=600.0, show_default=True, metavar="S",
    help="Seconds an episode may take.",
)  # fmt: skip
@click.option(
    "--job-memory", type=JOB_MEMORY_MIB, default=4096, show_default=True, metavar="MIB",
    help="Memory a worker may use, in MiB.",
)  # fmt: skip
@click.option("-x", "stop_at_first", is_flag=True, help="Stop at the first episode that errs.")
@click.option("--maxfail", type=click.IntRange(1), metavar="N", help="Stop after N episodes that err.")
@click.option("--pictures", is_flag=True, help="Record pictures also for agents that don't look at them.")
@click.option("--shard", metavar="I/N", help="Only part I of N; `evalkit merge` puts the parts together.")
@click.option("--registry", type=click.Path(path_type=Path), help="Registry file to use.")
@click.option(
    "--format", "format_", type=click.Choice(FORMATS), help="How to print (default: rich on a terminal)."
)
@check_options
@model_options
@click.option("--dry-run", is_flag=True, help="Show what would be played and stop.")
@click.option(
    "-o", "root", type=click.Path(path_type=Path, file_okay=False), default=Path("runs"), show_default=True,
    help="Folder for run folders.",
)  # fmt: skip
def command(
    targets: tuple[str, ...],
    agents: tuple[str, ...],
    first: int | None,
    span: str | None,
    keyword: str | None,
    ids: tuple[str, ...],
    epochs: int,
    seed: int,
    settings: tuple[str, ...],
    executors: tuple[str, ...],
    calibration: Path | None,
    jobs: int | None,
    job_timeout: float,
    job_memory: int,
    stop_at_first: bool,
    maxfail: int | None,
    pictures: bool,
    shard: str | None,
    registry: Path | None,
    format_: str | None,
    checks: CheckOptions,
    choice: ModelChoice,
    dry_run: bool,
    root: Path,
) -> int:
    """Play TARGETs (suites, groups or patterns) and print their scores.

    Every episode is recorded under the output folder; `evalkit report`, `show` and `rescore` work from
    those records. Without --agent a suite's own default agent plays.
    """
    from evalkit.cli._progress import say
    from evalkit.plugins import load_plugins

    options = _Options(
        agents=agents,
        epochs=epochs,
        seed=seed,
        shard=Shard.parse(shard) if shard else None,
        pictures=pictures,
        root=root,
        play=PlayOptions(
            jobs=jobs,
            timeout_s=job_timeout,
            memory_mib=job_memory,
            max_errors=1 if stop_at_first else maxfail,
            format=format_ or default_format(),
            checks=Checks(checks, root),
            connections=choice.connections,
            cache=choice.cache,
            totals=choice.totals,
        ),
        choice=choice,
        junitxml=checks.junitxml,
    )
    plugins = load_plugins()
    if calibration is not None:
        if not executors:
            raise UsageError("--calibration is for an executor that needs one; name it with --executor")
        settings = (f"calibration=@{calibration}", *settings)
    selection = _selection(first, span, keyword, ids)
    plans = _plans(targets, settings, executors, registry, selection, options, plugins)
    options.play.checks.admit_plans(plans, plugins)
    for plan in plans:
        for notice in plan.suite.notices:
            say(f"note: {notice}")
    if dry_run:
        for plan in plans:
            click.echo(f"{plan.suite.name}: {_describe(plan)}")
        return ExitCode.PASS
    return _run_plans(plans, plugins, options)


def _plans(
    targets: Sequence[str],
    settings: Sequence[str],
    executors: Sequence[str],
    registry_path: Path | None,
    selection: Selection,
    options: _Options,
    plugins: Plugins,
) -> list[Plan]:
    """A plan for every suite that the targets stand for."""
    from evalkit.cli._progress import say
    from evalkit.registry import Registry
    from evalkit.run.plan import make_plan

    registry = Registry.load(plugins, registry_path)
    overrides = [*settings, *options.choice.overrides()]
    suites = [
        registry.suite(
            name, [*_executors(executors, registry.describe(name)["benchmark"], plugins), *overrides]
        )
        for name in registry.expand(targets)
    ]
    players = [options.choice.agents(options.agents, plugins, suite) for suite in suites]
    for suite, agents in zip(suites, players, strict=True):
        options.choice.check(plugins, suite, agents)
        for note in options.choice.notes(suite):
            say(f"note: {note}")
    return [
        make_plan(
            plugins,
            suite,
            agents,
            selection,
            epochs=options.epochs,
            seed=options.seed,
            pictures=options.pictures,
            shard=options.shard,
            model_options=options.choice.options,
        )
        for suite, agents in zip(suites, players, strict=True)
    ]


def _executors(names: Sequence[str], benchmark: str, plugins: Plugins) -> list[str]:
    """`--executor` as a change of a suite; `native` stands for `polybridge.native` in a suite of polybridge.

    A name that no executor has is left for the suite to refuse.
    """
    if not names:
        return []
    known = plugins.executors(benchmark)
    full = [name if name in known else f"{benchmark}.{name}" for name in names]
    return [f"executors={', '.join(full)}"]


def _run_plans(plans: Sequence[Plan], plugins: Plugins, options: _Options) -> ExitCode:
    """Play one plan after the other; the JUnit file and one JSON document hold all of them."""
    from evalkit.report.run_report import run_report
    from evalkit.run.plan import run_name
    from evalkit.store.reader import RunReader

    together = options.play.format == "json" and len(plans) > 1
    play = replace(options.play, silent=together)
    codes: list[ExitCode] = []
    folders: list[Path] = []
    try:
        for number, plan in enumerate(plans):
            if number and not together:
                click.echo()
            folders.append(options.root / run_name(plan.suite.name))
            codes.append(run_plan(plan, plugins, folders[-1], play))
            if codes[-1] is ExitCode.INTERRUPTED or _gave_up(codes[-1], play):
                break
    finally:
        readers = [RunReader(folder) for folder in folders if (folder / "run.json").is_file()]
        if options.junitxml is not None:
            write_junit(options.junitxml, readers, plugins)
    if together:
        run_report(readers, plugins).print("json")
    return worst_exit_code(codes)


def _gave_up(code: ExitCode, options: PlayOptions) -> bool:
    """Whether -x or --maxfail end the whole command, not just this suite."""
    return code is ExitCode.EPISODE_ERRORS and options.max_errors is not None


def run_plan(plan: Plan, plugins: Plugins, folder: Path, options: PlayOptions) -> ExitCode:
    """Play one plan into a new run folder and print its scores."""
    from evalkit.cli._play import play_and_score, prepare_process
    from evalkit.cli._progress import say
    from evalkit.run.plan import isolation_notices, manifest
    from evalkit.store.writer import RunWriter

    prepare_process()
    frozen = manifest(plan, plugins, folder.name) | options.as_recorded()
    frozen["order_dependent"] = frozen["order_dependent"] or bool(options.totals)
    say(f"{plan.suite.name}: {_describe(plan)}")
    for agent in frozen["agents"]:
        for notice in isolation_notices(agent):
            say(f"note: {notice}")
    writer = RunWriter.create(folder, frozen)
    return play_and_score(plan, plan.keys, plugins, writer, options)


def _describe(plan: Plan) -> str:
    tasks = f"{len(plan.tasks)} of {plan.all_tasks} tasks" if len(plan.tasks) < plan.all_tasks else (
        f"{plan.all_tasks} tasks"
    )  # fmt: skip
    agents = ", ".join(agent.id for agent in plan.setup.agents)
    epochs = f" × {plan.epochs} epochs" if plan.epochs > 1 else ""
    if plan.shard is not None:
        epochs += f", shard {plan.shard.number}/{plan.shard.count} ({len(plan.keys)} episodes)"
    return f"{tasks}{epochs}, agent {agents}, protocol {plan.suite.protocol_hash[:12]}"


def _selection(first: int | None, span: str | None, keyword: str | None, ids: tuple[str, ...]) -> Selection:
    from evalkit.run.plan import Selection

    if first is not None and span is not None:
        raise UsageError("-n and --slice exclude each other")
    chosen = slice(first)
    if span is not None:
        try:
            parts = [int(p) if p else None for p in span.split(":")]
            if len(parts) != 2:
                raise ValueError
        except ValueError as error:
            raise UsageError(f"--slice takes A:B, as in Python (10:20, :5, -3:), not {span!r}") from error
        chosen = slice(*parts)
    return Selection(chosen, keyword, ids)
