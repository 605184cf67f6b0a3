"""What models used: calls, HTTP attempts, tokens, and what that costs at the prices in the manifest."""

from __future__ import annotations

from collections import Counter
from typing import Any

from evalkit.report.table import Cell, Column, Table
from evalkit.store.reader import RunReader

UNKNOWN = "unknown"


def usage_table(reader: RunReader) -> Table | None:
    """A row per agent that asks a model; None if the run has none.

    Earlier attempts at an episode count: they were paid for. Tokens and cost are those of the provider's
    answers, without those that the cache gave; where calls went uncounted or prices aren't known the cost is
    unknown.
    """
    agents = [agent for agent in reader.manifest["agents"] if "model" in agent]
    if not agents:
        return None
    spent: dict[str, Counter[str]] = {agent["id"]: Counter() for agent in agents}
    for key, line in reader.index().items():
        if key.agent in spent:
            spent[key.agent].update(line["end"]["counters"])
            spent[key.agent].update(line.get("spent_before", {}))
    names = (
        "agent",
        "model calls",
        "cache hits",
        "HTTP attempts",
        "input tokens",
        "output tokens",
        "uncounted calls",
        "cost",
    )
    return Table(
        "usage",
        "What the models used",
        tuple(Column(name, "right" if place else "left") for place, name in enumerate(names)),
        tuple(_row(agent, spent[agent["id"]]) for agent in agents),
        "cost: US dollars at the list prices recorded in the manifest, unknown where tokens or prices are; "
        "cache hits cost nothing, and their tokens aren't counted here",
        headline=True,
    )


def _row(agent: dict[str, Any], spent: Counter[str]) -> tuple[Cell, ...]:
    from evalkit.models import Usage, cost

    usage = Usage(spent["input_tokens"], spent["output_tokens"], spent["cached_tokens"])
    dollars = None if spent["uncounted_calls"] else cost(usage, agent["model"].get("prices"))
    counts = ("llm_calls", "cache_hits", "http_attempts", "input_tokens", "output_tokens", "uncounted_calls")
    return (
        str(agent["id"]),
        *(int(spent[name]) for name in counts),
        UNKNOWN if dollars is None else f"${dollars:.4f}",
    )
