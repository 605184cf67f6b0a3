"""Budgets of a coding agent: what ends it, what is told, and that nothing of it stays."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
import uuid
from pathlib import Path
from typing import Any

import pytest


def running(mark: str) -> list[str]:
    """Processes of this machine with `mark` among their arguments."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            if mark.encode() in (process / "cmdline").read_bytes():
                found.append(process.name)
        except OSError:
            continue
    return found


def folders() -> set[str]:
    """Temporary folders of episodes."""
    return {str(path) for path in Path("/tmp").glob("evalkit-workspace-*")}


def play_to_a_limit(shop: Any, what: str, name: str, limit: float, *words: str) -> dict[str, Any]:
    """Play until a limit ends it: its work counts, nothing of it stays; the end."""
    mark = uuid.uuid4().hex
    before = folders()
    done = shop.play(shop.template(what, mark, **{name: limit}), *words)
    end: dict[str, Any] = shop.end()
    assert end["reason"] == "limit"
    assert "100.0 % (1/1)" in done.stdout
    (exit_event,) = (e for e in shop.events("agent_process") if e["phase"] == "exit")
    assert exit_event["limit"] == name
    assert not running(mark)
    assert not folders() - before
    return end


def test_turns_are_counted_while_it_works(shop: Any, isolation: str) -> None:
    end = play_to_a_limit(shop, "loop", "turns", 7, "-M", f"isolation={isolation}")
    assert end["detail"] == "turns: limit 7, observed 8"


@pytest.mark.parametrize(
    ("what", "name", "limit", "detail"),
    [
        ("sleep", "seconds", 2, "seconds: limit 2"),
        ("flood", "output_bytes", 1_000_000, "output_bytes: limit 1000000, observed"),
        ("fill", "disk_bytes", 20_000_000, "disk_bytes: limit 20000000, observed"),
    ],
)
def test_other_budgets(shop: Any, what: str, name: str, limit: float, detail: str) -> None:
    assert play_to_a_limit(shop, what, name, limit)["detail"].startswith(detail)
    assert len(shop.printed()) < 3_000_000


def test_the_limits_of_a_suite_come_first(shop: Any) -> None:
    shop.play(shop.template("loop", turns=100), "-T", "limits.turns=3")
    assert shop.end()["detail"] == "turns: limit 3, observed 4"
    assert shop.manifest()["protocol"]["limits"] == {"turns": 3}


def test_a_limit_is_a_limit_again_in_a_replay(shop: Any) -> None:
    shop.play(shop.template("loop", turns=7))
    assert "equal" in shop.evalkit("replay").stdout


def test_daemons_end_with_it(shop: Any, isolation: str) -> None:
    mark = uuid.uuid4().hex
    shop.play(shop.template("daemon", mark), "-M", f"isolation={isolation}")
    assert shop.end()["reason"] == "done"
    assert not running(mark)


def test_ctrl_c_ends_it_and_the_episode_can_be_played_again(shop: Any, isolation: str) -> None:
    mark = uuid.uuid4().hex
    before = folders()
    agent = shop.template("sleep", mark)
    words = ["run", "blocks.workspace", "--agent", agent, "-n", "1", "-M", f"isolation={isolation}"]
    process = subprocess.Popen(
        [sys.executable, "-m", "evalkit", *words],
        cwd=shop.folder,
        env=shop.environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    deadline = time.monotonic() + 60
    while not running(mark):
        assert time.monotonic() < deadline
        assert process.poll() is None
        time.sleep(0.1)
    os.kill(process.pid, signal.SIGINT)
    _, stderr = process.communicate(timeout=60)
    assert process.returncode == 130, stderr
    assert "Traceback" not in stderr
    assert not running(mark)
    assert not folders() - before
    shop.template("behave")
    assert "100.0 % (1/1)" in shop.evalkit("resume", "latest").stdout
