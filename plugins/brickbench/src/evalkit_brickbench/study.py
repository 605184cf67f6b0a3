"""Studies with people as folders: what raters see, what only the organiser may see, and what came back.

A folder holds `index.html` and a page per rater, `pictures/` (named by their content), `answers.csv` to fill
in, and `key.json`, which tells the systems apart and isn't for raters.
"""

from __future__ import annotations

import csv
import hashlib
import io
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from math import log
from pathlib import Path
from typing import Any, Literal

from evalkit import UsageError
from evalkit_brickbench.judges.entrants import Build, Entrants
from evalkit_brickbench.judges.shown import seen, tiled
from evalkit_brickbench.ldraw.notes import LDrawError
from evalkit_brickbench.pictures import VIEWS
from evalkit_brickbench.scoring.human import (
    Comparison,
    Judgments,
    Match,
    match_human_models,
    read_judgments,
    study_against_humans,
    study_design,
)
from evalkit_brickbench.scoring.pairwise import select_views
from evalkit_brickbench.study_pages import index_page, rater_page
from evalkit_brickbench.writing import write_whole

Kind = Literal["designs", "human"]
KEY, ANSWERS = "key.json", "answers.csv"
HUMAN = "human"
"""What the models made by people are called as a system."""
VIEW_PX = 400
UNEVEN = 2.0
"""Builds and human models whose numbers of parts differ by more than this factor are told."""
LARGEST_ANSWERS_BYTES = 64 << 20
Say = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Study:
    """A study as its key tells it; `pictures`: file names by task and system, `matches`: the human models."""

    kind: Kind
    seed: int
    comparisons: tuple[Comparison, ...]
    prompts: Mapping[str, str]
    pictures: Mapping[str, Mapping[str, str]]
    matches: tuple[Match, ...] = ()
    notes: tuple[str, ...] = ()


@dataclass(slots=True)
class Shown:
    """Builds that have pictures, by task and system; `unseen` says why others have none."""

    pictures: dict[str, dict[str, bytes]] = field(default_factory=dict)
    parts: dict[str, dict[str, int]] = field(default_factory=dict)
    unseen: list[str] = field(default_factory=list)


def draw_builds(who: Entrants, say: Say) -> Shown:
    """Four views of every build, all around, in one picture each."""
    shown = Shown()
    for task, builds in sorted(who.builds.items()):
        say(f"pictures: {task}")
        for system, build in sorted(builds.items()):
            _draw(shown, task, system, build)
    return shown


def draw_models(models: Mapping[str, Build], say: Say) -> Shown:
    """The same of models made by people, by file name in place of the task."""
    shown = Shown()
    for name, build in sorted(models.items()):
        say(f"pictures: {name}")
        _draw(shown, name, HUMAN, build)
    return shown


def _draw(shown: Shown, task: str, system: str, build: Build) -> None:
    try:
        found = seen(build.candidate, build.settings)
    except LDrawError as error:
        shown.unseen.append(f"{system} on {task} can't be shown: {error}")
        return
    picture = tiled(found, select_views(VIEWS), VIEW_PX)
    if picture is None:
        shown.unseen.append(f"{system} on {task} can't be shown: no part has a shape to draw")
        return
    shown.pictures.setdefault(task, {})[system] = picture
    shown.parts.setdefault(task, {})[system] = len(found.scene)


def plan_designs(who: Entrants, shown: Shown, n_raters: int, per_rater: int, seed: int) -> Study:
    """A study of systems against each other; UsageError if there is too little to compare."""
    try:
        dealt = study_design(shown.pictures, n_raters, per_rater=per_rater, seed=seed)
    except ValueError as error:
        raise UsageError("; ".join([str(error), *shown.unseen])) from error
    return Study("designs", seed, tuple(dealt), _prompts(who), _names(shown), notes=tuple(shown.unseen))


def plan_human(who: Entrants, shown: Shown, people: Shown, n_raters: int, per_rater: int, seed: int) -> Study:
    """A study of systems against models made by people (`draw_models`); each build meets one with about as
    many parts. UsageError if there is too little to compare."""
    if HUMAN in {system for builds in who.builds.values() for system in builds}:
        raise UsageError(f"a system is called {HUMAN!r}, as the models made by people are")
    parts = {_pair(task, system): n for task, row in shown.parts.items() for system, n in row.items()}
    try:
        matches = match_human_models(parts, {name: row[HUMAN] for name, row in people.parts.items()})
        dealt = study_against_humans(shown.pictures, n_raters, HUMAN, per_rater=per_rater, seed=seed)
    except ValueError as error:
        raise UsageError("; ".join([str(error), *shown.unseen, *people.unseen])) from error
    human_model = {match.build: match.human_model for match in matches}
    pictures = _names(shown)
    for task, row in shown.pictures.items():
        for system in sorted(row):
            chosen = human_model[_pair(task, system)]
            pictures[task][_against(system)] = _file_name(people.pictures[chosen][HUMAN])
    notes = (*shown.unseen, *people.unseen, *_uneven(matches))
    return Study("human", seed, tuple(dealt), _prompts(who), pictures, tuple(matches), notes)


def _uneven(matches: Sequence[Match]) -> list[str]:
    """A note where builds stand beside models of quite other sizes, which raters would see first of all."""
    ratios = {match: match.human_parts / match.build_parts for match in matches}
    uneven = [match for match, ratio in ratios.items() if not 1 / UNEVEN <= ratio <= UNEVEN]
    if not uneven:
        return []
    worst = max(uneven, key=lambda match: abs(log(ratios[match])))
    return [
        f"{len(uneven)} of {len(matches)} builds stand beside a model with more than {UNEVEN:g} times as "
        f"many or as few parts; {worst.build} ({worst.build_parts}) beside {worst.human_model} "
        f"({worst.human_parts})"
    ]


def _pair(task: str, system: str) -> str:
    return f"{task} / {system}"


def _against(system: str) -> str:
    """The entry of the human model that stands beside a system's build."""
    return f"{HUMAN} beside {system}"


def picture_of(study: Study, comparison: Comparison, system: str) -> str:
    """The file name of what is shown for one side of a comparison."""
    other = comparison.second if system == comparison.first else comparison.first
    name = _against(other) if study.kind == "human" and system == HUMAN else system
    return study.pictures[comparison.task][name]


def _prompts(who: Entrants) -> dict[str, str]:
    return {name: str(task.inputs["prompt"]) for name, task in who.tasks.items()}


def _names(shown: Shown) -> dict[str, dict[str, str]]:
    return {t: {s: _file_name(png) for s, png in row.items()} for t, row in shown.pictures.items()}


def _file_name(png: bytes) -> str:
    """A name that says nothing of the system."""
    return f"{hashlib.sha256(png).hexdigest()[:16]}.png"


def write_study(study: Study, shown: Sequence[Shown], folder: Path) -> None:
    """Write the folder of a study, with those of the pictures that are compared.

    UsageError if it holds a study already or can't be written.
    """
    if (folder / KEY).exists():
        raise UsageError(f"{folder} holds a study already: name another folder")
    drawn = {_file_name(png): png for one in shown for row in one.pictures.values() for png in row.values()}
    used = {picture_of(study, c, side) for c in study.comparisons for side in (c.first, c.second)}
    files = {f"pictures/{name}": drawn[name] for name in sorted(used)}
    raters = sorted({comparison.rater for comparison in study.comparisons})
    for rater in raters:
        files[f"rater-{rater:03}.html"] = _page(study, rater).encode()
    files["index.html"] = index_page(raters).encode()
    files[ANSWERS] = _answers_template(study).encode()
    files[KEY] = (json.dumps(_key(study), indent=1, ensure_ascii=False) + "\n").encode()
    try:
        for name, data in files.items():  # the key comes last: a folder with one is whole
            write_whole(folder / name, data, 0o600 if name == KEY else None)
    except OSError as error:
        raise UsageError(f"can't write to {folder}: {error.strerror or error}") from error


def _page(study: Study, rater: int) -> str:
    rows = [
        (c.id, study.prompts[c.task] if study.kind == "designs" else "", *_sides(study, c))
        for c in study.comparisons
        if c.rater == rater
    ]
    return rater_page(rater, rows)


def _sides(study: Study, comparison: Comparison) -> tuple[str, str]:
    left, right = (picture_of(study, comparison, side) for side in (comparison.first, comparison.second))
    return f"pictures/{left}", f"pictures/{right}"


def _answers_template(study: Study) -> str:
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(["id", "choice"])
    writer.writerows([c.id, ""] for c in study.comparisons)
    return out.getvalue()


def _key(study: Study) -> dict[str, Any]:
    return {
        "study": 1,
        "kind": study.kind,
        "seed": study.seed,
        "notes": list(study.notes),
        "comparisons": [[c.id, c.rater, c.task, c.first, c.second] for c in study.comparisons],
        "matches": [[m.build, m.human_model, m.build_parts, m.human_parts] for m in study.matches],
        "prompts": dict(study.prompts),
        "pictures": {task: dict(row) for task, row in study.pictures.items()},
    }


def read_study(folder: Path) -> Study:
    """A study by its folder; UsageError if it holds none."""
    path = folder / KEY
    try:
        found = json.loads(path.read_bytes())
        if found["study"] != 1 or found["kind"] not in ("designs", "human"):
            raise ValueError("another version")
        return Study(
            found["kind"],
            found["seed"],
            tuple(Comparison(*row) for row in found["comparisons"]),
            found["prompts"],
            found["pictures"],
            tuple(Match(*row) for row in found["matches"]),
            tuple(found["notes"]),
        )
    except OSError as error:
        raise UsageError(f"can't read {path}: {error.strerror}; is {folder} a study?") from error
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise UsageError(f"{path} is no key of a study") from error


def read_answers(study: Study, files: Iterable[Path]) -> Judgments:
    """What came back, from one or more CSV files with the columns `id` and `choice`.

    A row without a choice is no answer; of an id that several files hold, one may have an answer. UsageError
    names the file that can't be used.
    """
    rows: list[Mapping[str, str]] = []
    for path in files:
        found = _rows(path)
        try:
            read_judgments(found, study.comparisons)
        except ValueError as error:
            raise UsageError(f"{path}: {error}") from error
        rows += [row for row in found if row["choice"].strip()]
    try:
        return read_judgments(rows, study.comparisons)
    except ValueError as error:
        raise UsageError(f"the files together: {error}") from error


def _rows(path: Path) -> Sequence[Mapping[str, str]]:
    try:
        if path.stat().st_size > LARGEST_ANSWERS_BYTES:
            raise UsageError(f"{path} is larger than {LARGEST_ANSWERS_BYTES >> 20} MiB")
        text = path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise UsageError(f"can't read {path}: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise UsageError(f"{path} isn't UTF-8: {error}") from error
    try:
        return [{k: v or "" for k, v in row.items() if k} for row in csv.DictReader(io.StringIO(text))]
    except csv.Error as error:
        raise UsageError(f"{path} isn't CSV: {error}") from error
