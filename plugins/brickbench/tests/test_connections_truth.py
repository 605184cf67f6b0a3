"""Connections of real set models against their published graphs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from evalkit_brickbench.connections import Connections, connect, unlabelled_contacts
from evalkit_brickbench.ldraw.flatten import read_scene
from evalkit_brickbench.parts.wheels import WheelCatalogue
from evalkit_brickbench.scene import Scene

MODELS = [
    "10213-1 - Shuttle Adventure.mpd",
    "10214-1 - Tower Bridge.mpd",
    "1180-1 - Space Port Moon Buggy.mpd",
    "21022-1 - Lincoln Memorial.mpd",
    "40448 - Vintage Car.mpd",
    "5934 - Dino Explorer.mpd",
    "6066 - Camouflaged Outpost.mpd",
    "6831-1 - Message Decoder.mpd",
    "6861-1 - X1 Patrol Craft.mpd",
    "6887-1 - Allied Avenger.mpd",
    "7784 - The Batmobile Ult_V1hXfMw.mpd",
    "928-1 - Galaxy Explorer.mpd",
    "car_jessiman.ldr",
    "ldraw_test_lpub3d.mpd",
    "torso_same_name_leocad533.mpd",
]


def test_every_model_of_the_truth_is_here(shared_data: Path) -> None:
    truth = json.loads((shared_data / "brickbench" / "graph_truth.json").read_text("utf-8"))
    assert sorted(row["file"] for row in truth) == sorted(MODELS)


@pytest.mark.parametrize("name", MODELS)
def test_equal_to_the_published_graph(name: str, shared_data: Path, wheel_catalogue: WheelCatalogue) -> None:
    folder = shared_data / "brickbench"
    graphs = json.loads((folder / "graph_truth.json").read_text("utf-8"))
    (truth,) = (row for row in graphs if row["file"] == name)
    model, _ = read_scene(folder / "models" / name)
    found = connect(model, wheel_catalogue)
    assert _summary(model, found) == {key: truth[key] for key in _summary(model, found)}


def _summary(model: Scene, found: Connections) -> dict[str, Any]:
    known, sizes = found.parts.known, found.components().sizes
    unknown = sum(count * _references(model, stem) for stem, count in found.unknown)
    return {
        "leaf_refs": int(known.sum()) + unknown,
        "known": int(known.sum()),
        "unknown": unknown,
        "connectors": len(found.placed),
        "components": len(sizes),
        "largest": int(sizes.max(initial=0)),
        "edges": len(found),
        "families": found.by_family(),
        "neg_det": int(found.parts.reflected.sum()),
        "nonunit": int(found.parts.deformed.sum()),
    }


def _references(model: Scene, stem: str) -> int:
    """The published graphs count the references inside of an unknown part that a file embeds, which is one
    part here."""
    if stem not in model.embedded:
        return 1
    references = [line.split(maxsplit=14) for line in model.embedded[stem].splitlines()]
    names = [fields[14].lower().removesuffix(".dat") for fields in references if fields[:1] == ["1"]]
    return sum(_references(model, name) for name in names)


def test_tails_that_stand_on_studs_under_3479_are_reported(
    shared_data: Path, wheel_catalogue: WheelCatalogue
) -> None:
    model, _ = read_scene(shared_data / "brickbench" / "models" / "6861-1 - X1 Patrol Craft.mpd")
    found = connect(model, wheel_catalogue)
    contacts = unlabelled_contacts(found, wheel_catalogue)
    assert {model.stems[part] for part in contacts.parts} >= {"3479"}
    labels = found.components().labels
    assert (labels[contacts.stud_parts] != labels[contacts.parts]).all()


def test_real_models_do_not_depend_on_the_order_of_parts(
    shared_data: Path, wheel_catalogue: WheelCatalogue
) -> None:
    model, _ = read_scene(shared_data / "brickbench" / "models" / "928-1 - Galaxy Explorer.mpd")
    order = np.arange(len(model))[::-1]
    reversed_model = Scene(
        stems=tuple(model.stems[i] for i in order),
        colours=model.colours[order],
        matrices=model.matrices[order],
        positions=model.positions[order],
        paths=tuple(model.paths[i] for i in order),
        steps=model.steps[order],
    )
    first, second = connect(model, wheel_catalogue), connect(reversed_model, wheel_catalogue)
    edges = np.column_stack(
        [order[second.part_a], second.connector_a, order[second.part_b], second.connector_b]
    )
    expected = np.column_stack([first.part_a, first.connector_a, first.part_b, first.connector_b])
    np.testing.assert_array_equal(edges[np.lexsort(edges.T)], expected[np.lexsort(expected.T)])
