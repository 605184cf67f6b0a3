"""Replies: what is read, what is refused and why, and that no text whatever breaks the reader."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evalkit_polybridge.contract import (
    CONTRACT_CODES,
    MAX_OBJECTS,
    MAX_PROBLEMS,
    MAX_REPLY_CHARACTERS,
    Parser,
    Reply,
    format_reply,
    parse_reply,
)
from evalkit_polybridge.graph import Bridge, Edge, Level, Node
from evalkit_polybridge.rules import is_legal

NODE = {"id": 3, "x": 1.5, "y": -0.25, "isKinematic": False}
EDGE = {"id": 4, "type": 2, "anchorAID": 1, "anchorBID": 3, "rate": 0.5}
MINIMAL = '{"action":"modify","thought_process":"","nodes":[],"edges":[]}'
ANY_TEXT = st.text(alphabet=st.characters(exclude_categories=()))  # lone surrogates included


def document(**changes: Any) -> dict[str, Any]:
    return {"action": "modify", "thought_process": "a truss", "nodes": [NODE], "edges": [EDGE], **changes}


def without(item: dict[str, Any], name: str) -> dict[str, Any]:
    return {key: value for key, value in item.items() if key != name}


def parse(value: Any) -> Reply:
    return parse_reply(json.dumps(value))


def assert_sound(reply: Reply) -> None:
    """What holds for every reply there is."""
    assert (reply.bridge is not None) == is_legal(reply.problems)
    assert len(reply.problems) <= MAX_PROBLEMS
    for text in (reply.thought_process, *(problem.message for problem in reply.problems)):
        text.encode()
    assert all("\n" not in problem.message for problem in reply.problems)
    assert {problem.code for problem in reply.problems} <= {*CONTRACT_CODES, "OUT_OF_RANGE"}


def test_a_complete_reply_is_read() -> None:
    expected = Bridge((Node(3, 1.5, -0.25),), (Edge(4, 2, 1, 3, 0.5),))
    assert parse(document()) == Reply(expected, "a truss", ())
    assert parse_reply(" \n" + json.dumps(document(), indent=1) + "\n\t").bridge == expected


def test_kinematic_and_rate_may_be_left_out() -> None:
    reply = parse(document(nodes=[without(NODE, "isKinematic")], edges=[without(EDGE, "rate")]))
    assert reply.bridge == Bridge((Node(3, 1.5, -0.25, False),), (Edge(4, 2, 1, 3, 0.0),))


def test_coordinates_are_rounded_to_four_decimals_without_minus_zero() -> None:
    reply = parse(
        document(nodes=[{**NODE, "x": 1.00004999, "y": -0.00001}, {**NODE, "x": 2, "y": 0.12345678}])
    )
    assert reply.bridge is not None
    assert [(node.x, node.y) for node in reply.bridge.nodes] == [(1.0, 0.0), (2.0, 0.1235)]
    assert str(reply.bridge.nodes[0].y) == "0.0"


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "empty"),
        (" \r\n\t", "empty"),
        ("I can't do that.", "no JSON object"),
        (f"Here it is: {MINIMAL}", "other text stands before the JSON object, which begins at character 13"),
        (f"{MINIMAL} Good luck!", "other text follows the JSON value at character 64: 'Good luck!'"),
        (f"{MINIMAL}\n{MINIMAL}", "several JSON values, the second begins at character 64"),
        (f"```json\n{MINIMAL}\n```", "Markdown fence"),
        (f"```\n{MINIMAL}", "Markdown fence"),
        (f"{MINIMAL}\n```", "other text follows"),
        (f"[{MINIMAL}]", "the top level is a list"),
        ('"modify"', "the top level is a string"),
        ("null", "the top level is null"),
        (MINIMAL[:-1], "breaks off"),
        (MINIMAL[:30], "breaks off"),
        (MINIMAL[:35], "breaks off"),
        (MINIMAL[:-1] + ",}", "a trailing comma at character 63"),
        (MINIMAL.replace("[]", "[1,\n]", 1), "a trailing comma"),
        (f"\n\n{MINIMAL[:-1]},}}", "a trailing comma at character 65"),
        (MINIMAL.replace("[]", "[ // none\n]", 1), "a comment"),
        (MINIMAL.replace("[]", "[ /* none */ ]", 1), "a comment"),
        (MINIMAL.replace('"', "'"), "a quote at character 2"),
        (MINIMAL.replace("[]", "True", 1), "True at character"),
        (MINIMAL.replace('""', '"two\nlines"'), "control character"),
        (MINIMAL.replace("[]", "NaN", 1), "NaN is not a JSON number"),
        (MINIMAL.replace("[]", "-Infinity", 1), "-Infinity is not a JSON number"),
        (MINIMAL.replace("[]", "1e999", 1), "1e999 is too large"),
        (MINIMAL.replace("[]", "9" * 5000, 1), "5000 characters"),
        (MINIMAL.replace("[]", "0." + "1" * 5000, 1), "5002 characters"),
        (MINIMAL.replace("[]", "[" * 99_999, 1), "nested deeper"),
        (MINIMAL.replace("[]", '{"a":' * 50 + "1" + "}" * 50, 1), "nested deeper"),
        (MINIMAL.replace('"edges"', '"nodes"'), "'nodes' occurs twice"),
        ("\ufeff" + MINIMAL, "other text stands before"),
        ("\ud800", "no JSON object"),
        ('"\\' * 200_000, "no JSON object"),
    ],
)
def test_what_is_not_one_json_object_is_refused_with_the_reason(text: str, says: str) -> None:
    reply = parse_reply(text)
    assert_sound(reply)
    assert [problem.code for problem in reply.problems] == ["PARSE_ERROR"]
    assert says in reply.problems[0].message


@pytest.mark.parametrize(
    ("text", "parser", "read"),
    [
        (MINIMAL, "fenced", True),
        (f"```json\n{MINIMAL}\n```", "fenced", True),
        (f"\n```\r\n{MINIMAL}```\n", "fenced", True),
        (f"```json\n{MINIMAL}\n```", "strict", False),
        (f"Sure:\n```json\n{MINIMAL}\n```", "fenced", False),
        (f"```json\n{MINIMAL}\n```\nDone.", "fenced", False),
        (f"```json\n{MINIMAL}\n", "fenced", False),
        (f"```json\n{MINIMAL}...", "fenced", False),
        (f"```\n```json\n{MINIMAL}\n```\n```", "fenced", False),
        ("```" + " " * 500_000 + "\n" + " " * 499_000, "fenced", False),
    ],
)
def test_only_the_fenced_parser_takes_one_fence(text: str, parser: Parser, read: bool) -> None:
    assert (parse_reply(text, parser=parser).bridge is not None) == read


@pytest.mark.parametrize(
    ("value", "code", "says"),
    [
        (without(document(), "action"), "ACTION", "is missing"),
        (document(action="create"), "ACTION", "'create'"),
        (document(action=None), "ACTION", "null"),
        (without(document(), "thought_process"), "MISSING_FIELD", "thought_process"),
        (document(thought_process=None), "WRONG_TYPE", "thought_process has to be a string, not null"),
        (without(document(), "nodes"), "MISSING_FIELD", "the reply has no nodes"),
        (document(edges={}), "WRONG_TYPE", "edges has to be a list, not an object"),
        (document(edges=None), "WRONG_TYPE", "edges has to be a list, not null"),
        (document(nodes=[7]), "WRONG_TYPE", "nodes[0] has to be an object, not 7"),
        (document(nodes=[without(NODE, "x")]), "MISSING_FIELD", "nodes[0] has no x"),
        (document(nodes=[{**NODE, "x": "1.5"}]), "WRONG_TYPE", "x has to be a number, not '1.5'"),
        (document(nodes=[{**NODE, "x": True}]), "WRONG_TYPE", "x has to be a number, not true"),
        (document(nodes=[{**NODE, "x": None}]), "WRONG_TYPE", "x has to be a number, not null"),
        (document(nodes=[{**NODE, "isKinematic": 0}]), "WRONG_TYPE", "isKinematic has to be true or false"),
        (document(nodes=[{**NODE, "id": 3.0}]), "WRONG_TYPE", "id has to be an integer, not 3.0"),
        (document(nodes=[{**NODE, "id": True}]), "WRONG_TYPE", "id has to be an integer, not true"),
        (document(nodes=[{**NODE, "id": 0}]), "OUT_OF_RANGE", "id is 0: use 1 to 2147483647"),
        (document(nodes=[{**NODE, "id": 2**31}]), "OUT_OF_RANGE", "id is 2147483648"),
        (document(nodes=[{**NODE, "y": -1000.1}]), "OUT_OF_RANGE", "±1000 m"),
        (document(nodes=[{**NODE, "y": 1e308}]), "OUT_OF_RANGE", "±1000 m"),
        (document(edges=[without(EDGE, "type")]), "MISSING_FIELD", "edges[0] has no type"),
        (document(edges=[{**EDGE, "type": "Wood"}]), "WRONG_TYPE", "type has to be an integer, not 'Wood'"),
        (document(edges=[{**EDGE, "type": -1}]), "OUT_OF_RANGE", "type is -1"),
        (
            document(edges=[{**EDGE, "anchorBID": [3]}]),
            "WRONG_TYPE",
            "anchorBID has to be an integer, not a list",
        ),
        (document(edges=[{**EDGE, "rate": "0"}]), "WRONG_TYPE", "rate has to be a number"),
    ],
)
def test_each_schema_mistake_has_its_code_and_place(value: Any, code: str, says: str) -> None:
    reply = parse(value)
    assert_sound(reply)
    assert [problem.code for problem in reply.problems] == [code]
    assert says in reply.problems[0].message


def test_the_thought_process_survives_a_refusal() -> None:
    assert parse(document(action="x", nodes=3)).thought_process == "a truss"


def test_unknown_fields_are_ignored_with_an_advisory() -> None:
    reply = parse(document(nodes=[{**NODE, "label": 1}, {**NODE, "label": 2}], notes="\ud800"))
    assert_sound(reply)
    assert reply.bridge is not None
    assert [problem.code for problem in reply.problems] == ["UNKNOWN_FIELD", "UNKNOWN_FIELD"]
    assert reply.problems[1].message == "'label' in nodes (2 ×) is ignored"


def test_schema_problems_come_together_and_are_capped() -> None:
    reply = parse(document(nodes=[{}] * 30, extra=1))
    assert_sound(reply)
    assert len(reply.problems) == MAX_PROBLEMS
    assert reply.problems[-1].message.endswith(f"… and {30 * 3 + 1 - MAX_PROBLEMS} more")


def test_every_code_is_listed_however_many_problems_there_are() -> None:
    nodes = [{"id": i + 1, "x": "far", "y": 0} for i in range(2 * MAX_PROBLEMS)]
    edges = [{"id": 10**12, "type": 1, "anchorAID": 1, "anchorBID": 2}]
    reply = parse(document(nodes=nodes, edges=edges, hint="x"))
    assert len(reply.problems) == MAX_PROBLEMS
    assert [p.code for p in reply.problems[-3:]] == ["WRONG_TYPE", "OUT_OF_RANGE", "UNKNOWN_FIELD"]
    assert reply.problems[-1].message.endswith(f"… and {2 * MAX_PROBLEMS + 2 - MAX_PROBLEMS} more")


def test_advisories_never_crowd_out_a_violation() -> None:
    reply = parse(document(action="x", **{f"extra{i}": i for i in range(2 * MAX_PROBLEMS)}))
    assert_sound(reply)
    assert reply.bridge is None
    assert reply.problems[0].code == "ACTION"


def test_what_is_too_large_is_not_read() -> None:
    for text in ("[" * (MAX_REPLY_CHARACTERS + 1), json.dumps(document(nodes=[NODE] * MAX_OBJECTS))):
        reply = parse_reply(text)
        assert_sound(reply)
        assert [problem.code for problem in reply.problems] == ["TOO_LARGE"]
    assert parse(document(nodes=[NODE] * (MAX_OBJECTS - 1))).bridge is not None


def test_lone_surrogates_are_replaced_and_pairs_kept() -> None:
    assert parse_reply(MINIMAL.replace('""', '"a\\ud83d b\\ud83d\\ude00"')).thought_process == "a\ufffd b😀"
    raw = parse_reply(MINIMAL.replace('""', '"a\udc00"'))
    assert_sound(raw)
    assert raw.thought_process == "a\ufffd"


@given(ANY_TEXT)
def test_no_text_breaks_the_reader(text: str) -> None:
    for candidate in (text, MINIMAL.replace('""', f'"{text}"'), text + MINIMAL, MINIMAL + text):
        assert_sound(parse_reply(candidate))
        assert_sound(parse_reply(candidate, parser="fenced"))


@given(data=st.data())
def test_no_damage_to_a_reply_breaks_the_reader(data: st.DataObject) -> None:
    text = json.dumps(document())
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, len(text)))
    inserted = data.draw(
        st.sampled_from(("", ",", "}", "[", '"', "\\", "1e999", "null", "-", "😀", "\ud800"))
    )
    assert_sound(parse_reply(text[:start] + inserted + text[end:]))


SCALARS = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | ANY_TEXT
VALUES = st.recursive(SCALARS, lambda inner: st.lists(inner) | st.dictionaries(ANY_TEXT, inner), max_leaves=8)
FIELDS = st.sampled_from(("id", "x", "y", "isKinematic", "type", "anchorAID", "anchorBID", "rate"))
OBJECTS = st.lists(st.dictionaries(FIELDS, VALUES) | VALUES, max_size=4) | VALUES


@given(st.fixed_dictionaries({}, optional={"action": VALUES, "nodes": OBJECTS, "edges": OBJECTS}) | VALUES)
@settings(max_examples=200)
def test_no_json_breaks_the_reader(value: Any) -> None:
    assert_sound(parse(value))


@given(data=st.data(), thought=st.text())
@settings(max_examples=30)
def test_formatting_is_the_inverse_of_reading(
    designs: st.SearchStrategy[tuple[Level, Bridge]], data: st.DataObject, thought: str
) -> None:
    _, bridge = data.draw(designs)
    assert parse_reply(format_reply(bridge, thought)) == Reply(bridge, thought, ())


def test_formatting_keeps_every_reply_storable() -> None:
    format_reply(Bridge((), ()), "\ud800").encode()
    with pytest.raises(ValueError, match="JSON"):
        format_reply(Bridge((Node(1, float("nan"), 0.0),), ()), "")
