"""`evalkit play`: a person at a terminal plays an episode, or a server holds it for `evalkit-call`."""

from __future__ import annotations

import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from evalkit.cli._common import SEED, FiniteRange, complete_targets, overrides_option, registry_option
from evalkit.cli._play import FORMATS, default_format
from evalkit.errors import ExitCode, worst_exit_code

if TYPE_CHECKING:
    from evalkit.transports._session import RecordedEpisode, Stage
    from evalkit.types import Task

DEFAULT_IDLE_S = 1800.0

id_option = click.option("--id", "id_", metavar="TASK", help="The task to play (default: the suite's first).")
seed_option = click.option("--seed", type=SEED, default=0, show_default=True, help="Seed of the run.")
player_option = click.option(
    "--as", "player", metavar="NAME", help="Name of the player in record and tables."
)
idle_option = click.option(
    "--idle",
    "idle_s",
    type=FiniteRange(min=0, min_open=True),
    default=DEFAULT_IDLE_S,
    show_default=True,
    metavar="S",
    help="A server ends the episode when no call has come for S seconds.",
)
root_option = click.option(
    "-o",
    "root",
    type=click.Path(path_type=Path, file_okay=False),
    default=Path("runs"),
    show_default=True,
    help="Folder for run folders.",
)


@click.command(
    name="play",
    epilog="""\b
Examples:
  evalkit play polybridge.smoke
  evalkit play polybridge.strict --id T1B_Basic_08m --as ada
  evalkit play polybridge.strict --id T1B_Basic_08m --serve bridge.sock &
  evalkit-call bridge.sock tools
  evalkit-call bridge.sock propose text=@reply.json""",
)
@click.argument("target", shell_complete=complete_targets)
@id_option
@player_option
@click.option(
    "--serve",
    "socket",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="SOCKET",
    help="Hold the episode for `evalkit-call SOCKET …`, one call per command.",
)
@idle_option
@seed_option
@overrides_option
@registry_option
@click.option(
    "--format",
    "format_",
    type=click.Choice(FORMATS),
    help="How to print the scores (default: rich on a terminal).",
)
@root_option
def command(
    target: str,
    id_: str | None,
    player: str | None,
    socket: Path | None,
    idle_s: float,
    seed: int,
    overrides: tuple[str, ...],
    registry: Path | None,
    format_: str | None,
    root: Path,
) -> int:
    """Play one episode of suite TARGET yourself, call by call, and print its scores.

    Without a terminal, lines of standard input are played. With --serve the episode waits behind a Unix
    socket for `evalkit-call`, so that an agent with a shell can play it. The record is a run folder like
    any other.
    """
    from evalkit.cli._play import prepare_process
    from evalkit.transports._session import Player, Stage

    prepare_process()
    if socket is not None:
        from evalkit.transports.server import free_socket

        free_socket(socket)
    stage = Stage.open(target, overrides, registry)
    transport = "prompt" if socket is None else "shell"
    recorded = begin(stage, stage.task(id_), Player(player or transport, transport), root, seed)
    codes: list[ExitCode] = []

    def done(folder: Path) -> None:
        codes.append(conclude(folder, stage, format_ or default_format()))

    if socket is None:
        _prompt(recorded, done)
    else:
        _serve(recorded, socket, idle_s, done)
    return worst_exit_code(codes)


def begin(stage: Stage, task: Task, player: Any, root: Path, seed: int) -> RecordedEpisode:
    """Compile what has to be, open the run folder and start the episode; says which task is played."""
    from evalkit.cli._progress import say
    from evalkit.transports._session import RecordedEpisode

    say(f"{stage.suite.name}: task {task.id} ({len(stage.tasks)} in the suite)")
    stage.warm_up(say)
    return RecordedEpisode(stage, task, player, root, seed)


def conclude(folder: Path, stage: Stage, format_: str | None) -> ExitCode:
    """Execute the final design where the suite wants it, score the run, and say where the record is.

    The scores are printed in one of `FORMATS`, or only kept beside the record if `format_` is None.
    """
    from evalkit.cli._play import exit_code, gather_evidence, print_report, score
    from evalkit.cli._progress import say
    from evalkit.store.writer import RunWriter

    with RunWriter(folder) as writer:
        gathered = gather_evidence(writer, stage.plugins, 1, say)
    report = score(folder, stage.plugins)
    if format_ is not None:
        print_report(report, format_)
    say(f"record: {folder}")
    if gathered.interrupted:
        raise KeyboardInterrupt  # it was only noted, so that the record stays whole
    return exit_code(report)


@contextmanager
def termination() -> Iterator[None]:
    """A request to terminate is treated like Ctrl-C, so that the episode and its record end in order."""

    def interrupt(number: int, frame: object) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGTERM, interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _prompt(recorded: RecordedEpisode, done: Callable[[Path], None]) -> None:
    from evalkit.transports._present import Pictures
    from evalkit.transports.prompt import HELP, Prompt, completion

    terminal = sys.stdin.isatty()
    prompt = Prompt(
        recorded,
        Pictures(recorded.folder / "pictures"),
        read=_line_reader("evalkit> " if terminal else ""),
        show=lambda text: click.echo(text + "\n"),
        tell=lambda text: click.echo(f"evalkit: {text}", err=True),
        person=terminal,
    )
    if terminal:
        click.echo(HELP + "\n", err=True)
    with completion(recorded) if terminal else nullcontext(), termination():
        try:
            prompt.run()
        finally:
            if recorded.episode.end is not None:
                done(recorded.folder)


def _line_reader(prompt: str) -> Callable[[], str]:
    return lambda: input(prompt)


def _serve(recorded: RecordedEpisode, socket: Path, idle_s: float, done: Callable[[Path], None]) -> None:
    from evalkit.cli._progress import say
    from evalkit.transports._desk import Desk, attend
    from evalkit.transports.server import listening

    desk = Desk(lambda client: recorded, lambda _: socket.absolute().with_name(f"{socket.name}-pictures"))
    desk.open()
    with termination(), listening(desk, socket):
        say(f"waiting for calls: evalkit-call {socket} tools")
        attend(desk, serving=lambda: True, idle_s=idle_s, conclude=done)
