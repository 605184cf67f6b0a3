"""Runs Python that nobody has vouched for, so that nothing it does reaches the machine.

    from evalkit.sandbox import Limits, run_script

    outcome = run_script(Path("build.py"), outputs=["model.json"], limits=Limits(wall_s=20))
    if outcome.status == "ok":
        model = outcome.files["model.json"]

`probe()` says how strong the sandbox is on this machine and why it isn't stronger. `docs/sandbox.md` says
what each level stops. Importing this package loads nothing; it works on every platform.
"""

from __future__ import annotations

from importlib import import_module

# Type checkers take this name for true; importing it from `typing` would be most of the cost of this module.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from evalkit.sandbox._levels import Level, Limits, Outcome, Report, Status
    from evalkit.sandbox._probe import probe
    from evalkit.sandbox._run import run_script

_MODULE_OF = {
    "Level": "_levels",
    "Limits": "_levels",
    "Outcome": "_levels",
    "Report": "_levels",
    "Status": "_levels",
    "probe": "_probe",
    "run_script": "_run",
}

__all__ = ["Level", "Limits", "Outcome", "Report", "Status", "probe", "run_script"]


def __getattr__(name: str) -> object:
    if name not in _MODULE_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value: object = getattr(import_module(f"{__name__}.{_MODULE_OF[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
