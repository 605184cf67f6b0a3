"""The figures as files: an SVG, a PNG and a CSV of its numbers each."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from evalkit import UnknownNameError, UsageError
from evalkit.report import Cell, Column, Estimate, Table, to_csv
from evalkit_brickbench import published
from evalkit_brickbench.figures import charts, gallery, plots
from evalkit_brickbench.figures.canvas import Canvas
from evalkit_brickbench.figures.question_graph import layers, question_graph
from evalkit_brickbench.results import Outcomes
from evalkit_brickbench.scoring.ratings import OVERALL, Ratings
from evalkit_brickbench.tasks.schema import Question
from evalkit_brickbench.writing import write_whole

RatingsBySetting = Mapping[str, Ratings]
NO_JUDGE = "no judge answered questions about these builds (evalkit rescore --judge)"


@dataclass(frozen=True, slots=True)
class Figure:
    """A figure: its file name, what draws it and its numbers. `lacks` says why there is none, or nothing."""

    name: str
    draw: Callable[[], Canvas]
    table: Callable[[], Table]
    lacks: str = ""


def figures_of(found: Outcomes, ratings: RatingsBySetting, graph_task: str | None = None) -> list[Figure]:
    """All figures of some outcomes; UnknownNameError for a task of the question graph that wasn't played."""
    answered = "" if any(outcome.held is not None for outcome in found.all) else NO_JUDGE
    built = "" if any(outcome.sha256 is not None for outcome in found.all) else "there is no build"
    dear = "" if plots.priced(found, ratings) else "no system has both a cost and a rating (--arena, --cost)"
    task, prompt, questions = _graph_of(found, graph_task)
    asked = "" if questions else f"{task} has no questions"
    any_asked = "" if any(outcome.questions for outcome in found.all) else "no prompt has questions"
    return [
        Figure("metrics", lambda: charts.metrics(found, ratings), lambda: _metrics(found, ratings)),
        Figure("elo_cost", lambda: plots.elo_cost(found, ratings), lambda: _elo_cost(found, ratings), dear),
        Figure(
            "vqa_by_category",
            lambda: charts.vqa_by_category(found),
            lambda: published.by_category(found),
            answered,
        ),
        Figure(
            "vqa_by_subtype",
            lambda: charts.vqa_by_subtype(found),
            lambda: published.by_subtype(found),
            answered,
        ),
        Figure(
            "question_types",
            lambda: charts.question_types(found),
            lambda: published.question_shares(found),
            any_asked,
        ),
        Figure(
            "question_graph",
            lambda: question_graph(task, prompt, questions),
            lambda: _graph(task, questions),
            asked,
        ),
        Figure("part_counts", lambda: plots.densities(found), lambda: _part_counts(found), built),
        Figure("contents", lambda: charts.contents(found), lambda: published.contents(found), built),
        Figure("gallery", lambda: gallery.gallery(found, ratings), lambda: _gallery(found, ratings), built),
        Figure("reasons", lambda: charts.reasons(found), lambda: published.reasons(found)),
    ]


def write_figures(
    found: Outcomes, ratings: RatingsBySetting, folder: Path, graph_task: str | None = None
) -> tuple[list[Path], dict[str, str]]:
    """Write every figure into a folder; returns the paths, and the figures left out with the reason.

    UsageError without outcomes and if a file can't be written, otherwise as `figures_of`.
    """
    if not found.all:
        raise UsageError("these runs have no episode with a result: there is nothing to draw")
    left_out: dict[str, str] = {}
    written: list[Path] = []
    for figure in figures_of(found, ratings, graph_task):
        if figure.lacks:
            left_out[figure.name] = figure.lacks
            continue
        canvas = figure.draw()
        contents = {
            ".svg": canvas.svg(),
            ".png": canvas.png(),
            ".csv": to_csv([figure.table()]).encode(),
        }
        for suffix, data in contents.items():
            written.append(_write(folder / f"{figure.name}{suffix}", data))
    return written, left_out


def _write(path: Path, data: bytes) -> Path:
    try:
        write_whole(path, data)
    except OSError as error:
        raise UsageError(f"can't write {path}: {error.strerror or error}") from error
    return path


def _graph_of(found: Outcomes, wanted: str | None) -> tuple[str, str, list[Question]]:
    """Id, prompt and questions of the task whose graph is drawn."""
    tasks = {outcome.task.id: outcome for outcome in found.all}
    if wanted is not None and wanted not in tasks:
        raise UnknownNameError("task", wanted, list(tasks))
    name = wanted or next((name for name, of in tasks.items() if of.questions), next(iter(tasks)))
    return name, str(tasks[name].task.inputs["prompt"]), tasks[name].questions


def _columns(*names: str, texts: int) -> tuple[Column, ...]:
    return tuple(Column(name, "left" if place < texts else "right") for place, name in enumerate(names))


def _metrics(found: Outcomes, ratings: RatingsBySetting) -> Table:
    rated = {row.system: row for row in ratings[OVERALL].systems} if OVERALL in ratings else {}
    rows: list[tuple[Cell, ...]] = []
    for system in charts.ranked(found, ratings):
        outcomes = published.of_system(found, system)
        elo: Cell = None
        if system in rated:
            estimate, n = rated[system].elo, rated[system].n_verdicts
            elo = Estimate(estimate.elo, n, estimate.low, estimate.high, method="bootstrap over tasks")
        rows.append((system, published.valid_rate(outcomes), published.vqa_estimate(outcomes), elo))
    columns = _columns("system", "Valid", "VQA", "ELO", texts=1)
    return Table("brickbench.metrics", "Metrics of each system", columns, tuple(rows))


def _elo_cost(found: Outcomes, ratings: RatingsBySetting) -> Table:
    rows = tuple(
        (row.system, row.cost_usd, Estimate(row.elo, None, row.low, row.high))
        for row in plots.priced(found, ratings)
    )
    columns = _columns("system", "cost, $", "ELO", texts=1)
    return Table("brickbench.elo_cost", "ELO against cost", columns, rows)


def _graph(task: str, questions: list[Question]) -> Table:
    depth = {q.key: number for number, layer in enumerate(layers(questions)) for q in layer}
    rows = tuple(
        (q.key, q.question, q.kind, q.subtype, ", ".join(q.dependencies), depth[q.key]) for q in questions
    )
    columns = _columns("key", "question", "kind", "subtype", "depends on", "depth", texts=5)
    return Table("brickbench.question_graph", f"Questions about {task}", columns, rows)


def _part_counts(found: Outcomes) -> Table:
    rows = tuple(
        (outcome.record.setting, outcome.record.system, outcome.record.task, outcome.record.contents.parts)
        for outcome in found.all
        if outcome.record.contents is not None
    )
    columns = _columns("setting", "system", "task", "parts", texts=3)
    return Table("brickbench.part_counts", "Numbers of parts", columns, rows)


def _gallery(found: Outcomes, ratings: RatingsBySetting) -> Table:
    columns = _columns("task", "system", "parts", "verdict", "sha256", texts=2)
    rows = tuple(gallery.rows(gallery.tiles(found, ratings)))
    return Table("brickbench.gallery", "Gallery", columns, rows)
