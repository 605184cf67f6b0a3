"""The host's files, secrets, network and processes can't be reached from a full sandbox."""

from __future__ import annotations

import json
import os
import platform
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from evalkit.sandbox import Outcome
from evalkit.sandbox._seccomp import _CALLS, _MACHINES

Attack = Callable[..., Outcome]
SECRET = "canary-7c1f0e"


@pytest.fixture
def canary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A file, an environment variable and an inheritable open file that hold a secret."""
    path = tmp_path / "canary.txt"
    path.write_text(SECRET)
    monkeypatch.setenv("EVALKIT_CANARY", SECRET)
    descriptor = os.open(path, os.O_RDONLY)
    os.set_inheritable(descriptor, True)
    try:
        yield path
    finally:
        os.close(descriptor)
    assert path.read_text() == SECRET


def test_host_files_are_not_there(attack: Attack, canary: Path) -> None:
    paths = {
        "shadow": "/etc/shadow",
        "passwd": "/etc/passwd",
        "hostname": "/etc/hostname",
        "canary": str(canary),
        "repository": __file__,
        "kernel_memory": "/proc/kcore",
        "disk": "/dev/vda",
        "kernel_log": "/dev/kmsg",
        "through_root_of_init": f"/proc/1/root{canary}",
        "through_dots": "../" * 12 + str(canary).lstrip("/"),
    }
    script = """
for name, path in json.loads(sys.argv[1]).items():
    attempt(name, lambda: open(path, "rb").read(100))
"""
    attack(script, list(paths), arguments=[json.dumps(paths)])


def test_only_the_interpreter_is_visible_of_other_folders(play: Attack) -> None:
    outcome = play(
        "import os\nfor top in ('/', '/home', '/tmp', '/root', '/var', '/etc', '/sys', '/run', '/opt'):\n"
        "  print(top, sorted(os.listdir(top)) if os.path.isdir(top) else None)"
    )
    seen = dict(line.split(" ", 1) for line in outcome.stdout.splitlines())
    assert set(eval(seen["/tmp"])) <= _below_tmp(sys.prefix, sys.base_prefix)
    assert seen["/var"] == seen["/sys"] == seen["/run"] == "None"
    assert set(eval(seen["/etc"])) <= {"alternatives", "ld.so.cache"}
    interpreter = {Path(sys.prefix).parts[1], Path(sys.base_prefix).parts[1]}
    system = {"bin", "lib", "lib32", "lib64", "libx32", "sbin", "usr", "etc", "dev", "proc", "tmp"} | {
        "workspace"
    }
    assert set(eval(seen["/"])) <= system | interpreter


def _below_tmp(*folders: str) -> set[str]:
    """What has to be seen in /tmp of an interpreter that is installed there."""
    return {Path(folder).parts[2] for folder in folders if folder.startswith("/tmp/")}


def test_secrets_of_the_caller_are_nowhere(play: Attack, canary: Path) -> None:
    outcome = play(
        """
import os
print(dict(os.environ))
for pid in filter(str.isdigit, os.listdir("/proc")):
    for name in ("environ", "cmdline", "maps"):
        try:
            print(open(f"/proc/{pid}/{name}", "rb").read())
        except OSError as error:
            print(error)
    for number in range(64):
        try:
            descriptor = os.open(f"/proc/{pid}/fd/{number}", os.O_RDONLY | os.O_NONBLOCK)
            print(os.readlink(f"/proc/{pid}/fd/{number}"))
            print(os.read(descriptor, 4096))
        except OSError:
            pass
"""
    )
    assert outcome.status == "ok"
    assert "PYTHONHASHSEED" in outcome.stdout
    assert SECRET not in outcome.stdout
    assert canary.name not in outcome.stdout


def test_script_holds_only_its_three_streams(play: Attack, canary: Path) -> None:
    outcome = play("import os\nprint(sorted(os.listdir('/proc/self/fd')), os.readlink('/proc/self/fd/0'))")
    assert outcome.stdout == "['0', '1', '2', '3'] /dev/null\n"  # 3 is listdir's own


def test_system_is_read_only(attack: Attack) -> None:
    places = [
        "/",
        "/usr",
        "/etc",
        "/bin",
        "/lib",
        "/opt",
        "/root",
        "/dev",
        "/proc",
        "/sys",
        "/usr/bin",
        sys.prefix,
    ]
    script = """
for place in json.loads(sys.argv[1]):
    attempt(place, lambda: open(os.path.join(place, "evalkit-was-here"), "w"))
for name in ("hostname", "core_pattern", "modprobe"):
    attempt(name, lambda: open("/proc/sys/kernel/" + name, "w").write("x"))
attempt("sysrq", lambda: open("/proc/sysrq-trigger", "w").write("h"))
attempt("interpreter", lambda: open(os.path.realpath(sys.executable), "ab"))
attempt("standard_library", lambda: open(os.__file__, "ab"))
attempt("remove", lambda: os.unlink(os.__file__))
attempt("open_up", lambda: os.chmod(os.__file__, 0o777))
"""
    names = [*places, "hostname", "core_pattern", "modprobe", "sysrq"]
    names += ["interpreter", "standard_library", "remove", "open_up"]
    attack(script, names, arguments=[json.dumps(places)])


@pytest.fixture
def servers(tmp_path: Path) -> Iterator[dict[str, object]]:
    """Listening on the host: TCP and UDP on loopback, a Unix socket, an abstract one."""
    tcp = socket.create_server(("127.0.0.1", 0))
    udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    udp.bind(("127.0.0.1", 0))
    unix, abstract = socket.socket(socket.AF_UNIX), socket.socket(socket.AF_UNIX)
    name = f"evalkit-test-{os.getpid()}"
    unix.bind(str(tmp_path / "unix"))
    abstract.bind("\0" + name)
    for server in (unix, abstract):
        server.listen()
    with tcp, udp, unix, abstract:
        yield {
            "tcp": tcp.getsockname()[1],
            "udp": udp.getsockname()[1],
            "unix": str(tmp_path / "unix"),
            "abstract": name,
        }
        for server in (tcp, udp, unix, abstract):
            server.setblocking(False)
            with pytest.raises(BlockingIOError):
                server.recv(1) if server is udp else server.accept()


NETWORK = """
at = json.loads(sys.argv[1])
def connect(family, kind, address):
    with socket.socket(family, kind) as s:
        s.settimeout(3)
        s.connect(address)
        s.send(b"x")
        if kind == socket.SOCK_DGRAM:
            s.recv(1)  # nothing answers; refused at once if nothing listens
attempt("tcp", lambda: connect(socket.AF_INET, socket.SOCK_STREAM, ("127.0.0.1", at["tcp"])))
attempt("udp", lambda: connect(socket.AF_INET, socket.SOCK_DGRAM, ("127.0.0.1", at["udp"])))
attempt("outside", lambda: connect(socket.AF_INET, socket.SOCK_STREAM, ("192.0.2.1", 80)))
attempt("outside_6", lambda: connect(socket.AF_INET6, socket.SOCK_STREAM, ("2001:db8::1", 80)))
attempt("dns", lambda: socket.getaddrinfo("example.com", 80))
attempt("unix", lambda: connect(socket.AF_UNIX, socket.SOCK_STREAM, at["unix"]))
attempt("abstract", lambda: connect(socket.AF_UNIX, socket.SOCK_STREAM, chr(0) + at["abstract"]))
attempt("vsock", lambda: socket.socket(40, socket.SOCK_STREAM))
attempt("netlink", lambda: socket.socket(socket.AF_NETLINK, socket.SOCK_RAW))
attempt("packet", lambda: socket.socket(socket.AF_PACKET, socket.SOCK_RAW))
attempt("crypto", lambda: socket.socket(38, socket.SOCK_SEQPACKET))
attempt("raw", lambda: socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_ICMP))
"""


def test_network_is_closed(attack: Attack, servers: dict[str, object]) -> None:
    names = ["tcp", "udp", "outside", "outside_6", "dns", "unix", "abstract"]
    names += ["vsock", "netlink", "packet", "crypto", "raw"]
    attack(NETWORK, names, arguments=[json.dumps(servers)])


def test_sockets_within_the_sandbox_work(play: Attack) -> None:
    script = """
import socket
left, right = socket.socketpair()
left.send(b"through")
print(right.recv(10))
"""
    assert play(script).stdout == "b'through'\n"


def test_other_processes_are_out_of_reach(play: Attack) -> None:
    """A bystander with the same user id as the ordinary user's script, and the caller itself."""
    sleeper = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    script = """
import os, sys
for pid in (int(sys.argv[1]), int(sys.argv[2]), os.getppid(), 1, -1):
    for number in (0, 15, 9):
        try:
            os.kill(pid, number)
        except OSError as error:
            print(pid, error)
"""
    try:
        outcome = play(script, arguments=[str(os.getpid()), str(sleeper.pid)])
        assert outcome.status == "ok"  # its supervisor, which it may signal, doesn't care
        assert outcome.stdout.count("No such process") == 9
        assert sleeper.poll() is None
    finally:
        sleeper.communicate(b"\n", timeout=30)


def test_only_processes_of_the_sandbox_are_visible(play: Attack) -> None:
    outcome = play("import os\nprint(len([p for p in os.listdir('/proc') if p.isdigit()]))")
    assert outcome.stdout == "2\n"  # the supervisor, the script


def test_script_has_no_privileges(play: Attack) -> None:
    outcome = play(
        "import os\nprint(os.getresuid(), os.getgroups())\nprint(open('/proc/self/status').read())"
    )
    fields = dict(line.split(":\t", 1) for line in outcome.stdout.splitlines() if ":\t" in line)
    assert outcome.stdout.startswith("(65534, 65534, 65534)")
    assert fields["NoNewPrivs"] == "1"
    assert fields["Seccomp"] == "2"
    assert {fields[name] for name in ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb")} == {"0" * 16}


def test_privileges_are_not_to_be_had(attack: Attack) -> None:
    script = """
import ctypes, subprocess
libc = ctypes.CDLL(None, use_errno=True)
def call(function, *arguments):
    if getattr(libc, function)(*arguments) != 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
def run(*argv):
    subprocess.run(argv, check=True, capture_output=True, timeout=20)
attempt("user_namespace", lambda: call("unshare", 0x10000000))
attempt("mount_namespace", lambda: call("unshare", 0x00020000))
attempt("unshare_command", lambda: run("unshare", "--user", "true"))
attempt("bwrap_in_bwrap", lambda: run("bwrap", "--ro-bind", "/", "/", "true"))
attempt("mount", lambda: call("mount", b"none", b"/tmp", b"tmpfs", 0, None))
attempt("remount", lambda: call("mount", None, b"/", None, 32, None))
attempt("unmount", lambda: call("umount2", b"/usr", 2))
attempt("chroot", lambda: os.chroot("/tmp"))
attempt("setuid", lambda: os.setuid(0))
attempt("setgroups", lambda: os.setgroups([0]))
attempt("chown", lambda: os.chown("script.py", 0, 0))
attempt("mknod", lambda: os.mknod("/tmp/disk", 0o60600, os.makedev(254, 0)))
attempt("trace_init", lambda: call("ptrace", 16, 1, None, None))
attempt("trace_parent", lambda: call("ptrace", 16, os.getppid(), None, None))
attempt("memory_of_parent", lambda: open(f"/proc/{os.getppid()}/mem", "r+b").read(1))
attempt("hostname", lambda: socket.sethostname("x"))
attempt("nice", lambda: os.nice(-5))
attempt("realtime", lambda: os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(10)))
attempt("su", lambda: run("su", "-c", "true"))
def setuid_file():
    open("/tmp/id", "wb").write(open("/usr/bin/id", "rb").read())
    os.chmod("/tmp/id", 0o4755)
    out = subprocess.run(["/tmp/id", "-u"], capture_output=True, text=True).stdout
    assert out.strip() == "0", out
attempt("own_setuid_file", setuid_file)
"""
    names = ["user_namespace", "mount_namespace", "unshare_command", "bwrap_in_bwrap", "mount", "remount"]
    names += ["unmount", "chroot", "setuid", "setgroups", "chown", "mknod", "trace_init", "trace_parent"]
    names += ["memory_of_parent", "hostname", "nice", "realtime", "su", "own_setuid_file"]
    attack(script, names)


def test_every_refused_call_is_refused(play: Attack) -> None:
    column = _MACHINES[platform.machine()].column
    calls = {name: numbers[column] for name, numbers in _CALLS.items() if numbers[column] is not None}
    script = """
import ctypes, errno, json, sys
libc = ctypes.CDLL(None, use_errno=True)
for name, number in json.loads(sys.argv[1]).items():
    result = libc.syscall(number, 0, 0, 0, 0, 0)
    print(name, errno.errorcode[ctypes.get_errno()] if result == -1 else "REACHED")
"""
    outcome = play(script, arguments=[json.dumps(calls)])
    answers = dict(line.split() for line in outcome.stdout.splitlines())
    assert set(answers) == set(calls)
    unavailable = {name for name, answer in answers.items() if answer == "ENOSYS"}
    assert unavailable == {"clone3", "memfd_create", "memfd_secret"}
    assert {answer for name, answer in answers.items() if name not in unavailable} == {"EPERM"}
