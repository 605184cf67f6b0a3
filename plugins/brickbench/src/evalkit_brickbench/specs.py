"""What brickbench checks, runs and measures, as descriptors: names, versions and where the code is."""

from __future__ import annotations

from evalkit.hookspecs import ExecutorSpec, MetricSpec, ValidatorSpec

BUILD = ValidatorSpec(
    id="brickbench.build",
    target="evalkit_brickbench.validator:BuildValidator",
    version="1",
    summary="known parts, the task's part rules, no collisions",
)
STABILITY = ExecutorSpec(
    id="brickbench.stability",
    target="evalkit_brickbench.executor_stability:StabilityExecutor",
    version="1",
    summary="every component stays where it is: a screen of linear programs, then rigid bodies",
)

METRICS: tuple[MetricSpec, ...] = (
    MetricSpec(
        "brickbench.valid",
        "evalkit_brickbench.metrics:Valid",
        "Valid",
        "the build obeys the part rules, is free of collisions and stands",
        denominator="episodes with a result",
    ),
    MetricSpec(
        "brickbench.stable",
        "evalkit_brickbench.metrics:Stable",
        "Stable",
        "a build without collisions whose components all stay where they are",
        denominator="episodes with a build that obeys the part rules and is free of collisions",
        not_applicable="the build was refused before, or there is none",
        missing="omit",
    ),
    MetricSpec(
        "brickbench.parts",
        "evalkit_brickbench.metrics:Parts",
        "Parts",
        "mean number of parts",
        kind="mean",
        denominator="episodes with a build that was looked at for stability",
        not_applicable="the build was refused before, or there is none",
        missing="omit",
        unit="",
    ),
    MetricSpec(
        "brickbench.components",
        "evalkit_brickbench.metrics:ComponentCount",
        "Components",
        "mean number of sets of parts that hang together",
        kind="mean",
        denominator="episodes with a build that was looked at for stability",
        not_applicable="the build was refused before, or there is none",
        missing="omit",
        unit="",
        higher_is_better=False,
    ),
)
