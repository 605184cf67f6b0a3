"""Rules of CSG programs: what is refused, by which words."""

from __future__ import annotations

import json

import pytest

from evalkit_lmbuild.csg import ProgramError, read_program

SQUARE = [[0, 0], [0.1, 0], [0.1, 0.1], [0, 0.1]]


def _node(name: object, op: object, **fields: object) -> dict[str, object]:
    return {"id": name, "op": op, **fields}


BOX = _node("a", "box", size=[0.1, 0.2, 0.3])


def _program(*nodes: object, output: object = "a") -> dict[str, object]:
    return {"nodes": list(nodes), "output": output}


def _refusal(program: object) -> str:
    with pytest.raises(ProgramError) as caught:
        read_program(program)
    text = str(caught.value)
    assert "\n" not in text
    assert len(text) < 300
    return text


@pytest.mark.parametrize(
    ("nodes", "words"),
    [
        ([_node("a", "extrude", polygon=SQUARE[::-1], height=0.1)], ['"a"', "clockwise"]),
        ([_node("a", "revolve", profile=SQUARE[::-1])], ['"a"', "clockwise"]),
        ([BOX, _node("b", "union", inputs=["a", _node("c", "sphere", radius=1)])], ['"b"', "nested node"]),
        ([_node(3, "sphere", radius=1)], ["nodes[0]", 'write "id": "3"']),
        ([BOX, _node("b", "union", inputs=["a", 3])], ['"b"', "input 3", "string"]),
        ([BOX, _node("b", "union", inputs=["a", "aa"])], ['"b"', "not defined", 'did you mean "a"']),
        ([_node("b", "mirror", input="a", normal=[1, 0, 0]), BOX], ['"b"', "defined later"]),
        ([_node("a", "mirror", input="a", normal=[1, 0, 0])], ["itself"]),
        ([BOX, BOX], ['"a"', "used twice"]),
        ([_node("a", "boxx", size=[1, 1, 1])], ["did you mean box"]),
        ([_node("a", "frobnicate")], ["known: box, cylinder"]),
        ([{"id": "a", "type": "box", "size": [1, 1, 1]}], ['in "op"']),
        ([_node("a", "box")], ["box needs size"]),
        ([_node("a", "box", size=[1, 1, 1], colour="red")], ["no field", "colour"]),
        ([_node("a", "box", size=[1, 1])], ["size must be [x, y, z]"]),
        ([_node("a", "box", size=[1, 1, 3.01])], ["0.0005 to 3", "3.01"]),
        ([_node("a", "box", size=[1, 1, 0.0004])], ["0.0005 to 3"]),
        ([_node("a", "box", size=[1, 1, True])], ["not true"]),
        ([_node("a", "box", size=[1, 1, "0.5"])], ['not "0.5"']),
        ([_node("a", "sphere", radius=float("nan"))], ["not nan"]),
        ([_node("a", "sphere", radius=float("inf"))], ["not inf"]),
        ([_node("a", "sphere", radius=10**5000)], ["huge integer"]),
        ([_node("a", "sphere", radius=None)], ["not null"]),
        ([_node("a", "cylinder", radius=0, height=1)], ["at least 0.0005"]),
        ([_node("a", "cylinder", radius=0.0004, radius_top=0.0004, height=1)], ["at least 0.0005"]),
        ([_node("a", "torus", major=0.1, minor=0.1)], ["less than major"]),
        ([_node("a", "extrude", polygon=SQUARE[:2], height=0.1)], ["3 to 512 points, not 2"]),
        ([_node("a", "extrude", polygon=[[0, 0], [4e-4, 0], [0, 1e-3]], height=0.1)], ["0.25 mm²"]),
        ([_node("a", "extrude", polygon=[[0, 0], [1, 1], [1, 0], [0, 1]], height=1)], ["cross itself"]),
        ([_node("a", "extrude", polygon=[[0, 0, 0], [1, 0], [1, 1]], height=1)], ["point 0 has 3"]),
        ([_node("a", "extrude", polygon=[[0, 0], [1, "x"], [1, 1]], height=1)], ["point 1"]),
        ([_node("a", "revolve", profile=[[-0.1, 0], [0.1, 0], [0.1, 0.1]])], ["r ≥ 0", "point 0"]),
        ([_node("a", "revolve", profile=SQUARE, degrees=0.5)], ["1 to 360"]),
        ([BOX, _node("b", "transform", input="a", position=[0, 0, 3.1])], ["position", "-3 and 3"]),
        ([BOX, _node("b", "transform", input="a", rotation=[0, 0, 4000])], ["rotation", "3600"]),
        ([BOX, _node("b", "mirror", input="a", normal=[0, 0, 0])], ["normal of the mirror plane"]),
        ([BOX, _node("b", "union", inputs=[])], ["1 to 96 inputs, not 0"]),
        ([BOX, _node("b", "union", inputs="a")], ["list of ids"]),
        ([BOX, _node("b", "shell", input="a", thickness=0.01)], ["unknown operation", "shell"]),
        (["box"], ["nodes[0]", "object"]),
        ([], ["1 to 96 nodes"]),
        ([_node(f"n{index}", "sphere", radius=0.1) for index in range(97)], ["this one 97"]),
    ],
)
def test_a_broken_rule_is_named(nodes: list[object], words: list[str]) -> None:
    text = _refusal(_program(*nodes))
    for word in words:
        assert word in text


@pytest.mark.parametrize(
    ("program", "word"),
    [
        ('{"nodes": [', "isn't JSON"),
        ("[" * 100_000, "nested too deep"),
        ('{"nodes": [' + "9" * 6000 + "]}", "huge number"),
        ("x" * 600_000, "500,000"),
        ([BOX], "must be an object"),
        (None, "not null"),
        ({"nodes": [BOX]}, "output null"),
        ({"nodes": {"a": BOX}, "output": "a"}, "nodes must be a list"),
        ({"nodes": [BOX], "output": "a", "unit": "mm"}, "unknown field"),
        (_program(BOX, output="b"), 'output "b" is not a node'),
        (_program(BOX, output=["a"]), "output a list of 1 is not a node"),
    ],
)
def test_what_is_no_program_at_all(program: object, word: str) -> None:
    assert word in _refusal(program)


def test_json_text_is_as_good_as_an_object() -> None:
    program = _program(BOX, _node("b", "transform", input="a", position=[0, 0, 1]), output="b")
    assert read_program(json.dumps(program)) == read_program(program)


def test_unused_nodes_are_a_warning() -> None:
    program = read_program(_program(BOX, _node("spare", "sphere", radius=0.1)))
    assert program.warnings == ('node "spare" is not used by the output',)
    assert program.needed() == {"a"}


def test_lenient_mode_mends_with_a_warning() -> None:
    program = read_program(
        _program(_node("a", "extrude", polygon=SQUARE[::-1], height=0.1, note="seat")), strict=False
    )
    assert program.nodes[0].ring == tuple((x, y) for x, y in SQUARE)
    assert ["ignored" in program.warnings[0], "clockwise" in program.warnings[1]] == [True, True]
