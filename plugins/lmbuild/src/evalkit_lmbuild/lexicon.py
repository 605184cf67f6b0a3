"""Names of components: which words of a design mean which component of the object.

Claims speak of "rear wheels" and "work surface", designs of "wheel_RL" and "desktop". A name is read as a
head (its noun, with synonyms merged) and modifiers in front of it; a role is a component's if the heads are
equal and the role has the component's modifiers, so that a "rear left wheel" is a "rear wheel" and a "wheel",
while a "wheel hub" is neither, nor is a "steering wheel".
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

from evalkit_lmbuild.facts import ObjectFacts
from evalkit_lmbuild.lexicon_words import (
    FLAT,
    FLAT_HEADS,
    FRAME_WORDS,
    GENERIC,
    IRREGULAR,
    LIMBS,
    NOISE,
    NUMBERS,
    OPPOSITES,
    PAIRED_POSITIONS,
    PEOPLE,
    POSITIONS,
    SINGULAR,
    SYNONYMS,
    WEAK_HEADS,
)

MAX_CHARACTERS = 200
MAX_COUNT = 100
PLURAL_COUNT = 2
"""Instances that a plural without a number asks for."""


@dataclass(frozen=True)
class Name:
    """A name as it is understood: `head` what it is, `modifiers` (sorted) which one or which kind."""

    head: str
    modifiers: tuple[str, ...] = ()

    def __str__(self) -> str:
        return " ".join((*self.modifiers, self.head))


@dataclass(frozen=True)
class Component:
    """A component the object is judged by: `needed` instances, and the ids of the `claims` that name it."""

    name: str
    needed: int
    claims: tuple[str, ...]


def normal(name: str) -> str:
    """Lower case, plurals made singular, punctuation, digits, articles and number words gone.

    "The Arm-Rests (2x)" gives "arm rest"; "leg of the table" gives "table leg".
    """
    return " ".join(_words(name))


def same(role: str, component: str) -> bool:
    """Whether something called `role` is a `component`; the role may say more, not less."""
    wanted = _meanings(component)
    return any(_is_kind(reading, general) for reading in _readings(role) for general in wanted)


def component_of(role: str | None, components: Iterable[str]) -> str | None:
    """The component that a role means: the most specific one it is, else the only one that is a kind of it.

    Equally specific ones go by their order. None for a role that is absent, generic or means none of them.
    """
    if role is None or generic(role):
        return None
    known = [(name, meaning) for name in components for meaning in _meanings(name)]
    for reading in _readings(role):
        fitting = [(name, meaning) for name, meaning in known if _is_kind(reading, meaning)]
        if fitting:
            return max(fitting, key=lambda entry: len(entry[1].modifiers))[0]
        kinds = {name for name, meaning in known if _is_kind(meaning, reading)}
        if len(kinds) == 1:
            return kinds.pop()
    return None


def generic(role: str | None) -> bool:
    """Whether a role says nothing: absent, or only words such as part, block, body, component."""
    words = [] if role is None else _words(role)
    if words and words[-1] in POSITIONS and (words[-1],) in _PHRASES:
        return False  # "top", "back", "side" alone are nouns
    return all(word in GENERIC or word in POSITIONS or word in NOISE for word in words)


def components_of(facts: ObjectFacts) -> tuple[Component, ...]:
    """Components of an object: required parts, parts of subsystems, moving parts, merged by meaning.

    The object's own names and what it is used with (ground, user, wall …) are left out. How many are needed
    comes from number words in the claims ("four wheels") and in statements of number; a plural without one
    means two. In the order of first mention.
    """
    own = [understood(name) for name in (facts.name, *facts.aliases)]
    found: dict[Name, tuple[int, list[str]]] = {}
    for claim, text in _mentions(facts):
        for reading in map(understood, _pieces(text)):
            if not reading.head or _is_frame(reading) or any(_is_kind(name, reading) for name in own):
                continue
            needed, claims = found.setdefault(reading, (1, []))
            found[reading] = (max(needed, count_in(text)), [*claims, claim])
    stated = _stated_counts(facts)
    return tuple(
        Component(str(name), max([needed, *_counts_of(name, stated)]), tuple(dict.fromkeys(claims)))
        for name, (needed, claims) in found.items()
    )


def count_in(text: str) -> int:
    """How many a name speaks of: its number word or digits, 2 for a plain plural, else 1."""
    words = _split(text)
    for word in words:
        if number := _number(word):
            return number
    return PLURAL_COUNT if words and _singular(words[-1]) != words[-1] else 1


def understood(name: str) -> Name:
    """Head and modifiers of a name, by its first meaning. A name without a noun has an empty head."""
    return _meanings(name)[0]


@lru_cache(maxsize=8192)
def _meanings(name: str) -> tuple[Name, ...]:
    """What a name can mean, the likeliest first."""
    words = _words(name)
    while len(words) > 1 and words[-1] in WEAK_HEADS and words[-2] not in POSITIONS and not _is_phrase(words):
        words = words[:-1]
    if len(words) > 1 and words[-1] in FLAT_HEADS and not _is_phrase(words):
        before = understood(" ".join(words[:-1]))
        words = words[:-1] if before.head in FLAT else words
    length, heads = _head(words)
    modifiers = {POSITIONS.get(word, word) for word in words[: len(words) - length] if word not in NOISE}
    return tuple(Name(head.head, tuple(sorted({*modifiers, *head.modifiers}))) for head in heads)


def _is_phrase(words: list[str]) -> bool:
    return tuple(words[-2:]) in _PHRASES


def _head(words: list[str]) -> tuple[int, list[Name]]:
    """How many of the last words are the noun, and its meanings: the longest known phrase, else the last."""
    for length in range(min(4, len(words)), 0, -1):
        if found := _PHRASES.get(tuple(words[-length:])):
            return length, found
    return 1, [Name(words[-1] if words else "")]


def _is_kind(special: Name, general: Name) -> bool:
    """Whether everything called `special` is a `general`."""
    if (
        not general.head
        or special.head != general.head
        or not set(general.modifiers) <= set(special.modifiers)
    ):
        return False
    extra = set(special.modifiers) - set(general.modifiers)
    return not any(pair & extra and pair & set(general.modifiers) for pair in OPPOSITES)


def _is_frame(name: Name) -> bool:
    if name.head in LIMBS and PEOPLE & set(name.modifiers):
        return True
    return all(word in FRAME_WORDS for word in (*name.head.split(), *name.modifiers))


def _readings(text: str) -> tuple[Name, ...]:
    """All meanings of a name, of one that joins several ("seat and backrest", "lid/cover") piece by piece."""
    names = (name for piece in _pieces(text) for name in _meanings(piece))
    return tuple(dict.fromkeys(name for name in names if name.head))


def _pieces(text: str) -> list[str]:
    return re.split(r"[/,;&+]|\band\b|\bor\b", text[:MAX_CHARACTERS])


def _split(text: str) -> list[str]:
    """Words and numbers of a text in lower case, without accents, brackets and what follows a "with"."""
    text = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", text[:MAX_CHARACTERS])
    plain = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode().lower()
    plain = re.sub(r"\([^)]*\)|\[[^]]*\]", " ", plain).replace("'s ", " ").replace("'", "")
    words = re.findall(r"[a-z]+|\d+", plain)
    for stop in ("with", "that", "which", "under", "on", "in", "at", "to"):
        if stop in words[1:]:
            words = words[: words.index(stop, 1)]
    return words


def _words(text: str) -> list[str]:
    """Singular nouns and their modifiers, an "of" turned round, without numbers and articles."""
    words = _split(text)
    for link in ("of", "for"):
        if link in words[1:-1]:
            at = words.index(link, 1)
            words = words[at + 1 :] + words[:at]
    words = [part for word in words for part in PAIRED_POSITIONS.get(word, word).split()]
    kept = [word for word in words if not word.isdigit() and word not in NUMBERS and word not in _ARTICLES]
    if len(kept) > 1:  # "wheel left" is a left wheel; of a name that is all positions the last is the noun
        nouns = [word for word in kept if word not in POSITIONS]
        trailing = len(kept)
        while nouns and kept[trailing - 1] in POSITIONS and _is_place(kept, trailing - 1):
            trailing -= 1
        kept = kept[trailing:] + kept[:trailing]
    return [_singular(word) for word in kept]


_ARTICLES = frozenset(("the", "a", "an", "of", "for", "x", "no", "nr", "number", "pcs"))


def _is_place(words: list[str], at: int) -> bool:
    """Whether a word of position at the end tells where, and isn't the noun as in "chair back"."""
    return words[at] in (
        "left",
        "right",
        "l",
        "r",
        "lh",
        "rh",
        "upper",
        "lower",
        "inner",
        "outer",
        "rear",
    ) or (
        any(word in POSITIONS for word in words[at + 1 :])
        or words[at] in ("middle", "center", "centre", "mid")
    )


@lru_cache(maxsize=8192)
def _singular(word: str) -> str:
    if word in IRREGULAR:
        return IRREGULAR[word]
    if word in SINGULAR or word.endswith(("ss", "us", "is")) or len(word) < 4:
        return word
    if word.endswith("ies") and len(word) > 4:
        return word[:-3] + "y"
    if word.endswith(("ches", "shes", "sses", "xes", "zes")):
        return word[:-2]
    return word[:-1] if word.endswith("s") else word


def _phrases() -> dict[tuple[str, ...], list[Name]]:
    meanings: dict[tuple[str, ...], list[Name]] = {}
    for line in SYNONYMS.strip().splitlines():
        name, _, others = line.partition(":")
        kind, _, head = name.rpartition("+")
        meaning = Name(head, (kind,) if kind else ())
        for phrase in (name.replace("+", " "), *others.split(",")):
            known = meanings.setdefault(tuple(phrase.split()), [])
            if meaning not in known:
                known.append(meaning)
    return meanings


_PHRASES = _phrases()


def _mentions(facts: ObjectFacts) -> Iterable[tuple[str, str]]:
    """Id of the claim and name of the component, claim by claim."""
    yield from ((claim.id, claim.part) for claim in facts.required_parts)
    for subsystem in facts.subsystems:
        yield from ((subsystem.id, part) for part in subsystem.parts)
    yield from ((motion.id, motion.moving_part) for motion in facts.motions)


def _counts_of(component: Name, stated: Iterable[tuple[Name, int]]) -> list[int]:
    return [number for name, number in stated if _is_kind(name, component)]


def _stated_counts(facts: ObjectFacts) -> list[tuple[Name, int]]:
    """Numbers of components in attributes: "There are three sturdy legs." gives (sturdy leg, 3)."""
    counts = []
    for attribute in facts.attributes:
        if attribute.kind != "count":
            continue
        words = re.findall(r"[a-z]+|\d+|[,.;:]", attribute.statement[: 2 * MAX_CHARACTERS].lower())
        for at, word in enumerate(words):
            if number := _number(word):
                counts += [(name, number) for name in _counted(words[at + 1 : at + 5], number)]
    return counts


def _counted(words: list[str], number: int) -> Iterable[Name]:
    """What a number in front of these words may count: each plural (of one: singular) up to an "and"."""
    for end, word in enumerate(words, 1):
        if word in ",.;:" or word == "and" or _number(word):
            return
        if (_singular(word) != word) == (number > 1):
            yield understood(" ".join(words[:end]))


def _number(word: str) -> int:
    """The number that a word stands for; 0 for none, or for one that is no number of components."""
    number = NUMBERS.get(word, int(word) if word.isdigit() and len(word) < 4 else 0)
    return number if number <= MAX_COUNT else 0
