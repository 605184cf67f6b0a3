"""Checking the level of an episode: the declared one, the installed one, and the same for everybody."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any

from evalkit import sha256_of
from evalkit_polybridge.feedback import Feedback
from evalkit_polybridge.graph import Level
from evalkit_polybridge.release.check_context import Context, Key


def check_level(context: Context, path: str, key: Key, level: Level, document: Mapping[str, Any]) -> None:
    """Compare the level in the trajectory `document` with the manifest, the catalogue and other episodes."""
    report, manifest = context.report, context.manifest
    budgets = manifest["conditions"].get(key.condition, {"budgets": {}})["budgets"]
    if level.name != key.level:
        report.find("level", path, f"is about {key.level} and holds the level {level.name}")
    if key.level not in budgets:
        report.find("extra level", path, f"the manifest has no level {key.level} under {key.condition}")
    elif level.budget != budgets[key.level]:
        report.find("budget", path, f"was played for ${level.budget:g}, declared are ${budgets[key.level]:g}")
    strict = manifest["levels"].get(key.level, {}).get("strict_budget")
    if document["strict_budget"] != strict:
        report.find(
            "budget", path, f"compares costs to ${document['strict_budget']}, the manifest to ${strict}"
        )
    fingerprint = sha256_of(document["level_inputs"])
    first, other = context.levels.setdefault((key.condition, key.level), (fingerprint, path))
    if first != fingerprint:
        report.find("level", path, f"has another level than {other}")
    task = context.installed.task(key.condition, key.level)
    if task is not None and sha256_of(task.inputs) != fingerprint:
        report.find("level", path, f"has another {key.level} than the installed one")
    _prompt(context, path, level, document["prompt_sha256"])


def _prompt(context: Context, path: str, level: Level, recorded: str) -> None:
    """The episode began with the prompt that the declared settings give; known for the installed version."""
    from evalkit_polybridge.prompt import PROMPT_VERSION, system_prompt

    settings = context.settings
    if settings["prompt_version"] != PROMPT_VERSION:
        return
    prompt = system_prompt(
        level,
        skill=settings["skill"],
        region_offset_m=settings["region_offset_m"],
        feedback=Feedback.of(settings),
    )
    if hashlib.sha256(prompt.encode()).hexdigest() != recorded:
        context.report.find("protocol", path, "began with another prompt than the declared settings give")
