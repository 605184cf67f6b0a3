"""`cli:TEMPLATE[@MODEL]`: a coding agent's own program plays in a workspace, shut in as well as can be."""

from __future__ import annotations

import os
import shutil
import threading
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evalkit.agents.cli.process import Budget, Follower, LimitReached, ProgramFailed
from evalkit.agents.cli.program import FIXED, extra, find_program, plugin_folders, version_of
from evalkit.agents.cli.redaction import Redactor, says_secret, secrets_of_file, secrets_of_variables
from evalkit.agents.cli.stream import Meter
from evalkit.agents.cli.template import load_template
from evalkit.agents.cli.transcript import Transcript
from evalkit.errors import EndReason, SandboxError, UnknownNameError, UsageError
from evalkit.jsonfiles import read_file
from evalkit.sandbox import Level, probe
from evalkit.sandbox._guest import Guest, guest_place, launched_guest
from evalkit.sandbox._interpreter import closed_to_others
from evalkit.sandbox._probe import require
from evalkit.workspace import take

if TYPE_CHECKING:
    from evalkit.episode import Sink
    from evalkit.types import Brief, Delivery, StepContext

#: How well a program can be shut in, the strongest first.
ISOLATIONS = {"full": Level.FULL, "uid": Level.UID, "none": Level.NONE}
MAX_CREDENTIALS_BYTES = 1 << 20
PROXIES = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY")


class CliAgent:
    """One episode of a coding agent."""

    def __init__(self, argument: str, settings: Mapping[str, Any]) -> None:
        """`argument`: `TEMPLATE` or `TEMPLATE@MODEL`. UsageError if there is no such template or program."""
        name, _, model = argument.partition("@")
        if not name:
            raise UsageError(
                "agent 'cli' needs a template: cli:claude, cli:codex, cli:gemini or cli:FILE.toml"
            )
        self._name = name
        self._template = load_template(name)
        self._program = find_program(str(self._template.argv[0]))
        self._extra = extra(self._template.shown)
        self._values = {"model": model} if model else {}
        self._level = Level.NONE
        self._meter = Meter(self._template)
        self._over: dict[str, float] = {}
        self._stopped = threading.Event()
        self.limits: Mapping[str, float] = self._template.limits.model_dump()

    def use_options(self, options: Sequence[str]) -> None:
        """Take the `-M key=value`; UsageError for a wrong one, missing credentials, impossible isolation."""
        given = dict(_option(text) for text in options)
        isolation = given.pop("isolation", "")
        known = self._template.options()
        for name in [*given, *self._values]:
            if name not in known:
                raise UnknownNameError(f"option of cli:{self._name}", name, [*known, "isolation"])
        self._values |= given
        self._command("{prompt}")
        self._require_credentials()
        self._refuse_secrets(given)
        self._level = _level(isolation)
        if self._level == Level.UID:
            self._require_readable()

    def require_counters(self, budgets: Collection[str]) -> None:
        """UsageError for a budget that can't be kept, since the template has no rule to count by."""
        counted = self._template.counters()
        for name in ("turns", "tokens", "cost"):
            if name in budgets and name not in counted:
                others = "tokens or time" if "tokens" in counted else "time"
                raise UsageError(
                    f"the template of cli:{self._name} has no rule for {name}, so a budget of {name} "
                    f"can't be kept; one of {others} can"
                )

    def describe(self) -> dict[str, Any]:
        """What a manifest keeps: program, version, command line, names of variables, isolation, limits."""
        found: dict[str, Any] = {
            "executable": str(self._program.executable),
            "version": self._version(),
            "argv": self._shown_command(Redactor(self._secrets())),
            "variables": sorted(self._variables()),
            "isolation": self._level.label,
            "limits": dict(self.limits),
        }
        if self._level < Level.FULL:
            found["reasons"] = list(probe().reasons) or ["asked for with -M isolation"]
        return found

    def work(self, folder: Path, brief: Brief, ctx: StepContext, record: Sink) -> Delivery | None:
        """Start the program and follow it to its end; what it handed in comes without its secrets.

        The delivery's failure is LimitReached if a budget ended it, ProgramFailed if it failed.
        """
        redactor = Redactor(self._secrets())
        failure: Exception | None = None
        try:
            self._run(folder.parent, brief, ctx, record, redactor)
        except SandboxError as error:  # not its doing: it didn't start, or there was no user id for it
            failure = ProgramFailed(EndReason.MODEL_ERROR, str(error))
        except Exception as error:  # noqa: BLE001 - what was made until then is taken; the walk raises it
            failure = error
        taken = take(folder, brief.deliverables, brief.max_bytes)
        delivery, changed = redactor.clean_delivery(taken)
        if changed:
            record.event("agent_process", {"phase": "redacted", "files": changed})
        return replace(delivery, failure=failure)

    def _run(self, root: Path, brief: Brief, ctx: StepContext, record: Sink, redactor: Redactor) -> None:
        prompt = self._furnish(root, brief)
        variables = self._variables()
        places = {name: guest_place(self._level, root, name) for name in ("home", "tmp")}
        guest = Guest(
            argv=self._command(brief.text, root),
            root=root,
            variables={**FIXED, "HOME": places["home"], "TMPDIR": places["tmp"], **variables},
            shown=(*self._program.shown, *self._extra, *brief.shown),
            hidden=plugin_folders(),
            search=self._program.search,
            stdin=prompt if self._template.prompt == "stdin" else None,
            file_bytes=int(ctx.budget_left["disk_bytes"]),
            processes=int(ctx.budget_left["processes"]),
        )
        self._record_start(record, root, variables, redactor)
        transcript = Transcript(record, redactor, self._meter.counters)
        with launched_guest(self._level, guest) as running:
            budget = Budget(ctx.budget_left, root)
            reached = Follower(running, budget, self._meter, transcript, self._stopped).follow()
            code = running.process.returncode
        failure = self._failure(reached, code, transcript.last_words, redactor)
        self._record_exit(record, reached, code)
        if failure is not None:
            raise failure

    def spent(self) -> Mapping[str, float]:
        """Turns, tokens and US dollars as the program reported them; what else was over its limit."""
        return {**self._meter.counters(), **self._over}

    def stop(self) -> None:
        """End the program soon; may be called from any thread."""
        self._stopped.set()

    # What the program gets

    def _command(self, prompt: str, root: Path | None = None) -> list[str]:
        """argv; without `root`, placeholders stand for paths of the episode."""
        places = {"workspace": "{workspace}", "prompt_file": "{prompt_file}"}
        if root is not None:
            places["workspace"] = guest_place(self._level, root, "work")
            places["prompt_file"] = f"{guest_place(self._level, root, 'home')}/prompt.md"
        _, *arguments = self._template.command({**self._values, **places, "prompt": prompt})
        return [str(self._program.executable), *arguments]

    def _shown_command(self, redactor: Redactor, root: Path | None = None) -> list[str]:
        """argv for the record."""
        return [redactor.clean_text(word) for word in self._command("{prompt}", root)]

    def _variables(self) -> dict[str, str]:
        """Variables that are passed on or set, without those that every program gets."""
        template = self._template
        proxies = [name for upper in PROXIES for name in (upper, upper.lower())]
        names = [*proxies, *template.variables, *template.credentials.variables]
        return {n: os.environ[n] for n in names if os.environ.get(n)} | dict(template.environment)

    def _secrets(self) -> Iterator[tuple[str, str]]:
        """All that the program gets and nobody else may see, by name."""
        yield from secrets_of_variables(self._variables(), self._template.credentials.variables)
        for path in self._credential_files():
            try:
                yield from secrets_of_file(path, read_file(path, MAX_CREDENTIALS_BYTES))
            except OSError as error:
                raise UsageError(f"can't read the credentials file {path}: {error.strerror}") from error

    def _refuse_secrets(self, given: Mapping[str, str]) -> None:
        """Options are recorded and seen by every user of the machine."""
        redactor = Redactor(self._secrets())
        for name, value in given.items():
            if says_secret(name) or redactor.clean_text(value) != value:
                raise UsageError(
                    f"-M {name}: no secrets here: put it into a variable and name that in the template's "
                    "[credentials]"
                )

    def _credential_files(self) -> list[Path]:
        return [path for text in self._template.credentials.files if (path := _in_home(text)).is_file()]

    def _require_credentials(self) -> None:
        wanted = self._template.credentials
        if not (wanted.variables or wanted.files) or self._credential_files():
            return
        if not any(os.environ.get(name) for name in wanted.variables):
            ways = [f"set {' or '.join(wanted.variables)}"] if wanted.variables else []
            ways += [f"log in with it ({' or '.join(wanted.files)})"] if wanted.files else []
            raise UsageError(f"cli:{self._name} has no credentials; {', or '.join(ways)}")

    def _require_readable(self) -> None:
        for path in (*self._program.shown, *self._extra):
            if closed_to_others(path):
                raise UsageError(
                    f"{path} can't be read by the user id that cli:{self._name} would get; move it to where "
                    "everyone may read it, install bubblewrap, or accept -M isolation=none"
                )

    def _furnish(self, root: Path, brief: Brief) -> Path:
        """A home folder with the prompt and copies of the credentials; returns the prompt's file."""
        home = root / "home"
        home.mkdir()
        for source in self._credential_files():
            target = home / source.relative_to(Path.home())
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(source, target)
            target.chmod(0o600)
        prompt = home / "prompt.md"
        prompt.write_text(brief.text, encoding="utf-8", errors="backslashreplace")
        return prompt

    # What goes into the record

    def _version(self) -> str:
        template = self._template
        environment = tuple((n, v) for n, v in template.environment.items() if not says_secret(n))
        return version_of(
            self._level, self._program, tuple(template.version), tuple(self._extra), environment
        )

    def _record_start(
        self, record: Sink, root: Path, variables: Mapping[str, str], redactor: Redactor
    ) -> None:
        fields = {
            "phase": "start",
            "argv": self._shown_command(redactor, root),
            "version": self._version(),
            "variables": sorted(variables),
            "isolation": self._level.label,
        }
        record.event("agent_process", fields)
        record.flush()

    def _record_exit(self, record: Sink, reached: LimitReached | None, code: int) -> None:
        fields: dict[str, Any] = {"phase": "exit", "code": code, "usage": self._meter.counters()}
        if reached is not None:
            fields |= {"reason": "limit", "limit": reached.name}
        else:
            fields["reason"] = "stopped" if self._stopped.is_set() else "exited"
        record.event("agent_process", fields)

    def _failure(
        self, reached: LimitReached | None, code: int, last_words: str, redactor: Redactor
    ) -> Exception | None:
        if reached is not None:
            counted = {*self._meter.counters(), "seconds"}
            self._over = {} if reached.name in counted else {reached.name: reached.observed}
            return reached
        if self._stopped.is_set():
            return ProgramFailed(EndReason.MODEL_ERROR, "ended because the run ends")
        if self._meter.failure is not None:
            told = redactor.clean_text(self._meter.failure)
            return ProgramFailed(EndReason.MODEL_ERROR, f"{self._name} reported: {told}")
        if code:
            # Without a single turn it never came to work: a bad key, no network, a broken installation.
            reason = EndReason.AGENT_ERROR if self._meter.turns else EndReason.MODEL_ERROR
            how = f"exit code {code}" if code > 0 else f"signal {-code}"
            return ProgramFailed(reason, f"{self._name} ended with {how}: {last_words or 'no message'}")
        return None


def _option(text: str) -> tuple[str, str]:
    name, given, value = text.partition("=")
    if not (name and given and value):
        raise UsageError(f"-M takes KEY=VALUE, not {text!r}")
    return name, value


def _in_home(text: str) -> Path:
    path = Path(text).expanduser()
    if not path.is_relative_to(Path.home()):
        raise UsageError(f"the credentials file {text} has to be below the home folder; write it as ~/…")
    return path


def _level(isolation: str) -> Level:
    """The level asked for, or the strongest that works here; UsageError if it can't be had."""
    if not isolation:
        level = probe().level
        return level if level in ISOLATIONS.values() else Level.NONE
    if isolation not in ISOLATIONS:
        raise UnknownNameError("isolation", isolation, ISOLATIONS)
    level = ISOLATIONS[isolation]
    if level != Level.NONE:
        try:
            require(level)
        except SandboxError as error:
            raise UsageError(str(error)) from error
    return level
