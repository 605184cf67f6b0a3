"""`evalkit mcp`: one episode as an MCP server, on standard input and output or over HTTP."""

from __future__ import annotations

import importlib.util
import threading
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from evalkit.cli._common import complete_targets, overrides_option, registry_option
from evalkit.cli.play import (
    begin,
    conclude,
    id_option,
    idle_option,
    player_option,
    root_option,
    seed_option,
    termination,
)
from evalkit.errors import ExitCode, UsageError, worst_exit_code

if TYPE_CHECKING:
    from evalkit.transports._desk import Desk
    from evalkit.transports._session import RecordedEpisode, Stage
    from evalkit.types import Task


@click.command(
    name="mcp",
    epilog="""\b
Examples:
  evalkit mcp polybridge.strict --id T1B_Basic_08m
  claude mcp add bridge -- evalkit mcp polybridge.strict --id T1B_Basic_08m -o ~/runs
  evalkit mcp polybridge.strict --id T1B_Basic_08m --http 127.0.0.1:8000""",
)
@click.argument("target", shell_complete=complete_targets)
@id_option
@player_option
@click.option(
    "--http",
    "address",
    metavar="HOST:PORT",
    help="Serve at http://HOST:PORT/mcp instead of stdio (port 0: any).",
)
@idle_option
@seed_option
@overrides_option
@registry_option
@root_option
def command(
    target: str,
    id_: str | None,
    player: str | None,
    address: str | None,
    idle_s: float,
    seed: int,
    overrides: tuple[str, ...],
    registry: Path | None,
    root: Path,
) -> int:
    """Serve one episode of suite TARGET to an MCP client, whose tools are those of the environment.

    The record is a run folder like any other; it begins with the client's first call. Pictures are part of
    the results, and files named in them. Needs the extra `mcp`: pip install 'evalkit-core[mcp]'.
    """
    from evalkit.cli._play import prepare_process
    from evalkit.transports._desk import Desk
    from evalkit.transports._session import Player, Stage

    if importlib.util.find_spec("mcp") is None:
        raise UsageError("evalkit mcp needs the package mcp: pip install 'evalkit-core[mcp]'")
    listen = None if address is None else _address(address)
    prepare_process()
    stage = Stage.open(target, overrides, registry)
    task = stage.task(id_)
    transport = "mcp" if listen is None else "mcp-http"

    def start(client: str) -> RecordedEpisode:
        return begin(stage, task, Player(player or transport, transport, client), root.absolute(), seed)

    desk = Desk(start, lambda recorded: recorded.folder / "pictures")
    return worst_exit_code(_serve(desk, stage, task, listen, idle_s))


def _serve(
    desk: Desk, stage: Stage, task: Task, listen: tuple[str, int] | None, idle_s: float
) -> list[ExitCode]:
    """Serve until the episode is over and the client gone; the exit code of what was recorded."""
    from evalkit.cli._progress import say
    from evalkit.transports._desk import attend
    from evalkit.transports.mcp_server import http_server, make_server, serve_stdio

    codes: list[ExitCode] = []

    def done(folder: Path) -> None:
        codes.append(conclude(folder, stage, None))

    server = make_server(desk, lambda: stage.tools(task))
    if listen is None:
        thread = _started(lambda: serve_stdio(server))
        with termination():
            attend(desk, serving=thread.is_alive, idle_s=float("inf"), conclude=done)
    else:
        http, listener = http_server(server, *listen)
        thread = _started(lambda: http.run(sockets=[listener]))
        say(f"{stage.suite.name}: task {task.id} at http://{listen[0]}:{listener.getsockname()[1]}/mcp")
        with termination():
            attend(desk, serving=thread.is_alive, idle_s=idle_s, conclude=done)
        http.should_exit = True
        thread.join(timeout=5.0)
    if desk.recorded is None:
        say("no call came: nothing was recorded")
    return codes


def _started(run: Callable[[], Any]) -> threading.Thread:
    """A server's thread. It is a daemon: one that waits for standard input can't be asked to end."""
    thread = threading.Thread(target=run, name="evalkit-mcp", daemon=True)
    thread.start()
    return thread


def _address(text: str) -> tuple[str, int]:
    host, colon, port = text.rpartition(":")
    if not colon or not port.isdigit() or int(port) > 65535:
        raise UsageError(f"--http takes HOST:PORT, as in 127.0.0.1:8000, not {text!r}")
    return host.strip("[]") or "127.0.0.1", int(port)
