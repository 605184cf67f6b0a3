"""`-M key=value`: how a model is reached and sampled."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from evalkit.errors import UnknownNameError, UsageError
from evalkit.models._types import TIMEOUT_PHASES, Controls

DEFAULT_MAX_CONNECTIONS = 10


@dataclass(frozen=True, slots=True)
class ModelOptions:
    """What the user said about a model; what is None or missing is left to its preset.

    `timeouts` maps phases to seconds. `api_key_env` names the environment variable that holds the key.
    """

    base_url: str | None = None
    api_key_env: str | None = None
    controls: Controls = field(default_factory=Controls)
    timeouts: Mapping[str, float] = field(default_factory=dict)
    max_retries: int | None = None
    max_connections: int = DEFAULT_MAX_CONNECTIONS

    def as_dict(self) -> dict[str, Any]:
        """What was given, as JSON; keys as they are typed."""
        found: dict[str, Any] = self.controls.given()
        found |= {f"timeout.{phase}": seconds for phase, seconds in self.timeouts.items()}
        for name in ("base_url", "api_key_env", "max_retries"):
            if getattr(self, name) is not None:
                found[name] = getattr(self, name)
        return found | {"max_connections": self.max_connections}


def parse_options(options: Iterable[str]) -> ModelOptions:
    """The options of `-M key=value`, later ones winning. UsageError names what is wrong with which."""
    found = ModelOptions()
    for option in options:
        key, sign, text = option.partition("=")
        key, text = key.strip(), text.strip()
        if not sign:
            raise UsageError(f"-M {option}: write it as key=value")
        if key not in _READERS:
            raise UnknownNameError("model option", key, _READERS, f"-M {option}")
        try:
            value = _READERS[key](text)
        except ValueError as error:
            raise UsageError(f"-M {option}: {error}") from error
        found = _with(found, key, value)
    return found


def _with(options: ModelOptions, key: str, value: Any) -> ModelOptions:
    if key in _CONTROLS:
        return dataclasses.replace(options, controls=dataclasses.replace(options.controls, **{key: value}))
    head, _, phase = key.partition(".")
    if head == "timeout":
        return dataclasses.replace(options, timeouts={**options.timeouts, phase: value})
    return dataclasses.replace(options, **{key: value})


def _number(low: float, high: float) -> Callable[[str], float]:
    def read(text: str) -> float:
        try:
            value = float(text)
        except ValueError:
            raise ValueError(f"{text!r} is not a number") from None
        if not (math.isfinite(value) and low <= value <= high):
            raise ValueError(f"{value:g} is not between {low:g} and {high:g}")
        return value

    return read


def _whole(low: int, high: int) -> Callable[[str], int]:
    def read(text: str) -> int:
        try:
            value = int(text)
        except ValueError:
            raise ValueError(f"{text!r} is not a whole number") from None
        if not low <= value <= high:
            raise ValueError(f"{value} is not between {low} and {high}")
        return value

    return read


def _word(text: str) -> str:
    if not text:
        raise ValueError("nothing behind the equals sign")
    return text


def _stop(text: str) -> tuple[str, ...]:
    return tuple(part for part in _word(text).split("|") if part)


def _url(text: str) -> str:
    from urllib.parse import urlsplit

    parts = urlsplit(text)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ValueError("an address looks like http://localhost:8000/v1")
    if parts.username or parts.password or parts.query:
        raise ValueError("no secrets here: put the key into a variable and name it with api_key_env")
    _ = parts.port  # ValueError for a port that is no number
    return text.rstrip("/")


def _variable(text: str) -> str:
    if not text.replace("_", "a").isalnum() or text[:1].isdigit():
        raise ValueError("api_key_env takes the name of an environment variable, not the key itself")
    return text


_CONTROLS: Mapping[str, Callable[[str], Any]] = {
    "temperature": _number(0, 2),
    "top_p": _number(0, 1),
    "max_output_tokens": _whole(1, 10_000_000),
    "reasoning_effort": _word,
    "stop": _stop,
    "seed": _whole(0, 2**63 - 1),
}
_READERS: Mapping[str, Callable[[str], Any]] = {
    **_CONTROLS,
    "base_url": _url,
    "api_key_env": _variable,
    "max_retries": _whole(0, 100),
    "max_connections": _whole(1, 10_000),
    **{f"timeout.{phase}": _number(0.001, 86_400) for phase in TIMEOUT_PHASES},
}
MODEL_OPTIONS: tuple[str, ...] = tuple(_READERS)
"""The keys that `-M` takes."""
