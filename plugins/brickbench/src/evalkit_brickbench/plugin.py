"""What brickbench offers to evalkit."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from evalkit.hookspecs import (
    AgentSpec,
    BenchmarkSpec,
    CheckSpec,
    CommandSpec,
    DataSourceSpec,
    EnvironmentSpec,
    ExecutorSpec,
    MetricSpec,
    ValidatorSpec,
    hookimpl,
)
from evalkit_brickbench.specs import BUILD, METRICS, STABILITY, VQA

BENCHMARK = "brickbench"
ENVIRONMENTS = {
    "default": EnvironmentSpec("evalkit_brickbench.environment:BrickWorkspace", mode="workspace"),
    "tools": EnvironmentSpec("evalkit_brickbench.tool_environment:BrickTools"),
}


@hookimpl
def evalkit_benchmarks() -> Sequence[BenchmarkSpec]:
    """The benchmark."""
    return [
        BenchmarkSpec(
            id=BENCHMARK,
            title="BrickBench: LEGO models that hold together and stand",
            claim="Valid says that parts exist, connect as labelled, don't collide and stay put by this "
            "project's own geometry and statics; it doesn't say that a person could put the model together.",
            tasks="evalkit_brickbench.tasks:load_tasks",
            settings="evalkit_brickbench.settings:BrickSettings",
            suite_check="evalkit_brickbench.library:check_suite",
            opener="evalkit_brickbench.trial:open_model",
            free_task="evalkit_brickbench.trial:free_task",
            trial="evalkit_brickbench.trial:report",
            pictures="evalkit_brickbench.pictures:all_pictures",
        )
    ]


@hookimpl
def evalkit_suites() -> Path:
    """The suites file beside this module."""
    return Path(__file__).with_name("suites.yaml")


@hookimpl
def evalkit_environment(benchmark: str, variant: str) -> EnvironmentSpec | None:
    """A folder to work in, or tools to call."""
    return ENVIRONMENTS.get(variant) if benchmark == BENCHMARK else None


@hookimpl
def evalkit_validators(benchmark: str) -> Sequence[ValidatorSpec]:
    """Part rules and collisions."""
    return [BUILD] if benchmark == BENCHMARK else []


@hookimpl
def evalkit_executors(benchmark: str) -> Sequence[ExecutorSpec]:
    """Stability, and the judge of questions."""
    return [STABILITY, VQA] if benchmark == BENCHMARK else []


@hookimpl
def evalkit_metrics(benchmark: str) -> Sequence[MetricSpec]:
    """Validity and what builds are made of."""
    return METRICS if benchmark == BENCHMARK else []


@hookimpl
def evalkit_agents() -> Sequence[AgentSpec]:
    """Agents that need no model."""
    return [
        AgentSpec(
            name="stacker",
            target="evalkit_brickbench.agents.stacker:StackerAgent",
            summary="a wall in the prompt's colours: valid, and nothing else",
            benchmarks=(BENCHMARK,),
        ),
        AgentSpec(
            name="submission",
            target="evalkit_brickbench.agents.submission:SubmissionAgent",
            summary="hands in builds made elsewhere: submission:PATH, a folder, a zip or a file",
            benchmarks=(BENCHMARK,),
        ),
    ]


@hookimpl
def evalkit_data_sources() -> Sequence[DataSourceSpec]:
    """The published prompts, and the LDraw library."""
    return [
        DataSourceSpec(
            name="brickbench",
            target="evalkit_brickbench.tasks.official:pull",
            summary="the published prompts with their questions, and the stock of alt-build",
            licence="MIT (kulits/BrickAgent)",
            url="https://raw.githubusercontent.com/kulits/BrickAgent/"
            "b3df55e36c669b22ef089b13db1ee841907d09b3/benchmark",
        ),
        DataSourceSpec(
            name="ldraw",
            target="evalkit_brickbench.library:pull",
            summary="official geometry of all LDraw parts, with prints",
            licence="CC BY 4.0 (ldraw.org)",
            url="https://library.ldraw.org/library/updates/complete.zip",
            size="about 140 MB",
        ),
    ]


@hookimpl
def evalkit_checks() -> Sequence[CheckSpec]:
    """Where part knowledge comes from."""
    return [CheckSpec(name="brickbench", target="evalkit_brickbench.doctor:check")]


@hookimpl
def evalkit_commands() -> Sequence[CommandSpec]:
    """`evalkit brickbench …`."""
    return [
        CommandSpec(
            "brickbench",
            "evalkit_brickbench.cli:command",
            "Duels before a judge, tables, figures, studies, other systems' designs.",
        )
    ]
