"""A screen, a stand-in for the game on it, and a calibration that fits."""

from __future__ import annotations

import contextlib
import json
import os
import select
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil
import pytest

from evalkit_polybridge.levelfiles import export_level
from evalkit_polybridge.levels.catalogue import load
from evalkit_polybridge.native.calibration import Calibration, calibration_from, write_calibration
from evalkit_polybridge.native.layouts import FOLDER_VARIABLE

STANDIN = Path(__file__).with_name("standin.py")
LEVELS = ("T1B_Basic_08m", "T1D_BottomAnchor_12m_D2m_6PG")
#: How long a process may take to say that it is there.
PATIENCE_S = 120.0

CALIBRATION: dict[str, Any] = {
    "version": 1,
    "game": "the stand-in",
    "window": {"title": "Stand-in", "window_class": "StandIn", "width": 640, "height": 400},
    "focus": {"x": 400.5 / 640, "y": 390.5 / 400},
    "reload": [{"click": {"x": 50.5 / 640, "y": 382.5 / 400}}, {"wait_s": 0.2}],
    "editor": {"x": 600.5 / 640, "y": 20.5 / 400, "channel": "blue", "above": 150},
    "success": {"x": 340.5 / 640, "y": 20.5 / 400, "channel": "green", "above": 150},
    "failure": {"x": 1145.5 / 2560, "y": 637.5 / 1600, "channel": "red", "above": 150},
    "editor_timeout_s": 5.0,
    "window_s": 1.0,
}


@dataclass(frozen=True)
class Table:
    """Where the game's layouts are, and a calibration file beside them."""

    layouts: Path
    calibration: Path

    @property
    def slot(self) -> Path:
        """The layout that is replaced."""
        return self.layouts / "evalkit.layout.json"

    def log(self) -> list[str]:
        """What the stand-in did: `load NAME`, `run`, `leave`."""
        log = self.layouts / "standin.log"
        return log.read_text(encoding="utf-8").splitlines() if log.exists() else []


def announced(process: subprocess.Popen[str]) -> str:
    """The first line that a process prints; fails if it ends or stays silent."""
    assert process.stdout is not None
    readable, _, _ = select.select([process.stdout], [], [], PATIENCE_S)
    line = process.stdout.readline().strip() if readable else ""
    if not line:
        process.kill()
        pytest.fail(f"{process.args} said nothing")
    return line


def stop(process: subprocess.Popen[str]) -> None:
    """End a process that may have ended already."""
    process.kill()
    process.communicate()


@pytest.fixture(scope="session")
def screen() -> Iterator[str]:
    """The DISPLAY of an X server of our own; skips where there is none, or no libraries to use it."""
    if shutil.which("Xvfb") is None:
        pytest.skip("Xvfb isn't installed")
    pytest.importorskip("Xlib", reason="python-xlib isn't installed (extra `native`)")
    pytest.importorskip("mss", reason="mss isn't installed (extra `native`)")
    # The server says its number on -displayfd once it accepts connections.
    # Without repeats (-r): a key that is held a little long on a busy machine is still pressed once.
    command = ["Xvfb", "-r", "-displayfd", "1", "-screen", "0", "1024x768x24", "-nolisten", "tcp"]
    server = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    try:
        yield f":{announced(server)}"
    finally:
        server.terminate()
        server.wait(PATIENCE_S)
        stop(server)


@pytest.fixture
def table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Table:
    """A layouts folder with two levels, state of its own, and no screen."""
    layouts = tmp_path / "layouts"
    layouts.mkdir()
    for entry in load("strict"):
        if entry.level.name in LEVELS:
            export_level(entry.level, entry.meta, layouts)
    calibration = tmp_path / "calibration.json"
    write_calibration(calibration_from(CALIBRATION), calibration)
    monkeypatch.setenv(FOLDER_VARIABLE, str(layouts))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setenv("DISPLAY", "")
    return Table(layouts, calibration)


@pytest.fixture(scope="session")
def begin(screen: str) -> Iterator[Callable[..., psutil.Process]]:
    """Starts a stand-in for a slot, with options, and waits until it can be driven."""
    server = subprocess.Popen(
        [sys.executable, str(STANDIN)],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=os.environ | {"DISPLAY": screen},
    )  # fmt: skip

    def one(slot: Path, *options: str) -> psutil.Process:
        assert server.stdin is not None
        server.stdin.write(json.dumps([str(slot), *options]) + "\n")
        server.stdin.flush()
        word, pid = announced(server).split()
        assert word == "ready"
        return psutil.Process(int(pid))

    try:
        yield one
    finally:
        stop(server)


def end_game(game: psutil.Process) -> None:
    """End a stand-in that may have ended already."""
    with contextlib.suppress(psutil.NoSuchProcess):
        game.kill()
        game.wait(PATIENCE_S)


@pytest.fixture
def start(
    begin: Callable[..., psutil.Process], screen: str, table: Table, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Callable[..., psutil.Process]]:
    """Starts a stand-in with options, and waits until it can be driven."""
    monkeypatch.setenv("DISPLAY", screen)
    started: list[psutil.Process] = []

    def one(*options: str) -> psutil.Process:
        started.append(begin(table.slot, *options))
        return started[-1]

    yield one
    for game in started:
        end_game(game)


@pytest.fixture
def calibrated() -> Callable[..., Calibration]:
    """The calibration that fits the stand-in, with changes."""

    def change(**changes: Any) -> Calibration:
        return calibration_from(CALIBRATION | changes)

    return change


@pytest.fixture(scope="module")
def shared_standin(
    begin: Callable[..., psutil.Process], screen: str, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[str]:
    """A stand-in called Watched for tests that don't drive it; its DISPLAY."""
    game = begin(tmp_path_factory.mktemp("layouts") / "evalkit.layout.json", "--title", "Watched")
    yield screen
    end_game(game)


@pytest.fixture
def standin(shared_standin: str, table: Table, monkeypatch: pytest.MonkeyPatch) -> None:
    """A stand-in that is only looked at: its window is called Watched."""
    monkeypatch.setenv("DISPLAY", shared_standin)
