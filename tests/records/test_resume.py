"""`resume`: what has ended stays, what is missing is played once, never under another protocol."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections import Counter
from pathlib import Path

from evalkit.store.reader import RunReader
from evalkit.store.verify import verify_run


def chains(run: Path) -> dict[str, str]:
    return {key.text(): line["chain"] for key, line in RunReader(run).index().items()}


def drop_from_index(run: Path, tasks: set[str]) -> None:
    path = run / "episodes.jsonl"
    lines = [line for line in path.read_text().splitlines() if json.loads(line)["key"]["task"] not in tasks]
    path.write_text("".join(line + "\n" for line in lines))


def cut(run: Path, task: str, lines: int) -> None:
    """Leave only the first lines of a log and half of the next."""
    (log,) = (run / "episodes").glob(f"{task}-??????????.jsonl")
    kept = log.read_text().splitlines(keepends=True)
    log.write_text("".join(kept[:lines]) + kept[lines][:30])


def scores(run: Path) -> bytes:
    return (run / "scores" / "scores.json").read_bytes()


def test_a_finished_run_has_nothing_to_resume(hazard):
    run = hazard.play("plain")
    before, played = chains(run), hazard.plays()
    done = hazard.evalkit("resume", str(run))
    assert done.returncode == 0, done.stderr
    assert "6 of 6 episodes have ended; playing 0" in done.stderr
    assert "Hit" in done.stdout
    assert (chains(run), hazard.plays()) == (before, played)


def test_missing_and_torn_episodes_are_played_and_their_cost_counts(hazard):
    run = hazard.play("plain")
    whole, before = scores(run), chains(run)
    drop_from_index(run, {"t00001", "t00004"})
    cut(run, "t00001", 5)
    next((run / "episodes").glob("t00004-*")).unlink()
    hazard.journal.unlink()
    done = hazard.evalkit("resume", str(run))
    assert done.returncode == 0, done.stderr
    assert sorted(hazard.plays()) == ["t00001", "t00004"]
    after = chains(run)
    assert {
        k: v for k, v in after.items() if "t00001" not in k and "t00004" not in k
    }.items() <= before.items()
    assert scores(run) == whole
    index = {key.task: line for key, line in RunReader(run).index().items()}
    assert index["t00001"]["attempt"] == 2
    assert index["t00001"]["spent_before"] == {"calls": 2, "tool_calls": 2, "executions": 0}
    assert "spent_before" not in index["t00004"]
    assert len(list((run / "episodes").glob("t00001-*.attempt1.jsonl"))) == 1
    assert verify_run(run).clean


def test_an_episode_that_ended_just_before_the_kill_is_entered_and_not_played(hazard):
    run = hazard.play("plain")
    before = chains(run)
    drop_from_index(run, {"t00003"})
    hazard.journal.unlink()
    done = hazard.evalkit("resume", str(run))
    assert "1 episodes had ended but were not in the index" in done.stderr
    assert hazard.plays() == []
    assert chains(run) == before
    assert verify_run(run).findings == []


def test_a_torn_index_line_is_replaced(hazard):
    run = hazard.play("plain")
    before = chains(run)
    path = run / "episodes.jsonl"
    path.write_bytes(path.read_bytes()[:-40])
    assert hazard.evalkit("resume", str(run)).returncode == 0
    assert chains(run) == before
    assert verify_run(run).findings == []
    path.write_bytes(path.read_bytes()[:-1])
    assert hazard.evalkit("resume", str(run)).returncode == 0
    assert chains(run) == before
    assert verify_run(run).findings == []


def test_only_infrastructure_failures_are_played_again_unless_told(hazard):
    run = hazard.play("mixed", code=3)
    hazard.journal.unlink()
    done = hazard.evalkit("resume", str(run))
    assert done.returncode == 3
    assert sorted(hazard.plays()) == ["t00004", "t00007"]
    assert Counter(line["attempt"] for line in RunReader(run).index().values()) == {1: 10, 2: 2}
    hazard.journal.unlink()
    assert hazard.evalkit("resume", str(run), "-j", "1", "--only", "error").returncode == 3
    assert sorted(hazard.plays()) == ["t00001", "t00004", "t00007"]
    crashed = {key.task: line for key, line in RunReader(run).index().items()}["t00004"]
    assert crashed["attempt"] == 3
    assert crashed["end"]["counters"] == {"calls": 2, "tool_calls": 2, "executions": 0}
    assert crashed["spent_before"] == {"calls": 4, "tool_calls": 4, "executions": 0}
    hazard.journal.unlink()
    assert hazard.evalkit("resume", str(run), "--only", "missing").returncode == 3
    assert hazard.plays() == []
    assert verify_run(run).clean


def test_only_unscored_plays_what_cannot_be_read(hazard):
    run = hazard.play("plain")
    cut(run, "t00002", 6)
    hazard.journal.unlink()
    assert hazard.evalkit("resume", str(run)).returncode == 3
    assert hazard.plays() == []
    done = hazard.evalkit("resume", str(run), "--only", "unscored,missing")
    assert done.returncode == 0, done.stderr
    assert hazard.plays() == ["t00002"]


def test_unknown_kinds_are_refused(hazard):
    run = hazard.play("plain", "-n", "1")
    done = hazard.evalkit("resume", str(run), "--only", "mising")
    assert done.returncode == 2
    assert "did you mean missing?" in done.stderr
    assert not (run / "run.lock").exists()


def test_another_constant_task_or_protocol_is_refused_in_one_line(hazard):
    run = hazard.play("plain")
    drop_from_index(run, {"t00001"})
    done = hazard.evalkit("resume", str(run), HAZARD_UNIT="2")
    assert done.returncode == 2
    assert len(done.stderr.splitlines()) == 1
    assert "the constants of executor hazard.total differ" in done.stderr

    suites = hazard.folder / "suites.yaml"
    suites.write_text(suites.read_text().replace("hazard.picky]", "hazard.hit]"))
    assert hazard.evalkit("resume", str(run)).returncode == 0, "today's registry doesn't matter"

    manifest = json.loads((run / "run.json").read_text())
    changed = manifest | {"tasks_sha256": "0" * 64}
    (run / "run.json").write_text(json.dumps(changed))
    assert "the contents of its tasks differ" in hazard.evalkit("resume", str(run)).stderr
    changed = manifest | {"agents": [manifest["agents"][0] | {"version": "0"}]}
    (run / "run.json").write_text(json.dumps(changed))
    assert "agent adder is version 1, was 0" in hazard.evalkit("resume", str(run)).stderr
    manifest["protocol"]["limits"]["calls"] = 1
    (run / "run.json").write_text(json.dumps(manifest))
    done = hazard.evalkit("resume", str(run))
    assert done.returncode == 2
    assert "protocol and protocol_hash don't belong together" in done.stderr


def test_other_packages_are_only_noted(hazard):
    run = hazard.play("plain", "-n", "1")
    manifest = json.loads((run / "run.json").read_text())
    manifest["versions"]["numpy"] = "0.1"
    (run / "run.json").write_text(json.dumps(manifest))
    done = hazard.evalkit("resume", str(run))
    assert done.returncode == 0
    assert ", was 0.1" in done.stderr


def write_lock(run: Path, **fields: object) -> None:
    (run / "run.lock").write_text(json.dumps(fields))


def test_one_writer_at_a_time(hazard):
    run = hazard.play("plain", "-n", "1")
    import psutil

    me = {"pid": os.getpid(), "started": psutil.Process().create_time(), "host": os.uname().nodename}
    write_lock(run, **me)
    done = hazard.evalkit("resume", str(run))
    assert done.returncode == 2
    assert len(done.stderr.splitlines()) == 1
    assert f"is being written by process {os.getpid()}" in done.stderr
    assert hazard.evalkit("rescore", str(run), "--execute").returncode == 2

    write_lock(run, **me | {"started": me["started"] - 1000})  # the id was used again
    done = hazard.evalkit("resume", str(run))
    assert done.returncode == 0
    assert "its lock was taken over" in done.stderr
    assert not (run / "run.lock").exists()

    write_lock(run, **me | {"host": "elsewhere"})
    done = hazard.evalkit("resume", str(run))
    assert done.returncode == 2
    assert "on host elsewhere" in done.stderr
    assert "delete" in done.stderr

    (run / "run.lock").write_text("")
    assert "not readable" in hazard.evalkit("resume", str(run)).stderr


def test_a_living_run_keeps_a_second_writer_out(hazard):
    process = hazard.start("run", "hazard.slow", "-j", "1")
    while not hazard.plays():
        assert process.poll() is None
    done = hazard.evalkit("resume", str(hazard.latest()))
    assert done.returncode == 2
    assert f"is being written by process {process.pid}" in done.stderr
    os.killpg(process.pid, signal.SIGINT)
    process.communicate(timeout=30)


def test_locks_taken_over_by_many_at_once_have_one_owner(tmp_path):
    (tmp_path / "run.lock").write_text(
        json.dumps({"pid": 999_999, "started": 1.0, "host": os.uname().nodename})
    )
    code = (
        "import sys, time; from pathlib import Path; from evalkit.store.lock import RunLock\n"
        "from evalkit.errors import RecordError\n"
        "try: lock = RunLock(Path(sys.argv[1]))\n"
        "except RecordError: print('refused'); sys.exit()\n"
        "print('mine', flush=True); sys.stdin.read()\n"
    )
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", code, str(tmp_path)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for _ in range(6)
    ]
    words = [process.stdout.readline().strip() for process in processes]
    for process in processes:
        process.communicate("", timeout=30)
    assert sorted(words) == ["mine", *["refused"] * 5]
