"""Save files of the game: a bridge as compact JSON, zlib-compressed, in Base64; and layouts that hold one.

The JSON is {"DisplayName", "Objects"}: a node is an object of type 0 whose two anchors are 0 and which says
`isKinematic` only when true; any other type is a member, whose x, y are the midpoint between its ends. Types
that the benchmark has no material for are kept: it is for the rules to refuse them. Midpoints are made
anew when a bridge is written, keys this module doesn't know are not kept.
"""

from __future__ import annotations

import base64
import binascii
import json
import math
import re
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice, tee
from typing import Any

from evalkit_polybridge import strictjson
from evalkit_polybridge.contract import MAX_ID, MAX_OBJECTS
from evalkit_polybridge.graph import Bridge, Edge, Node

#: A payload that inflates to more bytes than this is refused.
MAX_SAVE_BYTES = 2 * 2**20

_NODE_TYPE = 0
# A midpoint of coordinates with 4 decimals has 5.
_MIDPOINT_DECIMALS = 5
_TOKEN = re.compile(r'"(?:[^"\\]++|\\.)*+"|[\[\]{}:]')


class SaveFileError(ValueError):
    """A save or layout that can't be read or written; the message is one line: what, where, what to do."""


@dataclass(frozen=True, slots=True)
class Layout:
    """A layout file: its text, the bridge of its first save and the save's display name.

    `start` and `end` delimit that save's string literal (quotes included) in `text`.
    """

    text: str
    start: int
    end: int
    bridge: Bridge
    display_name: str


def encode(bridge: Bridge, display_name: str) -> str:
    """The Base64 payload of a bridge; raises `SaveFileError` like `to_document`."""
    text = json.dumps(to_document(bridge, display_name), ensure_ascii=False, separators=(",", ":"))
    try:
        data = text.encode()
    except UnicodeEncodeError:
        raise SaveFileError(
            f"the name {display_name!r} can't be written as UTF-8: rename the level"
        ) from None
    return base64.b64encode(zlib.compress(data)).decode("ascii")


def decode(payload: str | bytes) -> tuple[Bridge, str]:
    """Bridge and display name of a payload, as in a layout's `saveFiles` or in a bare slot file.

    White space around it and JSON's `\\/` for `/` are allowed, any zlib level is. Raises `SaveFileError`.
    """
    if isinstance(payload, bytes):
        payload = payload.decode("latin-1")
    compact = payload.strip().replace("\\/", "/")
    if not compact:
        raise SaveFileError("the save is empty: pass the payload of a save file")
    try:
        compressed = base64.b64decode(compact, validate=True)
    except (binascii.Error, ValueError) as error:
        raise SaveFileError(f"the save is not Base64 ({error}): pass the payload alone") from None
    try:
        text = _inflated(compressed).decode()
    except UnicodeDecodeError as error:
        raise SaveFileError(f"the save is not UTF-8 at byte {error.start}: it is damaged") from None
    return from_document(_json(text, "the save"))


def to_document(bridge: Bridge, display_name: str) -> dict[str, Any]:
    """The decoded save as JSON values, nodes before members, keys in the game's order.

    Raises `SaveFileError` for an edge without its ends, a member of type 0 and numbers that aren't finite.
    """
    nodes = bridge.node_by_id()
    objects = [_node_object(node) for node in bridge.nodes]
    objects += [_edge_object(edge, nodes) for edge in bridge.edges]
    return {"DisplayName": display_name, "Objects": objects}


def from_document(document: Any) -> tuple[Bridge, str]:
    """Bridge and display name of a decoded save; raises `SaveFileError` where it isn't one.

    A save holds no more objects, and no larger ids, than a reply may.
    """
    name = _field(document, "the save", "DisplayName", str)
    objects = _field(document, "the save", "Objects", list)
    if len(objects) > MAX_OBJECTS:
        raise SaveFileError(
            f"the save holds {len(objects)} nodes and members, at most {MAX_OBJECTS} are read"
        )
    nodes: list[Node] = []
    edges: list[Edge] = []
    for index, item in enumerate(objects):
        where = f"Objects[{index}]"
        kind = _field(item, where, "type", int)
        if kind == _NODE_TYPE:
            nodes.append(_read_node(item, where))
        else:
            edges.append(_read_edge(item, where, kind))
    return Bridge(tuple(nodes), tuple(edges)), name


def read_layout(text: str) -> Layout:
    """A layout file and the bridge in its first save, element 0 of `saveFiles`; raises `SaveFileError`."""
    document = _json(text.removeprefix("\ufeff"), "the layout")
    saves = _field(document, "the layout", "saveFiles", list)
    if not saves or not isinstance(saves[0], str):
        raise SaveFileError("the layout: saveFiles[0] has to be the payload of a save, a string")
    start, end = _first_save(text)
    bridge, name = decode(saves[0])
    return Layout(text, start, end, bridge, name)


def write_layout(layout: Layout, bridge: Bridge) -> str:
    """The layout's text with `bridge` in its first save; every other character stays as it is."""
    literal = json.dumps(encode(bridge, layout.display_name))
    if "\\/" in layout.text[layout.start : layout.end]:
        literal = literal.replace("/", "\\/")
    return layout.text[: layout.start] + literal + layout.text[layout.end :]


def new_layout(bridge: Bridge, display_name: str) -> str:
    """The text of a layout that holds nothing but this one save."""
    return json.dumps({"saveFiles": [encode(bridge, display_name)]}, indent=2) + "\n"


def _node_object(node: Node) -> dict[str, Any]:
    where = f"node {node.id}"
    place = {"x": _finite(node.x, where), "y": _finite(node.y, where)}
    item: dict[str, Any] = {"type": _NODE_TYPE, **place, "id": node.id, "anchorAID": 0, "anchorBID": 0}
    return {**item, "isKinematic": True} if node.fixed else item


def _edge_object(edge: Edge, nodes: dict[int, Node]) -> dict[str, Any]:
    where = f"edge {edge.id}"
    if edge.material == _NODE_TYPE:
        raise SaveFileError(f"{where} has the type 0, which means a node: give it a material")
    if edge.a not in nodes or edge.b not in nodes:
        raise SaveFileError(
            f"{where} joins nodes {edge.a} and {edge.b}, which are not both in the bridge: add them"
        )
    a, b = nodes[edge.a], nodes[edge.b]
    return {
        "type": edge.material,
        "x": round((a.x + b.x) / 2.0, _MIDPOINT_DECIMALS),
        "y": round((a.y + b.y) / 2.0, _MIDPOINT_DECIMALS),
        "id": edge.id,
        "anchorAID": edge.a,
        "anchorBID": edge.b,
        "splitForDrawBridge": False,
        "rate": _finite(edge.rate, where),
    }


def _read_node(item: dict[str, Any], where: str) -> Node:
    fixed = item.get("isKinematic", False)
    if not isinstance(fixed, bool):
        raise SaveFileError(f"{where}: isKinematic has to be true or false")
    x, y = _number(item, where, "x"), _number(item, where, "y")
    return Node(_field(item, where, "id", int), x, y, fixed)


def _read_edge(item: dict[str, Any], where: str, kind: int) -> Edge:
    if kind < 0:
        raise SaveFileError(f"{where} has the type {kind}: 0 is a node and members are positive")
    if item.get("splitForDrawBridge", False) is not False:
        raise SaveFileError(f"{where} splits for a drawbridge, which the benchmark does not have: remove it")
    edge_id, a, b = (_field(item, where, name, int) for name in ("id", "anchorAID", "anchorBID"))
    return Edge(edge_id, kind, a, b, _number(item, where, "rate") if "rate" in item else 0.0)


def _number(item: dict[str, Any], where: str, name: str) -> float:
    value = item.get(name)
    if type(value) is not int and type(value) is not float:
        raise SaveFileError(f"{where}: {name} has to be a number")
    return float(value)


def _field(item: Any, where: str, name: str, kind: type) -> Any:
    """The field `name` of `item`, of exactly the type `kind` (so that true is no integer)."""
    if not isinstance(item, dict) or name not in item:
        raise SaveFileError(f"{where} has no {name}: it is not in the save format")
    if type(item[name]) is not kind:
        words = {str: "a string", int: "an integer", list: "a list"}
        raise SaveFileError(f"{where}: {name} has to be {words[kind]}")
    if kind is int and abs(item[name]) > MAX_ID:
        raise SaveFileError(f"{where}: {name} is {item[name]}, numbers up to {MAX_ID} are read")
    return item[name]


def _finite(value: float, where: str) -> float:
    if not math.isfinite(value):
        raise SaveFileError(f"{where} holds the number {value}: a save needs finite numbers")
    return value


def _json(text: str, where: str) -> Any:
    try:
        return strictjson.loads(text)
    except strictjson.StrictJsonError as error:
        raise SaveFileError(f"{where} is not JSON: {error}") from None


def _inflated(compressed: bytes) -> bytes:
    inflater = zlib.decompressobj()
    try:
        data = inflater.decompress(compressed, MAX_SAVE_BYTES + 1)
    except zlib.error as error:
        raise SaveFileError(f"the save is not zlib data ({error}): it is damaged") from None
    if len(data) > MAX_SAVE_BYTES:
        raise SaveFileError(f"the save inflates to more than {MAX_SAVE_BYTES} bytes: refused")
    if inflater.unused_data:
        raise SaveFileError(
            f"{len(inflater.unused_data)} bytes follow the save's zlib data: pass the payload alone"
        )
    if not inflater.eof:
        raise SaveFileError(f"the save breaks off after {len(compressed)} compressed bytes: it is damaged")
    return data


def _first_save(text: str) -> tuple[int, int]:
    """Where the first string of the top level's `saveFiles` begins and ends in a layout known to have one."""
    depth = 0
    for key, colon, bracket, save in _windows(text):
        if depth == 1 and colon[0] == ":" and bracket[0] == "[" and json.loads(key[0]) == "saveFiles":
            return save.span()
        depth += (key[0] in "[{") - (key[0] in "]}")
    raise SaveFileError("the layout has no saveFiles at its top level")


def _windows(text: str) -> Iterator[tuple[re.Match[str], ...]]:
    """Every four tokens that follow each other; the text may be long and full of them, so none are kept."""
    shifted = (islice(tokens, i, None) for i, tokens in enumerate(tee(_TOKEN.finditer(text), 4)))
    return zip(*shifted, strict=False)
