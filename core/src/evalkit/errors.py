"""One tree of exceptions and one vocabulary of end reasons.

    EvalkitError                 anything evalkit says to a person in one line
    ├── UsageError               the command or its input is wrong                 (exit 2)
    │   ├── UnknownNameError     no such suite, agent, metric …, with "did you mean"
    │   └── RegistryError        a registry or suites file is wrong (file and line)
    ├── NoResultError            an executor came to no verdict, through no fault of the design  (exit 3)
    ├── NothingSelectedError     the selection holds no task                       (exit 5)
    ├── PluginError              a plugin can't be used (names it and says why)    (exit 4)
    ├── SandboxError             scripts can't be shut in as well as required      (exit 4)
    ├── RecordError              a run folder is unreadable, foreign, newer, damaged (exit 2)
    └── StorageError             the disk is full or the folder can't be written   (exit 4)

Code of plugins raises plain Python exceptions; the core classifies them by where they came from.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from dataclasses import dataclass
from enum import IntEnum, StrEnum


class ExitCode(IntEnum):
    """What the command `evalkit` returns; where several apply: 130 > 4 > 2 > 5 > 6 > 3 > 1 > 0."""

    PASS = 0
    """Everything asked for was done; a model that fails a task is not an error."""
    BELOW_THRESHOLD = 1
    """A threshold was missed, a metric regressed, a design tried doesn't work, or a record is damaged."""
    USAGE = 2
    """The command line or an input file is wrong."""
    EPISODE_ERRORS = 3
    """Some episodes ended in an error and have no result."""
    INTERNAL = 4
    """evalkit or a plugin failed."""
    NOTHING_SELECTED = 5
    """The selection holds no task."""
    BUDGET_EXHAUSTED = 6
    """A budget of the whole run was used up before all episodes were played."""
    INTERRUPTED = 130
    """Ctrl-C, or a request to terminate; what was finished is kept and `evalkit resume` goes on."""


_PRECEDENCE = (
    ExitCode.INTERRUPTED,
    ExitCode.INTERNAL,
    ExitCode.USAGE,
    ExitCode.NOTHING_SELECTED,
    ExitCode.BUDGET_EXHAUSTED,
    ExitCode.EPISODE_ERRORS,
    ExitCode.BELOW_THRESHOLD,
    ExitCode.PASS,
)


def worst_exit_code(codes: Iterable[ExitCode]) -> ExitCode:
    """The one of several exit codes that is reported."""
    present = set(codes)
    return next((code for code in _PRECEDENCE if code in present), ExitCode.PASS)


class EvalkitError(Exception):
    """A failure that is explained to the user in one line."""

    exit_code = ExitCode.INTERNAL


class UsageError(EvalkitError):
    """The command line or an input is wrong."""

    exit_code = ExitCode.USAGE


class UnknownNameError(UsageError):
    """A name that nothing answers to; suggests the nearest known ones."""

    def __init__(self, kind: str, name: str, known: Iterable[str], hint: str = "") -> None:
        known = sorted(set(known))
        self.suggestions = did_you_mean(name, known)
        if self.suggestions:
            tail = f"did you mean {' or '.join(self.suggestions)}?"
        elif known:
            shown = ", ".join(known[:8]) + (f" and {len(known) - 8} more" if len(known) > 8 else "")
            tail = f"known: {shown}"
        else:
            tail = "none is known"
        super().__init__(f"unknown {kind} {name!r}; {tail}{f' ({hint})' if hint else ''}")


class RegistryError(UsageError):
    """A registry or suites file is wrong: says where (file, line) and what to do."""

    def __init__(self, message: str, path: object = None, line: int | None = None) -> None:
        where = "" if path is None else f"{path}:{line}: " if line else f"{path}: "
        super().__init__(where + message)


class NothingSelectedError(EvalkitError):
    """The selection on the command line holds no task."""

    exit_code = ExitCode.NOTHING_SELECTED


class NoResultError(EvalkitError):
    """An executor came to no verdict for a reason that it explains, such as a machine that isn't ready."""

    exit_code = ExitCode.EPISODE_ERRORS


class PluginError(EvalkitError):
    """A plugin can't be loaded or breaks its contract."""

    def __init__(self, plugin: str, message: str) -> None:
        super().__init__(f"plugin {plugin!r}: {message}")
        self.plugin = plugin


class SandboxError(EvalkitError):
    """A script can't be run as well shut in as required: says what is missing and how to get it."""


class RecordError(UsageError):
    """A run folder that can't be read: missing, foreign, of a newer version or damaged."""


class StorageError(EvalkitError):
    """A record can't be written (disk full, read-only folder)."""


def did_you_mean(name: str, known: Iterable[str], most: int = 2) -> list[str]:
    """The known names nearest to `name`, best first; also finds the part behind a dot."""
    known = list(known)
    by_case = {k.lower(): k for k in known}
    found = [by_case[k] for k in difflib.get_close_matches(name.lower(), list(by_case), n=most, cutoff=0.6)]
    tails = [k for k in known if k.rpartition(".")[2].lower() == name.lower()]
    return list(dict.fromkeys(tails + found))[:most]


class EndReason(StrEnum):
    """Why an episode's play ended."""

    DONE = "done"
    """The environment said so (success, submission, last round)."""
    AGENT_STOPPED = "agent_stopped"
    """The agent had nothing more to do."""
    LIMIT = "limit"
    """A budget of the protocol was used up; the episode end names which."""
    AGENT_ERROR = "agent_error"
    """The agent's own code raised."""
    ENVIRONMENT_ERROR = "environment_error"
    """The environment raised, which its contract forbids."""
    VALIDATOR_ERROR = "validator_error"
    """A validator raised."""
    EXECUTOR_ERROR = "executor_error"
    """An executor raised or gave up."""
    MODEL_ERROR = "model_error"
    """A provider gave no usable reply after all retries."""
    JOB_TIMEOUT = "job_timeout"
    """The job exceeded its time limit and was killed."""
    JOB_MEMORY = "job_memory"
    """The job exceeded its memory limit and was killed."""
    WORKER_CRASHED = "worker_crashed"
    """The worker process died."""


@dataclass(frozen=True, slots=True)
class EndPolicy:
    """What follows from an end reason.

    `error`: the episode has no result (exit 3). `infrastructure`: not the player's doing, so the
    episode may be played again. `scored`: metrics are computed.
    """

    error: bool
    infrastructure: bool
    scored: bool


_FINE = EndPolicy(error=False, infrastructure=False, scored=True)
_BROKEN = EndPolicy(error=True, infrastructure=False, scored=False)
_INFRASTRUCTURE = EndPolicy(error=True, infrastructure=True, scored=False)

END_POLICIES: dict[EndReason, EndPolicy] = {
    EndReason.DONE: _FINE,
    EndReason.AGENT_STOPPED: _FINE,
    EndReason.LIMIT: _FINE,
    EndReason.AGENT_ERROR: _BROKEN,
    EndReason.ENVIRONMENT_ERROR: _BROKEN,
    EndReason.VALIDATOR_ERROR: _BROKEN,
    EndReason.EXECUTOR_ERROR: _INFRASTRUCTURE,
    EndReason.MODEL_ERROR: _INFRASTRUCTURE,
    EndReason.JOB_TIMEOUT: _INFRASTRUCTURE,
    EndReason.JOB_MEMORY: _INFRASTRUCTURE,
    EndReason.WORKER_CRASHED: _INFRASTRUCTURE,
}
