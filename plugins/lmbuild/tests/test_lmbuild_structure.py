"""S.1–S.3 and R.1: scenes with known outcomes, recorded figures of the release, injected duplicates."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from lmbuild_scenes import DOWN, FACTS, bench, box, box_mesh, boxes, design_of

from evalkit_lmbuild.design import Design, Joint, Part, Step
from evalkit_lmbuild.kernel import PITCH, Field, KernelError, design_pitch
from evalkit_lmbuild.kernel import field as kernel_field
from evalkit_lmbuild.kernel.voxels import MIN_PITCH
from evalkit_lmbuild.scoring.assembly import StepVerdict, assembly, assembly_score
from evalkit_lmbuild.scoring.result import Result
from evalkit_lmbuild.scoring.structure import (
    Targets,
    collisions,
    connectivity,
    connectivity_score,
    stability,
    stability_score,
    stability_targets,
    structure_field,
)

BENCH_ORDER = ("left", "right", "plank")


def scored(design: Design, facts: Any = FACTS) -> dict[str, Result]:
    """The four metrics of a design."""
    field = structure_field(design)
    return {
        "S.1": connectivity(design, facts, field),
        "S.2": collisions(design, facts, field),
        "S.3": stability(design, facts, field),
        "R.1": assembly(design, facts, Field(design.parts)),
    }


def value(result: Result) -> float:
    """The score of a metric that applies; its evidence must be JSON."""
    json.dumps(dict(result.evidence), allow_nan=False)
    assert result.score is not None
    return result.score


def joint(parent: str, child: str, origin: Sequence[float], kind: str = "fixed") -> Joint:
    """A joint about the vertical, if it moves."""
    x, y, z = origin
    return Joint(f"{parent}-{child}", kind, parent, child, (0.0, 0.0, 1.0), (x, y, z))


def test_a_bench_rests_on_its_trestles_and_stands() -> None:
    found = scored(design_of(bench(), order=BENCH_ORDER))
    assert value(found["S.1"]) == pytest.approx(2 / 3)
    assert found["S.1"].evidence["resting"] == [["left", "plank"], ["plank", "right"]]
    assert value(found["S.2"]) == 1.0
    mass_height = (0.8 * 0.3 * 0.04 * 0.48 + 2 * 0.05 * 0.28 * 0.46 * 0.23) / (0.0096 + 2 * 0.00644)
    exact = math.degrees(math.atan2(0.14, mass_height))
    assert found["S.3"].evidence["exact_tilt_deg"] == pytest.approx(exact)
    assert found["S.3"].evidence["critical_tilt_deg"] == pytest.approx(exact, abs=0.5)
    assert value(found["S.3"]) == pytest.approx((min(1, exact / 30) + 1) / 2, abs=0.02)
    assert found["R.1"].evidence["E"] == 1.0
    single = math.degrees(math.atan2(0.025, 0.23)) / 30
    steps = found["R.1"].evidence["steps"]
    assert isinstance(steps, list)
    assert [step["margin"] for step in steps] == pytest.approx([single, single, min(1, exact / 30)], abs=0.02)


def test_fastened_by_a_joint_by_interlock_by_studs() -> None:
    parts = bench()
    screwed = scored(design_of(parts, joint("plank", "left", (-0.3, 0, 0.46))))["S.1"]
    assert screwed.evidence["fastened"] == [{"pair": ["left", "plank"], "by": "joint"}]
    assert value(screwed) == pytest.approx((2 + 0.5) / 3)
    astray = scored(design_of(parts, joint("plank", "left", (-0.3, 0, 0.3))))["S.1"]
    assert astray.evidence["fastened"] == []
    sunk = [*parts[1:], box("left", (-0.3, 0, 0.235), (0.05, 0.28, 0.47))]
    assert scored(design_of(sunk))["S.1"].evidence["fastened"] == [
        {"pair": ["left", "plank"], "by": "interlock"}
    ]
    bricks = [Part(p.id, p.mesh, p.position, source="ldraw") for p in parts]
    assert value(scored(design_of(bricks))["S.1"]) == 1.0
    beside = [
        box("a", (0, 0, 0.1), (0.2,) * 3, source="ldraw"),
        box("b", (0.2, 0, 0.1), (0.2,) * 3, source="ldraw"),
    ]
    assert scored(design_of(beside))["S.1"].evidence["fastened"] == []


def test_a_floating_part_is_named_and_a_joint_near_both_ties_it() -> None:
    parts = [*bench(), box("float", (0, 0, 0.6), (0.1, 0.1, 0.17))]
    found = scored(design_of(parts, order=(*BENCH_ORDER, "float")))
    assert found["S.1"].evidence["floating"] == [["float"]]
    volumes = {p.id: structure_field(design_of(parts)).volume(p.id) for p in parts}
    share = 1 - volumes["float"] / sum(volumes.values())
    assert value(found["S.1"]) == pytest.approx((share + 2 / 3 + 0) / 3)
    first = found["R.1"].evidence["first_failure"]
    assert isinstance(first, dict)
    assert (first["step"], first["part"], first["reason"]) == (3, "float", "floating")
    assert found["R.1"].evidence["E"] == 0.75
    tied = scored(design_of(parts, joint("plank", "float", (0, 0, 0.507), "revolute")))["S.1"]
    assert tied.evidence["n_components"] == 1


def test_a_collision_counts_from_a_tenth_and_with_a_joint_from_a_quarter() -> None:
    def pair(depth: float, *joints: Joint) -> Design:
        return design_of(
            boxes({"a": ((0, 0, 0.1), (0.2,) * 3), "b": ((0.15 - depth, 0, 0.1), (0.1,) * 3)}), *joints
        )

    assert value(scored(pair(0.008))["S.2"]) == 1.0
    found = scored(pair(0.02))["S.2"]
    assert value(found) == 0.0
    listed = found.evidence["colliding"]
    assert isinstance(listed, list)
    assert listed[0]["pair"] == ["a", "b"]
    assert listed[0]["share_of_smaller"] == pytest.approx(0.18, abs=0.03)
    assert value(scored(pair(0.02, joint("a", "b", (0.1, 0, 0.1))))["S.2"]) == 1.0
    assert value(scored(pair(0.04, joint("a", "b", (0.1, 0, 0.1))))["S.2"]) == 0.0


def boards(normal: int) -> Design:
    """Three boards of 1.2 × 2 m, 1.5 mm thick, one on the other along an axis."""
    size, along = np.insert([1.2, 2.0], normal, 0.0015), np.eye(3)[normal]
    return design_of([box(f"board{i}", along * 0.0015 * i, size) for i in range(3)])


def test_large_thin_boards_are_scored_however_they_lie() -> None:
    pitches = {design_pitch(boards(normal)) for normal in range(3)}
    assert len(pitches) == 1
    assert MIN_PITCH < pitches.pop() < PITCH
    upright = boards(0)  # a word of 64 cells to each of their rows
    field = structure_field(upright)
    assert value(connectivity(upright, FACTS, field)) == pytest.approx(2 / 3)
    assert value(collisions(upright, FACTS, field)) == 1


def test_triangles_are_judged_over_all_parts_whichever_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    parts = [box("small", (0, 0, 0), (0.1, 0.1, 0.1)), box("large", (1, 0, 0), (0.5, 0.5, 0.5))]
    monkeypatch.setattr(kernel_field, "RASTER_LIMIT", 5e4)
    for asked in ("small", "large"):
        with pytest.raises(KernelError, match="'large'"):
            Field(parts).volume(asked)
    assert Field(parts[:1]).volume("small") > 0


def test_what_does_not_apply_and_what_scores_nothing() -> None:
    assert [result.score for result in scored(Design()).values()] == [0.0] * 4
    alone = scored(design_of([box("a", (0, 0, 0.1), (0.2,) * 3)]))
    assert alone["S.1"].score is None
    assert alone["S.2"].score is None
    assert alone["S.1"].reason
    assert value(alone["S.3"]) == 1.0
    assert value(alone["R.1"]) == 0.0
    hanging = replace(FACTS, free_standing=False)
    assert scored(design_of(bench()), hanging)["S.3"].score is None
    huge = design_of([box("a", (0, 0, 0), (6, 6, 6)), box("b", (0, 0, 4), (0.1,) * 3)])
    field = structure_field(huge)
    for metric in (connectivity, collisions, stability):
        result = metric(huge, FACTS, field)
        assert result.score == 0.0
        assert "'a'" in result.reason
    small = replace(FACTS, reference=design_of([box("r", (0, 0, 0.05), (0.09, 0.09, 0.09))]))
    assert "limit is 0.779 m" in scored(design_of(bench()), small)["S.1"].reason


def test_stability_is_measured_against_the_reference() -> None:
    slim = design_of([box("r", (0, 0, 0.5), (0.1, 0.1, 1.0))])
    targets = stability_targets(slim)
    assert targets.tilt_deg == pytest.approx(math.degrees(math.atan2(0.05, 0.5)), abs=0.2)
    assert targets.push == pytest.approx(0.05, abs=0.003)
    flat = design_of([box("r", (0, 0, 0.05), (1.0, 1.0, 0.1))])
    assert stability_targets(flat) == Targets(30.0, 0.35)
    assert stability_targets(None) == Targets(30.0, 0.20)
    assert value(scored(slim, replace(FACTS, reference=slim))["S.3"]) == 1.0
    assert value(scored(slim)["S.3"]) < 0.3


def test_the_order_of_assembly_matters() -> None:
    floating = assembly(design_of(bench(), order=("plank", "left", "right")), FACTS, Field(bench()))
    first = floating.evidence["first_failure"]
    assert isinstance(first, dict)
    assert (first["step"], first["part"], first["reason"]) == (0, "plank", "floating")
    falls = assembly(design_of(bench(), order=("left", "plank", "right")), FACTS, Field(bench()))
    steps = falls.evidence["steps"]
    assert isinstance(steps, list)
    assert [step["reason"] for step in steps] == [None, "falls over", None]
    assert falls.evidence["E"] == pytest.approx(1 / 3)
    # The legs stand apart until the plank joins them: only the body of the new part is asked to stand.
    done = assembly(design_of(bench(), order=BENCH_ORDER), FACTS, Field(bench()))
    assert done.evidence["E"] == 1.0


def test_a_part_that_cant_come_in_is_blocked() -> None:
    parts = [*bench(), box("cover", (0, 0, 0.52), (0.8, 0.3, 0.04))]
    skirts = boxes(
        {
            "front": ((0, -0.17, 0.45), (0.9, 0.04, 0.2)),
            "back": ((0, 0.17, 0.45), (0.9, 0.04, 0.2)),
            "west": ((-0.43, 0, 0.45), (0.06, 0.3, 0.2)),
            "east": ((0.43, 0, 0.45), (0.06, 0.3, 0.2)),
        }
    )
    order = ("left", "right", "front", "back", "west", "east", "cover", "plank")
    result = assembly(design_of([*parts, *skirts], order=order), FACTS, Field([*parts, *skirts]))
    steps = result.evidence["steps"]
    assert isinstance(steps, list)
    assert (steps[-1]["part"], steps[-1]["reason"], steps[-1]["direction"]) == ("plank", "blocked", None)


def test_parts_left_out_count_as_steps_not_taken() -> None:
    verdicts = [StepVerdict("a", None, DOWN, 1.0), StepVerdict("b", "floating", DOWN, 0.0)]
    assert assembly_score(verdicts, 4) == (0.25, 0.25)
    design = Design(tuple(bench()), (), (Step("left"), Step("left"), Step("right")))
    result = assembly(design, FACTS, Field(design.parts))
    assert result.evidence["not_in_sequence"] == ["plank"]
    assert result.evidence["E"] == pytest.approx(2 / 3)


BRICK = (0.016, 0.008, 0.0096)


def brick_wall() -> list[Part]:
    """A wall of bricks of 16 × 8 × 9.6 mm, in bond, without mortar."""
    mesh = box_mesh(BRICK)
    parts = []
    for course in range(8):
        for i in range(12):
            x = (i + 0.5 * (course % 2)) * BRICK[0]
            parts.append(Part(f"c{course}_{i}", mesh, (x, 0.0, (course + 0.5) * BRICK[2]), source="ldraw"))
    return parts


def test_a_duplicated_brick_is_found_at_the_scaled_pitch_and_not_at_4_mm() -> None:
    wall = brick_wall()
    random = np.random.default_rng(7)
    found = {"scaled": 0, "4 mm": 0}
    for chosen in random.choice(len(wall), 10, replace=False).tolist():
        twin = replace(wall[chosen], id="twin")
        design = design_of([*wall, twin])
        for name, field in (("scaled", structure_field(design)), ("4 mm", Field(design.parts, PITCH))):
            listed = collisions(design, FACTS, field).evidence["colliding"]
            assert isinstance(listed, list)
            found[name] += [hit["pair"] for hit in listed] == [[wall[chosen].id, "twin"]]
    assert found["scaled"] >= 9
    assert found["4 mm"] <= 3
    assert value(scored(design_of(wall))["S.2"]) == 1.0
    assert value(scored(design_of(wall))["S.1"]) == 1.0


def test_recorded_figures_of_the_release(lmbuild_data: Path) -> None:
    designs = json.loads((lmbuild_data / "recorded_scores.json").read_text())["designs"]
    assert designs
    for design in designs:
        one, three, final = design["S1"], design["S3"], design["final_v38"]
        score = connectivity_score(
            one["anchored_volume_frac"], one["n_components"], one["n_parts"], one["n_fastened"]
        )
        assert score == pytest.approx(final["S.1"], abs=1e-6)
        assert score == pytest.approx(one["score"], abs=1e-12)
        pairs = one["n_interfacing_pairs"]
        assert 1 - design["S2"]["n_colliding"] / pairs == pytest.approx(final["S.2"], abs=1e-6)
        targets = Targets(three["target_tilt_deg"], three["target_push"])
        assert three["push_ratio"] == pytest.approx(
            three["support_margin_m"] / (three["z_top_m"] - three["ground_z"]), abs=1e-9
        )
        tilt = math.degrees(math.atan2(three["support_margin_m"], three["com_height_m"]))
        assert tilt == pytest.approx(three["critical_tilt_deg"], abs=1e-9)
        score = stability_score(tilt, three["push_ratio"], targets)
        assert score == pytest.approx(final["S.3"], abs=1e-6)


def test_recorded_formulas_by_hand() -> None:
    # The same formulas on figures of our own: 7 of 8 contacts' worth, two groups, a third of the tilt.
    assert connectivity_score(0.9, 2, 9, 6) == pytest.approx((0.9 + 7 / 8 + 6 / 8) / 3)
    assert connectivity_score(1.0, 1, 3, 5) == 1.0
    assert stability_score(10.0, 0.1, Targets(30.0, 0.2)) == pytest.approx((1 / 3 + 1 / 2) / 2)
    assert stability_score(-4.0, -0.1, Targets()) == 0.0


def golden_parts(golden: Mapping[str, Any], variant: Mapping[str, Any]) -> list[Part]:
    """Parts of the control scene and of a variant of it."""
    return boxes({**golden["control"]["parts"], **variant.get("add", {})})


LEGS = ("leg0", "leg1", "leg2", "leg3")


def test_golden_scenes(lmbuild_data: Path) -> None:
    golden = json.loads((lmbuild_data / "golden_scenes.json").read_text())
    variants = {variant["name"]: variant for variant in golden["variants"]}
    control = design_of(golden_parts(golden, {}), order=(*LEGS, "top"))
    found = scored(control)
    assert found["S.1"].evidence["n_components"] == 1
    assert found["S.2"].evidence["colliding"] == []
    assert found["S.3"].evidence["critical_tilt_deg"] > 0  # type: ignore[operator]
    assert found["R.1"].evidence["E"] == 1.0
    assert 0 < found["R.1"].evidence["S"] < 1  # type: ignore[operator]

    floating = scored(design_of(golden_parts(golden, variants["floating_part"])))["S.1"]
    assert floating.evidence["floating"] == [["floater"]]
    intruded = scored(design_of(golden_parts(golden, variants["interpenetration"])))["S.2"]
    assert [hit["pair"] for hit in intruded.evidence["colliding"]] == [["intruder", "top"]]  # type: ignore[attr-defined]
    wrong = design_of(golden_parts(golden, {}), Joint("j", **variants["joint_origin_off_boundary"]["joint"]))
    assert scored(wrong)["S.1"].evidence["fastened"] == []
    top_first = scored(design_of(golden_parts(golden, {}), order=("top", *LEGS)))["R.1"]
    assert top_first.evidence["E"] == 0.0
    first = top_first.evidence["first_failure"]
    assert isinstance(first, dict)
    assert {key: first[key] for key in ("step", "reason")} == {"step": 0, "reason": "floating"}


@pytest.mark.parametrize("name", ["control", "top_first", "intruder"])
def test_reference_values(lmbuild_data: Path, name: str) -> None:
    golden = json.loads((lmbuild_data / "golden_scenes.json").read_text())
    expected = json.loads((lmbuild_data / "reference_values.json").read_text())[name]
    variant = golden["variants"][1] if name == "intruder" else {}
    order = {
        "control": (*LEGS, "top"),
        "top_first": ("top", *LEGS),
        "intruder": (*LEGS, "top", "intruder"),
    }[name]
    design = design_of(golden_parts(golden, variant), order=order)
    found = scored(design)
    three, steps = found["S.3"].evidence, found["R.1"].evidence["steps"]
    assert isinstance(steps, list)
    assert design.diagonal == pytest.approx(expected["D"], abs=1e-4)
    assert three["pitch_mm"] == pytest.approx(expected["pitch_mm"], abs=1e-3)
    assert found["S.2"].evidence["n_touching"] == expected["n_rows"]
    assert len(found["S.2"].evidence["colliding"]) == expected["n_coll"]  # type: ignore[arg-type]
    for metric, key in (("S.1", "S1"), ("S.2", "S2"), ("S.3", "S3")):
        assert value(found[metric]) == pytest.approx(expected[key], abs=1e-4)
    assert three["critical_tilt_deg"] == pytest.approx(expected["tilt"], rel=0.01)
    assert three["push_ratio"] == pytest.approx(expected["push"], rel=0.01)
    assert three["com_height_m"] == pytest.approx(expected["com_h"], rel=0.01)
    assert found["R.1"].evidence["E"] == expected["R1"]["E"]
    assert found["R.1"].evidence["S"] == pytest.approx(expected["R1"]["S"], rel=0.01)
    assert [step["margin"] for step in steps] == pytest.approx(expected["R1"]["margins"], rel=0.01, abs=0.004)


def test_a_single_part_says_whether_the_reference_has_more() -> None:
    slab = design_of(boxes({"slab": ((0, 0, 0.01), (0.4, 0.3, 0.02))}))
    alone = scored(slab, replace(FACTS, reference=slab))["S.1"]
    assert (alone.score, alone.reason) == (None, "one part has nothing to be connected with")
    many = scored(slab, replace(FACTS, reference=design_of(bench())))
    assert (many["S.1"].score, many["S.2"].score) == (None, None)
    assert many["S.1"].reason.endswith("; the reference has more")
    assert many["S.1"].evidence == {"n_parts": 1, "n_parts_reference": 3}
