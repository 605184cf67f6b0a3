"""The computed metrics on designs that are changed on purpose."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import trimesh

import evalkit_lmbuild.tasks
from evalkit_lmbuild.design import Design, Mesh, Part
from evalkit_lmbuild.facts import ObjectFacts
from evalkit_lmbuild.kernel import Field, enclosed_parts, filled_cells
from evalkit_lmbuild.objects import object_facts, read_object
from evalkit_lmbuild.scoring.computed import COMPUTED, computed
from evalkit_lmbuild.scoring.decomposition import granularity
from evalkit_lmbuild.scoring.material_fit import fit

OBJECTS = Path(evalkit_lmbuild.tasks.__file__).parent / "objects"


@pytest.fixture(scope="module")
def keepsake() -> ObjectFacts:
    return object_facts(read_object(OBJECTS / "keepsake_box.json"))


def box(id: str, centre, size, **others) -> Part:
    shape = trimesh.creation.box(size)
    mesh = Mesh(np.asarray(shape.vertices, dtype=float), np.asarray(shape.faces, dtype=np.int32))
    return Part(id, mesh, tuple(map(float, centre)), **others)


def changed(design: Design, id: str, **fields) -> Design:
    parts = tuple(replace(part, **fields) if part.id == id else part for part in design.parts)
    return replace(design, parts=parts)


def without(design: Design, id: str) -> Design:
    return Design(
        tuple(part for part in design.parts if part.id != id),
        tuple(joint for joint in design.joints if id not in (joint.parent, joint.child)),
        tuple(step for step in design.sequence if step.part != id),
    )


def scores(design: Design, facts: ObjectFacts) -> dict[str, float | None]:
    return {metric: result.score for metric, result in computed(design, facts).items()}


def test_a_reference_is_like_itself(keepsake):
    found = scores(keepsake.reference, keepsake)
    for metric in ("S.1", "S.2", "S.3", "A.1", "A.2", "A.3", "D.3", "R.1", "R.2"):
        assert found[metric] == pytest.approx(1.0, abs=0.01), metric


def test_what_falls_when_something_is_wrong(keepsake):
    reference = keepsake.reference
    whole = scores(reference, keepsake)
    no_lid = scores(without(reference, "lid"), keepsake)
    for metric in ("A.1", "A.2", "A.3", "D.3"):
        assert no_lid[metric] < whole[metric] - 0.1, metric
    lifted = reference
    for id in ("lid", "knob"):
        x, y, z = reference.by_id[id].position
        lifted = changed(lifted, id, position=(x, y, z + 0.2))
    afloat = scores(lifted, keepsake)
    for metric in ("S.1", "A.2", "R.1"):
        assert afloat[metric] < whole[metric] - 0.1, metric
    soft = scores(changed(reference, "lid", material="cotton_fabric"), keepsake)
    assert soft["R.2"] == pytest.approx(1 - 1 / 7)
    backwards = scores(replace(reference, sequence=reference.sequence[::-1]), keepsake)
    assert backwards["R.1"] < 0.6
    assert {m: v for m, v in backwards.items() if m != "R.1"} == {
        m: v for m, v in whole.items() if m != "R.1"
    }


def test_a_turned_design_is_as_good(keepsake):
    """A design may face any of four ways: a quarter turn about z changes nothing that compares shapes."""
    turned = Design(
        tuple(
            replace(
                part,
                position=(-part.position[1], part.position[0], part.position[2]),
                rotation=(0.0, 0.0, 90.0),
            )
            for part in keepsake.reference.parts
        ),
        keepsake.reference.joints,
        keepsake.reference.sequence,
    )
    found = scores(turned, keepsake)
    for metric in ("A.1", "D.3", "R.2"):
        assert found[metric] == pytest.approx(1.0, abs=0.02), metric


def test_nothing_and_unloadable_score_zero(keepsake):
    assert set(scores(Design(), keepsake).values()) == {0.0}
    far = Design((box("a", (0, 0, 2000), (1, 1, 1)), box("b", (0, 0, 1), (1, 1, 1))))
    found = computed(far, keepsake)
    for metric in ("S.1", "S.2", "S.3", "R.1"):
        assert found[metric].score == 0.0
    assert "'a'" in found["S.1"].reason


def test_same_bits_every_time(keepsake):
    assert scores(keepsake.reference, keepsake) == scores(keepsake.reference, keepsake)
    assert len(COMPUTED) == 10


def test_granularity():
    assert granularity(19, 17) == pytest.approx(17 / 19)  # the recorded wheelchair: 0.8947368…
    assert granularity(10, 10) == 1.0
    assert granularity(5, 10) == granularity(20, 10) == 0.5


def test_material_classes_and_families():
    assert fit("steel", {"heavy_metal"}) == 1.0
    assert fit("steel", {"light_metal"}) == 0.5
    assert fit("steel", {"wood"}) == 0.0
    assert fit("memory_foam", {"textile"}) == 0.5
    assert fit(None, {"wood"}) == 0.0
    assert fit("unobtainium", {"wood"}) == 0.0


def test_what_lies_inside():
    """A cube in a closed case is inside; with the case's lid off it isn't."""
    walls = [
        box("floor", (0, 0, 0.01), (0.3, 0.3, 0.02)),
        box("left", (-0.14, 0, 0.12), (0.02, 0.3, 0.2)),
        box("right", (0.14, 0, 0.12), (0.02, 0.3, 0.2)),
        box("front", (0, -0.14, 0.12), (0.26, 0.02, 0.2)),
        box("back", (0, 0.14, 0.12), (0.26, 0.02, 0.2)),
    ]
    core = box("core", (0, 0, 0.06), (0.08, 0.08, 0.08))
    lid = box("lid", (0, 0, 0.23), (0.3, 0.3, 0.02))
    assert enclosed_parts(Field([*walls, core, lid])) == {"core"}
    assert enclosed_parts(Field([*walls, core])) == frozenset()
    assert enclosed_parts(Field([])) == frozenset()


def test_filled_cells_are_those_of_the_parts():
    cells = filled_cells(Field([box("a", (0.05, 0.05, 0.05), (0.1, 0.1, 0.1))], 0.01))
    used = np.argwhere(cells)
    assert set(np.ptp(used, axis=0) + 1) <= {10, 11}
    assert cells.sum() == np.prod(np.ptp(used, axis=0) + 1)
