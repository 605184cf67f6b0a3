"""What lmbuild offers to evalkit."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from evalkit.hookspecs import (
    AgentSpec,
    BenchmarkSpec,
    CommandSpec,
    DataSourceSpec,
    EnvironmentSpec,
    ExecutorSpec,
    MetricSpec,
    ValidatorSpec,
    ViewSpec,
    hookimpl,
)
from evalkit_lmbuild.specs import AGENTS, BENCHMARK, DESIGN, ENVIRONMENTS, EXECUTORS, METRICS, VIEWS


@hookimpl
def evalkit_benchmarks() -> Sequence[BenchmarkSpec]:
    """The benchmark."""
    return [
        BenchmarkSpec(
            id=BENCHMARK,
            title="LMBuild: articulated objects from parts, joints and materials",
            claim="A score says how a design compares by this project's own geometry kernel, simulation and "
            "objects; it says nothing about the published objects, nor whether anybody could make the thing.",
            tasks="evalkit_lmbuild.tasks:load_tasks",
            settings="evalkit_lmbuild.settings:BuildSettings",
            suite_check="evalkit_lmbuild.settings:check_suite",
            opener="evalkit_lmbuild.trial:open_design",
            task_reader="evalkit_lmbuild.trial:read_task",
            free_task="evalkit_lmbuild.trial:free_task",
            trial="evalkit_lmbuild.trial:report",
            pictures="evalkit_lmbuild.trial:pictures",
            warm="evalkit_lmbuild.trial:warm",
            url="https://github.com/Lumos-Jiateng/LMBuild",
        )
    ]


@hookimpl
def evalkit_suites() -> Path:
    """The suites file beside this module."""
    return Path(__file__).with_name("suites.yaml")


@hookimpl
def evalkit_environment(benchmark: str, variant: str) -> EnvironmentSpec | None:
    """The workshop, and the counter where files are handed in."""
    return ENVIRONMENTS.get(variant) if benchmark == BENCHMARK else None


@hookimpl
def evalkit_validators(benchmark: str) -> Sequence[ValidatorSpec]:
    """Whether a candidate is a design."""
    return [DESIGN] if benchmark == BENCHMARK else []


@hookimpl
def evalkit_executors(benchmark: str) -> Sequence[ExecutorSpec]:
    """Rigid bodies and judges."""
    return EXECUTORS if benchmark == BENCHMARK else []


@hookimpl
def evalkit_metrics(benchmark: str) -> Sequence[MetricSpec]:
    """The twelve metrics and the four levels."""
    return METRICS if benchmark == BENCHMARK else []


@hookimpl
def evalkit_views(benchmark: str) -> Sequence[ViewSpec]:
    """Pictures of an episode, tables of a run."""
    return VIEWS if benchmark == BENCHMARK else []


@hookimpl
def evalkit_agents() -> Sequence[AgentSpec]:
    """Agents that need no model, and one that plays by the release's rules for text."""
    return AGENTS


@hookimpl
def evalkit_data_sources() -> Sequence[DataSourceSpec]:
    """The official tasks."""
    return [
        DataSourceSpec(
            name=BENCHMARK,
            target="evalkit_lmbuild.tasks.pulling:pull",
            summary="the official tasks with their parts, photos and references",
            licence="CC BY-NC-SA 4.0 (Lumos-Jiateng/LMBuild)",
            url="https://codeload.github.com/Lumos-Jiateng/LMBuild/zip/"
            "fa29db30b63cf73f63a595e1d6a33fb616640856",
        )
    ]


@hookimpl
def evalkit_commands() -> Sequence[CommandSpec]:
    """`evalkit lmbuild …`."""
    summary = "Tables, figures, agreement of engines, calibration."
    return [CommandSpec("lmbuild", "evalkit_lmbuild.cli:command", summary)]
