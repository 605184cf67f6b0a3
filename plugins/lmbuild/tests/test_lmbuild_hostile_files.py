"""Programs and files spoilt at random: the answer is a result or the one error, never another."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from evalkit_lmbuild.csg import ProgramError, compile_program
from evalkit_lmbuild.formats import DesignError, parse_design, read_glb, write_glb

PROGRAM: dict[str, Any] = {
    "nodes": [
        {"id": "plate", "op": "box", "size": [0.3, 0.2, 0.02]},
        {"id": "post", "op": "cylinder", "radius": 0.02, "radius_top": 0.01, "height": 0.1},
        {"id": "l", "op": "extrude", "polygon": [[0, 0], [0.1, 0], [0.1, 0.1]], "height": 0.05},
        {"id": "r", "op": "revolve", "profile": [[0, 0], [0.1, 0], [0.1, 0.1]], "degrees": 90},
        {"id": "t", "op": "transform", "input": "post", "position": [0, 0, 0.05], "rotation": [0, 10, 0]},
        {"id": "u", "op": "union", "inputs": ["plate", "t", "l", "r"]},
        {"id": "m", "op": "mirror", "input": "u", "normal": [1, 0, 0]},
    ],
    "output": "m",
}
DESIGN: dict[str, Any] = {
    "system": "s",
    "meta": {"note": "two boxes"},
    "parts": [
        {"id": "a", "role": "seat", "source": {"kind": "created", "id": "p", "position": [0, 0, 1]}},
        {"id": "b", "material": "steel", "source": {"kind": "created", "id": "p", "rotation": [0, 0, 9]}},
    ],
    "joints": [
        {"id": "j", "type": "revolute", "parent": "a", "child": "b", "axis": [0, 0, 1], "origin": [0, 0, 0]}
    ],
    "sequence": [{"part": "a"}, {"part": "b", "direction": [0, 0, -1]}],
    "programs": {"p": {"nodes": [{"id": "b", "op": "box", "size": [0.1, 0.1, 0.1]}], "output": "b"}},
}
RUBBISH = [
    None, True, -1, 0, 7, 1e-9, 1e308, float("nan"), float("inf"), 10**400, "", "a", "plate", "m",
    "\ud800", [], {},
    [[]], [0, 0], [1, 2, 3], {"id": "x"}, "box", "union", "x" * 300, [None] * 3, [[1, 2]] * 600,
]  # fmt: skip
NO_JSON = [b"bytes", {1: 2}, object()]


def _places(value: Any) -> list[tuple[Any, Any]]:
    """Every container in a document with each of its keys."""
    keys = list(value) if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else []
    return [(value, key) for key in keys] + [place for key in keys for place in _places(value[key])]


def _spoilt(document: Any, rubbish: list[Any], generator: np.random.Generator) -> Any:
    document = copy.deepcopy(document)
    for _ in range(int(generator.integers(1, 4))):
        places = _places(document)
        container, key = places[int(generator.integers(len(places)))]
        if generator.random() < 0.2:
            del container[key]
        else:
            container[key] = copy.deepcopy(rubbish[int(generator.integers(len(rubbish)))])
    return document


def _refusal(action: Callable[[], object], kind: type[Exception]) -> str | None:
    """The text with which an action refuses; None if it works. Any other error is a failure."""
    try:
        action()
    except kind as error:
        return str(error)
    return None


def test_spoilt_programs() -> None:
    generator = np.random.Generator(np.random.PCG64(1))
    programs = [_spoilt(PROGRAM, RUBBISH + NO_JSON, generator) for _ in range(600)]
    answers = [
        _refusal(lambda p=program, s=index % 2 == 0: compile_program(p, strict=s), ProgramError)
        for index, program in enumerate(programs)
    ]
    _check(answers)


def test_spoilt_designs() -> None:
    generator = np.random.Generator(np.random.PCG64(2))
    designs = [_spoilt(DESIGN, RUBBISH, generator) for _ in range(1500)]
    _check([_refusal(lambda d=design: parse_design(d), DesignError) for design in designs])


def test_spoilt_glbs(tmp_path: Path) -> None:
    generator = np.random.Generator(np.random.PCG64(3))
    path = tmp_path / "a.glb"
    mesh = compile_program(json.dumps(PROGRAM)).mesh
    write_glb({"one": mesh, "two": mesh}, path)
    good = path.read_bytes()
    answers = []
    for _ in range(400):
        data = bytearray(good)
        for _ in range(int(generator.integers(1, 6))):
            data[int(generator.integers(1100))] = int(generator.integers(256))
        cut = int(generator.integers(len(data))) if generator.random() < 0.1 else len(data)
        path.write_bytes(bytes(data[:cut]))
        answers.append(_refusal(lambda: read_glb(path), DesignError))
    _check(answers)


def _check(answers: list[str | None]) -> None:
    refusals = [answer for answer in answers if answer is not None]
    assert len(answers) / 4 < len(refusals) < len(answers)
    assert all("\n" not in text and len(text) < 500 for text in refusals)
