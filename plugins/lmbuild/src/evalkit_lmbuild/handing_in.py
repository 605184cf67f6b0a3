"""Designs that come as files: a design.json, a script of calls, a generator's GLB."""

from __future__ import annotations

import importlib
import json
from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from evalkit import Artifact, Candidate
from evalkit_lmbuild.candidates import DESIGN_GLB, GENERATED, MODEL_GLB, SCRIPT
from evalkit_lmbuild.documents import joint_entry
from evalkit_lmbuild.formats import (
    CompletionError,
    DesignError,
    JointCompletion,
    completed_joints,
    import_generated,
    parse_json,
)

DESIGN_JSON = "design.json"
SCRIPT_JSON = "script.json"
FILES = (DESIGN_JSON, DESIGN_GLB, SCRIPT_JSON, MODEL_GLB)
"""Names under which a folder holds a design; of several the first counts."""
MAX_BYTES = 16 << 20
MAX_GLB_BYTES = 512 << 20
_GLTF = "model/gltf-binary"


class HandInError(ValueError):
    """Files that hold no design; one line says what is wrong."""


def opened(path: Path, completion: str | None = None) -> Candidate:
    """The candidate in a file: a generator's where it is a GLB, else JSON with the GLB of its name beside it.

    `completion`, `module:function`, finds joints for a generator's design. HandInError, and CompletionError
    where the completion is at fault.
    """
    if path.suffix.lower() == ".glb":
        return generated(read_bounded(path, MAX_GLB_BYTES), path.name, completion)
    glb = path.with_suffix(".glb")
    meshes = read_bounded(glb, MAX_GLB_BYTES) if glb.is_file() else None
    return documented(read_bounded(path, MAX_BYTES), meshes, str(path))


def of_files(files: Mapping[str, bytes], completion: str | None = None) -> Candidate | None:
    """The candidate in files by their names (`FILES`), None if there is none among them. HandInError
    and CompletionError."""
    if DESIGN_JSON in files:
        return documented(files[DESIGN_JSON], files.get(DESIGN_GLB), DESIGN_JSON)
    if SCRIPT_JSON in files:
        return documented(files[SCRIPT_JSON], None, SCRIPT_JSON)
    if MODEL_GLB in files:
        return generated(files[MODEL_GLB], MODEL_GLB, completion)
    return None


def documented(text: bytes, meshes: bytes | None, name: str) -> Candidate:
    """A design.json, or a script: a list of calls, as JSON or JSON lines. HandInError if it isn't JSON."""
    data = _json(text, name)
    if isinstance(data, list):
        data = {SCRIPT: data}
    if not isinstance(data, dict):
        raise HandInError(f"{name} is no design.json: it has to hold an object, or a list of calls")
    if GENERATED in data:
        raise HandInError(f"{name} is no design.json: it has no field {GENERATED!r}")
    files = () if meshes is None else (Artifact(DESIGN_GLB, meshes, _GLTF),)
    try:
        candidate = Candidate(data, files)
        candidate.sha256  # noqa: B018 - what isn't JSON (NaN) has no hash
    except ValueError as error:
        raise HandInError(f"{name} is no design.json: {error}") from error
    return candidate


def generated(glb: bytes, name: str, completion: str | None = None) -> Candidate:
    """A generator's GLB with the joints that a completion finds for it. HandInError, CompletionError.

    Without a completion the GLB isn't looked at: the validator does.
    """
    joints: list[dict[str, Any]] = []
    if completion is not None:
        complete = named_completion(completion)
        with TemporaryDirectory() as folder:
            path = Path(folder) / MODEL_GLB
            path.write_bytes(glb)
            try:
                found = completed_joints(import_generated(path), complete)
            except DesignError as error:
                raise HandInError(f"{name}: {error}") from error
            except CompletionError as error:
                raise CompletionError(f"{name}: {error}") from error
        joints = [joint_entry(joint) for joint in found]
    about = {"file": name, "joints": joints, "joint_completion": completion}
    candidate = Candidate({GENERATED: about}, (Artifact(MODEL_GLB, glb, _GLTF),))
    try:
        candidate.sha256  # noqa: B018 - joints of NaN have no hash
    except (TypeError, ValueError) as error:
        raise CompletionError(f"{name}: {completion} gave joints that are no JSON: {error}") from error
    return candidate


def named_completion(name: str) -> JointCompletion:
    """The function that `module:function` names. CompletionError if there is none."""
    module, _, function = name.partition(":")
    if not module or not function:
        raise CompletionError(f"complete_joints is {name!r}; write it as module:function")
    try:
        found = getattr(importlib.import_module(module), function, None)
    except Exception as error:
        why = f"{type(error).__name__}: {error}"
        raise CompletionError(f"complete_joints: {module} can't be imported: {why}") from error
    if not callable(found):
        raise CompletionError(f"complete_joints: {module} has no function {function!r}")
    complete: JointCompletion = found
    return complete


def read_bounded(path: Path, limit: int) -> bytes:
    """The bytes of a file; HandInError if it can't be read or is larger than `limit`."""
    try:
        with open(path, "rb") as file:
            data = file.read(limit + 1)
    except OSError as error:
        raise HandInError(f"can't read {path}: {error.strerror}") from error
    if len(data) > limit:
        raise HandInError(f"{path} is larger than {limit >> 20} MiB")
    return data


def _json(data: bytes, name: str) -> Any:
    """The JSON value in a text, or the list of those on its lines where the first of them is one."""
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise HandInError(f"{name}: it isn't UTF-8 text") from error
    lines = [line for line in text.splitlines() if line.strip()]
    try:
        if len(lines) > 1 and _is_json(lines[0]):
            return [parse_json(line, name) for line in lines]
        return parse_json(text, name)
    except DesignError as error:
        raise HandInError(str(error)) from error


def _is_json(line: str) -> bool:
    """Whether a line is a value by itself, as those of JSON lines are."""
    try:
        json.loads(line)
    except json.JSONDecodeError:
        return False
    except (ValueError, RecursionError):
        return True
    return True
