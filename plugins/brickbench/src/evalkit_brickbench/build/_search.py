"""Finding parts by what they are called."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cache, lru_cache

import numpy as np

from evalkit_brickbench.build._errors import SHOWN_CANDIDATES, AmbiguousPartError, UnknownPartError
from evalkit_brickbench.build._knowledge import catalogue, is_decorated
from evalkit_brickbench.parts.catalogue import Resolved

DECORATED_WORDS = frozenset({"pattern", "sticker", "print", "printed", "decorated"})
"""Whoever asks for one of these wants prints and stickers."""

_EMPTY_WORDS = frozenset({"a", "and", "for", "in", "of", "on", "the", "with"})
_KEYWORD_WEIGHT = 0.5
"""A word of the title or the id counts 1."""


@dataclass(frozen=True, slots=True, repr=False)
class Hit:
    """A part that was found: its stem, its title, how much of the query it has (0 to 1)."""

    stem: str
    title: str
    score: float

    def __str__(self) -> str:
        return f"{self.stem} {self.title}"

    __repr__ = __str__


@dataclass(frozen=True, slots=True)
class _Entry:
    """What is known of a part by words."""

    stem: str
    title: str
    words: frozenset[str]
    decorated: bool


class _Index:
    """All parts by the words of their titles, ids and keywords."""

    def __init__(self) -> None:
        known = catalogue()
        self.entries: list[_Entry] = []
        self.titles: defaultdict[str, list[int]] = defaultdict(list)
        self.keywords: defaultdict[str, list[int]] = defaultdict(list)
        for row, stem in enumerate(known.stems()):
            title = known.title(stem) or ""
            words = frozenset(words_of(title))
            self.entries.append(_Entry(stem, title, words, is_decorated(stem)))
            for word in words | {stem}:
                self.titles[word].append(row)
            for keyword in known.keywords.get(stem, ()):
                for word in words_of(keyword):
                    self.keywords[word].append(row)


@cache
def _index() -> _Index:
    return _Index()


def words_of(text: str) -> list[str]:
    """Words in lower case, in the singular; sizes in one piece: "2 x 4 Bricks" is 2x4, brick."""
    joined = re.sub(r"(?<=\d)\s*[x×]\s*(?=\d)", "x", text.lower())
    words = [word.strip(".") for word in re.findall(r"[a-z0-9.]+", joined)]
    return [_singular(word) for word in words if word and word not in _EMPTY_WORDS]


def _singular(word: str) -> str:
    return word[:-1] if len(word) > 3 and word.endswith("s") and not word.endswith("ss") else word


def find(query: str, limit: int = 20, decorated: bool = False) -> list[Hit]:
    """Parts that have words of the query in title, id or keywords, the best first.

    Parts with prints and stickers are left out unless `decorated`, or the query has such a word ("sticker",
    "pattern", …). Of equal hits those with the shorter title come first.
    """
    return [Hit(e.stem, e.title, score) for e, score, _ in _ranked(query, decorated)[:limit]]


def _ranked(query: str, decorated: bool) -> list[tuple[_Entry, float, int]]:
    """(entry, share of the query that it has, words beside it), best first."""
    wanted = frozenset(words_of(query))
    if not wanted:
        return []
    decorated = decorated or bool(wanted & DECORATED_WORDS)
    index = _index()
    scores: Counter[int] = Counter()
    for word in sorted(wanted):
        titled = set(index.titles.get(word, ()))
        scores.update(dict.fromkeys(titled, 1.0))
        named = set(index.keywords.get(word, ())) - titled
        scores.update(dict.fromkeys(named, _KEYWORD_WEIGHT))
    rows = [
        (index.entries[row], score / len(wanted), len(index.entries[row].words - wanted))
        for row, score in scores.items()
    ]
    kept = [row for row in rows if decorated or not row[0].decorated or row[0].stem in wanted]
    return sorted(kept, key=lambda row: (-row[1], row[2], len(row[0].stem), row[0].stem))


def resolve(part: str) -> str:
    """The stem that is meant by an id (`"3001"`, `"3001.DAT"`, an id of another catalogue) or by words that
    only one part answers to (`"brick 2x4"`).

    UnknownPartError if there is none, AmbiguousPartError with up to eight candidates if there are several.
    """
    return lookup(part).stem


def lookup(part: str) -> Resolved:
    """`resolve`, with the pose of the part in the frame of the id that was given: aliases may move it."""
    known = catalogue()
    stem = part.strip().lower().removesuffix(".dat").replace("\\", "/")
    found = known.resolve(stem) or known.resolve(known.foreign_ids.get(stem, stem))
    return found or Resolved(_by_words(part, stem), np.eye(4))


@lru_cache(maxsize=4096)
def _by_words(part: str, stem: str) -> str:
    ranked = _ranked(part, False)
    full = [row for row in ranked if row[1] == 1.0]
    exact = [row for row in full if row[2] == 0]
    if len(exact) == 1 or len(full) == 1:
        return (exact or full)[0][0].stem
    candidates = [f"{row[0].stem} ({row[0].title})" for row in (full or ranked)[:SHOWN_CANDIDATES]]
    if full:
        raise AmbiguousPartError(
            f"{part!r} may be any of {len(full)} parts: {'; '.join(candidates)}; give an id", candidates
        )
    known = list(_index().titles)
    near = candidates or [word for w in words_of(part) for word in get_close_matches(w, known, 3, 0.7)]
    hint = f" (did you mean {'; '.join(near)}?)" if near else ""
    raise UnknownPartError(f"no part is called {part!r}{hint}: search by words of its title")
