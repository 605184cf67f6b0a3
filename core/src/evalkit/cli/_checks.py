"""What the figures of a run have to meet, and JUnit files: what `run` and `report` share."""

from __future__ import annotations

import functools
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from evalkit.cli._common import FiniteRange
from evalkit.errors import UsageError

if TYPE_CHECKING:
    from evalkit.plugins import Plugins
    from evalkit.report.regression import Baseline
    from evalkit.report.systems import System
    from evalkit.report.thresholds import Problem
    from evalkit.run.plan import Plan
    from evalkit.store.reader import RunReader

FAIL_UNDER = "--fail-under"

_OPTIONS = (
    click.option(
        FAIL_UNDER,
        "fail_under",
        multiple=True,
        metavar="METRIC>=X",
        help="Exit with 1 if an agent's figure doesn't meet this (also >, <=, <); METRIC is an id or label. "
        "Lost episodes count against it.",
    ),
    click.option(
        "--baseline",
        "baselines",
        multiple=True,
        metavar="RUN",
        help="Exit with 1 if a metric is worse than in this earlier run of the same protocol and physics; "
        "where several suites are played, give one for each.",
    ),
    click.option(
        "--max-regression",
        type=FiniteRange(min=0),
        metavar="X",
        help="How much worse than --baseline is allowed: 0.02 is two percentage points, or 2 % of a figure "
        "that is no percentage (default: 0).",
    ),
    click.option(
        "--junitxml",
        type=click.Path(path_type=Path, dir_okay=False),
        metavar="FILE",
        help="Write the episodes as JUnit XML: one test case each.",
    ),
)


@dataclass(frozen=True, slots=True)
class CheckOptions:
    """The options as given."""

    fail_under: tuple[str, ...] = ()
    baselines: tuple[str, ...] = ()
    max_regression: float | None = None
    junitxml: Path | None = None


def check_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Give a verb the four options, which it receives together as `checks`."""

    @functools.wraps(function)
    def bundled(
        *,
        fail_under: tuple[str, ...],
        baselines: tuple[str, ...],
        max_regression: float | None,
        junitxml: Path | None,
        **others: Any,
    ) -> Any:
        return function(checks=CheckOptions(fail_under, baselines, max_regression, junitxml), **others)

    for option in reversed(_OPTIONS):
        bundled = option(bundled)
    return bundled


class Checks:
    """Thresholds and baselines, read before anything is played."""

    def __init__(self, options: CheckOptions | None = None, root: Path = Path("runs")) -> None:
        """`root` is where baselines are looked for by name. Raises UsageError or RecordError."""
        from evalkit.report.regression import Baseline
        from evalkit.report.thresholds import Threshold
        from evalkit.store.reader import RunReader, find_run

        options = options or CheckOptions()
        if options.max_regression is not None and not options.baselines:
            raise UsageError("--max-regression needs the run to compare with: --baseline RUN")
        self.thresholds = [Threshold.parse(text) for text in options.fail_under]
        self.baselines = [Baseline(RunReader(find_run(name, root))) for name in options.baselines]
        self.allowed = options.max_regression or 0.0

    def __bool__(self) -> bool:
        """Whether there is anything to check beyond a suite's own thresholds."""
        return bool(self.thresholds or self.baselines)

    def admit_plans(self, plans: Sequence[Plan], plugins: Plugins) -> None:
        """Find what can't be checked before episode 1: unknown metrics, baselines of another protocol, or
        played with other executors' constants or tasks than those installed.
        """
        from evalkit.canonical import canonical_json
        from evalkit.report.thresholds import Threshold, check_names
        from evalkit.run.scoring import metric_specs

        suites = [
            list(metric_specs(plugins, plan.suite.benchmark, list(plan.suite.metrics)).values())
            for plan in plans
        ]
        check_names(self.thresholds, suites, FAIL_UNDER)
        for plan, specs in zip(plans, suites, strict=True):
            own = [Threshold.parse(text) for text in plan.suite.thresholds]
            check_names(own, [specs], f"thresholds of suite {plan.suite.name}")
            agents = [agent.id for agent in plan.setup.agents]
            protocol = json.loads(canonical_json(plan.suite.protocol()))
            baseline = self._baseline(plan.suite.name, plan.suite.protocol_hash, protocol)
            if baseline is not None:
                baseline.check(agents, [task.id for task in plan.tasks])
                baseline.check_installed(plan, plugins)

    def admit_runs(self, readers: Sequence[RunReader], plugins: Plugins) -> None:
        """The same for runs that were played before."""
        from evalkit.report.compare import check_protocols
        from evalkit.report.run_report import protocol_metrics
        from evalkit.report.thresholds import check_names

        check_names(self.thresholds, [protocol_metrics(reader, plugins) for reader in readers], FAIL_UNDER)
        for reader in readers:
            manifest = reader.manifest
            baseline = self._baseline(reader.name, manifest["protocol_hash"], manifest["protocol"])
            if baseline is not None:
                baseline.check([agent["id"] for agent in manifest["agents"]], manifest["tasks"])
                check_protocols(baseline.reader, reader)

    def problems(
        self, reader: RunReader, systems: Iterable[System], plugins: Plugins, *, own: bool
    ) -> list[Problem]:
        """What the agents of a run don't meet; with `own`, also the thresholds of its suite."""
        from evalkit.report.run_report import protocol_metrics
        from evalkit.report.thresholds import Threshold, missed_thresholds

        systems = [system for system in systems if system.run == reader.name]
        specs = protocol_metrics(reader, plugins)
        of_suite = reader.manifest["suite"].get("thresholds", []) if own else []
        thresholds = dict.fromkeys([*map(Threshold.parse, of_suite), *self.thresholds])
        problems = [p for system in systems for p in missed_thresholds(system, specs, list(thresholds))]
        baseline = self._baseline(reader.name, reader.manifest["protocol_hash"], reader.manifest["protocol"])
        if baseline is not None:
            problems += baseline.regressions(reader, systems, plugins, self.allowed)
        return problems

    def _baseline(self, name: str, protocol_hash: str, protocol: Mapping[str, Any]) -> Baseline | None:
        """The baseline of that protocol, None without any; UsageError if none or several fit."""
        from evalkit.report.compare import protocol_differences

        if not self.baselines:
            return None
        fitting = [b for b in self.baselines if b.reader.manifest["protocol_hash"] == protocol_hash]
        if len(fitting) > 1:
            raise UsageError(f"{name} has several baselines: {', '.join(b.reader.name for b in fitting)}")
        if not fitting:
            tried = "; ".join(
                f"{b.reader.name} differs in {protocol_differences(b.reader.manifest['protocol'], protocol)}"
                for b in self.baselines
            )
            raise UsageError(f"no baseline has the protocol of {name} ({protocol_hash[:12]}): {tried}")
        return fitting[0]


def say_problems(problems: Iterable[Problem]) -> None:
    """One line each on stderr."""
    from evalkit.cli._progress import say

    for problem in problems:
        say(f"{problem.kind}: {problem}")


def write_junit(path: Path, readers: Sequence[RunReader], plugins: Plugins) -> None:
    """Write runs as one JUnit file, in one step. StorageError if that can't be done."""
    from evalkit.report.junit import junit_xml
    from evalkit.store.writer import write_atomically

    write_atomically(path, [junit_xml(readers, plugins)])
