"""Templates (TOML, see docs/cli-agents.md): how a program is started and how its output is read."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from evalkit.errors import UnknownNameError, UsageError
from evalkit.jsonfiles import read_file

PRESETS = Path(__file__).parent
MAX_TEMPLATE_BYTES = 1 << 20

Scalar = bool | int | str
Argument = str | list[str]
Count = Annotated[int, Field(gt=0)]

_PLACEHOLDER = re.compile(r"\{([a-z_]+)\}")
_PROVIDED = frozenset({"workspace", "prompt", "prompt_file"})


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Rule(_Part):
    """Which lines of the output it is about.

    In JSON lines those whose fields (dotted paths) have the values of `where`; in text those in which
    `pattern` is found. With `distinct`, lines with one value at that path count once, the last of them.
    """

    where: dict[str, Scalar | list[Scalar]] = {}
    pattern: str | None = None
    distinct: str | None = None

    @model_validator(mode="after")
    def _one_kind(self) -> Self:
        if bool(self.where) == (self.pattern is not None):
            raise ValueError("a rule has either `where` (JSON lines) or `pattern` (text)")
        if self.pattern is not None:
            try:
                re.compile(self.pattern)
            except re.error as error:
                raise ValueError(f"pattern {self.pattern!r}: {error}") from error
        return self


class UsageRule(Rule):
    """Where tokens and US dollars stand: in JSON at paths whose values are added up, in text in the groups
    `input`, `output` and `cost` of the pattern.

    `total` lines say what everything until then used, and replace what was counted.
    """

    input: list[str] = []
    output: list[str] = []
    cost: list[str] = []
    total: bool = False

    def told(self) -> set[str]:
        """Which of `input`, `output` and `cost` such a line says."""
        if self.pattern is not None:
            return set(re.compile(self.pattern).groupindex)
        return {name for name in ("input", "output", "cost") if getattr(self, name)}


class FailureRule(Rule):
    """Lines by which the program says that it failed; `message` is the path of why."""

    message: str | None = None


class Credentials(_Part):
    """What the program proves its identity with: one of these has to be there.

    `files` are copied into its home folder, at the same place below it.
    """

    variables: list[str] = []
    files: list[str] = []


class Limits(_Part):
    """Budgets of an episode where the suite sets none."""

    turns: Count = 300
    seconds: Annotated[float, Field(gt=0)] = 3600.0
    output_bytes: Count = 256 << 20
    disk_bytes: Count = 2 << 30
    memory_bytes: Count = 8 << 30
    processes: Count = 1024


class Template(_Part):
    """How to start a program and read what it prints.

    Placeholders in `argv`: {workspace}, {prompt} (its text), {prompt_file}, and any other name, whose value
    comes from `-M name=value`; an inner list is left out if a value for it is missing. `model` is the part
    of the agent's name behind the @.
    """

    argv: list[Argument] = Field(min_length=1)
    prompt: Literal["stdin", "argv"] = "stdin"
    version: list[str] = ["--version"]
    output: Literal["json", "text"] = "json"
    variables: list[str] = []
    """Variables that are passed on if they are set."""
    environment: dict[str, str] = {}
    """Variables that are always set."""
    credentials: Credentials = Credentials()
    shown: list[str] = []
    """Files and folders that the program needs besides its own."""
    limits: Limits = Limits()
    turns: list[Rule] = []
    usage: list[UsageRule] = []
    failures: list[FailureRule] = []

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if not isinstance(self.argv[0], str) or _PLACEHOLDER.search(self.argv[0]):
            raise ValueError("argv has to begin with the program")
        for rule in (*self.turns, *self.usage, *self.failures):
            if (rule.pattern is None) == (self.output == "text"):
                raise ValueError(f"output is {self.output!r}, a rule is for the other kind")
        return self

    def options(self) -> list[str]:
        """Names that `-M` may set."""
        words = [word for part in self.argv for word in ([part] if isinstance(part, str) else part)]
        names = [name for word in words for name in _PLACEHOLDER.findall(word)]
        return [name for name in dict.fromkeys(names) if name not in _PROVIDED]

    def counters(self) -> set[str]:
        """What its rules count: `turns`, `tokens`, `cost` (which counts only beside tokens)."""
        told = set().union(*(rule.told() for rule in self.usage))
        counted = {"turns"} if self.turns else set()
        if told & {"input", "output"}:
            counted |= {"tokens"} | (told & {"cost"})
        return counted

    def command(self, values: Mapping[str, str]) -> list[str]:
        """argv with its placeholders filled; UsageError if a value is missing outside of an inner list."""
        return [word for part in self.argv for word in _filled(part, values)]


def _filled(part: Argument, values: Mapping[str, str]) -> Iterator[str]:
    words = [part] if isinstance(part, str) else part
    missing = [n for word in words for n in _PLACEHOLDER.findall(word) if n not in values]
    if missing and isinstance(part, str):
        raise UsageError(f"the command line needs a value for {missing[0]!r}; give it with -M {missing[0]}=…")
    if not missing:
        for word in words:
            yield _PLACEHOLDER.sub(lambda found: values[found[1]], word)


def load_template(name: str) -> Template:
    """The preset of that name, or the template in a file ending in .toml; UsageError for anything else."""
    path = Path(name).expanduser()
    if path.suffix != ".toml":
        presets = {preset.stem: preset for preset in PRESETS.glob("*.toml")}
        if name not in presets:
            raise UnknownNameError("CLI agent", name, presets, "or a template: cli:FILE.toml")
        path = presets[name]
    try:
        return Template.model_validate(tomllib.loads(read_file(path, MAX_TEMPLATE_BYTES).decode()))
    except OSError as error:
        raise UsageError(f"can't read the template {path}: {error.strerror}") from error
    except ValidationError as error:
        first = error.errors(include_url=False, include_context=False, include_input=False)[0]
        where = ".".join(map(str, first["loc"]))
        if first["type"] == "extra_forbidden" and len(first["loc"]) == 1:
            raise UnknownNameError("key", where, Template.model_fields, str(path)) from error
        raise UsageError(f"{path}: {where}{': ' if where else ''}{first['msg']}") from error
    except ValueError as error:
        raise UsageError(f"{path} is no TOML: {error}") from error
