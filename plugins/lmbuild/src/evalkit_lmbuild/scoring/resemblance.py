"""D.3, computed half: do the parts lie where the reference's lie, and is the whole as symmetric?"""

from __future__ import annotations

from evalkit_lmbuild.scoring.aligned import Aligned
from evalkit_lmbuild.scoring.result import Result
from evalkit_lmbuild.scoring.symmetry import symmetry_match


def resemblance(aligned: Aligned, symmetry: float, reference_symmetry: float) -> Result:
    """D.3's computed half: mean of part IoU and symmetry match.

    `symmetry` and `reference_symmetry` are the best mirror overlaps of design and reference.
    """
    best = {part.id: _best(aligned, part.id) for part in aligned.reference.parts}
    volumes = {part.id: aligned.reference_volume(part.id) for part in aligned.reference.parts}
    total = sum(volumes.values())
    iou = sum(volumes[name] * value for name, (value, _) in best.items()) / total if total > 0 else 0.0
    match = symmetry_match(symmetry, reference_symmetry)
    evidence = {
        "part_iou": iou,
        "symmetry_iou": symmetry,
        "reference_symmetry_iou": reference_symmetry,
        "symmetry_match": match,
        "parts": {name: {"iou": value, "by": by} for name, (value, by) in best.items()},
    }
    return Result("D.3", (iou + match) / 2, evidence=evidence)


def _best(aligned: Aligned, reference_part: str) -> tuple[float, str | None]:
    best: tuple[float, str | None] = (0.0, None)
    for part in aligned.design.parts:
        value = aligned.iou(part.id, reference_part)
        if value > best[0]:
            best = (value, part.id)
    return best
