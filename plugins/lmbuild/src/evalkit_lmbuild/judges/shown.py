"""What a judge of a metric is shown: pictures of the object and of the design, in a fixed order."""

from __future__ import annotations

from collections.abc import Callable

from evalkit import Image, Task
from evalkit_lmbuild.design import Design
from evalkit_lmbuild.pictures import all_views, judge_sheet, view
from evalkit_lmbuild.tasks import facts_of, photo_of

PHOTO_PX = 768
VIEW_PX = 448


class NothingToShowError(Exception):
    """The object has neither a photo nor a reference that a design could be compared with."""


def shown(metric: str, task: Task, design: Design) -> list[Image]:
    """The pictures for D.1, D.2 or D.3; NothingToShowError if the object has none of its own."""
    return [Image(f"{number}.png", source) for number, source in enumerate(_SHOWN[metric](task, design), 1)]


def _decomposition(task: Task, design: Design) -> list[bytes]:
    return [_object(task), judge_sheet(design, VIEW_PX)]


def _visual_quality(task: Task, design: Design) -> list[bytes]:
    return [_clay(design)]


def _resemblance(task: Task, design: Design) -> list[bytes]:
    reference = facts_of(task).reference
    return [_clay(reference) if reference is not None else _object(task), _clay(design)]


_SHOWN: dict[str, Callable[[Task, Design], list[bytes]]] = {
    "D.1": _decomposition,
    "D.2": _visual_quality,
    "D.3": _resemblance,
}


def _object(task: Task) -> bytes:
    """The object's photo, or where there is none its reference of clay, whatever brief the agent got."""
    if (photo := photo_of(task)) is not None:
        return photo
    reference = facts_of(task).reference
    if reference is None:
        raise NothingToShowError("the object has neither a photo nor a reference")
    return view(reference, "cond", size_px=PHOTO_PX, clay=True)


def _clay(design: Design) -> bytes:
    return all_views(design, clay=True, size_px=VIEW_PX)
