"""Official tasks as objects of our own format: one entry of `core_v2.json` or `full_v2.json` each.

Their meshes stay in the pulled files and are read when somebody asks for them. Sizes in the catalogue are
those of glTF's axes, (x, y, z) there is (x, z, y) here.
"""

from __future__ import annotations

import base64
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from evalkit import Task, UsageError
from evalkit_lmbuild.formats.assets import LDU_M
from evalkit_lmbuild.objects import CONDITIONS, IMAGE, ObjectError, checked_document
from evalkit_lmbuild.tasks.pulled import clean_path, manifest, official_tasks, photo_png
from evalkit_lmbuild.tasks.stated_materials import stated_materials

_NO_JOINT = ("fixed", "none", "static", None)
"""Types of claims about things that are said not to move."""


def official_documents(name: str) -> dict[str, dict[str, Any]]:
    """Checked documents of `core_v2` or `full_v2` by task id, in the published order.

    UsageError if the data weren't pulled, or name the entry and field that is wrong.
    """
    hashes = manifest()
    found: dict[str, dict[str, Any]] = {}
    for entry in official_tasks(name):
        document = object_document(entry, hashes)
        if document["task_id"] in found:
            raise UsageError(f"{name}.json holds {document['task_id']!r} twice")
        found[document["task_id"]] = document
    return found


def official_task(document: Mapping[str, Any], brief: str) -> Task:
    """A document as a task, with the photo of its brief."""
    from evalkit_lmbuild.tasks import task_of

    pictures = {c["condition_id"]: c["image"] for c in document["conditions"]}
    bare = {**document, "conditions": [{**c, "image": None} for c in document["conditions"]]}
    task = task_of(bare, brief, Path())
    if (file := pictures[brief]) is None:
        return task
    encoded = base64.b64encode(photo_png(file, manifest().get(file, ""))).decode("ascii")
    return Task(task.id, {**task.inputs, "image": encoded}, task.hidden)


def object_document(entry: Mapping[str, Any], hashes: Mapping[str, str]) -> dict[str, Any]:
    """An official task in our own format, checked; `hashes` are those of the pulled files.

    UsageError names the task and the field that is wrong.
    """
    name = str(entry.get("task_id"))[:60]
    try:
        return checked_document(_document(entry, hashes))
    except (ObjectError, KeyError, TypeError, ValueError, AttributeError) as error:
        raise UsageError(f"the official task {name} can't be read: {_reason(error)}") from error


def paths_of(entry: Mapping[str, Any]) -> Iterator[str]:
    """The files that an official task needs, as clean paths."""
    try:
        files = [condition.get("image") for condition in entry["conditions"]]
        files += [part["mesh"] for part in entry["subpart_pool"]["parts"]]
        files.append((entry.get("reference") or {}).get("reference_glb"))
        files.append(_photo(entry))
    except (KeyError, TypeError, AttributeError) as error:
        name = str(entry.get("task_id"))[:60]
        raise UsageError(f"the official task {name} can't be read: {_reason(error)}") from error
    yield from (clean_path(str(file)) for file in files if file)


def _reason(error: Exception) -> str:
    """What is wrong, in words."""
    if isinstance(error, KeyError):
        return f"there is no field {error}"
    if isinstance(error, TypeError | AttributeError):
        return f"a field has another type than it should ({error})"
    return str(error)


def _document(entry: Mapping[str, Any], hashes: Mapping[str, str]) -> dict[str, Any]:
    named = entry["object"]
    photo = _photo(entry)
    document = {
        "task_id": entry["task_id"],
        "object": {"name": named["name"], "aliases": named.get("aliases") or []},
        "free_standing": None,
        "conditions": [_condition(condition) for condition in entry["conditions"]],
        "subpart_pool": {"parts": [_pool_part(part, hashes) for part in entry["subpart_pool"]["parts"]]},
        "required_parts": [_claim(part, "part", "why") for part in entry.get("required_parts") or []],
        "required_attributes": [
            _claim(attribute, "kind", "statement") for attribute in entry.get("required_attributes") or []
        ],
        "functional_subsystems": [_subsystem(each) for each in entry.get("functional_subsystems") or []],
        "required_kinematics": [
            _motion(each)
            for each in entry.get("required_kinematics") or []
            if each["joint_type"] not in _NO_JOINT
        ],
        "material_claims": _materials(entry),
        "reference_mesh": _reference(entry.get("reference") or {}, hashes),
        "photo": None if photo is None else _file(photo, hashes),
    }
    if missing := sorted(set(CONDITIONS) - {c["condition_id"] for c in document["conditions"]}):
        raise ObjectError(f"conditions: {missing[0]!r} isn't there")
    return document


def _condition(given: Mapping[str, Any]) -> dict[str, Any]:
    image = given.get("image") if str(given["condition_id"]).endswith(IMAGE) else None
    return {
        "condition_id": given["condition_id"],
        "text": given["text"],
        "image": clean_path(str(image)) if image else None,
    }


def _pool_part(given: Mapping[str, Any], hashes: Mapping[str, str]) -> dict[str, Any]:
    ldraw = "ldraw" in str(given.get("catalog")).lower()
    x, y, z = given.get("size_m") or (None, None, None)
    mesh = _file(given["mesh"], hashes) | {
        "unit_m": LDU_M if ldraw else 1.0,
        "size_m": None if x is None else [x, z, y],
    }
    return {"pool_part_id": given["pool_part_id"], "name": given["name"], "mesh": mesh}


def _subsystem(given: Mapping[str, Any]) -> dict[str, Any]:
    connections = [_only(each, "from", "to", "carries") for each in given.get("connections") or []]
    return _claim(given, "subsystem", "function", "parts") | {"connections": connections}


def _motion(given: Mapping[str, Any]) -> dict[str, Any]:
    """A claimed motion; a range that isn't two numbers is a remark in words, and left out."""
    span = given.get("range")
    numbers = isinstance(span, list) and len(span) == 2 and all(isinstance(v, int | float) for v in span)
    return _claim(given, "moving_part", "relative_to", "joint_type", "motion") | {
        "axis": given.get("axis"),
        "range": span if numbers else None,
    }


def _materials(entry: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Claims out of the attributes of kind material, for the parts that other claims name."""
    statements = [
        each["statement"] for each in entry.get("required_attributes") or [] if each["kind"] == "material"
    ]
    parts = [each["part"] for each in entry.get("required_parts") or []]
    parts += [part for each in entry.get("functional_subsystems") or [] for part in each["parts"]]
    parts += [each["moving_part"] for each in entry.get("required_kinematics") or []]
    return [
        {"part": part, "classes": list(classes), "source": "required_attributes"}
        for part, classes in stated_materials(statements, parts).items()
    ]


def _reference(given: Mapping[str, Any], hashes: Mapping[str, str]) -> dict[str, Any] | None:
    if not given.get("reference_glb"):
        return None
    joints = (given.get("articulation") or {}).get("joints") or []
    return _file(given["reference_glb"], hashes) | {
        "joints": [
            _only(joint, "type", "parent", "child")
            | {key: joint.get(key) for key in ("id", "axis", "origin", "limits")}
            for joint in joints
        ]
    }


def _photo(entry: Mapping[str, Any]) -> str | None:
    """The picture of the first brief that has one, else the first photo in the wild."""
    pictured = [condition.get("image") for condition in entry["conditions"]]
    wild = [picture.get("path") for picture in (entry.get("images") or {}).get("in_the_wild") or []]
    return next((str(path) for path in [*pictured, *wild] if path), None)


def _file(path: Any, hashes: Mapping[str, str]) -> dict[str, Any]:
    file = clean_path(str(path))
    if file not in hashes:
        raise ObjectError(f"{file} wasn't pulled")
    return {"file": file, "sha256": hashes[file]}


def _claim(given: Mapping[str, Any], *keys: str) -> dict[str, Any]:
    """A claim's id and these fields, and where it comes from, if that is said in words."""
    source = given.get("source")
    return _only(given, "id", *keys) | {"source": source if isinstance(source, str) else ""}


def _only(given: Mapping[str, Any], *keys: str) -> dict[str, Any]:
    """These fields; official entries have more."""
    return {key: given[key] for key in keys}
