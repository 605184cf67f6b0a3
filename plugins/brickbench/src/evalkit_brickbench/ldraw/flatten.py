"""From blocks to placed parts: sub-models are followed down to the parts, never into them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from evalkit_brickbench.ldraw.colours import palette_of
from evalkit_brickbench.ldraw.library import Library
from evalkit_brickbench.ldraw.lines import EDGE_COLOUR, LARGEST_NUMBER, MAIN_COLOUR
from evalkit_brickbench.ldraw.notes import LDrawError, Note, shorten
from evalkit_brickbench.ldraw.plan import Node, Plan
from evalkit_brickbench.ldraw.reader import Document, read_document
from evalkit_brickbench.scene import Floats, Ints, Scene

PART_LIMIT = 100_000
_PATH_NAME_LENGTH = 40


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
    """Read and flatten a file: the scene, and notes of reading, flattening and unknown colours. Raises
    LDrawError for a file that can't be used."""
    document = read_document(path, name)
    scene, notes = flatten(document, library)
    colours = palette_of(library).note_unknown(np.unique(scene.colours).tolist(), document.main.name)
    return scene, (*document.notes, *notes, *colours)


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
    plan = Plan(document, library)
    order = plan.visit()
    _check_size(plan, order, part_limit, document.name)
    flats: dict[int, _Flat] = {}
    for node in order:
        flats[id(node.block)] = _compose(node, flats)
    scene = _scene(document, plan, flats[id(order[-1].block)])
    _note_unknown(scene, plan, document, knows)
    return scene, plan.notes.finish()


def _check_size(plan: Plan, order: list[Node], limit: int, name: str) -> None:
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


def _compose(node: Node, flats: dict[int, _Flat]) -> _Flat:
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


def _scene(document: Document, plan: Plan, flat: _Flat) -> Scene:
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
        embedded=plan.embedded(),
    )


def _note_unknown(scene: Scene, plan: Plan, document: Document, knows: Callable[[str], bool] | None) -> None:
    if knows is None:
        return
    for name, count in sorted(Counter(scene.stems).items()):
        if not knows(name):
            source = ", which the file brings itself" if name in scene.embedded else ""
            message = f"part '{shorten(name)}' is unknown ({count} placed){source}"
            plan.notes.add("unknown-part", message, document.main.name)
