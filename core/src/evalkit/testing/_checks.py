"""All checks of a suite, and running them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from evalkit.plugins import Plugins
from evalkit.registry import Suite
from evalkit.testing import _call_checks, _environment_checks, _evidence_checks, _processes, _workspace_checks
from evalkit.testing._finding import Broken, Finding, Skip, raised
from evalkit.testing._subject import Script, Subject, subject_of

Check = Callable[[Subject], str]

CHECKS: Mapping[str, Check] = {
    "tasks": _environment_checks.check_tasks,
    "tools": _environment_checks.check_tools,
    "determinism": _environment_checks.check_determinism,
    "state": _environment_checks.check_state,
    "replay": _environment_checks.check_replay,
    "json": _environment_checks.check_json,
    "hidden": _environment_checks.check_hidden,
    "hostile": _call_checks.check_hostile_calls,
    "meters": _call_checks.check_meters,
    "validators": _evidence_checks.check_validators,
    "executors": _evidence_checks.check_executors,
    "metrics": _evidence_checks.check_metrics,
    "agents": _evidence_checks.check_agents,
    "processes": _processes.check_processes,
}
"""Name of every check → function of a `Subject`, whose docstring says what has to hold."""

_IN_WORKSPACES: Mapping[str, Check] = {"hostile": _workspace_checks.check_hostile_files}
"""What stands in for a check where agents hand in files instead of making calls."""

_NOT_IN_WORKSPACES: Mapping[str, str] = {
    "tools": "a workspace has no tools of the environment",
    "state": "a workspace is played in one go",
    "meters": "a workspace has no tools that could be metered",
}

_NEED_A_SCRIPT = ("determinism", "state", "replay", "json", "hidden", "processes")


def check_benchmark(
    suite: str | Suite,
    *,
    tasks: Sequence[str] | None = None,
    scripts: Mapping[str, Script] | None = None,
    visible: Sequence[str] = (),
    plugins: Plugins | None = None,
    agents: Sequence[str] | None = None,
) -> list[Finding]:
    """Check a suite's benchmark; the arguments are those of `subject_of`.

    Nothing that a plugin does wrong is raised: it is a finding, also where the suite can't be set up.
    """
    options = {"tasks": tasks, "scripts": scripts, "visible": visible, "plugins": plugins, "agents": agents}
    try:
        subject = subject_of(suite, **options)  # type: ignore[arg-type]
    except Broken as broken:
        return [Finding("setup", "failed", str(broken))]
    except Exception as error:  # noqa: BLE001 - a plugin may raise anything
        return [Finding("setup", "failed", raised(error))]
    return check_subject(subject)


def check_subject(subject: Subject, checks: Sequence[str] | None = None) -> list[Finding]:
    """Run all checks, or those named, on a suite taken apart."""
    return [_run(name, subject) for name in checks or CHECKS]


def _run(name: str, subject: Subject) -> Finding:
    try:
        message = _check(name, subject)(subject)
    except Broken as broken:
        return Finding(name, "failed", str(broken))
    except Skip as skip:
        return Finding(name, "skipped", str(skip))
    except Exception as error:  # noqa: BLE001 - a plugin may raise anything
        return Finding(name, "failed", f"raises {raised(error)}")
    return Finding(name, "ok", message)


def _check(name: str, subject: Subject) -> Check:
    """What carries out a check on a suite; Skip if it doesn't apply."""
    in_workspace = subject.mode == "workspace"
    if in_workspace and name in _NOT_IN_WORKSPACES:
        raise Skip(_NOT_IN_WORKSPACES[name])
    if name in _NEED_A_SCRIPT:
        _environment_checks.skip_without_script(subject)
    return _IN_WORKSPACES.get(name, CHECKS[name]) if in_workspace else CHECKS[name]
