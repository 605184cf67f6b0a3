"""How long to fuzz, and the values that every target draws from.

Without more said, each target gets a few fixed examples (`python -m pytest tests/fuzz`, under a minute).
`python tests/fuzz/run.py` sets EVALKIT_FUZZ_EXAMPLES and lets hypothesis choose others every time.
"""

from __future__ import annotations

import os
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

QUICK_EXAMPLES = 40

_wanted = int(os.environ.get("EVALKIT_FUZZ_EXAMPLES", "0"))
settings.register_profile(
    "fuzz",
    max_examples=_wanted or QUICK_EXAMPLES,
    derandomize=not _wanted,
    deadline=None,
    database=None,
    suppress_health_check=list(HealthCheck),
)
settings.load_profile("fuzz")


def numbers() -> st.SearchStrategy[Any]:
    """Numbers at every edge."""
    edges = (0, -1, 2**31, 10**30, -0.0, 1e-320, 1e-4, 2.000001, 1e99, 1e308, float("nan"), float("inf"))
    return st.sampled_from(edges) | st.integers(-5, 50) | st.floats(-20, 20).map(lambda x: round(x, 4))


def values() -> st.SearchStrategy[Any]:
    """Anything that JSON, or Python's idea of it, can hold."""
    words = st.sampled_from(("", "modify", "\ud800", "\x1b[31m", "\0", "=1+1", "../../etc/passwd", "a|b`<c>"))
    leaves = st.none() | st.booleans() | numbers() | words | st.text(max_size=8)
    return st.recursive(leaves, lambda inner: st.lists(inner, max_size=4) | objects(inner), max_leaves=8)


def objects(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """Objects whose keys often mean something."""
    keys = (
        "id",
        "x",
        "type",
        "nodes",
        "blob",
        "size",
        "media_type",
        "kind",
        "reason",
        "counters",
        "saveFiles",
    )
    return st.dictionaries(st.sampled_from(keys) | st.text(max_size=4), inner, max_size=4)


@pytest.fixture(scope="session")
def hostile_numbers() -> st.SearchStrategy[Any]:
    """A strategy of numbers."""
    return numbers()


@pytest.fixture(scope="session")
def hostile_values() -> st.SearchStrategy[Any]:
    """A strategy of JSON values."""
    return values()
