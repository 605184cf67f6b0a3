"""Does it stand: a screen of linear programs, then rigid-body simulation of what stays open.

`judge_stability` and what it returns are imported when they're first asked for: SciPy is heavy.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from evalkit_brickbench.stability.contacts import FacingCache
    from evalkit_brickbench.stability.solids import Solids
    from evalkit_brickbench.stability.verdict import (
        ClusterVerdict,
        ComponentMotion,
        Stability,
        judge_stability,
    )

__all__ = [
    "ClusterVerdict",
    "ComponentMotion",
    "FacingCache",
    "Solids",
    "Stability",
    "judge_stability",
]

_HOME = {"FacingCache": "contacts", "Solids": "solids"}


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(f"{__name__}.{_HOME.get(name, 'verdict')}"), name)
