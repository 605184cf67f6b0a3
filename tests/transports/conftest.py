"""Commands in processes of their own, with the toy benchmark `blocks` beside the installed plugins."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

BLOCKS = Path(__file__).parents[1] / "wheels" / "evalkit_blocks" / "src"
CLIENT = [sys.executable, "-m", "evalkit.transports.client"]
TIMEOUT_S = 120
#: What two plays of the same calls may differ in.
VOLATILE = ("time", "prev", "seconds", "key")


@pytest.fixture(scope="session")
def blocks_path(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A PYTHONPATH on which `blocks` is installed."""
    folder = tmp_path_factory.mktemp("site")
    metadata = folder / "evalkit_blocks-0.1.0.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: evalkit-blocks\nVersion: 0.1.0\n")
    (metadata / "entry_points.txt").write_text("[evalkit]\nblocks = evalkit_blocks.plugin\n")
    return os.pathsep.join([str(folder), str(BLOCKS)])


@dataclass
class Workplace:
    """A folder in which commands are run; processes still going at the end of a test are stopped."""

    folder: Path
    environment: dict[str, str]
    started: list[subprocess.Popen[str]] = field(default_factory=list)

    def run(self, *words: str, code: int = 0, given: str = "") -> subprocess.CompletedProcess[str]:
        """Run `evalkit` to its end, with something on standard input."""
        return self.process([sys.executable, "-m", "evalkit", *words], code, given)

    def call(self, *words: str, code: int | None = 0) -> subprocess.CompletedProcess[str]:
        """Run `evalkit-call`."""
        return self.process([*CLIENT, *words], code)

    def start(self, *words: str, stdin: int = subprocess.DEVNULL) -> subprocess.Popen[str]:
        """Start `evalkit` and let it run."""
        process = subprocess.Popen(
            [sys.executable, "-m", "evalkit", *words],
            cwd=self.folder,
            env=self.environment,
            stdin=stdin,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            # a background job of a shell ignores Ctrl-C, and so would its children
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
        )
        self.started.append(process)
        return process

    def said(self, process: subprocess.Popen[str], words: str) -> str:
        """The line of stderr that holds these words; waits for it."""
        assert process.stderr is not None
        seen = []
        for line in process.stderr:
            seen.append(line)
            if words in line:
                return line
        raise AssertionError(f"never said {words!r}: {seen}")

    def finished(self, process: subprocess.Popen[str], code: int = 0) -> tuple[str, str]:
        """What a process printed to its end."""
        out, err = process.communicate(timeout=TIMEOUT_S)
        assert process.returncode == code, err
        return out, err

    def only_run(self) -> Path:
        """The one run folder."""
        (run,) = (self.folder / "runs").iterdir()
        return run

    @staticmethod
    def events(run: Path) -> list[dict[str, Any]]:
        """The events of a run with one episode."""
        (log,) = (run / "episodes").iterdir()
        return [json.loads(line) for line in log.read_text().splitlines()]

    @classmethod
    def content(cls, run: Path) -> list[dict[str, Any]]:
        """The same without what may differ between two plays of the same calls."""
        return [{k: v for k, v in event.items() if k not in VOLATILE} for event in cls.events(run)]

    @classmethod
    def states(cls, run: Path) -> list[str]:
        """The chain of state hashes."""
        return [event["state"] for event in cls.events(run) if event["kind"] == "result"]

    @staticmethod
    def until(condition: Callable[[], object]) -> None:
        """Wait until something is so, as long as a slow machine may need."""
        deadline = time.monotonic() + TIMEOUT_S
        while not condition():
            assert time.monotonic() < deadline
            time.sleep(0.05)

    def process(
        self, command: list[str], code: int | None = 0, given: str = ""
    ) -> subprocess.CompletedProcess[str]:
        """Run any command to its end; the exit code is not looked at if `code` is None."""
        done = subprocess.run(
            command,
            cwd=self.folder,
            env=self.environment,
            input=given,
            capture_output=True,
            text=True,
            timeout=TIMEOUT_S,
        )
        assert code in (None, done.returncode), done.stderr
        return done


NewWorkplace = Callable[[Path], Workplace]


@pytest.fixture(scope="session")
def new_workplace(blocks_path: str) -> NewWorkplace:
    """Makes workplaces."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith("EVALKIT_")}
    environment = kept | {"PYTHONPATH": blocks_path, "COLUMNS": "100"}

    def make(folder: Path) -> Workplace:
        folder.mkdir(exist_ok=True)
        return Workplace(folder, environment)

    return make


@pytest.fixture
def work(new_workplace: NewWorkplace, tmp_path: Path) -> Iterator[Workplace]:
    """A workplace of the test's own."""
    place = new_workplace(tmp_path / "w")
    yield place
    for process in place.started:
        if process.poll() is None:
            process.kill()
        process.communicate()
