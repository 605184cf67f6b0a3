"""What the core itself brings, through the same hooks as every plugin."""

from __future__ import annotations

from collections.abc import Sequence

from evalkit.hookspecs import AgentSpec, ModelSpec, hookimpl


@hookimpl
def evalkit_agents() -> Sequence[AgentSpec]:
    """Agents that fit every benchmark."""
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
        AgentSpec(
            name="chat",
            target="evalkit.agents.models:ChatAgent",
            summary="a model that answers each observation with one text",
            offline=False,
            sees_images=True,
        ),
        AgentSpec(
            name="tools",
            target="evalkit.agents.models:ToolsAgent",
            summary="a model with native function calls",
            offline=False,
            sees_images=True,
        ),
        AgentSpec(
            name="text-tools",
            target="evalkit.agents.models:TextToolsAgent",
            summary="a model that writes its tool calls as blocks of text",
            offline=False,
            sees_images=True,
        ),
        AgentSpec(
            name="cli",
            target="evalkit.agents.cli.agent:CliAgent",
            summary="a coding agent in a workspace: cli:claude, cli:codex, cli:gemini, cli:FILE.toml",
            offline=False,
            own_program=True,
        ),
    ]


@hookimpl
def evalkit_models() -> Sequence[ModelSpec]:
    """Ways to reach models; a model string without one of these names in front goes to litellm."""
    return [
        ModelSpec(
            name="litellm",
            target="evalkit.models._litellm:LitellmClient",
            summary="any model that litellm reaches: PROVIDER/MODEL",
        ),
        ModelSpec(
            name="scripted",
            target="evalkit.models._scripted:ScriptedClient",
            summary="replies from a file: scripted:FILE",
        ),
        ModelSpec(
            name="cassette",
            target="evalkit.models._cassette:CassetteClient",
            summary="replies recorded earlier: cassette:FILE",
        ),
        ModelSpec(
            name="cassette-record",
            target="evalkit.models._cassette:RecordingClient",
            summary="records the replies of another model: cassette-record:FILE=MODEL",
        ),
    ]
