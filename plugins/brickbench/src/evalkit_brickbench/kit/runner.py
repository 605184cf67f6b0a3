"""Runs inside the sandbox: what `build()` of build.py returns becomes model.mpd.

If it can't, failure.json says why: `{"code": …, "message": …}`. Whatever is written here is the word of
agent-written code, which runs in the same process.
"""

from __future__ import annotations

import importlib
import json
import os
import random
import re
import sys
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

SOURCE, MODEL, FAILURE = "build.py", "model.mpd", "failure.json"
CACHE = ".cache"
FIRST_LINES, LAST_LINES = 4, 8
LINE_CHARACTERS, WORD_CHARACTERS = 120, 500
SHOWN_CHARACTERS = 2000


class Refused(Exception):  # noqa: N818 - it says what is wrong with build.py, not with this program
    """A build.py that yields no model."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


def main() -> int:
    """0 with a model, 1 with a failure."""
    os.environ["XDG_CACHE_HOME"] = str(Path(CACHE).absolute())
    random.seed(0)
    try:
        _build()
    except Refused as refused:
        told = {"code": refused.code, "message": str(refused)[:SHOWN_CHARACTERS]}
        Path(FAILURE).write_text(json.dumps(told), encoding="utf-8")
        return 1
    return 0


def _build() -> None:
    module = _guarded("reading it", lambda: importlib.import_module("build"))
    build = getattr(module, "build", None)
    if not callable(build):
        raise Refused("no_build_function", f"{SOURCE} has no function build()")
    model = _guarded("build()", build)
    from evalkit_brickbench.build import Assembly

    if not isinstance(model, Assembly):
        raise Refused("wrong_type", f"build() returned {type(model).__name__} instead of an Assembly")
    _guarded("writing the model", lambda: model.write(MODEL))


def _guarded(what: str, function: Callable[[], Any]) -> Any:
    """What a function of build.py gives; Refused, with the traceback, if it raises."""
    try:
        return function()
    except MemoryError:
        raise  # the sandbox tells by it that memory was short
    except BaseException as error:  # SystemExit and KeyboardInterrupt, too
        raise Refused("build_failed", f"{what}: {_told(error)}") from error


def _told(error: BaseException) -> str:
    """Both ends of a traceback from build.py on, without what differs from one run to the next."""
    own = str(Path(SOURCE).absolute())
    trace = error.__traceback__
    while trace is not None and trace.tb_frame.f_code.co_filename != own:
        trace = trace.tb_next
    told = traceback.format_exception(type(error), error, trace)
    lines = "".join(told).rstrip().splitlines()
    if len(lines) > FIRST_LINES + LAST_LINES:
        lines = [*lines[:FIRST_LINES], "  …", *lines[-LAST_LINES:]]
    lines = [*(line[:LINE_CHARACTERS] for line in lines[:-1]), lines[-1][:WORD_CHARACTERS]]
    text = "\n".join(lines).replace(f"{Path.cwd()}/", "")
    return re.sub(r"\b0x[0-9a-f]+\b", "0x…", text)


if __name__ == "__main__":
    sys.exit(main())
