"""Which component of an object a part is: its role, read by the lexicon."""

from __future__ import annotations

from functools import cached_property

from evalkit_lmbuild.design import Part
from evalkit_lmbuild.facts import ObjectFacts
from evalkit_lmbuild.lexicon import component_of, components_of, generic


class Naming:
    """Components of an object, and what roles and names in claims mean among them.

    A component that the claims don't name but the reference's roles do is one of its own: its shape and its
    joints are looked for, while A.2 asks for those of the claims only.
    """

    def __init__(self, facts: ObjectFacts) -> None:
        self._facts = facts
        self.needed: dict[str, int] = {each.name: each.needed for each in components_of(facts)}

    @cached_property
    def _names(self) -> tuple[str, ...]:
        names = list(self.needed)
        for part in self._facts.reference.parts if self._facts.reference is not None else ():
            if part.role and not generic(part.role) and component_of(part.role, names) is None:
                names.append(part.role)
        return tuple(names)

    def named(self, name: str) -> str | None:
        """The component that a name in a claim means."""
        return component_of(name, self._names)

    def component(self, part: Part) -> str | None:
        """The component that a part says it is."""
        return component_of(part.role, self._names)

    @staticmethod
    def telling(part: Part) -> bool:
        """Whether a part's role says what it is."""
        return not generic(part.role)
