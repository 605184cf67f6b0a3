"""Foreign plugins as real wheels: what they bring works, and what they don't touch stays the same.

Installed is not active: a rule, executor or metric acts only where a suite or `-T` names it.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

WHEELS = Path(__file__).with_name("wheels")
TIMEOUT_S = 240
#: What two runs of the same episode may differ in.
VOLATILE = ("time", "prev", "seconds")

Evalkit = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder into which both wheels are installed."""
    source, dist, site = (tmp_path_factory.mktemp(name) for name in ("source", "dist", "site"))
    pip = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check"]
    for name in ("evalkit_blocks", "evalkit_extra"):
        build = ["wheel", "--no-build-isolation", "--no-deps", "--no-index", "-w", str(dist)]
        shutil.copytree(WHEELS / name, source / name)  # so that the build leaves nothing in the checkout
        subprocess.run([*pip, *build, str(source / name)], check=True, timeout=TIMEOUT_S)
    wheels = sorted(map(str, dist.glob("*.whl")))
    assert len(wheels) == 2
    install = ["install", "--no-deps", "--no-index", "--target", str(site), *wheels]
    subprocess.run([*pip, *install], check=True, timeout=TIMEOUT_S)
    return site


@pytest.fixture(scope="module")
def evalkit(site: Path, tmp_path_factory: pytest.TempPathFactory) -> Evalkit:
    """Run the command in a folder of its own, with or without the wheels."""
    folder = tmp_path_factory.mktemp("work")

    def run(*words: str, foreign: bool = True, code: int = 0) -> subprocess.CompletedProcess[str]:
        environment = {k: v for k, v in os.environ.items() if not k.startswith("EVALKIT_")}
        environment["PYTHONPATH"] = str(site) if foreign else ""
        done = subprocess.run(
            [sys.executable, "-m", "evalkit", *words],
            cwd=folder,
            env=environment,
            capture_output=True,
            text=True,
            timeout=TIMEOUT_S,
        )
        assert done.returncode == code, done.stderr
        return done

    return run


@pytest.fixture
def play(evalkit: Evalkit, tmp_path: Path) -> Callable[..., Path]:
    """Play a suite and return the run's folder."""

    def run(*words: str, foreign: bool = True) -> Path:
        root = tmp_path / f"runs{len(list(tmp_path.iterdir()))}"
        evalkit("run", *words, "-o", str(root), "-j", "1", "--format", "plain", foreign=foreign)
        (folder,) = root.iterdir()
        return folder

    return run


def manifest(run: Path) -> dict[str, Any]:
    return json.loads((run / "run.json").read_text())


def scores(run: Path) -> Path:
    (path,) = run.glob("scores/*.json")
    return path


def contents(run: Path) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """Each episode's events without times and the hashes that depend on them."""
    for path in sorted((run / "episodes").iterdir()):
        events = [json.loads(line) for line in path.read_text().splitlines()]
        yield path.name, [{k: v for k, v in event.items() if k not in VOLATILE} for event in events]


def values(run: Path, metric: str) -> list[float | None]:
    return [e["scores"][metric]["value"] for e in json.loads(scores(run).read_text())["episodes"]]


def test_both_are_listed_with_their_distributions(evalkit: Evalkit) -> None:
    rows = {row["name"]: row for row in json.loads(evalkit("ls", "plugins", "--json").stdout)}
    assert rows["blocks"]["distribution"] == "evalkit-blocks"
    assert rows["extra"]["distribution"] == "evalkit-extra"
    assert {row["status"] for row in rows.values()} == {"ok"}
    assert "blocks" not in evalkit("ls", "plugins", foreign=False).stdout


def test_suites_agents_and_metrics_are_listed(evalkit: Evalkit) -> None:
    assert "blocks.basic" in evalkit("ls", "suites").stdout
    assert "extra-flat" in evalkit("ls", "agents").stdout
    assert "extra.members" in evalkit("ls", "metrics").stdout


def test_blocks_runs_with_a_judge_after_play(play: Callable[..., Path]) -> None:
    run = play("blocks.basic")
    assert values(run, "blocks.solved") == [1.0] * 8
    assert values(run, "blocks.neatness") == [1.0] * 8
    document = json.loads(scores(run).read_text())
    best = document["run"]["blocks.best"]["tower"]
    assert (best["numerator"], best["denominator"]) == (8, 8)


def test_random_stacks_fail_sometimes_and_recover(play: Callable[..., Path]) -> None:
    run = play("blocks.basic", "--agent", "random", "--epochs", "2")
    solved = values(run, "blocks.solved")
    assert 0.0 in solved
    assert 1.0 in solved
    heights = values(run, "blocks.height")
    assert None in heights, "some episode has no stack that stood: not applicable, never 0"


def test_two_plugins_may_call_their_agents_alike(play: Callable[..., Path]) -> None:
    assert manifest(play("blocks.smoke", "--agent", "random"))["agents"][0]["plugin"] == "blocks"
    bridges = play("polybridge.smoke", "--agent", "random", "-n", "1")
    assert manifest(bridges)["agents"][0]["plugin"] == "polybridge"


def test_installing_them_changes_no_result_of_polybridge(play: Callable[..., Path]) -> None:
    with_them, without = play("polybridge.smoke"), play("polybridge.smoke", foreign=False)
    assert scores(with_them).read_bytes() == scores(without).read_bytes()
    assert list(contents(with_them)) == list(contents(without))
    assert manifest(with_them)["protocol_hash"] == manifest(without)["protocol_hash"]
    assert len(list(contents(with_them))) == 6


def test_a_foreign_rule_acts_where_it_is_named(play: Callable[..., Path]) -> None:
    plain = play("polybridge.smoke", "-k", "Basic")
    strict = play("polybridge.smoke", "-k", "Basic", "-T", "validators+=extra.no_steel")
    assert manifest(plain)["protocol_hash"] != manifest(strict)["protocol_hash"]
    assert "extra.no_steel" in manifest(strict)["protocol"]["validators"]
    assert scores(plain).read_bytes() != scores(strict).read_bytes()
    codes = [v["code"] for _, events in contents(strict) for e in events for v in e.get("violations", ())]
    assert "NO_STEEL" in codes


def test_a_foreign_metric_adds_a_column(evalkit: Evalkit, play: Callable[..., Path]) -> None:
    run = play("polybridge.smoke", "--agent", "extra-flat", "-n", "2", "-T", "metrics+=extra.members")
    assert values(run, "extra.members") == [4.0, 6.0]
    report = json.loads(evalkit("report", str(run), "--format", "json").stdout)
    assert report["runs"][0]["metrics"]["extra.members"]["value"] == 5.0
    assert "Members" in evalkit("report", str(run)).stdout


def test_a_foreign_executor_gives_its_own_evidence(play: Callable[..., Path]) -> None:
    named = ("--agent", "extra-flat", "-n", "1", "-T", "executors+=extra.static")
    ((_, events),) = contents(play("polybridge.smoke", *named))
    found = {e["executor"]: e for e in events if e["kind"] == "execution"}
    assert found.keys() == {"polybridge.embedded", "extra.static"}
    assert found["extra.static"]["data"] == {"redundancy": -2}
    assert found["extra.static"]["success"] is False


def test_a_rule_that_is_not_installed_is_named_with_a_hint(evalkit: Evalkit) -> None:
    done = evalkit("run", "polybridge.smoke", "-T", "validators+=extra.no_stel", code=2)
    assert "did you mean extra.no_steel" in done.stderr
    assert "extra.no_steel" in evalkit("ls", "validators").stdout


def test_a_run_whose_plugin_is_gone_says_so_in_one_line(evalkit: Evalkit, play: Callable[..., Path]) -> None:
    done = evalkit("report", str(play("blocks.smoke")), foreign=False, code=2)
    assert "'blocks'" in done.stderr
    assert len(done.stderr.splitlines()) == 1
