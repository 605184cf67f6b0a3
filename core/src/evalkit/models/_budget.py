"""A model that is asked no more once its dollars are spent."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from typing import Any

from evalkit.errors import EvalkitError, UsageError
from evalkit.models._errors import ModelError
from evalkit.models._prices import cost
from evalkit.models._types import CallKey, ModelClient, ModelReply, ModelRequest


class BudgetReachedError(EvalkitError):
    """A call wasn't made: the dollars are spent, or can't be counted."""


class Budgeted:
    """A client like the one it stands before, with a budget in US dollars for all calls together.

    The budget is looked at before each call; calls that are under way by then may go beyond it. Counted are
    the tokens of replies, and of failures where the provider counted them, at the client's prices.
    """

    def __init__(self, client: ModelClient, max_cost_usd: float) -> None:
        """UsageError without known prices: such a budget can't be kept."""
        self._client, self._max_cost_usd = client, max_cost_usd
        self.model, self.source, self.provider = client.model, client.source, client.provider
        self.controls, self.defaults = client.controls, client.defaults
        self.attempts, self.max_connections = client.attempts, client.max_connections
        self._prices: Mapping[str, Any] | None = client.describe().get("prices")
        if self._prices is None:
            raise UsageError(f"no prices are known for {client.model}, so a budget of cost can't be kept")
        self._spent_usd, self._uncounted, self._lock = 0.0, False, threading.Lock()

    def complete(self, request: ModelRequest, key: CallKey) -> ModelReply:
        """Try once. BudgetReachedError instead of a call beyond the budget, or after one whose tokens nobody
        counted; otherwise as the client does."""
        self._check()
        try:
            reply = self._client.complete(request, key)
        except ModelError as error:
            self._spend(cost(error.usage, self._prices) or 0.0)
            raise
        self._spend(cost(reply.usage, self._prices))
        return reply

    def describe(self) -> Mapping[str, Any]:
        """As the client does."""
        return self._client.describe()

    def check(self) -> None:
        """As the client does."""
        self._client.check()

    def close(self) -> None:
        """As the client does."""
        self._client.close()

    def _check(self) -> None:
        if self._uncounted:
            raise BudgetReachedError("the provider doesn't count tokens, so a budget of cost can't be kept")
        if self._spent_usd >= self._max_cost_usd:
            raise BudgetReachedError(
                f"cost: limit {self._max_cost_usd:g} $, spent {self._spent_usd:.4g} $; run it again to go on"
            )

    def _spend(self, dollars: float | None) -> None:
        with self._lock:
            self._spent_usd += dollars or 0.0
            self._uncounted |= dollars is None
