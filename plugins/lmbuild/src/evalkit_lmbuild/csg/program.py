"""CSG programs as agents write them, and the rules a program has to keep before anything is built.

A program is `{"nodes": [...], "output": id}`; a node is `{"id": ..., "op": ..., fields of the operation}` and
refers to earlier nodes by their ids. Checking needs no geometry library.
"""

from __future__ import annotations

import difflib
import json
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import cast

from evalkit_lmbuild.design import Vector

MAX_NODES = 96
MIN_DIMENSION_M = 0.0005
MAX_DIMENSION_M = 3.0
MAX_ROTATION_DEG = 3600.0
MIN_POLYGON_AREA_M2 = 0.25e-6
MAX_POLYGON_POINTS = 512
"""Enough for any gear; a ring that crosses itself has crossings that grow with the square of its points."""
MAX_INPUTS = MAX_NODES
MAX_TEXT = 500_000
"""Characters of a program given as JSON text: 96 nodes with the longest polygons fit."""

Ring = tuple[tuple[float, float], ...]
Value = float | tuple[float, ...] | Ring


class ProgramError(ValueError):
    """A program that can't be compiled; the text names the node and says what to do."""


@dataclass(frozen=True)
class Node:
    """A checked node: `inputs` are ids of earlier nodes, `values` the other fields (m, degrees)."""

    id: str
    op: str
    inputs: tuple[str, ...]
    values: Mapping[str, Value]

    def number(self, name: str, default: float = 0.0) -> float:
        """A field that holds one number."""
        return cast(float, self.values.get(name, default))

    def vector(self, name: str) -> Vector:
        """A field that holds three numbers; zeros where it is absent."""
        return cast(Vector, self.values.get(name, (0.0, 0.0, 0.0)))

    @property
    def ring(self) -> Ring:
        """The corners of an extrude's polygon or a revolve's profile, counter-clockwise."""
        return cast(Ring, self.values["polygon" if self.op == "extrude" else "profile"])


@dataclass(frozen=True)
class Program:
    """A checked program: nodes in order, and the id of the one that is the result."""

    nodes: tuple[Node, ...]
    output: str
    warnings: tuple[str, ...] = ()

    def needed(self) -> frozenset[str]:
        """Ids of the nodes that the output depends on, itself included."""
        wanted = {self.output}
        for node in reversed(self.nodes):
            if node.id in wanted:
                wanted.update(node.inputs)
        return frozenset(wanted)


def show(value: object) -> str:
    """A value as it is quoted in an error: JSON, cut to 40 characters whatever its size."""
    if isinstance(value, str):
        text = json.dumps(value[:41], ensure_ascii=False)
    elif isinstance(value, bool) or value is None:
        text = json.dumps(value)
    elif isinstance(value, int):
        text = str(value) if abs(value) < 10**20 else "a huge integer"
    elif isinstance(value, float):
        text = str(value)
    elif isinstance(value, Mapping):
        text = "an object"
    elif isinstance(value, list | tuple):
        text = f"a list of {len(value)}"
    else:
        text = f"a {type(value).__name__}"
    return text if len(text) <= 40 else text[:39] + "…"


def _number(value: object, low: float, high: float, wanted: str) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ValueError(f"must be {wanted}, not {show(value)}")
    if not low <= value <= high:  # NaN fails every comparison
        raise ValueError(f"must be {wanted}, not {show(value)}")
    return float(value)


def _list(value: object, wanted: str) -> list[object]:
    if not isinstance(value, list | tuple):
        raise ValueError(f"must be {wanted}, not {show(value)}")
    return list(value)


def _dimension(value: object) -> float:
    return _number(value, MIN_DIMENSION_M, MAX_DIMENSION_M, "a number of 0.0005 to 3 (metres)")


def _cone_radius(value: object) -> float:
    return _number(value, 0.0, MAX_DIMENSION_M, "a number of 0 to 3 (metres)")


def _degrees(value: object) -> float:
    return _number(value, 1.0, 360.0, "a number of 1 to 360 (degrees)")


def _triple(limit: float, unit: str) -> Callable[[object], tuple[float, ...]]:
    wanted = f"three numbers between -{limit:g} and {limit:g}{unit}"

    def read(value: object) -> tuple[float, ...]:
        numbers = _list(value, wanted)
        if len(numbers) != 3:
            raise ValueError(f"must be {wanted}, not {show(value)}")
        return tuple(_number(number, -limit, limit, wanted) for number in numbers)

    return read


def _size(value: object) -> tuple[float, ...]:
    numbers = _list(value, "[x, y, z] in metres")
    if len(numbers) != 3:
        raise ValueError(f"must be [x, y, z] in metres, not {show(value)}")
    return tuple(_dimension(number) for number in numbers)


def _normal(value: object) -> tuple[float, ...]:
    normal = _triple(1000.0, "")(value)
    if math.hypot(*normal) < 1e-9:
        raise ValueError("must not be [0, 0, 0]; it is the normal of the mirror plane, such as [1, 0, 0]")
    return normal


def _points(value: object) -> Ring:
    rows = _list(value, "a list of at least 3 points [x, y]")
    if not 3 <= len(rows) <= MAX_POLYGON_POINTS:
        raise ValueError(f"must hold 3 to {MAX_POLYGON_POINTS} points, not {len(rows)}")
    points = []
    for index, row in enumerate(rows):
        pair = _list(row, f"points [x, y], but point {index} is {show(row)}")
        if len(pair) != 2:
            raise ValueError(f"must be points of two numbers, but point {index} has {len(pair)}")
        wanted = f"points in metres, each number between -3 and 3; point {index} is"
        try:
            x, y = (_number(number, -MAX_DIMENSION_M, MAX_DIMENSION_M, "") for number in pair)
        except ValueError:
            raise ValueError(f"must be {wanted} [{show(pair[0])}, {show(pair[1])}]") from None
        points.append((x, y))
    return tuple(points)


def _profile(value: object) -> Ring:
    points = _points(value)
    for index, (radius, _) in enumerate(points):
        if radius < 0:
            raise ValueError(f"is [r, z] with r ≥ 0, but point {index} has r = {radius:g}")
    return points


@dataclass(frozen=True)
class Operation:
    """What an operation takes: how many inputs, under which name, and the readers of its fields."""

    fields: Mapping[str, Callable[[object], Value]]
    optional: frozenset[str] = frozenset()
    inputs: str | None = None
    extension: bool = False

    @property
    def known(self) -> tuple[str, ...]:
        """Names of all fields, the input first."""
        return ((self.inputs,) if self.inputs else ()) + tuple(self.fields)


OPERATIONS: dict[str, Operation] = {
    "box": Operation({"size": _size}),
    "cylinder": Operation(
        {"radius": _cone_radius, "height": _dimension, "radius_top": _cone_radius}, frozenset({"radius_top"})
    ),
    "sphere": Operation({"radius": _dimension}),
    "torus": Operation({"major": _dimension, "minor": _dimension}),
    "extrude": Operation({"polygon": _points, "height": _dimension}),
    "revolve": Operation({"profile": _profile, "degrees": _degrees}, frozenset({"degrees"})),
    "union": Operation({}, inputs="inputs"),
    "difference": Operation({}, inputs="inputs"),
    "intersection": Operation({}, inputs="inputs"),
    "hull": Operation({}, inputs="inputs"),
    "transform": Operation(
        {
            "position": _triple(MAX_DIMENSION_M, " (metres)"),
            "rotation": _triple(MAX_ROTATION_DEG, " (degrees about x, y, z)"),
        },
        frozenset({"position", "rotation"}),
        inputs="input",
    ),
    "mirror": Operation({"normal": _normal}, inputs="input"),
    "shell": Operation({"thickness": _dimension}, inputs="input", extension=True),
}
"""Operations by name. `shell` is no part of the released protocol, so the strict mode refuses it."""


def signed_area(ring: Ring) -> float:
    """Area inside a ring of corners, m²; negative where they run clockwise (shoelace formula)."""
    following = (*ring[1:], ring[0])
    return sum(x0 * y1 - x1 * y0 for (x0, y0), (x1, y1) in zip(ring, following, strict=True)) / 2.0


@dataclass
class _Reader:
    strict: bool
    earlier: dict[str, None] = field(default_factory=dict)
    all_ids: frozenset[str] = frozenset()
    warnings: list[str] = field(default_factory=list)

    def complain(self, text: str, remedy: str) -> None:
        """Refuse in the strict mode, warn that it was mended in the lenient one."""
        if self.strict:
            raise ProgramError(text)
        self.warnings.append(f"{text} ({remedy})")

    def node(self, raw: object, index: int) -> Node:
        if not isinstance(raw, Mapping):
            raise ProgramError(f"nodes[{index}] must be an object with id and op, not {show(raw)}")
        name = self._id(raw, index)
        op = self._op(raw, name)
        operation = OPERATIONS[op]
        self._fields(raw, name, op, operation)
        inputs = self._inputs(raw, name, op, operation.inputs) if operation.inputs else ()
        values: dict[str, Value] = {}
        for key, read in operation.fields.items():
            if raw.get(key) is None and key in operation.optional:
                continue
            try:
                values[key] = read(raw[key])
            except ValueError as error:
                raise ProgramError(f"node {show(name)}: {key} {error}") from None
        node = Node(name, op, inputs, values)
        return self._relations(node)

    def _id(self, raw: Mapping[str, object], index: int) -> str:
        name = raw.get("id")
        if isinstance(name, int | float) and not isinstance(name, bool):
            raise ProgramError(
                f'nodes[{index}]: ids are strings; write "id": "{show(name)}" with quotes, in references too'
            )
        if not isinstance(name, str) or not 1 <= len(name) <= 64:
            raise ProgramError(f"nodes[{index}]: id must be a string of 1 to 64 characters, not {show(name)}")
        if name in self.earlier:
            raise ProgramError(f"node {show(name)}: the id is used twice; give each node its own")
        return name

    def _op(self, raw: Mapping[str, object], name: str) -> str:
        op = raw.get("op")
        if op is None and "type" in raw:
            raise ProgramError(f'node {show(name)}: name the operation in "op", not in "type"')
        known = [key for key, operation in OPERATIONS.items() if not (operation.extension and self.strict)]
        if isinstance(op, str) and op in known:
            return op
        hint = difflib.get_close_matches(op[:64].lower(), known, 1) if isinstance(op, str) else []
        advice = f"did you mean {hint[0]}?" if hint else "known: " + ", ".join(known)
        raise ProgramError(f"node {show(name)}: unknown operation {show(op)}; {advice}")

    def _fields(self, raw: Mapping[str, object], name: str, op: str, operation: Operation) -> None:
        for key in operation.known:
            if key not in raw and key not in operation.optional:
                raise ProgramError(
                    f"node {show(name)}: {op} needs {key}; it takes {', '.join(operation.known)}"
                )
        for key in raw:
            if key not in ("id", "op", *operation.known):
                known = ", ".join(operation.known)
                self.complain(
                    f"node {show(name)}: {op} has no field {show(key)}; it takes {known}", "ignored"
                )

    def _inputs(self, raw: Mapping[str, object], name: str, op: str, key: str) -> tuple[str, ...]:
        value = raw[key]
        if key == "input":
            references = [value]
        elif isinstance(value, list | tuple):
            references = list(value)
        else:
            raise ProgramError(f"node {show(name)}: inputs must be a list of ids of earlier nodes")
        if not 1 <= len(references) <= MAX_INPUTS:
            raise ProgramError(
                f"node {show(name)}: {op} takes 1 to {MAX_INPUTS} inputs, not {len(references)}"
            )
        return tuple(self._reference(reference, name) for reference in references)

    def _reference(self, reference: object, name: str) -> str:
        where = f"node {show(name)}: input {show(reference)}"
        if isinstance(reference, Mapping):
            raise ProgramError(
                f"node {show(name)}: an input is a nested node; list it in nodes before this one "
                "and write its id here"
            )
        if not isinstance(reference, str):
            raise ProgramError(f"{where} must be the id of an earlier node, a string in quotes")
        if reference in self.earlier:
            return reference
        if reference == name:
            raise ProgramError(f"{where} is the node itself; only earlier nodes can be inputs")
        if reference in self.all_ids:
            raise ProgramError(f"{where} is defined later; move it before this node")
        hint = difflib.get_close_matches(reference[:64], list(self.earlier), 1)
        advice = f"did you mean {show(hint[0])}?" if hint else "define it before this node"
        raise ProgramError(f"{where} is not defined; {advice}")

    def _relations(self, node: Node) -> Node:
        where = f"node {show(node.id)}"
        if node.op == "torus" and node.number("minor") >= node.number("major"):
            raise ProgramError(f"{where}: minor (radius of the tube) must be less than major")
        if node.op == "cylinder":
            radius = node.number("radius")
            if max(radius, node.number("radius_top", radius)) < MIN_DIMENSION_M:
                raise ProgramError(f"{where}: radius or radius_top must be at least 0.0005 (metres)")
        return self._wound(node, where) if node.op in ("extrude", "revolve") else node

    def _wound(self, node: Node, where: str) -> Node:
        """The node with a counter-clockwise ring."""
        key = "polygon" if node.op == "extrude" else "profile"
        area = signed_area(node.ring)
        if abs(area) < MIN_POLYGON_AREA_M2:
            raise ProgramError(
                f"{where}: {key} encloses {abs(area) * 1e6:.3g} mm², at least 0.25 mm² is needed; "
                "units are metres, and the ring must not cross itself"
            )
        if area > 0:
            return node
        self.complain(f"{where}: {key}: vertices are clockwise; list them counter-clockwise", "reversed")
        return Node(node.id, node.op, node.inputs, {**node.values, key: node.ring[::-1]})


def _loaded(program: object) -> Mapping[str, object]:
    if isinstance(program, str):
        if len(program) > MAX_TEXT:
            raise ProgramError(f"the program is {len(program):,} characters long; the limit is {MAX_TEXT:,}")
        try:
            program = json.loads(program)
        except json.JSONDecodeError as error:
            raise ProgramError(f"the program isn't JSON: {error.msg} at line {error.lineno}") from None
        except (RecursionError, ValueError):
            raise ProgramError(
                "the program isn't JSON that can be read: nested too deep or a huge number"
            ) from None
    if not isinstance(program, Mapping):
        raise ProgramError(
            f'the program must be an object {{"nodes": [...], "output": id}}, not {show(program)}'
        )
    return program


def read_program(program: object, *, strict: bool = True) -> Program:
    """Check a program (an object or its JSON text) against every rule that needs no geometry.

    Lenient (`strict=False`): clockwise rings are reversed, unknown fields ignored, both with a warning, and
    the operation `shell` is allowed. Raises ProgramError.
    """
    raw = _loaded(program)
    for key in raw:
        if key not in ("nodes", "output"):
            raise ProgramError(f"unknown field {show(key)} of the program; it has nodes and output")
    nodes = raw.get("nodes")
    if not isinstance(nodes, list | tuple):
        raise ProgramError(f"nodes must be a list of nodes, not {show(nodes)}")
    if not 1 <= len(nodes) <= MAX_NODES:
        raise ProgramError(f"a program has 1 to {MAX_NODES} nodes, this one {len(nodes)}")
    ids = (node.get("id") for node in nodes if isinstance(node, Mapping))
    reader = _Reader(strict, all_ids=frozenset(name for name in ids if isinstance(name, str)))
    checked = []
    for index, node in enumerate(nodes):
        checked.append(reader.node(node, index))
        reader.earlier[checked[-1].id] = None
    output = raw.get("output")
    if not isinstance(output, str) or output not in reader.earlier:
        hint = (
            difflib.get_close_matches(output[:64], list(reader.earlier), 1) if isinstance(output, str) else []
        )
        advice = f"did you mean {show(hint[0])}?" if hint else "it must be the id of a node"
        raise ProgramError(f"output {show(output)} is not a node; {advice}")
    result = Program(tuple(checked), output, tuple(reader.warnings))
    needed = result.needed()
    unused = tuple(f"node {show(n.id)} is not used by the output" for n in checked if n.id not in needed)
    return Program(result.nodes, output, result.warnings + unused)
