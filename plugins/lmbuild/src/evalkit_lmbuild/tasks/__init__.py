"""The tasks of the benchmark: objects of this project's own, of a folder of yours, or the official ones."""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from evalkit import Task, UsageError
from evalkit_lmbuild.design import JOINT_TYPES
from evalkit_lmbuild.facts import ObjectFacts
from evalkit_lmbuild.materials import MATERIALS
from evalkit_lmbuild.objects import FAMILIES, ObjectError, object_facts, read_object
from evalkit_lmbuild.tasks.pulled import SETS as OFFICIAL_SETS
from evalkit_lmbuild.tasks.pulled import photo_png, verified_path

HERE = Path(__file__).parent
OBJECTS = HERE / "objects"
SMOKE = ("milking_stool", "keepsake_box")
CORE_25 = (
    *("cabinet", "drop_leaf_table", "keepsake_box", "laptop"),
    *("drill_press", "office_chair", "refrigerator", "tower_crane", "wheelchair"),
    *("hand_cart", "table_fan", "well_windlass", "windmill"),
    *("desk_lamp", "folding_rule", "robot_arm", "wall_crane"),
    *("abacus", "bench_vise", "chest_of_drawers", "sash_window"),
    *("bookcase", "footbridge", "milking_stool", "step_ladder"),
)
"""For ablations: four objects of each family, small and large ones, and a fifth of `multi_joint`."""
NAMED: Mapping[str, tuple[str, ...]] = {"smoke": SMOKE, "core-25": CORE_25}
"""Sets that are part of the embedded one."""
SETS = ("embedded", *NAMED, *OFFICIAL_SETS)
KEYS = ("set", "names", "families", "limit", "folder")
MAX_IMAGE_BYTES = 4 << 20


def load_tasks(tasks: Mapping[str, Any], settings: Mapping[str, Any]) -> Sequence[Task]:
    """The tasks of a suite, with the brief that the settings name.

    `tasks` may hold `set` (`embedded`, the default, `smoke`, `core-25`, or of the pulled official data
    `core_v2` or `full_v2`) or `folder` (of object files), `names` and `families` (lists: only these), `limit`
    (so many at most). UsageError for anything else, and where an object has no such brief.
    """
    _check(tasks)
    folder, names = tasks.get("folder"), tasks.get("names")
    official = folder is None and tasks.get("set") in OFFICIAL_SETS
    if official:
        from evalkit_lmbuild.tasks.official import official_documents

        documents, base = official_documents(tasks["set"]), HERE
    elif folder is not None:
        documents = _folder(Path(folder).expanduser())
        base = Path(folder).expanduser()
    else:
        documents, base = _embedded(), HERE
        if names is None:
            names = NAMED.get(tasks.get("set", "embedded"))
    if missing := sorted(set(names or ()) - documents.keys()):
        raise UsageError(f"there is no task {missing[0]!r} here; there are {', '.join(documents)}")
    families = tasks.get("families")
    chosen = [
        document
        for name, document in documents.items()
        if (names is None or name in names) and (families is None or document["object"]["family"] in families)
    ]
    if not chosen:
        raise UsageError("the suite's block `tasks` selects no task")
    chosen = chosen[: tasks.get("limit")]
    if official:
        from evalkit_lmbuild.tasks.official import official_task

        return [official_task(document, settings["brief"]) for document in chosen]
    return [task_of(document, settings["brief"], base) for document in chosen]


def task_of(document: Mapping[str, Any], brief: str, base: Path) -> Task:
    """A checked document as a task; pictures are read from paths relative to `base`."""
    condition = next((c for c in document["conditions"] if c["condition_id"] == brief), None)
    if condition is None:
        known = ", ".join(c["condition_id"] for c in document["conditions"])
        raise UsageError(f"{document['task_id']} has no brief {brief!r}; it has {known}")
    image = condition["image"]
    inputs = {
        "name": document["object"]["name"],
        "brief": {"condition_id": brief, "text": condition["text"]},
        "image": None if image is None else _image(base / image, document["task_id"]),
        "subpart_pool": document["subpart_pool"],
        "vocabulary": {
            "joint_types": list(JOINT_TYPES),
            "materials": [[m.id, m.material_class] for m in MATERIALS.values()],
        },
    }
    hidden = {
        "family": document["object"]["family"],
        "category": document["object"]["category"],
        "document": {key: value for key, value in document.items() if key != "subpart_pool"},
    }
    return Task(document["task_id"], inputs, hidden)


def facts_of(task: Task) -> ObjectFacts:
    """Everything that is known of a task's object, compiled; cached by content."""
    document = task.hidden["document"] | {"subpart_pool": task.inputs["subpart_pool"]}
    return object_facts(document, verified_path)


def photo_of(task: Task) -> bytes | None:
    """The object's photo as PNG, whatever the brief; None if it has none: a drawn reference is no photo."""
    photo = task.hidden["document"]["photo"]
    return None if photo is None else photo_png(photo["file"], photo["sha256"])


def embedded_document(task: str) -> Mapping[str, Any] | None:
    """The document of an object of this project's own, or None."""
    return _embedded().get(task)


@cache
def _embedded() -> dict[str, Any]:
    return _folder(OBJECTS)


def _folder(folder: Path) -> dict[str, Any]:
    """Checked documents by task id, in the order of the files' names; UsageError names a bad file."""
    try:
        paths = sorted(path for path in folder.iterdir() if path.suffix == ".json")
    except OSError as error:
        raise UsageError(f"can't read the folder {folder}: {error.strerror}") from error
    documents: dict[str, Any] = {}
    for path in paths:
        try:
            document = read_object(path)
        except ObjectError as error:
            raise UsageError(f"an object can't be read: {error}") from error
        if document["task_id"] in documents:
            raise UsageError(f"{path.name}: another file has the task_id {document['task_id']!r} already")
        documents[document["task_id"]] = document
    return documents


def _image(path: Path, task: str) -> str:
    try:
        with open(path, "rb") as file:
            data = file.read(MAX_IMAGE_BYTES + 1)
    except OSError as error:
        raise UsageError(
            f"the picture of {task}, {path.name}, can't be read: {error.strerror}; take a brief without one "
            "(-T condition=name_only -T brief=name_only), or draw it (python -m evalkit_lmbuild.tasks.draw)"
        ) from error
    if len(data) > MAX_IMAGE_BYTES or not data.startswith(b"\x89PNG"):
        raise UsageError(f"the picture of {task}, {path.name}, is no PNG file of at most 4 MiB")
    return base64.b64encode(data).decode("ascii")


def _check(tasks: Mapping[str, Any]) -> None:
    for key in tasks:
        if key not in KEYS:
            raise UsageError(f"lmbuild tasks have no option {key!r}; there are {', '.join(KEYS)}")
    if tasks.get("set", "embedded") not in SETS:
        raise UsageError(f"tasks.set is {tasks['set']!r}; there are {', '.join(SETS)}")
    if tasks.get("folder") is not None and not isinstance(tasks["folder"], str):
        raise UsageError("tasks.folder has to be a path")
    for key in ("names", "families"):
        listed = tasks.get(key)
        if listed is not None and not (isinstance(listed, list) and all(isinstance(x, str) for x in listed)):
            raise UsageError(f"tasks.{key} has to be a list of strings")
    for family in tasks.get("families") or ():
        if family not in FAMILIES:
            raise UsageError(
                f"tasks.families: there is no family {family!r}; there are {', '.join(FAMILIES)}"
            )
    limit = tasks.get("limit")
    if limit is not None and (type(limit) is not int or limit < 1):
        raise UsageError(f"tasks.limit is {limit!r}; it is a number of tasks from 1")
