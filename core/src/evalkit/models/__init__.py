"""Models: requests and replies, clients, retries, limits, the cache, and what everything costs.

    from evalkit.models import CallKey, Limiters, Message, ModelRequest, ModelSession, RetryPolicy, open_model

    client = open_model("openai/gpt-4.1", parse_options(["temperature=0"]))
    session = ModelSession(client, Limiters().of(client), RetryPolicy(client.attempts), None, sink)
    reply = session.complete(ModelRequest((Message("user", "Build."),)), key=CallKey("T-1", 1, 1))

Names are loaded on first use; litellm is loaded by the first call of a model that it reaches.
`docs/models.md` says what happens on the way.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from evalkit.models._arguments import parse_arguments, strict_schema
    from evalkit.models._budget import Budgeted, BudgetReachedError
    from evalkit.models._cache import CacheInfo, ResponseCache, cache_folder
    from evalkit.models._chat import TOOL_IMAGES_SENTENCE
    from evalkit.models._errors import ERROR_POLICIES, ErrorKind, ErrorPolicy, ModelError
    from evalkit.models._limiter import AdaptiveLimiter, Limiters
    from evalkit.models._open import check_model, open_model
    from evalkit.models._options import MODEL_OPTIONS, ModelOptions, parse_options
    from evalkit.models._prices import cost
    from evalkit.models._retry import RetryPolicy
    from evalkit.models._session import ModelSession
    from evalkit.models._types import (
        CallKey,
        Controls,
        HttpAttempt,
        Message,
        ModelClient,
        ModelReply,
        ModelRequest,
        ModelToolCall,
        Timeouts,
        ToolResult,
        ToolSchema,
        Usage,
        total_usage,
    )
    from evalkit.models.codecs import Codec, NativeCodec, TextCodec, format_tools, parse_blocks

_MODULE_OF = {
    "AdaptiveLimiter": "_limiter",
    "BudgetReachedError": "_budget",
    "Budgeted": "_budget",
    "CacheInfo": "_cache",
    "CallKey": "_types",
    "Codec": "codecs",
    "Controls": "_types",
    "ERROR_POLICIES": "_errors",
    "ErrorKind": "_errors",
    "ErrorPolicy": "_errors",
    "HttpAttempt": "_types",
    "Limiters": "_limiter",
    "MODEL_OPTIONS": "_options",
    "Message": "_types",
    "ModelClient": "_types",
    "ModelError": "_errors",
    "ModelOptions": "_options",
    "ModelReply": "_types",
    "ModelRequest": "_types",
    "ModelSession": "_session",
    "ModelToolCall": "_types",
    "NativeCodec": "codecs",
    "ResponseCache": "_cache",
    "RetryPolicy": "_retry",
    "TOOL_IMAGES_SENTENCE": "_chat",
    "TextCodec": "codecs",
    "Timeouts": "_types",
    "ToolResult": "_types",
    "ToolSchema": "_types",
    "Usage": "_types",
    "cache_folder": "_cache",
    "check_model": "_open",
    "cost": "_prices",
    "format_tools": "codecs",
    "open_model": "_open",
    "parse_arguments": "_arguments",
    "parse_blocks": "codecs",
    "parse_options": "_options",
    "strict_schema": "_arguments",
    "total_usage": "_types",
}

__all__ = [
    "ERROR_POLICIES",
    "MODEL_OPTIONS",
    "TOOL_IMAGES_SENTENCE",
    "AdaptiveLimiter",
    "BudgetReachedError",
    "Budgeted",
    "CacheInfo",
    "CallKey",
    "Codec",
    "Controls",
    "ErrorKind",
    "ErrorPolicy",
    "HttpAttempt",
    "Limiters",
    "Message",
    "ModelClient",
    "ModelError",
    "ModelOptions",
    "ModelReply",
    "ModelRequest",
    "ModelSession",
    "ModelToolCall",
    "NativeCodec",
    "ResponseCache",
    "RetryPolicy",
    "TextCodec",
    "Timeouts",
    "ToolResult",
    "ToolSchema",
    "Usage",
    "cache_folder",
    "check_model",
    "cost",
    "format_tools",
    "open_model",
    "parse_arguments",
    "parse_blocks",
    "parse_options",
    "strict_schema",
    "total_usage",
]


def __getattr__(name: str) -> Any:
    if name not in _MODULE_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.{_MODULE_OF[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
