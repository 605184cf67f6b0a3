"""Systems: an agent under a protocol, with what all its episodes scored.

Runs of one agent under one protocol are one system. Where the protocol isn't that of the reported results,
its deviations are part of the system's name.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from evalkit import Episode, Score, Task, UsageError
from evalkit.report import RecordedRun
from evalkit_lmbuild import metrics
from evalkit_lmbuild.environment import CREATES_ALONE, ROUND_BUDGETS
from evalkit_lmbuild.metrics import of_one_system
from evalkit_lmbuild.scoring.levels import LEVELS, METRICS
from evalkit_lmbuild.settings import MAX_ROUNDS, TOOL_CALLS, BuildSettings
from evalkit_lmbuild.specs import BENCHMARK
from evalkit_lmbuild.specs import METRICS as SPECS

FAMILIES = ("closed", "open", "domain-specific", "offline", "unstated")
"""Kinds of systems, in the order of tables: models behind an interface, models with open weights, generators
made for the task, agents without a model, and what nobody has said of."""
OFFLINE = ("boxes", "reference")
TITLES = {spec.id.removeprefix(f"{BENCHMARK}."): spec.label for spec in SPECS}
"""Titles of metrics and levels by their short names."""

Played = tuple[Episode, Task]


@dataclass(frozen=True, eq=False)
class System:
    """An agent under a protocol.

    `settings` are those of the protocol, `limits` what its limits deviate in. `played` are the episodes with
    a result, `missing` counts the planned ones without. Scores are those of `played`, in their order.
    """

    agent: str
    settings: BuildSettings
    limits: str
    family: str
    played: tuple[Played, ...] = ()
    missing: int = 0
    _levels: dict[str, Score] = field(default_factory=dict, repr=False)

    @property
    def name(self) -> str:
        """The agent with the deviations of its protocol."""
        notes = ", ".join([*deviations(self.settings), *([self.limits] if self.limits else [])])
        return f"{self.agent} ({notes})" if notes else self.agent

    @cached_property
    def scores(self) -> dict[str, tuple[Score, ...]]:
        """Scores by metric, one per episode."""
        measures = {name: _metric(name)(self.settings.model_dump(mode="json")) for name in METRICS}
        return {
            name: tuple(measure.measure(episode, task) for episode, task in self.played)
            for name, measure in measures.items()
        }

    def cell(self, metric: str) -> Score:
        """A metric's mean over episodes; `degraded` if one of its scores is, None with the usual status."""
        scores = self.scores[metric]
        known = [score.value for score in scores if score.value is not None]
        statuses = [score.status for score in scores]
        for status in ("unscored", "degraded"):
            if status in statuses and (known or status == "unscored"):
                value = None if status == "unscored" else sum(known) / len(known)
                return Score(value, status)
        if known:
            return Score(sum(known) / len(known))
        return Score(None, statuses[0] if statuses else "unscored")

    def level(self, level: str) -> Score:
        """A level with its bootstrap interval over tasks."""
        if level not in self._levels:
            self._levels[level] = _metric(level)(self.settings.model_dump(mode="json")).measure_run(
                self.played
            )
        return self._levels[level]

    def of_family(self, family: str) -> System:
        """The same system on the objects of one mechanism family alone."""
        chosen = tuple(each for each in self.played if each[1].hidden["family"] == family)
        return System(self.agent, self.settings, self.limits, self.family, chosen)

    def by_task(self, name: str) -> dict[str, float]:
        """A metric by task, mean over epochs; a level as the mean of its metrics that apply to the task."""
        metrics_of = LEVELS.get(name, (name,))
        values: dict[str, dict[str, list[float]]] = {}
        for metric in metrics_of:
            for (_, task), score in zip(self.played, self.scores[metric], strict=True):
                if score.value is not None:
                    values.setdefault(task.id, {}).setdefault(metric, []).append(score.value)
        return {task: _mean(map(_mean, found.values())) for task, found in values.items()}


def deviations(settings: BuildSettings) -> list[str]:
    """What a protocol deviates in from that of the reported results, in short."""
    reported = BuildSettings()
    found = []
    for name in BuildSettings.model_fields:
        value = getattr(settings, name)
        if value != getattr(reported, name):
            stated = "own maps" if name == "calibration" else value
            found.append(value if name == "brief" else f"{name.replace('_', ' ')} {stated}")
    return found


def systems_of(runs: Sequence[RecordedRun], families: Mapping[str, str] | None = None) -> list[System]:
    """The systems of some runs by kind, otherwise in the order of runs and their agents.

    `families` says of what kind an agent is, by the agent's id. UsageError for a kind that doesn't exist, for
    an agent that no run has, and for a run that is given twice, also by a copy of it.
    """
    _check_runs(runs)
    stated = dict(families or {})
    gathered: dict[tuple[str, str, str], tuple[BuildSettings, list[Played], int]] = {}
    for run in runs:
        protocol = run.manifest["protocol"]
        settings = BuildSettings.model_validate(protocol["settings"])
        limits = _limits(protocol["limits"], settings)
        for agent in [entry["id"] for entry in run.manifest["agents"]]:
            played = of_one_system([each for each in run.played if each[0].key.agent == agent])
            missing = sum(key.agent == agent for key, _ in run.missing)
            key = (agent, settings.model_dump_json(), limits)
            _, before, lost = gathered.get(key, (settings, [], 0))
            gathered[key] = (settings, before + played, lost + missing)
    _check(stated, {agent for agent, _, _ in gathered})
    found = [
        System(agent, settings, limits, stated.get(agent, _usual(agent)), tuple(played), missing)
        for (agent, _, limits), (settings, played, missing) in gathered.items()
    ]
    return sorted(found, key=lambda system: FAMILIES.index(system.family))


def _check_runs(runs: Sequence[RecordedRun]) -> None:
    seen: dict[tuple[str, str, str], str] = {}
    for run in runs:
        identity = (run.name, run.manifest["created"], str(run.manifest.get("shard")))
        folder = str(run.reader.folder)
        if identity in seen:
            raise UsageError(
                f"the run {run.name} is given twice ({seen[identity]} and {folder}); give it once"
            )
        seen[identity] = folder


def _check(stated: Mapping[str, str], agents: set[str]) -> None:
    for agent, family in stated.items():
        if family not in FAMILIES:
            raise UsageError(f"{agent} is no {family!r} system; there are {', '.join(FAMILIES)}")
        if agent not in agents:
            raise UsageError(f"no run has an agent {agent!r}; there are {', '.join(sorted(agents))}")


def _usual(agent: str) -> str:
    return "offline" if agent in OFFLINE else "unstated"


def _limits(limits: Mapping[str, float], settings: BuildSettings) -> str:
    """Limits other than the suites' under such settings."""
    budgets = {name: float(most) for name, most in ROUND_BUDGETS.items()}
    if settings.tier == "C":
        budgets["creates"] = CREATES_ALONE
    elif settings.tier == "A":
        del budgets["creates"]
    usual = {f"meter:{name}": most for name, most in budgets.items()}
    usual["tool_calls"] = TOOL_CALLS * min(settings.rounds, MAX_ROUNDS)
    other = {name: limits.get(name) for name in {*usual, *limits} if limits.get(name) != usual.get(name)}
    return ", ".join(
        f"{name.removeprefix('meter:').replace('_', ' ')} {'unlimited' if most is None else f'{most:g}'}"
        for name, most in sorted(other.items())
    )


def _metric(name: str) -> Any:
    """The class of a metric or level by its short name."""
    target = next(spec.target for spec in SPECS if spec.id == f"{BENCHMARK}.{name}")
    return getattr(metrics, target.rpartition(":")[2])


def _mean(values: Iterable[float]) -> float:
    known = list(values)
    return sum(known) / len(known)
