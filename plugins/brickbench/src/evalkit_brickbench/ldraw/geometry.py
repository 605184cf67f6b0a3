"""Surfaces and edge lines of whole parts: sub-files merged, each turned the right way out (BFC)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from evalkit_brickbench._collisions_inset import inset as inset_surface
from evalkit_brickbench.ldraw.drawing import Drawing, SubFile, parse_drawing
from evalkit_brickbench.ldraw.library import Library
from evalkit_brickbench.ldraw.lines import EDGE_COLOUR, MAIN_COLOUR
from evalkit_brickbench.ldraw.names import normalise, stem
from evalkit_brickbench.ldraw.notes import LDrawError, NoteList, shorten
from evalkit_brickbench.ldraw.reader import decode
from evalkit_brickbench.scene import Floats, Ints, Mesh

EDGE_OF = 1 << 28
"""Edge colours from here on: the edge colour that belongs to the colour code − EDGE_OF."""
TRIANGLE_LIMIT = 2_000_000
MESH_TRIANGLE_LIMIT = 200_000
"""More than this of one part isn't checked: the most detailed official parts have some 50,000."""
DEPTH_LIMIT = 32
WELD_LDU = 1e-4


@dataclass(frozen=True, slots=True, eq=False)
class Geometry:
    """A part in its own frame, LDU, −y up.

    `vertices` [v, 3]; `triangles` [t, 3] wind anticlockwise seen from outside where `certified` [t]; the
    others must be shown from both sides. `colours` [t]: 16 takes the colour of the part, 24 its edge colour.
    `edges` [e, 2, 3] with `edge_colours` [e]: as above, and from `EDGE_OF` on the edge colour of a colour.
    `conditionals` [c, 4, 3] (two ends, two control points) are lines shown where both control points lie on
    the same side of them. `missing`: names of sub-files that weren't found, sorted.
    """

    vertices: Floats
    triangles: Ints
    colours: Ints
    certified: NDArray[np.bool_]
    edges: Floats
    edge_colours: Ints
    conditionals: Floats
    conditional_colours: Ints
    missing: tuple[str, ...]


@dataclass(frozen=True, slots=True, eq=False)
class _Pieces:
    """A file with its sub-files merged: arrays as in `Drawing`."""

    triangles: Floats
    colours: Ints
    certified: NDArray[np.bool_]
    edges: Floats
    edge_colours: Ints
    conditionals: Floats
    conditional_colours: Ints
    missing: frozenset[str]


class GeometryReader:
    """Geometry of the parts of a library and of a file's embedded parts (texts by stem, which win). Files
    that several parts use, such as studs, are merged once and kept."""

    def __init__(self, library: Library | None, embedded: Mapping[str, str] | None = None) -> None:
        self._library = library
        self._embedded = dict(embedded or {})
        self._merged: dict[str, _Pieces | None] = {}

    def geometry(self, part: str) -> Geometry | None:
        """Geometry of a part by its stem, None if there's no such file. LDrawError if its sub-files contain
        each other or it has more than `TRIANGLE_LIMIT` triangles."""
        pieces = self._pieces(stem(part), ())
        return None if pieces is None else _weld(pieces)

    def _pieces(self, key: str, chain: tuple[str, ...]) -> _Pieces | None:
        if key not in self._merged:
            if key in chain or len(chain) >= DEPTH_LIMIT:
                shown = " → ".join(shorten(name, 40) for name in (*chain[:3], "…", key))
                raise LDrawError(
                    f"{shorten(chain[0])}: its sub-files contain each other or nest too deep ({shown})"
                )
            text = self._text(key)
            if text is None:
                self._merged[key] = None
            else:
                self._merged[key] = self._merge(parse_drawing(text), (*chain, key))
        return self._merged[key]

    def _merge(self, drawing: Drawing, chain: tuple[str, ...]) -> _Pieces:
        pieces = [_own(drawing)]
        missing: set[str] = set()
        total = len(drawing.triangles) + len(drawing.edges) + len(drawing.conditionals)
        for subfile in drawing.subfiles:
            merged = self._pieces(stem(subfile.name), chain)
            if merged is None:
                missing.add(normalise(subfile.name))
                continue
            total += len(merged.triangles) + len(merged.edges) + len(merged.conditionals)
            if total > TRIANGLE_LIMIT:
                raise LDrawError(f"{shorten(chain[0])}: more than {TRIANGLE_LIMIT:,} triangles and lines")
            missing |= merged.missing
            pieces.append(_placed(merged, subfile))
        return _Pieces(
            np.concatenate([p.triangles for p in pieces]),
            np.concatenate([p.colours for p in pieces]),
            np.concatenate([p.certified for p in pieces]),
            np.concatenate([p.edges for p in pieces]),
            np.concatenate([p.edge_colours for p in pieces]),
            np.concatenate([p.conditionals for p in pieces]),
            np.concatenate([p.conditional_colours for p in pieces]),
            frozenset(missing),
        )

    def _text(self, key: str) -> str | None:
        if key in self._embedded:
            return self._embedded[key]
        if self._library is None:
            return None
        content = self._library.find(f"{key}.dat")
        return decode(content, key, NoteList())[0].replace("\r", "\n") if content is not None else None


class LDrawMeshes:
    """Meshes for collisions from official geometry, each surface moved inwards by `inset_ldu`.

    An implementation of `MeshSource`. Parts with sub-files that aren't there have no mesh: a surface with
    holes would let other parts through. Nor have parts with more than `MESH_TRIANGLE_LIMIT` triangles.
    """

    def __init__(
        self, library: Library, inset_ldu: float = 0.25, embedded: Mapping[str, str] | None = None
    ) -> None:
        self._reader = GeometryReader(library, embedded)
        self._inset_ldu = inset_ldu
        self._id = f"{library.id}:inset={inset_ldu:g}"
        self._meshes: dict[str, Mesh | None] = {}

    @property
    def id(self) -> str:
        """The library's id and the inset."""
        return self._id

    def mesh(self, stem: str) -> Mesh | None:
        """The mesh of a part by its stem, None if it has no surface or a sub-file isn't there."""
        if stem not in self._meshes:
            geometry = self._reader.geometry(stem)
            usable = geometry is not None and _is_whole(geometry)
            self._meshes[stem] = inset(geometry, self._inset_ldu) if geometry and usable else None
        return self._meshes[stem]


def _is_whole(geometry: Geometry) -> bool:
    return 0 < len(geometry.triangles) <= MESH_TRIANGLE_LIMIT and not geometry.missing


def part_geometry(
    part: str, library: Library | None, embedded: Mapping[str, str] | None = None
) -> Geometry | None:
    """Geometry of one part by its stem; `GeometryReader` is quicker for several."""
    return GeometryReader(library, embedded).geometry(part)


def inset(surface: Geometry | Mesh, distance_ldu: float) -> Mesh:
    """The surface moved inwards: each vertex to where it's the distance behind all planes that meet in it, by
    least squares. Vertices are merged first; a Mesh's own inset is added to."""
    vertices, triangles = surface.vertices, surface.triangles
    before = surface.inset_ldu if isinstance(surface, Mesh) else 0.0
    moved, kept = inset_surface(vertices, triangles, distance_ldu)
    moved.flags.writeable = kept.flags.writeable = False
    return Mesh(moved, kept, before + distance_ldu)


def _own(drawing: Drawing) -> _Pieces:
    return _Pieces(
        drawing.triangles,
        drawing.triangle_colours,
        drawing.certified,
        drawing.edges,
        drawing.edge_colours,
        drawing.conditionals,
        drawing.conditional_colours,
        frozenset(),
    )


def _placed(pieces: _Pieces, subfile: SubFile) -> _Pieces:
    """A sub-file in the frame of the file that refers to it. A mirror turns triangles inside out, and so does
    INVERTNEXT; both together don't."""
    triangles = _moved(pieces.triangles, subfile)
    if (np.linalg.det(subfile.matrix) < 0) != subfile.inverted:
        triangles = triangles[:, ::-1]
    return _Pieces(
        triangles,
        np.where(pieces.colours == MAIN_COLOUR, np.int32(subfile.colour), pieces.colours),
        pieces.certified & subfile.certified,
        _moved(pieces.edges, subfile),
        _edge_colours(pieces.edge_colours, subfile.colour),
        _moved(pieces.conditionals, subfile),
        _edge_colours(pieces.conditional_colours, subfile.colour),
        pieces.missing,
    )


def _edge_colours(colours: Ints, outer: int) -> Ints:
    """Edge colours below a reference: 24 belongs to the colour of the reference, unless that inherits too."""
    if outer in (MAIN_COLOUR, EDGE_COLOUR):
        return colours if outer == MAIN_COLOUR else np.where(colours == MAIN_COLOUR, np.int32(outer), colours)
    inherited = np.where(colours == EDGE_COLOUR, np.int32(EDGE_OF + outer), colours)
    return np.where(colours == MAIN_COLOUR, np.int32(outer), inherited)


def _moved(points: Floats, subfile: SubFile) -> Floats:
    """Points [..., 3], turned and moved, term by term: the same bits whatever BLAS there is."""
    columns = subfile.matrix.T
    moved: Floats = (
        points[..., 0, None] * columns[0]
        + points[..., 1, None] * columns[1]
        + points[..., 2, None] * columns[2]
    ) + subfile.position
    return moved


def _weld(pieces: _Pieces) -> Geometry:
    """Corners on the same grid point share a vertex; triangles without area there are left out."""
    corners = pieces.triangles.reshape(-1, 3)
    grid = np.round(corners / WELD_LDU).astype(np.int64)
    _, first, inverse = np.unique(grid, axis=0, return_index=True, return_inverse=True)
    triangles = inverse.reshape(-1, 3).astype(np.int32)
    a, b, c = triangles.T
    real = (a != b) & (b != c) & (c != a)
    return Geometry(
        corners[first],
        triangles[real],
        pieces.colours[real],
        pieces.certified[real],
        pieces.edges,
        pieces.edge_colours,
        pieces.conditionals,
        pieces.conditional_colours,
        tuple(sorted(pieces.missing)),
    )
