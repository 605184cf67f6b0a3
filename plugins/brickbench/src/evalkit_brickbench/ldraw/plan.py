"""What each reference of a document means: a part, a sub-model, or nothing that's placed."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from evalkit_brickbench.ldraw.library import HEADER_BYTES, Library, read_header
from evalkit_brickbench.ldraw.lines import MAIN_COLOUR, References
from evalkit_brickbench.ldraw.names import normalise, stem
from evalkit_brickbench.ldraw.notes import LDrawError, NoteList, shorten
from evalkit_brickbench.ldraw.reader import GEOMETRY_KINDS, PART_KINDS, Block, Document, read_document
from evalkit_brickbench.scene import Floats, Ints

DEPTH_LIMIT = 64
SINGULAR = 1e-9
"""A matrix whose determinant is at most this times the lengths of its columns has no volume."""


@dataclass(slots=True)
class Node:
    """A block and what its references mean: `parts` and `children` map positions in `used` to stems and to
    other nodes; `used` are the references that place something."""

    block: Block
    used: Ints
    parts: dict[int, int] = field(default_factory=dict)
    children: dict[int, Block] = field(default_factory=dict)


class Plan:
    """Finds out what every reference means, block by block."""

    def __init__(self, document: Document, library: Library | None) -> None:
        self.document = document
        self.library = library
        self.notes = NoteList()
        self.stems: dict[str, int] = {}
        self._embedded: dict[str, Block] = {}
        self._nodes: dict[int, Node] = {}
        self._from_library: dict[str, Block | str] = {}

    def visit(self) -> list[Node]:
        """Nodes below the main model, children before parents, without recursion."""
        main = self.document.main
        if main.header.kind in PART_KINDS or main.is_geometry:
            self.notes.add("part-file", "the file is a part by itself; it's placed once", main.name)
            self._embedded[stem(main.name)] = main
            node = Node(_single(main), np.zeros(1, dtype=np.int32), {0: self._stem_id(main.name)})
            return [node]
        order: list[Node] = []
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

    def embedded(self) -> dict[str, str]:
        """Texts by stem of embedded parts and of the embedded files that those draw with."""
        found = dict(self._embedded)
        pending = list(found.values())
        while pending:
            for name in pending.pop().references.names:
                block = self.document.find(name)
                if block is not None and stem(name) not in found:
                    found[stem(name)] = block
                    pending.append(block)
        return {key: block.text for key, block in sorted(found.items())}

    def _children(self, block: Block) -> list[Block]:
        node = self._nodes[id(block)] = self._node(block)
        return list({id(child): child for child in node.children.values()}.values())

    def _node(self, block: Block) -> Node:
        references = block.references
        keep = self._placed(block)
        meanings: dict[str, Block | int | None] = {}
        node = Node(block, np.flatnonzero(keep).astype(np.int32))
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

    def _placed(self, block: Block) -> NDArray[np.bool_]:
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
            self._embedded.setdefault(stem(name), found)
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


def _is_flat(matrices: Floats) -> NDArray[np.bool_]:
    lengths = np.sqrt((matrices**2).sum(axis=1)).prod(axis=1)
    flat: NDArray[np.bool_] = np.abs(_determinants(matrices)) <= SINGULAR * lengths
    return flat


def _determinants(m: Floats) -> Floats:
    product: Floats = (np.cross(m[:, 0], m[:, 1]) * m[:, 2]).sum(axis=1)
    return product
