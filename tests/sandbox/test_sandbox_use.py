"""A full sandbox at work: numpy, packages, closed folders, several at once, a caller that dies."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
import uuid
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from evalkit.errors import SandboxError, UsageError
from evalkit.sandbox import Limits, Outcome, run_script

Play = Callable[..., Outcome]


def test_numpy_works(full: None) -> None:
    script = """
import numpy as np
a = np.random.default_rng(1).normal(size=(400, 400))
b = np.linalg.solve(a, a @ a)
print(np.abs(a - b).max() < 1e-6)
np.save("a.npy", a)
"""
    outcome = run_script(script, outputs=["*.npy"], limits=Limits(wall_s=60, memory_bytes=512 << 20))
    assert (outcome.status, outcome.stdout, outcome.stderr) == ("ok", "True\n", "")
    assert len(outcome.files["a.npy"]) == 400 * 400 * 8 + 128


def test_scipy_and_processes_work(full: None) -> None:
    script = """
import multiprocessing
from scipy.sparse.linalg import spsolve
from scipy.sparse import eye
print(spsolve(eye(3).tocsr() * 2.0, [2.0, 4.0, 6.0]))
if __name__ == "__main__":
    with multiprocessing.get_context("fork").Pool(2) as pool:
        print(pool.map(abs, [-1, -2]))
"""
    outcome = run_script(script, limits=Limits(wall_s=60))
    assert (outcome.stdout, outcome.stderr) == ("[1. 2. 3.]\n[1, 2]\n", "")


def test_same_script_gives_the_same(play: Play) -> None:
    script = "import os, sys, time\nprint({*'abcdef'}, hash('x'), sys.flags, dict(os.environ), time.tzname)"
    assert play(script).stdout == play(script).stdout


def test_packages_are_shown_read_only_even_in_closed_folders(full: None, tmp_path: Path) -> None:
    """pytest's folders are closed to other users, as root's home is."""
    package = tmp_path / "closed" / "lib"
    package.mkdir(parents=True)
    (package / "helper.py").write_text("VALUE = 42\n")
    (tmp_path / "closed" / "secret").write_text("secret")
    (tmp_path / "closed").chmod(0o700)
    script = """
import os, helper
print(helper.VALUE, os.listdir(os.path.dirname(os.path.dirname(helper.__file__))))
open(os.path.join(os.path.dirname(helper.__file__), "x"), "w")
"""
    outcome = run_script(script, packages=[package], limits=Limits(wall_s=30))
    assert outcome.stdout == "42 ['lib']\n"
    assert "Read-only file system" in outcome.stderr
    assert sorted(path.name for path in package.iterdir()) == ["helper.py"]


def test_folder_of_a_virtual_environment(full: None, tmp_path: Path) -> None:
    subprocess.run(
        [sys.executable, "-m", "venv", "--without-pip", tmp_path / "venv"], check=True, timeout=120
    )
    outcome = run_script("import sys\nprint(sys.prefix)", python=tmp_path / "venv", limits=Limits(wall_s=30))
    assert (outcome.stdout, outcome.stderr) == (f"{tmp_path / 'venv'}\n", "")


def test_script_from_a_file(full: None, tmp_path: Path) -> None:
    path = tmp_path / "build.py"
    path.write_text("print(__file__)")
    assert run_script(path, limits=Limits(wall_s=30)).stdout == "/workspace/build.py\n"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"script": Path("/nowhere/x.py")}, "can't read /nowhere/x.py: No such file"),
        ({"inputs": {"script.py": b""}}, "has the name of the script"),
        ({"inputs": {"a": Path("/nowhere")}}, "can't read /nowhere"),
        ({"inputs": {"a": b"x" * 5000}, "limits": Limits(disk_bytes=4096)}, "more than disk_bytes=4096"),
        ({"python": Path("/nowhere/python")}, "no Python at /nowhere/python"),
        ({"python": Path("/usr/bin/env")}, "doesn't answer as a Python interpreter does"),
        ({"packages": [Path("/nowhere")]}, "no folder /nowhere"),
        ({"packages": [Path("/")]}, "all of / to the script"),
        ({"packages": [Path.home()]}, "to the script; use a folder of its own"),
        ({"arguments": ["a\0b"]}, "holds a NUL"),
    ],
)
def test_wrong_arguments_are_explained(options: dict[str, object], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        run_script(**{"script": "pass", **options})  # type: ignore[arg-type]


def test_sandbox_that_cannot_start_says_why(full: None) -> None:
    with pytest.raises(SandboxError, match=r"the sandbox didn't start: .*No space left"):
        run_script("pass", limits=Limits(disk_files=2))


def test_several_at_once_are_apart(full: None) -> None:
    script = """
import os, sys, time
before = {*os.listdir("/tmp")}  # an interpreter that is installed there
open("/tmp/mine", "x").write(sys.argv[1])
open("/dev/shm/mine", "x").close()
time.sleep(0.3)
seen = sorted({*os.listdir("/tmp")} - before)
print(seen, open("/tmp/mine").read(), len([p for p in os.listdir("/proc") if p.isdigit()]))
"""
    with ThreadPoolExecutor(6) as pool:
        outcomes = list(
            pool.map(lambda n: run_script(script, arguments=[str(n)], limits=Limits(wall_s=60)), range(6))
        )
    assert [outcome.stdout for outcome in outcomes] == [f"['mine'] {n} 2\n" for n in range(6)]


def test_script_ends_when_its_caller_is_killed(full: None) -> None:
    marker = f"marker-{uuid.uuid4().hex}"
    script = "import time; print('up', flush=True); time.sleep(1000)"
    caller = subprocess.Popen(
        [
            sys.executable,
            "-c",
            f"from evalkit.sandbox import *; run_script({script!r}, arguments=[{marker!r}])",
        ]
    )
    try:
        wait_for(lambda: len(inside(marker)) == 1)
    finally:
        caller.send_signal(signal.SIGKILL)
        caller.wait(30)
    wait_for(lambda: not inside(marker))


def test_script_ends_when_its_caller_is_interrupted(full: None) -> None:
    marker = f"marker-{uuid.uuid4().hex}"
    script = "import signal, time; signal.signal(2, signal.SIG_IGN); time.sleep(1000)"
    code = (
        "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        f"from evalkit.sandbox import *; run_script({script!r}, arguments=[{marker!r}])"
    )
    caller = subprocess.Popen([sys.executable, "-c", code], stderr=subprocess.PIPE)
    try:
        wait_for(lambda: len(inside(marker)) == 1)
        caller.send_signal(signal.SIGINT)
        assert b"KeyboardInterrupt" in caller.communicate(timeout=60)[1]
        assert not inside(marker)
    finally:
        caller.kill()
        caller.wait(30)


def inside(marker: str) -> list[Path]:
    """Processes that run `script.py` with this marker."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            arguments = (folder / "cmdline").read_bytes().split(b"\0")
        except OSError:
            continue
        if marker.encode() in arguments and b"script.py" in arguments:
            found.append(folder)
    return found


def wait_for(condition: Callable[[], bool]) -> None:
    patience = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < patience, "it didn't happen within a minute"
        time.sleep(0.02)


def test_run_leaves_no_descriptor_open(full: None) -> None:
    run_script("pass", limits=Limits(wall_s=30))
    before = sorted(os.listdir("/proc/self/fd"))
    for _ in range(3):
        run_script("pass", limits=Limits(wall_s=30))
    assert sorted(os.listdir("/proc/self/fd")) == before
