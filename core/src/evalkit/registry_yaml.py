"""YAML as plain values with the line of every key and item.

The scalars are those of YAML 1.2 (`no` and `2024-01-01` are text, `1e3` is a number). Refused, with the
line: duplicate keys, keys that aren't text, tags, numbers that JSON doesn't have, aliases that blow up.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from evalkit.errors import RegistryError

MAX_BYTES = 1_000_000
MAX_NODES = 100_000
MAX_DEPTH = 50

Place = tuple[str | int, ...]
"""Keys and list positions that lead to a value."""


@dataclass(slots=True)
class Document:
    """A YAML document: its value, and the line (from 1) of each place in it."""

    value: Any
    lines: dict[Place, int] = field(default_factory=dict)

    def line(self, place: Place) -> int:
        """Line of a place, or of the nearest one around it."""
        while place and place not in self.lines:
            place = place[:-1]
        return self.lines.get(place, 1)


class _Loader(yaml.SafeLoader):
    yaml_implicit_resolvers = {}  # noqa: RUF012 - the name and form that PyYAML reads


_TAG = "tag:yaml.org,2002:"
_MERGE = _TAG + "merge"
for _name, _pattern, _first in (
    ("bool", r"true|True|TRUE|false|False|FALSE", "tTfF"),
    ("null", r"~|null|Null|NULL|", ["~", "n", "N", ""]),
    ("int", r"[-+]?[0-9]+", "-+0123456789"),
    ("float", r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?", "-+.0123456789"),
    ("float", r"[-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN)", "-+."),
    ("merge", r"<<", "<"),
):
    _Loader.add_implicit_resolver(_TAG + _name, re.compile(rf"^(?:{_pattern})$"), list(_first))


def read_yaml(path: Path) -> Document:
    """Read a file. RegistryError says which line is wrong, or why the file can't be read."""
    return parse_yaml(_read_text(path), path)


def parse_yaml(text: str, source: object) -> Document:
    """Parse a text; `source` names it in errors (RegistryError)."""
    try:
        node = _Loader(text).get_single_node()
        document = Document(None)
        if node is not None:
            document.value = _Builder(source, document.lines).build(node, (), 0)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        problem = ", ".join(filter(None, (error.context, error.problem)))
        if "'\\t'" in problem:
            problem = "a tab can't indent YAML, use blanks"
        raise RegistryError(problem, source, mark.line + 1 if mark else None) from error
    except yaml.reader.ReaderError as error:
        line = text.count("\n", 0, error.position) + 1
        raise RegistryError("a character that YAML doesn't allow", source, line) from error
    except RecursionError as error:
        raise RegistryError("it is nested too deeply", source) from error
    return document


def _read_text(path: Path) -> str:
    try:
        with path.open("rb") as file:
            data = file.read(MAX_BYTES + 1)
    except OSError as error:
        raise RegistryError(error.strerror or type(error).__name__, path) from error
    if len(data) > MAX_BYTES:
        raise RegistryError(f"it is larger than {MAX_BYTES} bytes", path)
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise RegistryError("it is not UTF-8", path, data.count(b"\n", 0, error.start) + 1) from error


class _Builder:
    """Turns the node graph of one document into values and notes their lines."""

    def __init__(self, source: object, lines: dict[Place, int]) -> None:
        self._source = source
        self._lines = lines
        self._nodes = 0

    def build(self, node: yaml.Node, place: Place, depth: int) -> Any:
        self._nodes += 1
        if self._nodes > MAX_NODES:
            raise self._error(f"more than {MAX_NODES} values; do aliases multiply?", node)
        if depth > MAX_DEPTH:
            raise self._error("it is nested too deeply", node)
        self._lines.setdefault(place, node.start_mark.line + 1)
        if isinstance(node, yaml.MappingNode):
            return self._mapping(node, place, depth)
        if isinstance(node, yaml.SequenceNode):
            self._refuse_tag(node, "seq")
            return [self.build(item, (*place, i), depth + 1) for i, item in enumerate(node.value)]
        return self._scalar(node)

    def _mapping(self, node: yaml.MappingNode, place: Place, depth: int) -> dict[str, Any]:
        self._refuse_tag(node, "map")
        own: dict[str, Any] = {}
        merged: dict[str, Any] = {}
        merges: list[yaml.Node] = []
        for key_node, value_node in node.value:
            if key_node.tag == _MERGE:
                merges += value_node.value if isinstance(value_node, yaml.SequenceNode) else [value_node]
                continue
            key = self._key(key_node)
            if key in own:
                raise self._error(f"the key {key!r} appears twice", key_node)
            self._lines[(*place, key)] = key_node.start_mark.line + 1
            own[key] = self.build(value_node, (*place, key), depth + 1)
        for source in merges:
            if not isinstance(source, yaml.MappingNode):
                raise self._error("<< wants a mapping", source)
            for key, value in self._mapping_without_lines(source, depth).items():
                merged.setdefault(key, value)
        return {**merged, **own}

    def _mapping_without_lines(self, node: yaml.MappingNode, depth: int) -> dict[str, Any]:
        """A merged mapping: errors in its values point to the line that merges it."""
        lines, self._lines = self._lines, {}
        try:
            value = self.build(node, (), depth + 1)
        finally:
            self._lines = lines
        return dict(value)

    def _key(self, node: yaml.Node) -> str:
        key = self._scalar(node) if isinstance(node, yaml.ScalarNode) else None
        if not isinstance(key, str):
            raise self._error("a key has to be text (put it in quotes)", node)
        return key

    def _scalar(self, node: yaml.Node) -> Any:
        text = str(node.value)
        if node.tag == _TAG + "str" or node.tag == _MERGE:
            return text
        if node.tag == _TAG + "null":
            return None
        if node.tag == _TAG + "bool":
            return text.lower() == "true"
        try:
            if node.tag == _TAG + "int":
                return int(text)
            if node.tag == _TAG + "float":
                number = float(text)
                if math.isfinite(number):
                    return number
                raise self._error(f"{text} is not a finite number", node)
        except ValueError as error:
            raise self._error(f"{text[:40]!r} is not a number that fits", node) from error
        raise self._error(f"the tag {node.tag!r} is not supported", node)

    def _refuse_tag(self, node: yaml.Node, kind: str) -> None:
        if node.tag != _TAG + kind:
            raise self._error(f"the tag {node.tag!r} is not supported", node)

    def _error(self, message: str, node: yaml.Node) -> RegistryError:
        return RegistryError(message, self._source, node.start_mark.line + 1)
