"""A design as operability sees it: which parts are which component, and how they hang together."""

from __future__ import annotations

from functools import cached_property

from evalkit_lmbuild.design import Joint, Part
from evalkit_lmbuild.kernel import moving_set
from evalkit_lmbuild.lexicon import same
from evalkit_lmbuild.operability.capability import Link
from evalkit_lmbuild.operability.linkage import Graph
from evalkit_lmbuild.scoring.computed import Scorer


class Subject:
    """The parts of a design by the names in the claims, its contacts, joints and moving sets.

    What needs the lattice raises `KernelError` where the parts can't be put on it.
    """

    def __init__(self, scorer: Scorer) -> None:
        self.design = scorer.design
        self.facts = scorer.facts
        self.field = scorer.field
        self.naming = scorer.naming
        self._scorer = scorer
        self._found: dict[str, dict[str, float]] = {}

    @property
    def floor_m(self) -> float:
        """Height of the design's lowest point."""
        return float(self.design.bounds[0][2])

    @cached_property
    def movers(self) -> tuple[Joint, ...]:
        """Joints that let something move."""
        return tuple(joint for joint in self.design.joints if joint.moves)

    @cached_property
    def moving(self) -> dict[str, tuple[str, ...]]:
        """Parts that each moving joint moves."""
        touching = self.field.touching()
        return {joint.id: moving_set(self.design, joint, touching).ids for joint in self.movers}

    @cached_property
    def graph(self) -> Graph:
        """Contacts and joints."""
        joined = [(joint.parent, joint.child) for joint in self.design.joints]
        return Graph(
            [part.id for part in self.design.parts],
            [*self.field.touching(), *joined],
            [(joint.parent, joint.child) for joint in self.movers],
        )

    def knows(self, name: str) -> bool:
        """Whether a name in a claim is a component that has to be built."""
        return self.naming.named(name) is not None

    def factors(self, name: str) -> dict[str, float]:
        """Parts that count for a name, each with its factor: 1 verified, else ½.

        A part of a kind of the component counts too: a caster wheel is a wheel.
        """
        if name not in self._found:
            wanted = self.naming.named(name)
            found: dict[str, float] = {}
            for component, parts in self._scorer.verified.items():
                if component == wanted or same(component, wanted or name):
                    found |= parts
            self._found[name] = {part.id: found[part.id] for part in self.design.parts if part.id in found}
        return self._found[name]

    def parts(self, name: str) -> list[Part]:
        """Parts that count for a name, in the design's order."""
        return [self.design.by_id[part] for part in self.factors(name)]

    def needed(self, name: str) -> int:
        """How many instances of a component the claims ask for."""
        return self.naming.needed.get(self.naming.named(name) or name, 1)

    def present(self, name: str) -> Link:
        """Whether the component is there: min(sum of its parts' factors, need) / need."""
        factors = self.factors(name)
        need = max(1, self.needed(name))
        score = min(sum(factors.values()), float(need)) / need
        why = ""
        if not factors:
            why = f"there is no {name}"
        elif score < 1:
            unsure = sum(factor < 1 for factor in factors.values())
            why = f"{len(factors)} of {need} {name}" + (f", {unsure} out of place" if unsure else "")
        return Link(f"{name} present", score, why, tuple(factors))
