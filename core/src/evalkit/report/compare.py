"""Two agents on the same tasks: per metric the difference B − A, how sure it is, and which tasks changed.

The unit of comparison is the task. A task's value is the mean over its epochs that have one, so that both
sides may have played a different number of them. Figures and difference are over the tasks that have a
value on both sides; what has none (an episode that was lost, or to which the metric doesn't apply) is
handled as `Lost` says, and named.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import fsum

from evalkit.errors import END_POLICIES, EndReason, UnknownNameError, UsageError
from evalkit.hookspecs import MetricSpec
from evalkit.report.aggregate import BOOTSTRAP_SEED, aggregate_run, checked_value
from evalkit.report.table import listed
from evalkit.run.scoring import RunScores
from evalkit.store.reader import RunReader
from evalkit.types import EpisodeKey, Score

MCNEMAR = "exact McNemar test"
BOOTSTRAP = "paired bootstrap"
#: Parts of a protocol that consist of options, how many of those are shown, and how much of a value.
_OPTIONS, _SHOWN_OPTIONS, _SHOWN_CHARACTERS = ("tasks", "settings", "limits"), 3, 32


@dataclass(frozen=True, slots=True)
class Side:
    """One agent of one run, with the scores of that run; `finished` episodes have a result."""

    run: str
    suite: str
    agent: str
    protocol_hash: str
    epochs: int
    planned: tuple[EpisodeKey, ...]
    finished: frozenset[EpisodeKey]
    scores: RunScores

    @property
    def tasks(self) -> list[str]:
        """The planned tasks, in order."""
        return list(dict.fromkeys(key.task for key in self.planned))


@dataclass(frozen=True, slots=True)
class Lost:
    """What an episode without a result counts as on either side; None leaves it out."""

    a: float | None
    b: float | None

    @classmethod
    def as_declared(cls, spec: MetricSpec) -> Lost:
        """As in the second figure of a report: 0 where the metric declares so."""
        value = 0.0 if spec.missing == "failure" else None
        return cls(value, value)

    @classmethod
    def against_b(cls, spec: MetricSpec) -> Lost:
        """So that B can't gain by losing episodes and doesn't suffer from those that A lost."""
        if spec.kind == "proportion":
            return cls(None, 0.0 if spec.higher_is_better else 1.0)
        return cls(None, 0.0 if spec.missing == "failure" and spec.higher_is_better else None)


@dataclass(frozen=True, slots=True)
class Comparison:
    """One metric on both sides.

    `a` and `b` are means (of a total: sums) over the `pairs` tasks that have a value on both sides and
    fall into `clusters`; those of a metric that sees a whole run are its two figures, with 0 pairs and no
    test. `binary` says whether every task's value is 0 or 1. `low` and `high` bound the 95 % interval of
    the difference; `p_adjusted` is `p_value` after Holm's correction. `gained` and `lost` are the tasks
    whose value rose and fell, for proportions only. `valued_a` and `valued_b` count the tasks that have a
    value on a side (losses counted in); `unknown_a` and `unknown_b` name tasks with an episode whose result
    isn't known.
    """

    spec: MetricSpec
    a: float | None
    b: float | None
    difference: float | None
    pairs: int = 0
    clusters: int = 0
    binary: bool = False
    low: float | None = None
    high: float | None = None
    method: str = ""
    test: str = ""
    p_value: float | None = None
    p_adjusted: float | None = None
    gained: tuple[str, ...] = ()
    lost: tuple[str, ...] = ()
    valued_a: int = 0
    valued_b: int = 0
    unknown_a: tuple[str, ...] = ()
    unknown_b: tuple[str, ...] = ()

    @property
    def setback(self) -> float | None:
        """By how much B is worse than A, in the metric's unit; negative if it is better."""
        if self.difference is None:
            return None
        return -self.difference if self.spec.higher_is_better else self.difference


@dataclass(slots=True)
class _Values:
    """A side's value per task, and the tasks with an episode whose result isn't known."""

    by_task: dict[str, float] = field(default_factory=dict)
    unknown: list[str] = field(default_factory=list)


def agent_pairs(a: RunReader, b: RunReader, names: Sequence[str]) -> list[tuple[str, str]]:
    """Which agents of two runs to compare: the named ones (one name is for both), the only ones, or all
    that both runs have. Raises UnknownNameError or UsageError.
    """
    of_a, of_b = ([entry["id"] for entry in reader.manifest["agents"]] for reader in (a, b))
    if len(names) > 2:
        raise UsageError("--agent can be given twice: the agent of A, then that of B")
    if names:
        one, other = names[0], names[-1]
        for reader, name, known in ((a, one, of_a), (b, other, of_b)):
            if name not in known:
                raise UnknownNameError("agent", name, known, f"the agents of {reader.name}")
        pairs = [(one, other)]
    elif len(of_a) == len(of_b) == 1:
        pairs = [(of_a[0], of_b[0])]
    else:
        pairs = [(agent, agent) for agent in of_a if agent in of_b]
    if not pairs or (a.folder.resolve() == b.folder.resolve() and any(one == other for one, other in pairs)):
        raise UsageError(
            f"say which agents to compare, --agent A --agent B: {a.name} has {', '.join(of_a)}; "
            f"{b.name} has {', '.join(of_b)}"
        )
    return pairs


def side_of(reader: RunReader, scores: RunScores, agent: str) -> Side:
    """One agent of a run."""
    ends = {key: EndReason(line["end"]["reason"]) for key, line in reader.index().items()}
    scored = {key for key, reason in ends.items() if END_POLICIES[reason].scored}
    return Side(
        run=reader.name,
        suite=reader.manifest["suite"]["name"],
        agent=agent,
        protocol_hash=reader.manifest["protocol_hash"],
        epochs=reader.manifest["epochs"],
        planned=tuple(key for key in reader.planned() if key.agent == agent),
        finished=frozenset(scored - scores.unscored.keys()),
        scores=scores,
    )


def check_protocols(a: RunReader, b: RunReader, instead: str = "") -> None:
    """UsageError if two runs differ as `run_differences` says; `instead` says what can be done."""
    differences = run_differences(a, b)
    if not differences:
        return
    one, other = (reader.manifest["protocol_hash"] for reader in (a, b))
    protocols = [f" (protocol {hash[:12]})" if one != other else "" for hash in (one, other)]
    raise UsageError(
        f"{a.name}{protocols[0]} and {b.name}{protocols[1]} can't be compared: they differ in "
        f"{', '.join(differences)}{instead}"
    )


def run_differences(a: RunReader, b: RunReader) -> list[str]:
    """In what two runs differ that decides results whoever plays, a phrase each.

    These are the protocol, the constants of executors, and the contents of tasks. Of the last a manifest
    has one hash for all, so that they are compared only if both runs chose the same tasks.
    """
    one, other = a.manifest, b.manifest
    found = []
    if one["protocol_hash"] != other["protocol_hash"]:
        found.append(protocol_differences(one["protocol"], other["protocol"]))
    for name, executor in one["executors"].items():
        twin = other["executors"].get(name, executor)
        if executor["constants_sha256"] != twin["constants_sha256"]:
            found.append(f"the constants of executor {name}")
    if one["tasks"] == other["tasks"] and one["tasks_sha256"] != other["tasks_sha256"]:
        found.append("the contents of the tasks")
    return found


def protocol_differences(a: Mapping[str, object], b: Mapping[str, object]) -> str:
    """The parts of two protocols that differ, in words; of options also their values, A's → B's."""
    names = [name for name in dict.fromkeys([*a, *b]) if a.get(name) != b.get(name)]
    parts = [name.replace("_", " ") + _changes(name, a.get(name), b.get(name)) for name in names]
    return ", ".join(parts) or "nothing that this evalkit knows"


def _changes(part: str, a: object, b: object) -> str:
    """` (calls 3 → 2)` of a part that consists of options; nothing of any other."""
    if part not in _OPTIONS or not isinstance(a, Mapping) or not isinstance(b, Mapping):
        return ""
    names = [name for name in dict.fromkeys([*a, *b]) if a.get(name) != b.get(name)]
    changed = [f"{name} {_shown(a, name)} → {_shown(b, name)}" for name in names]
    return f" ({listed(changed, _SHOWN_OPTIONS)})"


def _shown(options: Mapping[str, object], name: str) -> str:
    """An option's value as `-T` takes it, the beginning of a long one."""
    if name not in options:
        return "none"
    value = options[name]
    text = value if isinstance(value, str) and value else json.dumps(value)
    return text if len(text) <= _SHOWN_CHARACTERS else f"{text[:_SHOWN_CHARACTERS]}…"


def compare_sides(a: Side, b: Side, lost: Mapping[str, Lost]) -> list[Comparison]:
    """Every metric that both sides were scored by, in A's order; `lost` says per metric how to take losses.

    p-values aren't adjusted; see `adjusted`.
    """
    return [
        _compare_run(a, b, spec, lost[id]) if spec.scope == "run" else _compare_tasks(a, b, spec, lost[id])
        for id, spec in a.scores.specs.items()
        if id in b.scores.specs
    ]


def adjusted(comparisons: Iterable[Comparison]) -> list[Comparison]:
    """The comparisons with their p-values corrected together by Holm's method."""
    from evalkit.stats import holm

    found = list(comparisons)
    corrected = iter(holm([c.p_value for c in found if c.p_value is not None]))
    return [c if c.p_value is None else replace(c, p_adjusted=next(corrected)) for c in found]


def _compare_run(a: Side, b: Side, spec: MetricSpec, lost: Lost) -> Comparison:
    """A metric that sees all episodes at once: two values and their difference."""
    of_a, unknown_a = _run_value(a, spec, lost.a)
    of_b, unknown_b = _run_value(b, spec, lost.b)
    return Comparison(
        spec,
        of_a,
        of_b,
        None if of_a is None or of_b is None else of_b - of_a,
        valued_a=of_a is not None,
        valued_b=of_b is not None,
        unknown_a=unknown_a,
        unknown_b=unknown_b,
    )


def _run_value(side: Side, spec: MetricSpec, lost: float | None) -> tuple[float | None, tuple[str, ...]]:
    """The value of a run, with lost episodes counted in if it is a ratio of counts, and their tasks."""
    score = side.scores.run_scores[spec.id].get(side.agent, Score(None, "unscored"))
    figure = aggregate_run(spec, score)
    missing = [key.task for key in side.planned if key not in side.finished]
    if score.status in ("skipped", "undetermined", "unscored"):
        missing = side.tasks
    value = figure.value
    if lost is not None and value is not None and spec.kind == "proportion" and figure.numerator is not None:
        value = (figure.numerator + lost * len(missing)) / (figure.denominator + len(missing))
    return value, tuple(dict.fromkeys(missing))


def _compare_tasks(a: Side, b: Side, spec: MetricSpec, lost: Lost) -> Comparison:
    shared = set(a.tasks) & set(b.tasks)
    values_a, values_b = _values(a, spec, lost.a, shared), _values(b, spec, lost.b, shared)
    tasks = sorted(values_a.by_task.keys() & values_b.by_task.keys())
    of_a = {task: values_a.by_task[task] for task in tasks}
    of_b = {task: values_b.by_task[task] for task in tasks}
    plain = Comparison(
        spec,
        _figure(spec, of_a),
        _figure(spec, of_b),
        None,
        pairs=len(tasks),
        binary=spec.kind == "proportion" and {*of_a.values(), *of_b.values()} <= {0.0, 1.0},
        valued_a=len(values_a.by_task),
        valued_b=len(values_b.by_task),
        unknown_a=tuple(values_a.unknown),
        unknown_b=tuple(values_b.unknown),
    )
    if not tasks:
        return plain
    return _tested(plain, of_a, of_b, _clusters(a, spec, tasks), once=a.epochs == b.epochs == 1)


def _tested(
    plain: Comparison,
    a: Mapping[str, float],
    b: Mapping[str, float],
    clusters: Mapping[str, str] | None,
    *,
    once: bool,
) -> Comparison:
    """The comparison with its difference, interval, test and flips."""
    from evalkit.stats import mcnemar_exact, paired_bootstrap

    found = paired_bootstrap(a, b, clusters, seed=BOOTSTRAP_SEED)
    scale = plain.pairs if plain.spec.kind == "total" else 1
    p_value, test = found.p_value, BOOTSTRAP
    if p_value is not None:
        # a few tasks that all changed alike leave the bootstrap without spread and certain of everything;
        # no exact test of so few signs can find less than this
        p_value = max(p_value, 2.0 ** (1 - found.n_clusters))
    if plain.binary and once and clusters is None:
        passed_a, passed_b = ({task: value == 1.0 for task, value in side.items()} for side in (a, b))
        p_value, test = mcnemar_exact(passed_a, passed_b).p_value, MCNEMAR
    proportion = plain.spec.kind == "proportion"
    return replace(
        plain,
        difference=None if found.difference is None else found.difference * scale,
        low=None if found.interval.low is None else found.interval.low * scale,
        high=None if found.interval.high is None else found.interval.high * scale,
        clusters=found.n_clusters,
        method=found.interval.method,
        test=test if p_value is not None else "",
        p_value=p_value,
        gained=tuple(t for t in a if b[t] > a[t]) if proportion else (),
        lost=tuple(t for t in a if b[t] < a[t]) if proportion else (),
    )


def _values(side: Side, spec: MetricSpec, lost: float | None, tasks: set[str]) -> _Values:
    """Each task's mean over the epochs that have a value; `lost` as in `Lost`.

    Where nothing was measured and something skipped, lost episodes don't turn that into zeros.
    """
    scores = side.scores.episode_scores[spec.id]
    found: dict[str, list[float]] = {}
    lost_in: list[str] = []
    skipped: list[str] = []
    for key in side.planned:
        if key.task not in tasks:
            continue
        score = scores.get(key)
        if score is None or score.status == "unscored":
            lost_in.append(key.task)
        elif score.status in ("skipped", "undetermined"):
            skipped.append(key.task)
        elif score.status != "not_applicable":
            found.setdefault(key.task, []).append(checked_value(spec, key.text(), score))
    if lost is not None and (found or not skipped):
        for task in lost_in:
            found.setdefault(task, []).append(lost)
    means = {task: fsum(values) / len(values) for task, values in found.items()}
    return _Values(means, list(dict.fromkeys([*lost_in, *skipped])))


def _figure(spec: MetricSpec, values: Mapping[str, float]) -> float | None:
    if not values:
        return None
    total = fsum(values.values())
    return total if spec.kind == "total" else total / len(values)


def _clusters(side: Side, spec: MetricSpec, tasks: Sequence[str]) -> dict[str, str] | None:
    """The cluster of each task (the tasks of A's installed benchmark say it); None: each its own."""
    if spec.cluster is None:
        return None
    known = side.scores.tasks
    hidden = {task: known[task].hidden if task in known else {} for task in tasks}
    return {task: str(hidden[task].get(spec.cluster, f"task {task}")) for task in tasks}
