"""A client with a budget: it stops before the next call, counts failures too, and never guesses."""

from __future__ import annotations

import pytest

from evalkit import UsageError
from evalkit.models import (
    Budgeted,
    BudgetReachedError,
    CallKey,
    Controls,
    ErrorKind,
    Message,
    ModelError,
    ModelReply,
    ModelRequest,
    Usage,
)

REQUEST, KEY = ModelRequest((Message("user", "?"),)), CallKey("t", 1, 1)


class Priced:
    """A dollar for each token read; every call brings the next of `outcomes`, at last again and again."""

    model, provider, attempts, max_connections = "priced", "priced", 1, 3

    def __init__(self, *outcomes: Usage | ModelError, prices: dict[str, object] | None = None) -> None:
        self.source = {"model": "priced"}
        self.controls = self.defaults = Controls()
        self.outcomes, self.calls, self.closed = list(outcomes), 0, False
        self.prices = prices

    def complete(self, request: ModelRequest, key: CallKey) -> ModelReply:
        outcome = self.outcomes[min(self.calls, len(self.outcomes) - 1)]
        self.calls += 1
        if isinstance(outcome, ModelError):
            raise outcome
        return ModelReply("1", usage=outcome)

    def describe(self) -> dict[str, object]:
        return {"prices": self.prices}

    def check(self) -> None:
        pass

    def close(self) -> None:
        self.closed = True


PRICES = {"input": 1.0, "output": 0.0, "cached": None}


def calls_until_stopped(client: Priced, budget: float) -> str:
    asked = Budgeted(client, budget)
    for _ in range(20):
        try:
            asked.complete(REQUEST, KEY)
        except BudgetReachedError as error:
            return str(error)
        except ModelError:
            continue
    return "never"


def test_the_call_after_the_budget_isnt_made():
    client = Priced(Usage(2, 0), prices=PRICES)
    assert calls_until_stopped(client, 5.0).startswith("cost: limit 5 $, spent 6 $; run it again")
    assert client.calls == 3


def test_failures_that_were_counted_cost_and_weather_doesnt():
    refused = ModelError(ErrorKind.CONTENT_FILTER, "no", usage=Usage(4, 0))
    client = Priced(ModelError(ErrorKind.TIMEOUT, "slow"), refused, Usage(1, 0), prices=PRICES)
    assert "spent 5 $" in calls_until_stopped(client, 5.0)
    assert client.calls == 3


def test_uncounted_tokens_end_it():
    client = Priced(Usage(None, None), prices=PRICES)
    assert "doesn't count tokens" in calls_until_stopped(client, 5.0)
    assert client.calls == 1


def test_it_needs_prices():
    with pytest.raises(UsageError, match="no prices are known for priced"):
        Budgeted(Priced(Usage(1, 0)), 1.0)


def test_everything_else_is_the_clients():
    client = Priced(Usage(1, 0), prices=PRICES)
    asked = Budgeted(client, 1.0)
    assert (asked.model, asked.provider, asked.max_connections) == ("priced", "priced", 3)
    assert asked.describe() == {"prices": PRICES}
    asked.check()
    asked.close()
    assert client.closed
