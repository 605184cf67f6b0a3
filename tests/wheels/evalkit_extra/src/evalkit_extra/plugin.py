"""What extra offers to evalkit, all of it for polybridge."""

from __future__ import annotations

from collections.abc import Sequence

from evalkit.hookspecs import AgentSpec, ExecutorSpec, MetricSpec, ValidatorSpec, hookimpl

BENCHMARK = "polybridge"


@hookimpl
def evalkit_validators(benchmark: str) -> Sequence[ValidatorSpec]:
    """A rule."""
    if benchmark != BENCHMARK:
        return []
    return [ValidatorSpec("extra.no_steel", "evalkit_extra.rules:NoSteel", "1", "no steel at all")]


@hookimpl
def evalkit_executors(benchmark: str) -> Sequence[ExecutorSpec]:
    """A check of statics."""
    if benchmark != BENCHMARK:
        return []
    return [
        ExecutorSpec("extra.static", "evalkit_extra.static:CountingRule", "1", "counts members and joints")
    ]


@hookimpl
def evalkit_metrics(benchmark: str) -> Sequence[MetricSpec]:
    """A metric."""
    if benchmark != BENCHMARK:
        return []
    return [
        MetricSpec(
            "extra.members",
            "evalkit_extra.members:Members",
            "Members",
            "number of members of the last bridge",
            kind="mean",
            denominator="episodes with a bridge",
            not_applicable="no bridge was proposed",
            missing="omit",
            higher_is_better=False,
            unit="",
        )
    ]


@hookimpl
def evalkit_agents() -> Sequence[AgentSpec]:
    """An agent."""
    return [
        AgentSpec("extra-flat", "evalkit_extra.flat:FlatAgent", "a bare deck, once", benchmarks=(BENCHMARK,))
    ]
