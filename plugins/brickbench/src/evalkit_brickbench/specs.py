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
VQA = ExecutorSpec(
    id="brickbench.vqa",
    target="evalkit_brickbench.judges.vqa:QuestionJudge",
    version="1",
    summary="a model answers yes or no to the prompt's questions about eight pictures",
    needs_model=True,
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
    MetricSpec(
        "brickbench.vqa",
        "evalkit_brickbench.metrics:Vqa",
        "VQA",
        "share of the prompt's questions that hold, by a judge; mean over builds",
        kind="mean",
        denominator="episodes with a build that was judged",
        not_applicable="there is no build, or no reply of the judge could be used",
    ),
    MetricSpec(
        "brickbench.vqa_zero_filled",
        "evalkit_brickbench.metrics:VqaZeroFilled",
        "VQA, missing 0",
        "the same with 0 for every episode that left no build",
        kind="mean",
        scope="run",
        denominator="episodes that were judged or left no build",
    ),
)
