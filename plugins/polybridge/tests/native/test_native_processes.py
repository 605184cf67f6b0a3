"""The native executor in processes of its own: the whole command, two at once, and one that is killed."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psutil
import pytest

from evalkit.cli.main import main
from evalkit.errors import ExitCode
from evalkit_polybridge.native.desktop import Arrangement
from evalkit_polybridge.native.executor import release, whole_game

Start = Callable[..., psutil.Process]
PATIENCE_S = 120.0
TRUSS = Path(__file__).parents[4] / "examples" / "warren_08m.json"


def evalkit(*words: str) -> subprocess.Popen[str]:
    """The command as a process of its own, in a session of its own."""
    return subprocess.Popen(
        [sys.executable, "-m", "evalkit", *words],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True,
    )  # fmt: skip


def finished(command: subprocess.Popen[str]) -> tuple[str, str]:
    """What a command says, once it has ended; one that doesn't end is killed with its workers."""
    try:
        return command.communicate(timeout=PATIENCE_S)
    finally:
        if command.poll() is None:
            os.killpg(command.pid, signal.SIGKILL)
            command.communicate()


def until(happens: Callable[[], bool], what: str) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while not happens():
        assert time.monotonic() < deadline, what
        time.sleep(0.02)


def no_key_is_down() -> bool:
    from Xlib.display import Display

    display = Display()
    try:
        return not any(display.query_keymap())
    finally:
        display.close()


def test_two_levels_through_the_command(start: Start, table: Any, tmp_path: Path) -> None:
    start()
    words = ["run", "polybridge.smoke", "-n", "2", "-j", "2", "--agent", "truss", "--format", "json"]
    game = ["--executor", "native", "--calibration", str(table.calibration), "-o", str(tmp_path / "runs")]
    done = evalkit(*words, *game)
    out, err = finished(done)
    assert done.returncode == 0, err
    assert "polybridge.native takes one design at a time, so there is one worker" in err
    assert json.loads(out)
    (run,) = (tmp_path / "runs").iterdir()
    manifest = json.loads((run / "run.json").read_text())
    assert list(manifest["executors"]) == ["polybridge.native"]
    constants = manifest["executors"]["polybridge.native"]
    assert constants["constants"]["game"] == "the stand-in"
    assert manifest["protocol"]["settings"]["window_s"] == 1.0
    events = [json.loads(line) for log in (run / "episodes").iterdir() for line in log.open()]
    executions = [event for event in events if event["kind"] == "execution"]
    assert [e["success"] for e in executions] == [True, True]
    assert {e["constants_sha256"] for e in executions} == {constants["constants_sha256"]}
    assert sorted(line for line in table.log() if line.startswith("load")) == [
        "load T1B_Basic_08m",
        "load T1D_BottomAnchor_12m_D2m_6PG",
    ]
    assert str(table.layouts) not in (run / "run.json").read_text()
    assert main(["replay", str(run)]) == 0


def test_two_commands_take_turns(start: Start, table: Any) -> None:
    start()
    change = ["-T", "executors=polybridge.native", "-T", f"calibration=@{table.calibration}"]
    words = ["try", "polybridge.smoke", str(TRUSS), "--id", "T1B_Basic_08m", *change]
    both = [evalkit(*words), evalkit(*words)]
    for process in both:
        _, err = finished(process)
        assert process.returncode == 0, err
    assert table.log() == ["load T1B_Basic_08m", "run", "leave"] * 2


def desk() -> Arrangement:
    """Where the pointer is and what has the focus."""
    from evalkit_polybridge.native.x11 import X11Desktop

    desktop = X11Desktop()
    try:
        return desktop.arrangement()
    finally:
        desktop.close()


def tidy_desk() -> Arrangement:
    """The desktop as a person left it: the pointer far from the game, which doesn't have the focus."""
    from Xlib import X

    from evalkit_polybridge.native.x11 import X11Desktop

    desktop = X11Desktop()
    try:
        desktop.rearrange(Arrangement((900, 700), X.PointerRoot))
    finally:
        desktop.close()
    return desk()


def ctrl_c(command: subprocess.Popen[str]) -> None:
    """As a terminal does it: everybody in the group hears it."""
    os.killpg(command.pid, signal.SIGINT)


def kill_the_worker(command: subprocess.Popen[str]) -> None:
    """Nothing that a worker could do itself."""
    (worker,) = [
        child
        for child in psutil.Process(command.pid).children()
        if any("spawn_main" in word for word in child.cmdline())
    ]
    worker.kill()


@pytest.mark.parametrize(
    ("there", "end", "timeout", "code"),
    [
        (True, ctrl_c, "600", ExitCode.INTERRUPTED),
        (False, subprocess.Popen.terminate, "600", ExitCode.INTERRUPTED),
        (True, kill_the_worker, "600", ExitCode.EPISODE_ERRORS),
        (False, None, "8", ExitCode.EPISODE_ERRORS),
    ],
    ids=["Ctrl-C", "SIGTERM, no file", "a worker dies", "job timeout, no file"],
)
def test_the_machine_is_as_it_was_when_the_command_ends(
    start: Start, table: Any, tmp_path: Path, there: bool, end: Any, timeout: str, code: ExitCode
) -> None:
    if there:
        table.slot.write_bytes(b"a person's own layout")
        os.utime(table.slot, ns=(10**18, 10**18))
    start("--speed", "0.01")
    before = tidy_desk()
    words = ["run", "polybridge.smoke", "-n", "1", "--job-timeout", timeout, "-o", str(tmp_path / "runs")]
    game = ["--executor", "native", "--calibration", str(table.calibration)]
    command = evalkit(*words, *game, "-T", "calibration.window_s=60.0")
    until(lambda: "run" in table.log(), "the run never began")
    if end is not None:
        end(command)
    _, err = finished(command)
    assert command.returncode == code, err
    assert "is again what it was before a run that broke off" in err
    if there:
        assert table.slot.read_bytes() == b"a person's own layout"
        assert table.slot.stat().st_mtime_ns == 10**18
    else:
        assert not table.slot.exists()
    assert not list(table.layouts.glob(".*"))
    with whole_game() as turn:
        assert not turn.journal.exists()
    assert no_key_is_down()
    assert table.log() == ["load T1B_Basic_08m", "run", "leave"]
    assert desk() == before


def test_a_game_that_is_gone_is_said_and_the_file_comes_back(
    start: Start, table: Any, tmp_path: Path
) -> None:
    table.slot.write_bytes(b"a person's own layout")
    game = start("--speed", "0.01")
    words = ["run", "polybridge.smoke", "-n", "1", "-o", str(tmp_path / "runs"), "--executor", "native"]
    command = evalkit(*words, "--calibration", str(table.calibration), "-T", "calibration.window_s=60.0")
    until(lambda: "run" in table.log(), "the run never began")
    command.send_signal(signal.SIGSTOP)
    kill_the_worker(command)
    game.kill()
    game.wait()
    command.send_signal(signal.SIGCONT)
    _, err = finished(command)
    assert command.returncode == ExitCode.EPISODE_ERRORS
    assert "what polybridge.native used isn't as it was: no window is titled 'Stand-in'" in err
    assert table.slot.read_bytes() == b"a person's own layout"


@pytest.mark.parametrize("end", [ctrl_c, subprocess.Popen.terminate], ids=["Ctrl-C", "SIGTERM"])
def test_a_try_that_is_ended_puts_everything_back(start: Start, table: Any, end: Any) -> None:
    table.slot.write_bytes(b"a person's own layout")
    start("--speed", "0.01")
    before = tidy_desk()
    change = ["-T", "executors=polybridge.native", "-T", f"calibration=@{table.calibration}"]
    words = ["try", "polybridge.smoke", str(TRUSS), "--id", "T1B_Basic_08m", *change]
    command = evalkit(*words, "-T", "calibration.window_s=60.0")
    until(lambda: "run" in table.log(), "the run never began")
    end(command)
    _, err = finished(command)
    assert (command.returncode, err) == (ExitCode.INTERRUPTED, "evalkit: interrupted\n")
    assert table.slot.read_bytes() == b"a person's own layout"
    assert table.log() == ["load T1B_Basic_08m", "run", "leave"]
    assert no_key_is_down()
    assert desk() == before


def test_nothing_waits_for_a_game_that_another_command_has(table: Any, caplog: Any) -> None:
    settings = {"calibration": json.loads(table.calibration.read_text())}
    with whole_game() as turn:
        turn.journal.write_text("the other command's")
        release(settings)
        assert turn.journal.read_text() == "the other command's"
        turn.journal.unlink()
    assert caplog.messages == []


@pytest.mark.parametrize("there", [True, False], ids=["a file", "no file"])
def test_files_come_back_after_a_kill(
    start: Start, table: Any, tmp_path: Path, there: bool, capsys: Any
) -> None:
    if there:
        table.slot.write_bytes(b"a person's own layout")
        os.utime(table.slot, ns=(10**18, 10**18))
    start("--speed", "0.01")
    changed = ["-T", "calibration.window_s=60.0", "-n", "1", "-j", "1", "-o", str(tmp_path / "runs")]
    command = evalkit(
        "run", "polybridge.smoke", "--executor", "native", "--calibration", str(table.calibration), *changed
    )
    until(lambda: "run" in table.log(), "the run never began")
    until(no_key_is_down, "the key was never let go")
    os.killpg(command.pid, signal.SIGKILL)
    command.communicate()
    assert table.slot.read_bytes().startswith(b"{")
    assert main(["polybridge", "native", "doctor", "--calibration", str(table.calibration), "--json"]) == 1
    found = {f["name"]: f for f in json.loads(capsys.readouterr().out)["findings"]}
    assert "is again what it was before a run that broke off" in found["files"]["detail"]
    assert found["editor"]["ok"] is False  # the game is still in the run
    if there:
        assert table.slot.read_bytes() == b"a person's own layout"
        assert table.slot.stat().st_mtime_ns == 10**18
    else:
        assert not table.slot.exists()
    assert not list(table.layouts.glob(".*"))
    with whole_game() as turn:
        assert not turn.journal.exists()
    # The next run finds its way back to the editor by itself.
    tried = [
        "try",
        "polybridge.smoke",
        str(TRUSS),
        "--id",
        "T1B_Basic_08m",
        "-T",
        "executors=polybridge.native",
    ]
    assert main([*tried, "-T", f"calibration=@{table.calibration}"]) == 1  # a timeout: the game is slow
    assert table.log() == ["load T1B_Basic_08m", "run", "leave", "load T1B_Basic_08m", "run", "leave"]
