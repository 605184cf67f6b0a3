"""An agent's build.py run once in the core's sandbox: a bounded model file, or what is wrong."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Literal

from evalkit import Violation
from evalkit.sandbox import Level, Limits, Outcome, run_script
from evalkit_brickbench.kit.contents import library_files
from evalkit_brickbench.kit.runner import CACHE, FAILURE, MODEL, SOURCE
from evalkit_brickbench.parts._wheel_cache import cache_folder

LevelName = Literal["full", "uid", "limits"]

MAX_SOURCE_BYTES = 4 << 20
MAX_MODEL_BYTES = 10 << 20
WALL_S = 120.0
LIMITS = Limits(
    wall_s=WALL_S, cpu_s=WALL_S, memory_bytes=4 << 30, total_output_bytes=MAX_MODEL_BYTES + (1 << 20)
)

_OWN_PACKAGE = "evalkit_brickbench"
_CACHE = "evalkit/brickbench"
"""Where the library looks for converted data, below the runner's cache folder."""


@dataclass(frozen=True, slots=True)
class Built:
    """`model`: the LDraw file that build.py makes, or None and `violation`, what keeps it from that."""

    model: bytes | None
    violation: Violation | None = None


def build(source: bytes, level: LevelName = "full", limits: Limits = LIMITS) -> Built:
    """Run the program `source` and take the model that its `build()` returns.

    SandboxError where this machine can't shut it in at `level`, which is nothing the agent has done.
    """
    if len(source) > MAX_SOURCE_BYTES:
        return _refused("too_large", f"{SOURCE} is larger than {MAX_SOURCE_BYTES >> 20} MB")
    outcome = run_script(
        Path(str(files("evalkit_brickbench.kit").joinpath("runner.py"))),
        inputs={**library_files(), **_converted(), SOURCE: source},
        outputs=[MODEL, FAILURE],
        limits=limits,
        hidden=[Path(str(files(_OWN_PACKAGE)))],  # installed beside its tasks
        required=Level[level.upper()],
    )
    return _judged(outcome, limits)


def _converted() -> Mapping[str, bytes]:
    """The catalogue as this user's cache has it, which spares each run a second; empty if it isn't there."""
    paths = sorted(cache_folder().glob("*.npz"))
    return {f"{CACHE}/{_CACHE}/{path.name}": path.read_bytes() for path in paths}


def _judged(outcome: Outcome, limits: Limits) -> Built:
    if outcome.status == "timeout":
        return _refused("timeout", f"{SOURCE} ran for more than {limits.wall_s:g} s")
    if outcome.status == "memory":
        return _refused("memory", f"{SOURCE} took more than {limits.memory_bytes >> 20} MB of memory")
    if outcome.status == "output":
        return _refused(
            "too_large", f"{SOURCE} wrote a model, or printed, more than {MAX_MODEL_BYTES >> 20} MB"
        )
    if MODEL in outcome.omitted:
        return _refused(
            "build_failed", f"{SOURCE} left a {MODEL} that can't be taken: {outcome.omitted[MODEL]}"
        )
    if FAILURE in outcome.files:
        return _refused(*_failure(outcome.files[FAILURE]))
    model = outcome.files.get(MODEL)
    if outcome.status != "ok" or model is None:
        last = (outcome.stderr.strip().splitlines() or ["it said nothing"])[-1][:200]
        return _refused("build_failed", f"{SOURCE} ended before it had a model ({outcome.status}): {last}")
    if len(model) > MAX_MODEL_BYTES:
        return _refused("too_large", f"the model is larger than {MAX_MODEL_BYTES >> 20} MB")
    return Built(model)


def _failure(said: bytes) -> tuple[str, str]:
    """Code and message of a failure; the program may have written anything in their place."""
    try:
        told = json.loads(said)
        code, message = str(told["code"]), str(told["message"])
    except (ValueError, TypeError, KeyError, RecursionError):
        return "build_failed", f"{SOURCE} failed and left no readable word about it"
    known = ("no_build_function", "wrong_type", "build_failed")
    return (code if code in known else "build_failed"), message[:2000]


def _refused(code: str, message: str) -> Built:
    return Built(None, Violation(code, message))
