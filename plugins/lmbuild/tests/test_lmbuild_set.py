"""What the embedded set promises as a whole, and that its files are what the scripts beside it write."""

from __future__ import annotations

import importlib
import json
import re
from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from evalkit_lmbuild.objects import FAMILIES
from evalkit_lmbuild.tasks import OBJECTS

AUTHORING = Path(__file__).parents[1] / "authoring"
DOCUMENTS = [json.loads(path.read_text(encoding="utf-8")) for path in sorted(OBJECTS.glob("*.json"))]

Entry = tuple[str, list[float], bool]
"""A catalogue's entry: name, extents in mm, and whether the reference uses it."""


def catalogue(document: Mapping[str, Any]) -> list[Entry]:
    used = {part["source"]["id"] for part in document["reference"]["parts"]}
    found = []
    for part in document["subpart_pool"]["parts"]:
        match = re.fullmatch(r"(.*?) ((?:\d+ x ){2}\d+)", part["name"])
        assert match is not None, part["name"]
        extents = [float(extent) for extent in match[2].split(" x ")]
        found.append((match[1], extents, part["pool_part_id"] in used))
    return found


def series(document: Mapping[str, Any]) -> list[list[Entry]]:
    """Entries of one name and about the same proportions, small ones first."""
    found: list[list[Entry]] = []
    for entry in sorted(catalogue(document), key=lambda entry: sum(entry[1])):
        for known in found:
            shares = [[extent / sum(extents) for extent in extents] for _, extents, _ in (entry, known[0])]
            if entry[0] == known[0][0] and max(abs(a - b) for a, b in zip(*shares, strict=True)) < 0.01:
                known.append(entry)
                break
        else:
            found.append([entry])
    return found


SERIES = [each for document in DOCUMENTS for each in series(document)]


def roundness(entry: Entry) -> int:
    return sum(extent % step == 0 for extent in entry[1] for step in (10, 5, 2))


def surrounded(entry: Entry, each: list[Entry]) -> bool:
    """Whether the series has clearly smaller sizes and clearly larger ones too."""
    ratios = [sum(other[1]) / sum(entry[1]) for other in each]
    return min(ratios) < 1 / 1.2 and max(ratios) > 1.2


def test_there_are_eight_objects_of_each_family_and_no_category_twice() -> None:
    assert Counter(each["object"]["family"] for each in DOCUMENTS) == dict.fromkeys(FAMILIES, 8)
    categories = Counter(each["object"]["category"] for each in DOCUMENTS)
    assert [name for name, count in categories.items() if count > 1] == []


def test_a_catalogue_has_three_times_what_the_reference_uses() -> None:
    for document in DOCUMENTS:
        entries = catalogue(document)
        assert len(entries) >= 3 * sum(used for _, _, used in entries), document["task_id"]


@pytest.mark.parametrize(
    ("rule", "most"),
    [
        (lambda each: each[len(each) // 2 : len(each) // 2 + 1] if len(each) == 3 else [], 1.25),
        (lambda each: each[1:-1], 1.25),
        (lambda each: each[:1] if len(each) > 1 else [], 1.25),
        (lambda each: each[-1:] if len(each) > 1 else [], 1.25),
        (lambda each: each if len(each) == 1 else [], 1.25),
        (lambda each: each if len(each) == 2 else [], 1.25),
        (lambda each: each if len(each) == 3 else [], 1.25),
        (lambda each: each if len(each) == 4 else [], 1.25),
        (lambda each: [entry for entry in each if surrounded(entry, each)], 1.35),
        (lambda each: [max(each, key=roundness)] if len(each) > 1 else [], 1.8),
    ],
    ids=[
        "middle",
        "inner",
        "smallest",
        "largest",
        "only",
        "of two",
        "of three",
        "of four",
        "surrounded",
        "roundest",
    ],
)
def test_sizes_do_not_tell_what_the_reference_uses(
    rule: Callable[[list[Entry]], list[Entry]], most: float
) -> None:
    """A rule finds about as many used entries as guesses among all of them do.

    Lengths that someone chose are rounder than those that follow from them, hence the last bound.
    """
    chance = sum(used for each in SERIES for _, _, used in each) / sum(len(each) for each in SERIES)
    guesses = [used for each in SERIES for _, _, used in rule(each)]
    assert len(guesses) > 100
    assert sum(guesses) / len(guesses) < most * chance


def test_a_family_needs_five_operations_or_more() -> None:
    for family in FAMILIES:
        programs = [
            part["program"]
            for document in DOCUMENTS
            if document["object"]["family"] == family
            for part in document["subpart_pool"]["parts"]
        ]
        assert len({node["op"] for program in programs for node in program["nodes"]}) >= 5, family


def test_no_two_references_differ_in_sizes_alone() -> None:
    known: dict[str, str] = {}
    for document in DOCUMENTS:
        key = json.dumps(_structure(document))
        assert key not in known, (document["task_id"], known[key])
        known[key] = document["task_id"]


def _structure(document: Mapping[str, Any]) -> Any:
    """Trees of operations and roles of all parts, types of all joints."""
    programs = {part["pool_part_id"]: part["program"] for part in document["subpart_pool"]["parts"]}
    parts = [(part["role"], _tree(programs[part["source"]["id"]])) for part in document["reference"]["parts"]]
    return [sorted(parts), sorted(joint["type"] for joint in document["reference"]["joints"])]


def _tree(program: Mapping[str, Any]) -> str:
    nodes = {node["id"]: node for node in program["nodes"]}

    def text(id: str) -> str:
        node = nodes[id]
        inputs = node.get("inputs") or ([node["input"]] if "input" in node else [])
        return f"{node['op']}({','.join(text(each) for each in inputs)})"

    return text(program["output"])


def test_a_name_only_brief_says_the_name_only() -> None:
    for document in DOCUMENTS:
        name, texts = (
            document["object"]["name"],
            {c["condition_id"]: c["text"] for c in document["conditions"]},
        )
        article = "an" if name[0] in "aeio" else "a"
        assert texts["name_only"] == f"Build {article} {name}."


@pytest.mark.parametrize("family", FAMILIES)
def test_files_are_what_the_scripts_write(family: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(AUTHORING))
    workshop, objects = importlib.import_module("workshop"), importlib.import_module(family).OBJECTS
    for number, each in enumerate(objects):
        written = json.loads(json.dumps(workshop.document_of(objects, number)))
        kept = json.loads((OBJECTS / f"{each.task_id}.json").read_text(encoding="utf-8"))
        assert kept == written, f"{each.task_id}: run authoring/{family}.py"
