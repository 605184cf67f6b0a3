"""`evalkit try`: one design through validator, executor and metrics, no agent."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import click

from evalkit.cli._common import emit, emit_json
from evalkit.errors import ExitCode, StorageError, UnknownNameError, UsageError

if TYPE_CHECKING:
    from evalkit.plugins import Plugins
    from evalkit.registry import Suite
    from evalkit.run.trial import Trial
    from evalkit.types import Task


@click.command(
    name="try",
    epilog="""\b
Examples:
  evalkit try polybridge.strict reply.json --id T1B_Basic_08m
  evalkit try polybridge.strict design.layout.json --task levels/T1B_Basic_08m.context.json --json
  evalkit try polybridge.strict reply.json --id T1B_Basic_08m -o pictures/""",
)
@click.argument("target")
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--id", "id_", metavar="TASK", help="The task of the design; some benchmarks need none.")
@click.option(
    "--task", "--level", "task_file", type=click.Path(path_type=Path), help="A task from a file instead."
)
@click.option("-T", "settings", multiple=True, metavar="KEY=VALUE", help="Change the protocol.")
@click.option("--registry", type=click.Path(path_type=Path), help="Registry file to use.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@click.option(
    "-o", "folder", type=click.Path(path_type=Path, file_okay=False), help="Write pictures and files here."
)
def command(
    target: str,
    file: Path,
    id_: str | None,
    task_file: Path | None,
    settings: tuple[str, ...],
    registry: Path | None,
    as_json: bool,
    folder: Path | None,
) -> int:
    """Put the design in FILE to the test under the protocol of suite TARGET.

    Exit code 0 if the design is valid and works (where executors only score, is valid), 1 if not, 2 if the
    command or the file is wrong, 3 if the machine let an executor come to no verdict.
    """
    from evalkit.cli._play import prepare_process
    from evalkit.plugins import load_plugins
    from evalkit.registry import Registry
    from evalkit.run.trial import try_design

    prepare_process()
    plugins = load_plugins()
    suite = Registry.load(plugins, registry).one(target, settings)
    if not os.path.isfile(file):
        raise UsageError(f"there is no file {file}")
    task = _task(plugins, suite, id_, task_file)
    trial = try_design(plugins, suite, task, file, pictures=folder is not None)
    if folder is not None:
        _write_files(folder, trial)
    if as_json:
        emit_json(trial.as_json(suite.name))
    else:
        emit(_text(trial, suite))
    return ExitCode.PASS if trial.works else ExitCode.BELOW_THRESHOLD


def _task(plugins: Plugins, suite: Suite, id_: str | None, task_file: Path | None) -> Task:
    from evalkit.plugins import resolve
    from evalkit.run.plan import load_tasks

    if id_ is not None and task_file is not None:
        raise UsageError("--id and --task exclude each other")
    if task_file is not None:
        spec = plugins.require(suite.benchmark)
        if spec.task_reader is None:
            raise UsageError(f"{suite.benchmark} has no tasks in files")
        task: Task = resolve(spec.task_reader, plugins.origin(spec).plugin)(task_file, suite.settings)
        return task
    spec = plugins.require(suite.benchmark)
    if id_ is None and spec.free_task is not None:
        free: Task = resolve(spec.free_task, plugins.origin(spec).plugin)(suite.settings)
        return free
    tasks = {task.id: task for task in load_tasks(plugins, suite)}
    if id_ is None:
        raise UsageError(f"{suite.name} has {len(tasks)} tasks: say which with --id, or --task FILE")
    if id_ not in tasks:
        raise UnknownNameError("task", id_, tasks, f"`evalkit ls tasks --suite {suite.name}` lists them")
    return tasks[id_]


def _text(trial: Trial, suite: Suite) -> str:
    lines = [f"{trial.task.id} under {suite.name}"]
    lines.append(f"valid: {'yes' if trial.valid else 'no'}")
    for violation in trial.violations:
        mark = "advice" if violation.advisory else "violation"
        lines.append(f"  {mark} {violation.code}: {violation.message}")
    for execution in trial.executions:
        verdict = {True: "success", False: "failure", None: "no verdict"}[execution.success]
        lines.append(f"{execution.executor}: {verdict}")
    if trial.text is not None:
        lines += trial.text
    else:
        lines += [f"  {name}: {_plain(value)}" for name, value in trial.report.items()]
    judged = any(execution.success is not None for execution in trial.executions)
    lines.append("scored" if trial.works and not judged else f"works: {'yes' if trial.works else 'no'}")
    return "\n".join(lines)


def _plain(value: object) -> str:
    if isinstance(value, float):
        return f"{value:g}"
    if isinstance(value, list):
        return ", ".join(_plain(item) for item in value) or "–"
    return "–" if value is None else str(value)


def _write_files(folder: Path, trial: Trial) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, data in trial.artifacts.items():
            (folder / Path(name).name).write_bytes(data)
    except OSError as error:
        raise StorageError(f"can't write to {folder}: {error.strerror or error}") from error
