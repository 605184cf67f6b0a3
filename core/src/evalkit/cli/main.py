"""The command `evalkit`: finds the verb, imports only what it needs, and explains errors in one line."""

from __future__ import annotations

import errno
import importlib
import logging
import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

import click

from evalkit.errors import EvalkitError, ExitCode, PluginError, UsageError

if TYPE_CHECKING:
    from evalkit.hookspecs import CommandSpec

VERBS: Mapping[str, tuple[str, str, str]] = {
    "run": ("evalkit.cli.run", "command", "Play suites and score them."),
    "resume": ("evalkit.cli.resume", "command", "Go on with a run that was interrupted."),
    "try": ("evalkit.cli.try_", "command", "Put one design to the test, without an agent."),
    "play": ("evalkit.cli.play", "command", "Play an episode yourself, at a prompt or from a shell."),
    "mcp": ("evalkit.cli.mcp", "command", "Serve an episode to an MCP client."),
    "ls": ("evalkit.cli.ls", "command", "List suites, tasks, agents, plugins, metrics, executors."),
    "info": ("evalkit.cli.info", "command", "Say what a suite, metric, agent or plugin is."),
    "runs": ("evalkit.cli.runs", "command", "List recorded runs."),
    "show": ("evalkit.cli.show", "command", "Show a run, or one episode as text and pictures."),
    "report": ("evalkit.cli.report", "command", "Print the tables of runs."),
    "compare": ("evalkit.cli.compare", "command", "Compare two runs, task by task."),
    "rescore": ("evalkit.cli.rescore", "command", "Compute the metrics of a run again."),
    "merge": ("evalkit.cli.merge", "command", "Put the shards of a run together."),
    "replay": ("evalkit.cli.replay", "command", "Play recorded actions again and compare."),
    "export": ("evalkit.cli.export", "command", "Write a run's trajectories for other tools."),
    "verify": ("evalkit.cli.verify", "command", "Check the record of a run for damage."),
    "plugin": ("evalkit.cli.plugin", "command", "Begin a plugin, or check an installed one."),
    "data": ("evalkit.cli.data", "command", "List and fetch data sets."),
    "cache": ("evalkit.cli.cache", "command", "Look into the cache of models' replies."),
    "doctor": ("evalkit.cli.doctor", "command", "Check this installation."),
    "completion": ("evalkit.cli.completion", "command", "Print the completion script of a shell."),
}
"""Verb → module, attribute, one line of help."""

PROGRAM = "evalkit"
COMPLETION_VARIABLE = "_EVALKIT_COMPLETE"
BROKEN_PIPE = 141
"""Exit code when the reader of stdout went away: what a shell reports for SIGPIPE."""


@dataclass(slots=True)
class _State:
    """What the command line said that concerns errors."""

    debug: bool = False


class _Warnings(logging.Handler):
    """Says each warning of the core once, in one line on stderr, with the traceback if --debug was given."""

    def __init__(self, state: _State) -> None:
        super().__init__(logging.WARNING)
        self._state = state
        self._said: set[str] = set()

    def emit(self, record: logging.LogRecord) -> None:
        """Print a record, unless its text was printed before."""
        text = f"{record.levelname.lower()}: {record.getMessage()}"
        if text in self._said:
            return
        self._said.add(text)
        _say(text)
        if self._state.debug and record.exc_info:
            import traceback

            traceback.print_exception(*record.exc_info)


class VerbGroup(click.Group):
    """The verbs above and those of plugins; a verb's module is imported when it is called."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """All verbs; those of plugins come last."""
        return [*VERBS, *sorted(_plugin_commands())]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import a verb; None if there is no such verb, PluginError if a plugin's can't be had."""
        if cmd_name in VERBS:
            module, attribute, _ = VERBS[cmd_name]
            command = getattr(importlib.import_module(module), attribute)
        else:
            command = _plugin_command(cmd_name)
        return None if command is None else _prepared(command, cmd_name)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """The verb of the first word; UnknownNameError with the nearest ones."""
        name, *rest = args
        command = self.get_command(ctx, name)
        if command is None:
            from evalkit.plugins import load_plugins

            raise load_plugins().missing("command", name, self.list_commands(ctx))
        return name, command, rest

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the list of verbs from the table: importing them all would be slow."""
        own = [(name, help) for name, (_, _, help) in VERBS.items()]
        foreign = [(name, spec.summary) for name, spec in sorted(_plugin_commands().items())]
        for title, lines in (("Commands", own), ("Commands of plugins", foreign)):
            if lines:
                with formatter.section(title):
                    formatter.write_dl(lines)


def _set_debug(ctx: click.Context, parameter: click.Parameter, value: bool) -> None:
    if value:
        ctx.find_root().ensure_object(_State).debug = True


def _print_version(ctx: click.Context, parameter: click.Parameter, value: bool) -> None:
    if value:
        from importlib.metadata import version

        click.echo(f"{PROGRAM} {version('evalkit-core')}")
        ctx.exit()


def _debug_option() -> click.Option:
    return click.Option(
        ["--debug"],
        is_flag=True,
        is_eager=True,
        expose_value=False,
        callback=_set_debug,
        help="Print the traceback of an error.",
    )


@click.command(
    PROGRAM,
    cls=VerbGroup,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"], "auto_envvar_prefix": "EVALKIT"},
    params=[
        _debug_option(),
        click.Option(
            ["--version"],
            is_flag=True,
            is_eager=True,
            expose_value=False,
            callback=_print_version,
            help="Print the version.",
        ),
    ],
    epilog="Every option can also be set by an environment variable (EVALKIT_RUN_JOBS=4) and in "
    "evalkit.toml ([run] jobs = 4). `evalkit COMMAND -h` says more.",
)
@click.pass_context
def root(ctx: click.Context) -> None:
    """Evaluate agents that build physical things.

    \b
    Examples:
      evalkit ls                              the suites there are
      evalkit info polybridge.strict          what a suite measures, and how
      evalkit run polybridge.smoke            play it with its default agent
      evalkit report latest                   the tables of the last run
    """
    if ctx.invoked_subcommand is None:
        click.echo(ctx.get_help(), err=True)
        ctx.exit(ExitCode.USAGE)
    _apply_config(ctx, ctx.invoked_subcommand)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line (`sys.argv` if None) and return the exit code."""
    if instruction := os.environ.get(COMPLETION_VARIABLE):
        from click.shell_completion import shell_complete

        return shell_complete(root, {}, PROGRAM, COMPLETION_VARIABLE, instruction)
    _open_closed_streams()
    words = list(sys.argv[1:] if arguments is None else arguments)
    state = _State()
    warnings = _Warnings(state)
    logging.getLogger(PROGRAM).addHandler(warnings)
    try:
        with root.make_context(PROGRAM, words, obj=state) as ctx:
            outcome = root.invoke(ctx)
        sys.stdout.flush()
    except click.exceptions.Exit as stop:
        return stop.exit_code
    except (KeyboardInterrupt, click.Abort):
        _say("interrupted")
        return ExitCode.INTERRUPTED
    except Exception as error:  # noqa: BLE001 - everything is explained, nothing swallowed
        return _explain(error, debug=state.debug)
    finally:
        logging.getLogger(PROGRAM).removeHandler(warnings)
    return outcome if isinstance(outcome, int) else ExitCode.PASS


def _open_closed_streams() -> None:
    """Give a program that was started without stdout, say, a stream that drops what is written to it."""
    for name in ("stdin", "stdout", "stderr"):
        if getattr(sys, name) is None:
            descriptor = os.open(os.devnull, os.O_RDWR)  # the lowest free one: no file of ours can get it
            mode = "r" if name == "stdin" else "w"
            setattr(sys, name, open(descriptor, mode, encoding="utf-8"))  # noqa: SIM115 - open to the end


def _explain(error: Exception, *, debug: bool) -> int:
    """Say in one line what went wrong and return the exit code."""
    if isinstance(error, OSError) and error.errno in (errno.EPIPE, errno.EINVAL) and _readers_gone():
        return BROKEN_PIPE
    if debug:
        import traceback

        traceback.print_exception(error)
    if isinstance(error, EvalkitError):
        _say(f"error: {error}")
        return error.exit_code
    if isinstance(error, click.ClickException):
        _explain_usage(error)
        return ExitCode.USAGE
    hint = "" if debug else " (run again with --debug for the traceback)"
    _say(f"internal error: {type(error).__name__}: {str(error)[:1000]}{hint}")
    return ExitCode.INTERNAL


def _explain_usage(error: click.ClickException) -> None:
    if isinstance(error, getattr(click.exceptions, "NoArgsIsHelpError", ())):  # since click 8.2
        click.echo(error.format_message(), err=True)
        return
    ctx = error.ctx if isinstance(error, click.UsageError) else None
    hint = f" (see `{ctx.command_path} --help`)" if ctx else ""
    _say(f"error: {error.format_message()}{hint}")


def _say(text: str) -> None:
    from evalkit.cli._common import tell

    tell(text)


def _readers_gone() -> bool:
    """Whether nobody reads stdout or stderr any more; what is left for them is dropped."""
    gone = [stream for stream in (sys.stdout, sys.stderr) if _reader_gone(stream)]
    for stream in gone:
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
    return bool(gone)


def _reader_gone(stream: TextIO) -> bool:
    import select

    if not hasattr(select, "poll"):  # Windows can't tell; there only a stream's write fails like this
        return stream is sys.stdout
    poll = select.poll()
    poll.register(stream.fileno(), 0)
    return any(flags & (select.POLLERR | select.POLLHUP) for _, flags in poll.poll(0))


def _apply_config(ctx: click.Context, verb: str) -> None:
    """Take defaults of the verb's options from the configuration file, if there is one."""
    from evalkit.cli._config import find_config, option_defaults, read_config

    try:
        here = Path.cwd()
    except FileNotFoundError as error:
        raise UsageError("the current folder doesn't exist any more; change to another one") from error
    path = find_config(here)
    if path is None:
        return
    tables = read_config(path, root.list_commands(ctx))
    command = root.get_command(ctx, verb)
    if command is not None and verb in tables:
        ctx.default_map = {verb: option_defaults(command, tables[verb], path)}


def _plugin_commands() -> dict[str, CommandSpec]:
    """Commands of plugins; one that bears the name of a verb makes its plugin broken."""
    from evalkit.plugins import load_plugins

    plugins = load_plugins()
    commands = plugins.commands()
    for name in commands.keys() & VERBS.keys():
        plugins.report_fault(
            commands.owners[name], f"its command {name!r} bears the name of one of evalkit's"
        )
    return {name: spec for name, spec in commands.items() if name not in VERBS}


def _plugin_command(name: str) -> click.Command | None:
    from evalkit.plugins import load_plugins, resolve

    plugins = load_plugins()
    commands = plugins.commands()
    if name not in commands.owners:
        return None
    spec = commands[name]
    plugin = plugins.origin(spec).plugin
    command = resolve(spec.target, plugin)
    if not isinstance(command, click.Command):
        raise PluginError(plugin, f"{spec.target} is no click command")
    return command


def _prepared(command: click.Command, verb: str) -> click.Command:
    """A verb with the option --debug and an environment variable for each option."""
    from evalkit.cli._config import option_keys

    if not any("--debug" in parameter.opts for parameter in command.params):
        command.params.append(_debug_option())
    for parameter in command.params:
        keys = option_keys(parameter)
        if keys and parameter.envvar is None:
            parameter.envvar = f"EVALKIT_{verb}_{keys[0]}".upper()
    command.name = verb
    return command


if __name__ == "__main__":
    sys.exit(main())
