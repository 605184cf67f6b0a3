"""From a CSG program to a watertight mesh, by manifold3d.

Every limit is a count, never a clock, so that a program is accepted or refused alike on any machine. What can
grow is measured node by node: triangles of a result, triangles that could cross in one boolean, and the work
of the whole program.
"""

from __future__ import annotations

import numpy as np
from manifold3d import CrossSection, Error, Manifold, OpType

from evalkit_lmbuild.csg.canonical import canonical_mesh, piece_volumes
from evalkit_lmbuild.csg.compiled import Compiled
from evalkit_lmbuild.csg.crossings import FEW_PAIRS, crossing_pairs
from evalkit_lmbuild.csg.flattening import flattened
from evalkit_lmbuild.csg.program import (
    MAX_DIMENSION_M,
    MIN_POLYGON_AREA_M2,
    Node,
    ProgramError,
    read_program,
    show,
    signed_area,
)
from evalkit_lmbuild.design import Floats

SEGMENTS = 48
MAX_TRIANGLES = 100_000
"""Of a node's result: 80 parts of this size make a scene of 8 million triangles, which fits in memory."""
MAX_CROSSING_PAIRS = 300_000
"""Of one boolean: that many real crossings take manifold3d about a second."""
MAX_WORK = 2_000_000
"""Triangles into and out of a program's booleans and pairs that may cross: 1 to 2 µs for each."""
MAX_SHELL_TRIANGLES = 1200
SHELL_WORK = 700
"""A shell costs about this many times as much per triangle as a boolean."""
SIZE_SLACK_M = 1e-6
"""manifold3d rounds outlines of extrusions by some 1e-8 of their size."""


def _triangles(solid: Manifold) -> Floats:
    mesh = solid.to_mesh64()
    corners: Floats = mesh.vert_properties[:, :3][mesh.tri_verts]
    return corners


class _Evaluator:
    """Evaluates checked nodes in order; keeps the solids, the warnings and the account of work."""

    def __init__(self) -> None:
        self.solids: dict[str, Manifold] = {}
        self.warnings: list[str] = []
        self.work = 0

    def evaluate(self, node: Node) -> None:
        """Build one node from those before it."""
        solid = getattr(self, f"_{node.op}")(node)
        where = f"node {show(node.id)}"
        if solid.status() != Error.NoError:
            raise ProgramError(f"{where}: {node.op} failed ({solid.status().name}); simplify its inputs")
        self._bound(solid, where)
        if solid.is_empty():
            self.warnings.append(f"{where}: {node.op} is empty")
        self.solids[node.id] = solid

    def _bound(self, solid: Manifold, where: str) -> None:
        count = solid.num_tri()
        if count > MAX_TRIANGLES:
            raise ProgramError(
                f"{where}: {count:,} triangles, the limit is {MAX_TRIANGLES:,}; use fewer curved shapes"
            )

    def _spend(self, amount: int, where: str) -> None:
        self.work += amount
        if self.work > MAX_WORK:
            raise ProgramError(
                f"{where}: the program is too much work; use fewer curved shapes, or make several parts of it"
            )

    def _box(self, node: Node) -> Manifold:
        return Manifold.cube(node.vector("size"), center=True)

    def _cylinder(self, node: Node) -> Manifold:
        radius = node.number("radius")
        top = node.number("radius_top", radius)
        return Manifold.cylinder(node.number("height"), radius, top, SEGMENTS, center=True)

    def _sphere(self, node: Node) -> Manifold:
        return Manifold.sphere(node.number("radius"), SEGMENTS)

    def _torus(self, node: Node) -> Manifold:
        tube = CrossSection.circle(node.number("minor"), SEGMENTS).translate((node.number("major"), 0.0))
        return tube.revolve(SEGMENTS)

    def _section(self, node: Node) -> CrossSection:
        section = CrossSection([np.asarray(node.ring)])
        area, drawn = section.area(), signed_area(node.ring)
        where = f"node {show(node.id)}"
        if area < MIN_POLYGON_AREA_M2:
            raise ProgramError(
                f"{where}: the ring encloses {area * 1e6:.3g} mm²; at least 0.25 mm² is needed"
            )
        if abs(area - drawn) > 0.01 * drawn:
            self.warnings.append(
                f"{where}: the ring crosses itself; only what it goes round counter-clockwise is kept"
            )
        return section

    def _extrude(self, node: Node) -> Manifold:
        height = node.number("height")
        return self._section(node).extrude(height).translate((0.0, 0.0, -height / 2))

    def _revolve(self, node: Node) -> Manifold:
        section = self._section(node)
        if 2 * SEGMENTS * section.num_vert() > 2 * MAX_TRIANGLES:
            raise ProgramError(
                f"node {show(node.id)}: the profile crosses itself too often; draw its outline only"
            )
        return section.revolve(SEGMENTS, node.number("degrees", 360.0))

    def _inputs(self, node: Node) -> list[Manifold]:
        return [self.solids[name] for name in node.inputs]

    def _boolean(self, a: Manifold, b: Manifold, op: OpType, where: str) -> Manifold:
        """One boolean of two solids, its growth bounded beforehand."""
        pairs = a.num_tri() * b.num_tri()
        if pairs > FEW_PAIRS:
            pairs = crossing_pairs(_triangles(a), _triangles(b))
            if pairs > MAX_CROSSING_PAIRS:
                raise ProgramError(
                    f"{where}: its inputs would cross in some {pairs:,} places; use simpler shapes"
                )
        self._spend(a.num_tri() + b.num_tri() + pairs, where)
        result = Manifold.batch_boolean([a, b], op)
        self._spend(result.num_tri(), where)
        self._bound(result, where)
        return result

    def _joined(self, solids: list[Manifold], op: OpType, where: str) -> Manifold:
        """Neighbours combined two by two until one is left: every triangle passes only log₂ n booleans."""
        while len(solids) > 1:
            pairs = [solids[start : start + 2] for start in range(0, len(solids), 2)]
            solids = [
                self._boolean(pair[0], pair[1], op, where) if len(pair) == 2 else pair[0] for pair in pairs
            ]
        return solids[0]

    def _union(self, node: Node) -> Manifold:
        return self._joined(self._inputs(node), OpType.Add, f"node {show(node.id)}")

    def _intersection(self, node: Node) -> Manifold:
        return self._joined(self._inputs(node), OpType.Intersect, f"node {show(node.id)}")

    def _difference(self, node: Node) -> Manifold:
        first, *rest = self._inputs(node)
        if not rest:
            return first
        where = f"node {show(node.id)}"
        return self._boolean(first, self._joined(rest, OpType.Add, where), OpType.Subtract, where)

    def _hull(self, node: Node) -> Manifold:
        inputs = self._inputs(node)
        self._spend(sum(solid.num_tri() for solid in inputs), f"node {show(node.id)}")
        return Manifold.batch_hull(inputs)

    def _transform(self, node: Node) -> Manifold:
        return self._inputs(node)[0].rotate(node.vector("rotation")).translate(node.vector("position"))

    def _mirror(self, node: Node) -> Manifold:
        return self._inputs(node)[0].mirror(node.vector("normal"))

    def _shell(self, node: Node) -> Manifold:
        """The input without what lies deeper than `thickness`: exact for faces along the axes."""
        (solid,) = self._inputs(node)
        where = f"node {show(node.id)}"
        if solid.num_tri() > MAX_SHELL_TRIANGLES:
            raise ProgramError(
                f"{where}: shell takes up to {MAX_SHELL_TRIANGLES:,} triangles, its input has "
                f"{solid.num_tri():,}; hollow it with a difference"
            )
        self._spend(SHELL_WORK * solid.num_tri(), where)
        inside = solid.minkowski_difference(Manifold.sphere(node.number("thickness"), 8))
        if inside.is_empty():
            self.warnings.append(f"{where}: the walls are so thick that nothing is hollow")
        return solid - inside


def build(program: object, *, strict: bool) -> Compiled:
    """See `compile_program`."""
    checked = read_program(program, strict=strict)
    evaluator = _Evaluator()
    for node in flattened(checked):
        evaluator.evaluate(node)
    where = f"output {show(checked.output)}"
    solid = evaluator.solids[checked.output]
    if solid.is_empty():
        raise ProgramError(f"{where} is empty: nothing is left after its booleans; check positions and sizes")
    raw = solid.to_mesh64()
    vertices = np.asarray(raw.vert_properties[:, :3], dtype=np.float64)
    lowest, highest = vertices.min(axis=0), vertices.max(axis=0)
    size = highest - lowest
    if np.any(size > MAX_DIMENSION_M + SIZE_SLACK_M):
        extents = " × ".join(f"{extent:.3g}" for extent in size)
        raise ProgramError(f"{where} is {extents} m large; at most 3 m along each axis")
    centre = (lowest + highest) / 2
    mesh = canonical_mesh(vertices - centre, raw.tri_verts)
    pieces = piece_volumes(mesh)
    warnings = checked.warnings + tuple(evaluator.warnings)
    if len(pieces) > 1:
        warnings += (f"{where} is {len(pieces)} separate pieces; a part should be one",)
    return Compiled.of(mesh, pieces, centre, warnings)
