"""Checks of what a workspace's environment makes of files that nobody should hand in."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from evalkit.testing._environment_checks import first_difference
from evalkit.testing._finding import Broken
from evalkit.testing._hostile import hostile_contents, spoiled_contents
from evalkit.testing._play import play_script, record
from evalkit.testing._subject import Subject


def check_hostile_files(subject: Subject) -> str:
    """No file makes anything raise: none, empty, random, NUL, deep nesting, huge, wrong encodings, a folder.

    What `collect` reads as a design goes to validators and executors; what is wrong with a file is told in
    the same words every time.
    """
    task = subject.tasks[0]
    count = 0
    for what, files in _deliveries(subject):
        first, second = record(subject, task, files), record(subject, task, files)
        if first.end.reason.value.endswith("_error"):
            raise Broken(f"{what}: {first.end.reason.value.replace('_', ' ')}: {first.end.detail}")
        if found := first_difference(first.events(), second.events()):
            raise Broken(f"{what}: gives something else the second time: {found}")
        count += 1
    return f"{count} deliveries"


def _deliveries(subject: Subject) -> Iterator[tuple[str, Mapping[str, bytes]]]:
    """Files to hand in, and what they are: those of the script with one replaced at a time."""
    task = subject.tasks[0]
    script = subject.scripts[task.id]
    good = dict(script) if isinstance(script, Mapping) else {}
    brief = play_script(subject, task, script=good).brief
    yield "no file", {}
    for name in dict.fromkeys([*good, *map(_path, brief["deliverables"])]):
        others = {path: content for path, content in good.items() if path != name}
        yield f"{name} is missing", others
        yield f"{name} is a folder", {**others, f"{name}/inside": b"inside"}
        bad = (*hostile_contents(brief["max_bytes"]), *spoiled_contents(good.get(name, b"")))
        for what, content in bad:
            yield f"{name}: {what}", {**others, name: content}


def _path(pattern: str) -> str:
    """A path that fits a pattern of deliverables."""
    return re.sub(r"\[([^]])[^]]*\]|\*+|\?", lambda found: found[1] or "x", pattern)
