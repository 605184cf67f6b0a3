"""What polybridge checks, runs, measures and shows, as descriptors: names, versions and where the code is."""

from __future__ import annotations

from typing import Any

from evalkit.hookspecs import ExecutorSpec, MetricSpec, ValidatorSpec, ViewSpec

RULES = ValidatorSpec(
    id="polybridge.rules",
    target="evalkit_polybridge.validator:RulesValidator",
    version="1",
    summary="anchors, materials, lengths, budget, connectivity, clearance",
)
EMBEDDED = ExecutorSpec(
    id="polybridge.embedded",
    target="evalkit_polybridge.executor_embedded:EmbeddedExecutor",
    version="1",
    summary="deterministic truss physics with vehicles, 12 s",
)
NATIVE = ExecutorSpec(
    id="polybridge.native",
    target="evalkit_polybridge.native.executor:NativeExecutor",
    version="1",
    summary="the real game on this machine, driven through its window (needs --calibration)",
    exclusive=True,
    warm="evalkit_polybridge.native.executor:prepare",
    release="evalkit_polybridge.native.executor:release",
)

_EVERY_EPISODE = "episodes with a result"
_SUCCESSES = "successful episodes"


def _proportion(name: str, target: str, label: str, summary: str, **rest: Any) -> MetricSpec:
    return MetricSpec(f"polybridge.{name}", f"evalkit_polybridge.metrics:{target}", label, summary, **rest)


def _mean(name: str, target: str, label: str, summary: str, **rest: Any) -> MetricSpec:
    """A mean in which only episodes that were measured count: a missing one spent nothing anybody knows."""
    fixed: dict[str, Any] = {"kind": "mean", "cluster": "family", "missing": "omit", "unit": ""}
    fixed["higher_is_better"] = False
    return _proportion(name, target, label, summary, **(fixed | rest))


def _total(name: str, target: str, label: str, summary: str) -> MetricSpec:
    fixed: dict[str, Any] = {"kind": "total", "missing": "omit", "unit": "", "higher_is_better": False}
    return _proportion(name, target, label, summary, denominator=_EVERY_EPISODE, **fixed)


def _by_call(name: str, target: str, label: str, what: str) -> tuple[MetricSpec, ...]:
    """The metric at 1, 2 and 3 calls."""
    calls = {1: "the first call", 2: "one of the first two calls", 3: "one of the first three calls"}
    return tuple(
        _proportion(
            f"{name}_at_{k}", f"{target}{k}", f"{label}@{k}", f"{calls[k]} {what}", denominator=_EVERY_EPISODE
        )
        for k in (1, 2, 3)
    )


COST_RATIO = _mean(
    "cost_ratio",
    "CostRatio",
    "Cost ÷ strict budget",
    "mean material cost of the bridges that were crossed as a share of the level's strict budget, "
    "whatever budget was played",
    denominator=_SUCCESSES,
    not_applicable="the episode did not succeed",
)

METRICS: tuple[MetricSpec, ...] = (
    *_by_call("success", "SuccessAt", "Success", "gave a bridge that every vehicle crossed"),
    *_by_call("valid", "ValidAt", "Valid", "gave a bridge that obeys every rule and entered physics"),
    _proportion(
        "recovery_at_3",
        "RecoveryAt3",
        "Recovery@3",
        "a later call succeeded after a bridge had failed in physics",
        denominator="episodes with a failed run before call 3 and before physics attempt 3",
        not_applicable="no run failed before call 3: nothing to recover from, or no call left to do it",
        missing="omit",
    ),
    _proportion(
        "first_attempt_success",
        "FirstAttemptSuccess",
        "First run succeeds",
        "the first bridge that entered physics was crossed, at whichever call",
        denominator="episodes that reached physics",
        not_applicable="no call gave a legal bridge",
        missing="omit",
    ),
    _proportion(
        "reached_physics",
        "ReachedPhysics",
        "Reached physics",
        "at least one call gave a bridge that obeys every rule",
        denominator=_EVERY_EPISODE,
    ),
    _mean(
        "calls",
        "Calls",
        "Calls",
        "mean number of calls of an episode, refused ones too",
        denominator=_EVERY_EPISODE,
    ),
    _mean(
        "physics_attempts",
        "PhysicsAttempts",
        "Physics attempts",
        "mean number of bridges of an episode that were run",
        denominator=_EVERY_EPISODE,
    ),
    _mean(
        "calls_of_successes",
        "CallsOfSuccesses",
        "Calls to success",
        "mean number of calls up to the one that succeeded",
        denominator=_SUCCESSES,
        not_applicable="the episode did not succeed",
    ),
    _mean(
        "cost_of_successes",
        "CostOfSuccesses",
        "Cost of successes",
        "mean material cost of the bridges that were crossed",
        denominator=_SUCCESSES,
        not_applicable="the episode did not succeed",
        unit="$",
    ),
    COST_RATIO,
    _total(
        "validation_repair_calls",
        "ValidationRepairCalls",
        "Validation-repair calls",
        "calls that ended in a parse, geometry or validation failure",
    ),
    _total(
        "physics_repair_calls",
        "PhysicsRepairCalls",
        "Physics-repair calls",
        "calls that were made in answer to the feedback on a failed run",
    ),
)

VIEWS: tuple[ViewSpec, ...] = (
    ViewSpec(
        "polybridge.breakdown",
        "evalkit_polybridge.tables:breakdown",
        "results by agent and condition, suite and group, family and tag; what designs fail on",
        scope="run",
    ),
    ViewSpec(
        "polybridge.pictures",
        "evalkit_polybridge.views:pictures",
        "every call's design in the editor and as files; the contact sheet of every run",
    ),
)
