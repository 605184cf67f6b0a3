"""A person plays an episode at a terminal, or a script does, line by line on standard input."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from evalkit.errors import UnknownNameError, UsageError
from evalkit.transports._driven import ended
from evalkit.transports._present import Answer, Pictures, budget_text, parsed_json, tools_text, typed
from evalkit.transports._session import RecordedEpisode
from evalkit.transports.client import CallError, read_arguments

HELP = """\
TOOL key=value …     call a tool; quote values with blanks in them
TOOL {"key": value}  the arguments as JSON
TOOL @FILE           the arguments as JSON from a file
TOOL key=@FILE       one value from a file (many lines, say)
tools                the tools and their arguments
observe              what the last call showed, once more
budget               what is left
stop                 end the episode (also Ctrl-D)"""

COMMANDS = ("help", "tools", "observe", "budget", "stop")
_ONE_JSON_VALUE = re.compile(r"(\w+)=([{\[].*)")


class Prompt:
    """Reads lines, plays them, and shows what came of them.

    `read` returns the next line or raises EOFError; `show` prints what the player sees, `tell` what is
    wrong with a line. A line of a `person` that begins with no tool's name is a slip, which is told and costs
    nothing; a program's is a call like any agent's, which counts.
    """

    def __init__(
        self,
        recorded: RecordedEpisode,
        pictures: Pictures,
        *,
        read: Callable[[], str],
        show: Callable[[str], None],
        tell: Callable[[str], None],
        person: bool,
    ) -> None:
        self._recorded, self._pictures = recorded, pictures
        self._read, self._show, self._tell = read, show, tell
        self._person = person
        self._answer = Answer.of(recorded.episode, recorded.first, pictures)

    def run(self) -> None:
        """Play to the end of the episode or of the lines; Ctrl-C ends the episode and is raised again."""
        self._show(self._answer.text(indent=2))
        try:
            while self._recorded.episode.end is None:
                try:
                    self._line(self._read().strip())
                except (UsageError, CallError) as mistake:
                    self._tell(str(mistake))
        except EOFError:
            self._show(ended(self._recorded.stop("the player's input ended")))
        except KeyboardInterrupt:
            self._recorded.stop("the player was interrupted")
            raise

    def _line(self, line: str) -> None:
        name, _, rest = line.partition(" ")
        episode = self._recorded.episode
        if name in COMMANDS and rest:
            raise UsageError(f"{name!r} takes nothing, not {rest!r}")
        if name == "help":
            self._show(HELP)
        elif name == "tools":
            self._show(tools_text(episode.tools))
        elif name == "observe":
            self._show(self._answer.text(indent=2))
        elif name == "budget":
            self._show(budget_text(episode.context) or "nothing is limited")
        elif name == "stop":
            self._show(ended(self._recorded.stop("the player stopped")))
        elif name:
            self._call(name, rest.strip())

    def _call(self, tool: str, text: str) -> None:
        episode = self._recorded.episode
        names = [known.name for known in episode.tools]
        if self._person and tool not in names:
            raise UnknownNameError("tool or command", tool, [*names, *COMMANDS], "`tools` lists the tools")
        pairs, arguments = _read_line(text)
        observation = self._recorded.call(tool, arguments | typed(episode.tools, tool, pairs))
        self._answer = Answer.of(episode, observation, self._pictures)
        self._show(self._answer.text(indent=2))


def _read_line(text: str) -> tuple[dict[str, str], dict[str, object]]:
    """The arguments in a line; JSON needs no quoting if there is nothing else."""
    if text.startswith("{"):
        arguments = parsed_json(text)
        return {}, arguments
    if match := _ONE_JSON_VALUE.fullmatch(text):
        return {match[1]: match[2]}, {}
    try:
        words = shlex.split(text)
    except ValueError as error:
        raise UsageError(f"{error}: quote values with blanks or quotes in them, or use @FILE") from error
    return read_arguments(words)


@contextmanager
def completion(recorded: RecordedEpisode) -> Iterator[None]:
    """Completion of commands, tools and argument names by the tab key, where the terminal has readline."""
    try:
        import readline
    except ImportError:  # Windows
        yield
        return
    tools = {tool.name: tool.parameters().get("properties", {}) for tool in recorded.episode.tools}

    def candidates(text: str) -> list[str]:
        first, blank, _ = readline.get_line_buffer().lstrip().partition(" ")
        words = (
            [f"{name}=" for name in tools.get(first, ())] if blank else [*COMMANDS, *map("{} ".format, tools)]
        )
        return [word for word in words if word.startswith(text)]

    def complete(text: str, state: int) -> str | None:
        return dict(enumerate(candidates(text))).get(state)

    before, delimiters = readline.get_completer(), readline.get_completer_delims()
    readline.set_completer(complete)
    readline.set_completer_delims(" ")
    readline.parse_and_bind("tab: complete")
    try:
        yield
    finally:
        readline.set_completer(before)
        readline.set_completer_delims(delimiters)
