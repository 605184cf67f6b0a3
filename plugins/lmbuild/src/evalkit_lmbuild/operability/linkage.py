"""Paths through a design: over contacts and joints, a few hops long."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

Pair = tuple[str, str]
NOTHING: frozenset[str] = frozenset()


class Graph:
    """Parts as nodes, `edges` between those that touch or are joined, `movers` the edges of moving joints."""

    def __init__(self, parts: Sequence[str], edges: Iterable[Pair], movers: Iterable[Pair] = ()) -> None:
        self.near: dict[str, set[str]] = {part: set() for part in parts}
        for a, b in edges:
            self.near[a].add(b)
            self.near[b].add(a)
        self._movers = [way for a, b in movers for way in ((a, b), (b, a))]

    def linked(
        self,
        starts: Collection[str],
        ends: Collection[str],
        hops: int,
        avoiding: frozenset[str] = NOTHING,
    ) -> bool:
        """Whether a path of at most `hops` edges leads from a start to an end past the parts avoided."""
        goal = set(ends) - avoiding
        reached = set(starts) - avoiding
        front = reached
        for _ in range(hops):
            if reached & goal:
                return True
            front = {other for part in front for other in self.near[part]} - reached - avoiding
            reached = reached | front
        return bool(reached & goal)

    def linked_by_joint(self, starts: Collection[str], ends: Collection[str]) -> bool:
        """Whether a path of at most four edges that visits no part twice crosses a moving joint.

        A joint (u, v) leaves three more edges to both sides of it. All divisions are looked at: none before
        u, one, two with one behind v, three with none.
        """
        return any(self._through(u, v, set(starts), set(ends)) for u, v in self._movers)

    def _through(self, u: str, v: str, starts: set[str], ends: set[str]) -> bool:
        if u in starts and self.linked([v], ends, 3, frozenset((u,))):
            return True
        if v in ends and self.linked(starts, [u], 3, frozenset((v,))):
            return True
        before = sorted((self.near[u] & starts) - {v})
        if any(self.linked([v], ends, 2, frozenset((u, start))) for start in before):
            return True
        behind = sorted((self.near[v] & ends) - {u})
        return any(self.linked(starts, [u], 2, frozenset((v, end))) for end in behind)
