"""What a model answers: one raw JSON object with a complete design; read strictly, refused with reasons.

    {"action": "modify", "thought_process": "...",
     "nodes": [{"id": 5, "x": 2.0, "y": 0.0, "isKinematic": false}, ...],
     "edges": [{"id": 9, "type": 1, "anchorAID": 1, "anchorBID": 5, "rate": 0}, ...]}

`isKinematic` may be left out (false), and so may `rate` (0); everything else has to be there. Fields beyond
these are ignored with an advisory. Coordinates are rounded to 4 decimals. Here a reply is only read: whether
the design is legal in a level is the business of `rules`.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from evalkit_polybridge import strictjson
from evalkit_polybridge.constants import COORDINATE_DECIMALS
from evalkit_polybridge.designs import bridge_to_json
from evalkit_polybridge.graph import Bridge, Edge, Node
from evalkit_polybridge.rules import MAX_COORDINATE_M, Problem, is_legal, out_of_range
from evalkit_polybridge.strictjson import quoted

#: Longest reply that is read, in characters, and largest design, in nodes and edges together.
MAX_REPLY_CHARACTERS = 1_000_000
MAX_OBJECTS = 2_000
MAX_ID = 2**31 - 1
#: At most this many problems of one reply are listed, of every code one or more; the last one says how many
#: more there are.
MAX_PROBLEMS = 20

#: Codes of `parse_reply`, besides OUT_OF_RANGE, which `rules` has too.
CONTRACT_CODES = ("TOO_LARGE", "PARSE_ERROR", "ACTION", "MISSING_FIELD", "WRONG_TYPE", "UNKNOWN_FIELD")

Parser = Literal["strict", "fenced"]

_FENCE_OPENING = re.compile(r"```[A-Za-z0-9]*\s*")
_REPLY_FIELDS = ("action", "thought_process", "nodes", "edges")
_NODE_FIELDS = ("id", "x", "y", "isKinematic")
_EDGE_FIELDS = ("id", "type", "anchorAID", "anchorBID", "rate")


@dataclass(frozen=True, slots=True)
class Reply:
    """A reply as read. `bridge` is None if and only if some problem is no mere advisory.

    `thought_process` is what could be read of it (lone surrogates replaced, so that it can be stored); it is
    never scored.
    """

    bridge: Bridge | None
    thought_process: str
    problems: tuple[Problem, ...]


def parse_reply(text: str, *, parser: Parser = "strict") -> Reply:
    """The design in a model's reply, or everything that is wrong with the reply's form.

    "strict" accepts nothing but a JSON object; "fenced" also accepts one Markdown fence around it (and
    nothing outside the fence). Never raises, whatever the text.
    """
    if len(text) > MAX_REPLY_CHARACTERS:
        message = f"the reply has {len(text)} characters, at most {MAX_REPLY_CHARACTERS} are read: shorten it"
        return _refused(Problem("TOO_LARGE", message, (), len(text), MAX_REPLY_CHARACTERS))
    try:
        document = strictjson.loads(_without_fence(text) if parser == "fenced" else text)
    except strictjson.StrictJsonError as error:
        message = f"{error}. Reply with exactly one raw JSON object and nothing else"
        return _refused(Problem("PARSE_ERROR", message, (), error.position))
    if not isinstance(document, dict):
        message = f"the top level is {_kind(document)}. Reply with exactly one raw JSON object"
        return _refused(Problem("PARSE_ERROR", message))
    return _Reader().reply(document)


def format_reply(bridge: Bridge, thought_process: str) -> str:
    """The compact JSON text of a reply with this design: the inverse of `parse_reply`.

    Coordinates are written in full. Raises `ValueError` for numbers that aren't finite.
    """
    document = {
        "action": "modify",
        "thought_process": storable(thought_process),
        **bridge_to_json(bridge),
    }
    return json.dumps(document, ensure_ascii=False, allow_nan=False, separators=(",", ":"))


def rounded(bridge: Bridge) -> Bridge:
    """A bridge from elsewhere with its coordinates as they would be in a reply: rounded to 4 decimals."""
    nodes = tuple(replace(node, x=_rounded(node.x), y=_rounded(node.y)) for node in bridge.nodes)
    return Bridge(nodes, bridge.edges)


def storable(text: str) -> str:
    """`text` with every lone surrogate replaced by U+FFFD, so that it can be encoded as UTF-8."""
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def _without_fence(text: str) -> str:
    body = text.strip()
    opening, _, rest = body.partition("\n")
    return rest[:-3] if _FENCE_OPENING.fullmatch(opening) and rest.endswith("```") else text


def _rounded(coordinate_m: float) -> float:
    return round(coordinate_m, COORDINATE_DECIMALS) + 0.0  # adding zero turns −0.0 into 0.0


def _refused(problem: Problem) -> Reply:
    return Reply(None, "", (problem,))


@dataclass(slots=True)
class _Reader:
    """Reads one reply's document and collects what is wrong with it."""

    problems: list[Problem] = field(default_factory=list)
    unknown: Counter[tuple[str, str]] = field(default_factory=Counter)

    def reply(self, document: dict[str, Any]) -> Reply:
        self._note_unknown("the reply", document, _REPLY_FIELDS)
        if document.get("action") != "modify":
            given = f"is {_shown(document['action'])}" if "action" in document else "is missing"
            self._add("ACTION", f'the action {given}: it has to be "modify"')
        thought = self._value(document, "the reply", "thought_process")
        if "thought_process" in document and not isinstance(thought, str):
            self._wrong("the reply", "thought_process", "a string", thought)
        node_items, edge_items = self._list(document, "nodes"), self._list(document, "edges")
        size = len(node_items) + len(edge_items)
        if size > MAX_OBJECTS:
            self._add(
                "TOO_LARGE", f"{size} nodes and edges, at most {MAX_OBJECTS} are read", size, MAX_OBJECTS
            )
            node_items, edge_items = [], []
        nodes = [self._node(item, index) for index, item in enumerate(node_items)]
        edges = [self._edge(item, index) for index, item in enumerate(edge_items)]
        design = Bridge(tuple(n for n in nodes if n), tuple(e for e in edges if e))
        problems = self._listed()
        thought = storable(thought) if isinstance(thought, str) else ""
        return Reply(design if is_legal(problems) else None, thought, problems)

    def _node(self, item: Any, index: int) -> Node | None:
        where = f"nodes[{index}]"
        before = len(self.problems)
        if not self._is_object(item, where, "nodes", _NODE_FIELDS):
            return None
        node_id = self._id(item, where, "id")
        x, y = self._coordinate(item, where, "x"), self._coordinate(item, where, "y")
        fixed = item.get("isKinematic", False)
        if not isinstance(fixed, bool):
            self._wrong(where, "isKinematic", "true or false", fixed)
        if len(self.problems) > before:
            return None
        node = Node(node_id, x, y, fixed)
        if max(abs(x), abs(y)) > MAX_COORDINATE_M:
            self.problems.append(out_of_range(f"{where} (node {node_id}) is at ({x:g}, {y:g})", node))
        return node

    def _edge(self, item: Any, index: int) -> Edge | None:
        where = f"edges[{index}]"
        before = len(self.problems)
        if not self._is_object(item, where, "edges", _EDGE_FIELDS):
            return None
        edge_id, a, b = (self._id(item, where, name) for name in ("id", "anchorAID", "anchorBID"))
        material = self._whole(item, where, "type", least=0)
        rate = self._number(item, where, "rate", default=0.0)
        return Edge(edge_id, material, a, b, rate) if len(self.problems) == before else None

    def _list(self, document: dict[str, Any], name: str) -> list[Any]:
        value = self._value(document, "the reply", name)
        if isinstance(value, list):
            return value
        if name in document:
            self._wrong("the reply", name, "a list", value)
        return []

    def _is_object(self, item: Any, where: str, kind: str, fields: tuple[str, ...]) -> bool:
        if not isinstance(item, dict):
            self._add("WRONG_TYPE", f"{where} has to be an object, not {_shown(item)}")
            return False
        self._note_unknown(kind, item, fields)
        return True

    def _value(self, item: dict[str, Any], where: str, name: str) -> Any:
        if name not in item:
            self._add("MISSING_FIELD", f"{where} has no {name}: add it")
        return item.get(name)

    def _id(self, item: dict[str, Any], where: str, name: str) -> int:
        return self._whole(item, where, name, least=1)

    def _whole(self, item: dict[str, Any], where: str, name: str, *, least: int) -> int:
        """An integer from `least` to `MAX_ID`; where it isn't one a problem is noted and 0 returned."""
        value = self._value(item, where, name)
        if type(value) is int and least <= value <= MAX_ID:
            return value
        if type(value) is int:
            self._add("OUT_OF_RANGE", f"{where}: {name} is {_shown(value)}: use {least} to {MAX_ID}")
        elif name in item:
            self._wrong(where, name, "an integer", value)
        return 0

    def _coordinate(self, item: dict[str, Any], where: str, name: str) -> float:
        return _rounded(self._number(item, where, name))

    def _number(self, item: dict[str, Any], where: str, name: str, default: float | None = None) -> float:
        """A finite number; where it isn't one a problem is noted and 0 returned."""
        value = self._value(item, where, name) if default is None else item.get(name, default)
        if type(value) is int or type(value) is float:
            return float(value)
        if name in item:
            self._wrong(where, name, "a number", value)
        return 0.0

    def _wrong(self, where: str, name: str, wanted: str, value: Any) -> None:
        self._add("WRONG_TYPE", f"{where}: {name} has to be {wanted}, not {_shown(value)}")

    def _add(self, code: str, message: str, value: float | None = None, limit: float | None = None) -> None:
        self.problems.append(Problem(code, message, (), value, limit))

    def _note_unknown(self, kind: str, item: dict[str, Any], known: tuple[str, ...]) -> None:
        self.unknown.update((kind, name) for name in item if name not in known)

    def _listed(self) -> tuple[Problem, ...]:
        """Violations, then advisories, up to `MAX_PROBLEMS`; of every code at least the first."""
        ignored = [
            Problem("UNKNOWN_FIELD", f"{quoted(name)} in {kind} ({count} ×) is ignored", advisory=True)
            for (kind, name), count in self.unknown.items()
        ]
        found = [*self.problems, *ignored]
        codes = [problem.code for problem in found]
        first_of_each = [codes.index(code) for code in dict.fromkeys(codes)]
        places = list(dict.fromkeys([*first_of_each, *range(len(found))]))
        listed = [found[place] for place in sorted(places[:MAX_PROBLEMS])]
        if (hidden := len(found) - len(listed)) > 0:
            listed[-1] = replace(listed[-1], message=f"{listed[-1].message} … and {hidden} more")
        return tuple(listed)


def _kind(value: Any) -> str:
    """What a JSON value is, with its article."""
    if value is None:
        return "null"
    names = {bool: "true or false", int: "a number", float: "a number", str: "a string", list: "a list"}
    return names.get(type(value), "an object")


def _shown(value: Any) -> str:
    """A JSON value in a message: scalars as written (shortened), lists and objects by kind."""
    if isinstance(value, list | dict):
        return _kind(value)
    return quoted(value) if isinstance(value, str) else json.dumps(value)
