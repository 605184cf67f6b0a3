"""Studies with people: what is dealt out, what raters see, what answers give."""

from __future__ import annotations

import csv
import json
import math
import random
import re
from collections import Counter
from pathlib import Path

import pytest
from arena_standin import BLUE, GREEN, RED, wall, wall_of
from click.testing import CliRunner

from evalkit import Candidate, Task, UsageError
from evalkit_brickbench import study, study_results
from evalkit_brickbench.designs import candidate_of
from evalkit_brickbench.judges.entrants import Build, Entrants
from evalkit_brickbench.scoring.human import Comparison, Match
from evalkit_brickbench.study import draw_builds, draw_models, picture_of, plan_designs, plan_human
from evalkit_brickbench.study_cli import study as command

COLOURS = {"ann": RED, "bob": BLUE, "cy": GREEN}
STRENGTH = {"ann": 1.5, "bob": 0.0, "cy": -1.5}


@pytest.fixture(autouse=True)
def small(monkeypatch) -> None:
    monkeypatch.setattr(study, "VIEW_PX", 24)


def entrants(n_tasks: int = 4) -> Entrants:
    found = Entrants()
    for number in range(1, n_tasks + 1):
        name = f"t{number}"
        found.tasks[name] = Task(name, {"prompt": f"A <tower>, take {number}."}, {"setting": "model"})
        found.builds[name] = {s: wall_of(s, colour, number) for s, colour in COLOURS.items()}
    return found


def quiet(line: str) -> None:
    pass


def models(*heights: int) -> dict[str, Build]:
    return {f"set-{n}.ldr": wall_of("human", 15, n) for n in heights}


@pytest.fixture
def designs(tmp_path) -> Path:
    who = entrants()
    shown = draw_builds(who, quiet)
    found = plan_designs(who, shown, 6, 12, 0)
    study.write_study(found, [shown], tmp_path / "study")
    return tmp_path / "study"


@pytest.fixture
def against_people(tmp_path) -> Path:
    who = entrants()
    shown, people = draw_builds(who, quiet), draw_models(models(1, 2, 3, 4), quiet)
    study.write_study(plan_human(who, shown, people, 3, 12, 0), [shown, people], tmp_path / "human")
    return tmp_path / "human"


def answered(folder: Path, path: Path, choose) -> Path:
    """Answers to all comparisons of a study in a file, as `choose` decides."""
    found = study.read_study(folder)
    with open(path, "w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["id", "choice"])
        writer.writerows([c.id, choose(c)] for c in found.comparisons)
    return path


def by_strength(seed: int):
    rng = random.Random(seed)

    def choose(comparison: Comparison) -> int:
        first, second = STRENGTH[comparison.first], STRENGTH[comparison.second]
        return 1 if rng.random() < 1 / (1 + math.exp(second - first)) else 2

    return choose


# What is dealt out


def test_a_folder_holds_pages_pictures_and_a_key(designs):
    found = study.read_study(designs)
    assert (found.kind, len(found.comparisons)) == ("designs", 72)
    assert Counter(c.rater for c in found.comparisons) == dict.fromkeys(range(1, 7), 12)
    assert {(c.first, c.second) for c in found.comparisons} == {
        (a, b) for a in COLOURS for b in COLOURS if a != b
    }
    names = {path.name for path in designs.iterdir()}
    assert {"index.html", "answers.csv", "key.json", "rater-001.html", "rater-006.html", "pictures"} <= names
    shown = {path.name for path in (designs / "pictures").iterdir()}
    assert shown == {picture_of(found, c, side) for c in found.comparisons for side in (c.first, c.second)}
    assert len(shown) == 12


def test_the_key_is_for_its_owner(designs):
    assert (designs / "key.json").stat().st_mode & 0o777 == 0o600
    assert (designs / "index.html").stat().st_mode & 0o044


def test_pages_keep_answers_and_count_open_pairs(designs):
    pages = [(designs / f"rater-00{n}.html").read_text() for n in (1, 2)]
    stores = [re.search('data-study="([0-9a-f]{16})"', page)[1] for page in pages]
    assert stores[0] != stores[1]
    for page in pages:
        assert page.count('<p id="open">') == 1
        assert "localStorage" in page


def test_models_of_quite_other_sizes_are_told():
    who = entrants()
    shown = draw_builds(who, quiet)
    fair = plan_human(who, shown, draw_models(models(1, 2, 3, 4), quiet), 3, 12, 0)
    assert fair.notes == ()
    (note,) = plan_human(who, shown, draw_models(models(60), quiet), 3, 12, 0).notes
    assert re.search(r"^12 of 12 builds stand beside .* more than 2 times .* beside set-60.ldr \(60\)", note)


def test_why_no_human_model_can_be_shown_is_told():
    broken = Build("human", "0" * 64, candidate_of("bad.ldr", b"no model at all"), {})
    with pytest.raises(UsageError, match=r"no human models to match; human on bad.ldr can't be shown: "):
        plan_human(
            entrants(), draw_builds(entrants(), quiet), draw_models({"bad.ldr": broken}, quiet), 3, 12, 0
        )


def test_raters_learn_nothing_of_the_systems(designs):
    page = (designs / "rater-002.html").read_text()
    assert page.count("<section") == 12
    assert "A &lt;tower&gt;, take" in page
    assert "<tower>" not in page
    for path in designs.glob("*.html"):
        assert not any(f'"{name}"' in path.read_text() or f">{name}<" in path.read_text() for name in COLOURS)
    assert (designs / "answers.csv").read_text().splitlines()[:2] == ["id,choice", "r001-01,"]


def test_the_same_seed_deals_the_same(tmp_path):
    who = entrants()
    shown = draw_builds(who, quiet)
    one, same, other = (plan_designs(who, shown, 6, 12, seed).comparisons for seed in (0, 0, 1))
    assert one == same != other


def test_builds_stand_beside_human_models_with_as_many_parts(against_people):
    found = study.read_study(against_people)
    assert {match.build_parts - match.human_parts for match in found.matches} == {0}
    assert Counter(m.human_model for m in found.matches) == {f"set-{n}.ldr": 3 for n in range(1, 5)}
    assert all("human" in (c.first, c.second) for c in found.comparisons)
    beside = {picture_of(found, c, "human") for c in found.comparisons}
    assert len(beside) == 4
    assert "task was" not in (against_people / "rater-001.html").read_text()


def test_what_cant_be_shown_is_named_and_left_out():
    who = entrants(2)
    broken = Candidate({}, (study_file(b"nothing"),))
    who.builds["t1"]["eve"] = Build("eve", "0" * 64, broken, {})
    shown = draw_builds(who, quiet)
    assert "eve" not in shown.pictures["t1"]
    (note,) = plan_designs(who, shown, 1, 2, 0).notes
    assert note.startswith("eve on t1 can't be shown")


def study_file(data: bytes):
    from evalkit import Artifact

    return Artifact("model.ldr", data, "text/plain")


def test_studies_that_cant_be_are_refused(tmp_path, designs):
    who = entrants(1)
    shown = draw_builds(who, quiet)
    with pytest.raises(UsageError, match="too few for 40 per rater"):
        plan_designs(who, shown, 1, 40, 0)
    with pytest.raises(UsageError, match="no human models"):
        plan_human(who, shown, draw_models({}, quiet), 1, 2, 0)
    who.builds["t1"]["human"] = wall_of("human", RED)
    with pytest.raises(UsageError, match="called 'human'"):
        plan_human(who, shown, draw_models(models(1), quiet), 1, 2, 0)
    with pytest.raises(UsageError, match="holds a study already"):
        study.write_study(study.read_study(designs), [draw_builds(entrants(), quiet)], designs)
    with pytest.raises(UsageError, match="can't read"):
        study.read_study(tmp_path)
    (tmp_path / "key.json").write_text('{"study": 2}')
    with pytest.raises(UsageError, match="no key of a study"):
        study.read_study(tmp_path)


# What comes back


def test_ratings_of_people_agree_with_a_judge_of_the_same_taste(designs, tmp_path):
    found = study.read_study(designs)
    answers = study.read_answers(found, [answered(designs, tmp_path / "a.csv", by_strength(3))])
    judge = {"ann": 1400.0, "bob": 1000.0, "cy": 600.0}
    ratings, agreement = study_results.tables(found, answers, judge)
    assert [row[0] for row in ratings.rows] == ["ann", "bob", "cy"]
    assert ratings.rows[0][1].value > 1000 > ratings.rows[2][1].value
    ((_, tau, share, factor),) = agreement.rows
    assert (tau, share.numerator, share.denominator) == (1.0, 3, 3)
    aligned = [row[3] for row in ratings.rows]
    assert aligned[0] - 1000 == pytest.approx(factor * 400)
    assert "72 judgments by 6 raters" in ratings.note


def test_answers_come_in_several_files_and_gaps_are_counted(designs, tmp_path):
    found = study.read_study(designs)
    half = [c.id for c in found.comparisons if c.rater <= 3]
    one = answered(designs, tmp_path / "1.csv", lambda c: 1 if c.id in half else "")
    two = answered(designs, tmp_path / "2.csv", lambda c: "" if c.id in half or c.rater == 6 else 2)
    answers = study.read_answers(found, [one, two])
    assert (len(answers.verdicts), len(answers.unanswered), set(answers.raters)) == (60, 12, {1, 2, 3, 4, 5})
    with pytest.raises(UsageError, match="answered twice"):
        study.read_answers(found, [one, one])


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("id,choice\nr001-01,3\n", "row 1: the choice is 1, 2 or empty, not '3'"),
        ("id,choice\nnobody,1\n", "row 1: there is no comparison 'nobody'"),
        ("name,choice\nx,1\n", "row 1 lacks the column id or choice"),
        ("id,choice\nr001-01\n", "there is no answer yet"),
        ("id,choice\n", "there is no answer yet"),
        (b"\xff\xfe", "isn't UTF-8"),
    ],
)
def test_bad_answers_name_their_row(designs, tmp_path, text, why):
    path = tmp_path / "bad.csv"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    done = CliRunner().invoke(command, ["import", str(designs), str(path)])
    assert why in str(done.exception)


def test_rates_against_people(against_people, tmp_path):
    path = answered(against_people, tmp_path / "a.csv", lambda c: 1 if c.first != "cy" else 2)
    done = CliRunner().invoke(command, ["import", str(against_people), str(path), "--json"])
    assert done.exit_code == 0, done.output
    rows = {row[0]: row for row in json.loads(done.stdout)["brickbench.study_human"]["rows"]}
    assert rows["cy"][1]["numerator"] == 0
    assert (rows["all"][1]["denominator"], list(rows)) == (36, ["ann", "bob", "cy", "all"])


def test_the_published_rate_is_323_of_360():
    """Nine systems, 40 judgments each: the arithmetic of share, interval and exact test."""
    from scipy.stats import binomtest

    from evalkit_brickbench.scoring.human import Judgments
    from evalkit_brickbench.scoring.pairwise import Verdict

    systems = [f"s{n}" for n in range(9)]
    shown = [(s, t) for s in systems for t in range(40)]
    verdicts = tuple(
        Verdict(f"t{t}", "preference", s, "human", 1 if place < 323 else 2)
        for place, (s, t) in enumerate(shown)
    )
    found = study.Study("human", 0, (), {}, {}, (Match("t / s", "set", 10, 20),))
    (table,) = study_results.tables(found, Judgments(verdicts, (1,) * 360, ()), None)
    name, rate, p = table.rows[-1]
    assert (name, rate.numerator, rate.denominator) == ("all", 323, 360)
    assert rate.value == pytest.approx(0.8972, abs=1e-4)
    assert p == pytest.approx(binomtest(323, 360).pvalue, rel=1e-9)
    assert "0.50 to 0.50" in table.note


# Through the commands


def test_designs_through_the_command(tmp_path, monkeypatch):
    monkeypatch.setattr("evalkit_brickbench.judges.entrants.entrants", lambda runs: entrants())
    words = ["design", "x", "--raters", "2", "--per-rater", "6", "-o", str(tmp_path / "s")]
    done = CliRunner().invoke(command, words)
    assert done.exit_code == 0, done.output
    assert "12 comparisons for 2 raters" in done.stdout
    path = answered(tmp_path / "s", tmp_path / "a.csv", lambda c: 1)
    done = CliRunner().invoke(command, ["import", str(tmp_path / "s"), str(path), "--format", "csv"])
    assert "brickbench.study_ratings,ann,by people," in done.stdout


def test_human_models_come_from_a_folder(tmp_path, monkeypatch):
    monkeypatch.setattr("evalkit_brickbench.judges.entrants.entrants", lambda runs: entrants(2))
    people = tmp_path / "people"
    people.mkdir()
    words = ["human", "x", "--models", str(people), "--raters", "1", "--per-rater", "6"]
    done = CliRunner().invoke(command, [*words, "-o", str(tmp_path / "s")])
    assert "has no .ldr or .mpd file" in str(done.exception)
    (people / "a.ldr").write_bytes(wall(15, 2))
    (people / "b.MPD").write_bytes(b"broken")
    done = CliRunner().invoke(command, [*words, "-o", str(tmp_path / "s")])
    assert done.exit_code == 0, done.output
    assert "b.MPD can't be shown" in done.stderr
    assert {match.human_model for match in study.read_study(tmp_path / "s").matches} == {"a.ldr"}
