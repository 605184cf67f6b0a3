"""From blocks to placed parts: sub-models are followed down to the parts, never into them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from evalkit_brickbench.ldraw.library import HEADER_BYTES, Library, read_header
from evalkit_brickbench.ldraw.lines import EDGE_COLOUR, LARGEST_NUMBER, MAIN_COLOUR, References
from evalkit_brickbench.ldraw.names import normalise, stem
from evalkit_brickbench.ldraw.notes import LDrawError, Note, NoteList, shorten
from evalkit_brickbench.ldraw.reader import GEOMETRY_KINDS, PART_KINDS, Block, Document, read_document
from evalkit_brickbench.scene import Floats, Ints, Scene

PART_LIMIT = 100_000
DEPTH_LIMIT = 64
SINGULAR = 1e-9
"""A matrix whose determinant is at most this times the lengths of its columns has no volume."""
_PATH_NAME_LENGTH = 40


@dataclass(slots=True)
class _Node:
    """A block and what its references mean: `parts` and `children` map positions in `used` to stems and to
    other nodes; `used` are the references that place something."""

    block: Block
    used: Ints
    parts: dict[int, int] = field(default_factory=dict)
    children: dict[int, Block] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, eq=False)
class _Flat:
    """The parts below a block in its own frame; colour 16 is inherited. `paths` are those of the sub-models
    that place parts, `places` [n] which of them each part stands in."""

    stems: Ints
    colours: Ints
    matrices: Floats
    positions: Floats
    steps: Ints
    paths: tuple[str, ...]
    places: Ints


def read_scene(
    path: str | Path | bytes, library: Library | None = None, name: str | None = None
) -> tuple[Scene, tuple[Note, ...]]:
    """Read and flatten a file; notes of the reading come first. Raises LDrawError."""
    document = read_document(path, name)
    scene, notes = flatten(document, library)
    return scene, (*document.notes, *notes)


def flatten(
    document: Document,
    library: Library | None = None,
    knows: Callable[[str], bool] | None = None,
    part_limit: int = PART_LIMIT,
) -> tuple[Scene, tuple[Note, ...]]:
    """The placed parts of a document's main model in depth-first file order.

    A reference places a part if it means an embedded `.dat`, a file whose header says Part or Shortcut, a
    file of the library that's no model, or nothing that's found: unknown parts and missing sub-models stay in
    the scene under their names. Left out and noted: primitives and sub-parts placed directly, flat matrices,
    and, in sub-models, GHOST lines. With `knows` (whether a catalogue has a stem) unknown parts are
    noted too. Raises LDrawError for sub-models that contain each other, and for more than `part_limit` parts,
    which are counted before anything is placed.
    """
    plan = _Plan(document, library)
    order = plan.visit()
    _check_size(plan, order, part_limit, document.name)
    flats: dict[int, _Flat] = {}
    for node in order:
        flats[id(node.block)] = _compose(node, flats)
    scene = _scene(document, plan, flats[id(order[-1].block)])
    _note_unknown(scene, plan, document, knows)
    return scene, plan.notes.finish()


class _Plan:
    """Finds out what every reference means, block by block."""

    def __init__(self, document: Document, library: Library | None) -> None:
        self.document = document
        self.library = library
        self.notes = NoteList()
        self.stems: dict[str, int] = {}
        self.embedded: dict[str, Block] = {}
        self.missing: Counter[str] = Counter()
        self._nodes: dict[int, _Node] = {}
        self._from_library: dict[str, Block | str] = {}

    def visit(self) -> list[_Node]:
        """Nodes below the main model, children before parents, without recursion."""
        main = self.document.main
        if main.header.kind in PART_KINDS or main.is_geometry:
            self.notes.add("part-file", "the file is a part by itself; it's placed once", main.name)
            self.embedded[stem(main.name)] = main
            node = _Node(_single(main), np.zeros(1, dtype=np.int32), {0: self._stem_id(main.name)})
            return [node]
        order: list[_Node] = []
        done: dict[int, int] = {}
        chain = [main]
        pending = [iter(self._children(main))]
        while chain:
            child = next(pending[-1], None)
            if child is None:
                block = chain.pop()
                pending.pop()
                node = self._nodes[id(block)]
                depth = 1 + max((done[id(c)] for c in node.children.values()), default=0)
                if depth > DEPTH_LIMIT:
                    raise self._too_deep()
                done[id(block)] = depth
                order.append(node)
            elif any(child is block for block in chain):
                raise self._cycle(chain, child)
            elif id(child) not in done:
                if len(chain) >= DEPTH_LIMIT:
                    raise self._too_deep()
                chain.append(child)
                pending.append(iter(self._children(child)))
        return order

    def _children(self, block: Block) -> list[Block]:
        node = self._nodes[id(block)] = self._node(block)
        return list({id(child): child for child in node.children.values()}.values())

    def _node(self, block: Block) -> _Node:
        references = block.references
        keep = self._placed(block)
        meanings: dict[str, Block | int | None] = {}
        node = _Node(block, np.flatnonzero(keep).astype(np.int32))
        used: list[int] = []
        for index in node.used.tolist():
            name = references.names[index]
            if name not in meanings:
                meanings[name] = self._meaning(name, block, int(references.lines[index]))
            meaning = meanings[name]
            if meaning is None:
                continue
            if isinstance(meaning, int):
                node.parts[len(used)] = meaning
            else:
                node.children[len(used)] = meaning
            used.append(index)
        node.used = np.array(used, dtype=np.int32)
        return node

    def _placed(self, block: Block) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
        """References that place something, from their matrices and GHOST."""
        references = block.references
        flat = _is_flat(references.matrices)
        for index in np.flatnonzero(flat).tolist():
            message = (
                f"the matrix of {shorten(references.names[index], 60)} has no volume; the part is left out"
            )
            self.notes.add("flat-matrix", message, block.name, int(references.lines[index]))
        ghosts = references.ghosts & (block is not self.document.main)
        for index in np.flatnonzero(ghosts).tolist():
            message = f"{shorten(references.names[index], 60)} is a GHOST of a sub-model and isn't counted"
            self.notes.add("ghost", message, block.name, int(references.lines[index]))
        return ~(flat | ghosts)

    def _meaning(self, name: str, block: Block, line: int) -> Block | int | None:
        """A sub-model, the number of a stem, or None for what places no part."""
        found = self.document.find(name)
        if found is block and self.document.is_repeated(name):
            message = (
                f"'{shorten(name)}' means several files, the first of which is this one; kept as unknown"
            )
            self.notes.add("repeated-name", message, block.name, line)
            return self._stem_id(name)
        if found is not None and found.is_part:
            self.embedded.setdefault(stem(name), found)
            return self._stem_id(name)
        if found is not None:
            return None if found.is_geometry and self._note_geometry(name, block, line) else found
        outside = self._look_up(name)
        if isinstance(outside, Block):
            return outside
        if outside == "geometry":
            self._note_geometry(name, block, line)
            return None
        if outside == "missing" and normalise(name).endswith((".ldr", ".mpd")):
            message = f"sub-model '{shorten(name)}' isn't in the file; kept as one unknown part"
            self.notes.add("missing-model", message, block.name, line)
        return self._stem_id(name)

    def _look_up(self, name: str) -> Block | str:
        """A model of the library, or "part", "geometry", "missing"."""
        key = normalise(name)
        if key.startswith(("s/", "48/", "8/")):
            return "geometry"
        if self.library is None:
            return "missing"
        if key not in self._from_library:
            self._from_library[key] = self._read_library(key)
        return self._from_library[key]

    def _read_library(self, key: str) -> Block | str:
        content = self.library.find(key) if self.library is not None else None
        if content is None:
            return "missing"
        kind = read_header(content[:HEADER_BYTES], key).kind
        if kind in GEOMETRY_KINDS:
            return "geometry"
        if kind in PART_KINDS or (key.endswith(".dat") and kind != "model"):
            return "part"
        return read_document(content, key).main

    def _note_geometry(self, name: str, block: Block, line: int) -> bool:
        message = (
            f"'{shorten(name)}' is a piece of a part (primitive or sub-part), not a part; it isn't counted"
        )
        self.notes.add("primitive", message, block.name, line)
        return True

    def _stem_id(self, name: str) -> int:
        return self.stems.setdefault(stem(name), len(self.stems))

    def _cycle(self, chain: list[Block], child: Block) -> LDrawError:
        start = next(index for index, block in enumerate(chain) if block is child)
        names = [shorten(block.name, 40) for block in (*chain[start:], child)]
        if len(names) > 8:
            names = [*names[:4], "…", *names[-3:]]
        shown = " → ".join(names)
        return LDrawError(
            f"{self.document.name}: sub-models contain each other ({shown}); remove one reference"
        )

    def _too_deep(self) -> LDrawError:
        return LDrawError(
            f"{self.document.name}: sub-models nested more than {DEPTH_LIMIT} deep; flatten some"
        )


def _single(block: Block) -> Block:
    """A block that places the given one once, unturned."""
    reference = References(
        names=(block.name,),
        colours=np.array([MAIN_COLOUR], dtype=np.int32),
        matrices=np.eye(3)[None],
        positions=np.zeros((1, 3)),
        lines=np.ones(1, dtype=np.int32),
        steps=np.zeros(1, dtype=np.int32),
        ghosts=np.zeros(1, dtype=np.bool_),
    )
    return Block(block.name, block.key, "", block.header, reference)


def _is_flat(matrices: Floats) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    lengths = np.sqrt((matrices**2).sum(axis=1)).prod(axis=1)
    flat: np.ndarray[tuple[int], np.dtype[np.bool_]] = np.abs(_determinants(matrices)) <= SINGULAR * lengths
    return flat


def _determinants(m: Floats) -> Floats:
    product: Floats = (np.cross(m[:, 0], m[:, 1]) * m[:, 2]).sum(axis=1)
    return product


def _check_size(plan: _Plan, order: list[_Node], limit: int, name: str) -> None:
    """Count parts by block, without placing them: exponential nesting costs nothing."""
    counts: dict[int, int] = {}
    for node in order:
        counts[id(node.block)] = len(node.parts) + sum(counts[id(child)] for child in node.children.values())
    total = counts[id(order[-1].block)]
    if total > limit:
        shown = f"{total:,}" if total < 10**15 else "more than 10^15"
        raise LDrawError(
            f"{name}: {shown} parts, {limit:,} are the limit; check a part of the model at a time"
        )


def _compose(node: _Node, flats: dict[int, _Flat]) -> _Flat:
    """The parts below a block: its own and those of its sub-models, which are placed group by group."""
    references, used = node.block.references, node.used
    sizes = np.ones(len(used), dtype=np.int64)
    groups: dict[int, list[int]] = {}
    for index, child in node.children.items():
        sizes[index] = len(flats[id(child)].stems)
        groups.setdefault(id(child), []).append(index)
    offsets = np.cumsum(sizes) - sizes
    total = int(sizes.sum())
    stems, places = np.zeros(total, dtype=np.int32), np.zeros(total, dtype=np.int32)
    colours, steps = np.zeros(total, dtype=np.int32), np.zeros(total, dtype=np.int32)
    matrices, positions = np.zeros((total, 3, 3)), np.zeros((total, 3))

    own = np.fromiter(node.parts.keys(), dtype=np.int64, count=len(node.parts))
    target, source = offsets[own], used[own]
    stems[target] = np.fromiter(node.parts.values(), dtype=np.int32, count=len(node.parts))
    colours[target], steps[target] = _inheriting(references.colours[source]), references.steps[source]
    matrices[target], positions[target] = references.matrices[source], references.positions[source]

    paths = [""] if len(own) else []
    for key, indices in groups.items():
        flat = flats[key]
        if not len(flat.stems):
            continue
        source = used[indices]
        target = offsets[indices][:, None] + np.arange(len(flat.stems))
        outer, inner = references.matrices[source][:, None], flat.matrices[None]
        matrices[target] = _product(outer, inner)
        moved = _product(outer, flat.positions[None, :, :, None])[..., 0]
        positions[target] = moved + references.positions[source][:, None]
        inherited = _inheriting(references.colours[source])[:, None]
        colours[target] = np.where(flat.colours == MAIN_COLOUR, inherited, flat.colours)
        steps[target] = references.steps[source][:, None]
        stems[target] = flat.stems
        places[target] = len(paths) + len(flat.paths) * np.arange(len(indices))[:, None] + flat.places
        paths += _placements(references.names[int(source[0])], len(indices), flat.paths)
    return _Flat(stems, colours, matrices, positions, steps, tuple(paths), places)


def _inheriting(colours: Ints) -> Ints:
    """Edge colour means nothing for a whole part: it inherits as the main colour does."""
    return np.where(colours == EDGE_COLOUR, np.int32(MAIN_COLOUR), colours)


def _product(a: Floats, b: Floats) -> Floats:
    """a @ b for stacks of 3×3 and 3×k matrices, term by term: the same bits whatever BLAS there is."""
    with np.errstate(over="ignore", invalid="ignore"):
        return np.asarray(
            a[..., :, 0, None] * b[..., 0, None, :]
            + a[..., :, 1, None] * b[..., 1, None, :]
            + a[..., :, 2, None] * b[..., 2, None, :]
        )


def _placements(name: str, count: int, paths: tuple[str, ...]) -> list[str]:
    """Paths below each placement of a sub-model; placements are numbered from 1 where there are several."""
    label = shorten(name, _PATH_NAME_LENGTH)
    labels = [label] if count == 1 else [f"{label}[{number}]" for number in range(1, count + 1)]
    return [f"{shown}/{path}" if path else shown for shown in labels for path in paths]


def _scene(document: Document, plan: _Plan, flat: _Flat) -> Scene:
    usable = (np.abs(flat.positions) <= LARGEST_NUMBER).all(axis=1) & np.isfinite(flat.matrices).all(
        axis=(1, 2)
    )
    if not usable.all():
        message = f"{int((~usable).sum())} parts lie beyond ±{LARGEST_NUMBER:.0e} LDU and are left out"
        plan.notes.add("out-of-range", message, document.main.name)
    names = list(plan.stems)
    root = shorten(document.main.name, _PATH_NAME_LENGTH)
    paths = [f"{root}/{path}" if path else "" for path in flat.paths]
    return Scene(
        stems=tuple(names[index] for index in flat.stems[usable].tolist()),
        colours=flat.colours[usable],
        matrices=flat.matrices[usable],
        positions=flat.positions[usable],
        paths=tuple(paths[index] for index in flat.places[usable].tolist()),
        steps=flat.steps[usable],
        embedded=_embedded(document, plan.embedded),
    )


def _embedded(document: Document, parts: dict[str, Block]) -> dict[str, str]:
    """Texts by stem of embedded parts and of the embedded files that those draw with."""
    found = dict(parts)
    pending = list(parts.values())
    while pending:
        for name in pending.pop().references.names:
            block = document.find(name)
            if block is not None and stem(name) not in found:
                found[stem(name)] = block
                pending.append(block)
    return {key: block.text for key, block in sorted(found.items())}


def _note_unknown(scene: Scene, plan: _Plan, document: Document, knows: Callable[[str], bool] | None) -> None:
    if knows is None:
        return
    for name, count in sorted(Counter(scene.stems).items()):
        if not knows(name):
            source = ", which the file brings itself" if name in scene.embedded else ""
            message = f"part '{shorten(name)}' is unknown ({count} placed){source}"
            plan.notes.add("unknown-part", message, document.main.name)
