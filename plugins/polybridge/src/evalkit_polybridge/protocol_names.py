"""How a run's protocol is told beside its condition, where it is not the reported one."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import PurePath
from typing import Any

from evalkit import sha256_of
from evalkit.report import RecordedRun
from evalkit_polybridge.release.layout import configuration
from evalkit_polybridge.release.manifest import inclusion
from evalkit_polybridge.specs import EMBEDDED

_LONGEST_VALUE = 24


def deviation(run: RecordedRun) -> str:
    """What tells the run's protocol from the reported one, such as `feedback_frames=0`; or nothing.

    Levels from elsewhere than the suite's name says, settings as `-T` takes them, limits, validators, and
    executors other than the embedded one. Settings that only follow from others are left out.
    """
    configured = configuration(run)
    parts = [*_levels(run), *_told(configured, inclusion(configured)["deviations"])]
    executors = list(run.manifest["protocol"]["executors"])
    if executors != [EMBEDDED.id]:
        parts.append("+".join(executors) or "no executor")
    return ", ".join(parts)


def _levels(run: RecordedRun) -> Iterator[str]:
    """Where the levels are from, if the suite's name doesn't say it; of a folder its own name alone."""
    tasks = run.manifest["protocol"]["tasks"]
    expected = "heldout" if run.manifest["suite"]["name"] == "polybridge.heldout" else "main"
    if "folder" in tasks:
        yield f"folder={_value(PurePath(str(tasks['folder'])).name)}"
    elif tasks.get("levels", "main") != expected:
        yield f"levels={tasks.get('levels', 'main')}"


def _told(configured: Mapping[str, Any], deviations: list[str]) -> Iterator[str]:
    from evalkit_polybridge.settings import BridgeSettings

    # of a calibration the window is what matters here; the executor is told anyway
    derived = BridgeSettings.model_computed_fields.keys() - {"window_s"}
    told = [name for name in deviations if name != "calibration"]
    for name in [name for name in told if name not in derived] or told:
        part, dot, key = name.partition(".")
        values = configured[part] if dot else configured["settings"]
        known = key if dot else name
        yield f"{known}={_value(values[known])}" if known in values else f"no {name}"


def _value(value: Any) -> str:
    text = value if isinstance(value, str) else json.dumps(value)
    return text if len(text) <= _LONGEST_VALUE else f"#{sha256_of(value)[:8]}"
