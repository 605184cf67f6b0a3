"""The official layout in miniature, made of two objects of this project's own: meshes, photos and all.

folder/benchmark/core_v2.json                 both objects
folder/benchmark/full_v2.json                 the stool alone
folder/benchmark/tasks/NAME/pool/P001.glb     glTF axes; P002 of the box in LDU, P003 in mm
folder/benchmark/tasks/NAME/reference.glb     one node per part
folder/benchmark/tasks/NAME/photo.jpg         brighter for each next object
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from evalkit_lmbuild.design import Design, Mesh
from evalkit_lmbuild.facts import ObjectFacts
from evalkit_lmbuild.formats import write_glb
from evalkit_lmbuild.objects import object_facts
from evalkit_lmbuild.tasks import embedded_document

NAMES = ("milking_stool", "keepsake_box")
LDU, MILLIMETRES = "P002", "P003"
CLAIMS = ("required_parts", "functional_subsystems", "required_kinematics")
MATERIALS = {
    "milking_stool": "The seat and the legs are wooden.",
    "keepsake_box": "Bottom, side panels and lid are of plywood or metal.",
}


def own_facts(name: str) -> ObjectFacts:
    """An object as this project has it."""
    document = embedded_document(name)
    assert document is not None
    return object_facts(document)


def write_release(folder: Path) -> Path:
    """Write the miniature below `folder`; returns the folder of the lists."""
    benchmark = folder / "benchmark"
    entries = [_entry(benchmark, name, number) for number, name in enumerate(NAMES)]
    (benchmark / "core_v2.json").write_text(json.dumps(entries), encoding="utf-8")
    (benchmark / "full_v2.json").write_text(json.dumps(entries[:1]), encoding="utf-8")
    return benchmark


def y_up(mesh: Mesh, scale: float = 1.0) -> Mesh:
    """A mesh of the world in glTF's axes."""
    x, y, z = mesh.vertices.T * scale
    return Mesh(np.column_stack([x, z, -y]), mesh.faces)


def node_names(design: Design) -> dict[str, str]:
    """Names of nodes by part: the role with a number, as exporters number copies."""
    return {part.id: f"{part.role}.{number:03}" for number, part in enumerate(design.parts)}


def _entry(benchmark: Path, name: str, number: int) -> dict[str, Any]:
    document, facts = embedded_document(name), own_facts(name)
    assert document is not None
    assert facts.reference is not None
    folder = benchmark / "tasks" / name
    (folder / "pool").mkdir(parents=True)
    Image.new("RGB", (1600, 800), (60 + 40 * number, 80, 90)).save(folder / "photo.jpg")
    names = node_names(facts.reference)
    meshes = {names[part.id]: y_up(part.world) for part in facts.reference.parts}
    lift = np.array([0.0, 0.3, 0.0])
    lifted = {n: Mesh(m.vertices + lift, m.faces) for n, m in meshes.items()}
    write_glb(lifted, folder / "reference.glb")
    photo = f"tasks/{name}/photo.jpg"
    texts = {c["condition_id"]: c["text"] for c in document["conditions"]}
    return {
        "task_id": name,
        "object": {"name": facts.name, "aliases": list(facts.aliases), "wikidata": "Q1"},
        "conditions": [
            {"condition_id": brief, "text": text, "image": photo if brief.endswith("+image") else None}
            for brief, text in texts.items()
        ],
        "images": {"in_the_wild": [{"id": "I1", "path": photo, "fidelity": "high"}]},
        "subpart_pool": {
            "parts": [_part(folder, name, part.id, part.name, part.mesh) for part in facts.pool]
        },
        "required_attributes": [
            *document["required_attributes"],
            {"id": "A9", "kind": "material", "statement": MATERIALS[name]},
        ],
        **{claims: [{**claim, "cites": ["S1"]} for claim in document[claims]] for claims in CLAIMS},
        "reference": {
            "object_id": "X1",
            "dataset": "miniature",
            "reference_glb": f"tasks/{name}/reference.glb",
            "cad_files": [],
            "articulation": {"joints": [_joint(joint, names) for joint in facts.reference.joints]},
        },
    }


def _part(folder: Path, task: str, part: str, name: str, mesh: Mesh) -> dict[str, Any]:
    box = task == "keepsake_box"
    scale = 1 / 0.0004 if box and part == LDU else 1000.0 if box and part == MILLIMETRES else 1.0
    write_glb({"a": y_up(mesh, scale)}, folder / "pool" / f"{part}.glb")
    x, y, z = mesh.size.tolist()
    return {
        "pool_part_id": part,
        "name": name,
        "size_m": [x, z, y],
        "mesh": f"tasks/{task}/pool/{part}.glb",
        "catalog": "ldraw" if box and part == LDU else "step",
    }


def _joint(joint: Any, names: dict[str, str]) -> dict[str, Any]:
    def turned(vector: Any, lift: float) -> Any:
        return None if vector is None else [vector[0], vector[2] + lift, -vector[1]]

    return {
        "id": joint.id,
        "type": joint.type,
        "parent": names[joint.parent],
        "child": names[joint.child],
        "axis": turned(joint.axis, 0.0),
        "origin": turned(joint.origin, 0.3),
        "limits": joint.limits,
    }
