"""Hook implementations of BrickBench."""

from __future__ import annotations

from collections.abc import Sequence

from evalkit.hookspecs import BenchmarkSpec, hookimpl


@hookimpl
def evalkit_benchmarks() -> Sequence[BenchmarkSpec]:
    """None yet: the checks stand by themselves."""
    return []
