"""Weaker levels: what they still stop, what they don't, and how the machine's shortcomings are named."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest

from evalkit.sandbox import Level, Limits, Outcome, probe
from evalkit.sandbox._job import Job
from evalkit.sandbox._run import run_at

as_root = pytest.mark.skipif(
    not hasattr(os, "geteuid") or os.geteuid() != 0,
    reason="only root can give scripts a user id of their own",
)
on_linux = pytest.mark.skipif(sys.platform != "linux", reason="sandboxes need Linux")
pytestmark = on_linux

ATTEMPT = """
import os, socket, sys
def attempt(name, action):
    try:
        action()
    except OSError as error:
        print(name, "stopped")
    else:
        print(name, "REACHED")
"""
SECRET = "canary-2b9d44"


def play_at(level: Level, python: Path, script: str, *arguments: str, **options: object) -> Outcome:
    """A script at exactly this level."""
    limits = options.get("limits", Limits(wall_s=30))
    assert isinstance(limits, Limits)
    outputs = options.get("outputs", ())
    return run_at(level, Job.of(ATTEMPT + script, arguments, {}, outputs, limits, python, ()))  # type: ignore[arg-type]


def answers(outcome: Outcome) -> dict[str, str]:
    assert outcome.status == "ok", outcome
    return dict(line.split() for line in outcome.stdout.splitlines())


@pytest.fixture
def bystander(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[subprocess.Popen[bytes]]:
    """A process of the caller with a secret in its environment."""
    monkeypatch.setenv("EVALKIT_CANARY", SECRET)
    process = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    try:
        yield process
    finally:
        if process.poll() is None:
            process.communicate(b"\n", timeout=30)


HOST = """
pid, closed, port = sys.argv[1:4]
attempt("environment", lambda: open(f"/proc/{pid}/environ").read())
attempt("closed_file", lambda: open(closed).read())
attempt("system", lambda: open("/usr/evalkit-was-here", "a").close())
attempt("open_file", lambda: open("/etc/passwd").read())
attempt("network", lambda: socket.create_connection(("127.0.0.1", int(port)), 5))
attempt("signal", lambda: os.kill(int(pid), 0))
attempt("own_environment", lambda: os.environ.get("EVALKIT_CANARY") or os.stat("/nowhere"))
"""


@as_root
def test_uid_keeps_root_out_of_reach_but_not_what_everyone_may(
    open_python: Path, bystander: subprocess.Popen[bytes], tmp_path: Path
) -> None:
    closed = tmp_path / "closed"
    closed.write_text(SECRET)
    with socket.create_server(("127.0.0.1", 0)) as server:
        arguments = (str(bystander.pid), str(closed), str(server.getsockname()[1]))
        found = answers(play_at(Level.UID, open_python, HOST, *arguments))
    assert found == {
        "environment": "stopped",
        "closed_file": "stopped",
        "system": "stopped",
        "open_file": "REACHED",
        "network": "REACHED",
        "signal": "stopped",
        "own_environment": "stopped",
    }


def test_limits_keep_nothing_out_of_reach(
    open_python: Path, bystander: subprocess.Popen[bytes], tmp_path: Path
) -> None:
    """Also shows that the attempts get through where nothing stops them."""
    closed = tmp_path / "closed"
    closed.write_text(SECRET)
    closed.chmod(0o600)
    script = HOST.replace("/usr/evalkit-was-here", str(tmp_path / "made"))
    with socket.create_server(("127.0.0.1", 0)) as server:
        arguments = (str(bystander.pid), str(closed), str(server.getsockname()[1]))
        found = answers(play_at(Level.LIMITS, open_python, script, *arguments))
    assert {name for name, answer in found.items() if answer == "stopped"} == {"own_environment"}
    assert (tmp_path / "made").exists()


@as_root
def test_uid_gives_no_privileges(open_python: Path) -> None:
    script = "print(os.getresuid(), os.getgroups())\nprint(open('/proc/self/status').read())"
    outcome = play_at(Level.UID, open_python, script)
    assert outcome.stdout.startswith("(19000000")
    fields = dict(line.split(":\t", 1) for line in outcome.stdout.splitlines() if ":\t" in line)
    assert fields["NoNewPrivs"] == "1"
    assert {fields[name] for name in ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb")} == {"0" * 16}


WEAK_LEVELS = [pytest.param(Level.UID, marks=as_root), Level.LIMITS]


@pytest.mark.parametrize("level", WEAK_LEVELS)
@pytest.mark.parametrize(
    ("script", "limits", "status", "fired"),
    [
        ("while True: pass", Limits(wall_s=1), "timeout", "wall_s"),
        ("while True: pass", Limits(wall_s=60, cpu_s=1), "timeout", "cpu_s"),
        ("while True: print('x' * 1000)", Limits(total_output_bytes=100_000), "output", "total_output_bytes"),
        ("x = bytearray(1 << 30)", Limits(memory_bytes=256 << 20), "memory", "memory_bytes"),
        ("os.abort()", Limits(), "killed", ""),
    ],
)
def test_weaker_levels_keep_limits(
    open_python: Path, level: Level, script: str, limits: Limits, status: str, fired: str
) -> None:
    outcome = play_at(level, open_python, script, limits=limits)
    assert (outcome.level, outcome.status, outcome.fired) == (level, status, fired)


@pytest.mark.parametrize("level", WEAK_LEVELS)
def test_weaker_levels_hand_back_files_and_remove_the_workspace(open_python: Path, level: Level) -> None:
    script = """
open("a.json", "w").write(os.getcwd())
os.symlink("/etc/passwd", "b.json")
os.mkdir("closed", 0)
for _ in range(1100):
    os.mkdir("d")
    os.chdir("d")
"""
    outcome = play_at(level, open_python, script, outputs=["*.json"])
    workspace = outcome.files["a.json"].decode()
    assert outcome.omitted == {"b.json": "a symbolic link"}
    assert not os.path.lexists(os.path.dirname(workspace))


@as_root
def test_uid_bounds_processes_and_ends_daemons(open_python: Path) -> None:
    marker = f"marker-{uuid.uuid4().hex}"
    script = """
import time
started = 0
for _ in range(100):
    try:
        if os.fork() == 0:
            os.setsid()
            time.sleep(1000)
    except BlockingIOError:
        break
    started += 1
print(started)
"""
    outcome = play_at(Level.UID, open_python, script, marker, limits=Limits(wall_s=30, processes=20))
    assert outcome.stdout in ("18\n", "19\n")  # one that is just ending may still count
    listed = subprocess.run(["ps", "-eo", "args"], capture_output=True, text=True, check=True).stdout
    assert marker not in listed


@as_root
def test_uid_ends_a_daemon_that_holds_the_streams(open_python: Path) -> None:
    outcome = play_at(Level.UID, open_python, "import time\nif os.fork() == 0: os.setsid(), time.sleep(1000)")
    assert outcome.status == "ok"


@as_root
def test_uid_names_a_python_that_scripts_cannot_read(tmp_path: Path) -> None:
    from evalkit.errors import SandboxError

    tmp_path.chmod(0o700)
    subprocess.run(
        [sys.executable, "-m", "venv", "--without-pip", tmp_path / "venv"], check=True, timeout=120
    )
    with pytest.raises(SandboxError, match=r"can't be read by the user id that scripts get; give a Python"):
        play_at(Level.UID, tmp_path / "venv", "pass")


ASK = """
import sys
from evalkit.errors import EvalkitError
from evalkit.sandbox import *
report = probe()
print(report.level.label, *report.reasons, sep="\\n")
try:
    print(run_script("print('ran')", required=Level[sys.argv[1].upper()]).stdout)
except EvalkitError as error:
    print(error)
"""


def ordinary_user() -> list[str]:
    """argv that makes an ordinary user of root; nothing if this already is one."""
    if os.geteuid() != 0:
        return []
    return ["/usr/bin/setpriv", "--reuid=61001", "--regid=61001", "--clear-groups", "--"]


def ask(
    prefix: list[str], python: Path, sources: Path, required: str = "full", **environment: str
) -> list[str]:
    """Level, reasons and what became of a script, in another process started by `prefix`."""
    done = subprocess.run(
        [*prefix, str(python), "-c", ASK, required],
        env={"PATH": os.environ["PATH"], "PYTHONPATH": str(sources), "HOME": "/nonexistent", **environment},
        cwd="/",
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip().splitlines()


@pytest.fixture
def path_without_bwrap(tmp_path: Path) -> str:
    for name in ("unshare", "setpriv", "mount", "sh", "cat"):
        found = shutil.which(name)
        assert found is not None
        (tmp_path / name).symlink_to(found)
    return str(tmp_path)


@as_root
def test_without_bubblewrap_root_has_uid(open_python: Path, sources: Path, path_without_bwrap: str) -> None:
    level, reason, said = ask([], open_python, sources, PATH=path_without_bwrap)
    assert level == "uid"
    assert reason == "bubblewrap is not installed; `apt-get install bubblewrap` (or dnf, apk) gets it"
    assert said == f"sandbox level full is required, this machine allows uid: {reason}"
    assert ask([], open_python, sources, "uid", PATH=path_without_bwrap)[-1] == "ran"


def test_without_bubblewrap_a_user_has_limits(open_python: Path, sources: Path) -> None:
    level, full, uid, said = ask(ordinary_user(), open_python, sources, "uid", PATH="/nowhere")
    assert level == "limits"
    assert full.startswith("bubblewrap is not installed")
    assert uid == "only root can give scripts a user id of their own"
    assert said == f"sandbox level uid is required, this machine allows limits: {uid}"


def test_forbidden_user_namespaces_are_named(full: None, open_python: Path, sources: Path) -> None:
    forbid = 'echo 0 > /proc/sys/user/max_user_namespaces; exec "$@"'
    prefix = ["unshare", "--user", "--map-root-user", "sh", "-c", forbid, "sh"]
    level, reason, *_, said = ask([*ordinary_user(), *prefix], open_python, sources)
    assert level == "limits"
    assert reason.startswith(
        "user namespaces are switched off; `sysctl user.max_user_namespaces=10000` allows"
    )
    assert said == f"sandbox level full is required, this machine allows limits: {reason}"


@as_root
def test_root_of_a_container_without_rights_has_uid(full: None, open_python: Path, sources: Path) -> None:
    prefix = ["setpriv", "--bounding-set=-sys_admin", "--"]
    level, reason, _ = ask(prefix, open_python, sources)
    assert level == "uid"
    assert "unshare" in reason


def test_root_of_a_user_namespace_has_full(full: None, open_python: Path, sources: Path) -> None:
    """As in a container of an ordinary user: root by name, with no second user id."""
    prefix = [*ordinary_user(), "unshare", "--user", "--map-root-user"]
    assert ask(prefix, open_python, sources) == ["full", "ran"]


def test_where_bubblewrap_works_the_sandbox_is_full() -> None:
    """Or else every test of attacks would be skipped without anyone noticing."""
    if shutil.which("bwrap") is None:
        pytest.skip("bubblewrap is not installed")
    simple = [*ordinary_user(), "bwrap", "--unshare-user", "--disable-userns", "--ro-bind", "/", "/", "true"]
    if subprocess.run(simple, capture_output=True, check=False).returncode:
        pytest.skip("bubblewrap doesn't work here")
    assert probe().level is Level.FULL, probe().reasons


def test_probe_is_done_once() -> None:
    assert probe() is probe()
