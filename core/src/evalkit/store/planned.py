"""Which episodes a run is to play, and how they are dealt out to shards."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from evalkit.errors import UsageError
from evalkit.types import EpisodeKey

#: Most episodes that a run may have; their keys are held in memory.
MAX_EPISODES = 2_000_000
_SHARD = re.compile(r"(\d+)/(\d+)")


@dataclass(frozen=True, slots=True)
class Shard:
    """Part `number` (from 1) of a run's episodes when they are dealt out to `count` runs."""

    number: int
    count: int

    @classmethod
    def parse(cls, text: str) -> Shard:
        """The shard that `i/n` names; UsageError if there is no such shard."""
        match = _SHARD.fullmatch(text.strip())
        if match is None:
            raise UsageError(f"--shard takes i/n, as in 1/4 to 4/4, not {text!r}")
        number, count = int(match[1]), int(match[2])
        if not 1 <= number <= count:
            raise UsageError(f"there is no shard {number} of {count}; the first is 1/{count}")
        return cls(number, count)

    def part(self, keys: Sequence[EpisodeKey]) -> list[EpisodeKey]:
        """This shard's keys, in the order given; parts differ in size by one at most.

        Keys are dealt out in the order of their digests, so that no shard gets one agent's episodes only.
        """
        own = set(sorted(keys, key=EpisodeKey.digest)[self.number - 1 :: self.count])
        return [key for key in keys if key in own]


def planned_keys(
    agents: Sequence[str], tasks: Iterable[str], condition: str, epochs: int, shard: Shard | None = None
) -> list[EpisodeKey]:
    """Every episode of a run (or of its shard) in the order of play: by epoch, task and agent.

    UsageError if there are more than `MAX_EPISODES`.
    """
    tasks = list(tasks)
    if (count := len(agents) * len(tasks) * epochs) > MAX_EPISODES:
        raise UsageError(
            f"{count:,} episodes are more than a run holds, {MAX_EPISODES:,}: "
            "take fewer tasks, agents or epochs, or make several runs"
        )
    keys = [
        EpisodeKey(agent, task, condition, epoch)
        for epoch in range(1, epochs + 1)
        for task in tasks
        for agent in agents
    ]
    return keys if shard is None else shard.part(keys)
