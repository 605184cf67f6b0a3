"""Whether a model keeps the part rules of a task."""

from __future__ import annotations

import json
from pathlib import Path

from evalkit_brickbench.build._assembly import Assembly
from evalkit_brickbench.build._errors import BuildError
from evalkit_brickbench.build._files import scene_of
from evalkit_brickbench.build._knowledge import catalogue
from evalkit_brickbench.part_rules import PartRules


def broken_rules(model: Assembly, task: str | Path = "task.json") -> tuple[str, ...]:
    """What a model breaks of the part rules in a task's file, a sentence each: too few or too many parts,
    parts that the stock doesn't have.

    BuildError if the file can't be read.
    """
    try:
        inputs = json.loads(Path(task).read_text(encoding="utf-8"))
        rules = PartRules.of(inputs)
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise BuildError(f"there are no part rules to be read from {task}: {error}") from error
    if rules is None:
        return ()
    return tuple(broken.message for broken in rules.check(scene_of(model), catalogue()))
