"""Connections against a matcher that looks at every pair, and what must not change them."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from connection_scenes import LabelCatalogue, random_rotation, scene

from evalkit_brickbench.connections import FAMILIES, Connections, connect
from evalkit_brickbench.parts.catalogue import KINDS, POLARITIES, Connectors
from evalkit_brickbench.scene import Floats, Scene

STUD_MATES = {("stud", "hole"), ("stud", "tube"), ("open", "hole"), ("open", "tube"), ("open", "post")}
AXLE_MATES = {("pin", "socket"), ("axle", "socket"), ("axle", "cross"), ("bar", "clip"), ("bar", "cross")}

SUBTYPES = {
    "stud": ("stud", "open"),
    "hole": ("hole", "tube", "post"),
    "axle": ("pin", "axle", "bar", "socket", "cross", "clip"),
    "hinge": ("1", "2"),
    "ball": ("0", "1"),
    "fixed": ("0", "3", "12"),
}
POLAR = ("hinge", "ball", "fixed")


def _random_labels(rng: np.random.Generator, count: int) -> dict[str, dict[str, object]]:
    """Part types with a few connectors of every kind, some on a grid of angles and some anywhere."""
    types: dict[str, dict[str, object]] = {}
    for number in range(count):
        labels: dict[str, dict[str, object]] = {}
        for kind, subtypes in SUBTYPES.items():
            for subtype in subtypes:
                rows = [_random_row(rng, kind) for _ in range(rng.integers(0, 3))]
                polarity = ("in", "on")[rng.integers(2)]
                labels.setdefault(kind, {})[subtype] = {polarity: rows} if kind in POLAR else rows
        types[f"type{number}"] = labels
    return types


def _random_row(rng: np.random.Generator, kind: str) -> list[float]:
    position = rng.uniform(-3, 3, 3).round(2).tolist()
    angles = (rng.choice([0, 0, 0, 90], 2) + rng.choice([0, 0, 5], 2)).tolist()
    extra = float(rng.choice([2, 9, 10, 30])) if kind == "axle" else float(rng.choice([0, 0, 90]))
    return position if kind == "ball" else [*position, *angles, extra]


def _random_scene(rng: np.random.Generator, types: dict[str, dict[str, object]], count: int) -> Scene:
    """Parts crowded into a cube of 8 LDU, most of them upright."""
    matrices = [np.eye(3) if rng.random() < 0.6 else random_rotation(rng) for _ in range(count)]
    if count > 3:
        matrices[2] = np.diag([1.0, 1.0, -1.0])
    stems = [f"type{rng.integers(len(types))}" for _ in range(count)]
    positions = rng.uniform(-4, 4, (count, 3))
    return scene(*zip(stems, positions, matrices, strict=True))


Edge = tuple[int, int, int, int, str]  # part a, connector a, part b, connector b, family


def _edges(found: Connections) -> list[Edge]:
    return [
        (int(a), int(i), int(b), int(j), FAMILIES[family])
        for a, i, b, j, family in zip(
            found.part_a, found.connector_a, found.part_b, found.connector_b, found.families, strict=True
        )
    ]


class _One:
    """One placed connector."""

    def __init__(self, connectors: Connectors, row: int, matrix: Floats, position: Floats) -> None:
        self.kind = KINDS[connectors.kinds[row]]
        self.subtype = connectors.subtypes[row]
        self.polarity = POLARITIES[connectors.polarities[row]]
        self.origin = matrix @ connectors.origins[row] + position
        self.frame = matrix @ connectors.frames[row]
        self.axis = -self.frame[:, 1]
        self.half = max(4.0, float(connectors.extras[row]))


def _family(a: _One, b: _One) -> str | None:
    """The family in which a is the first side of a pair with b, by the rules one after the other."""
    dot, near = float(a.axis @ b.axis), float(np.linalg.norm(a.origin - b.origin)) <= 3.0
    if (a.kind, b.kind) == ("stud", "hole"):
        return "stud" if near and (a.subtype, b.subtype) in STUD_MATES and dot >= 0.95 else None
    if (a.kind, b.kind) == ("axle", "axle") and (b.subtype, a.subtype) in AXLE_MATES:
        along = float((b.origin - a.origin) @ b.axis)
        across2 = float((b.origin - a.origin) @ (b.origin - a.origin)) - along**2
        if across2 > 9.0 or abs(dot) < 0.9:
            return None
        return "axle" if a.half + b.half - abs(along) + np.sqrt(9.0 - across2) >= 4.0 else None
    if a.kind != b.kind or a.subtype != b.subtype or (a.polarity, b.polarity) != ("in", "on") or not near:
        return None
    if a.kind == "hinge" and abs(dot) < 0.95:
        return None
    stiff = a.kind == "fixed" and a.subtype in ("0", "1", "2", "3")
    if stiff and (dot < 0.9999 or np.trace(a.frame.T @ b.frame) < 2.99):
        return None
    return a.kind


def _reference(model: Scene, catalogue: LabelCatalogue) -> list[Edge]:
    ones = []
    for part, stem in enumerate(model.stems):
        connectors = catalogue.connectors(stem)
        pose = model.matrices[part], model.positions[part]
        ones += [(part, row, _One(connectors, row, *pose)) for row in range(len(connectors))]
    edges = []
    for part_a, row_a, a in ones:
        for part_b, row_b, b in ones:
            family = _family(a, b) if part_a != part_b else None
            if family is not None:
                edges.append((part_a, row_a, part_b, row_b, family))
    return sorted(edges)


@pytest.mark.parametrize("seed", range(6))
def test_equal_to_looking_at_every_pair(seed: int) -> None:
    rng = np.random.default_rng(seed)
    types = _random_labels(rng, 5)
    catalogue = LabelCatalogue(types)
    model = _random_scene(rng, types, 14)
    expected = _reference(model, catalogue)
    assert sorted(_edges(connect(model, catalogue))) == expected
    assert len(expected) > 10


def test_the_random_scenes_have_edges_of_every_family() -> None:
    seen: Counter[str] = Counter()
    for seed in range(6):
        rng = np.random.default_rng(seed)
        types = _random_labels(rng, 5)
        seen.update(connect(_random_scene(rng, types, 14), LabelCatalogue(types)).by_family())
    assert set(seen) == set(FAMILIES)


@pytest.mark.parametrize("seed", range(4))
def test_the_order_of_the_parts_does_not_matter(seed: int) -> None:
    rng = np.random.default_rng(100 + seed)
    types = _random_labels(rng, 6)
    catalogue, model = LabelCatalogue(types), _random_scene(rng, types, 40)
    order = rng.permutation(len(model))
    shuffled = scene(*((model.stems[i], model.positions[i], model.matrices[i]) for i in order))
    renamed = [
        (int(order[a]), i, int(order[b]), j, family)
        for a, i, b, j, family in _edges(connect(shuffled, catalogue))
    ]
    assert sorted(renamed) == sorted(_edges(connect(model, catalogue)))


@pytest.mark.parametrize("seed", range(4))
def test_a_rigid_motion_of_the_whole_changes_nothing(seed: int) -> None:
    rng = np.random.default_rng(200 + seed)
    types = _random_labels(rng, 6)
    catalogue, model = LabelCatalogue(types), _random_scene(rng, types, 40)
    rotation, shift = random_rotation(rng), rng.uniform(-1000, 1000, 3)
    moved = scene(
        *(
            (stem, rotation @ position + shift, rotation @ matrix)
            for stem, position, matrix in zip(model.stems, model.positions, model.matrices, strict=True)
        )
    )
    before, after = connect(model, catalogue), connect(moved, catalogue)
    assert _edges(after) == _edges(before)
    np.testing.assert_allclose(after.residual_ldu, before.residual_ldu, atol=1e-9)
    np.testing.assert_allclose(after.residual_rad, before.residual_rad, atol=1e-7)


def test_the_same_input_gives_the_same_bits() -> None:
    rng = np.random.default_rng(7)
    types = _random_labels(rng, 6)
    model = _random_scene(rng, types, 40)
    first, second = (connect(model, LabelCatalogue(types)) for _ in range(2))
    for name in ("part_a", "part_b", "connector_a", "connector_b", "residual_ldu", "residual_rad"):
        assert getattr(first, name).tobytes() == getattr(second, name).tobytes()


def test_components_equal_a_search_through_the_graph() -> None:
    rng = np.random.default_rng(3)
    types = _random_labels(rng, 4)
    model = _random_scene(rng, types, 60)
    spread = scene(*zip(model.stems, model.positions * 8, model.matrices, strict=True))
    found = connect(spread, LabelCatalogue(types))
    neighbours: dict[int, set[int]] = {part: set() for part in range(60)}
    for a, _, b, _, _ in _edges(found):
        neighbours[a].add(b)
        neighbours[b].add(a)
    expected = np.full(60, -1)
    for part in range(60):
        if expected[part] < 0:
            number, queue = expected.max() + 1, [part]
            while queue:
                here = queue.pop()
                expected[here] = number
                queue += [there for there in sorted(neighbours[here]) if expected[there] < 0]
    components = found.components()
    assert components.labels.tolist() == expected.tolist()
    assert components.sizes.tolist() == np.bincount(expected).tolist()
    assert 1 < len(components.sizes) < 60
