"""Scripts that take all they can get end at their limits, and leave nothing behind."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from evalkit.sandbox import Limits, Outcome

Play = Callable[..., Outcome]
MIB = 1 << 20


@pytest.mark.parametrize(
    "script",
    [
        "while True: pass",
        "import time\ntime.sleep(1000)",
        "import signal, time\nfor n in range(1, 32):\n  n in (9, 19) or signal.signal(n, signal.SIG_IGN)\n"
        "while True: time.sleep(1)",
        "import os, signal\nos.kill(os.getpid(), signal.SIGSTOP)",
        "import os, signal\nos.kill(os.getppid(), signal.SIGSTOP)\nos.kill(os.getpid(), signal.SIGSTOP)",
        "import os, time\nos.close(1); os.close(2)\ntime.sleep(1000)",
        "input()\nwhile True: pass",
    ],
    ids=["loop", "sleep", "deaf", "stopped", "stops_supervisor", "closes_streams", "reads_stdin"],
)
def test_endless_scripts_run_out_of_wall_time(play: Play, script: str) -> None:
    if script.startswith("input()"):
        assert play(script).stderr.endswith("EOFError: EOF when reading a line\n")
        return
    outcome = play(script, outputs=["*"], limits=Limits(wall_s=1))
    assert (outcome.status, outcome.fired, outcome.exit_code) == ("timeout", "wall_s", None)
    assert outcome.files == {}


@pytest.mark.parametrize("deaf", [False, True])
def test_cpu_time_runs_out(play: Play, deaf: bool) -> None:
    ignore = "import signal\nsignal.signal(signal.SIGXCPU, signal.SIG_IGN)\n" if deaf else ""
    outcome = play(ignore + "while True: pass", limits=Limits(wall_s=60, cpu_s=1))
    assert (outcome.status, outcome.fired) == ("timeout", "cpu_s")


@pytest.mark.parametrize("descriptor", [1, 2])
def test_endless_output_is_cut(play: Play, descriptor: int) -> None:
    script = f"import os\nwhile True: os.write({descriptor}, b'x' * 65536)"
    outcome = play(script, limits=Limits(wall_s=30, total_output_bytes=MIB))
    assert (outcome.status, outcome.fired, outcome.truncated) == ("output", "total_output_bytes", True)
    assert len(outcome.stdout) + len(outcome.stderr) == MIB


def test_output_up_to_the_limit_is_kept(play: Play) -> None:
    script = "import sys\nsys.stdout.write('o' * 600)\nsys.stderr.write('e' * 424)"
    outcome = play(script, limits=Limits(wall_s=30, total_output_bytes=1024))
    assert (outcome.status, outcome.truncated) == ("ok", False)
    assert outcome.stdout == "o" * 600
    assert outcome.stderr == "e" * 424


@pytest.mark.parametrize(
    "script",
    ["x = bytearray(1 << 31)", "x = []\nwhile True: x.append(bytearray(1 << 20))"],
    ids=["at_once", "bit_by_bit"],
)
def test_memory_of_one_process_is_bounded(play: Play, script: str) -> None:
    outcome = play(script, limits=Limits(wall_s=30, memory_bytes=256 * MIB))
    assert (outcome.status, outcome.fired) == ("memory", "memory_bytes")
    assert outcome.peak_memory < 256 * MIB


def test_memory_of_all_processes_is_bounded(play: Play) -> None:
    script = """
import os, time
for _ in range(8):
    if os.fork() == 0:
        x = bytearray(os.urandom(1) * (100 << 20))
        time.sleep(60)
time.sleep(60)
"""
    outcome = play(script, limits=Limits(wall_s=40, memory_bytes=300 * MIB))
    assert (outcome.status, outcome.fired) == ("memory", "memory_bytes")
    assert outcome.peak_memory > 300 * MIB


def test_memory_that_processes_share_counts_once(play: Play) -> None:
    script = """
import os, time
x = bytearray(b"x" * (100 << 20))
for _ in range(6):
    if os.fork() == 0:
        time.sleep(1)
        os._exit(0)
for _ in range(6):
    os.wait()
"""
    assert play(script, limits=Limits(wall_s=30, memory_bytes=300 * MIB)).status == "ok"


def test_script_goes_first_when_the_machine_runs_out_of_memory(play: Play) -> None:
    assert play("print(open('/proc/self/oom_score_adj').read())").stdout == "1000\n\n"


def test_fork_bomb_is_bounded(play: Play) -> None:
    script = """
import os, time
started = 0
for _ in range(500):
    try:
        if os.fork() == 0:
            time.sleep(60)
    except BlockingIOError:
        break
    started += 1
print(started)
"""
    outcome = play(script, limits=Limits(wall_s=30, processes=16))
    assert outcome.stdout == "15\n"  # and the script itself


def test_exponential_fork_bomb_ends(play: Play) -> None:
    script = """
import os
while True:
    try:
        os.fork()
    except OSError:
        pass
"""
    outcome = play(script, limits=Limits(wall_s=2, processes=64))
    assert outcome.status in ("timeout", "memory")


def test_threads_count_as_processes(play: Play) -> None:
    script = """
import threading
event = threading.Event()
started = []
for _ in range(100):
    thread = threading.Thread(target=event.wait, daemon=True)
    try:
        thread.start()
    except RuntimeError:
        break
    started.append(thread)
print(len(started))
event.set()
"""
    assert play(script, limits=Limits(wall_s=30, processes=10)).stdout == "9\n"


def test_giant_file_is_refused(play: Play) -> None:
    script = """
with open("big", "wb") as file:
    try:
        while True:
            file.write(bytes(1 << 20))
    except OSError as error:
        print(error.strerror, file.tell() >> 20)
import os
for grow in (lambda f: f.truncate(1 << 40), lambda f: os.posix_fallocate(f.fileno(), 0, 1 << 34)):
    try:
        grow(open("big", "r+b"))
    except OSError as error:
        print(error.strerror)
"""
    outcome = play(script, limits=Limits(wall_s=30, file_bytes=4 * MIB))
    assert outcome.stdout == "File too large 4\nFile too large\nFile too large\n"


@pytest.mark.parametrize("place", ["/tmp", "/workspace", "/dev/shm"])
def test_disk_is_bounded(play: Play, place: str) -> None:
    script = f"""
written = 0
try:
    for number in range(1000):
        with open(f"{place}/{{number}}", "wb", buffering=0) as file:
            written += file.write(bytes(1 << 20))
except OSError as error:
    print(error.strerror, written >> 20)
"""
    outcome = play(script, limits=Limits(wall_s=30, disk_bytes=16 * MIB))
    assert outcome.stdout == "No space left on device 15\n"  # the script itself takes a page


@pytest.mark.parametrize("place", ["/tmp", "/workspace", "/dev/shm"])
def test_number_of_files_is_bounded(play: Play, place: str) -> None:
    script = f"""
import os
made = 0
try:
    while True:
        os.mkdir(f"{place}/{{made}}")
        made += 1
except OSError as error:
    print(error.strerror, made < 1000)
"""
    outcome = play(script, limits=Limits(wall_s=30, disk_files=1000))
    assert outcome.stdout == "No space left on device True\n"


def test_nowhere_else_can_be_written(play: Play) -> None:
    """All that is mounted writable, besides devices and what holds no files."""
    script = """
for line in open("/proc/self/mountinfo"):
    where, options = line.split()[4:6]
    if "rw" in options.split(","):
        print(where, *sorted({"nosuid", "nodev"} - set(options.split(","))))
"""
    devices = {f"/dev/{name} nodev" for name in ("null", "zero", "full", "random", "urandom", "tty", "pts")}
    writable = set(play(script).stdout.splitlines())
    assert writable - devices - {"/dev/console nodev"} == {"/proc", "/dev/shm", "/tmp", "/workspace"}


def test_limits_cannot_be_raised_again(play: Play) -> None:
    script = """
import resource
for name in ("AS", "CPU", "FSIZE", "NOFILE", "NPROC", "CORE"):
    number = getattr(resource, "RLIMIT_" + name)
    soft, hard = resource.getrlimit(number)
    for wanted in ((hard + 1, hard + 1), (resource.RLIM_INFINITY, resource.RLIM_INFINITY)):
        try:
            resource.setrlimit(number, wanted)
            print("raised", name)
        except (ValueError, PermissionError):
            pass
    print(name, hard)
"""
    limits = Limits(wall_s=30, cpu_s=7, memory_bytes=512 * MIB, file_bytes=MIB, open_files=40, processes=5)
    lines = play(script, limits=limits).stdout.splitlines()
    assert lines == ["AS 536870912", "CPU 8", "FSIZE 1048576", "NOFILE 40", "NPROC 6", "CORE 1"]


def test_open_files_are_bounded(play: Play) -> None:
    script = """
kept = []
try:
    while True:
        kept.append(open("/dev/null"))
except OSError as error:
    print(error.strerror, len(kept))
"""
    assert play(script, limits=Limits(wall_s=30, open_files=50)).stdout == "Too many open files 47\n"


def test_supervisor_survives_every_signal(play: Play) -> None:
    script = """
import os
for number in range(1, 65):
    os.kill(os.getppid(), number)
open("a", "w").close()
"""
    outcome = play(script, outputs=["a"])
    assert (outcome.status, outcome.files) == ("ok", {"a": b""})


def test_many_daemons_are_gone_when_the_outcome_is_there(play: Play) -> None:
    script = """
import os, time
for _ in range(20):
    if os.fork() == 0:
        os.setsid()
        os.closerange(0, 3)
        block = bytearray(b"x" * (10 << 20))
        time.sleep(1000)
time.sleep(0.3)
os.kill(os.getppid(), 9)
os.kill(os.getpid(), 9)
"""
    for _ in range(5):
        assert play(script).status == "killed"


def test_orphans_are_reaped(play: Play) -> None:
    """They would count as processes otherwise."""
    script = """
import os
for _ in range(200):
    if os.fork() == 0:
        if os.fork() == 0:
            os._exit(0)
        os._exit(0)
    os.wait()
print("all")
"""
    outcome = play(script, limits=Limits(wall_s=60, processes=50))
    assert outcome.stdout == "all\n", outcome.stderr


@pytest.mark.parametrize("close", [False, True])
def test_daemons_end_with_the_script(play: Play, close: bool) -> None:
    """Two forks and a session of its own; `play` looks for processes that are left."""
    script = f"""
import os, signal, sys, time
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        signal.signal(signal.SIGHUP, signal.SIG_IGN)
        if {close}:
            os.closerange(0, 3)
        os.execv(sys.executable, [sys.executable, "-c", "import time; time.sleep(1000)", *sys.argv])
    os._exit(0)
os.wait()
open("made", "w").close()
"""
    outcome = play(script, outputs=["made"])
    assert (outcome.status, outcome.files) == ("ok", {"made": b""})


def test_crash_leaves_no_core(play: Play) -> None:
    outcome = play("import os\nos.abort()", outputs=["**"])
    assert (outcome.status, outcome.exit_code) == ("killed", -6)
    assert set(outcome.files) == {"script.py"}


def test_exit_codes_and_errors_come_through(play: Play) -> None:
    outcome = play("import sys\nsys.exit(7)")
    assert (outcome.status, outcome.exit_code) == ("failed", 7)
    outcome = play("1 / 0")
    assert (outcome.status, outcome.exit_code) == ("failed", 1)
    assert outcome.stderr.endswith("ZeroDivisionError: division by zero\n")
