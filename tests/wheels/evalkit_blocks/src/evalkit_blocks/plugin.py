"""What blocks offers to evalkit."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from evalkit.hookspecs import (
    AgentSpec,
    BenchmarkSpec,
    EnvironmentSpec,
    ExecutorSpec,
    MetricSpec,
    ValidatorSpec,
    hookimpl,
)

BENCHMARK = "blocks"

METRICS = (
    MetricSpec(
        "blocks.solved", "evalkit_blocks.metrics:Solved", "Solved", "a stack stood and was high enough"
    ),
    MetricSpec(
        "blocks.stable",
        "evalkit_blocks.metrics:Stable",
        "Stable",
        "the last legal stack stood",
        denominator="episodes with a legal stack",
        not_applicable="no legal stack was handed in",
        missing="omit",
    ),
    MetricSpec(
        "blocks.height",
        "evalkit_blocks.metrics:Height",
        "Height",
        "height of the best stack that stood ÷ height asked for",
        kind="mean",
        cluster="family",
        denominator="episodes in which a stack stood",
        not_applicable="no stack stood",
        missing="omit",
        unit="",
    ),
    MetricSpec(
        "blocks.neatness",
        "evalkit_blocks.metrics:Neatness",
        "Neatness",
        "how well the boxes of the last stack are in line",
        kind="mean",
        denominator="episodes whose last stack was rated",
        not_applicable="no stack was rated",
        missing="omit",
        unit="",
    ),
    MetricSpec(
        "blocks.errors",
        "evalkit_blocks.metrics:Errors",
        "Errors",
        "calls that were refused",
        kind="total",
        missing="omit",
        higher_is_better=False,
        unit="",
    ),
    MetricSpec(
        "blocks.best",
        "evalkit_blocks.metrics:BestOfEpochs",
        "Best of epochs",
        "tasks solved in at least one epoch",
        scope="run",
        denominator="tasks played",
    ),
)


@hookimpl
def evalkit_benchmarks() -> Sequence[BenchmarkSpec]:
    """The benchmark."""
    return [
        BenchmarkSpec(
            id=BENCHMARK,
            title="Blocks: stack boxes up to a height without toppling",
            tasks="evalkit_blocks.tasks:load_tasks",
            settings="evalkit_blocks.settings:BlocksSettings",
            opener="evalkit_blocks.workspace:open_stack",
            claim="A toy: shows that a runtime works, says nothing about models.",
        )
    ]


@hookimpl
def evalkit_suites() -> Path:
    """The suites file beside this module."""
    return Path(__file__).with_name("suites.yaml")


@hookimpl
def evalkit_environment(benchmark: str, variant: str) -> EnvironmentSpec | None:
    """The building site, or a folder."""
    if benchmark != BENCHMARK:
        return None
    if variant == "workspace":
        return EnvironmentSpec(target="evalkit_blocks.workspace:BlocksWorkspace", mode="workspace")
    if variant != "default":
        return None
    return EnvironmentSpec(target="evalkit_blocks.environment:BlocksEnvironment")


@hookimpl
def evalkit_validators(benchmark: str) -> Sequence[ValidatorSpec]:
    """The rules."""
    if benchmark != BENCHMARK:
        return []
    return [
        ValidatorSpec(
            id="blocks.rules",
            target="evalkit_blocks.validator:StackRules",
            version="1",
            summary="sizes, material, overlaps",
        )
    ]


@hookimpl
def evalkit_executors(benchmark: str) -> Sequence[ExecutorSpec]:
    """Statics in the loop, a judge after play."""
    if benchmark != BENCHMARK:
        return []
    return [
        ExecutorSpec(
            id="blocks.statics",
            target="evalkit_blocks.executor:StaticsExecutor",
            version="1",
            summary="centres of mass over what carries them",
        ),
        ExecutorSpec(
            id="blocks.neatness",
            target="evalkit_blocks.judge:NeatnessJudge",
            version="1",
            summary="rates how well boxes are in line",
        ),
    ]


@hookimpl
def evalkit_metrics(benchmark: str) -> Sequence[MetricSpec]:
    """What is measured."""
    return METRICS if benchmark == BENCHMARK else []


@hookimpl
def evalkit_agents() -> Sequence[AgentSpec]:
    """Agents that need no model."""
    return [
        AgentSpec(
            name="tower",
            target="evalkit_blocks.agents:TowerAgent",
            summary="equal boxes straight up",
            benchmarks=(BENCHMARK,),
        ),
        AgentSpec(
            name="random",
            target="evalkit_blocks.agents:RandomAgent",
            summary="boxes in a random walk",
            benchmarks=(BENCHMARK,),
        ),
        AgentSpec(
            name="writer",
            target="evalkit_blocks.agents:WriterAgent",
            summary="the tower, as a file",
            benchmarks=(BENCHMARK,),
        ),
    ]
