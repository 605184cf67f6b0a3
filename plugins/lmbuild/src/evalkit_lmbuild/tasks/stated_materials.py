"""Claims about materials out of statements in words, such as "the frame is made of steel or aluminium"."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from evalkit_lmbuild.lexicon import normal

_WORDS: Mapping[str, str] = {
    "light_metal": "aluminum aluminium metal metallic",
    "heavy_metal": "steel iron brass bronze copper zinc chrome metal metallic",
    "plastic": "plastic nylon abs pvc polypropylene polyethylene polycarbonate acrylic polymer",
    "wood": "wood wooden timber plywood hardwood softwood mdf oak pine beech birch bamboo chipboard",
    "glass": "glass",
    "ceramic": "ceramic porcelain",
    "rubber": "rubber silicone",
    "foam": "foam foamed padding",
    "textile": "textile fabric cloth cotton canvas polyester upholstery upholstered",
}
"""Words that name a class of material."""
_DENIED = re.compile(r"\b(?:not|never|no|without|rather than|instead of)\b[^.;,]*")
"""What a statement rules out."""


def stated_materials(statements: Iterable[str], parts: Iterable[str]) -> dict[str, tuple[str, ...]]:
    """Accepted classes of material for each part that a statement names, with every class that it names.

    A statement about several parts and materials claims all of these for each part: it is taken to allow,
    not to assign. Parts and statements are compared word by word, in the singular.
    """
    found: dict[str, set[str]] = {}
    names = list(dict.fromkeys(parts))
    for statement in statements:
        words = set(re.findall(r"[a-z]+", _DENIED.sub(" ", statement.lower())))
        classes = {name for name, listed in _WORDS.items() if words & set(listed.split())}
        singular = {normal(word) for word in words}
        for part in names:
            wanted = normal(part).split()
            if classes and wanted and singular.issuperset(wanted):
                found.setdefault(part, set()).update(classes)
    return {part: tuple(sorted(found[part])) for part in names if part in found}
