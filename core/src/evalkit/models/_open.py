"""From a model string to a client, and the checks before the first episode."""

from __future__ import annotations

from collections.abc import Callable

from evalkit.errors import EvalkitError, PluginError
from evalkit.models._options import ModelOptions
from evalkit.models._types import ModelClient
from evalkit.plugins import load_plugins, resolve

FALLBACK = "litellm"


def open_model(model: str, options: ModelOptions | None = None) -> ModelClient:
    """The client of a model string: `scripted:FILE`, `cassette:FILE`, `cassette-record:FILE=MODEL`, the
    name of a plugin's client and its argument, or a model of litellm (`openai/gpt-5`, `gpt-5`).

    Raises UsageError for a file that can't be read or a provider that is unknown. Connects to nobody.
    """
    plugins = load_plugins()
    clients = plugins.models()
    name, colon, argument = model.partition(":")
    if not colon or (name not in clients and name not in clients.contested):
        name, argument = FALLBACK, model
    spec = clients[name]
    plugin = plugins.origin(spec).plugin
    build: Callable[[str, ModelOptions], ModelClient] = resolve(spec.target, plugin)
    try:
        return build(argument, options or ModelOptions())
    except EvalkitError:
        raise
    except Exception as error:
        reason = f"model client {name!r} failed: {type(error).__name__}: {error}"
        raise PluginError(plugin, reason) from error


def check_model(model: str, options: ModelOptions | None = None) -> None:
    """Raise UsageError if a call of the model can't succeed.

    Found without sending a request: a missing key (the error names its variable), an unknown provider,
    an unreadable script or cassette, a server that refuses connections.
    """
    client = open_model(model, options)
    try:
        client.check()
    finally:
        client.close()
