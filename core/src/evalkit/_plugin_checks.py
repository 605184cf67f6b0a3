"""What a plugin has to look like, and one-line reasons where it doesn't."""

from __future__ import annotations

import dataclasses
import functools
import re
import types
import typing
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeVar

import pluggy

from evalkit import hookspecs
from evalkit.errors import did_you_mean
from evalkit.hookspecs import (
    AgentSpec,
    BenchmarkSpec,
    CheckSpec,
    CommandSpec,
    DataSourceSpec,
    EnvironmentSpec,
    ExecutorSpec,
    MetricSpec,
    ModelSpec,
    ValidatorSpec,
    ViewSpec,
)

Spec = (
    BenchmarkSpec
    | ValidatorSpec
    | ExecutorSpec
    | MetricSpec
    | ViewSpec
    | AgentSpec
    | ModelSpec
    | CheckSpec
    | DataSourceSpec
    | CommandSpec
)

AnySpec = TypeVar("AnySpec", bound=Spec | EnvironmentSpec)

_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.@^-]*")
_TARGET = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)*:[A-Za-z_]\w*(\.[A-Za-z_]\w*)*")
TARGET_FIELDS = frozenset(
    {
        "target",
        "tasks",
        "settings",
        "suite_check",
        "opener",
        "task_reader",
        "free_task",
        "trial",
        "pictures",
        "warm",
        "release",
    }
)
"""Fields of descriptors that name an object as `"package.module:attribute"`."""

_LONGEST_REASON = 300


def one_line(error: BaseException) -> str:
    """An exception as one line of text: its type and the message, blanks collapsed."""
    text = " ".join(str(error).split())
    if len(text) > _LONGEST_REASON:
        text = text[: _LONGEST_REASON - 1] + "…"
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


def key_of(spec: Spec) -> str:
    """The id or name by which users call a spec."""
    named = AgentSpec | ModelSpec | DataSourceSpec | CheckSpec | CommandSpec
    return spec.name if isinstance(spec, named) else spec.id


def module_fault(module: object, manager: pluggy.PluginManager) -> str | None:
    """Why an object can't be a plugin: a misspelled, undecorated or forbidden hook, or none at all."""
    known = [name for name in dir(manager.hook) if name.startswith("evalkit_")]
    implemented = 0
    for name in dir(module):
        options = manager.parse_hookimpl_opts(module, name)
        if options is None:
            if name in known and _is_own_function(getattr(module, name)):
                return f"{name} isn't marked with @hookimpl"
            continue
        hook = options.get("specname") or name
        if hook not in known:
            similar = did_you_mean(hook, known)
            hint = f"; did you mean {' or '.join(similar)}?" if similar else ""
            return f"there is no hook {hook!r}{hint}"
        if options.get("wrapper") or options.get("hookwrapper"):
            return f"{name} wraps other plugins' hooks, which isn't allowed"
        implemented += 1
    return None if implemented else "it implements no hook"


def _is_own_function(value: object) -> bool:
    """A function that isn't one of the specifications, imported with `*`."""
    return isinstance(value, types.FunctionType) and value.__module__ != hookspecs.__name__


def checked_specs(answer: object, spec_type: type[AnySpec]) -> list[AnySpec]:
    """A hook's answer as a list of specs (None means none). TypeError or ValueError say what is wrong."""
    if answer is None:
        return []
    if not isinstance(answer, list | tuple):
        raise TypeError(f"returned {type(answer).__name__}, wanted a list of {spec_type.__name__}")
    seen = set()
    for spec in answer:
        if not isinstance(spec, spec_type):
            raise TypeError(f"returned {type(spec).__name__}, wanted {spec_type.__name__}")
        _check_fields(spec)
        if not isinstance(spec, EnvironmentSpec):
            if key_of(spec) in seen:
                raise ValueError(f"{key_of(spec)!r} is defined twice")
            seen.add(key_of(spec))
    return list(answer)


def checked_paths(answer: object) -> list[Path]:
    """The answer of `evalkit_suites` as a list of files. TypeError or ValueError say what is wrong."""
    paths = [] if answer is None else [answer] if isinstance(answer, Path) else answer
    if not isinstance(paths, list | tuple) or not all(isinstance(p, Path) for p in paths):
        raise TypeError(f"returned {type(answer).__name__}, wanted a pathlib.Path or a list of them")
    for path in paths:
        if not path.is_file():
            raise ValueError(f"there is no file {path}")
    return list(paths)


def _check_fields(spec: Spec | EnvironmentSpec) -> None:
    for name, hint in _hints(type(spec).__name__).items():
        value = getattr(spec, name)
        where = f"{type(spec).__name__}.{name}"
        if not _fits(value, hint):
            raise TypeError(f"{where} is {value!r}, wanted {_words(hint)}")
        if name in TARGET_FIELDS and value is not None and not _TARGET.fullmatch(value):
            raise ValueError(f'{where} is {value!r}, wanted "package.module:attribute"')
        if name in ("id", "name") and not _ID.fullmatch(value):
            raise ValueError(f"{where} is {value!r}: letters, digits and ._-@^ only")


@functools.cache
def _hints(spec_type_name: str) -> Mapping[str, Any]:
    spec_type = getattr(hookspecs, spec_type_name)
    hints = typing.get_type_hints(spec_type)
    return {field.name: hints[field.name] for field in dataclasses.fields(spec_type)}


def _fits(value: object, hint: Any) -> bool:
    origin = typing.get_origin(hint)
    if origin is typing.Literal:
        return value in typing.get_args(hint)
    if origin is tuple:
        return isinstance(value, tuple) and all(isinstance(item, str) for item in value)
    return isinstance(value, hint)


def _words(hint: Any) -> str:
    if typing.get_origin(hint) is typing.Literal:
        return " or ".join(repr(a) for a in typing.get_args(hint))
    return getattr(hint, "__name__", None) or str(hint)
