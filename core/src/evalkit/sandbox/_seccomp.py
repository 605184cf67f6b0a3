"""A filter on system calls, as the BPF program that the kernel runs before each call.

Namespaces leave doors open: vsock and other socket families belong to no network namespace, kernel memory
behind memfd and System V IPC counts for nobody, and rarely used calls are where kernels have their holes.
Scripts that compute need none of them. See seccomp(2) and linux/filter.h for the format.
"""

from __future__ import annotations

import errno
import struct
from dataclasses import dataclass

_LOAD_WORD, _JUMP_EQUAL, _JUMP_AT_LEAST, _JUMP_ANY_BIT, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
_ALLOW, _ERRNO = 0x7FFF0000, 0x00050000
_NUMBER_AT, _ARCHITECTURE_AT, _FIRST_ARGUMENT_AT = 0, 4, 16  # offsets in struct seccomp_data

_X32_BIT = 0x40000000
"""On x86-64, numbers from here on are the x32 variants of the same calls."""
_NEW_NAMESPACES = 0x7E020000
"""CLONE_NEW{NS,CGROUP,UTS,IPC,USER,PID,NET} of clone(2)."""
_FAMILIES = {"AF_UNIX": 1, "AF_INET": 2, "AF_INET6": 10}

_UNAVAILABLE = ("clone3", "memfd_create", "memfd_secret")
"""Answered with "no such call", for which C libraries and programs have a second way."""

#: Numbers of the refused calls on x86-64 and on aarch64; None where the machine has no such call.
_CALLS: dict[str, tuple[int, int | None]] = {
    "acct": (163, 89),
    "add_key": (248, 217),
    "adjtimex": (159, 171),
    "bpf": (321, 280),
    "chroot": (161, 51),
    "clock_adjtime": (305, 266),
    "clock_settime": (227, 112),
    "clone3": (435, 435),
    "delete_module": (176, 106),
    "fanotify_init": (300, 262),
    "finit_module": (313, 273),
    "fsconfig": (431, 431),
    "fsmount": (432, 432),
    "fsopen": (430, 430),
    "fspick": (433, 433),
    "init_module": (175, 105),
    "io_uring_enter": (426, 426),
    "io_uring_register": (427, 427),
    "io_uring_setup": (425, 425),
    "ioperm": (173, None),
    "iopl": (172, None),
    "kcmp": (312, 272),
    "kexec_file_load": (320, 294),
    "kexec_load": (246, 104),
    "keyctl": (250, 219),
    "memfd_create": (319, 279),
    "memfd_secret": (447, 447),
    "mount": (165, 40),
    "mount_setattr": (442, 442),
    "move_mount": (429, 429),
    "msgget": (68, 186),
    "name_to_handle_at": (303, 264),
    "open_by_handle_at": (304, 265),
    "open_tree": (428, 428),
    "perf_event_open": (298, 241),
    "pidfd_getfd": (438, 438),
    "pivot_root": (155, 41),
    "process_vm_readv": (310, 270),
    "process_vm_writev": (311, 271),
    "ptrace": (101, 117),
    "quotactl": (179, 60),
    "reboot": (169, 142),
    "request_key": (249, 218),
    "semget": (64, 190),
    "setns": (308, 268),
    "settimeofday": (164, 170),
    "shmget": (29, 194),
    "swapoff": (168, 225),
    "swapon": (167, 224),
    "syslog": (103, 116),
    "umount2": (166, 39),
    "unshare": (272, 97),
    "userfaultfd": (323, 282),
    "vhangup": (153, 58),
}


@dataclass(frozen=True, slots=True)
class _Machine:
    """What the filter has to know about one kind of processor."""

    audit_architecture: int
    column: int
    clone: int
    socket: int
    has_x32: bool


_MACHINES = {
    "x86_64": _Machine(0xC000003E, 0, clone=56, socket=41, has_x32=True),
    "aarch64": _Machine(0xC00000B7, 1, clone=220, socket=198, has_x32=False),
}


def supports(machine: str) -> bool:
    """Whether there is a filter for this processor, named as `platform.machine()` does."""
    return machine in _MACHINES


def filter_program(machine: str) -> bytes:
    """The filter for a processor as an array of `struct sock_filter`; KeyError if `supports` says no."""
    target = _MACHINES[machine]
    refuse = _ERRNO | errno.EPERM
    program = [
        _load(_ARCHITECTURE_AT),
        *_answer_unless(_JUMP_EQUAL, target.audit_architecture, refuse),
        _load(_NUMBER_AT),
    ]
    if target.has_x32:
        program += _answer_if(_JUMP_AT_LEAST, _X32_BIT, refuse)
    for name, numbers in _CALLS.items():
        number = numbers[target.column]
        if number is not None:
            answer = _ERRNO | (errno.ENOSYS if name in _UNAVAILABLE else errno.EPERM)
            program += _answer_if(_JUMP_EQUAL, number, answer)
    program += _only_for(target.clone, _answer_if(_JUMP_ANY_BIT, _NEW_NAMESPACES, refuse))
    families = [step for family in _FAMILIES.values() for step in _answer_if(_JUMP_EQUAL, family, _ALLOW)]
    program += _only_for(target.socket, [*families, _return(_ERRNO | errno.EAFNOSUPPORT)])
    program.append(_return(_ALLOW))
    return b"".join(program)


def _step(code: int, value: int, if_true: int = 0, if_false: int = 0) -> bytes:
    """One instruction; the jumps count the instructions that are skipped."""
    return struct.pack("=HBBI", code, if_true, if_false, value)


def _load(offset: int) -> bytes:
    return _step(_LOAD_WORD, offset)


def _return(value: int) -> bytes:
    return _step(_RETURN, value)


def _answer_if(test: int, value: int, answer: int) -> list[bytes]:
    return [_step(test, value, 0, 1), _return(answer)]


def _answer_unless(test: int, value: int, answer: int) -> list[bytes]:
    return [_step(test, value, 1, 0), _return(answer)]


def _only_for(number: int, steps: list[bytes]) -> list[bytes]:
    """`steps` on the first argument of one call; every other call goes past them with its number loaded."""
    body = [_load(_FIRST_ARGUMENT_AT), *steps, _load(_NUMBER_AT)]
    return [_step(_JUMP_EQUAL, number, 0, len(body)), *body]
