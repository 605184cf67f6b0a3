"""`evalkit data`: data sets that plugins name and users fetch."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import click

from evalkit.cli._common import emit, emit_json, emit_table, json_option, tell, warn_broken

if TYPE_CHECKING:
    from evalkit.data import Bar


@click.group(name="data", short_help="List and fetch data sets.")
def command() -> None:
    """List and fetch the data sets that plugins can use. Nothing else ever downloads anything.

    They are kept in the user's data folder, or in the one that EVALKIT_DATA names.

    \b
    Examples:
      evalkit data list
      evalkit data pull ldraw
      evalkit data pull ldraw --from ~/Downloads/complete.zip
    """


@command.command(name="list", short_help="List the data sets there are.")
@json_option
def list_(as_json: bool) -> None:
    """List the data sets there are, and which of them were fetched.

    \b
    Examples:
      evalkit data list --json
    """
    from evalkit.data import data_folder, pulled
    from evalkit.plugins import load_plugins

    plugins = load_plugins()
    rows = []
    for name, spec in sorted(plugins.data_sources().items()):
        record = pulled(name)
        rows.append(
            {
                "name": name,
                "pulled": None if record is None else record["time"],
                "size": spec.size,
                "licence": spec.licence,
                "summary": spec.summary,
                "source": spec.url,
                "folder": str(data_folder(name)),
            }
        )
    warn_broken(plugins)
    if as_json:
        emit_json(rows)
    elif rows:
        emit_table(rows, ["name", "pulled", "size", "licence", "summary"])
    else:
        emit("no plugin names a data set")


@command.command(short_help="Fetch a data set.")
@click.argument("name")
@click.option("--from", "source", metavar="URL|FILE", help="Take it from here instead.")
@click.option("--accept-changed", is_flag=True, help="Take it even if it isn't what was pulled before.")
@json_option
def pull(name: str, source: str | None, accept_changed: bool, as_json: bool) -> None:
    """Fetch the data set NAME, check it, and record its hashes.

    \b
    Examples:
      evalkit data pull ldraw
      evalkit data pull ldraw --from ~/Downloads/complete.zip
    """
    from evalkit.data import Pull
    from evalkit.plugins import load_plugins, resolve

    plugins = load_plugins()
    spec = plugins.data_sources()[name]
    task = Pull(name, source or spec.url, accept_changed, tell, _Bar if sys.stderr.isatty() else None)
    resolve(spec.target, plugins.origin(spec).plugin)(task)
    task.finish()
    if as_json:
        emit_json({"name": name, "folder": str(task.folder), "source": task.source, "files": task.files})
    else:
        emit(f"{name} is in {task.folder}")


class _Bar:
    """A download on the terminal."""

    def __init__(self, title: str) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn

        columns: tuple[Any, ...] = (TextColumn("{task.description}"), BarColumn(), DownloadColumn())
        self._progress = Progress(*columns, TimeRemainingColumn(), console=Console(stderr=True))
        self._task = self._progress.add_task(title.rpartition("/")[2], total=None)
        self._progress.start()

    @property
    def total(self) -> int:
        return int(self._progress.tasks[0].total or 0)

    @total.setter
    def total(self, value: int) -> None:
        self._progress.update(self._task, total=value)

    def update(self, n: int) -> None:
        self._progress.advance(self._task, n)

    def reset(self) -> None:
        self._progress.reset(self._task)

    def close(self) -> None:
        self._progress.stop()


if TYPE_CHECKING:
    _check: type[Bar] = _Bar
