"""Charts of results: metrics, answers by category and type of question, contents, reasons."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from evalkit.report import Estimate, Rate
from evalkit_brickbench.figures.canvas import Canvas, Colour
from evalkit_brickbench.figures.rows import Group, Mark, Panel, draw_rows
from evalkit_brickbench.figures.style import PALETTE, SHARES, Scale, colours_of, scale_of
from evalkit_brickbench.published import in_order, of_system, question_counts, valid_rate, vqa_estimate
from evalkit_brickbench.results import Outcome, Outcomes
from evalkit_brickbench.scoring.ratings import OVERALL, Ratings
from evalkit_brickbench.scoring.tables import REASONS, contents_table, reasons_table
from evalkit_brickbench.scoring.vqa import JudgedBuild, scores_by_category, shares_by_subtype
from evalkit_brickbench.tasks import CATEGORIES

REASON_COLOURS: Mapping[str, Colour] = {
    "missing": (150, 156, 163),
    "part rule": PALETTE[4],
    "collision": PALETTE[1],
    "stability": PALETTE[0],
}
KIND_COLOURS: Mapping[str, Colour] = {
    "entity": PALETTE[0],
    "attribute": PALETTE[2],
    "relation": PALETTE[1],
}
BLOCKS = {
    "parts": "parts",
    "unique_parts": "different parts",
    "colours": "colours",
    "components": "components",
}


def metrics(found: Outcomes, ratings: Mapping[str, Ratings]) -> Canvas:
    """Valid, VQA and ELO of each system over all prompts, with 95 % intervals and what each is over: `n`."""
    systems = ranked(found, ratings)
    colours = _colours_of(found, systems)
    rates = [valid_rate(of_system(found, system)) for system in systems]
    panels = [_panel("Valid", SHARES, systems, rates, colours)]
    answers = [vqa_estimate(of_system(found, system)) for system in systems]
    if any(answer.value is not None for answer in answers):
        panels.append(_panel("VQA, builds that were judged", SHARES, systems, answers, colours))
    if OVERALL in ratings:
        rated = {row.system: row for row in ratings[OVERALL].systems}
        elos = [
            Estimate(r.elo.elo, r.n_verdicts, r.elo.low, r.elo.high)
            if (r := rated.get(system))
            else Estimate(None, None)
            for system in systems
        ]
        bounds = [bound for e in elos for bound in (e.value, e.low, e.high) if bound is not None]
        title = f"ELO, duels on {ratings[OVERALL].n_tasks} of {len({o.task.id for o in found.all})} prompts"
        panels.append(_panel(title, scale_of(bounds, from_zero=False), systems, elos, colours))
    note = "n: prompts, builds that were judged, verdicts in duels; whiskers: 95 %"
    return draw_rows("Metrics of each system", note, [Group("", systems)], panels, {})


def _panel(
    title: str,
    scale: Scale,
    systems: Sequence[str],
    figures: Sequence[Rate | Estimate],
    colours: Mapping[str, Colour],
) -> Panel:
    marks = [
        [None] if f.value is None else [Mark(f.value, colours[system], f.low, f.high)]
        for system, f in zip(systems, figures, strict=True)
    ]
    return Panel(title, scale, marks, "dots", [_figure_text(f) for f in figures])


def _figure_text(figure: Rate | Estimate) -> str:
    if figure.value is None:
        return "none"
    if isinstance(figure, Rate):
        return f"{figure.value * 100:.0f}%, n={figure.denominator}"
    return f"{figure.value:.0f}, n={figure.n}" if figure.value > 1 else f"{figure.value:.2f}, n={figure.n}"


def _counts_text(counts: Sequence[int]) -> str:
    """Over how many a row's marks are: one number, or the least and most of its systems."""
    if not counts:
        return ""
    low, high = min(counts), max(counts)
    return f"n={low}" if low == high else f"n={low} to {high}"


def ranked(found: Outcomes, ratings: Mapping[str, Ratings]) -> list[str]:
    """Systems from best to worst rating, those without one behind in their order."""
    order = [row.system for row in ratings[OVERALL].systems] if OVERALL in ratings else []
    return sorted(found.systems, key=lambda name: order.index(name) if name in order else len(order))


def vqa_by_category(found: Outcomes) -> Canvas:
    """VQA by category, a dot per system."""
    scores = {
        system: scores_by_category(_judged(of_system(found, system))) for system in judged_systems(found)
    }
    seen = {category for by_name in scores.values() for category in by_name}
    names = [name for name in CATEGORIES if name in seen] + sorted(seen - set(CATEGORIES))
    colours = _colours_of(found, scores)
    marks = [
        [
            None
            if (score := by_name.get(name)) is None or score.existing is None
            else Mark(score.existing, colours[system])
            for system, by_name in scores.items()
        ]
        for name in names
    ]
    rows = [CATEGORIES.get(name, name) for name in names]
    counts = [
        _counts_text([s.n_builds for by_name in scores.values() if (s := by_name.get(name)) and s.n_builds])
        for name in names
    ]
    panel = Panel("VQA", SHARES, marks, texts=counts, width=460)
    note = "mean share of questions that hold, of the n builds of a system that were judged"
    return draw_rows("VQA by category", note, [Group("", rows)], [panel], colours)


def vqa_by_subtype(found: Outcomes) -> Canvas:
    """Share of questions that hold by kind and subtype, a dot with whiskers per system."""
    shares = {
        system: {(s.kind, s.subtype): s for s in shares_by_subtype(_judged(of_system(found, system)))}
        for system in judged_systems(found)
    }
    colours = _colours_of(found, shares)
    pairs = in_order({pair for of_kind in shares.values() for pair in of_kind})
    marks = [
        [
            Mark(of_kind[pair].share, colours[system]) if pair in of_kind else None
            for system, of_kind in shares.items()
        ]
        for pair in pairs
    ]
    counts = [_counts_text([of_kind[p].asked for of_kind in shares.values() if p in of_kind]) for p in pairs]
    panel = Panel("questions that hold", SHARES, marks, texts=counts, width=460)
    note = "with all that they depend on, of the n asked about builds of a system that were judged"
    return draw_rows("VQA by type of question", note, by_kind(pairs), [panel], colours)


def judged_systems(found: Outcomes) -> list[str]:
    """Systems of which a judge answered questions, in the order of all systems."""
    judged = {outcome.record.system for outcome in found.all if outcome.held is not None}
    return [system for system in found.systems if system in judged]


def _colours_of(found: Outcomes, systems: Iterable[str]) -> dict[str, Colour]:
    """The colours that these systems have among all."""
    colours = colours_of(found.systems)
    return {system: colours[system] for system in systems}


def by_kind(pairs: Iterable[tuple[str, str]]) -> list[Group]:
    """Subtypes as rows under their kinds."""
    kinds: dict[str, list[str]] = {}
    for kind, subtype in pairs:
        kinds.setdefault(kind, []).append(subtype)
    return [Group(kind, subtypes) for kind, subtypes in kinds.items()]


def question_types(found: Outcomes) -> Canvas:
    """Shares of the types of questions, a panel per setting."""
    counts = {setting: question_counts(found, setting) for setting in found.settings}
    pairs = in_order({pair for counted in counts.values() for pair in counted})
    shares = {s: [c[pair] / max(1, c.total()) for pair in pairs] for s, c in counts.items()}
    longest = max((share for of_setting in shares.values() for share in of_setting), default=1.0)
    ticks = tuple((p / 100, f"{p}%") for p in range(0, 101, 10) if p / 100 <= longest + 0.1)
    scale = Scale(0.0, ticks[-1][0], ticks)
    panels = [
        Panel(
            f"{setting}, {counts[setting].total():,} questions",
            scale,
            [
                [Mark(share, KIND_COLOURS.get(kind, PALETTE[6]))]
                for share, (kind, _) in zip(of_setting, pairs, strict=True)
            ],
            "bars",
            [f"{share * 100:.1f}%" for share in of_setting],
        )
        for setting, of_setting in shares.items()
    ]
    return draw_rows("Types of questions", "share of all questions of a setting", by_kind(pairs), panels, {})


def contents(found: Outcomes) -> Canvas:
    """What builds are made of, by setting and system: means over the builds that exist."""
    rows = [row for row in contents_table(found.records) if row["setting"] != OVERALL]
    colours = colours_of(found.systems)
    groups = [
        Group(setting, [str(row["system"]) for row in rows if row["setting"] == setting])
        for setting in found.settings
    ]
    ordered = [row for setting in found.settings for row in rows if row["setting"] == setting]
    panels = []
    for column, title in BLOCKS.items():
        values = [row[column] for row in ordered]
        known = [float(value) for value in values if isinstance(value, int | float)]
        marks = [
            [Mark(float(value), colours[str(row["system"])])] if isinstance(value, int | float) else []
            for value, row in zip(values, ordered, strict=True)
        ]
        texts = [f"{value:,.1f}" if isinstance(value, int | float) else "none" for value in values]
        scale = scale_of(known, from_zero=True, most_ticks=4)
        panels.append(Panel(title, scale, marks, "bars", texts, width=130))
    return draw_rows("What builds are made of", "means over the builds that exist", groups, panels, {})


def reasons(found: Outcomes) -> Canvas:
    """Why builds are invalid: stacks per setting and system."""
    rows = [row for row in reasons_table(found.records) if row["setting"] != OVERALL]
    ordered = [row for setting in found.settings for row in rows if row["setting"] == setting]
    groups = [
        Group(setting, [str(row["system"]) for row in ordered if row["setting"] == setting])
        for setting in found.settings
    ]
    marks = [
        [Mark(float(row[reason] or 0), REASON_COLOURS[reason]) for reason in REASONS if row[reason]]
        for row in ordered
    ]
    prompts = [float(row["n_prompts"] or 0) for row in ordered]
    texts = [f"{row['n_invalid']} of {row['n_prompts']}" for row in ordered]
    panel = Panel("builds", scale_of(prompts, from_zero=True), marks, "stacks", texts, width=480)
    note = "of all prompts; one reason per build, the first that applies"
    return draw_rows("Why builds are invalid", note, groups, [panel], REASON_COLOURS)


def _judged(found: Iterable[Outcome]) -> list[JudgedBuild]:
    return [judged for outcome in found if (judged := outcome.judged()) is not None]
