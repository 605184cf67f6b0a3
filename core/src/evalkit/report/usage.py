"""What models used: calls, HTTP attempts, tokens, and what that costs at the prices in the manifest.

Of programs that ask their models themselves it is what they said.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from evalkit.report.table import Cell, Column, Table
from evalkit.store.reader import RunReader

UNKNOWN = "unknown"


def usage_table(reader: RunReader) -> Table | None:
    """A row per agent that asks a model; None if the run has none.

    Earlier attempts at an episode count: they were paid for. Tokens and cost are those of the provider's
    answers, without those that the cache gave; where calls went uncounted or prices aren't known the cost is
    unknown. An agent's own program may say nothing of an episode's tokens, which then counts as uncounted.
    """
    agents = [agent for agent in reader.manifest["agents"] if "model" in agent or "program" in agent]
    if not agents:
        return None
    spent: dict[str, list[Mapping[str, float]]] = {agent["id"]: [] for agent in agents}
    for key, line in reader.index().items():
        if key.agent in spent:
            spent[key.agent] += filter(None, (line["end"]["counters"], line.get("spent_before")))
    names = (
        "agent",
        "model calls",
        "cache hits",
        "HTTP attempts",
        "input tokens",
        "output tokens",
        "uncounted",
        "cost",
    )
    return Table(
        "usage",
        "What the models used",
        tuple(Column(name, "right" if place else "left") for place, name in enumerate(names)),
        tuple((_program_row if "program" in agent else _row)(agent, spent[agent["id"]]) for agent in agents),
        _note(agents),
        headline=True,
    )


def _note(agents: list[dict[str, Any]]) -> str:
    told = []
    if any("model" in agent for agent in agents):
        told.append(
            "cost: US dollars at the list prices recorded in the manifest, unknown where tokens or prices "
            "are; cache hits cost nothing, and their tokens aren't counted here"
        )
    if any("program" in agent for agent in agents):
        told.append(
            "of coding agents: tokens and cost as their programs said, uncounted are episodes of which they "
            "said no tokens"
        )
    return "; ".join(told)


def _row(agent: dict[str, Any], attempts: Sequence[Mapping[str, float]]) -> tuple[Cell, ...]:
    from evalkit.models import Usage, cost

    spent = _summed(attempts)
    usage = Usage(spent["input_tokens"], spent["output_tokens"], spent["cached_tokens"])
    dollars = None if spent["uncounted_calls"] else cost(usage, agent["model"].get("prices"))
    counts = ("llm_calls", "cache_hits", "http_attempts", "input_tokens", "output_tokens", "uncounted_calls")
    return (
        str(agent["id"]),
        *(int(spent[name]) for name in counts),
        UNKNOWN if dollars is None else f"${dollars:.4f}",
    )


def _program_row(agent: dict[str, Any], attempts: Sequence[Mapping[str, float]]) -> tuple[Cell, ...]:
    spent = _summed(attempts)
    uncounted = sum("tokens" not in attempt for attempt in attempts)
    counted = uncounted < len(attempts)
    priced = counted and all("cost" in attempt for attempt in attempts)
    return (
        str(agent["id"]),
        *(None, None, None),
        *(int(spent[name]) if counted else UNKNOWN for name in ("input_tokens", "output_tokens")),
        uncounted,
        f"${spent['cost']:.4f}" if priced else UNKNOWN,
    )


def _summed(attempts: Sequence[Mapping[str, float]]) -> Counter[str]:
    spent: Counter[str] = Counter()
    for attempt in attempts:
        spent.update(attempt)
    return spent
