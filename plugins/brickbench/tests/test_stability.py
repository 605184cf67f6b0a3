"""The verdict on scenes with known truth, by screen and by both engines."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest
from stability_scenes import Builder, Shapes, above, all_scenes, in_the_air, spin, tower, wall

from evalkit_brickbench.scene import Scene
from evalkit_brickbench.stability import FacingCache, Solids, Stability, judge_stability

SCENES = all_scenes()
ONE_COMPONENT = [name for name, (builder, _) in SCENES.items() if len(set(builder.labels)) == 1]


def judge(builder: Builder, **options: object) -> Stability:
    return judge_stability(builder.scene(), builder.labels, builder.shapes, **options)  # type: ignore[arg-type]


@pytest.mark.parametrize("name", SCENES)
def test_scene_with_known_truth(name: str) -> None:
    builder, stands = SCENES[name]
    assert judge(builder).stable is stands


@pytest.mark.parametrize("name", ["overhang inside", "overhang outside", "air 4", "lid on a box", "arch"])
def test_surfaces_that_are_inset_give_the_same_verdict(name: str) -> None:
    builder, stands = SCENES[name]
    builder.shapes.inset = 0.25
    try:
        found = judge(builder)
    finally:
        builder.shapes.inset = 0.0
    assert found.stable is stands
    exact = judge(builder)
    assert [m.drop_ldu for m in found.components] == pytest.approx([m.drop_ldu for m in exact.components])


@pytest.mark.parametrize("name", ONE_COMPONENT)
def test_shortcut_for_one_component_equals_simulation(name: str) -> None:
    builder, stands = SCENES[name]
    simulated = judge(builder, screen=False)
    assert simulated.method == "simulation"
    assert simulated.stable is stands
    assert judge(builder).stable is stands


@pytest.mark.parametrize("engine", ["pybullet", "mujoco"])
def test_engines_see_what_the_screen_sees(engine: str) -> None:
    for name in ("two bricks flush", "above 2", "overhang inside", "overhang outside", "caught in a cup"):
        builder, stands = SCENES[name]
        found = judge(builder, engine=engine, screen=False)
        assert found.stable is stands, name
        assert found.engine is not None
        assert found.engine.startswith(engine)


@pytest.mark.parametrize("count", [10, 100])
def test_loose_towers_are_certified_without_simulation(count: int) -> None:
    found = judge(tower(count))
    assert (found.stable, found.method, len(found.clusters)) == (True, "screen", 1)


def test_report_names_what_moves_and_what_sets_the_ground() -> None:
    found = judge(in_the_air(8))
    assert found.ground_part == 0
    assert found.ground_ldu == 0.0
    assert [(m.component, m.drop_ldu, m.furthest_part) for m in found.moving] == [(1, 8.0, 1)]
    assert found.in_the_air == found.moving
    assert found.max_displacement_ldu == 8.0
    assert found.touching == ()


def test_centre_of_mass_is_reported_beside_the_verdict() -> None:
    builder, _ = SCENES["overhang outside"]
    found = judge(builder)
    margins = [motion.centre_margin_ldu for motion in found.components]
    assert margins[0] == pytest.approx(20.0, abs=0.05)
    assert margins[1] == pytest.approx(-2.0, abs=0.05)
    assert found.touching == ((0, 1),)


@pytest.mark.parametrize(("height", "flagged"), [(2.9, False), (2.96, True), (3.04, True), (3.1, False)])
def test_falls_close_to_the_limit_are_flagged(height: float, flagged: bool) -> None:
    found = judge(in_the_air(height))
    assert found.stable is (height < 3)
    assert any("too close to the limit" in note for note in found.notes) is flagged


def test_same_inputs_same_bits_whatever_was_judged_before() -> None:
    for builder in (above(2), SCENES["turned brick on a turned brick"][0]):
        solids, cache = Solids(builder.shapes), FacingCache()
        first = judge(builder, solids=solids, cache=cache)
        assert judge(builder, solids=solids, cache=cache).as_dict() == first.as_dict()
        assert judge(builder).as_dict() == first.as_dict()


def test_place_and_heading_of_a_scene_change_nothing() -> None:
    for name in ("overhang inside", "overhang outside", "see-saw loaded evenly", "lone overhang outside"):
        builder, stands = SCENES[name]
        scene, turn = builder.scene(), spin(33)
        moved = replace(
            scene, matrices=turn @ scene.matrices, positions=scene.positions @ turn.T + [123.4, -56.7, 8.9]
        )
        assert judge_stability(moved, builder.labels, builder.shapes).stable is stands, name


def test_mirrored_and_scaled_parts_keep_their_true_shape() -> None:
    builder = Builder().box(0, 0, 0, 0, 20, 24, 20).box(1, 12, 24, 0, 40, 8, 20)
    scene = builder.scene()
    mirrored = replace(scene, matrices=scene.matrices @ np.diag([-1.0, 1.0, 1.0]))
    stretched = replace(scene, matrices=np.array([np.diag([2.0, 1.0, 1.0]), np.eye(3)]))
    assert judge_stability(scene, builder.labels, builder.shapes).stable is False
    assert judge_stability(mirrored, builder.labels, builder.shapes).stable is False
    assert judge_stability(stretched, builder.labels, builder.shapes).stable is True


def test_unknown_and_shapeless_parts_are_left_out_and_noted() -> None:
    scene = Builder().box(0, 0, 0, 0, 40, 24, 40).box(1, 200, 50, 0, 40, 24, 40).scene()
    shapes = Shapes(
        points={"box 40 24 40": Builder().box(0, 0, 0, 0, 40, 24, 40).shapes.points["box 40 24 40"]}
    )
    assert judge_stability(scene, [0, -1], shapes).notes == ("1 unknown part left out",)
    named = replace(scene, stems=("box 40 24 40", "ghost"))
    found = judge_stability(named, [0, 1], shapes)
    assert (found.stable, found.notes) == (True, ("no shape known, left out: ghost",))
    nothing = judge_stability(named, [-1, 1], shapes)
    assert (nothing.stable, nothing.method) == (None, "undetermined")


def test_simulation_that_takes_too_long_is_admitted() -> None:
    found = judge(above(2), seconds=0.01)
    assert (found.stable, found.method) == (None, "undetermined")
    assert found.clusters[0].reason == "the time for simulation was up"


def test_an_engine_that_dies_leaves_the_verdict_open(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", "/bin/false")
    found = judge(above(2))
    assert (found.stable, found.method) == (None, "undetermined")
    assert "died (1)" in found.clusters[0].reason


def test_bodies_that_start_inside_each_other_are_undetermined() -> None:
    builder = Builder().box(0, 0, 0, 0, 40, 24, 40).box(1, 30, 3, 0, 40, 24, 40)
    found = judge(builder, screen=False)
    assert (found.stable, found.method) == (None, "undetermined")


def test_labels_and_engines_are_checked() -> None:
    builder = tower(2)
    with pytest.raises(ValueError, match="as many component labels"):
        judge_stability(builder.scene(), [0], builder.shapes)
    with pytest.raises(ValueError, match="use pybullet or mujoco"):
        judge(builder, engine="newton")


def test_four_thousand_parts_in_one_component_need_no_simulation() -> None:
    builder = wall(4000)
    found = judge(builder)
    assert (found.stable, found.method) == (True, "screen")
    assert found.components[0].parts == 4000


def test_what_creeps_past_the_limit_is_called_drift() -> None:
    builder, _ = SCENES["arch"]
    found = judge(builder, screen=False)
    assert found.stable is False
    assert any("numerical drift" in note for note in found.notes)


def test_empty_scene() -> None:
    none = np.zeros(0, dtype=np.int32)
    empty = Scene((), none, np.zeros((0, 3, 3)), np.zeros((0, 3)), (), none)
    assert judge_stability(empty, [], Shapes()).stable is None


def test_importing_the_package_loads_nothing_heavy() -> None:
    code = (
        "import sys, evalkit_brickbench.stability; "
        "sys.exit(any(m in sys.modules for m in ('scipy', 'pybullet', 'mujoco', 'numpy')))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_clusters_with_too_many_pieces_are_undetermined(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("evalkit_brickbench.stability.pieces.PIECE_LIMIT", 1)
    found = judge(SCENES["two bricks flush"][0], screen=False)
    assert (found.stable, found.method, found.engine) == (None, "undetermined", None)
    assert "too many to simulate" in found.clusters[0].reason
