"""`evalkit report`, `runs` and `show` on a run that the real walk played."""

import importlib
import json
import re
from pathlib import Path

import pytest
from click.testing import CliRunner

from evalkit.errors import EvalkitError, RecordError, UnknownNameError, UsageError

BUILDERS = {
    "careful": {"T-1": [1], "T-2": [0, 2], "T-3": [4, 3], "T-4": [5, 6, 7]},
    "hasty": {"T-1": [9, 9, 9], "T-2": [2], "T-3": [None]},
}


@pytest.fixture
def evalkit(toy, monkeypatch, tmp_path):
    """Calls a verb in a folder that holds a run; gives stdout and stderr, raises what the verb raises."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")
    plugins = toy.plugins()
    monkeypatch.setattr("evalkit.plugins.load_plugins", lambda: plugins)
    for verb in ("runs", "show"):
        monkeypatch.setattr(f"evalkit.cli.{verb}.load_plugins", lambda: plugins)
    toy.record(tmp_path / "runs", BUILDERS)

    def call(verb, *words):
        command = importlib.import_module(f"evalkit.cli.{verb}").command
        done = CliRunner().invoke(command, list(words), help_option_names=["-h", "--help"])
        if isinstance(done.exception, EvalkitError):
            raise done.exception
        assert done.exit_code == 0, done.output
        return done.stdout, done.stderr

    return call


def test_report_shows_both_figures_and_the_plugins_tables(evalkit):
    out, err = evalkit("report")
    assert err == ""
    assert out == (
        "towers.all · 2 agents, 1 run\n"
        "metric     careful                     hasty\n"
        "─────────  ──────────────────────────  ─────────────────────────\n"
        "Success@3   75.0 % (3/4) [30.1, 95.4]   50.0 % (1/2) [9.5, 90.5]\n"
        "Height      2.00 m (n=3) [1.50, 3.00]   2.00 m (n=1)\n"
        "Looks      skipped (n=0)               skipped (n=0)\n"
        "Recovery    50.0 % (1/2) [9.5, 90.5]     0.0 % (0/1) [0.0, 79.3]\n"
        "\n"
        "hasty: 2 of 4 episodes missing (not played, ended in an error, or unreadable)\n"
        "Height: 1 not applicable (nothing stands)\n"
        "Looks: careful 4 skipped (no judge); hasty 2 skipped (no judge)\n"
        "[low, high] is the 95 % interval: wilson, bootstrap(cluster=family)\n"
        "\n"
        "Episodes without a result as failures\n"
        "metric     careful                     hasty\n"
        "─────────  ──────────────────────────  ─────────────────────────\n"
        "Success@3   75.0 % (3/4) [30.1, 95.4]   25.0 % (1/4) [4.6, 69.9]\n"
        "Height      2.00 m (n=3) [1.50, 3.00]  2 left out\n"
        "Looks      skipped (n=0)               skipped (n=0)\n"
        "Recovery    50.0 % (1/2) [9.5, 90.5]   2 left out\n"
        "\n"
        "By family\n"
        "family  Success\n"
        "──────  ────────────\n"
        "high    50.0 % (1/2)\n"
        "low     75.0 % (3/4)\n"
    )


def test_report_of_one_agent_puts_the_second_figure_beside_the_first(evalkit, toy):
    toy.record(Path("runs"), {"solo": {"T-1": [1], "T-2": [5, 5, 5]}}, run="20260201-000000-solo")
    out, _ = evalkit("report", "20260201")
    assert out.startswith(
        "towers.all · solo · 4 episodes\n"
        "metric     over scored episodes       missing as failures\n"
        "─────────  ─────────────────────────  ─────────────────────────\n"
        "Success@3   50.0 % (1/2) [9.5, 90.5]   25.0 % (1/4) [4.6, 69.9]\n"
        "Height      1.00 m (n=1)              2 left out\n"
        "Looks      skipped (n=0)              skipped (n=0)\n"
        "Recovery     0.0 % (0/1) [0.0, 79.3]  2 left out\n"
        "\n"
        "2 of 4 episodes missing (not played, ended in an error, or unreadable)\n"
    )


def test_report_without_missing_episodes_says_so_and_has_one_figure(evalkit, toy):
    toy.record(Path("runs"), {"careful": BUILDERS["careful"]}, run="20260201-000000-all")
    out, _ = evalkit("report", "20260201", "--metric", "SUCCESS*")
    assert out == (
        "towers.all · careful · 4 episodes\n"
        "metric     over scored episodes\n"
        "─────────  ─────────────────────────\n"
        "Success@3  75.0 % (3/4) [30.1, 95.4]\n"
        "\n"
        "no episode is missing\n"
        "[low, high] is the 95 % interval: wilson\n"
    )


def test_report_json_is_the_contract_of_scripts(evalkit):
    out, _ = evalkit("report", "latest", "--format", "json")
    document = json.loads(out)
    assert [(r["run"], r["suite"], r["agent"]) for r in document["runs"]] == [
        ("20260131-101500-towers.all-0001", "towers.all", "careful"),
        ("20260131-101500-towers.all-0001", "towers.all", "hasty"),
    ]
    success = document["runs"][1]["metrics"]["towers.success"]
    assert (success["value"], success["numerator"], success["denominator"]) == (0.5, 1, 2)
    assert (success["low"], success["high"]) == pytest.approx((0.094531, 0.905469), abs=1e-6)
    assert success["method"] == "wilson"
    assert success["missing"]["count"] == 2
    assert (success["missing"]["value"], success["missing"]["denominator"]) == (0.25, 4)
    looks = document["runs"][0]["metrics"]["towers.looks"]
    assert (looks["value"], looks["skipped"], looks["missing"]) == (None, 4, None)
    assert list(document["tables"]) == ["main", "main_missing", "towers.families"]


def test_report_puts_runs_side_by_side_and_merges_the_plugins_tables(evalkit, toy):
    toy.record(Path("runs"), {"careful": BUILDERS["careful"]}, run="20260201-000000-all")
    out, _ = evalkit("report", "20260131", "20260201", "20260201", "--format", "markdown")
    heading = out.splitlines()[2]
    assert heading == (
        "| metric | careful · 20260131-101500-towers.all-0001 | hasty | careful · 20260201-000000-all |"
    )
    families = out.split("### By family\n\n")[1]
    assert families == (
        "| run | family | Success |\n"
        "| --- | --- | --- |\n"
        "| 20260131-101500-towers.all-0001 | high | 50.0 % (1/2) |\n"
        "| 20260131-101500-towers.all-0001 | low | 75.0 % (3/4) |\n"
        "| 20260201-000000-all | high | 50.0 % (1/2) |\n"
        "| 20260201-000000-all | low | 100.0 % (2/2) |\n"
    )


def test_report_writes_a_file(evalkit):
    out, _ = evalkit("report", "--format", "csv", "--metric", "towers.recovery", "-o", "figures.csv")
    assert out == ""
    assert Path("figures.csv").read_bytes().decode().splitlines()[:3] == [
        "table,row,column,value,numerator,denominator,low,high,unit,method,status",
        "main,careful,Recovery,0.5,1,2,0.09453120573423074,0.9054687942657693,%,wilson,",
        "main,hasty,Recovery,0.0,0,1,0.0,0.7934506856227626,%,wilson,",
    ]


def test_report_explains_what_it_cannot_find(evalkit):
    with pytest.raises(UnknownNameError, match=r"unknown metric 'sucess'; did you mean towers\.success"):
        evalkit("report", "--metric", "sucess")
    with pytest.raises(RecordError, match="there is no run '1999'"):
        evalkit("report", "1999")
    with pytest.raises(EvalkitError, match=r"can't write .*figures\.txt"):
        evalkit("report", "-o", "absent/figures.txt")


def test_a_broken_view_is_named_and_costs_only_itself(toy, evalkit, monkeypatch, caplog):
    from evalkit.hookspecs import ViewSpec

    plugin = toy.Plugin()
    plugin.views.insert(0, ViewSpec("ink", "toy_towers:broken_view", "", scope="run"))
    monkeypatch.setattr("evalkit.plugins.load_plugins", lambda: toy.plugins(plugin))
    out, _ = evalkit("report")
    assert "By family" in out
    assert "plugin 'towers': view 'ink' failed: RuntimeError: no ink" in caplog.text


def test_a_view_that_asks_is_told_of_missing_episodes(toy, evalkit, monkeypatch):
    from evalkit.hookspecs import ViewSpec

    plugin = toy.Plugin()
    plugin.views.append(ViewSpec("counts", "toy_towers:counting", "", scope="run"))
    monkeypatch.setattr("evalkit.plugins.load_plugins", lambda: toy.plugins(plugin))
    table = json.loads(evalkit("report", "--format", "json")[0])["tables"]["towers.counts"]
    assert table["rows"] == [["hasty/T-3/strict/1", "high"], ["hasty/T-4/strict/1", "high"]]
    assert table["note"] == "6 played"


def test_scores_by_other_tasks_than_those_played_are_noticed(evalkit, toy, monkeypatch, caplog):
    assert json.loads(evalkit("report", "--format", "json")[0])["runs"][0]["notices"] == []
    lower = toy.Task("T-4", {"limit_m": 3}, {"family": "high"})
    monkeypatch.setattr(toy, "TASKS", [*toy.TASKS[:3], lower])
    notice = (
        "20260131-101500-towers.all-0001 is scored by other tasks than it played: the contents of its tasks "
        "differ"
    )
    assert notice in " ".join(evalkit("report")[0].split())
    assert json.loads(evalkit("report", "--format", "json")[0])["runs"][0]["notices"] == [notice]
    caplog.clear()
    evalkit("rescore")
    assert [record.getMessage() for record in caplog.records] == [notice]


def test_a_damaged_episode_is_missing_and_named(evalkit):
    folder = Path("runs/20260131-101500-towers.all-0001/episodes")
    victim = next(p for p in folder.iterdir() if '"careful"' in p.read_text() and "T-1" in p.name)
    victim.write_text("{")
    out, _ = evalkit("report", "--metric", "success*")
    out = " ".join(out.split())
    assert "careful: 1 of 4 episodes missing" in out
    assert "careful: 1 episode can't be scored: " in out
    assert "66.7 % (2/3)" in out
    assert "50.0 % (2/4)" in out


def test_runs_lists_the_newest_first(evalkit, toy):
    toy.record(Path("runs"), {"careful": BUILDERS["careful"]}, run="20260201-000000-towers.all")
    out, err = evalkit("runs")
    assert err == ""
    flat = [re.sub(r" +", " ", line) for line in out.splitlines()]
    assert flat[0] == "runs in runs"
    assert flat[1].startswith("run agent done errors first")
    starts = [line for line in flat if line.startswith("2026")]
    assert starts[0].startswith("20260201-000000-towers.all careful 4/4 0 Success@3 75.0 % (3/4)")
    assert starts[2].startswith("20260131-101500-towers.all-0001 hasty 3/4 1 Success@3 50.0 % (1/2)")
    assert max(map(len, out.splitlines())) <= 100


def test_runs_json(evalkit):
    document = json.loads(evalkit("runs", "--json")[0])
    hasty = document["runs"][1]
    assert (hasty["run"], hasty["agent"]) == ("20260131-101500-towers.all-0001", "hasty")
    assert (hasty["planned"], hasty["played"], hasty["errors"]) == (4, 3, 1)
    assert list(hasty["metrics"]) == ["towers.success"]
    assert hasty["started"] == "2026-01-31T10:15:00+00:00"


def test_runs_names_what_it_cannot_read(evalkit):
    Path("runs/broken").mkdir()
    Path("runs/broken/run.json").write_text("{")
    out, err = evalkit("runs")
    assert "broken" not in out
    assert "run.json is not JSON" in err
    assert evalkit("runs", "nowhere")[0].endswith("(none)\n")


def test_runs_without_the_plugin_still_lists(evalkit, monkeypatch):
    from evalkit.plugins import Plugins

    monkeypatch.setattr("evalkit.cli.runs.load_plugins", Plugins)
    out, err = evalkit("runs")
    assert "not scored" in out
    assert "can't be scored: unknown benchmark 'towers'" in err


def test_show_gives_the_run_and_an_outcome_per_episode(evalkit):
    out, _ = evalkit("show")
    assert out == (
        "run        20260131-101500-towers.all-0001\n"
        "suite      towers.all@1, protocol 0123456789ab\n"
        "agents     careful (version 1), hasty (version 1)\n"
        "started    2026-01-31T10:15:00+00:00\n"
        "seed       0, epochs 1\n"
        "executors  gravity 1 (constants abababababab)\n"
        "versions   evalkit-core 0.1.0\n"
        "platform   Python 3.11.7, Linux x86_64\n"
        "\n"
        "7 of 8 episodes played\n"
        "task  agent    end          outcome  calls  detail\n"
        "────  ───────  ───────────  ───────  ─────  ─────────────────────────────────────\n"
        "T-1   careful  done         S            1\n"
        "T-1   hasty    done         F F F        3\n"
        "T-2   careful  done         V S          2\n"
        "T-2   hasty    done         S            1\n"
        "T-3   careful  done         F S          2\n"
        "T-3   hasty    agent error               0  RuntimeError: no idea (act, line "
        + re.search(r"\(act, line (\d+)\)", out)[1]
        + ")\n"
        "T-4   careful  done         F F F        3\n"
        "T-4   hasty    not played\n"
    )


def test_show_gives_an_episode(evalkit):
    out, _ = evalkit("show", "latest", "careful/T-2")
    assert re.sub(r"[\d.e-]+ s\n", "0 s\n", re.sub(r"design [0-9a-f]{12}", "design HASH", out)) == (
        "careful/T-2/strict/1\n"
        "ended: done\n"
        "outcome: V S   (V invalid, F failed, S succeeded, X executed without a verdict, e refused call)\n"
        "spent: calls 2, tool calls 2, executions 1, 0 s\n"
        "\n"
        "what the agent sees first\n"
        "  Build as high as T-2 takes.\n"
        "  pictures: site.png\n"
        "\n"
        "call 1: propose\n"
        "  height_m: 0\n"
        "  design HASH\n"
        "  invalid: 1 violation\n"
        "    TOO_LOW: height 0 m; build above the ground\n"
        "  feedback\n"
        "    Try again.\n"
        "\n"
        "call 2: propose\n"
        "  height_m: 2\n"
        "  design HASH\n"
        "  gravity 1: succeeded\n"
        "    sway_m: 0.2\n"
        "    limit_m: 2\n"
        "    files: frame.png\n"
        "  feedback\n"
        "    It stands.\n"
    )


def test_show_writes_pictures_and_files_and_nothing_outside(evalkit):
    _, err = evalkit("show", "latest", "careful/T-2", "-o", "out/deep")
    assert err == "evalkit: 5 files in out/deep\n"
    files = {path.name: path.read_bytes() for path in Path("out/deep").iterdir()}
    assert files == {
        "001-site.png": b"a picture",
        "003-.._plan.txt": b"a plan",
        "007-.._plan.txt": b"a plan",
        "008-frame.png": b"the end",
        "drawing-tower.svg": b"<svg>2</svg>",
    }
    assert {p.name for p in Path("out").iterdir()} == {"deep"}


def test_show_json_has_every_event_in_full(evalkit):
    document = json.loads(evalkit("show", "latest", "careful/T-3", "--json")[0])
    assert (document["key"]["task"], document["outcome"], document["end"]["reason"]) == ("T-3", "F S", "done")
    assert [e["kind"] for e in document["events"]][-1] == "episode_end"
    run = json.loads(evalkit("show", "--json")[0])
    assert (run["planned"], len(run["episodes"])) == (8, 7)


def test_show_explains_what_a_key_lacks(evalkit):
    with pytest.raises(UsageError, match="'T-2' fits 2 episodes: careful/T-2/strict/1, hasty/T-2/strict/1"):
        evalkit("show", "latest", "T-2")
    with pytest.raises(UnknownNameError, match="unknown episode 'T-9'; did you mean T-"):
        evalkit("show", "latest", "T-9")
    with pytest.raises(RecordError, match="hasty/T-4/strict/1 has not been played; `evalkit resume"):
        evalkit("show", "latest", "hasty/T-4")
    with pytest.raises(UsageError, match="name its KEY"):
        evalkit("show", "latest", "-o", "out")
