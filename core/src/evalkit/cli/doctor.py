"""`evalkit doctor`: is this installation fit for work?"""

from __future__ import annotations

import importlib.metadata
import os
import platform
import re
import shutil
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Literal

import click

from evalkit.cli._common import emit, emit_json, json_option
from evalkit.errors import ExitCode

FOREIGN_DISTRIBUTION = "evalkit"
"""A distribution of the public index whose import package has our name, too."""

_REQUIREMENT = re.compile(r"\s*([A-Za-z0-9][A-Za-z0-9._-]*)\s*(\[[^]]*\])?\s*([^;]*)(;.*)?")


@dataclass(frozen=True, slots=True)
class Check:
    """One thing looked at: `broken` needs repair, `warn` is worth knowing, `ok` and `info` are fine."""

    name: str
    status: Literal["ok", "info", "warn", "broken"]
    detail: str


@click.command(short_help="Check this installation.")
@json_option
def command(as_json: bool) -> ExitCode:
    """Check this installation: Python, packages, plugins, caches, cores, memory, sandbox, terminal.

    Exits with 1 if something is broken.

    \b
    Examples:
      evalkit doctor
      evalkit doctor --json
    """
    checks = [
        *_platform(),
        *_packages(),
        *_foreign(),
        *_plugins(),
        *_plugin_checks(),
        *_folders(),
        *_machine(),
        _sandbox(),
        *_terminal(),
    ]
    broken = sum(check.status == "broken" for check in checks)
    if as_json:
        emit_json({"ok": not broken, "checks": [asdict(check) for check in checks]})
    else:
        width = max(len(check.name) for check in checks)
        for check in checks:
            emit(f"{check.status:<6}  {check.name:<{width}}  {check.detail}".rstrip())
        emit(f"{broken} broken" if broken else "all is well")
    return ExitCode.BELOW_THRESHOLD if broken else ExitCode.PASS


def _platform() -> Iterator[Check]:
    supported = sys.version_info >= (3, 11)
    version = f"{platform.python_version()} ({platform.python_implementation()}, {sys.executable})"
    yield Check("python", "ok" if supported else "broken", version)
    yield Check("platform", "info", platform.platform())


def _packages() -> Iterator[Check]:
    """evalkit's distributions and what they need."""
    from evalkit.plugins import CORE_DISTRIBUTION, load_plugins

    plugins = load_plugins()
    found = {plugins.origin_of(name).distribution for name in plugins.names()} - {""}
    needed: dict[str, str] = {}
    for distribution in sorted(found | {CORE_DISTRIBUTION}):
        needed.setdefault(distribution, "")
        try:
            requirements = importlib.metadata.requires(distribution) or []
        except importlib.metadata.PackageNotFoundError:
            continue  # reported below, as every distribution is
        for requirement in requirements:
            match = _REQUIREMENT.match(requirement)
            if match and not match[4]:  # what a marker makes conditional is optional here
                needed.setdefault(match[1], match[3].strip())
    for name, wanted in needed.items():
        yield _package(name, wanted)


def _package(name: str, wanted: str) -> Check:
    try:
        version = importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return Check(f"package {name}", "broken", f"not installed (wanted: {wanted or 'any version'})")
    return Check(f"package {name}", "ok", f"{version}{f' (wanted: {wanted})' if wanted else ''}")


def _foreign() -> Iterator[Check]:
    """The public index has an unrelated `evalkit`; installed beside this one, their files mix."""
    try:
        version = importlib.metadata.version(FOREIGN_DISTRIBUTION)
    except importlib.metadata.PackageNotFoundError:
        return
    yield Check(
        "foreign evalkit",
        "broken",
        f"the unrelated distribution evalkit {version} has the same import name; "
        "`pip uninstall evalkit`, then install evalkit-core again",
    )


def _plugins() -> Iterator[Check]:
    from evalkit.errors import RegistryError
    from evalkit.plugins import load_plugins
    from evalkit.registry import Registry

    plugins = load_plugins()
    plugins.check()
    registry: Check | None = None
    try:
        found = Registry.load(plugins)
        registry = Check("registry", "ok", f"{found.path or 'none'}; {len(found.names())} suites")
    except RegistryError as error:
        registry = Check("registry", "broken", str(error))
    for name in plugins.names():
        reason = plugins.broken.get(name)
        detail = reason or str(plugins.origin_of(name))
        yield Check(f"plugin {name}", "broken" if reason else "ok", detail)
    yield registry


def _plugin_checks() -> Iterator[Check]:
    """What plugins look at; one that fails is broken itself."""
    from evalkit.plugins import load_plugins, resolve

    plugins = load_plugins()
    for spec in plugins.checks().values():
        try:
            for name, status, detail in resolve(spec.target, plugins.origin(spec).plugin)():
                yield Check(f"{spec.name} {name}", status, detail)
        except Exception as error:  # noqa: BLE001 - code of plugins may raise anything
            yield Check(spec.name, "broken", f"{spec.target}: {type(error).__name__}: {error}")


def _folders() -> Iterator[Check]:
    import platformdirs

    from evalkit.run.pool import worker_environment

    compiled = os.environ.get("NUMBA_CACHE_DIR") or worker_environment()["NUMBA_CACHE_DIR"]
    yield _writable("user cache", platformdirs.user_cache_path("evalkit", appauthor=False))
    yield _writable("compiled kernels", Path(compiled))


def _writable(name: str, folder: Path) -> Check:
    """Whether files can be written in a folder, or it can be made."""
    existing = next(parent for parent in (folder, *folder.parents) if parent.exists())
    try:
        with tempfile.TemporaryFile(dir=existing):
            pass
    except OSError as error:
        return Check(name, "broken", f"{folder} can't be written: {error.strerror}")
    free_gb = shutil.disk_usage(existing).free / 1e9
    return Check(name, "warn" if free_gb < 1 else "ok", f"{folder} ({free_gb:.1f} GB free)")


def _machine() -> Iterator[Check]:
    import psutil

    usable = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    memory = psutil.virtual_memory()
    yield Check("cores", "info", f"{usable} usable of {os.cpu_count()}")
    yield Check("memory", "info", f"{memory.available / 1e9:.1f} GB free of {memory.total / 1e9:.1f} GB")


def _sandbox() -> Check:
    """How well scripts of agents can be shut in here; without `full` they aren't run unless asked for."""
    from evalkit.sandbox import Level, probe

    report = probe()
    if report.level == Level.FULL:
        own = "a user id of its own" if report.drops_uid else "this user's id in a user namespace"
        return Check("sandbox", "ok", f"full ({own})")
    return Check("sandbox", "warn", f"{report.level.label}; {report.reasons[0]}")


def _terminal() -> Iterator[Check]:
    size = shutil.get_terminal_size()
    kind = "terminal" if sys.stdout.isatty() else "not a terminal"
    detail = f"{kind}, {size.columns}×{size.lines}, {sys.stdout.encoding}"
    yield Check("stdout", "info", detail + (", NO_COLOR" if os.environ.get("NO_COLOR") else ""))
