"""`truss`: an engineer's heuristic with three calls, which knows the executor's weights (docs/truss.md)."""

from __future__ import annotations

from evalkit_polybridge.agents.base import BridgeAgent
from evalkit_polybridge.graph import Bridge, Level
from evalkit_polybridge.heuristic import propose


class TrussAgent(BridgeAgent):
    """Sizes trusses from a small library by linear statics, as strong as the budget allows."""

    def design(self, level: Level) -> tuple[Bridge, str]:
        """The strongest truss for the budget; after a failure another one."""
        bridge = propose(level, self._calls, self._failures)
        return bridge, "A truss sized by linear statics, as strong as the budget allows."
