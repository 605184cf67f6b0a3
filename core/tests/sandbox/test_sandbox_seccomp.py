"""The filter on system calls, run by a small interpreter of the kernel's instructions."""

from __future__ import annotations

import errno
import re
import struct
from pathlib import Path

import pytest

from evalkit.sandbox._seccomp import _CALLS, filter_program, supports

ALLOW = 0x7FFF0000
X86_64, AARCH64 = 0xC000003E, 0xC00000B7
MACHINES = [("x86_64", X86_64), ("aarch64", AARCH64)]
HARMLESS = {  # read, write, openat, mmap, execve, exit_group, wait4, futex, getrandom, fork-like clone aside
    "x86_64": (0, 1, 257, 9, 59, 231, 61, 202, 318, 57),
    "aarch64": (63, 64, 56, 222, 221, 94, 260, 98, 278),
}
CLONE = {"x86_64": 56, "aarch64": 220}
SOCKET = {"x86_64": 41, "aarch64": 198}
REFUSED = 0x00050000 | errno.EPERM


def answer(machine: str, architecture: int, number: int, first_argument: int = 0) -> int:
    """What the filter for `machine` returns for a call."""
    data = struct.pack("=IIQ6Q", number, architecture, 0, first_argument, *[0] * 5)
    program = list(struct.iter_unpack("=HBBI", filter_program(machine)))
    position, loaded = 0, 0
    while True:
        code, if_true, if_false, value = program[position]
        position += 1
        if code == 0x20:
            (loaded,) = struct.unpack_from("=I", data, value)
        elif code == 0x06:
            return int(value)
        else:
            met = {0x15: loaded == value, 0x35: loaded >= value, 0x45: bool(loaded & value)}[code]
            position += if_true if met else if_false


@pytest.mark.parametrize(("machine", "architecture"), MACHINES)
def test_refused_and_harmless_calls(machine: str, architecture: int) -> None:
    for name, numbers in _CALLS.items():
        number = numbers[machine == "aarch64"]
        if number is not None:
            unavailable = name in ("clone3", "memfd_create", "memfd_secret")
            assert answer(machine, architecture, number) & 0xFFFF == (
                errno.ENOSYS if unavailable else errno.EPERM
            ), name
    for number in HARMLESS[machine]:
        assert answer(machine, architecture, number) == ALLOW


@pytest.mark.parametrize(("machine", "architecture"), MACHINES)
def test_threads_and_forks_but_no_namespaces(machine: str, architecture: int) -> None:
    threads, fork = 0x3D0F00, 0x01200011
    for flags in (threads, fork):
        assert answer(machine, architecture, CLONE[machine], flags) == ALLOW
    for namespace in (0x20000, 0x2000000, 0x4000000, 0x8000000, 0x10000000, 0x20000000, 0x40000000):
        assert answer(machine, architecture, CLONE[machine], fork | namespace) == REFUSED


@pytest.mark.parametrize(("machine", "architecture"), MACHINES)
def test_socket_families(machine: str, architecture: int) -> None:
    allowed = {
        family for family in range(64) if answer(machine, architecture, SOCKET[machine], family) == ALLOW
    }
    assert allowed == {1, 2, 10}  # AF_UNIX, AF_INET, AF_INET6
    assert answer(machine, architecture, SOCKET[machine], 40) & 0xFFFF == errno.EAFNOSUPPORT  # AF_VSOCK


def test_other_ways_of_calling_are_refused() -> None:
    i386 = 0x40000003
    assert answer("x86_64", i386, 3) == REFUSED
    assert answer("x86_64", X86_64, 0x40000000) == REFUSED
    assert answer("aarch64", X86_64, 63) == REFUSED


def test_supported_machines() -> None:
    assert [machine for machine in ("x86_64", "aarch64", "riscv64", "AMD64") if supports(machine)] == [
        "x86_64",
        "aarch64",
    ]


@pytest.mark.parametrize(
    ("column", "header"),
    [(0, "/usr/include/x86_64-linux-gnu/asm/unistd_64.h"), (1, "/usr/include/asm-generic/unistd.h")],
)
def test_numbers_are_those_of_the_kernel_headers(column: int, header: str) -> None:
    if not Path(header).exists():
        pytest.skip(f"no {header} here")
    known = dict(re.findall(r"#define __NR(?:3264)?_(\w+)\s+(\d+)", Path(header).read_text()))
    checked = 0
    for name, numbers in _CALLS.items():
        if name in known and numbers[column] is not None:
            assert int(known[name]) == numbers[column], name
            checked += 1
    assert checked > 45
