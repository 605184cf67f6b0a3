"""When a failed call is tried again, and after how long."""

from __future__ import annotations

import random
from dataclasses import dataclass

from evalkit.models._errors import ModelError
from evalkit.models._types import CallKey


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """Exponential waiting with jitter between `shortest_s` and `longest_s`.

    `attempts` is the number of tries in all. A provider's Retry-After takes the place of the own waiting
    time, up to `retry_after_cap_s`.
    """

    attempts: int = 5
    shortest_s: float = 2.0
    longest_s: float = 10.0
    retry_after_cap_s: float = 120.0

    def wait_s(self, error: ModelError, tries: int, key: CallKey) -> float | None:
        """Seconds to wait after the failure of try number `tries` (from 1), or None to give up.

        The jitter depends on the call and the try alone, so that a run repeated waits the same.
        """
        if not error.policy.retried or tries >= self.attempts:
            return None
        if error.retry_after is not None:
            return self.capped(error.retry_after)
        ceiling = min(self.longest_s, self.shortest_s * 2.0**tries)
        jitter = random.Random(f"{key.task}|{key.epoch}|{key.turn}|{tries}").random()
        return self.shortest_s + jitter * max(0.0, ceiling - self.shortest_s)

    def capped(self, retry_after: float | None) -> float | None:
        """A Retry-After, cut to what is waited at most."""
        return None if retry_after is None else min(retry_after, self.retry_after_cap_s)
