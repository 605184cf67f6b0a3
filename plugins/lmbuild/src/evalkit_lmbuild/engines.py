"""How often MuJoCo and PyBullet agree on what works, capability by capability."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from evalkit import Episode, Task, UsageError
from evalkit.report import Cell, Column, Rate, Table
from evalkit.stats import wilson
from evalkit_lmbuild.specs import OPERABILITY, OPERABILITY_PYBULLET

PROTOCOLS = ("inset", "strict")
KINDS = {"M": "claimed motions", "": "all capabilities"}
"""Only motions are simulated; the other capabilities are the same by construction."""


@dataclass(frozen=True, slots=True)
class Pair:
    """One capability of one design under both engines: scores in [0, 1], and why they aren't 1."""

    episode: str
    protocol: str
    capability: str
    kind: str
    mujoco: float
    pybullet: float
    mujoco_why: str
    pybullet_why: str

    @property
    def works(self) -> tuple[bool, bool]:
        """Whether it works by MuJoCo, and by PyBullet."""
        from evalkit_lmbuild.simulation.requests import WORKS_FROM

        return self.mujoco >= WORKS_FROM, self.pybullet >= WORKS_FROM

    @property
    def agrees(self) -> bool:
        """Whether both engines say that it works, or both that it doesn't."""
        one, other = self.works
        return one == other


def pairs(played: Iterable[tuple[Episode, Task]]) -> list[Pair]:
    """Every capability that both engines judged, of the final designs of these episodes."""
    found = []
    for episode, task in played:
        recorded = [episode.evidence(executor.id) for executor in (OPERABILITY, OPERABILITY_PYBULLET)]
        if any(each is None or "error" in each for each in recorded):
            continue
        one, other = (episode.load(each["data"]) for each in recorded if each is not None)
        name = f"{task.id} · {episode.key.agent}" + (
            f" · {episode.key.epoch}" if episode.key.epoch > 1 else ""
        )
        for protocol in PROTOCOLS:
            a, b = one[protocol]["capabilities"], other[protocol]["capabilities"]
            found += [
                Pair(
                    name,
                    protocol,
                    capability,
                    a[capability]["kind"],
                    *(each[capability]["score"] for each in (a, b)),
                    *(each[capability]["why"] for each in (a, b)),
                )
                for capability in a
                if capability in b
            ]
    return found


def report_tables(played: Sequence[tuple[Episode, Task]]) -> list[Table]:
    """For `evalkit report`: the tables, none where the designs weren't put to both engines."""
    found = pairs(played)
    return tables(found) if found else []


def compared(played: Sequence[tuple[Episode, Task]], run: str) -> list[Pair]:
    """Pairs of a run; UsageError, with what to do, if its designs weren't put to both engines."""
    found = pairs(played)
    if not found:
        executors = f"lmbuild.geometry,{OPERABILITY.id},{OPERABILITY_PYBULLET.id}"
        raise UsageError(
            f"{run} has no design with a capability that both engines judged; "
            f"play it with -T final_executors={executors}"
        )
    return found


def tables(found: Sequence[Pair]) -> list[Table]:
    """`lmbuild.engines`: shares of agreement; `lmbuild.engines.differ`: where they differ."""
    return [_shares(found), _differing(found)]


def _shares(found: Sequence[Pair]) -> Table:
    from evalkit_lmbuild.simulation.requests import WORKS_FROM

    rows = []
    for protocol in PROTOCOLS:
        for kind, label in KINDS.items():
            chosen = [pair for pair in found if pair.protocol == protocol and kind in ("", pair.kind)]
            if chosen:
                rows.append((protocol, label, *_counts(chosen)))
    return Table(
        "lmbuild.engines",
        "Agreement of MuJoCo and PyBullet",
        _columns(
            "protocol",
            "capabilities",
            "agree",
            "both work",
            "only MuJoCo",
            "only PyBullet",
            "neither",
            "apart",
        ),
        tuple(rows),
        f"A capability works from {WORKS_FROM:g}. “apart” is the mean difference of the two scores.",
    )


def _counts(chosen: Sequence[Pair]) -> tuple[Cell, ...]:
    verdicts = [pair.works for pair in chosen]
    agreeing = sum(pair.agrees for pair in chosen)
    interval = wilson(agreeing, len(chosen))
    share = Rate(
        agreeing / len(chosen), agreeing, len(chosen), interval.low, interval.high, method=interval.method
    )
    cells = [verdicts.count(both) for both in ((True, True), (True, False), (False, True), (False, False))]
    apart = statistics.fmean(abs(pair.mujoco - pair.pybullet) for pair in chosen)
    return (share, *cells, round(apart, 3))


def _differing(found: Sequence[Pair]) -> Table:
    rows = tuple(
        (
            pair.episode,
            pair.protocol,
            pair.capability,
            round(pair.mujoco, 3),
            round(pair.pybullet, 3),
            pair.mujoco_why if pair.mujoco < pair.pybullet else pair.pybullet_why,
        )
        for pair in found
        if not pair.agrees
    )
    return Table(
        "lmbuild.engines.differ",
        "Where they differ",
        _columns("episode", "protocol", "capability", "MuJoCo", "PyBullet", "why not"),
        rows,
    )


def _columns(*names: str) -> tuple[Column, ...]:
    words = ("episode", "protocol", "capabilities", "capability", "why not")
    return tuple(Column(name, "left" if name in words else "right") for name in names)
