"""`evalkit polybridge agree`: two executors compared on identical designs, or, failing that, on episodes."""

from __future__ import annotations

import csv
import io
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from evalkit.cli.main import main
from evalkit.stats import wilson
from evalkit_polybridge.agreement import Counts, Pair, Verdict, count

LEVELS = ["T1B_Basic_08m", "T1D_BottomAnchor_12m_D2m_6PG", "T2D_Platform_4-4-4"]

PLUGIN = """
from evalkit.hookspecs import ExecutorSpec, hookimpl

@hookimpl
def evalkit_executors(benchmark):
    if benchmark != "polybridge":
        return []
    return [ExecutorSpec("brittle.physics", "brittle_physics:Brittle", version="1", summary="weak members")]
"""
EXECUTOR = '''
from evalkit import Execution
from evalkit_polybridge.designs import bridge_from_json, level_from_inputs
from evalkit_polybridge.physics import simulate

class Brittle:
    """The embedded physics with members of 60 % of their strength."""

    def __init__(self, settings):
        pass

    def constants(self):
        return {"strength": 0.6}

    def execute(self, task, candidate, *, pictures):
        bridge = bridge_from_json(candidate.data)
        run = simulate(level_from_inputs(task.inputs), bridge, strength_scale=0.6)
        data = {"outcome": run.outcome, "cost": round(bridge.cost(), 4), "lost_s": run.lost_s}
        return Execution(run.success, data | {"first_break_s": run.first_break_s}, (), "brittle.physics")
'''


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, str]:
    """The same agents in the embedded physics and in that of a foreign plugin with weaker members."""
    folder = tmp_path_factory.mktemp("agree")
    site = folder / "site"
    information = site / "evalkit_brittle-1.dist-info"
    information.mkdir(parents=True)
    (information / "METADATA").write_text("Metadata-Version: 2.1\nName: evalkit-brittle\nVersion: 1\n")
    (information / "entry_points.txt").write_text("[evalkit]\nbrittle = brittle_plugin\n")
    (site / "brittle_plugin.py").write_text(PLUGIN)
    (site / "brittle_physics.py").write_text(EXECUTOR)
    played = []
    for name, executor in (("a", "polybridge.embedded"), ("b", "brittle.physics")):
        words = ["run", "polybridge.smoke", "--agent", "truss", "--agent", "flat", "--executor", executor]
        words += ["-T", f"tasks.names={json.dumps(LEVELS)}", "-j", "1", "-o", str(folder / name)]
        environment = os.environ | {"PYTHONPATH": str(site)}
        command = [sys.executable, "-m", "evalkit", *words]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=240)
        assert done.returncode == 0, done.stderr
        (run,) = (folder / name).iterdir()
        played.append(str(run))
    return played[0], played[1]


def agreed(capsys: Any, *words: str) -> dict[str, Any]:
    assert main(["polybridge", "agree", *words, "--json"]) == 0
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    return found


def test_a_copy_of_a_run_agrees_with_it(runs: tuple[str, str], tmp_path: Path, capsys: Any) -> None:
    copy = shutil.copytree(runs[0], tmp_path / Path(runs[0]).name)
    found = agreed(capsys, runs[0], str(copy))
    assert found["designs"]["agreement"] == 1.0
    assert found["designs"]["kappa"] == 1.0
    assert found["episodes"]["n"] == 0
    assert {pair["first_break_difference_s"] for pair in found["pairs"]} <= {0.0, None}


def test_a_run_is_not_compared_with_itself(runs: tuple[str, str], capsys: Any) -> None:
    assert main(["polybridge", "agree", runs[0], f"{runs[0]}/"]) == 2
    assert "which agrees with itself: name two runs" in capsys.readouterr().err


def test_weaker_members_break_what_held_and_break_it_earlier(runs: tuple[str, str], capsys: Any) -> None:
    found = agreed(capsys, *runs)
    designs = found["designs"]
    assert designs["only_a"] >= 1
    assert designs["only_b"] == 0
    assert designs["neither"] >= 1
    assert designs["n"] == sum(designs[name] for name in ("both", "only_a", "only_b", "neither"))
    assert designs["agreement"] < 1.0
    interval = wilson(designs["both"] + designs["neither"], designs["n"])
    assert (designs["low"], designs["high"]) == (interval.low, interval.high)
    differences = [p["first_break_difference_s"] for p in found["pairs"]]
    known = [difference for difference in differences if difference is not None]
    assert known
    assert all(difference < 0 for difference in known)
    assert "brittle.physics 1" in found["b"]["executor"]


def test_it_is_symmetric(runs: tuple[str, str], capsys: Any) -> None:
    there, back = agreed(capsys, *runs)["designs"], agreed(capsys, *reversed(runs))["designs"]
    assert (there["only_a"], there["only_b"]) == (back["only_b"], back["only_a"])
    assert there["kappa"] == pytest.approx(back["kappa"])


def test_the_table_lists_the_levels_that_differ(runs: tuple[str, str], capsys: Any) -> None:
    assert main(["polybridge", "agree", *runs]) == 0
    text = capsys.readouterr().out
    found = agreed(capsys, *runs)
    for pair in found["pairs"]:
        if not pair["agrees"]:
            assert f"{pair['level']}" in text
            assert pair["design"][:12] in text
    assert main(["polybridge", "agree", *runs, "--format", "csv"]) == 0
    rows = list(csv.reader(io.StringIO(capsys.readouterr().out)))
    facts = {tuple(row[:3]): row[3] for row in rows[1:]}
    assert facts["agree.runs", "B", "run"] == found["b"]["run"]
    assert facts["agree.runs", "B", "executor"] == found["b"]["executor"]
    assert float(facts["agree.counts", "identical designs", "Cohen's κ"]) == found["designs"]["kappa"]
    differing = sum(not pair["agrees"] for pair in found["pairs"])
    assert sum(row[:1] == ["agree.levels"] or "agree.levels" in row for row in rows) >= differing


RANDOM = ("--agent", "random", "-T", f'tasks.names=["{LEVELS[0]}"]')


def test_without_a_common_design_episodes_are_compared_and_it_says_so(play: Any, capsys: Any) -> None:
    a, b = play(*RANDOM), play(*RANDOM, "--seed", "1")
    capsys.readouterr()
    found = agreed(capsys, a, b)
    assert found["designs"]["n"] == 0
    assert found["designs"]["agreement"] is None
    assert found["episodes"]["n"] == 1
    assert [pair["by"] for pair in found["pairs"]] == ["episode"]
    assert main(["polybridge", "agree", a, b]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "Episodes without a common design say something about the agent, too." in said


def test_runs_with_nothing_in_common_are_refused(play: Any, fallen: Any, capsys: Any) -> None:
    fell, elsewhere = fallen(), play("--agent", "flat", "-T", f'tasks.names=["{LEVELS[2]}"]')
    at_random = play(*RANDOM)
    capsys.readouterr()
    assert main(["polybridge", "agree", fell, elsewhere]) == 2
    assert "have no level in common" in capsys.readouterr().err
    assert main(["polybridge", "agree", fell, at_random]) == 2
    assert "no design and no agent in common" in capsys.readouterr().err


def test_levels_under_other_budgets_are_the_same_levels(fallen: Any, capsys: Any) -> None:
    strict, loose = fallen(), fallen("-T", "condition=loose", "-T", "tasks.budget=loose")
    capsys.readouterr()
    assert agreed(capsys, strict, loose)["designs"]["agreement"] == 1.0
    # Nothing but falls: κ has no value, and its row says so.
    assert main(["polybridge", "agree", strict, loose, "--format", "csv"]) == 0
    rows = csv.DictReader(io.StringIO(capsys.readouterr().out))
    (kappa,) = [row for row in rows if row["column"] == "Cohen's κ"]
    assert kappa["value"] == ""


def pairs(both: int, only_a: int, only_b: int, neither: int) -> list[Pair]:
    table = [(both, True, True), (only_a, True, False), (only_b, False, True), (neither, False, False)]
    return [Pair("level", "d", Verdict(a, None), Verdict(b, None)) for n, a, b in table for _ in range(n)]


def test_kappa_is_cohens() -> None:
    # observed 35/50, by chance 0.5 × 0.6 + 0.5 × 0.4
    counts = count(pairs(20, 5, 10, 15))
    assert counts == Counts(20, 5, 10, 15)
    assert counts.kappa == pytest.approx(0.4)
    assert count(pairs(3, 0, 0, 0)).kappa is None
    assert count([]).kappa is None
