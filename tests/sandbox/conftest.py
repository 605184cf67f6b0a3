"""Scripts that attack, played as root and as an ordinary user, and a look at the host afterwards."""

from __future__ import annotations

import os
import pickle
import shutil
import subprocess
import sys
import time
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from evalkit.sandbox import Level, Limits, Outcome, probe, run_script

SOURCES = Path(__file__).parents[2] / "core" / "src"
ORDINARY_UID = 61_001
ATTEMPT = """
import json, os, socket, sys
def attempt(name, action):
    try:
        result = action()
    except BaseException as error:
        print("stopped", name, type(error).__name__, error, flush=True)
    else:
        print("REACHED", name, result, flush=True)
"""
"""Put before a script: says of each attempt whether it got what it wanted."""

_DRIVER = """
import pickle, sys
from evalkit.errors import EvalkitError
from evalkit.sandbox import run_script
try:
    answer = run_script(**pickle.load(sys.stdin.buffer))
except EvalkitError as error:
    answer = error
sys.stdout.buffer.write(pickle.dumps(answer))
"""

Play = Callable[..., Outcome]


def readable_python() -> str:
    """A Python that an ordinary user can start and read."""
    # The start alone says little: setpriv finds the file with root's rights.
    question = "import os, sys; os.stat(sys.executable); sys.exit(sys.version_info < (3, 11))"
    for candidate in (sys.executable, "/usr/bin/python3"):
        asked = as_user([candidate, "-c", question])
        if subprocess.run(asked, env={}, cwd="/", capture_output=True, check=False).returncode == 0:
            return candidate
    pytest.skip("no Python 3.11 that an ordinary user may start")


def as_user(argv: list[str]) -> list[str]:
    """`argv` as an ordinary user; as it is if this already is one."""
    if os.geteuid() != 0:
        return argv
    return ["setpriv", f"--reuid={ORDINARY_UID}", f"--regid={ORDINARY_UID}", "--clear-groups", "--", *argv]


@pytest.fixture(scope="session")
def sources() -> Iterator[Path]:
    """evalkit's sources where every user may read them."""
    folder = Path("/tmp", f"evalkit-sources-{uuid.uuid4().hex}")
    shutil.copytree(SOURCES, folder, ignore=shutil.ignore_patterns("__pycache__"))
    folder.chmod(0o755)
    yield folder
    shutil.rmtree(folder)


def play_as_user(sources: Path, job: dict[str, Any]) -> Outcome:
    """`run_script(**job)` in a process of an ordinary user; raises what it raises."""
    done = subprocess.run(
        as_user([readable_python(), "-c", _DRIVER]),
        input=pickle.dumps(job),
        capture_output=True,
        env={**os.environ, "PYTHONPATH": str(sources), "HOME": "/nonexistent"},
        cwd="/",
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr.decode()
    answer = pickle.loads(done.stdout)
    if isinstance(answer, Exception):
        raise answer
    assert isinstance(answer, Outcome)
    return answer


@pytest.fixture(params=["root", "user"])
def play(request: pytest.FixtureRequest) -> Play:
    """`run_script` at level FULL, once by root and once by an ordinary user; checks that nothing is left."""
    report = probe()
    if report.level < Level.FULL:
        pytest.skip(f"no full sandbox here: {report.reasons[0]}")
    if request.param == "root" and os.geteuid() != 0:
        pytest.skip("not root")
    sources: Path = request.getfixturevalue("sources")

    def play(script: str, **options: Any) -> Outcome:
        marker = f"marker-{uuid.uuid4().hex}"
        options.setdefault("limits", Limits(wall_s=30))
        job = {"script": script, "arguments": [*options.pop("arguments", ()), marker], **options}
        before = sandbox_folders()
        outcome = run_script(**job) if request.param == "root" else play_as_user(sources, job)
        assert outcome.level == Level.FULL
        assert not running(marker)
        assert not lasting_folders(before)
        return outcome

    return play


@pytest.fixture
def attack(play: Play) -> Play:
    """Plays a script of attempts, none of which may get through; `names` are those it has to have made."""

    def attack(script: str, names: list[str], **options: Any) -> Outcome:
        outcome = play(ATTEMPT + script, **options)
        assert outcome.status == "ok", outcome
        assert "REACHED" not in outcome.stdout, outcome.stdout
        made = {line.split()[1] for line in outcome.stdout.splitlines() if line.startswith("stopped ")}
        assert made == set(names)
        return outcome

    return attack


def running(marker: str) -> list[int]:
    """Processes on this machine with `marker` among their arguments."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            if marker.encode() in (folder / "cmdline").read_bytes():
                found.append(int(folder.name))
        except OSError:
            continue
    return found


def sandbox_folders() -> set[Path]:
    """Folders of sandboxes on this machine."""
    return set(Path("/tmp").glob("evalkit-sandbox-*"))


def lasting_folders(before: set[Path]) -> set[Path]:
    """Folders that were not there before and stay; those of other tests going on elsewhere vanish."""
    patience = time.monotonic() + 20
    seen = sandbox_folders() - before
    while seen and time.monotonic() < patience:
        time.sleep(0.05)
        seen &= sandbox_folders()
    return seen


@pytest.fixture
def open_python() -> Path:
    """A Python that a user without rights can start and read."""
    return Path(readable_python())


@pytest.fixture
def full() -> None:
    """Skips where there is no full sandbox."""
    report = probe()
    if report.level < Level.FULL:
        pytest.skip(f"no full sandbox here: {report.reasons[0]}")
