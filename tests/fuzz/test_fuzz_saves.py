"""Whatever a save or layout file holds: a design, or one line that says what is wrong with it."""

from __future__ import annotations

import base64
import json
import zlib
from pathlib import Path
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from evalkit.errors import UsageError
from evalkit.types import Candidate
from evalkit_polybridge import savefile
from evalkit_polybridge.contract import MAX_OBJECTS
from evalkit_polybridge.designs import bridge_from_json
from evalkit_polybridge.graph import Bridge, Edge, Node
from evalkit_polybridge.trial import open_design

BRIDGE = Bridge((Node(1, 0.0, 0.0, True), Node(2, 8.0, 0.0, True), Node(3, 4.0, 1.0)), (Edge(4, 2, 1, 3),))


def opened(folder: Path, content: bytes) -> None:
    path = folder / "design"
    path.write_bytes(content)
    problem, design = "", None
    try:
        design = open_design(path, {})
    except UsageError as error:
        problem = str(error)
    assert "\n" not in problem
    assert len(problem) < 3000
    if isinstance(design, Candidate):
        bridge = bridge_from_json(design.data)
        assert len(bridge.nodes) + len(bridge.edges) <= MAX_OBJECTS
        assert len(design.sha256) == 64


def damaged(data: st.DataObject, content: bytes) -> bytes:
    """The bytes with some of them changed, dropped or doubled."""
    changed = bytearray(content)
    for _ in range(data.draw(st.integers(0, 4))):
        at = data.draw(st.integers(0, max(0, len(changed) - 1)))
        piece = data.draw(st.sampled_from((b"", b"\0", b"\xff", b'"', b"[", b"e", b"9" * 50, b" ", b"\\/")))
        changed[at : at + data.draw(st.integers(0, 3))] = piece
    return bytes(changed)


@given(data=st.data())
def test_damaged_saves(tmp_path_factory: Any, data: st.DataObject) -> None:
    inner = damaged(data, json.dumps(savefile.to_document(BRIDGE, "x")).encode())
    packed = damaged(data, zlib.compress(inner, data.draw(st.integers(0, 9))))
    payload = damaged(data, base64.b64encode(packed))
    layout = damaged(data, b'{"saveFiles": ["' + payload + b'"], "other": {"saveFiles": [1]}}')
    for content in (inner, payload, layout):
        opened(tmp_path_factory.getbasetemp(), content)


@given(data=st.data())
def test_odd_saves(
    tmp_path_factory: Any, hostile_values: st.SearchStrategy[Any], data: st.DataObject
) -> None:
    document = savefile.to_document(BRIDGE, "x")
    for item in document["Objects"]:
        names = ("type", "x", "id", "anchorAID", "isKinematic", "splitForDrawBridge", "rate")
        item |= data.draw(st.dictionaries(st.sampled_from(names), hostile_values, max_size=1))
    document |= data.draw(st.dictionaries(st.sampled_from((*document, "y")), hostile_values, max_size=1))
    opened(tmp_path_factory.getbasetemp(), json.dumps(document).encode())
    payload = base64.b64encode(zlib.compress(json.dumps(document).encode())).decode()
    saves = data.draw(st.just([payload]) | st.lists(st.just(payload) | hostile_values, max_size=3))
    opened(tmp_path_factory.getbasetemp(), json.dumps({"saveFiles": saves}).encode())
