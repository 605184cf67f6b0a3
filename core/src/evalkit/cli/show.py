"""`evalkit show [RUN [KEY]]`: what a run played, or one episode as text, pictures and files."""

from __future__ import annotations

import inspect
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click

from evalkit.cli._common import tell
from evalkit.errors import EvalkitError, PluginError, RecordError, UsageError
from evalkit.plugins import load_plugins, resolve
from evalkit.report.episode import episode_json, episode_text, outcome
from evalkit.report.files import recorded_artifacts, write_artifacts
from evalkit.report.formats import to_json, to_text, write_text
from evalkit.report.recorded import chosen_key
from evalkit.report.run_report import terminal_width
from evalkit.report.table import Cell, Column, Table, printable
from evalkit.run.plan import load_benchmark_tasks
from evalkit.run.scoring import benchmark_of
from evalkit.store.reader import IndexLine, RunReader, find_run
from evalkit.types import Artifact, Episode, EpisodeKey, Task


@click.command(
    name="show",
    epilog="""\b
Examples:
  evalkit show
  evalkit show latest T1B_Basic_08m
  evalkit show latest T1B_Basic_08m -o pictures""",
)
@click.argument("run", default="latest", metavar="[RUN")
@click.argument("key", required=False, metavar="[KEY]]")
@click.option("--json", "as_json", is_flag=True, help="The same as JSON, nothing shortened.")
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path, file_okay=False),
    metavar="DIR",
    help="Also write the episode's pictures and files to DIR.",
)
def command(run: str, key: str | None, as_json: bool, output: Path | None) -> None:
    """Show a RUN (default: the latest), or its episode KEY: a task's id or any part that only one key has.

    Letters of an outcome, one per design or refused call: V invalid design, F failed, S succeeded, X executed
    without a verdict, e refused call (wrong arguments, no such tool, over budget).
    """
    reader = RunReader(find_run(run, Path("runs")))
    if key is None:
        if output is not None:
            raise UsageError("-o writes the files of one episode; name its KEY")
        _show_run(reader, as_json)
        return
    episode = reader.episode(chosen_key(reader, key))
    if as_json:
        click.echo(to_json(episode_json(episode)), nl=False)
    else:
        write_text(episode_text(episode), sys.stdout, colour=False)
    if output is not None:
        artifacts = [*recorded_artifacts(episode, reader.blob), *_view_artifacts(reader, episode)]
        written = write_artifacts(artifacts, output)
        tell(f"{len(written)} file{'' if len(written) == 1 else 's'} in {output}")


def _show_run(reader: RunReader, as_json: bool) -> None:
    if as_json:
        episodes = [_episode_entry(reader, key, line) for key, line in reader.index().items()]
        planned = len(reader.planned())
        document = {"manifest": reader.manifest, "planned": planned, "episodes": episodes}
        click.echo(to_json(document), nl=False)
        return
    width = terminal_width()
    essentials = "\n".join(_essentials(reader.manifest, width))
    text = essentials + "\n\n" + to_text([_episode_table(reader)], width)
    write_text(text, sys.stdout)


def _essentials(manifest: dict[str, Any], width: int) -> Iterator[str]:
    """What identifies a run: lines of a name and a fact."""
    suite = manifest["suite"]
    agents = (f"{agent['id']} (version {agent['version']})" for agent in manifest["agents"])
    executors = (
        f"{name} {executor['version']} (constants {executor['constants_sha256'][:12]})"
        for name, executor in manifest["executors"].items()
    )
    platform = manifest["platform"]
    facts = {
        "run": manifest["run"],
        "suite": f"{suite['name']}@{suite['version']}, protocol {manifest['protocol_hash'][:12]}",
        "agents": ", ".join(agents),
        "started": manifest["created"],
        "seed": f"{manifest['seed']}, epochs {manifest['epochs']}",
        "executors": ", ".join(executors),
        "versions": ", ".join(f"{name} {version}" for name, version in manifest["versions"].items()),
        "platform": f"Python {platform['python']}, {platform['system']} {platform['machine']}",
    }
    facts["notices"] = "; ".join(suite.get("notices", ()))
    for name, fact in facts.items():
        if fact:
            text = f"{name:<10} {printable(fact)}"
            yield textwrap.fill(text, width, subsequent_indent=" " * 11, break_on_hyphens=False)


def _episode_table(reader: RunReader) -> Table:
    """Every planned episode with its end; agents and epochs have columns where there are several."""
    manifest, index = reader.manifest, reader.index()
    several_agents, several_epochs = len(manifest["agents"]) > 1, manifest["epochs"] > 1
    columns = [Column("task")]
    columns += [Column("agent")] if several_agents else []
    columns += [Column("epoch", "right")] if several_epochs else []
    columns += [Column("end"), Column("outcome"), Column("calls", "right"), Column("detail")]
    rows = []
    for key in reader.planned():
        row: list[Cell] = [key.task]
        row += [key.agent] if several_agents else []
        row += [key.epoch] if several_epochs else []
        rows.append((*row, *_end_cells(reader, key, index.get(key))))
    title = f"{len(index)} of {len(rows)} episodes played"
    return Table("episodes", title, tuple(columns), tuple(rows))


def _end_cells(reader: RunReader, key: EpisodeKey, line: IndexLine | None) -> tuple[Cell, ...]:
    if line is None:
        return ("not played", "", "", "")
    end = line["end"]
    calls = end["counters"].get("calls")
    detail = end.get("detail", "")
    return (end["reason"].replace("_", " "), _outcome(reader, key), "" if calls is None else calls, detail)


def _outcome(reader: RunReader, key: EpisodeKey) -> str:
    try:
        return outcome(reader.episode(key))
    except RecordError as error:
        tell(str(error))
        return "unreadable"


def _episode_entry(reader: RunReader, key: EpisodeKey, line: IndexLine) -> dict[str, Any]:
    return {"key": key.as_dict(), "end": line["end"], "outcome": _outcome(reader, key)}


def _view_artifacts(reader: RunReader, episode: Episode) -> Iterator[Artifact]:
    """What the plugin's views make of an episode, named after the view."""
    protocol = reader.manifest["protocol"]
    benchmark, settings = benchmark_of(reader), protocol["settings"]
    plugins = load_plugins()
    views = [view for view in plugins.views(benchmark).values() if view.scope == "episode"]
    if not views:
        return
    tasks = load_benchmark_tasks(plugins, benchmark, protocol["tasks"], settings)
    task: Task | None = next((task for task in tasks if task.id == episode.key.task), None)
    if task is None:
        raise RecordError(f"the installed {benchmark} has no task {episode.key.task!r}; its views need it")
    design = episode.final_design() or {}
    files = {name: reader.blob(sha256) for name, sha256 in design.get("files", {}).items()}
    for view in views:
        plugin = plugins.origin(view).plugin
        try:
            function = resolve(view.target, plugin)
            told = {"files": files} if "files" in inspect.signature(function).parameters else {}
            artifacts = list(function(episode, task, **told))
        except EvalkitError:
            raise
        except Exception as error:
            raise PluginError(plugin, f"view {view.id!r} failed: {type(error).__name__}: {error}") from error
        for artifact in artifacts:
            yield Artifact(f"{view.id}-{artifact.name}", artifact.data, artifact.media_type)
