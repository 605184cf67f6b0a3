"""Tables of several runs together, in the shape in which results of the benchmark are published."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from math import fsum

from evalkit.report import Cell, Column, Estimate, Rate, Table
from evalkit.stats import bootstrap_mean, wilson
from evalkit_brickbench.results import Outcome, Outcomes
from evalkit_brickbench.scoring.ratings import OVERALL, Ratings
from evalkit_brickbench.scoring.tables import (
    REASONS,
    Row,
    contents_table,
    invalid_reason,
    main_table,
    reasons_table,
)
from evalkit_brickbench.scoring.tables import Cell as Figure
from evalkit_brickbench.scoring.vqa import build_score, scores_by_category, shares_by_subtype
from evalkit_brickbench.tasks import CATEGORIES
from evalkit_brickbench.tasks.schema import KINDS

NO_STABILITY_MARK = "*"
NO_RATINGS = "no ratings: give the folder of an arena that these systems met in"
NO_JUDGE = "VQA is skipped: no judge answered questions (evalkit rescore RUN --judge MODEL)"
KITS = {"library": "library", "ldraw": "LDraw only"}


def published(found: Outcomes, ratings: Mapping[str, Ratings], notes: Sequence[str] = ()) -> list[Table]:
    """All tables: main results, reasons, contents, answers by category and subtype, kits, questions."""
    return [
        main(found, ratings, notes),
        reasons(found),
        contents(found),
        *([by_category(found), by_subtype(found)] if any(o.held is not None for o in found.all) else []),
        *ablation(found, ratings),
        question_shares(found),
    ]


def main(found: Outcomes, ratings: Mapping[str, Ratings], notes: Sequence[str] = ()) -> Table:
    """Table 1: a row per setting and system, overall first. `notes` belong to the ratings."""
    names = ("Valid", "VQA", "VQA, missing 0", "ELO", "±", "Align", "Design", "cost")
    columns = (Column("setting"), Column("system"), *(Column(name, "right") for name in names))
    rows = main_table(found.records, ratings)
    marked = any(row["note"] for row in rows)
    told = [
        "Valid: of all prompts, with a build or not; VQA: mean over the builds that were judged, and with 0 "
        f"for missing builds; cost: mean per prompt, US dollars, {_prices_text(found)}",
        *(
            [f"{NO_STABILITY_MARK} Valid without stability: nobody asked these builds to stand"]
            if marked
            else []
        ),
        *([] if any(o.held is not None for o in found.all) else [NO_JUDGE]),
        *(notes if ratings or notes else [NO_RATINGS]),
        *found.notes,
    ]
    return Table("brickbench.main", "Main results", columns, tuple(map(_main_cells, rows)), "\n".join(told))


def _prices_text(found: Outcomes) -> str:
    recorded = set(found.systems) - found.priced
    if not found.priced:
        return "at recorded list prices"
    given = f"as given for {', '.join(sorted(found.priced))}"
    return f"{given}, else at recorded list prices" if recorded else "all as given"


def _main_cells(row: Row) -> tuple[Cell, ...]:
    n, valid, judged = _int(row["n_prompts"]), _float(row["valid"]), _int(row["n_judged"])
    missing, zero_filled = n - _int(row["n_builds"]), _float(row["vqa_zero_filled"])
    mark = NO_STABILITY_MARK if row["note"] else ""
    return (
        str(row["setting"]),
        f"{row['system']}{mark}",
        Rate(valid, round((valid or 0.0) * n), n),
        Estimate(_float(row["vqa"]), judged),
        Estimate(zero_filled, 0 if zero_filled is None else judged + missing),
        _float(row["elo"]),
        _float(row["elo_half_width"]),
        _float(row["align"]),
        _float(row["design"]),
        Estimate(_float(row["cost_usd"]), _int(row["n_costed"]), unit="$"),
    )


def reasons(found: Outcomes) -> Table:
    """Why builds are invalid: counts per setting and system."""
    names = ("prompts", "invalid", *REASONS)
    columns = (Column("setting"), Column("system"), *(Column(name, "right") for name in names))
    rows: tuple[tuple[Cell, ...], ...] = tuple(
        (
            str(row["setting"]),
            str(row["system"]),
            *(_int(row[name]) for name in ("n_prompts", "n_invalid", *REASONS)),
        )
        for row in reasons_table(found.records)
    )
    note = "one reason per build, the first that applies from left to right"
    return Table("brickbench.reasons", "Why builds are invalid", columns, rows, note)


def contents(found: Outcomes) -> Table:
    """What builds are made of: means per setting and system over the builds that exist."""
    names = ("parts", "unique parts", "colours", "colliding parts", "colliding pairs", "components")
    columns = (
        Column("setting"),
        Column("system"),
        *(Column(name, "right") for name in ("builds", *names, "stable")),
    )
    rows = tuple(
        (
            str(row["setting"]),
            str(row["system"]),
            _int(row["n_builds"]),
            *(_float(row[name.replace(" ", "_")]) for name in names),
            _stable(row),
        )
        for row in contents_table(found.records)
    )
    note = (
        "means over the builds that exist; stable: of the builds that kept to part rules without collisions"
    )
    return Table("brickbench.contents", "Assembly statistics", columns, rows, note)


def _stable(row: Row) -> Rate:
    known = _int(row["n_stability_known"])
    share = _float(row["stable"])
    return Rate(share, round((share or 0.0) * known), known)


def by_category(found: Outcomes) -> Table:
    """VQA by category, a column per system; overall in the last row."""
    scores = {
        system: scores_by_category(filter(None, (o.judged() for o in of_system(found, system))))
        for system in found.systems
    }
    seen = {category for by_name in scores.values() for category in by_name}
    ordered = [name for name in CATEGORIES if name in seen] + sorted(seen - set(CATEGORIES))
    rows = tuple(
        (
            CATEGORIES.get(category, category),
            *(
                Estimate(score.existing, score.n_builds) if (score := by_name.get(category)) else None
                for by_name in scores.values()
            ),
        )
        for category in ordered
    )
    columns = (Column("category"), *(Column(system, "right") for system in scores))
    note = "mean over the builds that were judged"
    return Table("brickbench.vqa_by_category", "VQA by category", columns, rows, note)


def by_subtype(found: Outcomes) -> Table:
    """Share of questions that hold by kind and subtype, a column per system."""
    shares = {
        system: {
            (share.kind, share.subtype): share
            for share in shares_by_subtype(filter(None, (o.judged() for o in of_system(found, system))))
        }
        for system in found.systems
    }
    rows = tuple(
        (
            kind,
            subtype,
            *(
                _rate(share.held, share.asked) if (share := of_kind.get((kind, subtype))) else None
                for of_kind in shares.values()
            ),
        )
        for kind, subtype in in_order({key for of_kind in shares.values() for key in of_kind})
    )
    columns = (Column("kind"), Column("subtype"), *(Column(system, "right") for system in shares))
    note = "questions that hold, with all that they depend on, of those asked about builds that were judged"
    return Table("brickbench.vqa_by_subtype", "VQA by type of question", columns, rows, note)


def question_shares(found: Outcomes) -> Table:
    """How many questions of each kind and subtype the prompts have, a column per setting."""
    counts = {setting: question_counts(found, setting) for setting in found.settings}
    seen = {key for counted in counts.values() for key in counted}
    rows = tuple(
        (
            kind,
            subtype,
            *(
                Rate(c[kind, subtype] / c.total(), c[kind, subtype], c.total()) if c.total() else None
                for c in counts.values()
            ),
        )
        for kind, subtype in in_order(seen)
    )
    columns = (Column("kind"), Column("subtype"), *(Column(setting, "right") for setting in counts))
    return Table("brickbench.questions", "Types of questions", columns, rows)


def ablation(found: Outcomes, ratings: Mapping[str, Ratings]) -> list[Table]:
    """The same agents with different things to build with; nothing where no agent has both."""
    kits: dict[str, list[str]] = {}
    for outcome in found.all:
        if outcome.kit not in kits.setdefault(outcome.agent, []):
            kits[outcome.agent].append(outcome.kit)
    rated = {row.system: row.elo.elo for row in ratings[OVERALL].systems} if OVERALL in ratings else {}
    rows = [
        (agent, KITS.get(kit, kit), *_kit_cells(_of(found.all, agent, kit), rated))
        for agent, has in kits.items()
        if len(has) > 1
        for kit in sorted(has, key=list(KITS).index)
    ]
    if not rows:
        return []
    names = ("Valid", "VQA", "ELO", "parts", "unique parts", "components", "cost")
    columns = (Column("agent"), Column("built with"), *(Column(name, "right") for name in names))
    note = (
        "library: the building library and its guide; LDraw only: the parts library and a page on the format"
    )
    return [Table("brickbench.ablation", "Environment ablation", columns, tuple(rows), note)]


def _of(found: Sequence[Outcome], agent: str, kit: str) -> list[Outcome]:
    return [outcome for outcome in found if (outcome.agent, outcome.kit) == (agent, kit)]


def _kit_cells(found: Sequence[Outcome], rated: Mapping[str, float]) -> tuple[Cell, ...]:
    built = [outcome.record.contents for outcome in found if outcome.record.contents is not None]
    elos = {rated[o.record.system] for o in found if o.record.system in rated}
    costs = [o.record.cost_usd for o in found if o.record.cost_usd is not None]
    return (
        valid_rate(found),
        vqa_estimate(found),
        elos.pop() if len(elos) == 1 else None,
        _mean([float(c.parts) for c in built]),
        _mean([float(c.unique_parts) for c in built]),
        _mean([float(c.components) for c in built]),
        Estimate(_mean(costs), len(costs), unit="$"),
    )


def valid_rate(found: Iterable[Outcome]) -> Rate:
    """Share of valid builds of all prompts, with Wilson's interval."""
    held = [invalid_reason(outcome.record) is None for outcome in found]
    return _rate(sum(held), len(held))


def vqa_estimate(found: Iterable[Outcome]) -> Estimate:
    """Mean over the builds that were judged, with a bootstrap interval over prompts."""
    scores = [build_score(o.held) for o in found if o.sha256 is not None and o.held is not None]
    interval = bootstrap_mean(scores) if len(scores) > 1 else None
    low, high = (None, None) if interval is None else (interval.low, interval.high)
    return Estimate(_mean(scores), len(scores), low, high, method="bootstrap")


def of_system(found: Outcomes, system: str, setting: str | None = None) -> list[Outcome]:
    """A system's outcomes, in one setting or all."""
    return [o for o in found.all if o.record.system == system and setting in (None, o.record.setting)]


def question_counts(found: Outcomes, setting: str) -> Counter[tuple[str, str]]:
    """Questions of a setting's prompts by kind and subtype, each prompt once."""
    tasks = {o.task.id: o for o in found.all if o.record.setting == setting}
    return Counter((q.kind, q.subtype) for o in tasks.values() for q in o.questions)


def in_order(seen: Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
    """Kinds and subtypes in the order of `KINDS`, others behind by name."""
    known = [(kind, subtype) for kind, subtypes in KINDS.items() for subtype in subtypes]
    return sorted(seen, key=lambda pair: (known.index(pair) if pair in known else len(known), pair))


def _rate(count: int, n: int) -> Rate:
    interval = wilson(count, n)
    return Rate(count / n if n else None, count, n, interval.low, interval.high, method=interval.method)


def _mean(values: Sequence[float]) -> float | None:
    return fsum(values) / len(values) if values else None


def _int(cell: Figure) -> int:
    if not isinstance(cell, int):
        raise TypeError(f"{cell!r} is no count")
    return cell


def _float(cell: Figure) -> float | None:
    if isinstance(cell, str):
        raise TypeError(f"{cell!r} is no number")
    return None if cell is None else float(cell)
