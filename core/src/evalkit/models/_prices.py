"""What tokens cost. Unknown prices and unknown counts give an unknown cost, never 0."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from evalkit.models._types import Usage


def snapshot(entry: Mapping[str, Any] | None, source: str) -> dict[str, Any] | None:
    """Prices in US dollars per token from an entry of litellm's price list, for the manifest.

    None if the entry doesn't price input and output.
    """
    if not entry:
        return None
    read, written = entry.get("input_cost_per_token"), entry.get("output_cost_per_token")
    if not isinstance(read, int | float) or not isinstance(written, int | float):
        return None
    cached = entry.get("cache_read_input_token_cost")
    known = cached if isinstance(cached, int | float) else None
    return {"input": float(read), "output": float(written), "cached": known, "source": source}


def cost(usage: Usage, prices: Mapping[str, Any] | None) -> float | None:
    """US dollars for the tokens, or None if prices or counts are unknown.

    Cached input costs as much as other input where no price is known for it. What providers charge beside
    tokens, and for writing to a cache, isn't included.
    """
    if prices is None or usage.input is None or usage.output is None:
        return None
    cached = min(usage.cached or 0, usage.input)
    cached_price = prices["input"] if prices.get("cached") is None else prices["cached"]
    total = (usage.input - cached) * prices["input"] + cached * cached_price + usage.output * prices["output"]
    return float(total)
