"""What polybridge offers to evalkit."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from evalkit.hookspecs import (
    AgentSpec,
    BenchmarkSpec,
    CommandSpec,
    EnvironmentSpec,
    ExecutorSpec,
    MetricSpec,
    ValidatorSpec,
    ViewSpec,
    hookimpl,
)
from evalkit_polybridge.specs import EMBEDDED, METRICS, NATIVE, RULES, VIEWS

BENCHMARK = "polybridge"


@hookimpl
def evalkit_benchmarks() -> Sequence[BenchmarkSpec]:
    """The benchmark."""
    return [
        BenchmarkSpec(
            id=BENCHMARK,
            title="PolyBridgeBench: complete bridges that vehicles have to cross",
            url="https://arxiv.org/abs/2609.21493",
            claim="A success shows that every vehicle crosses in this project's own physics and levels; it "
            "says nothing about the game, the paper's levels or the safety of any bridge.",
            tasks="evalkit_polybridge.tasks:load_tasks",
            settings="evalkit_polybridge.settings:BridgeSettings",
            suite_check="evalkit_polybridge.settings:check_suite",
            opener="evalkit_polybridge.trial:open_design",
            task_reader="evalkit_polybridge.trial:read_task",
            trial="evalkit_polybridge.trial:report",
            warm="evalkit_polybridge.physics:warm",
        )
    ]


@hookimpl
def evalkit_suites() -> Path:
    """The suites file beside this module."""
    return Path(__file__).with_name("suites.yaml")


@hookimpl
def evalkit_environment(benchmark: str, variant: str) -> EnvironmentSpec | None:
    """The editor."""
    if benchmark != BENCHMARK or variant != "default":
        return None
    return EnvironmentSpec(target="evalkit_polybridge.environment:BridgeEnvironment")


@hookimpl
def evalkit_validators(benchmark: str) -> Sequence[ValidatorSpec]:
    """The rules."""
    return [RULES] if benchmark == BENCHMARK else []


@hookimpl
def evalkit_executors(benchmark: str) -> Sequence[ExecutorSpec]:
    """The embedded physics, and the game itself."""
    return [EMBEDDED, NATIVE] if benchmark == BENCHMARK else []


@hookimpl
def evalkit_metrics(benchmark: str) -> Sequence[MetricSpec]:
    """Valid@k, Success@k, Recovery@3, calls, costs."""
    return METRICS if benchmark == BENCHMARK else []


@hookimpl
def evalkit_views(benchmark: str) -> Sequence[ViewSpec]:
    """Pictures of an episode, breakdowns of a run."""
    return VIEWS if benchmark == BENCHMARK else []


@hookimpl
def evalkit_agents() -> Sequence[AgentSpec]:
    """Offline agents."""
    return [
        AgentSpec(
            name="truss",
            target="evalkit_polybridge.agents.truss:TrussAgent",
            summary="an engineering heuristic: trusses sized by linear statics",
            benchmarks=(BENCHMARK,),
        ),
        AgentSpec(
            name="warren",
            target="evalkit_polybridge.agents.warren:WarrenAgent",
            summary="the same Warren truss under every gap, by one fixed rule",
            benchmarks=(BENCHMARK,),
        ),
        AgentSpec(
            name="flat",
            target="evalkit_polybridge.agents.flat:FlatAgent",
            summary="a bare road deck, the floor of the scale",
            benchmarks=(BENCHMARK,),
        ),
        AgentSpec(
            name="random",
            target="evalkit_polybridge.agents.random_truss:RandomAgent",
            summary="legal designs drawn at random",
            benchmarks=(BENCHMARK,),
        ),
    ]


@hookimpl
def evalkit_commands() -> Sequence[CommandSpec]:
    """Results, levels as files, the real game."""
    summary = "Tables, figures, traces; levels as files; the real game."
    return [CommandSpec("polybridge", "evalkit_polybridge.cli:command", summary)]
