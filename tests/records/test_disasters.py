"""What can go wrong while a run goes on does, for real: nothing that was finished is lost or played twice."""

from __future__ import annotations

import contextlib
import json
import os
import random
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

import psutil
import pytest

from evalkit.store.reader import RunReader
from evalkit.store.verify import verify_run

PARENT_KILLS = 25
WORKER_KILLS = 27


def chains(run: Path) -> dict[str, str]:
    return {key.task: line["chain"] for key, line in RunReader(run).index().items()}


def reasons(run: Path) -> Counter[str]:
    return Counter(line["end"]["reason"] for line in RunReader(run).index().values())


def assert_only_unfinished(run: Path) -> None:
    """Whatever a kill leaves behind is a note; nothing is damaged."""
    found = verify_run(run)
    assert found.clean, [finding.text() for finding in found.findings]


def wait_for_plays(hazard, process, number: int) -> None:
    deadline = time.monotonic() + 60
    while len(hazard.plays()) < number and process.poll() is None and time.monotonic() < deadline:
        time.sleep(0.01)


def end(process: subprocess.Popen[str]) -> tuple[int, str, str]:
    out, err = process.communicate(timeout=60)
    return process.returncode, out, err


# Kill −9


def test_killing_the_run_at_any_moment_loses_nothing_that_was_finished(hazard):
    dice = random.Random(20)
    ended: dict[str, str] = {}
    process = hazard.start("run", "hazard.slow", "-j", "2")
    for _ in range(PARENT_KILLS):
        wait_for_plays(hazard, process, len(hazard.plays()) + dice.randint(1, 4))
        time.sleep(dice.random() * 0.05)
        process.kill()
        end(process)
        hazard.assert_no_process_left()
        run = hazard.latest()
        assert_only_unfinished(run)
        now = chains(run)
        assert ended.items() <= now.items()
        ended = now
        process = hazard.start("resume", str(run), "-j", "2")
    code, out, err = end(process)
    assert code == 0, err
    run = hazard.latest()
    assert ended.items() <= chains(run).items()
    assert len(chains(run)) == 60
    assert "60/60" in out
    assert_only_unfinished(run)
    assert_played_once_after_the_end(hazard, run)
    hazard.assert_no_process_left()


def assert_played_once_after_the_end(hazard, run: Path) -> None:
    """An episode was started as often as it has logs (a kill may hit before the first line is written)."""
    for task, starts in Counter(hazard.plays()).items():
        logs = len(list((run / "episodes").glob(f"{task}-*.jsonl")))
        assert logs <= starts
    index = {key.task: line for key, line in RunReader(run).index().items()}
    for task, line in index.items():
        logs = len(list((run / "episodes").glob(f"{task}-*.jsonl")))
        assert line["attempt"] == logs
        if logs > 1:
            assert line["spent_before"]["tool_calls"] >= 0


def test_an_episode_that_has_ended_is_never_started_again(hazard):
    """Between a kill and the next one, exactly the episodes without an end are started."""
    process = hazard.start("run", "hazard.slow", "-j", "2")
    wait_for_plays(hazard, process, 20)
    process.kill()
    end(process)
    hazard.assert_no_process_left()
    run = hazard.latest()
    complete = {
        path.name.split("-")[0]
        for path in (run / "episodes").glob("*.jsonl")
        if b'"kind":"episode_end"' in path.read_bytes()
    }
    assert len(complete) > 5
    hazard.journal.unlink()
    code, _, err = end(hazard.start("resume", str(run), "-j", "2"))
    assert code == 0, err
    assert sorted(hazard.plays()) == sorted({f"t{n:05d}" for n in range(60)} - complete)


def test_a_worker_that_hangs_dies_with_the_run(hazard):
    process = hazard.start("run", "hazard.hang", "-j", "2")
    wait_for_plays(hazard, process, 4)
    process.kill()
    end(process)
    hazard.assert_no_process_left()
    assert_only_unfinished(hazard.latest())


def test_killing_workers_costs_their_episodes_and_no_other(hazard):
    dice = random.Random(7)
    process = hazard.start("run", "hazard.slow", "-j", "2", "--epochs", "12")
    kills = 0
    deadline = time.monotonic() + 60
    while kills < WORKER_KILLS and process.poll() is None and time.monotonic() < deadline:
        wait_for_plays(hazard, process, len(hazard.plays()) + dice.randint(1, 3))
        workers = [p for p in hazard.processes() if p.ppid() == process.pid and is_worker(p)]
        if workers:
            with contextlib.suppress(psutil.NoSuchProcess):
                dice.choice(workers).kill()
                kills += 1
    code, _, err = end(process)
    assert kills == WORKER_KILLS
    run = hazard.latest()
    count = reasons(run)
    assert code == 3, err
    assert set(count) == {"done", "worker_crashed"}
    assert count.total() == 720
    assert 1 <= count["worker_crashed"] <= WORKER_KILLS
    assert_only_unfinished(run)
    hazard.assert_no_process_left()
    before = chains(run)
    hazard.journal.unlink()
    code, _, err = end(hazard.start("resume", str(run), "-j", "2"))
    assert code == 0, err
    assert reasons(run) == {"done": 720}
    assert len(hazard.plays()) == count["worker_crashed"]
    assert_only_unfinished(run)
    assert before.keys() == chains(run).keys()


def is_worker(process: psutil.Process) -> bool:
    with contextlib.suppress(psutil.Error):
        return any("spawn_main" in word for word in process.cmdline())
    return False


# Ctrl-C


def test_ctrl_c_prints_what_there_is_and_leaves_a_run_that_goes_on(hazard):
    process = hazard.start("run", "hazard.slow", "-j", "2")
    wait_for_plays(hazard, process, 15)
    os.killpg(process.pid, signal.SIGINT)
    code, out, err = end(process)
    assert code == 130
    assert "Traceback" not in err
    assert "KeyboardInterrupt" not in err
    run = hazard.latest()
    assert "Hit" in out
    assert f"`evalkit resume {run.relative_to(hazard.folder)}` goes on" in err
    hazard.assert_no_process_left()
    assert_only_unfinished(run)
    assert all(f.line is None or "torn" not in f.message for f in verify_run(run).findings)
    code, out, err = end(hazard.start("resume", run.name, "-j", "2"))
    assert code == 0, err
    assert "(20/60)" in out


def test_ctrl_c_while_workers_start_is_quiet(hazard):
    process = hazard.start("run", "hazard.slow", "-j", "2")
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline and not any(is_worker(p) for p in hazard.processes()):
        time.sleep(0.005)
    os.killpg(process.pid, signal.SIGINT)
    code, _, err = end(process)
    assert code == 130, err
    assert "Traceback" not in err
    hazard.assert_no_process_left()


@pytest.mark.parametrize("request_to_end", [signal.SIGTERM, signal.SIGHUP])
def test_a_request_to_end_leaves_a_run_that_goes_on_like_ctrl_c(hazard, request_to_end):
    process = hazard.start("run", "hazard.slow", "-j", "2")
    wait_for_plays(hazard, process, 5)
    os.kill(process.pid, request_to_end)
    code, out, err = end(process)
    assert code == 130, err
    assert "Hit" in out
    assert "`evalkit resume " in err
    hazard.assert_no_process_left()
    assert_only_unfinished(hazard.latest())


# Jobs that misbehave


@pytest.mark.parametrize(
    ("suite", "options", "reason", "words"),
    [
        ("hang", ("--job-timeout", "1"), "job_timeout", "limit 1 s; killed"),
        ("exit", (), "worker_crashed", "exit code 7"),
        ("quiet", (), "worker_crashed", "exit code 0"),
        ("segfault", (), "worker_crashed", "exit code -11"),
        ("memory", ("--job-memory", "300"), "job_memory", "limit 300 MiB; killed"),
        ("raise", (), "environment_error", "the environment broke"),
        ("executor", (), "executor_error", "the executor broke"),
    ],
)
def test_a_job_that_misbehaves_costs_one_job_and_says_so(hazard, suite, options, reason, words):
    done = hazard.evalkit("run", f"hazard.{suite}", "-j", "2", "--format", "json", *options)
    assert done.returncode == 3, done.stderr
    run = hazard.latest()
    assert reasons(run) == {"done": 3, reason: 1}
    (line,) = [e for k, e in RunReader(run).index().items() if k.task == "t00001"]
    assert line["end"]["reason"] == reason
    assert words in line["end"]["detail"]
    assert line["end"]["counters"]["calls"] >= 2
    assert f"adder/t00001/default/1: {reason}: " in done.stderr
    episodes = json.loads(done.stdout)["runs"][0]["episodes"]
    assert (episodes["played"], episodes["errors"], episodes["finished"]) == (4, 1, 3)
    assert verify_run(run).findings == []
    hazard.assert_no_process_left()


def test_a_metric_that_raises_leaves_one_episode_unscored(hazard):
    done = hazard.evalkit("run", "hazard.scorer", "-j", "2", "--format", "json")
    assert done.returncode == 3
    assert reasons(hazard.latest()) == {"done": 4}
    metrics = json.loads(done.stdout)["runs"][0]["metrics"]
    assert metrics["hazard.hit"]["denominator"] == 4
    assert (metrics["hazard.picky"]["denominator"], metrics["hazard.picky"]["unscored"]) == (3, 1)
    assert "this episode can't be scored" in done.stderr


# Disks


def test_a_full_disk_is_one_clear_line_and_the_run_goes_on_elsewhere(hazard):
    disk = hazard.folder / "disk"
    disk.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=200k", "none", str(disk)], capture_output=True, text=True
    )
    if mounted.returncode:
        pytest.skip(f"no small file system can be mounted here: {mounted.stderr.strip()}")
    try:
        done = hazard.evalkit("run", "hazard.slow", "-j", "2", "-o", str(disk))
        (run,) = disk.iterdir()
        kept = Path(shutil.copytree(run, hazard.folder / "kept"))
    finally:
        subprocess.run(["umount", str(disk)], check=True)
    assert_full_disk(hazard, done, kept, "No space left on device")


def test_a_limit_on_the_size_of_files_is_one_clear_line(hazard):
    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (6000, 6000))

    process = subprocess.Popen(
        [sys.executable, "-m", "evalkit", "run", "hazard.slow", "-j", "2"],
        cwd=hazard.folder,
        env=hazard.environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=limit,
    )
    code, out, err = end(process)
    done = subprocess.CompletedProcess([], code, out, err)
    assert_full_disk(hazard, done, hazard.latest(), "File too large")


def assert_full_disk(hazard, done: subprocess.CompletedProcess[str], run: Path, reason: str) -> None:
    assert done.returncode == 4
    last = done.stderr.splitlines()[-1]
    assert last.startswith("evalkit: error: can't write ")
    assert reason in last
    assert "`evalkit resume` goes on" in last
    assert "Traceback" not in done.stderr
    hazard.assert_no_process_left()
    assert_only_unfinished(run)
    before = chains(run)
    assert 0 < len(before) < 60
    resumed = hazard.evalkit("resume", str(run), "-j", "2")
    assert resumed.returncode == 0, resumed.stderr
    assert before.items() <= chains(run).items()
    assert len(chains(run)) == 60
    assert_only_unfinished(run)


def test_a_folder_without_write_permission_is_one_clear_line(hazard_at):
    """As root, who ignores permissions, the command is run as somebody else."""
    before: tuple[str, ...] = ()
    folder = Path(tempfile.mkdtemp(prefix="evalkit-"))  # pytest's own folders are closed to others
    try:
        hazard = hazard_at(folder)
        run = hazard.play("plain", "-n", "2")
        if os.getuid() == 0:
            before = ("setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups")
            folder.chmod(0o755)
            probe = [*before, sys.executable, "-c", "import evalkit"]
            if shutil.which("setpriv") is None or subprocess.run(probe, capture_output=True).returncode:
                pytest.skip("root ignores permissions, and nobody else can run evalkit here")
        for path in (run, hazard.runs):
            path.chmod(0o555)
        for words in (("run", "hazard.plain", "-o", str(hazard.runs)), ("resume", str(run))):
            done = hazard.evalkit(*words, before=before, HOME="/nonexistent")
            assert done.returncode == 4, done.stderr
            last = done.stderr.splitlines()[-1]
            assert last.startswith(("evalkit: error: can't write ", "evalkit: error: can't make "))
            assert "Permission denied" in last
            assert "Traceback" not in done.stderr
        hazard.assert_no_process_left()
    finally:
        for path in folder.rglob("*"):
            path.chmod(0o755)
        shutil.rmtree(folder)
