"""`evalkit try` for LDraw files and designs of other systems: reading one, and the report on it."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from evalkit import Candidate, Execution, Task, UsageError, Verdict
from evalkit_brickbench.designs import candidate_of, look
from evalkit_brickbench.inspection import Inspection, Protocol, tools
from evalkit_brickbench.inventory import resolved_stock, used
from evalkit_brickbench.kit.runner import MODEL, SOURCE
from evalkit_brickbench.ldraw.notes import LDrawError
from evalkit_brickbench.ldraw.reader import SIZE_LIMIT_BYTES
from evalkit_brickbench.part_rules import PartRules
from evalkit_brickbench.parts.meshes import MeshError
from evalkit_brickbench.parts.wheels import MissingDataError
from evalkit_brickbench.readers.errors import ReaderError
from evalkit_brickbench.readers.samples import as_ldraw
from evalkit_brickbench.report import as_json, as_text
from evalkit_brickbench.settings import BrickSettings, settings_of

FREE_TASK = "any"
_PLACE = re.compile(rf' *File "{re.escape(SOURCE)}", line ([0-9]+)')


def open_model(path: Path, settings: Mapping[str, Any]) -> Candidate:
    """The model in an LDraw file, a path text or a list of bricks, or what a build.py makes in the sandbox.

    UsageError if there is none.
    """
    chosen = settings_of(settings)
    try:
        with open(path, "rb") as file:
            data = file.read(SIZE_LIMIT_BYTES + 1)
    except OSError as error:
        raise UsageError(f"can't read {path}: {error.strerror}") from error
    candidate = _built(data, chosen) if path.suffix == ".py" else _read(path, data)
    try:
        look(candidate, chosen, stand=False)
    except (LDrawError, MeshError, MissingDataError) as error:
        raise UsageError(str(error)) from error
    return candidate


def _read(path: Path, data: bytes) -> Candidate:
    try:
        return candidate_of(path.name, as_ldraw(data, path.name))
    except ReaderError as error:
        raise UsageError(f"{path}: {error}") from error


def _built(source: bytes, settings: BrickSettings) -> Candidate:
    from evalkit_brickbench.kit.building import build

    built = build(source, settings.sandbox)
    if built.model is None:
        raise UsageError("it builds no model" if built.violation is None else _brief(built.violation.message))
    return candidate_of(MODEL, built.model)


def _brief(message: str) -> str:
    """A message of a line: of a traceback the last place in build.py and what was raised there."""
    lines = message.splitlines()
    places = [place for line in lines if (place := _PLACE.match(line))]
    return f"{SOURCE}, line {places[-1][1]}: {lines[-1].strip()}" if places else message


def free_task(settings: Mapping[str, Any]) -> Task:
    """Any model at all: no limits apply."""
    return Task(FREE_TASK, {}, {})


def report(
    task: Task,
    candidate: Candidate | None,
    verdict: Verdict,
    executions: Sequence[Execution],
    settings: Mapping[str, Any],
) -> dict[str, Any]:
    """Everything the checks found; stability is looked at also where parts collide.

    `valid` and `errors` are about the whole: rules, collisions and stability.
    """
    if candidate is None:
        return {}
    chosen = settings_of(settings)
    found = look(candidate, chosen, stand=True)
    text = as_text(found, candidate.files[0].name, name_collisions=False)  # violations name them
    stable = None if found.stability is None else found.stability.stable
    stands = chosen.undetermined == "stable" if stable is None else stable
    errors = list(dict.fromkeys(v.code for v in verdict.violations if not v.advisory))
    return {
        "split": task.inputs.get("setting"),
        "build_sha256": candidate.sha256,
        "valid": verdict.valid and stands,
        "errors": errors if stands else [*errors, "unstable" if stable is False else "undetermined"],
        **_part_rules(found, PartRules.of(task.inputs), chosen.protocol()),
        **as_json(found),
        "text": text,
    }


def _part_rules(found: Inspection, rules: PartRules | None, protocol: Protocol) -> dict[str, Any]:
    """A task's limits and, where it has a stock, how many of each part and colour are used and available."""
    if rules is None:
        return {}
    limits = {"min_parts": rules.min_parts, "max_parts": rules.max_parts}
    if rules.stock is None:
        return {"part_rules": limits}
    catalogue = tools(protocol).providers.catalogue
    available = resolved_stock(rules.stock, catalogue)
    taken = sorted(used(found.scene, catalogue).items())
    return {
        "part_rules": limits,
        "stock": {f"{stem} {colour}": [n, available[stem, colour]] for (stem, colour), n in taken},
    }
