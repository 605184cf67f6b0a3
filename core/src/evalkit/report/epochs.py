"""Repeated attempts: how often one of k epochs of a task succeeds, and how often all of them do."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from evalkit.hookspecs import MetricSpec
from evalkit.report.aggregate import BOOTSTRAP_SEED
from evalkit.report.table import Cell, Column, Estimate, Table, listed
from evalkit.run.scoring import RunScores
from evalkit.stats import TaskAverage, bootstrap_mean, mean_pass_at_k, mean_pass_hat_k
from evalkit.store.reader import RunReader
from evalkit.types import EpisodeKey, Score

#: Up to here every k has a row, beyond it only powers of two and the largest.
EVERY_K = 5


def pass_table(reader: RunReader, scores: RunScores) -> Table | None:
    """pass@k and pass^k of the suite's first metric, per agent; None unless the run has several epochs, that
    metric is a proportion of episodes and among the scores.

    Attempts without a value (lost, say) are no attempts; tasks left with fewer than k are left out, counted
    and named.
    """
    epochs: int = reader.manifest["epochs"]
    first = next(iter(reader.manifest["protocol"]["metrics"]), "")
    spec = scores.specs.get(first)
    if epochs < 2 or spec is None or spec.kind != "proportion" or spec.scope != "episode":
        return None
    agents = [agent["id"] for agent in reader.manifest["agents"]]
    columns = [Column("k")]
    rows: list[list[Cell]] = [[str(k)] for k in _shown(epochs)]
    notes = []
    for agent in agents:
        counts = _counts(
            [key for key in reader.planned() if key.agent == agent], scores.episode_scores[first]
        )
        prefix = f"{agent}: " if len(agents) > 1 else ""
        columns += [Column(f"{prefix}pass@k"), Column(f"{prefix}pass^k")]
        for row, k in zip(rows, _shown(epochs), strict=True):
            averages = mean_pass_at_k(counts, k), mean_pass_hat_k(counts, k)
            row += [_cell(average, spec, scores) for average in averages]
            if left_out := averages[0].skipped:
                notes.append(
                    f"{prefix}k={k} leaves out {len(left_out)} of {len(counts)} tasks, "
                    f"which have fewer than {k} attempts with a value: {listed(left_out)}"
                )
    notes.append("pass@k: one of k attempts at a task succeeds; pass^k: all of k do (means over tasks)")
    notes.append(f"[low, high] is the 95 % interval: {_method(spec)}")
    title = f"{spec.label} in k of {epochs} epochs"
    return Table("pass_at_k", title, tuple(columns), tuple(map(tuple, rows)), "\n".join(notes), headline=True)


def _shown(epochs: int) -> list[int]:
    return [k for k in range(1, epochs + 1) if k <= EVERY_K or k & (k - 1) == 0 or k == epochs]


def _counts(planned: Iterable[EpisodeKey], scores: Mapping[EpisodeKey, Score]) -> dict[str, tuple[int, int]]:
    """Per task the attempts that have a value, and the successes among them."""
    counts: dict[str, tuple[int, int]] = {}
    for key in planned:
        n, c = counts.get(key.task, (0, 0))
        value = scores[key].value if key in scores else None
        counts[key.task] = (n, c) if value is None else (n + 1, c + int(value))
    return counts


def _cell(average: TaskAverage, spec: MetricSpec, scores: RunScores) -> Estimate:
    names = [
        str(scores.tasks[t].hidden.get(spec.cluster, f"task {t}")) if spec.cluster else t
        for t in average.per_task
    ]
    interval = bootstrap_mean(list(average.per_task.values()), names, seed=BOOTSTRAP_SEED)
    n = len(average.per_task)
    return Estimate(average.value, n, interval.low, interval.high, spec.unit, "", _method(spec))


def _method(spec: MetricSpec) -> str:
    """What is resampled: the epochs of a task are in its value, and don't count one by one."""
    return f"bootstrap(cluster={spec.cluster or 'task'})"
