"""Files that anyone may have written: regular ones of bounded size, and JSON that can't surprise its reader.

Python's own reader takes NaN, turns 1e999 into infinity, and follows brackets until the stack is used up.
None of these is anything that evalkit writes.
"""

from __future__ import annotations

import errno
import json
import math
import os
import stat
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from evalkit import canonical

#: Longest file that is read into memory, in bytes.
MAX_BYTES = 256 * 2**20
#: Deepest nesting of arrays and objects that is read: that of a value, and what an event puts around it.
MAX_DEPTH = canonical.MAX_DEPTH + 10


def require_regular(path: Path, limit: int = MAX_BYTES) -> None:
    """OSError, with a reason for people, unless `path` is a regular file of at most `limit` bytes.

    A pipe would be waited for without end, and a device read without end.
    """
    status = os.stat(path)
    if not stat.S_ISREG(status.st_mode):
        raise OSError(errno.EINVAL, "it is no regular file", str(path))
    if status.st_size > limit:
        raise OSError(errno.EFBIG, f"it has {status.st_size} bytes, at most {limit} are read", str(path))


def read_file(path: Path, limit: int = MAX_BYTES) -> bytes:
    """The bytes of a regular file; OSError, with a reason for people, for any other and for a longer one."""
    require_regular(path, limit)
    with open(path, "rb") as file:
        return file.read(limit)


def parse_json(text: str | bytes) -> Any:
    """The JSON value that a text consists of.

    ValueError, with one line for people, for anything else: also for NaN, infinities, numbers that overflow
    a double and nesting deeper than `MAX_DEPTH`.
    """
    value = _decoded(text if isinstance(text, str) else text.decode())
    openings = ("[", "{") if isinstance(text, str) else (b"[", b"{")
    if sum(map(text.count, openings)) > MAX_DEPTH and canonical.is_deeper(value, MAX_DEPTH):  # type: ignore[arg-type]
        raise ValueError(_TOO_DEEP)
    return value


def parse_lines(lines: Sequence[str]) -> list[Any]:
    """The JSON values of lines, parsed together, which takes half the time.

    ValueError if there is anything odd about one of them: then they have to be parsed one by one.
    """
    if any(line.count("[") + line.count("{") > MAX_DEPTH for line in lines):
        raise ValueError(_TOO_DEEP)
    values = _decoded(f"[{','.join(lines)}]")
    if len(values) != len(lines):
        raise ValueError("a line holds several values, or a part of one")
    return list(values)


def _decoded(text: str) -> Any:
    try:
        return _DECODER.decode(text)
    except RecursionError:
        raise ValueError(_TOO_DEEP) from None


_TOO_DEEP = f"nested deeper than {MAX_DEPTH} levels"


def _finite(numeral: str) -> float:
    value = float(numeral)
    if not math.isfinite(value):
        raise ValueError(f"the number {numeral[:20]} is too large")
    return value


def _refuse(word: str) -> Any:
    raise ValueError(f"{word} is not a JSON number")


_DECODER = json.JSONDecoder(parse_float=_finite, parse_constant=_refuse)
