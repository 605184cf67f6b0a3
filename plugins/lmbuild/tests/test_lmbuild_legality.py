"""What keeps a document from being a design."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from evalkit_lmbuild.legality import problems

GOOD: dict[str, Any] = {
    "parts": [
        {"id": "a", "role": "seat", "material": "steel", "source": {"kind": "created", "id": "p"}},
        {"id": "b", "source": {"kind": "pool", "id": "P1", "position": [0, 0, 1], "rotation": [0, 90, 0]}},
    ],
    "joints": [
        {"id": "j", "type": "revolute", "parent": "a", "child": "b", "axis": [0, 0, 1], "origin": [0, 0, 0]}
    ],
    "sequence": [{"part": "a"}, {"part": "b", "direction": [0, 0, -1]}],
    "programs": {"p": {}},
}
NAN, INF = float("nan"), float("inf")


def _codes(document: object) -> list[str]:
    return [problem.code for problem in problems(document, known={"P1"})]


def _changed(*path: Any, to: object) -> dict[str, Any]:
    document: Any = copy.deepcopy(GOOD)
    inside = document
    for key in path[:-1]:
        inside = inside[key]
    inside[path[-1]] = to
    return document  # type: ignore[no-any-return]


def test_a_good_one_has_none() -> None:
    assert _codes(GOOD) == []


@pytest.mark.parametrize(
    ("document", "code"),
    [
        ([], "format"),
        ({}, "empty"),
        (_changed("parts", to={}), "format"),
        (_changed("parts", 0, to=5), "format"),
        (_changed("parts", 0, "id", to="no id"), "bad_id"),
        (_changed("parts", 0, "id", to=7), "bad_id"),
        (_changed("parts", 0, "id", to="x" * 49), "bad_id"),
        (_changed("parts", 1, "id", to="a"), "duplicate_id"),
        (_changed("parts", 0, "material", to="stel"), "unknown_material"),
        (_changed("parts", 0, "role", to="x" * 200), "format"),
        (_changed("parts", 0, "source", to=None), "bad_source"),
        (_changed("parts", 0, "source", "id", to="q"), "unknown_source"),
        (_changed("parts", 1, "source", "position", to=[0, 0, NAN]), "bad_vector"),
        (_changed("parts", 1, "source", "position", to=[0, 0, 5.1]), "bad_vector"),
        (_changed("parts", 1, "source", "position", to=[0, 0, True]), "bad_vector"),
        (_changed("parts", 1, "source", "rotation", to=[0, 10**400, 0]), "bad_vector"),
        (_changed("joints", 0, "parent", to="z"), "unknown_part"),
        (_changed("joints", 0, "parent", to="b"), "bad_joint"),
        (_changed("joints", 0, "type", to="hinge"), "bad_joint"),
        (_changed("joints", 0, "axis", to=None), "bad_joint"),
        (_changed("joints", 0, "axis", to=[0, 0, 0]), "bad_joint"),
        (_changed("joints", 0, "origin", to=None), "bad_joint"),
        (_changed("joints", 0, "limits", to=[1, 0]), "bad_joint"),
        (_changed("joints", 0, "limits", to=[0, INF]), "bad_joint"),
        (_changed("joints", to=[GOOD["joints"][0]] * 2), "duplicate_id"),
        (_changed("sequence", 0, "part", to="z"), "unknown_part"),
        (_changed("sequence", 1, "part", to="a"), "duplicate_step"),
        (_changed("sequence", 1, "direction", to=[0, 0]), "bad_vector"),
        (_changed("parts", to=[GOOD["parts"][0]] * 81), "too_many"),
    ],
)
def test_faults(document: object, code: str) -> None:
    assert code in _codes(document)


def test_all_faults_are_told_at_once_with_their_values() -> None:
    document = _changed("parts", 1, "source", "position", to=[9, 0, 0])
    document["joints"][0]["child"] = "bb"
    (far, missing) = problems(document, known={"P1"})
    assert (far.ids, far.value, far.limit) == (("b",), 9.0, 5.0)
    assert "did you mean 'b'?" in missing.message or "there are a, b" in missing.message


def test_a_mesh_stands_for_a_source() -> None:
    document = _changed("parts", 0, "source", "id", to=None)
    assert [p.code for p in problems(document, known={"P1"}, meshes={"a"})] == []


@pytest.mark.parametrize("kind", ["reference", "generated", "ldraw"])
def test_parts_of_programs_count_whatever_they_are_called(kind: str) -> None:
    parts = [{"id": f"p{n}", "source": {"kind": kind, "id": "P1"}} for n in range(81)]
    assert _codes({"parts": parts}) == ["too_many"]
    assert problems({"parts": parts}, meshes={f"p{n}" for n in range(81)}) == ()
