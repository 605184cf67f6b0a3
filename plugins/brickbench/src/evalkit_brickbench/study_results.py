"""What came of a study with people: ratings and agreement with a judge, or rates against human models."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from evalkit import UsageError
from evalkit.report import Cell, Column, Estimate, Rate, Table
from evalkit.stats import wilson
from evalkit_brickbench.scoring.human import (
    HumanRate,
    Judgments,
    agreement,
    rates_against_humans,
    rescaled,
    scale_factor,
)
from evalkit_brickbench.scoring.pairwise import fair_coin_p_value
from evalkit_brickbench.scoring.ratings import Estimate as EloEstimate
from evalkit_brickbench.scoring.ratings import disconnection, linked_groups, rate_one_question
from evalkit_brickbench.study import HUMAN, Study


def tables(study: Study, answers: Judgments, judge: Mapping[str, float] | None) -> list[Table]:
    """The results of a study; `judge`: ratings of the same systems by a model, to compare people's with.

    UsageError without answers, and for a judge beside a study against human models.
    """
    if not answers.verdicts:
        raise UsageError("there is no answer yet: fill in the column choice, 1 the left or 2 the right build")
    if study.kind == "human":
        if judge is not None:
            raise UsageError(
                "an arena's ratings go with a study of designs, not with one against human models"
            )
        return [human_table(study, answers)]
    return [*ratings_tables(answers, judge)]


def ratings_tables(answers: Judgments, judge: Mapping[str, float] | None) -> list[Table]:
    """Ratings by people, beside those of a judge on people's scale; how far the two agree."""
    rated = rate_one_question(answers.verdicts)
    shared = sorted(set(rated) & set(judge or {}))
    notes = [_counts(answers)]
    if (apart := disconnection(linked_groups(answers.verdicts))) is not None:
        notes.append(apart)
    if judge is None:
        return [_ratings(rated, {}, {}, notes)]
    theirs = {name: judge[name] for name in shared}
    ours = {name: rated[name].elo for name in shared}
    if len(shared) < 2:
        raise UsageError("the arena and the study share fewer than two systems; rate the same runs in both")
    if left_out := sorted(set(rated) - set(shared)):
        notes.append(f"without a rating by the judge: {', '.join(left_out)}")
    try:
        factor: float | None = scale_factor(theirs, ours)
    except ValueError as error:
        notes.append(str(error))
        factor = None
    aligned = rescaled(theirs, factor) if factor is not None else {}
    return [_ratings(rated, theirs, aligned, notes), _agreement(ours, theirs, factor)]


def _ratings(
    rated: Mapping[str, EloEstimate],
    judge: Mapping[str, float],
    aligned: Mapping[str, float],
    notes: Sequence[str],
) -> Table:
    rows: tuple[tuple[Cell, ...], ...] = tuple(
        (
            system,
            Estimate(elo.elo, None, elo.low, elo.high, method="bootstrap over tasks"),
            judge.get(system),
            aligned.get(system),
        )
        for system, elo in sorted(rated.items(), key=lambda item: (-item[1].elo, item[0]))
    )
    names = ("by people", "by the judge", "by the judge, aligned")
    columns = (Column("system"), *(Column(name, "right") for name in names))
    if not judge:
        rows, columns = tuple(row[:2] for row in rows), columns[:2]
    return Table("brickbench.study_ratings", "Ratings by people", columns, rows, "\n".join(notes))


def _agreement(people: Mapping[str, float], judge: Mapping[str, float], factor: float | None) -> Table:
    found = agreement(people, judge)
    share = Rate(found.agreeing / found.n_pairs, found.agreeing, found.n_pairs)
    columns = (Column("systems"), *(Column(name, "right") for name in ("τ", "pairs alike", "scale factor")))
    note = "τ: Kendall's τ-b; scale factor: by which the judge's ratings are stretched about 1000"
    row = (f"{len(people)} systems", found.tau, share, factor)
    return Table("brickbench.study_agreement", "Do people agree with the judge?", columns, (row,), note)


def human_table(study: Study, answers: Judgments) -> Table:
    """How often each system's builds were preferred to models made by people, all systems in the last row."""
    rates = rates_against_humans(answers.verdicts, HUMAN)
    preferred, n = sum(rate.preferred for rate in rates), sum(rate.n for rate in rates)
    everything = HumanRate("all", preferred, n, wilson(preferred, n), fair_coin_p_value(preferred, n))
    rows = [_human_row(rate) for rate in (*rates, everything)]
    columns = (Column("system"), Column("preferred to people's", "right"), Column("p", "right"))
    ratios = sorted(match.build_parts / match.human_parts for match in study.matches)
    spread = f"parts of a build ÷ parts of the model beside it: {ratios[0]:.2f} to {ratios[-1]:.2f}"
    notes = [_counts(answers), "p: exact two-sided binomial test against ½; intervals: Wilson, 95 %", spread]
    return Table(
        "brickbench.study_human", "Against models made by people", columns, tuple(rows), "\n".join(notes)
    )


def _human_row(rate: HumanRate) -> tuple[Cell, ...]:
    low, high = rate.interval.low, rate.interval.high
    return rate.system, Rate(rate.share, rate.preferred, rate.n, low, high, method="wilson"), rate.p_value


def _counts(answers: Judgments) -> str:
    raters = len(set(answers.raters))
    unanswered = f", {len(answers.unanswered)} unanswered" if answers.unanswered else ""
    return f"{len(answers.verdicts):,} judgments by {raters} raters{unanswered}"
