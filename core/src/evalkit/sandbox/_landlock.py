"""Keeps a program away from abstract Unix sockets of others, where it shares the network with them.

They have no file that could be hidden: whoever is in the same network namespace can connect. Landlock (since
ABI 6, Linux 6.12) leaves to a process and all that it starts only the abstract sockets which these made. See
landlock(7).

This file is a program as well: `python -I -S _landlock.py ARGV…` becomes ARGV, restricted.
"""

from __future__ import annotations

import ctypes
import functools
import os
import sys

#: System calls, by the same numbers on every processor that the sandbox supports.
_CREATE_RULESET, _RESTRICT_SELF = 444, 446
_VERSION = 1
_SCOPE_ABSTRACT_UNIX_SOCKET = 1
_SCOPES_SINCE_ABI = 6
_PR_SET_NO_NEW_PRIVS = 38


class _Ruleset(ctypes.Structure):
    _fields_ = (
        ("handled_access_fs", ctypes.c_uint64),
        ("handled_access_net", ctypes.c_uint64),
        ("scoped", ctypes.c_uint64),
    )


@functools.cache
def abi() -> int:
    """The version of Landlock that the kernel has; 0 if it has none."""
    if sys.platform != "linux":
        return 0
    return max(0, _call(_CREATE_RULESET, None, 0, _VERSION))


def own_abstract_sockets(argv: list[str]) -> list[str]:
    """argv that keeps a program to abstract sockets of its own; as it is where the kernel can't."""
    if abi() < _SCOPES_SINCE_ABI:
        return argv
    return [sys.executable, "-I", "-S", os.path.abspath(__file__), *argv]


def restrict() -> None:
    """Leave to this process and all it starts only abstract sockets of their own; OSError if that fails."""
    ruleset = _Ruleset(scoped=_SCOPE_ABSTRACT_UNIX_SOCKET)
    descriptor = _call(_CREATE_RULESET, ctypes.byref(ruleset), ctypes.sizeof(ruleset), 0)
    # The kernel asks for it, so that no setuid program is restricted by surprise.
    failed = descriptor < 0 or _libc().prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0
    if failed or _call(_RESTRICT_SELF, descriptor, 0) < 0:
        raise OSError(ctypes.get_errno(), f"Landlock: {os.strerror(ctypes.get_errno())}")
    os.close(descriptor)


def _call(number: int, *arguments: object) -> int:
    result: int = _libc().syscall(ctypes.c_long(number), *arguments)
    return result


@functools.cache
def _libc() -> ctypes.CDLL:
    libc = ctypes.CDLL(None, use_errno=True)
    libc.syscall.restype = ctypes.c_long
    return libc


if __name__ == "__main__":
    restrict()
    os.execv(sys.argv[1], sys.argv[1:])
