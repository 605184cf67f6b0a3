"""Tables of several runs in the published shape: by hand, and from records through the commands."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest
import results_scenes as scenes
from arena_standin import evalkit
from click.testing import CliRunner

from evalkit import UsageError
from evalkit.report import Estimate, Rate, Table, to_csv, to_text
from evalkit.report.formats import to_latex
from evalkit_brickbench import published
from evalkit_brickbench.arena_results import read_ratings
from evalkit_brickbench.cli import command
from evalkit_brickbench.judges.entrants import system_names
from evalkit_brickbench.results import Outcomes, outcomes

BUILDER = """
import pathlib, sys
def brick(n, x=0): return "1 4 %d %d 0 1 0 0 0 1 0 0 0 1 3001.dat" % (x, -24 * n)
lines = [brick(1), brick(2)]
if sys.argv[1] == "clash": lines.append(brick(1, 60))
if sys.argv[1] == "float": lines.append(brick(40, 900))
if sys.argv[1] != "none": pathlib.Path("model.mpd").write_text("\\n".join(["0 FILE m.ldr", *lines, ""]))
"""


def cells(table: Table) -> dict[tuple[str, ...], dict[str, object]]:
    """A table's rows by their leading texts, each by column."""
    names = [column.name for column in table.columns]
    found = {}
    for row in table.rows:
        keys = tuple(cell for cell in row if isinstance(cell, str))
        found[keys] = dict(zip(names, row, strict=True))
    return found


# By hand


def test_the_main_table_has_the_published_columns_overall_and_by_setting():
    table = published.main(scenes.world(), scenes.ratings(), ["a note of the arena"])
    names = ["setting", "system", "Valid", "VQA", "VQA, missing 0", "ELO", "±", "Align", "Design", "cost"]
    assert [column.name for column in table.columns] == names
    rows = cells(table)
    ann, bob, cy = (rows["overall", name] for name in ("ann", "bob", "cy"))
    assert ann["Valid"] == Rate(1.0, 3, 3)
    assert bob["Valid"] == Rate(0.0, 0, 3)
    assert ann["VQA"] == Estimate(pytest.approx(2.5 / 3), 3)
    assert bob["VQA"] == Estimate(0.25, 2)
    assert bob["VQA, missing 0"] == Estimate(pytest.approx(0.5 / 3), 3)
    assert cy["VQA"] == Estimate(None, 0)
    assert cy["VQA, missing 0"] == Estimate(0.0, 1)
    assert ann["ELO"] > 1000 > bob["ELO"]
    assert (cy["ELO"], cy["Align"]) == (None, None)
    assert ann["cost"] == Estimate(2.0, 3, unit="$")
    assert rows["set", "bob"]["Valid"] == Rate(0.0, 0, 1)
    assert "a note of the arena" in table.note
    assert "r1: a note" in table.note


def test_bricknets_valid_has_a_footnote():
    fallen = replace(scenes.SOUND, stable=False)
    found = Outcomes((scenes.outcome("net", "t1", contents=fallen, has_to_stand=False),), ())
    table = published.main(found, {})
    assert table.rows[0][1] == "net*"
    assert table.rows[0][2] == Rate(1.0, 1, 1)
    assert "* Valid without stability" in table.note
    assert "no ratings" in table.note
    assert "VQA is skipped" in table.note


def test_reasons_and_contents():
    rows = cells(published.reasons(scenes.world()))
    bob = rows["overall", "bob"]
    assert [bob[r] for r in ("missing", "part rule", "collision", "stability")] == [1, 0, 1, 1]
    assert rows["overall", "ann (ldraw)"]["part rule"] == 1
    made = cells(published.contents(scenes.world()))["overall", "bob"]
    assert (made["builds"], made["parts"], made["colliding parts"], made["colliding pairs"]) == (
        2,
        18.5,
        1.5,
        1,
    )
    assert made["stable"] == Rate(0.0, 0, 1)


def test_answers_by_category_and_subtype():
    category = cells(published.by_category(scenes.world()))
    assert category["Medieval/Castle",]["ann"] == Estimate(1.0, 2)
    assert category["Train",]["ann"] == Estimate(0.5, 1)
    assert category["Train",]["bob"] is None
    subtype = cells(published.by_subtype(scenes.world()))
    assert subtype["attribute", "color"]["bob"].value == 0.5
    assert [keys[0] for keys in subtype] == ["entity", "entity", "attribute", "relation"]
    assert cells(published.question_shares(scenes.world()))["entity", "whole"]["model"] == Rate(0.25, 2, 8)


def test_the_ablation_sets_kits_of_one_agent_side_by_side():
    (table,) = published.ablation(scenes.world(), scenes.ratings())
    assert [row[:2] for row in table.rows] == [("ann", "library"), ("ann", "LDraw only")]
    assert [row[2].value for row in table.rows] == [1.0, 0.0]
    alone = Outcomes(scenes.world().all[:3], ())
    assert published.ablation(alone, {}) == []


def test_every_format_says_the_same():
    tables = published.published(scenes.world(), scenes.ratings())
    names = ["main", "reasons", "contents", "vqa_by_category", "vqa_by_subtype", "ablation", "questions"]
    assert [table.id for table in tables] == [f"brickbench.{name}" for name in names]
    assert "brickbench.main,overall / ann,Valid,1.0,3,3" in to_csv(tables)
    assert r"100.0 \% (3/3)" in to_latex(tables)
    assert to_text(tables, 120) == to_text(published.published(scenes.world(), scenes.ratings()), 120)


# From records


@pytest.fixture(scope="module")
def runs(tmp_path_factory) -> Path:
    """Four agents on a task: one good, one that collides, one that leaves a brick in the air, one that leaves
    nothing; and a second run that is the same."""
    folder = tmp_path_factory.mktemp("runs")
    words: list[str] = []
    for name in ("good", "clash", "float", "none"):
        argv = ["/usr/bin/python3", "-c", BUILDER, name]
        (folder / f"{name}.toml").write_text(f'argv = {json.dumps(argv)}\nprompt = "stdin"\n')
        words += ["--agent", f"cli:{name}.toml"]
    common = ["--id", "ek-smoke-model", "-M", "isolation=none", "--format", "json"]
    evalkit(folder, "run", "brickbench.smoke", *words, *common)
    (first,) = (folder / "runs").iterdir()
    shutil.copytree(first, folder / "runs" / "z-again")
    manifest = folder / "runs" / "z-again" / "run.json"
    manifest.write_text(manifest.read_text().replace(first.name, "z-again"))
    return folder


def invoked(*words: str, code: int = 0):
    done = CliRunner().invoke(command, words)
    assert done.exit_code == code, (done.output, done.exception)
    return done


def test_outcomes_are_read_from_records(runs, monkeypatch):
    monkeypatch.chdir(runs)
    first, second = sorted((runs / "runs").iterdir(), key=lambda path: path.name)
    found = outcomes([str(first)])
    by_name = {(o.record.system, o.record.task): o.record for o in found.all}
    assert len(by_name) == len(found.all) == 4
    good = by_name["cli:good.toml", "ek-smoke-model"]
    assert (good.contents.parts, good.contents.unique_parts, good.contents.colours) == (2, 1, 1)
    assert (good.contents.colliding_pairs, good.contents.components, good.contents.stable) == (0, 1, True)
    clash = by_name["cli:clash.toml", "ek-smoke-model"]
    assert (clash.contents.colliding_pairs, clash.contents.stable) == (1, None)
    assert by_name["cli:float.toml", "ek-smoke-model"].contents.stable is False
    assert by_name["cli:none.toml", "ek-smoke-model"].contents is None
    assert {o.category for o in found.all} != {"unknown"}
    assert not any(o.held for o in found.all)
    both = outcomes([str(first), str(second)]).systems
    assert len(both) == 8
    assert f"cli:good.toml@{first.name}" in both
    assert "cli:good.toml@z-again" in both
    with pytest.raises(UsageError, match="named twice"):
        outcomes([str(first), str(first)])


def test_what_was_handed_in_has_a_short_name_where_it_is_alone():
    agents = [
        "submission:out/net.zip",
        "submission:a/gpt",
        "submission:b/gpt",
        "submission:stacker",
        "stacker",
    ]
    planned = [SimpleNamespace(agent=agent, task="t") for agent in agents]
    reader = SimpleNamespace(planned=lambda: planned, settings={})
    run = SimpleNamespace(name="r", reader=reader)
    name_of = system_names([run])
    assert [name_of(run, agent) for agent in agents] == ["net", *agents[1:]]


def test_several_protocols_are_noted(runs, monkeypatch, tmp_path):
    monkeypatch.chdir(runs)
    first = min((runs / "runs").iterdir(), key=lambda path: path.name)
    other = tmp_path / "other"
    shutil.copytree(first, other)
    manifest = json.loads((other / "run.json").read_text())
    manifest["run"] = "other"
    manifest["protocol"]["settings"] |= {"profile": "bricknet-0.1.0", "kit": "ldraw"}
    (other / "run.json").write_text(json.dumps(manifest))
    found = outcomes([str(first), str(other)])
    assert found.notes == (
        "the runs were checked under several protocols, profile: brickbench, bricknet-0.1.0",
    )
    assert {"cli:good.toml", "cli:good.toml (ldraw)"} <= set(found.systems)


def test_the_command_prints_tables(runs, monkeypatch):
    monkeypatch.chdir(runs)
    first = str(min((runs / "runs").iterdir(), key=lambda path: path.name))
    words = ["tables", first, "--cost", "cli:good.toml=0.5", "--rent", "cli:none.toml=3600", "--json"]
    main = json.loads(invoked(*words).stdout)["brickbench.main"]
    costs = {row[1]: row[-1]["value"] for row in main["rows"] if row[0] == "overall"}
    assert costs["cli:good.toml"] == 0.5
    assert 0 < costs["cli:none.toml"] < 60
    assert costs["cli:float.toml"] is None
    for form, part in (("latex", r"\begin{tabular}"), ("csv", "brickbench.reasons,overall / cli:none.toml")):
        assert part in invoked("tables", first, "--format", form).stdout
    valid = {row[1]: row[2]["numerator"] for row in main["rows"] if row[0] == "overall"}
    without = [*words[:2], "--no-stability", "cli:float.toml", "--json"]
    rows = json.loads(invoked(*without).stdout)["brickbench.main"]["rows"]
    loose = {row[1]: row[2]["numerator"] for row in rows if row[0] == "overall"}
    assert loose["cli:float.toml*"] > valid["cli:float.toml"]


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (["--cost", "nobody=1"], "unknown system 'nobody'"),
        (["--cost", "x"], "wanted SYSTEM=USD"),
        (["--rates", "x=1"], "wanted SYSTEM=USD/USD"),
        (["--cost", "x=-1"], "wanted SYSTEM=USD"),
        (["--cost", "x=nan"], "wanted SYSTEM=USD"),
        (["--arena", "nowhere"], "evalkit brickbench arena"),
    ],
)
def test_mistakes_in_options_are_one_sentence(runs, monkeypatch, words, why):
    monkeypatch.chdir(runs)
    done = CliRunner().invoke(command, ["tables", *words])
    assert why in str(done.exception)


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"ratings": {"overall": {}}}', "[" * 9999])
def test_other_files_are_no_ratings(tmp_path, text):
    (tmp_path / "results.json").write_text(text)
    with pytest.raises(UsageError, match="holds no results of an arena"):
        read_ratings(tmp_path)
