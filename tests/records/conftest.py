"""The command in real processes, with a benchmark whose episodes can be made to misbehave."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import psutil
import pytest

HERE = Path(__file__).parent
SUITE = """
  hazard.{name}:
    benchmark: hazard
    agent: adder
    tasks: {{count: {count}, hazards: {{{hazards}}}}}
    settings: {{step_s: {step_s}}}
    limits: {{calls: 9, tool_calls: 9}}
    validators: [hazard.small]
    executors: [hazard.total]
    metrics: [hazard.hit, hazard.picky]
"""
SUITES = {
    "plain": (6, "", 0.0),
    "slow": (60, "", 0.004),
    "hang": (4, "t00001: hang", 0.0),
    "exit": (4, "t00001: exit", 0.0),
    "quiet": (4, "t00001: quiet-exit", 0.0),
    "segfault": (4, "t00001: segfault", 0.0),
    "memory": (4, "t00001: memory", 0.0),
    "raise": (4, "t00001: raise", 0.0),
    "executor": (4, "t00001: executor", 0.0),
    "scorer": (4, "t00001: scorer", 0.0),
    "mixed": (12, "t00001: raise, t00004: exit, t00007: executor", 0.0),
}


class Hazard:
    """A folder with an installed plugin `hazard`; what is started here has `mark` in its environment."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.mark = f"hazard-{folder.name}-{os.getpid()}"
        self.journal = folder / "journal"
        self.runs = folder / "runs"
        info = folder / "site" / "hazard-1.dist-info"
        info.mkdir(parents=True)
        (info / "METADATA").write_text("Metadata-Version: 2.1\nName: hazard\nVersion: 1\n")
        (info / "entry_points.txt").write_text("[evalkit]\nhazard = hazard_plugin\n")
        blocks = [SUITE.format(name=n, count=c, hazards=h, step_s=s) for n, (c, h, s) in SUITES.items()]
        (folder / "suites.yaml").write_text("evalkit: 1\nsuites:" + "".join(blocks))

    def environment(self, **more: str) -> dict[str, str]:
        """Variables under which the command finds the plugin."""
        kept = {k: v for k, v in os.environ.items() if not k.startswith(("EVALKIT", "HAZARD"))}
        return kept | {
            "PYTHONPATH": f"{self.folder / 'site'}{os.pathsep}{HERE}",
            "EVALKIT_PLUGINS": "hazard",
            "HAZARD_SUITES": str(self.folder / "suites.yaml"),
            "HAZARD_JOURNAL": str(self.journal),
            "HAZARD_MARK": self.mark,
            "COLUMNS": "100",
            **more,
        }

    def start(self, *words: str, before: Sequence[str] = (), **more: str) -> subprocess.Popen[str]:
        """The command as a process, in a process group of its own."""
        return subprocess.Popen(
            [*before, sys.executable, "-m", "evalkit", *words],
            cwd=self.folder,
            env=self.environment(**more),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )

    def evalkit(
        self, *words: str, before: Sequence[str] = (), timeout_s: float = 60, **more: str
    ) -> subprocess.CompletedProcess[str]:
        """Run the command to its end."""
        process = self.start(*words, before=before, **more)
        try:
            out, err = process.communicate(timeout=timeout_s)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            raise
        return subprocess.CompletedProcess(words, process.returncode, out, err)

    def play(self, suite: str, *words: str, code: int = 0, **more: str) -> Path:
        """Play a suite in one worker and return its run folder."""
        done = self.evalkit("run", f"hazard.{suite}", "-j", "1", "--format", "json", *words, **more)
        assert done.returncode == code, done.stderr
        return self.latest()

    def latest(self) -> Path:
        """The newest run folder."""
        return max(self.runs.iterdir(), key=lambda path: path.stat().st_ctime_ns)

    def plays(self) -> list[str]:
        """The tasks of all episodes that were started, in order."""
        return self.journal.read_text().split() if self.journal.exists() else []

    def processes(self) -> list[psutil.Process]:
        """Everything alive that was started from here."""
        return [p for p in psutil.process_iter() if self._marked(p)]

    def assert_no_process_left(self) -> None:
        """Workers may take a moment to die after their parent; none may stay."""
        deadline = time.monotonic() + 20
        while (left := self.processes()) and time.monotonic() < deadline:
            time.sleep(0.02)
        assert not left, [p.cmdline() for p in left]

    def _marked(self, process: psutil.Process) -> bool:
        try:
            environment: Mapping[str, str] = process.environ()
            alive = process.status() != psutil.STATUS_ZOMBIE
        except psutil.Error:
            return False
        return alive and environment.get("HAZARD_MARK") == self.mark


@pytest.fixture
def hazard(tmp_path: Path) -> Iterator[Hazard]:
    """A fresh installation without runs; nothing started in it survives the test."""
    installed = Hazard(tmp_path)
    yield installed
    for process in installed.processes():
        process.kill()


@pytest.fixture
def hazard_at() -> type[Hazard]:
    """Makes an installation in a folder of the test's choice."""
    return Hazard


@pytest.fixture(scope="session")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A finished run of `hazard.mixed` by two agents, with three kinds of errors; not to be changed."""
    installed = Hazard(tmp_path_factory.mktemp("recorded"))
    return installed.play("mixed", "--agent", "adder", "--agent", "doubler", code=3)


@pytest.fixture
def copy(recorded: Path, tmp_path: Path) -> Path:
    """A copy of `recorded` to damage."""
    return Path(shutil.copytree(recorded, tmp_path / "copy"))
