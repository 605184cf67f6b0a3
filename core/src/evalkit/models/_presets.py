"""The presets file: what is known of providers and models before anything is sent."""

from __future__ import annotations

import fnmatch
import functools
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from evalkit.models._types import Controls, Timeouts
from evalkit.registry_yaml import read_yaml

PRESETS_FILE = Path(__file__).with_name("presets.yaml")


@dataclass(frozen=True, slots=True)
class Provider:
    """A provider: the variable with its key, and its address if that isn't fixed."""

    api_key_env: str | None = None
    base_url: str | None = None
    base_url_needed: bool = False


@dataclass(frozen=True, slots=True)
class Preset:
    """How a model is called unless the user says otherwise; `attempts` are tries in all.

    The model ignores the controls in `not_taken`, and refuses those in `not_with_reasoning` beside a
    reasoning effort.
    """

    controls: Controls
    not_taken: tuple[str, ...]
    not_with_reasoning: tuple[str, ...]
    timeouts: Timeouts
    attempts: int


@functools.cache
def _presets() -> Mapping[str, Any]:
    content: Mapping[str, Any] = read_yaml(PRESETS_FILE).value
    return content


def full_name(model: str) -> str:
    """The name that an alias stands for, or the name itself."""
    return str(_presets()["aliases"].get(model, model))


def aliases() -> list[str]:
    """The short names."""
    return list(_presets()["aliases"])


def providers() -> dict[str, Provider]:
    """The providers that are known without litellm, by name."""
    return {name: Provider(**fields) for name, fields in _presets()["providers"].items()}


def preset_of(model: str) -> Preset:
    """The preset of a model's full name (`provider/model`)."""
    defaults = _presets()["defaults"]
    own: Mapping[str, Any] = next(
        (p for p in _presets()["presets"] if fnmatch.fnmatchcase(model, p["match"])), {}
    )
    controls = {**defaults["controls"], **own.get("controls", {})}
    timeouts = {**defaults["timeouts"], **own.get("timeouts", {})}
    return Preset(
        Controls(**controls),
        tuple(own.get("not_taken", ())),
        tuple(own.get("not_with_reasoning", ())),
        Timeouts(**{name: float(value) for name, value in timeouts.items()}),
        int(own.get("attempts", defaults["attempts"])),
    )
