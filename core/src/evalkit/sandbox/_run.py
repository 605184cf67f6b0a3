"""`run_script`: one script, shut in, from start to outcome."""

from __future__ import annotations

import re
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from evalkit.errors import SandboxError
from evalkit.sandbox import _supervisor
from evalkit.sandbox._exchange import HandBack, Transcript, converse, understand
from evalkit.sandbox._job import Job
from evalkit.sandbox._launch import launched
from evalkit.sandbox._levels import Level, Limits, Outcome, Status
from evalkit.sandbox._limits import Watch
from evalkit.sandbox._probe import require

_MEMORY_ERROR = re.compile(r"([\w.]+\.)?\w*MemoryError\b")
"""How Python's and numpy's traceback of a refused allocation ends."""
_SIGXCPU, _SIGXFSZ, _SIGKILL = 24, 25, 9  # `signal` lacks them on Windows


def run_script(
    script: Path | str,
    *,
    arguments: Sequence[str] = (),
    inputs: Mapping[str, bytes | Path] | None = None,
    outputs: Sequence[str] = (),
    limits: Limits | None = None,
    python: Path | None = None,
    packages: Sequence[Path] = (),
    hidden: Sequence[Path] = (),
    required: Level = Level.FULL,
) -> Outcome:
    """Run a Python script shut in as well as this machine allows, and say how it ended.

    `script`: a file (Path), or source text (str). It starts in an empty workspace that holds the script and
    `inputs` (relative path → content, or the file to copy). `outputs` are relative paths or patterns
    (`*.json`, `out/**`): what is there afterwards comes back in `Outcome.files`, unless it is a symbolic
    link, a device or too big. `python`: an interpreter or the folder of a virtual environment, this one by
    default; its folders are shown to the script, read-only. `packages`: more folders to import from.
    `hidden`: folders that the script finds empty although they lie in one of those (at FULL).

    Whatever the script does is in the Outcome. UsageError for wrong arguments; SandboxError if the machine
    can't shut it in at the level `required`, or the sandbox doesn't start.
    """
    job = Job.of(script, arguments, inputs or {}, outputs, limits or Limits(), python, packages, hidden)
    return run_at(require(required).level, job)


def run_at(level: Level, job: Job) -> Outcome:
    """Run a job at exactly this level, which has to work here."""
    started = time.monotonic()
    with launched(level, job) as running:
        process, control, end = running
        watch = Watch(process.pid, job.limits.memory_bytes)
        transcript = converse(process, control, job.message(level), job.limits, watch, end)
    said = understand(bytes(transcript.control), job.patterns)
    stderr = transcript.stderr.decode("utf-8", "replace")
    if not said.started and not transcript.fired:
        raise SandboxError(
            f"the sandbox didn't start: {(stderr.strip().splitlines() or ['no reason given'])[-1]}"
        )
    status, exit_code, fired = _judge(said, transcript, stderr, job.limits)
    return Outcome(
        status=status,
        exit_code=exit_code,
        stdout=transcript.stdout.decode("utf-8", "replace"),
        stderr=stderr,
        truncated=transcript.truncated,
        files={} if transcript.fired else said.files,
        omitted=said.omitted,
        seconds=time.monotonic() - started,
        peak_memory=max(watch.peak_bytes, said.peak_bytes),
        level=level,
        fired=fired,
    )


def _judge(
    said: HandBack, transcript: Transcript, stderr: str, limits: Limits
) -> tuple[Status, int | None, str]:
    """Status, exit code and the limit that fired."""
    from_outside: dict[str, Status] = {
        "wall_s": "timeout",
        "memory_bytes": "memory",
        "total_output_bytes": "output",
    }
    if transcript.fired:
        return from_outside[transcript.fired], None, transcript.fired
    if not said.ended:
        return "killed", None, ""
    if said.signal:
        out_of_cpu = said.signal == _SIGKILL and said.cpu_ms >= limits.cpu_s * 1000
        if said.signal == _SIGXCPU or out_of_cpu:
            return "timeout", -said.signal, "cpu_s"
        if said.signal == _SIGXFSZ:
            return "output", -said.signal, "file_bytes"
        return "killed", -said.signal, ""
    if said.exit_code:
        last_line = (stderr.strip().splitlines() or [""])[-1]
        if _MEMORY_ERROR.match(last_line):
            return "memory", said.exit_code, "memory_bytes"
        return "failed", said.exit_code, ""
    if _supervisor.OVER_BUDGET in said.omitted.values():
        return "output", 0, "total_output_bytes"
    return "ok", 0, ""
