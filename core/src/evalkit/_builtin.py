"""What the core itself brings, through the same hooks as every plugin."""

from __future__ import annotations

from collections.abc import Sequence

from evalkit.hookspecs import AgentSpec, hookimpl


@hookimpl
def evalkit_agents() -> Sequence[AgentSpec]:
    """Agents that need no model and fit every benchmark."""
    return [
        AgentSpec(
            name="scripted",
            target="evalkit.agents.scripted:ScriptedAgent",
            summary="plays the calls written in a file",
        ),
        AgentSpec(
            name="replay",
            target="evalkit.agents.replay:ReplayAgent",
            summary="plays the calls of a recorded run again",
        ),
    ]
