"""Designs as candidates: what a submission or a file holds, and the design it stands for.

A candidate's data is a design.json (with the file `design.glb` beside it, if it has one), or a script,
`{"script": [...]}`: calls of tools, `{"tool", "arguments"}` each, that build it, or what there is to say of a
generator's file `model.glb`: `{"generated": {"file", "joints", "joint_completion"}}`, see
`formats.import_generated`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from evalkit import Candidate, Task
from evalkit_lmbuild.catalogue import Catalogue
from evalkit_lmbuild.design import Design, Mesh
from evalkit_lmbuild.documents import read_joint
from evalkit_lmbuild.formats import DesignError, import_generated, parse_design, read_glb
from evalkit_lmbuild.tasks import facts_of
from evalkit_lmbuild.tasks.pulled import verified_path

DESIGN_GLB = "design.glb"
MODEL_GLB = "model.glb"
SCRIPT = "script"
GENERATED = "generated"
MAX_CALLS = 2000


def candidate_design(task: Task, candidate: Candidate) -> Design:
    """The design of a candidate; made once for all who ask for it. `DesignError` says why it is none."""
    if is_generated(candidate):
        said = json.dumps(candidate.data[GENERATED])
        return _generated(said, _file(candidate, MODEL_GLB), facts_of(task).reference)
    document = json.dumps(candidate_document(task, candidate))
    return _design(document, _pool(task), _file(candidate, DESIGN_GLB))


def is_generated(candidate: Candidate) -> bool:
    """Whether a candidate is a generator's file instead of a design.json."""
    return GENERATED in candidate.data


def candidate_document(task: Task, candidate: Candidate) -> dict[str, Any]:
    """The design.json of a candidate. `DesignError` for a script with a call that is refused."""
    data = dict(candidate.data)
    if SCRIPT not in data:
        return data
    found: dict[str, Any] = json.loads(_played(json.dumps(data[SCRIPT]), _pool(task)))
    return found


def mesh_ids(candidate: Candidate) -> Sequence[str]:
    """Ids of the parts that come with a mesh; `DesignError` if the file of meshes can't be read."""
    glb = _file(candidate, DESIGN_GLB)
    return () if glb is None else tuple(_meshes(glb))


@lru_cache(maxsize=8)
def _design(document: str, pool: str, glb: bytes | None) -> Design:
    catalogue = Catalogue.of_entries(json.loads(pool), verified_path)
    return parse_design(json.loads(document), catalogue, None if glb is None else _meshes(glb))


@lru_cache(maxsize=8)
def _generated(said: str, glb: bytes | None, reference: Design | None) -> Design:
    about = json.loads(said)
    if glb is None:
        raise DesignError(f"a generator's design needs the file {MODEL_GLB}")
    joints = [read_joint(entry) for entry in about["joints"]]
    with TemporaryDirectory() as folder:
        path = Path(folder) / MODEL_GLB
        path.write_bytes(glb)
        design = import_generated(path, reference, joints, about["joint_completion"] or "")
    return replace(design, meta={**design.meta, "imported_from": about["file"]})


@lru_cache(maxsize=8)
def _played(script: str, pool: str) -> str:
    """The design.json that calls build; those of `submit` are passed over."""
    from evalkit_lmbuild.scene import Scene
    from evalkit_lmbuild.tools import Rules, Session, call

    calls = json.loads(script)
    if not isinstance(calls, list) or len(calls) > MAX_CALLS:
        raise DesignError(f"a script is a list of at most {MAX_CALLS} calls")
    session = Session(Scene(Catalogue.of_entries(json.loads(pool), verified_path)), Rules(strict=False))
    for number, entry in enumerate(calls, 1):
        if not isinstance(entry, dict) or not isinstance(entry.get("tool"), str):
            raise DesignError(f"call {number} of the script is not {{'tool': …, 'arguments': {{…}}}}")
        arguments = entry.get("arguments", {})
        if not isinstance(arguments, dict):
            raise DesignError(f"call {number} of the script: 'arguments' is not an object")
        answer = call(session, entry["tool"], arguments).data
        if not answer["ok"]:
            raise DesignError(f"call {number} of the script, {entry['tool'][:40]}: {answer['error']}")
    return json.dumps(session.scene.document())


@lru_cache(maxsize=2)
def _meshes(glb: bytes) -> Mapping[str, Mesh]:
    with TemporaryDirectory() as folder:
        path = Path(folder) / DESIGN_GLB
        path.write_bytes(glb)
        return read_glb(path)


def _pool(task: Task) -> str:
    return json.dumps(task.inputs["subpart_pool"]["parts"])


def _file(candidate: Candidate, name: str) -> bytes | None:
    return next((file.data for file in candidate.files if file.name == name), None)
