"""Scores from records: never plays, never executes, never judges; the same records give the same bytes."""

from __future__ import annotations

import json
import logging
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evalkit.errors import END_POLICIES, EndReason, RecordError, UnknownNameError
from evalkit.hookspecs import MetricSpec
from evalkit.plugins import Plugins, resolve
from evalkit.run.plan import load_benchmark_tasks, tasks_sha256
from evalkit.store.reader import RunReader
from evalkit.store.writer import write_atomically
from evalkit.types import Episode, EpisodeKey, Score, Task

if TYPE_CHECKING:
    from evalkit.run.plan import Plan

_log = logging.getLogger("evalkit")

#: Up to so many agents, progress shows a figure for each.
MOST_APART = 3
#: Characters of an agent's name in progress.
SHOWN_OF_AGENT = 32


@dataclass(slots=True)
class RunScores:
    """Every score of a run: per metric and episode, and per run-wide metric and agent.

    `notices` say what makes the scores doubtful, a sentence each.
    """

    specs: dict[str, MetricSpec]
    tasks: dict[str, Task]
    episode_scores: dict[str, dict[EpisodeKey, Score]] = field(default_factory=dict)
    run_scores: dict[str, dict[str, Score]] = field(default_factory=dict)
    unscored: dict[EpisodeKey, str] = field(default_factory=dict)
    notices: list[str] = field(default_factory=list)


def score_run(reader: RunReader, plugins: Plugins, metrics: Iterable[str] | None = None) -> RunScores:
    """Score a run from its record.

    `metrics` defaults to those of the run's protocol. A metric that raises leaves the episode `unscored`.
    Tasks that aren't those that were played are noticed and logged.
    """
    protocol = reader.manifest["protocol"]
    benchmark, settings = benchmark_of(reader), protocol["settings"]
    specs = metric_specs(plugins, benchmark, list(protocol["metrics"] if metrics is None else metrics))
    tasks = {t.id: t for t in load_benchmark_tasks(plugins, benchmark, protocol["tasks"], settings)}
    scores = RunScores(specs, tasks)
    for change in changed_tasks(reader, recorded_tasks(reader, tasks.values())):
        scores.notices.append(f"{reader.name} is scored by other tasks than it played: {change}")
        _log.warning("%s", scores.notices[-1])
    scorers = {id: resolve(spec.target, plugins.origin(spec).plugin)(settings) for id, spec in specs.items()}
    per_episode = [id for id, spec in specs.items() if spec.scope == "episode"]
    per_run = [id for id, spec in specs.items() if spec.scope == "run"]
    scores.episode_scores = {id: {} for id in per_episode}
    scores.run_scores = {id: {} for id in per_run}
    by_agent: dict[str, list[tuple[Episode, Task]]] = {agent["id"]: [] for agent in reader.manifest["agents"]}
    for key, episode in scorable_episodes(reader, scores.unscored):
        task = tasks.get(key.task)
        if task is None:
            scores.unscored[key] = f"the installed {benchmark} has no task {key.task!r}"
            continue
        for id in per_episode:
            scores.episode_scores[id][key] = _measure(scorers[id], id, episode, task)
        if per_run:
            by_agent.setdefault(key.agent, []).append((episode, task))
    for id in per_run:
        for agent, played in by_agent.items():
            scores.run_scores[id][agent] = _measure_run(scorers[id], id, played)
    return scores


def benchmark_of(reader: RunReader) -> str:
    """The id of the benchmark that a run played."""
    return str(next(iter(reader.manifest["protocol"]["benchmark"])))


def recorded_tasks(reader: RunReader, tasks: Iterable[Task]) -> tuple[Task, ...]:
    """Those of the tasks that a run names, in its order."""
    by_id = {task.id: task for task in tasks}
    return tuple(by_id[name] for name in reader.manifest["tasks"] if name in by_id)


def changed_tasks(reader: RunReader, tasks: Sequence[Task]) -> Iterator[str]:
    """Whether the tasks of a recorded run (see `recorded_tasks`) are others here, a phrase."""
    missing = len(reader.manifest["tasks"]) - len(tasks)
    if missing:
        yield f"{missing} of its tasks don't exist"
    elif tasks_sha256(tasks) != reader.manifest["tasks_sha256"]:
        yield "the contents of its tasks differ"


def metric_specs(plugins: Plugins, benchmark: str, names: list[str]) -> dict[str, MetricSpec]:
    """The specs of the named metrics, in order; UnknownNameError for one that isn't installed."""
    known = plugins.metrics(benchmark)
    for name in names:
        if name not in known:
            raise UnknownNameError("metric", name, known)
    return {name: known[name] for name in names}


def scorable_episodes(
    reader: RunReader, unscored: dict[EpisodeKey, str]
) -> Iterable[tuple[EpisodeKey, Episode]]:
    """Finished episodes that have a result, in the plan's order; damaged ones are named in `unscored`."""
    index = reader.index()
    for key in reader.planned():
        line = index.get(key)
        if line is None or not END_POLICIES[EndReason(line["end"]["reason"])].scored:
            continue
        try:
            yield key, reader.episode(key)
        except RecordError as error:
            unscored[key] = str(error)


def _measure(scorer: Any, id: str, episode: Episode, task: Task) -> Score:
    try:
        score: Score = scorer.measure(episode, task)
    except Exception as error:  # noqa: BLE001 - metrics raise anything
        _log.warning("metric %s failed on %s: %s", id, episode.key.text(), error, exc_info=True)
        return Score(None, "unscored", {"error": f"{type(error).__name__}: {error}"})
    return score


def _measure_run(scorer: Any, id: str, played: list[tuple[Episode, Task]]) -> Score:
    try:
        score: Score = scorer.measure_run(played)
    except Exception as error:  # noqa: BLE001 - metrics raise anything
        _log.warning("metric %s failed: %s", id, error, exc_info=True)
        return Score(None, "unscored", {"error": f"{type(error).__name__}: {error}"})
    return score


def scores_text(scores: RunScores) -> Iterator[str]:
    """Scores as the text of a JSON object, piece by piece: a line per episode, in the plan's order."""
    versions = {id: spec.version for id, spec in scores.specs.items()}
    yield f'{{"metrics": {json.dumps(versions)},\n"episodes": ['
    keys = dict.fromkeys(key for by_key in scores.episode_scores.values() for key in by_key)
    for number, key in enumerate(keys):
        found = {id: _score_fields(by[key]) for id, by in scores.episode_scores.items() if key in by}
        line = json.dumps({"key": key.as_dict(), "scores": found}, allow_nan=False)
        yield f"{',' if number else ''}\n{line}"
    run = {
        id: {agent: _score_fields(score) for agent, score in by_agent.items()}
        for id, by_agent in scores.run_scores.items()
    }
    unscored = [{"key": key.as_dict(), "why": why} for key, why in scores.unscored.items()]
    yield f'],\n"run": {json.dumps(run, allow_nan=False)},\n"unscored": {json.dumps(unscored)}}}\n'


def keep_scores(folder: Path, scores: RunScores) -> Path:
    """Write the scores beside the record (`scores/scores.json`), in one step."""
    path = folder / "scores" / "scores.json"
    write_atomically(path, (piece.encode() for piece in scores_text(scores)))
    return path


def _score_fields(score: Score) -> Mapping[str, Any]:
    fields = {
        "value": score.value,
        "status": score.status,
        "numerator": score.numerator,
        "denominator": score.denominator,
        "low": score.low,
        "high": score.high,
        "evidence": dict(score.evidence),
    }
    return {k: v for k, v in fields.items() if k in ("value", "status") or v not in (None, {})}


class RunningScore:
    """The first metric of a suite while its run goes on, for progress only; never raises."""

    def __init__(self, plan: Plan, plugins: Plugins, reader: RunReader) -> None:
        self._reader = reader
        self._tasks = {task.id: task for task in plan.tasks}
        name = plan.suite.metrics[0]
        self._spec = metric_specs(plugins, plan.suite.benchmark, [name])[name]
        scorer = resolve(self._spec.target, plugins.origin(self._spec).plugin)
        self._scorer = scorer(dict(plan.suite.settings)) if self._spec.scope == "episode" else None
        self._agents = len(plan.setup.agents)
        self._once = plan.epochs == 1
        self._counts: Counter[str] = Counter()
        self._totals: defaultdict[str, float] = defaultdict(float)

    def after(self, key: EpisodeKey, bodies: Sequence[str]) -> str:
        """The metric in a few words, with this episode, given by its events, counted in.

        Up to `MOST_APART` agents have a figure each, with Wilson's interval if it is a proportion and every
        task is played once; more are taken together.
        """
        if self._scorer is None or key.task not in self._tasks:
            return ""
        events = [json.loads(body) for body in bodies]
        episode = Episode(key, events, events[-1], self._reader.load)
        score = _measure(self._scorer, self._spec.id, episode, self._tasks[key.task])
        if score.value is not None:
            name = f"{_short(key.agent)} " if 1 < self._agents <= MOST_APART else ""
            self._counts[name] += 1
            self._totals[name] += score.value
        figures = [f"{name}{self._figure(self._totals[name], n)}" for name, n in sorted(self._counts.items())]
        return f"{self._spec.label} {', '.join(figures)}" if figures else ""

    def _figure(self, total: float, count: int) -> str:
        from evalkit.stats import wilson

        if self._spec.kind != "proportion":
            return f"{total / count:.3g}"
        figure = f"{total / count:.1%} ({total:g}/{count})"
        if self._agents > MOST_APART or not self._once or not 0 <= total <= count:
            return figure
        interval = wilson(int(total), count)
        low, high = (100 * (bound or 0.0) for bound in (interval.low, interval.high))
        return f"{figure} [{low:.0f}, {high:.0f}]"


def _short(agent: str) -> str:
    """An agent's name as progress has room for it; what tells models apart is at its end."""
    return agent if len(agent) <= SHOWN_OF_AGENT else f"…{agent[-SHOWN_OF_AGENT:]}"
