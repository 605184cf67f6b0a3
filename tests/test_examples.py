"""The examples run, and their files are what they say."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[1] / "examples"


def test_bridge_by_hand_writes_the_reply_that_lies_beside_it(tmp_path: Path) -> None:
    command = [sys.executable, str(EXAMPLES / "bridge_by_hand.py"), str(tmp_path / "bridge.png")]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=120)
    assert "violations: none" in done.stdout
    assert "crossed" in done.stdout
    assert (tmp_path / "bridge.json").read_text() == (EXAMPLES / "warren_08m.json").read_text()


def test_the_reply_works(tmp_path: Path) -> None:
    reply = str(EXAMPLES / "warren_08m.json")
    command = [sys.executable, "-m", "evalkit", "try", "polybridge.strict", reply, "--id", "T1B_Basic_08m"]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=120)
    assert done.stdout.endswith("works: yes\n")


def test_many_attempts_find_the_same_bridge_with_any_number_of_threads() -> None:
    command = [sys.executable, str(EXAMPLES / "many_attempts.py"), "T1B_Basic_06m", "--generations", "3"]
    ends = []
    for threads in ("1", "2"):
        done = subprocess.run(
            [*command, "--threads", threads], capture_output=True, text=True, check=True, timeout=120
        )
        lines = done.stdout.splitlines()
        assert len(lines) == 5
        ends.append([*lines[:3], lines[-1]])
    assert ends[0] == ends[1]
    assert ends[0][-1].startswith("T1B_Basic_06m: $")


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["T4D_Elevated_12m_E1m_6PG"], "no design of generation 1 is legal (CLEARANCE)"),
        (["--threads", "-1"], "--threads: it has to be at least 1"),
        (["--threads", "0"], "--threads: it has to be at least 1"),
    ],
)
def test_many_attempts_that_lead_nowhere_say_why(options: list[str], words: str) -> None:
    command = [sys.executable, str(EXAMPLES / "many_attempts.py"), *options]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert done.returncode != 0
    assert words in done.stderr
    assert "Traceback" not in done.stderr
