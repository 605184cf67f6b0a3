"""Designs as candidates: the document that a submission or a file holds, and the design it stands for."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from functools import lru_cache
from pathlib import Path
from tempfile import TemporaryDirectory

from evalkit import Candidate, Task
from evalkit_lmbuild.catalogue import Catalogue
from evalkit_lmbuild.design import Design, Mesh
from evalkit_lmbuild.formats import parse_design, read_glb

DESIGN_GLB = "design.glb"


def candidate_design(task: Task, candidate: Candidate) -> Design:
    """The design of a candidate; made once for all who ask for it. `DesignError` says why it is none."""
    return _design(
        json.dumps(dict(candidate.data)), json.dumps(task.inputs["subpart_pool"]["parts"]), _glb(candidate)
    )


def mesh_ids(candidate: Candidate) -> Collection[str]:
    """Ids of the parts that come with a mesh; `DesignError` if the file of meshes can't be read."""
    glb = _glb(candidate)
    return () if glb is None else _meshes(glb)


@lru_cache(maxsize=8)
def _design(document: str, pool: str, glb: bytes | None) -> Design:
    catalogue = Catalogue.of_programs(json.loads(pool))
    return parse_design(json.loads(document), catalogue, None if glb is None else _meshes(glb))


@lru_cache(maxsize=2)
def _meshes(glb: bytes) -> Mapping[str, Mesh]:
    with TemporaryDirectory() as folder:
        path = Path(folder) / DESIGN_GLB
        path.write_bytes(glb)
        return read_glb(path)


def _glb(candidate: Candidate) -> bytes | None:
    return next((file.data for file in candidate.files if file.name == DESIGN_GLB), None)
