"""The main job on a few levels, through the command as a user types it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

SMOKE = "polybridge.smoke"
#: What may differ between equal runs.
VOLATILE = {"time", "prev", "seconds"}


def evalkit(
    folder: Path, *arguments: str, code: int = 0, **environment: str
) -> subprocess.CompletedProcess[str]:
    done = subprocess.run(
        [sys.executable, "-m", "evalkit", *arguments],
        cwd=folder,
        capture_output=True,
        text=True,
        env={**os.environ, "COLUMNS": "100", **environment},
        timeout=240,
    )
    assert done.returncode == code, done.stderr
    return done


def only_run(folder: Path) -> Path:
    (run,) = (folder / "runs").iterdir()
    return run


def content(run: Path) -> dict[str, list[dict[str, Any]]]:
    """Events by log, without what may differ."""
    return {
        path.name: [
            {k: v for k, v in json.loads(line).items() if k not in VOLATILE}
            for line in path.read_text().splitlines()
        ]
        for path in sorted((run / "episodes").iterdir())
    }


@pytest.fixture(scope="module")
def played(tmp_path_factory) -> tuple[Path, subprocess.CompletedProcess[str]]:
    folder = tmp_path_factory.mktemp("smoke")
    return folder, evalkit(folder, "run", SMOKE, "-j", "2")


def test_results_on_stdout_everything_else_on_stderr(played) -> None:
    _, done = played
    assert done.stdout.startswith("polybridge.smoke · truss · 6 episodes")
    assert "Success@3" in done.stdout
    assert "playing 6 episodes" in done.stderr
    assert "record: runs" in done.stderr


def test_rates_come_with_counts_and_intervals(played) -> None:
    folder, _ = played
    report = json.loads(evalkit(folder, "report", "--format", "json").stdout)
    (run,) = report["runs"]
    success = run["metrics"]["polybridge.success_at_3"]
    assert success["denominator"] == 6
    assert success["method"] == "wilson"
    assert success["low"] < success["value"] <= success["high"]


def test_one_worker_gives_the_same_record_and_scores(played, tmp_path: Path) -> None:
    folder, _ = played
    evalkit(tmp_path, "run", SMOKE, "-j", "1")
    one, two = only_run(tmp_path), only_run(folder)
    assert content(one) == content(two)
    scores = [(run / "scores" / "scores.json").read_bytes() for run in (one, two)]
    assert scores[0] == scores[1]


def test_rescoring_gives_the_same_bytes(played) -> None:
    folder, done = played
    path = only_run(folder) / "scores" / "scores.json"
    before = path.read_bytes()
    path.unlink()
    again = evalkit(folder, "rescore")
    assert path.read_bytes() == before
    assert again.stdout.startswith(done.stdout.partition("\n\n")[0])


def test_replay_agent_repeats_the_run(played, tmp_path: Path) -> None:
    folder, _ = played
    run = only_run(folder).resolve()
    evalkit(tmp_path, "run", SMOKE, "--agent", f"replay:{run}")
    first, second = content(run), content(only_run(tmp_path))
    states = [
        sorted([e["state"] for e in log if e["kind"] == "result"] for log in logs.values())
        for logs in (first, second)
    ]
    assert states[0] == states[1]


def test_scripted_agent_plays_a_file(played, tmp_path: Path) -> None:
    script = tmp_path / "script.json"
    script.write_text(json.dumps({"*": [{"tool": "propose", "arguments": {"text": "no"}}] * 4}))
    evalkit(tmp_path, "run", SMOKE, "-n", "1", "--agent", f"scripted:{script}")
    (log,) = content(only_run(tmp_path)).values()
    assert log[-1]["reason"] == "limit"
    assert log[-1]["counters"] == {"calls": 3, "tool_calls": 3, "executions": 0}


def test_first_line_on_stderr_says_what_will_be_played(tmp_path: Path) -> None:
    process = subprocess.Popen(
        [sys.executable, "-m", "evalkit", "run", SMOKE, "-n", "1"],
        cwd=tmp_path,
        stderr=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        text=True,
    )
    with process:
        assert process.stderr is not None
        assert process.stderr.readline().startswith("polybridge.smoke: 1 of 6 tasks")
        process.stderr.read()
    assert process.returncode == 0


def test_dry_run_plays_nothing(tmp_path: Path) -> None:
    done = evalkit(tmp_path, "run", SMOKE, "--dry-run")
    assert "6 tasks" in done.stdout
    assert not (tmp_path / "runs").exists()


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (("polybridge.strit",), 2, "did you mean polybridge.strict"),
        ((SMOKE, "--agent", "trus"), 2, "did you mean truss"),
        ((SMOKE, "--id", "T1B_Basic_8m"), 2, "did you mean T1B_Basic_08m"),
        ((SMOKE, "-k", "nothing-like-it"), 5, "no task"),
        ((SMOKE, "-T", "parsr=strict"), 2, "did you mean"),
        ((SMOKE, "-T", "parser=lenient"), 2, "parser"),
        ((SMOKE, "--slice", "1"), 2, "--slice"),
        ((SMOKE, "--agent", "scripted"), 2, "needs a file"),
    ],
)
def test_mistakes_are_one_line(tmp_path: Path, arguments: tuple[str, ...], code: int, words: str) -> None:
    done = evalkit(tmp_path, "run", *arguments, code=code)
    assert words in done.stderr
    assert "Traceback" not in done.stderr
    assert done.stderr.count("\n") == 1
    assert done.stdout == ""


def test_ctrl_c_keeps_what_is_finished_and_says_so(tmp_path: Path) -> None:
    process = subprocess.Popen(
        [sys.executable, "-m", "evalkit", "run", SMOKE, "--epochs", "50", "-j", "1"],
        cwd=tmp_path,
        stderr=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    index = tmp_path / "runs"
    deadline = time.monotonic() + 60
    while not any(path.stat().st_size for path in index.glob("*/episodes.jsonl")):
        assert time.monotonic() < deadline
        time.sleep(0.1)
    os.killpg(process.pid, signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 130, err
    assert "Traceback" not in err
    assert "Success@3" in out
    assert "resume" in err
