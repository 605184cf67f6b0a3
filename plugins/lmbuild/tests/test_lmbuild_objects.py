"""Files of objects: what is read, what is refused, what agents get to see of it."""

from __future__ import annotations

import copy
import json
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from evalkit import UsageError
from evalkit_lmbuild.objects import (
    CONDITIONS,
    FAMILIES,
    ObjectError,
    checked_document,
    object_facts,
    read_object,
)
from evalkit_lmbuild.tasks import CORE_25, OBJECTS, facts_of, load_tasks
from evalkit_lmbuild.tasks.draw import reference_picture

BOX = {"nodes": [{"id": "a", "op": "box", "size": [0.4, 0.3, 0.01]}], "output": "a"}
CRATE: dict[str, Any] = {
    "task_id": "crate",
    "object": {"name": "crate"},
    "conditions": [{"condition_id": "name_only", "text": "Build an open crate."}],
    "subpart_pool": {"parts": [{"pool_part_id": "P001", "name": "board", "program": BOX}]},
    "required_parts": [{"id": "P1", "part": "bottom", "why": "carries the content"}],
    "reference": {
        "programs": {"own": copy.deepcopy(BOX)},
        "parts": [
            {
                "id": "a",
                "role": "bottom",
                "source": {"kind": "pool", "id": "P001", "position": [0, 0, 0.005]},
            },
            {
                "id": "b",
                "source": {"kind": "created", "id": "own", "position": [0, 0, 0.2], "rotation": [90, 0, 0]},
            },
        ],
        "joints": [{"id": "j", "type": "fixed", "parent": "a", "child": "b", "origin": [0, 0, 0.01]}],
        "sequence": [{"part": "a"}, {"part": "b", "direction": [0, 0, -1]}],
    },
}


def _changed(*path: Any, to: object) -> dict[str, Any]:
    document: Any = copy.deepcopy(CRATE)
    inside = document
    for key in path[:-1]:
        inside = inside[key]
    inside[path[-1]] = to
    return document  # type: ignore[no-any-return]


def test_a_reference_is_compiled_from_pool_and_programs() -> None:
    reference = object_facts(checked_document(CRATE)).reference
    assert reference is not None
    assert reference.by_id["a"].source == "pool"
    low, high = reference.by_id["b"].world.bounds
    assert (high - low).tolist() == pytest.approx([0.4, 0.01, 0.3], abs=1e-12)
    assert reference.joints[0].origin == (0.0, 0.0, 0.01)
    assert reference.sequence[1].direction == (0.0, 0.0, -1.0)


def test_a_brief_has_a_twin_with_a_picture() -> None:
    found = {c["condition_id"]: c for c in checked_document(CRATE)["conditions"]}
    assert found["name_only"]["image"] is None
    assert found["name_only+image"] == {
        "condition_id": "name_only+image",
        "text": "Build an open crate.",
        "image": "images/crate.png",
    }


@pytest.mark.parametrize(
    ("document", "words"),
    [
        (_changed("task_id", to="No Id"), "task_id"),
        (_changed("colour", to="red"), "there is no field 'colour'"),
        (_changed("required_parts", 0, "why", to=3), r"required_parts\[0\]\.why is 3; it has to be a text"),
        (_changed("conditions", to=[CRATE["conditions"][0]] * 2), "occurs twice"),
        (_changed("subpart_pool", "parts", 0, "program", "nodes", 0, "size", to=[1, 2]), "P001"),
        (_changed("reference", "parts", 0, "source", "id", to="P009"), "P009"),
        (_changed("reference", "joints", 0, "child", to="c"), "'c'"),
        (_changed("reference", "programs", "own", "output", to="b"), "reference"),
        ([], "the object is .* it has to be an object"),
    ],
)
def test_faults_are_named(document: object, words: str) -> None:
    with pytest.raises(ObjectError, match=words):
        object_facts(checked_document(document))


def test_files_that_are_none(tmp_path: Path) -> None:
    bad = tmp_path / "bad.json"
    for content in (b"\xff\xfe", b"{", b"[" * 100_000, b'{"task_id": NaN}'):
        bad.write_bytes(content)
        with pytest.raises(ObjectError, match=r"bad\.json"):
            read_object(bad)


@pytest.mark.parametrize("path", sorted(OBJECTS.glob("*.json")), ids=lambda path: path.stem)
def test_embedded_objects_are_whole(path: Path) -> None:
    document = read_object(path)
    assert document["task_id"] == path.stem
    assert {c["condition_id"] for c in document["conditions"]} >= set(CONDITIONS)
    facts = object_facts(document)
    assert facts.reference is not None
    assert len(facts.reference.parts) >= 4
    assert {step.part for step in facts.reference.sequence} == set(facts.reference.by_id)


@pytest.mark.parametrize("path", sorted(OBJECTS.glob("*.json"))[:3], ids=lambda path: path.stem)
def test_pictures_show_the_reference(path: Path) -> None:
    from io import BytesIO

    import numpy as np
    from PIL import Image

    kept = np.asarray(Image.open(path.parents[1] / "images" / f"{path.stem}.png"))
    drawn = np.asarray(Image.open(BytesIO(reference_picture(read_object(path)))))
    assert kept.shape == drawn.shape
    assert (kept == drawn).mean() > 0.999  # other platforms may differ in a few pixels


def test_tasks_hide_all_but_the_brief_and_the_pool() -> None:
    (task,) = load_tasks({"names": ["keepsake_box"]}, {"brief": "name_only+image"})
    assert set(task.inputs) == {"name", "brief", "image", "subpart_pool", "vocabulary"}
    seen = json.dumps({k: v for k, v in task.inputs.items() if k != "image"})
    assert "side panel" not in seen
    assert "opens upwards" not in seen
    assert facts_of(task).motions[0].range == (0.0, 1.57)
    assert facts_of(task) is facts_of(task)


def test_tasks_of_a_folder(tmp_path: Path) -> None:
    (tmp_path / "crate.json").write_text(json.dumps(CRATE))
    (task,) = load_tasks({"folder": str(tmp_path)}, {"brief": "name_only"})
    assert task.id == "crate"
    assert task.inputs["image"] is None
    with pytest.raises(UsageError, match=r"crate\.png"):
        load_tasks({"folder": str(tmp_path)}, {"brief": "name_only+image"})
    with pytest.raises(UsageError, match="no brief 'functional'"):
        load_tasks({"folder": str(tmp_path)}, {"brief": "functional"})


@pytest.mark.parametrize(
    "block", [{"set": "none"}, {"names": ["x"]}, {"names": "x"}, {"limit": 0}, {"families": ["x"]}, {"of": 1}]
)
def test_wrong_selections(block: dict[str, Any]) -> None:
    with pytest.raises(UsageError):
        load_tasks(block, {"brief": "name_only"})


def test_the_set_for_ablations_has_four_objects_of_each_family_and_one_more() -> None:
    tasks = load_tasks({"set": "core-25"}, {"brief": "name_only"})
    assert {task.id for task in tasks} == set(CORE_25)
    counts = Counter(task.hidden["family"] for task in tasks)
    assert sorted(counts) == sorted(FAMILIES)
    assert sorted(counts.values()) == [4, 4, 4, 4, 4, 5]
    chosen = load_tasks({"set": "core-25", "families": ["sliding"]}, {"brief": "name_only"})
    assert len(chosen) == 4


@pytest.mark.parametrize(("name", "part", "axis"), [("keepsake_box", "lid", 2), ("cabinet", "door", 1)])
def test_raised_fields_rise_from_their_panels(name: str, part: str, axis: int) -> None:
    """A rim of less than a pixel round a field would be drawn as a broken line."""
    (task,) = load_tasks({"names": [name]}, {"brief": "name_only"})
    reference = facts_of(task).reference
    assert reference is not None
    levels = np.unique(reference.by_id[part].mesh.vertices[:, axis].round(6))
    assert np.diff(levels).min() > 0.002
