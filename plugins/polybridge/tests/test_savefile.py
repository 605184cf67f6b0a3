"""Save payloads and layouts: known bytes, round trips, and damaged files refused in one line."""

from __future__ import annotations

import base64
import json
import zlib
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalkit_polybridge import savefile
from evalkit_polybridge.graph import Bridge, Edge, Node
from evalkit_polybridge.savefile import (
    SaveFileError,
    decode,
    encode,
    from_document,
    new_layout,
    read_layout,
    to_document,
    write_layout,
)

BRIDGE = Bridge(
    (Node(1, 0.0, 0.0, True), Node(2, 3.0, -1.0, True), Node(3, 1.5, 0.0001)),
    (Edge(4, 1, 1, 3), Edge(5, 3, 3, 2, 0.5)),
)
SAVE_TEXT = (
    '{"DisplayName":"Größe 3","Objects":['
    '{"type":0,"x":0.0,"y":0.0,"id":1,"anchorAID":0,"anchorBID":0,"isKinematic":true},'
    '{"type":0,"x":3.0,"y":-1.0,"id":2,"anchorAID":0,"anchorBID":0,"isKinematic":true},'
    '{"type":0,"x":1.5,"y":0.0001,"id":3,"anchorAID":0,"anchorBID":0},'
    '{"type":1,"x":0.75,"y":5e-05,"id":4,"anchorAID":1,"anchorBID":3,"splitForDrawBridge":false,"rate":0.0},'
    '{"type":3,"x":2.25,"y":-0.49995,"id":5,"anchorAID":3,"anchorBID":2,"splitForDrawBridge":false,"rate":0.5}]}'
)


def payload_of(text: str | bytes, level: int = 6) -> str:
    data = text.encode() if isinstance(text, str) else text
    return base64.b64encode(zlib.compress(data, level)).decode()


def test_the_bytes_of_a_save() -> None:
    assert zlib.decompress(base64.b64decode(encode(BRIDGE, "Größe 3"))).decode() == SAVE_TEXT
    assert decode(payload_of(SAVE_TEXT)) == (BRIDGE, "Größe 3")


@pytest.mark.parametrize(("level", "header"), [(1, "7801"), (5, "785e"), (6, "789c"), (9, "78da")])
def test_every_zlib_header_is_read(level: int, header: str) -> None:
    payload = payload_of(SAVE_TEXT, level)
    assert base64.b64decode(payload)[:2].hex() == header
    assert decode(payload) == (BRIDGE, "Größe 3")


def test_a_bare_slot_file_and_escaped_slashes_are_read() -> None:
    payload = payload_of(SAVE_TEXT)
    assert "/" in payload
    assert decode(f"{payload}\r\n".encode()) == (BRIDGE, "Größe 3")
    assert decode(payload.replace("/", "\\/")) == (BRIDGE, "Größe 3")


def test_types_without_a_material_are_kept() -> None:
    rope = Bridge(BRIDGE.nodes, (Edge(4, 5, 1, 2),))
    assert decode(encode(rope, "rope")) == (rope, "rope")


IDS = st.integers(1, 2**31 - 1)
COORDINATES = st.floats(-1000.0, 1000.0)
NODES = st.lists(
    st.builds(Node, IDS, COORDINATES, COORDINATES, st.booleans()), min_size=1, unique_by=lambda n: n.id
)


@st.composite
def bridges(draw: st.DrawFn) -> Bridge:
    nodes = draw(NODES)
    ends = st.sampled_from([node.id for node in nodes])
    edges = draw(st.lists(st.builds(Edge, IDS, st.integers(1, 8), ends, ends, st.floats(0.0, 10.0))))
    return Bridge(tuple(nodes), tuple(edges))


@given(bridges(), st.text())
def test_decoding_is_the_inverse_of_encoding(bridge: Bridge, name: str) -> None:
    assert decode(encode(bridge, name)) == (bridge, name)
    assert from_document(json.loads(json.dumps(to_document(bridge, name)))) == (bridge, name)


def damaged(**changes: Any) -> str:
    node = {"type": 0, "x": 0.0, "y": 0.0, "id": 1, **changes}
    return payload_of(json.dumps({"DisplayName": "", "Objects": [node]}))


@pytest.mark.parametrize(
    ("payload", "says"),
    [
        ("", "the save is empty"),
        ("not base64!", "not Base64"),
        ("größe", "not Base64"),
        (base64.b64encode(b"plain").decode(), "not zlib data"),
        (base64.b64encode(zlib.compress(SAVE_TEXT.encode())[:-9]).decode(), "breaks off"),
        (base64.b64encode(zlib.compress(SAVE_TEXT.encode()) + b"tail").decode(), "4 bytes follow"),
        (payload_of(b"\xff\xfe"), "not UTF-8 at byte 0"),
        (payload_of("{"), "the save is not JSON"),
        (payload_of("[" * 99_999), "nested deeper"),
        (payload_of("[]"), "the save has no DisplayName"),
        (payload_of('{"DisplayName":"x"}'), "the save has no Objects"),
        (payload_of('{"DisplayName":"x","Objects":{}}'), "Objects has to be a list"),
        (payload_of('{"DisplayName":"x","Objects":[3]}'), "Objects[0] has no type"),
        (damaged(type="node"), "type has to be an integer"),
        (damaged(type=-1), "has the type -1"),
        (damaged(x="0"), "x has to be a number"),
        (damaged(id=True), "id has to be an integer"),
        (damaged(isKinematic=1), "isKinematic has to be true or false"),
        (damaged(type=2), "Objects[0] has no anchorAID"),
        (damaged(type=2, anchorAID=1, anchorBID=2, splitForDrawBridge=True), "drawbridge"),
    ],
)
def test_a_damaged_save_is_refused_in_one_line(payload: str, says: str) -> None:
    with pytest.raises(SaveFileError) as caught:
        decode(payload)
    assert says in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_save_that_inflates_without_bound_is_refused() -> None:
    with pytest.raises(SaveFileError, match="inflates to more than"):
        decode(payload_of(b" " * (savefile.MAX_SAVE_BYTES + 1)))


@given(st.binary())
def test_no_bytes_break_the_reader(data: bytes) -> None:
    for payload in (data, payload_of(data)):
        with pytest.raises(SaveFileError):
            decode(payload)


@pytest.mark.parametrize(
    ("bridge", "says"),
    [
        (Bridge(BRIDGE.nodes, (Edge(4, 1, 1, 9),)), "edge 4 joins nodes 1 and 9"),
        (Bridge(BRIDGE.nodes, (Edge(4, 0, 1, 2),)), "the type 0"),
        (Bridge((Node(1, float("inf"), 0.0),), ()), "node 1 holds the number inf"),
        (Bridge(BRIDGE.nodes, (Edge(4, 1, 1, 2, float("nan")),)), "edge 4 holds the number nan"),
    ],
)
def test_what_a_save_cannot_hold_is_not_written(bridge: Bridge, says: str) -> None:
    with pytest.raises(SaveFileError, match=says):
        encode(bridge, "x")


def test_a_name_that_is_no_unicode_is_not_written() -> None:
    with pytest.raises(SaveFileError, match="UTF-8"):
        encode(BRIDGE, "\ud800")


# Odd spacing, numerals, key order and decoys that rewriting the JSON would change or trip over.
LAYOUT = (
    '\ufeff{ "z": 1.50, "a":"saveFiles" ,\r\n "nested": {"saveFiles": ["decoy"], "n": 1E+2},\n'
    ' "say \\"saveFiles\\":[": "]}",\n "saveFiles" : [ "PAYLOAD", "second" ], "m": {"b":1,"a":[0.0,-0]}\t}\n'
)


def test_a_layout_keeps_every_other_character() -> None:
    layout = read_layout(LAYOUT.replace("PAYLOAD", payload_of(SAVE_TEXT)))
    assert (layout.bridge, layout.display_name) == (BRIDGE, "Größe 3")
    changed = Bridge(BRIDGE.nodes[:2], (Edge(9, 3, 1, 2),))
    text = write_layout(layout, changed)
    assert text == LAYOUT.replace("PAYLOAD", encode(changed, "Größe 3"))
    assert read_layout(text).bridge == changed


def test_a_layout_that_escapes_slashes_goes_on_doing_so() -> None:
    payload = encode(BRIDGE, "Größe 3")
    assert "/" in payload
    text = LAYOUT.replace("PAYLOAD", payload.replace("/", "\\/"))
    assert write_layout(read_layout(text), BRIDGE) == text


def test_a_new_layout_holds_one_save() -> None:
    layout = read_layout(new_layout(BRIDGE, "Größe 3"))
    assert (layout.bridge, layout.display_name) == (BRIDGE, "Größe 3")


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "the layout is not JSON"),
        ("[]", "the layout has no saveFiles"),
        ('{"saveFiles": "x"}', "saveFiles has to be a list"),
        ('{"saveFiles": []}', r"saveFiles\[0\] has to be the payload"),
        ('{"saveFiles": [null]}', r"saveFiles\[0\] has to be the payload"),
        ('{"saveFiles": ["?"]}', "not Base64"),
    ],
)
def test_a_layout_without_a_save_is_refused(text: str, says: str) -> None:
    with pytest.raises(SaveFileError, match=says):
        read_layout(text)
