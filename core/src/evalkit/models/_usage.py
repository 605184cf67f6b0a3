"""Tokens as providers count them, read from their own replies.

litellm fills in 0 or an estimate where a provider says nothing; here nothing stays None.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from evalkit.models._types import Usage

_MOST_TOKENS = 10**12


def read_usage(body: Any) -> Usage:
    """The counts in a response's JSON: OpenAI's, Anthropic's, Gemini's, Cohere's or Ollama's names."""
    if not isinstance(body, Mapping):
        return Usage()
    if isinstance(body.get("usageMetadata"), Mapping):
        return _gemini(body["usageMetadata"])
    if "prompt_eval_count" in body or "eval_count" in body:
        return Usage(_count(body, "prompt_eval_count"), _count(body, "eval_count"))
    usage = body.get("usage")
    if not isinstance(usage, Mapping):
        return Usage()
    if isinstance(usage.get("tokens"), Mapping):
        usage = usage["tokens"]
    if "cache_read_input_tokens" in usage or "cache_creation_input_tokens" in usage:
        return _anthropic(usage)
    details_in = _part(usage, "prompt_tokens_details", "input_tokens_details")
    details_out = _part(usage, "completion_tokens_details", "output_tokens_details")
    return Usage(
        _count(usage, "prompt_tokens", "input_tokens"),
        _count(usage, "completion_tokens", "output_tokens"),
        _count(details_in, "cached_tokens") if details_in else _count(usage, "prompt_cache_hit_tokens"),
        _count(details_out, "reasoning_tokens"),
    )


def _anthropic(usage: Mapping[str, Any]) -> Usage:
    """Anthropic counts what was read from and written to its cache beside `input_tokens`."""
    plain = _count(usage, "input_tokens")
    read = _count(usage, "cache_read_input_tokens")
    written = _count(usage, "cache_creation_input_tokens")
    total = None if plain is None else plain + (read or 0) + (written or 0)
    return Usage(total, _count(usage, "output_tokens"), read)


def _gemini(usage: Mapping[str, Any]) -> Usage:
    """Gemini counts thoughts beside the candidates."""
    shown, thoughts = _count(usage, "candidatesTokenCount"), _count(usage, "thoughtsTokenCount")
    output = None if shown is None and thoughts is None else (shown or 0) + (thoughts or 0)
    return Usage(
        _count(usage, "promptTokenCount"), output, _count(usage, "cachedContentTokenCount"), thoughts
    )


def _part(usage: Mapping[str, Any], *names: str) -> Mapping[str, Any]:
    return next((usage[name] for name in names if isinstance(usage.get(name), Mapping)), {})


def _count(usage: Mapping[str, Any], *names: str) -> int | None:
    for name in names:
        if (count := token_count(usage.get(name))) is not None:
            return count
    return None


def token_count(value: object) -> int | None:
    """A number of tokens; None for what can be none."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= _MOST_TOKENS:
        return None
    return int(value)
