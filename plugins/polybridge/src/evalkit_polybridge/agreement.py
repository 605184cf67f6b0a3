"""Two executors, one question: where do their verdicts differ, level by level?

Verdicts on one and the same design are compared, so that what differs is the executor and nothing else. Where
two runs have no design in common on a level, the verdicts of their episodes are all there is; those are
counted apart, because the agent has a part in them.
"""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

from evalkit import UsageError, sha256_of
from evalkit.report import Cell, Column, Estimate, RecordedRun, Table
from evalkit.stats import wilson
from evalkit_polybridge.measures import rate
from evalkit_polybridge.trajectory import read_trajectory

By = Literal["design", "episode"]


@dataclass(frozen=True, slots=True)
class Verdict:
    """What an executor said: crossed or not, and when the first member broke (None: never, or not known)."""

    success: bool
    first_break_s: float | None


@dataclass(frozen=True, slots=True)
class Pair:
    """Two verdicts on a level: on one `design` (its hash), or, where that is empty, of two episodes."""

    level: str
    design: str
    a: Verdict
    b: Verdict

    @property
    def by(self) -> By:
        """Whether designs or episodes are compared."""
        return "design" if self.design else "episode"

    @property
    def agrees(self) -> bool:
        """Both crossed or both did not."""
        return self.a.success == self.b.success

    @property
    def first_break_difference_s(self) -> float | None:
        """By how much later B saw the first break; None unless both saw one on the same design."""
        if not self.design or self.a.first_break_s is None or self.b.first_break_s is None:
            return None
        return self.b.first_break_s - self.a.first_break_s


@dataclass(frozen=True, slots=True)
class Agreement:
    """The pairs of two runs, and the levels that only one of them has."""

    run_a: str
    run_b: str
    executor_a: str
    executor_b: str
    pairs: tuple[Pair, ...]
    only_a: tuple[str, ...]
    only_b: tuple[str, ...]

    def of(self, by: By) -> tuple[Pair, ...]:
        """The pairs that compare designs, or those that compare episodes."""
        return tuple(pair for pair in self.pairs if pair.by == by)


@dataclass(frozen=True, slots=True)
class Counts:
    """The 2×2 table of pairs."""

    both: int
    only_a: int
    only_b: int
    neither: int

    @property
    def n(self) -> int:
        """The number of pairs."""
        return self.both + self.only_a + self.only_b + self.neither

    @property
    def agreeing(self) -> int:
        """Pairs with equal verdicts."""
        return self.both + self.neither

    @property
    def kappa(self) -> float | None:
        """Cohen's κ, agreement beyond chance; None where both give one and the same verdict throughout."""
        if not self.n:
            return None
        a, b = (self.both + self.only_a) / self.n, (self.both + self.only_b) / self.n
        chance = a * b + (1 - a) * (1 - b)
        return None if chance == 1.0 else (self.agreeing / self.n - chance) / (1.0 - chance)


def count(pairs: Iterable[Pair]) -> Counts:
    """The 2×2 table of pairs."""
    verdicts = [(pair.a.success, pair.b.success) for pair in pairs]
    tallies = (verdicts.count(both) for both in ((True, True), (True, False), (False, True), (False, False)))
    return Counts(*tallies)


def compare(a: RecordedRun, b: RecordedRun) -> Agreement:
    """The verdicts of two runs on the levels that both have.

    A level is the same if its name and content are; its budget doesn't matter to an executor. UsageError if
    both are one run, or have no level in common, or nothing on such a level that can be compared.
    """
    if a.reader.folder.resolve() == b.reader.folder.resolve():
        raise UsageError(f"A and B are both {a.name}, which agrees with itself: name two runs")
    of_a, of_b = _levels(a), _levels(b)
    common = sorted(of_a.keys() & of_b.keys())
    if not common:
        raise UsageError(f"{a.name} and {b.name} have no level in common: compare runs of the same levels")
    pairs = [pair for level in common for pair in _pairs(of_a[level], of_b[level])]
    if not pairs:
        raise UsageError(
            f"{a.name} and {b.name} have no design and no agent in common: let the same agent play both"
        )
    only_a = tuple(sorted(level.name for key, level in of_a.items() if key not in of_b))
    only_b = tuple(sorted(level.name for key, level in of_b.items() if key not in of_a))
    return Agreement(a.name, b.name, _executors(a), _executors(b), tuple(pairs), only_a, only_b)


@dataclass(slots=True)
class _Level:
    """What a run has on a level: verdicts by the hash of the design, and by agent and epoch."""

    name: str
    designs: dict[str, Verdict] = field(default_factory=dict)
    episodes: dict[tuple[str, int], Verdict] = field(default_factory=dict)


def _levels(run: RecordedRun) -> dict[str, _Level]:
    """The levels of a run by the hash of their content."""
    levels: dict[str, _Level] = {}
    for episode, task in run.played:
        level = levels.setdefault(_content(task.inputs), _Level(task.id))
        trajectory = read_trajectory(episode)
        for call in trajectory.attempts:
            if call.execution is None or call.execution["success"] is None:
                continue
            verdict = Verdict(call.outcome == "S", call.evidence.get("first_break_s"))
            # a design that was run again counts once, as it came out first
            level.designs.setdefault(str(call.execution["candidate_sha256"]), verdict)
        if trajectory.attempts:
            key = (episode.key.agent, episode.key.epoch)
            level.episodes[key] = Verdict(trajectory.success is not None, None)
    return levels


def _content(inputs: Mapping[str, Any]) -> str:
    context = dict(inputs["context"])
    context["task_context"] = {**context["task_context"], "budget_limit": None}
    return sha256_of({**inputs, "context": context})


def _executors(run: RecordedRun) -> str:
    executors = run.manifest["executors"].items()
    return ", ".join(f"{id} {e['version']} ({e['constants_sha256'][:8]})" for id, e in executors)


def _pairs(a: _Level, b: _Level) -> Iterator[Pair]:
    """Pairs by design; where no design is in both, pairs by agent and epoch."""
    designs = sorted(a.designs.keys() & b.designs.keys())
    for design in designs:
        yield Pair(a.name, design, a.designs[design], b.designs[design])
    if not designs:
        for key in sorted(a.episodes.keys() & b.episodes.keys()):
            yield Pair(a.name, "", a.episodes[key], b.episodes[key])


# --- Tables ------------------------------------------------------------------------------------------

_WHAT: Mapping[By, str] = {"design": "identical designs", "episode": "episodes without a common design"}
_WORDS = {True: "crossed", False: "not crossed"}


def tables(agreement: Agreement) -> list[Table]:
    """`agree.runs`, `agree.counts`, `agree.levels` (those that differ) and `agree.breaks`."""
    return [_runs(agreement), _counts(agreement), _levels_that_differ(agreement), _breaks(agreement)]


def _counts(agreement: Agreement) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for by, what in _WHAT.items():
        pairs = agreement.of(by)
        if pairs:
            c = count(pairs)
            kappa = Estimate(c.kappa, c.n)
            rows.append(
                (what, rate(pair.agrees for pair in pairs), kappa, c.both, c.only_a, c.only_b, c.neither)
            )
    columns = ("compared", "agree", "Cohen's κ", "both crossed", "only A", "only B", "neither")
    note = ""
    if agreement.of("episode"):
        note = "Episodes without a common design say something about the agent, too."
    return Table("agree.counts", "Agreement of verdicts", _columns(columns), tuple(rows), note)


def _runs(agreement: Agreement) -> Table:
    """Which run A and B are, what ran there, and how many levels only they have."""
    a, b = agreement.run_a, agreement.run_b
    rows = (
        ("A", len(agreement.only_a), a, agreement.executor_a),
        ("B", len(agreement.only_b), b, agreement.executor_b),
    )
    return Table(
        "agree.runs", "What is compared", _columns(("", "levels only there", "run", "executor")), rows
    )


def _levels_that_differ(agreement: Agreement) -> Table:
    rows = tuple(
        (pair.level, pair.design[:12] or "(episode)", _WORDS[pair.a.success], _WORDS[pair.b.success])
        for pair in agreement.pairs
        if not pair.agrees
    )
    return Table("agree.levels", "Where they differ", _columns(("level", "design", "A", "B")), rows)


def _breaks(agreement: Agreement) -> Table:
    """How far apart the first breaks are, over designs of which both runs know one."""
    found = [d for pair in agreement.pairs if (d := pair.first_break_difference_s) is not None]
    rows: tuple[tuple[Cell, ...], ...] = ()
    if found:
        apart = [abs(difference) for difference in found]
        values = (statistics.median(found), statistics.median(apart), max(apart))
        rows = ((len(found), *(round(value, 4) for value in values)),)
    columns = ("designs", "median B − A (s)", "median apart (s)", "furthest apart (s)")
    note = "Designs of which both executors recorded a first break; the game records none."
    return Table("agree.breaks", "Time of the first break", _columns(columns), rows, note)


def _columns(names: Sequence[str]) -> tuple[Column, ...]:
    return tuple(Column(name, "left" if i == 0 else "right") for i, name in enumerate(names))


def as_json(agreement: Agreement) -> dict[str, Any]:
    """Everything, as `--json` prints it; rates are fractions."""
    return {
        "a": {"run": agreement.run_a, "executor": agreement.executor_a, "only": list(agreement.only_a)},
        "b": {"run": agreement.run_b, "executor": agreement.executor_b, "only": list(agreement.only_b)},
        **{f"{by}s": _counts_json(count(agreement.of(by))) for by in _WHAT},
        "pairs": [
            {
                "level": pair.level,
                "by": pair.by,
                "design": pair.design or None,
                "a": asdict(pair.a),
                "b": asdict(pair.b),
                "agrees": pair.agrees,
                "first_break_difference_s": pair.first_break_difference_s,
            }
            for pair in agreement.pairs
        ],
    }


def _counts_json(counts: Counts) -> dict[str, Any]:
    interval = wilson(counts.agreeing, counts.n)
    return {
        **asdict(counts),
        "n": counts.n,
        "agreement": counts.agreeing / counts.n if counts.n else None,
        "low": interval.low,
        "high": interval.high,
        "kappa": counts.kappa,
    }
