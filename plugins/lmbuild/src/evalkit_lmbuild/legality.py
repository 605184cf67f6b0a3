"""What keeps a design's document from being a design: every fault with its ids, values and limits."""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any

from evalkit_lmbuild.design import JOINT_TYPES, SOURCES, Part
from evalkit_lmbuild.materials import MATERIALS

ID = re.compile(r"[A-Za-z0-9_-]{1,48}")
MAX_PARTS = 80
"""Parts placed by tools at once; parts whose meshes come in a file may be more."""
MAX_MESHES = 2000
MAX_COORDINATE_M = 5.0
MAX_ANGLE_DEG = 3600.0
MAX_BOXES_M3 = 128.0
"""Bounding boxes of all parts together: 2e9 cells of the kernel's 4 mm, which take about 1 GB."""
MAX_JOINTS = 400
MAX_TEXT = 80


@dataclass(frozen=True)
class Problem:
    """A fault of a document: `value` was found where `limit` is the most, `message` says what to do."""

    code: str
    message: str
    ids: tuple[str, ...] = ()
    value: float | None = None
    limit: float | None = None


def problems(
    document: object, *, known: Collection[str] = (), meshes: Collection[str] = ()
) -> tuple[Problem, ...]:
    """All faults of a document; nothing is compiled.

    `known` are ids of catalogue parts, `meshes` ids of parts for which a file of meshes has one.
    """
    if not isinstance(document, Mapping):
        return (Problem("format", f"a design is an object of JSON, not {_kind(document)}"),)
    for key in ("parts", "joints", "sequence"):
        if document.get(key) is not None and not isinstance(document[key], list):
            return (Problem("format", f"{key} has to be a list, not {_kind(document[key])}"),)
    programs = document.get("programs")
    if programs is not None and not isinstance(programs, Mapping):
        return (Problem("format", f"programs has to be an object, not {_kind(programs)}"),)
    parts = document.get("parts") or []
    found = list(_counts(document, meshes))
    if found:
        return tuple(found)
    ids: list[str] = []
    for number, entry in enumerate(parts, 1):
        found += _part(entry, number, ids, programs or {}, known, meshes)
    joints: list[str] = []
    for number, entry in enumerate(document.get("joints") or [], 1):
        found += _joint(entry, number, ids, joints)
    found += _sequence(document.get("sequence") or [], ids)
    return tuple(found)


def _counts(document: Mapping[str, Any], meshes: Collection[str]) -> Iterator[Problem]:
    parts, joints = document.get("parts") or [], document.get("joints") or []
    if not parts:
        yield Problem("empty", "the design has no parts; place some before submitting")
    placed = sum(_is_placed(entry, meshes) for entry in parts)
    for count, limit, what in (
        (placed, MAX_PARTS, "parts placed from catalogue and programs"),
        (len(parts), MAX_MESHES, "parts"),
        (len(joints), MAX_JOINTS, "joints"),
        (len(document.get("sequence") or []), MAX_MESHES, "steps"),
    ):
        if count > limit:
            yield Problem("too_many", f"{count} {what}; at most {limit}", value=count, limit=limit)


def _is_placed(entry: object, meshes: Collection[str]) -> bool:
    """Whether a part is one that tools could have placed: all but those whose mesh came in a file."""
    if not isinstance(entry, Mapping):
        return False
    source, name = entry.get("source"), entry.get("id")
    kind = source.get("kind") if isinstance(source, Mapping) else None
    return kind in ("pool", "created") or not (isinstance(name, str) and name in meshes)


def _part(
    entry: object,
    number: int,
    ids: list[str],
    programs: Mapping[str, Any],
    known: Collection[str],
    meshes: Collection[str],
) -> Iterator[Problem]:
    if not isinstance(entry, Mapping):
        yield Problem("format", f"part {number} is {_kind(entry)}, not an object")
        return
    name = entry.get("id")
    if not isinstance(name, str) or id_fault(name):
        yield Problem("bad_id", f"part {number}: {id_fault(name)}")
        return
    if name in ids:
        yield Problem("duplicate_id", f"two parts have the id {name!r}; give each its own", (name,))
        return
    ids.append(name)
    for key in ("role", "material"):
        value = entry.get(key)
        if value is not None and (not isinstance(value, str) or len(value) > MAX_TEXT):
            yield Problem(
                "format", f"{key} of {name!r} has to be a text of at most {MAX_TEXT} characters", (name,)
            )
    material = entry.get("material")
    if isinstance(material, str) and len(material) <= MAX_TEXT and material not in MATERIALS:
        yield Problem("unknown_material", unknown("material", material, MATERIALS), (name,))
    yield from _source(entry.get("source"), name, programs, known, meshes)


def _source(
    source: object, part: str, programs: Mapping[str, Any], known: Collection[str], meshes: Collection[str]
) -> Iterator[Problem]:
    if not isinstance(source, Mapping) or source.get("kind") not in SOURCES:
        yield Problem("bad_source", f"the source of {part!r} needs a kind: {', '.join(SOURCES)}", (part,))
        return
    for key, limit in (("position", MAX_COORDINATE_M), ("rotation", MAX_ANGLE_DEG)):
        if source.get(key) is not None and (fault := vector_fault(source[key], limit)):
            yield Problem("bad_vector", f"{key} of {part!r} {fault}", (part,), _largest(source[key]), limit)
    name = source.get("id")
    if part in meshes or (isinstance(name, str) and (name in programs or name in known)):
        return
    where = "no mesh in the GLB and no program" if meshes else "no program and no part of the catalogue"
    shown = short(name)
    yield Problem("unknown_source", f"{part!r} is made of {shown}, for which there is {where}", (part,))


def _joint(entry: object, number: int, parts: Sequence[str], joints: list[str]) -> Iterator[Problem]:
    if not isinstance(entry, Mapping):
        yield Problem("format", f"joint {number} is {_kind(entry)}, not an object")
        return
    name = entry.get("id")
    if not isinstance(name, str) or id_fault(name):
        yield Problem("bad_id", f"joint {number}: {id_fault(name)}")
        return
    if name in joints:
        yield Problem("duplicate_id", f"two joints have the id {name!r}; give each its own", (name,))
        return
    joints.append(name)
    for key in ("parent", "child"):
        if entry.get(key) not in parts:
            message = f"{key} of joint {name!r}: {unknown('part', entry.get(key), parts)}"
            yield Problem("unknown_part", message, (name,))
    for fault in joint_faults(entry):
        yield Problem("bad_joint", f"joint {name!r}: {fault}", (name,))


def joint_faults(entry: Mapping[str, Any]) -> Iterator[str]:
    """What is wrong with a joint's own values, whatever its parts are."""
    kind = entry.get("type")
    if kind not in JOINT_TYPES:
        yield unknown("joint type", kind, JOINT_TYPES)
        return
    if entry.get("parent") == entry.get("child"):
        yield "parent and child are the same part; a joint needs two"
    axis, origin, limits = entry.get("axis"), entry.get("origin"), entry.get("limits")
    if origin is None:
        if kind != "fixed":
            yield f"a {kind} joint needs an origin: a world point on its axis, in m"
    elif fault := vector_fault(origin, MAX_COORDINATE_M):
        yield f"origin {fault}"
    if axis is None:
        if kind not in ("fixed", "ball"):
            yield f"a {kind} joint needs an axis, such as [0, 0, 1]"
    elif fault := direction_fault(axis):
        yield f"axis {fault}"
    if limits is not None and (fault := limits_fault(limits)):
        yield fault


def _sequence(steps: Sequence[object], parts: Sequence[str]) -> Iterator[Problem]:
    seen: set[str] = set()
    for number, step in enumerate(steps, 1):
        if not isinstance(step, Mapping):
            yield Problem("format", f"step {number} is {_kind(step)}, not an object with a part")
            continue
        part, direction = step.get("part"), step.get("direction")
        if not isinstance(part, str) or part not in parts:
            yield Problem("unknown_part", f"step {number}: {unknown('part', part, parts)}")
        elif part in seen:
            yield Problem("duplicate_step", f"step {number}: {part!r} is in the sequence already", (part,))
        else:
            seen.add(part)
        if direction is not None and (fault := direction_fault(direction)):
            yield Problem("bad_vector", f"direction of step {number} {fault}")


def size_fault(parts: Iterable[Part]) -> Problem | None:
    """What is wrong with the size of parts taken together, or None."""
    total = sum(float(part.world.size.prod()) for part in parts)
    if total <= MAX_BOXES_M3:
        return None
    message = (
        f"the bounding boxes of all parts together are {total:.4g} m³, the limit is {MAX_BOXES_M3:g} m³; "
        "use smaller or fewer parts"
    )
    return Problem("too_large", message, (), total, MAX_BOXES_M3)


def id_fault(value: object) -> str | None:
    """What is wrong with an id, or None."""
    if isinstance(value, str) and ID.fullmatch(value):
        return None
    return f"{short(value)} is no id: 1 to 48 letters, digits, _ or -, as text"


def vector_fault(value: object, limit: float) -> str | None:
    """What is wrong with three numbers of at most `limit` each, or None."""
    if not isinstance(value, list | tuple) or len(value) != 3 or not all(_is_number(x) for x in value):
        return f"is {short(value)}; it has to be three finite numbers"
    if any(abs(x) > limit for x in value):
        return f"is {short(list(value))}; each number has to be within ±{limit:g}"
    return None


def direction_fault(value: object) -> str | None:
    """What is wrong with a direction, or None."""
    if fault := vector_fault(value, 1e6):
        return fault
    assert isinstance(value, list | tuple)
    return "has no length; give a direction such as [0, 0, 1]" if math.hypot(*value) < 1e-9 else None


def limits_fault(value: object) -> str | None:
    """What is wrong with a joint's limits, or None."""
    if not isinstance(value, list | tuple) or len(value) != 2 or not all(_is_number(x) for x in value):
        return f"limits are {short(value)}; they have to be two finite numbers, rad or m"
    if value[0] > value[1]:
        return f"limits are {short(list(value))}; the lower one comes first"
    return None


def unknown(what: str, name: object, known: Collection[str]) -> str:
    """A sentence about a name that isn't there, with the nearest that are."""
    near = (
        get_close_matches(name, sorted(known), n=2, cutoff=0.5)
        if isinstance(name, str) and len(name) < 200
        else []
    )
    if near:
        return f"there is no {what} {short(name)}; did you mean {' or '.join(map(repr, near))}?"
    if not known:
        return f"there is no {what} {short(name)}; there is none yet"
    listed = sorted(known)
    tail = f" and {len(listed) - 8} more" if len(listed) > 8 else ""
    return f"there is no {what} {short(name)}; there are {', '.join(listed[:8])}{tail}"


def sentence(text: str) -> str:
    """A text that another sentence can follow."""
    return text if text.endswith(("?", ".")) else f"{text}."


def short(value: object) -> str:
    """A value for a message, cut to a readable length."""
    text = ascii(value[:60]) if isinstance(value, str) else ascii(value) if _is_small(value) else _kind(value)
    return text if len(text) <= MAX_TEXT else f"{text[:MAX_TEXT]}…"


def _is_small(value: object) -> bool:
    if isinstance(value, list | tuple):
        return len(value) <= 6 and all(
            not isinstance(x, list | tuple | Mapping) and _is_small(x) for x in value
        )
    return not isinstance(value, Mapping) and not (isinstance(value, int) and abs(value) >= 1 << 64)


def _is_number(value: object) -> bool:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    return abs(value) <= 1e300 and math.isfinite(value)


def _largest(value: object) -> float | None:
    if not isinstance(value, list | tuple):
        return None
    return max((abs(float(x)) for x in value if _is_number(x)), default=None)


def _kind(value: object) -> str:
    names = {dict: "an object", list: "a list", str: "a text", bool: "true or false", type(None): "nothing"}
    return next((name for kind, name in names.items() if isinstance(value, kind)), "a number")
