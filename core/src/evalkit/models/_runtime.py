"""litellm, loaded when it is needed and with everything of its own switched off. Nothing else imports it."""

from __future__ import annotations

import importlib
import logging
import os
import threading
import warnings
from collections.abc import Mapping
from typing import Any

import httpx

from evalkit.models._transport import CurrentTransport

_lock = threading.Lock()
_loaded: dict[str, Any] = {}

# which kind of client a provider takes follows from how litellm.main dispatches it
_OWN_BRANCH = (
    "azure", "azure_text", "deepseek", "azure_ai", "fireworks_ai", "together_ai", "heroku", "ragflow",
    "scaledown", "xai", "groq", "opencode_go", "bedrock_mantle", "a2a", "gigachat", "sap", "aiohttp_openai",
    "cometapi", "minimax", "hosted_vllm", "edenai", "fal_ai",
)  # fmt: skip
_OPENAI_BRANCH = (
    "openai", "custom_openai", "deepinfra", "perplexity", "nvidia_nim", "cerebras", "baseten", "sambanova",
    "volcengine", "anyscale", "nebius", "wandb", "clarifai", "bigmodel",
)  # fmt: skip
WITHOUT_TRANSPORT = (
    "azure", "azure_text", "bedrock", "vertex_ai", "sagemaker", "sagemaker_chat", "sagemaker_nova", "sap",
    "aiohttp_openai",
)  # fmt: skip
"""Providers whose HTTP attempts are unknown, because litellm reaches them through a library of its own."""


def litellm() -> Any:
    """The module, ready for use. Loading it takes seconds."""
    with _lock:
        if "litellm" not in _loaded:
            _loaded["litellm"] = _load()
        return _loaded["litellm"]


def _load() -> Any:
    os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")  # otherwise it fetches prices on import
    os.environ.setdefault("LITELLM_MODE", "PRODUCTION")  # otherwise it reads keys from a .env file
    logging.getLogger("evalkit.models").info("loading litellm")
    warnings.filterwarnings("ignore", message=".*`ReadOnly` qualifier", category=UserWarning)
    # a server's fields may have other types than its SDK thinks; what they are worth is decided here
    warnings.filterwarnings("ignore", message="Pydantic serializer warnings", category=UserWarning)
    module: Any = importlib.import_module("litellm")
    module.suppress_debug_info = True  # it prints to stdout
    module.telemetry = False
    module.drop_params = False
    module.modify_params = False
    for name in ("LiteLLM", "LiteLLM Router", "LiteLLM Proxy"):
        logging.getLogger(name).setLevel(logging.CRITICAL)
    client = httpx.Client(transport=CurrentTransport(), follow_redirects=False)
    module.client_session = client
    handler = importlib.import_module("litellm.llms.custom_httpx.http_handler")
    _loaded["handler"] = handler.HTTPHandler(client=client)
    return module


def client_argument(provider: str) -> Mapping[str, Any]:
    """litellm's `client` argument that sends a provider's requests through our transport.

    Providers called through OpenAI's SDK take `litellm.client_session`, the others an HTTPHandler. Some
    bring a network library of their own, so that their attempts are unknown.
    """
    module = litellm()
    if provider in WITHOUT_TRANSPORT or _uses_openai_sdk(module, provider):
        return {}
    return {"client": _loaded["handler"]}


def _uses_openai_sdk(module: Any, provider: str) -> bool:
    """Whether litellm sends a provider's requests through OpenAI's SDK."""
    if provider in _OWN_BRANCH:
        return False
    if provider in _OPENAI_BRANCH or provider in module.openai_compatible_providers:
        return True
    loader = importlib.import_module("litellm.llms.openai_like.json_loader")
    return bool(loader.JSONProviderRegistry.exists(provider))


def provider_of(model: str) -> tuple[str, str] | None:
    """(provider, model's name there) as litellm understands a model string; None if it doesn't."""
    module = litellm()
    try:
        name, provider, _, _ = module.get_llm_provider(model)
    except module.exceptions.BadRequestError:
        return None
    return str(provider), str(name)


def provider_names() -> list[str]:
    """Every provider that litellm knows."""
    return [str(getattr(p, "value", p)) for p in litellm().provider_list]


def missing_keys(model: str) -> list[str]:
    """The environment variables that litellm misses for a model."""
    return [str(name) for name in litellm().validate_environment(model)["missing_keys"]]


def price_entry(model: str, provider: str) -> Mapping[str, Any] | None:
    """What litellm's price list says of a model, named with its provider or without."""
    prices = litellm().model_cost
    bare = model.partition("/")[2] if model.startswith(f"{provider}/") else model
    for name in (f"{provider}/{bare}", bare):
        entry = prices.get(name)
        if entry is not None and entry.get("litellm_provider") in (provider, None):
            return dict(entry)
    return None


def accepted(provider: str, name: str, wanted: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, str]]:
    """Which of litellm's sampling parameters a model takes with these values, and why not the others."""
    if _refusal(provider, name, wanted) is None:
        return dict(wanted), {}
    taken: dict[str, Any] = {}
    refused: dict[str, str] = {}
    for parameter, value in wanted.items():
        reason = _refusal(provider, name, {**taken, parameter: value})
        if reason is None:
            taken[parameter] = value
        else:
            refused[parameter] = reason
    return taken, refused


def _refusal(provider: str, name: str, parameters: Mapping[str, Any]) -> str | None:
    module = litellm()
    try:
        module.get_optional_params(model=name, custom_llm_provider=provider, **parameters)
    except module.exceptions.UnsupportedParamsError as error:
        return str(error).removeprefix("litellm.UnsupportedParamsError: ").partition(" To drop")[0]
    return None
