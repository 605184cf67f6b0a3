"""Tokens and dollars of a coding agent: budgets that are kept or refused, and the table of what was used."""

from __future__ import annotations

import json
from typing import Any

import pytest

COST = 'cost = ["total_cost_usd"]\n'
TOKENS = 'input = ["message.usage.input_tokens"]\noutput = ["message.usage.output_tokens"]\n'


def usage(shop: Any) -> list[Any]:
    """The one row of the newest run's table of usage."""
    report = json.loads(shop.evalkit("report", "latest", "--format", "json").stdout)
    (row,) = report["tables"]["usage"]["rows"]
    found: list[Any] = row
    return found


def without(shop: Any, what: str, *parts: str) -> str:
    """A template without these lines."""
    name: str = shop.template(what)
    path = shop.folder / "agent.toml"
    text = path.read_text()
    for part in parts:
        assert part in text
        text = text.replace(part, "")
    path.write_text(text)
    return name


def test_what_a_program_cost_ends_its_episode_also_if_it_says_so_last(shop: Any) -> None:
    shop.play(shop.template("behave"), "--max-cost", "0.2")
    end = shop.end()
    assert (end["reason"], end["detail"]) == ("limit", "cost: limit 0.2, observed 0.25")
    shop.play(shop.template("behave"), "--max-cost", "0.26")
    assert shop.end()["reason"] == "done"


def test_a_budget_of_the_run_is_kept_and_resume_goes_on(shop: Any) -> None:
    words = ["run", "blocks.workspace", "--agent", shop.template("behave"), "-j", "1", "--format", "plain"]
    done = shop.evalkit(*words, "--total-cost", "0.3", "--max-connections", "1", code=6)
    assert "cost: limit 0.3, observed 0.5" in done.stderr
    assert usage(shop) == ["cli:agent.toml", None, None, None, 80, 18, 0, "$0.5000"]
    shop.evalkit("resume", "latest", "--total-cost", "5")
    assert usage(shop)[-1] == "$0.7500"


@pytest.mark.parametrize("option", ["--max-cost", "--total-cost"])
def test_a_budget_of_cost_is_refused_where_nothing_tells_it(shop: Any, option: str) -> None:
    done = shop.play(without(shop, "behave", COST), option, "1", code=2)
    assert "the template of cli:agent.toml has no rule for cost" in done.stderr
    assert "one of tokens or time can" in done.stderr
    assert done.stderr.count("\n") == 1
    assert not (shop.folder / "runs").exists()


def test_resume_refuses_it_too(shop: Any) -> None:
    shop.play(without(shop, "behave", COST))
    done = shop.evalkit("resume", "latest", "--total-cost", "1", code=2)
    assert "has no rule for cost" in done.stderr


def test_a_budget_of_tokens_is_refused_where_nothing_counts_them(shop: Any) -> None:
    total = 'input = ["usage.input_tokens"]\noutput = ["usage.output_tokens"]\n'
    done = shop.play(without(shop, "behave", TOKENS, total), "--max-tokens", "100", code=2)
    assert "has no rule for tokens, so a budget of tokens can't be kept; one of time can" in done.stderr


def test_what_was_not_told_is_unknown(shop: Any) -> None:
    shop.play(shop.template("silent"))
    assert usage(shop) == ["cli:agent.toml", None, None, None, "unknown", "unknown", 1, "unknown"]
    shop.play(without(shop, "behave", COST))
    assert usage(shop) == ["cli:agent.toml", None, None, None, 40, 9, 0, "unknown"]
    printed = shop.evalkit("report", "latest").stdout
    assert "of coding agents: tokens and cost as their programs said" in printed
    assert "list prices" not in printed
