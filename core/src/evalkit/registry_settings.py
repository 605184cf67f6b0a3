"""The protocol settings of a suite, checked by the benchmark's own model and filled with its defaults."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, ValidationError

from evalkit.canonical import canonical_json
from evalkit.errors import PluginError, RegistryError, UnknownNameError, UsageError
from evalkit.hookspecs import BenchmarkSpec
from evalkit.plugins import Plugins, resolve
from evalkit.registry_files import Block
from evalkit.registry_schema import LIMITS, first_fault

if TYPE_CHECKING:
    from evalkit.registry import Suite


def full_settings(plugins: Plugins, spec: BenchmarkSpec, block: Block) -> dict[str, Any]:
    """All settings of a benchmark as JSON: those of the suite, and defaults.

    Raises UnknownNameError for a setting that the benchmark doesn't have, RegistryError for a wrong value
    (both say where it was written), PluginError if the benchmark's model is at fault.
    """
    given = block.data.get("settings", {})
    model = settings_model(plugins, spec)
    known = {} if model is None else model.model_fields
    for name in given:
        if name not in known:
            hint = block.where(("settings", name))
            if name in LIMITS:
                hint += f"; the limit is limits.{name}"
            raise UnknownNameError(f"setting of {spec.id}", name, known, hint)
    if model is None:
        return {}
    plugin = plugins.origin(spec).plugin
    try:
        settings = model.model_validate(given).model_dump(mode="json")
        canonical_json(settings)
    except ValidationError as error:
        place, sentence = first_fault(error)
        raise RegistryError(f"settings.{sentence}", block.where(("settings", *place))) from error
    except Exception as error:
        raise PluginError(plugin, f"{spec.settings} fails: {type(error).__name__}: {error}") from error
    return settings


def check_suite(plugins: Plugins, spec: BenchmarkSpec, suite: Suite) -> None:
    """Have a benchmark say whether condition, tasks, settings and limits of a suite fit together.

    UsageError names the suite; PluginError if the benchmark's check is at fault.
    """
    if spec.suite_check is None:
        return
    plugin = plugins.origin(spec).plugin
    try:
        check = resolve(spec.suite_check, plugin)
        told = {"limits": suite.limits} if "limits" in inspect.signature(check).parameters else {}
        check(suite.condition, suite.tasks, suite.settings, **told)
    except UsageError as error:
        raise UsageError(f"suite {suite.name}: {error}") from error
    except PluginError:
        raise
    except Exception as error:
        raise PluginError(plugin, f"{spec.suite_check} fails: {type(error).__name__}: {error}") from error


def settings_model(plugins: Plugins, spec: BenchmarkSpec) -> type[BaseModel] | None:
    """The pydantic model of a benchmark's settings, or None. PluginError if it isn't one."""
    if spec.settings is None:
        return None
    plugin = plugins.origin(spec).plugin
    model = resolve(spec.settings, plugin)
    if not (isinstance(model, type) and issubclass(model, BaseModel)):
        raise PluginError(plugin, f"{spec.settings} is no pydantic model")
    return model
