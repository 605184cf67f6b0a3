"""Draws the pictures of briefs from references: `python -m evalkit_lmbuild.tasks.draw [TASK …]`."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from evalkit_lmbuild.objects import object_facts, read_object
from evalkit_lmbuild.pictures import view
from evalkit_lmbuild.tasks import HERE, OBJECTS

SIZE_PX = 512


def reference_picture(document: Mapping[str, Any]) -> bytes:
    """The picture of an object's brief as PNG: its reference of clay, from the front right."""
    reference = object_facts(document).reference
    if reference is None:
        raise ValueError(f"{document['task_id']} has no reference to draw")
    return view(reference, "cond", size_px=SIZE_PX, clay=True)


def main(names: list[str]) -> None:
    """Draw the pictures of some objects, or of all."""
    folder = HERE / "images"
    folder.mkdir(exist_ok=True)
    for path in [OBJECTS / f"{name}.json" for name in names] or sorted(OBJECTS.glob("*.json")):
        target = folder / Path(path.name).with_suffix(".png")
        target.write_bytes(reference_picture(read_object(path)))


if __name__ == "__main__":
    main(sys.argv[1:])
