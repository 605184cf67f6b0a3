"""What lmbuild checks, runs and measures, as descriptors: names, versions and where the code is."""

from __future__ import annotations

from evalkit.hookspecs import AgentSpec, ExecutorSpec, MetricSpec, ValidatorSpec, ViewSpec

BENCHMARK = "lmbuild"

DESIGN = ValidatorSpec(
    id="lmbuild.design",
    target="evalkit_lmbuild.validator:DesignValidator",
    version="1",
    summary="loadable, finite, references resolve, limits kept",
)

EXECUTORS: list[ExecutorSpec] = []
"""Rigid bodies and judges."""

METRICS: list[MetricSpec] = []
"""The twelve metrics and the four levels."""

VIEWS: list[ViewSpec] = []
"""Pictures of an episode, tables of a run."""

AGENTS = [
    AgentSpec(
        name="reference",
        target="evalkit_lmbuild.reference:ReferenceAgent",
        summary="builds the object's reference by tool calls: the upper bound",
        benchmarks=(BENCHMARK,),
    )
]
