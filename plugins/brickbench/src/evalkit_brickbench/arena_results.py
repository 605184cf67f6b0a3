"""What came of an arena: ratings and the judge's position bias, as tables and as JSON."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from evalkit import UsageError
from evalkit.report import Column, Estimate, Rate, Table
from evalkit_brickbench.arena import Schedule, Verdicts
from evalkit_brickbench.judges.anchors import NOT_COMPARABLE, Anchors
from evalkit_brickbench.judges.entrants import Entrants
from evalkit_brickbench.scoring import ratings as elo
from evalkit_brickbench.scoring.pairwise import QUESTIONS, PositionBias, position_bias

RESULTS = "results.json"
"""The file in an arena's folder that holds what `as_json` gives."""


@dataclass(frozen=True, slots=True)
class Results:
    """Ratings by setting, the judge's bias by question, and sentences that readers need beside them."""

    ratings: Mapping[str, elo.Ratings]
    bias: Mapping[str, PositionBias]
    notes: Sequence[str]


def results(entrants: Entrants, found: Schedule, known: Verdicts, anchors: Anchors | None) -> Results:
    """Rate the systems by what is known; where that can't be done a note says why.

    Draws between equal files count in ratings and, since nobody judged them, not in the bias.
    """
    notes = [NOT_COMPARABLE]
    setting_of = {name: str(task.hidden["setting"]) for name, task in entrants.tasks.items()}
    core = None if anchors is None else anchors.systems
    ratings, problems = elo.rate_by_setting(known.all, setting_of, core)
    notes += [f"{setting}: {r.warning}" for setting, r in ratings.items() if r.warning]
    notes += problems
    if anchors is not None:
        notes.append(f"anchors: {anchors.name}, {len(anchors.systems)} systems, sha256 {anchors.sha256}")
    if known.missing:
        notes.append(f"{known.missing} duels aren't judged yet; the same command goes on")
    if known.failed:
        notes.append(f"{known.failed} duels have no verdict: no reply could be used")
    if found.draws:
        notes.append(f"{len(found.draws)} duels are draws without a judge: both builds are the same file")
    notes += [f"{s} on {t} can't be shown: {why}" for (s, t), why in sorted(found.unseen.items())]
    notes += [f"{s} has no build for {n} tasks" for s, n in sorted(entrants.missing.items())]
    bias: dict[str, PositionBias] = {
        q: position_bias(v for v in known.judged if v.question == q) for q in QUESTIONS
    }
    return Results(ratings, bias, notes)


def tables(found: Results) -> list[Table]:
    """The ratings (one row per setting and system), and the position bias (one per question)."""
    names = ("setting", "system", "ELO", "align", "design", "verdicts", "anchor")
    right = {"ELO", "align", "design", "verdicts"}
    rows = tuple(
        (
            setting,
            row.system,
            _estimate(row.elo),
            _estimate(row.alignment),
            _estimate(row.design),
            row.n_verdicts,
            "yes" if row.anchor else "",
        )
        for setting, rated in found.ratings.items()
        for row in rated.systems
    )
    return [
        Table(
            "brickbench.ratings",
            "Ratings",
            tuple(Column(name, "right" if name in right else "left") for name in names),
            rows,
            note="\n".join(found.notes),
        ),
        _bias_table(found.bias),
    ]


def _bias_table(bias: Mapping[str, PositionBias]) -> Table:
    names = ("first picks", "p", "alike in both orders", "p of conflicts")
    rows = tuple(
        (
            question,
            Rate(b.first_share, b.first_picks, b.n_verdicts),
            b.p_value,
            Rate(b.consistency, b.consistent, b.n_pairs),
            b.conflict_p_value,
        )
        for question, b in bias.items()
    )
    columns = (Column("question"), *(Column(name, "right") for name in names))
    return Table("brickbench.position_bias", "Does the judge mind the order?", columns, rows)


def _estimate(found: elo.Estimate) -> Estimate:
    return Estimate(found.elo, None, found.low, found.high)


def as_json(
    entrants: Entrants, found: Results, known: Verdicts, judge: Mapping[str, Any], anchors: Anchors | None
) -> dict[str, Any]:
    """Everything, for scripts; `builds` are the hashes of the rated model files, by system and task."""
    return {
        "arena": 1,
        "judge": dict(judge),
        "anchors": None if anchors is None else {"name": anchors.name, "sha256": anchors.sha256},
        "comparable_with_published": False,
        "verdicts": len(known.judged),
        "draws": len(known.all) - len(known.judged),
        "missing": known.missing,
        "failed": known.failed,
        "failed_replies": known.failed_replies,
        "cost_usd": known.cost_usd,
        "ratings": {
            setting: {
                "n_tasks": rated.n_tasks,
                "groups": [list(group) for group in rated.groups],
                "systems": [asdict(row) for row in rated.systems],
            }
            for setting, rated in found.ratings.items()
        },
        "position_bias": {
            question: {
                **asdict(bias),
                "first_share": bias.first_share,
                "consistency": bias.consistency,
                "conflict_p_value": bias.conflict_p_value,
            }
            for question, bias in found.bias.items()
        },
        "notes": list(found.notes),
        "builds": _hashes(entrants),
    }


def _hashes(entrants: Entrants) -> dict[str, dict[str, str]]:
    found: dict[str, dict[str, str]] = {}
    for task, builds in sorted(entrants.builds.items()):
        for system, build in sorted(builds.items()):
            found.setdefault(system, {})[task] = build.sha256
    return found


@dataclass(frozen=True, slots=True)
class KeptRatings:
    """Ratings by setting as an arena left them, the judge's name, the notes that belong to them, and the
    SHA-256 of every rated build by system and task."""

    ratings: Mapping[str, elo.Ratings]
    judge: str
    notes: tuple[str, ...]
    builds: Mapping[str, Mapping[str, str]]

    def of_builds(self, builds: Mapping[str, Mapping[str, str]]) -> tuple[dict[str, elo.Ratings], list[str]]:
        """The ratings of those systems whose builds are the ones that were rated, and a note on each other.

        `builds` are hashes by system and task. A name proves nothing: all runs of an agent share it.
        """
        notes, fitting = [], set()
        for system, rated in sorted(self.builds.items()):
            shown = builds.get(system)
            if shown == rated:
                fitting.add(system)
            elif shown is not None:
                tasks = shown.keys() | rated.keys()
                other = sum(shown.get(task) != rated.get(task) for task in tasks)
                notes.append(
                    f"ratings of {system} are left out: on {other} of {len(tasks)} tasks its builds in the "
                    f"arena and in these runs aren't the same"
                )
        kept = {
            setting: replace(found, systems=tuple(row for row in found.systems if row.system in fitting))
            for setting, found in self.ratings.items()
        }
        return {setting: found for setting, found in kept.items() if found.systems}, notes


def read_ratings(folder: Path) -> KeptRatings:
    """The ratings in an arena's folder; UsageError if it holds none, or something else."""
    path = folder / RESULTS
    try:
        found = json.loads(path.read_bytes())
        ratings = {setting: _kept(entry) for setting, entry in found["ratings"].items()}
        builds = {str(system): dict(hashes) for system, hashes in found["builds"].items()}
        judge = str(found["judge"]["source"]["model"])
        return KeptRatings(ratings, judge, tuple(found["notes"]), builds)
    except OSError as error:
        raise UsageError(
            f"can't read {path}: {error.strerror}; `evalkit brickbench arena` makes it"
        ) from error
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise UsageError(f"{path} holds no results of an arena; run it again") from error


def _kept(entry: Mapping[str, Any]) -> elo.Ratings:
    systems = tuple(
        elo.SystemRating(
            row["system"],
            row["anchor"],
            elo.Estimate(**row["elo"]),
            elo.Estimate(**row["alignment"]),
            elo.Estimate(**row["design"]),
            row["n_verdicts"],
        )
        for row in entry["systems"]
    )
    return elo.Ratings(systems, tuple(map(tuple, entry["groups"])), entry["n_tasks"])
