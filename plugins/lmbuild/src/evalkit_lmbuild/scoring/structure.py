"""S.1–S.3: is the design one piece, without collisions, and does it stand?

All three look at the design at a pitch scaled to it (`design_pitch`); with s = pitch / 4 mm, thresholds of
lengths are multiplied with s, of areas with s², of volumes with s³.
"""

from __future__ import annotations

from dataclasses import dataclass

from evalkit_lmbuild.design import Design, Joint
from evalkit_lmbuild.facts import ObjectFacts
from evalkit_lmbuild.kernel import Field, components, design_pitch, origin_ok
from evalkit_lmbuild.kernel.field import Pair
from evalkit_lmbuild.kernel.joints import ORIGIN_LIMIT
from evalkit_lmbuild.scoring.result import Result, not_applicable

INTERLOCK_M3 = 0.1e-6
CONTACT_M2 = 1e-4
STUD_M = 0.0015

COLLISION_M3 = 1e-6
COLLISION_SHARE = 0.10
JOINED_COLLISION_SHARE = 0.25

DEFAULT_TILT_DEG = 30.0
TILT_RANGE_DEG = (5.0, 30.0)
DEFAULT_PUSH = 0.20
PUSH_RANGE = (0.05, 0.35)

OVERSIZE = 5.0
OVERSIZE_M = 10.0
"""Diagonal that no part may exceed: five times the reference's, or so many metres without a reference."""


@dataclass(frozen=True)
class Targets:
    """What stability is measured against: tilt in degrees, push (support margin over height)."""

    tilt_deg: float = DEFAULT_TILT_DEG
    push: float = DEFAULT_PUSH


def structure_field(design: Design) -> Field:
    """The design on the lattice that S.1–S.3 use."""
    return Field(design.parts, design_pitch(design))


def stability_targets(reference: Design | None) -> Targets:
    """θ* and f*: the reference's own tilt and push, kept within 5–30° and 0.05–0.35."""
    if reference is None or not reference.parts:
        return Targets()
    tilt = structure_field(reference).tilt()
    return Targets(
        _clip(tilt.angle_deg, *TILT_RANGE_DEG), _clip(_push(tilt.margin_m, tilt.height_m), *PUSH_RANGE)
    )


def connectivity_score(volume_share: float, groups: int, parts: int, fastened: int) -> float:
    """S.1 = mean(V(largest)/V, max(0, 1 − (m−1)/(n−1)), min(1, F/(n−1))) for n > 1 parts in m groups."""
    breaks = max(0.0, 1 - (groups - 1) / (parts - 1))
    return (volume_share + breaks + min(1.0, fastened / (parts - 1))) / 3


def stability_score(tilt_deg: float, push: float, targets: Targets) -> float:
    """S.3 = ½[clip(θ, 0, θ*)/θ* + clip(f, 0, f*)/f*]."""
    tilted = _clip(tilt_deg, 0.0, targets.tilt_deg) / targets.tilt_deg
    return (tilted + _clip(push, 0.0, targets.push) / targets.push) / 2


def connectivity(design: Design, facts: ObjectFacts, field: Field) -> Result:
    """S.1: share of the largest group, number of groups, and how many contacts are fastened.

    Parts belong together where they touch or a joint near both says so. A contact is fastened by interlocking
    volume, by a joint with interlock or area, or by studs. A single part: not applicable; the reason says so
    where the reference has more, since level S is then S.3 alone.
    """
    if (refused := _refused("S.1", design, facts)) is not None:
        return refused
    if len(design.parts) == 1:
        expected = 1 if facts.reference is None else len(facts.reference.parts)
        more = "; the reference has more" if expected > 1 else ""
        reason = f"one part has nothing to be connected with{more}"
        return not_applicable("S.1", reason, n_parts=1, n_parts_reference=expected)
    touching = field.touching()
    joined = _joined(design, ORIGIN_LIMIT * field.scale)
    groups = components([part.id for part in design.parts], [*touching, *joined])
    volumes = [sum(field.volume(part_id) for part_id in group) for group in groups]
    largest = volumes.index(max(volumes))
    by_kind = {pair: _fastening(design, field, pair, joined) for pair in touching}
    fastened = {pair: kind for pair, kind in by_kind.items() if kind is not None}
    share = volumes[largest] / sum(volumes)
    evidence = {
        "pitch_mm": field.pitch * 1000,
        "n_parts": len(design.parts),
        "n_components": len(groups),
        "floating": [group for index, group in enumerate(groups) if index != largest],
        "anchored_volume_frac": share,
        "n_touching": len(touching),
        "fastened": [{"pair": list(pair), "by": kind} for pair, kind in fastened.items()],
        "resting": [list(pair) for pair in touching if pair not in fastened],
    }
    score = connectivity_score(share, len(groups), len(design.parts), len(fastened))
    return Result("S.1", score, evidence=evidence)


def collisions(design: Design, facts: ObjectFacts, field: Field) -> Result:
    """S.2 = 1 − colliding pairs / touching pairs; not applicable where nothing touches.

    A pair collides if it shares more than 1 cm³·s³ of core and more than a tenth of the smaller part, or a
    quarter of it where a joint is declared between the two.
    """
    if (refused := _refused("S.2", design, facts)) is not None:
        return refused
    touching = field.touching()
    if not touching:
        return not_applicable("S.2", "no two parts touch")
    declared = {_pair(joint) for joint in design.joints}
    found = []
    worst = 0.0
    for pair in touching:
        deep = field.deep(*pair)
        share = deep / min(field.volume(part_id) for part_id in pair)
        worst = max(worst, share)
        allowed = JOINED_COLLISION_SHARE if pair in declared else COLLISION_SHARE
        if deep > COLLISION_M3 * field.scale**3 and share > allowed:
            found.append({"pair": list(pair), "overlap_cm3": deep * 1e6, "share_of_smaller": share})
    evidence = {
        "pitch_mm": field.pitch * 1000,
        "n_touching": len(touching),
        "colliding": found,
        "worst_share": worst,
    }
    return Result("S.2", 1 - len(found) / len(touching), evidence=evidence)


def stability(design: Design, facts: ObjectFacts, field: Field, targets: Targets | None = None) -> Result:
    """S.3: how far the whole can be tilted and how hard it can be pushed, against the reference.

    `targets` spares the reference's own tilt where it is known. Not applicable to objects that don't stand by
    themselves.
    """
    if not facts.free_standing:
        return not_applicable("S.3", "the object doesn't stand by itself")
    if (refused := _refused("S.3", design, facts)) is not None:
        return refused
    targets = targets or stability_targets(facts.reference)
    tilt = field.tilt()
    push = _push(tilt.margin_m, tilt.height_m)
    evidence = {
        "pitch_mm": field.pitch * 1000,
        "critical_tilt_deg": tilt.angle_deg,
        "exact_tilt_deg": tilt.exact_angle_deg,
        "support_margin_m": tilt.margin_m,
        "push_ratio": push,
        "com_height_m": float(tilt.centre[2]) - tilt.z_min,
        "height_m": tilt.height_m,
        "target_tilt_deg": targets.tilt_deg,
        "target_push": targets.push,
    }
    return Result("S.3", stability_score(tilt.angle_deg, push, targets), evidence=evidence)


def _refused(metric: str, design: Design, facts: ObjectFacts) -> Result | None:
    """Score 0 of an empty design or one with a part out of all proportion, None of any other."""
    if not design.parts:
        return Result(metric, 0.0, "the design is empty")
    reference = facts.reference.diagonal if facts.reference is not None else 0.0
    limit = OVERSIZE * reference if reference > 0 else OVERSIZE_M
    for part in design.parts:
        size = part.world.size
        diagonal = float((size @ size) ** 0.5)
        if diagonal > limit:
            reason = f"part {part.id!r} has a diagonal of {diagonal:.3g} m, the limit is {limit:.3g} m"
            return Result(metric, 0.0, reason, {"part": part.id, "diagonal_m": diagonal, "limit_m": limit})
    return None


def _pair(joint: Joint) -> Pair:
    return (min(joint.parent, joint.child), max(joint.parent, joint.child))


def _joined(design: Design, limit_m: float) -> tuple[Pair, ...]:
    """Pairs with a joint whose origin is near both parts, sorted."""
    return tuple(sorted({_pair(joint) for joint in design.joints if origin_ok(design, joint, limit_m)}))


def _fastening(design: Design, field: Field, pair: Pair, joined: tuple[Pair, ...]) -> str | None:
    """What holds two touching parts together: "interlock", "joint", "studs" or nothing."""
    if field.deep(*pair) >= INTERLOCK_M3 * field.scale**3:
        return "interlock"
    if pair in joined and field.contact_area(*pair) >= CONTACT_M2 * field.scale**2:
        return "joint"
    return "studs" if _on_studs(design, pair) else None


def _on_studs(design: Design, pair: Pair) -> bool:
    """Whether one LDraw part stands on the other: their vertical extents abut within 1.5 mm."""
    one, two = (design.by_id[part_id] for part_id in pair)
    if one.source != "ldraw" or two.source != "ldraw":
        return False
    (low_one, high_one), (low_two, high_two) = one.world.bounds, two.world.bounds
    return bool(min(abs(high_one[2] - low_two[2]), abs(high_two[2] - low_one[2])) <= STUD_M)


def _push(margin_m: float, height_m: float) -> float:
    return margin_m / height_m if height_m > 0 else 0.0


def _clip(value: float, low: float, high: float) -> float:
    return min(high, max(low, value))
