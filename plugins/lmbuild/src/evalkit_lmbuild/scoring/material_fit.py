"""R.2: are the parts made of what suits them?"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from evalkit_lmbuild.design import Design, Part
from evalkit_lmbuild.materials import FAMILIES, MATERIALS
from evalkit_lmbuild.scoring.aligned import Aligned
from evalkit_lmbuild.scoring.result import Result, not_applicable

COVERED = 0.25
"""A part of the reference that covers this share of a part's cells lends it its material."""

FAMILY = 0.5
"""Worth of a material that is only of the family of an accepted one."""


def material_fit(
    design: Design,
    claims: Mapping[str, frozenset[str]],
    component: Callable[[Part], str | None],
    reference: Design | None = None,
    aligned: Aligned | None = None,
) -> Result:
    """R.2: the mean over all parts of 1 for an accepted class of material, ½ for one of its family, else 0.

    `claims` are the accepted classes by component. Accepted are also the classes of the reference's parts of
    that component and of those that cover at least a quarter of the part. A part without material counts 0.
    """
    if not design.parts:
        return Result("R.2", 0.0, "the design has no parts")
    if not any(part.material for part in design.parts):
        return Result("R.2", 0.0, "no part has a material")
    cited = _cited(reference, component)
    if not claims and not cited:
        return not_applicable("R.2", "nothing is known of the object's materials")
    rows = {}
    for part in design.parts:
        name = component(part)
        accepted = set(claims.get(name, ())) | cited.get(name, set()) if name else set()
        accepted |= _covering(part, aligned)
        rows[part.id] = {
            "material": part.material,
            "accepted": sorted(accepted),
            "fit": fit(part.material, accepted),
        }
    score = sum(float(str(row["fit"])) for row in rows.values()) / len(rows)
    return Result("R.2", score, evidence={"parts": rows})


def fit(material: str | None, accepted: set[str]) -> float:
    """1, ½ or 0 for a material where these classes are accepted."""
    if material is None or material not in MATERIALS:
        return 0.0
    found = MATERIALS[material].material_class
    if found in accepted:
        return 1.0
    return FAMILY if FAMILIES[found] in {FAMILIES[name] for name in accepted} else 0.0


def _class_of(part: Part) -> str | None:
    known = MATERIALS.get(part.material or "")
    return known.material_class if known else None


def _cited(reference: Design | None, component: Callable[[Part], str | None]) -> dict[str, set[str]]:
    cited: dict[str, set[str]] = {}
    for part in reference.parts if reference is not None else ():
        name, material_class = component(part), _class_of(part)
        if name and material_class:
            cited.setdefault(name, set()).add(material_class)
    return cited


def _covering(part: Part, aligned: Aligned | None) -> set[str]:
    if aligned is None or aligned.volume(part.id) <= 0:
        return set()
    needed = COVERED * aligned.volume(part.id)
    return {
        name
        for other in aligned.reference.parts
        if (name := _class_of(other)) and aligned.overlap(part.id, other.id) >= needed
    }
