"""Which tasks there are by name, for what comes with names of tasks from elsewhere."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from evalkit import UsageError
from evalkit_brickbench.part_rules import SETTINGS
from evalkit_brickbench.tasks import captions, embedded, official


def group_of(task: str) -> str | None:
    """The set of prompts that a task belongs to, such as one suite plays; None for a name that is no task's.

    Captions are the user's own, and known by how their names begin.
    """
    return captions.SETTING if task.startswith(captions.PREFIX) else _groups().get(task)


def known_tasks() -> list[str]:
    """Names of all tasks that come with the plugin or were pulled."""
    return list(_groups())


@cache
def _groups() -> Mapping[str, str]:
    found: dict[str, str] = {}
    for name in (*SETTINGS, embedded.SMOKE):
        found |= dict.fromkeys((prompt.id for prompt in embedded.prompts(name)), name)
    for setting in official.QUESTIONS:
        try:
            found |= dict.fromkeys((prompt.id for prompt in official.prompts(setting)), "official")
        except UsageError:  # not pulled: then nobody plays them
            return found
    return found
