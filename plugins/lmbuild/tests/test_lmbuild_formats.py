"""design.json with and without its GLB, and the GLBs of generators."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from evalkit_lmbuild.csg import compile_program
from evalkit_lmbuild.design import Design, Joint, Mesh, Part
from evalkit_lmbuild.formats import (
    CompletionError,
    DesignError,
    completed_joints,
    import_generated,
    parse_design,
    read_design,
    read_glb,
    write_design,
    write_glb,
)
from evalkit_lmbuild.handing_in import HandInError, documented


def _box(*size: float) -> dict[str, Any]:
    return {"nodes": [{"id": "b", "op": "box", "size": list(size)}], "output": "b"}


def _part(name: str, source: str, position: list[float], role: str) -> dict[str, Any]:
    place = {"kind": "created", "id": source, "position": position, "rotation": [0, 0, 30]}
    return {"id": name, "role": role, "material": "plywood", "source": place}


DOCUMENT: dict[str, Any] = {
    "system": "by hand",
    "tier": "C",
    "meta": {"note": "a box with a lid"},
    "parts": [_part("case", "case", [0, 0, 0.1], "case"), _part("lid", "cover", [0, 0, 0.21], "lid")],
    "joints": [
        {"id": "hinge", "type": "revolute", "parent": "case", "child": "lid", "axis": [1, 0, 0],
         "origin": [0, 0.15, 0.2], "limits": [0, 1.6]},
    ],
    "sequence": [{"part": "case"}, {"part": "lid", "direction": [0, 0, -1]}],
    "programs": {"case": _box(0.4, 0.3, 0.2), "cover": _box(0.4, 0.3, 0.02)},
}  # fmt: skip


def _same(a: Design, b: Design, tolerance: float) -> None:
    assert [part.id for part in a.parts] == [part.id for part in b.parts]
    assert (a.joints, a.sequence) == (b.joints, b.sequence)
    for one, other in zip(a.parts, b.parts, strict=True):
        assert (one.role, one.material, one.source, one.source_id) == (
            other.role, other.material, other.source, other.source_id,
        )  # fmt: skip
        assert (one.position, one.rotation) == (other.position, other.rotation)
        assert np.abs(one.mesh.vertices - other.mesh.vertices).max() <= tolerance
        assert np.abs(one.world.vertices - other.world.vertices).max() <= tolerance


def test_a_design_of_programs_needs_no_glb(tmp_path: Path) -> None:
    (tmp_path / "design.json").write_text(json.dumps(DOCUMENT))
    design = read_design(tmp_path / "design.json")
    assert design.by_id["lid"].mesh.key == compile_program(_box(0.4, 0.3, 0.02)).mesh.key
    assert design.joints[0].limits == (0.0, 1.6)
    assert design.sequence[1].direction == (0.0, 0.0, -1.0)
    assert design.meta["system"] == "by hand"
    assert design.bounds[1][2] == pytest.approx(0.22)


def test_round_trips_with_the_glb_and_without(tmp_path: Path) -> None:
    design = parse_design(DOCUMENT)
    path = write_design(design, tmp_path / "out", DOCUMENT["programs"], "by hand", "C")
    assert sorted(file.name for file in path.parent.iterdir()) == ["design.glb", "design.json"]
    _same(read_design(tmp_path / "out"), design, 1e-7)
    assert json.loads(path.read_text())["parts"][0]["n_triangles"] == 12
    (tmp_path / "out" / "design.glb").unlink()
    _same(read_design(path), design, 0.0)


def test_parts_of_the_catalogue_come_from_the_pool() -> None:
    document = copy.deepcopy(DOCUMENT)
    document["parts"][0]["source"] |= {"kind": "pool", "id": "P001"}
    mesh = compile_program(_box(0.1, 0.1, 0.1)).mesh
    assert parse_design(document, {"P001": mesh}).by_id["case"].mesh is mesh
    with pytest.raises(DesignError, match="'case' is made of 'P001'"):
        parse_design(document)


def _changed(*where: object, value: object) -> dict[str, Any]:
    document: Any = copy.deepcopy(DOCUMENT)
    inner = document
    for key in where[:-1]:
        inner = inner[key]
    inner[where[-1]] = value
    return document


@pytest.mark.parametrize(
    ("document", "words"),
    [
        (_changed("parts", 1, "id", value="case"), "two parts have the id 'case'"),
        (_changed("parts", value=[]), "no parts"),
        (_changed("joints", 0, "child", value="lidd"), "did you mean 'lid'"),
        (_changed("joints", 0, "child", value="case"), "same part"),
        (_changed("units", value="mm"), "no field 'units'"),
        (_changed("parts", 0, "colour", value="red"), "parts 1: there is no field 'colour'"),
        (_changed("parts", 0, "source", "scale", value=2), "source of part 1: there is no field 'scale'"),
        (_changed("joints", 0, "mimic", value="a"), "joints 1: there is no field 'mimic'"),
        (_changed("sequence", 0, "part", value="leg"), "no part 'leg'"),
        (_changed("programs", "cover", value=_box(0, 1, 1)), "program 'cover'.*0.0005 to 3"),
        (_changed("parts", 0, "source", "position", value=[0, 0, 1e9]), "within ±5"),
        (_changed("parts", 0, "source", "position", value=[0, 0, float("nan")]), "finite"),
        ([], "an object of JSON"),
    ],
)
def test_documents_that_are_no_design(document: object, words: str) -> None:
    with pytest.raises(DesignError, match=words) as caught:
        parse_design(document)
    assert "\n" not in str(caught.value)


def _joint(name: str, parent: str, child: str) -> dict[str, Any]:
    return {"id": name, "type": "fixed", "parent": parent, "child": child}


def test_joints_in_a_circle_are_refused_and_a_linkage_is_not() -> None:
    parts = [_part(name, "cover", [0, 0, i], "bar") for i, name in enumerate("abcd")]
    linkage = _changed("parts", value=parts) | {"sequence": []}
    pairs = [("a", "b"), ("b", "c"), ("a", "d"), ("d", "c")]
    linkage["joints"] = [_joint(f"{p}{c}", p, c) for p, c in pairs]
    assert len(parse_design(linkage).joints) == 4
    linkage["joints"] += [_joint("ca", "c", "a")]
    with pytest.raises(DesignError, match=r"circle: a → . → c → a"):
        parse_design(linkage)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('{"parts": [NaN]}', "NaN is not a finite number"),
        ("{", "isn't JSON: .* at line 1"),
        ("[" * 100_000, "nested too deep"),
        ("9" * 5000, "too many digits"),
        ("[1e999]", "1e999 is not a finite number"),
        ('{"tool": "submit"}\n{"tool": NaN}', "NaN is not a finite number|Extra data"),
    ],
)
def test_files_that_are_no_json(tmp_path: Path, text: str, words: str) -> None:
    path = tmp_path / "design.json"
    path.write_text(text)
    with pytest.raises(DesignError, match=words):
        read_design(path)
    with pytest.raises(HandInError, match=words):
        documented(text.encode(), None, "design.json")


def test_a_missing_file_and_a_missing_node(tmp_path: Path) -> None:
    with pytest.raises(DesignError, match=r"design\.json: No such file"):
        read_design(tmp_path)
    path = write_design(parse_design(DOCUMENT), tmp_path)
    write_glb({"lid": read_glb(tmp_path / "design.glb")["lid"]}, tmp_path / "design.glb")
    with pytest.raises(DesignError, match="'case' is made of"):
        read_design(path)
    path.write_text(json.dumps(DOCUMENT))  # with programs the document alone would do, but not beside a GLB
    with pytest.raises(DesignError, match="the GLB has no node 'case'"):
        read_design(path)


def _chair() -> Design:
    """A seat with a back on +y: every quarter turn looks different."""
    sizes = {"seat": (0.5, 0.4, 0.05), "back": (0.5, 0.05, 0.5), "arm": (0.05, 0.4, 0.2)}
    places = {"seat": (0.0, 0.0, 0.4), "back": (0.0, 0.2, 0.65), "arm": (0.25, 0.0, 0.5)}
    return Design(
        tuple(Part(name, compile_program(_box(*size)).mesh, places[name]) for name, size in sizes.items())
    )


def _generated(design: Design, path: Path, quarters: int, scale: float) -> None:
    """The design as a generator would leave it: glTF axes, turned, in its own units, off the origin."""
    meshes = {}
    for part in design.parts:
        x, y, z = part.world.vertices.T
        for _ in range(quarters):
            x, y = -y, x
        meshes[f"{part.id} 1/2"] = Mesh(scale * np.column_stack([x, z, -y]) + 7.0, part.mesh.faces)
    write_glb(meshes, path)


@pytest.mark.parametrize("quarters", range(4))
def test_a_generators_glb_is_laid_over_the_reference(tmp_path: Path, quarters: int) -> None:
    reference = _chair()
    _generated(reference, tmp_path / "a.glb", quarters, 12.5)
    design = import_generated(tmp_path / "a.glb", reference)
    assert [part.id for part in design.parts] == ["seat_1_2", "back_1_2", "arm_1_2"]
    middle = (reference.bounds[0] + reference.bounds[1]) / 2
    shift = np.array([middle[0], middle[1], reference.bounds[0][2]])
    for made, wanted in zip(design.parts, reference.parts, strict=True):
        assert np.allclose(made.world.vertices, wanted.world.vertices - shift, atol=1e-5)
        assert (made.role, made.material, made.source) == (None, None, "generated")
        assert np.allclose(sum(made.mesh.bounds), 0.0, atol=1e-12)
    assert (design.joints, design.sequence) == ((), ())
    assert design.meta["yaw_deg"] == str((4 - quarters) % 4 * 90)
    assert float(design.meta["scale"]) == pytest.approx(1 / 12.5, rel=1e-5)


def test_without_a_reference_size_and_yaw_stay(tmp_path: Path) -> None:
    _generated(_chair(), tmp_path / "a.glb", 1, 2.0)
    design = import_generated(tmp_path / "a.glb")
    assert design.diagonal == pytest.approx(2 * _chair().diagonal, rel=1e-5)
    assert design.bounds[0][2] == pytest.approx(0.0, abs=1e-9)


def test_joints_are_completed_before_the_design_is_scaled_and_turned_and_follow_it(tmp_path: Path) -> None:
    _generated(_chair(), tmp_path / "a.glb", 1, 10.0)

    def recliner(design: Design) -> list[Joint]:
        seat, back, arm = design.parts
        tilt = Joint("tilt", "revolute", seat.id, back.id, (0.0, 1.0, 0.0), back.position, (0.0, 0.5))
        return [tilt, Joint("slide", "prismatic", seat.id, arm.id, (1.0, 0.0, 0.0), arm.position, (0.0, 2.0))]

    raw = import_generated(tmp_path / "a.glb")
    joints = completed_joints(raw, recliner)
    design = import_generated(tmp_path / "a.glb", _chair(), joints, "chairs:recliner")
    tilt, slide = design.joints
    assert np.allclose(tilt.origin, design.parts[1].position, atol=1e-6)
    assert np.allclose(slide.origin, design.parts[2].position, atol=1e-6)
    assert tilt.axis == pytest.approx((1.0, 0.0, 0.0))
    assert slide.axis == pytest.approx((0.0, -1.0, 0.0))
    assert (tilt.limits, slide.limits) == ((0.0, 0.5), pytest.approx((0.0, 0.2), rel=1e-5))
    assert design.meta["joint_completion"] == "chairs:recliner"


FAULTY = {
    "'nowhere'": [Joint("tilt", "fixed", "seat_1_2", "nowhere")],
    "two joints have the id 'tilt'": [Joint("tilt", "fixed", "seat_1_2", "arm_1_2")] * 2,
    "needs an origin": [Joint("tilt", "revolute", "seat_1_2", "arm_1_2", (0.0, 0.0, 1.0))],
    "origin": [Joint("t", "ball", "seat_1_2", "arm_1_2", None, (float("nan"), 0.0, 0.0))],
    "go round in a circle": [
        Joint("t", "fixed", "seat_1_2", "arm_1_2"),
        Joint("u", "fixed", "arm_1_2", "seat_1_2"),
    ],
}


@pytest.mark.parametrize("words", FAULTY)
def test_joints_that_no_design_may_have(tmp_path: Path, words: str) -> None:
    _generated(_chair(), tmp_path / "a.glb", 0, 1.0)
    with pytest.raises(DesignError, match="joint completion") as raised:
        import_generated(tmp_path / "a.glb", _chair(), FAULTY[words], "x:y")
    assert words in str(raised.value)


def test_a_completion_that_fails_says_so_in_one_line(tmp_path: Path) -> None:
    _generated(_chair(), tmp_path / "a.glb", 0, 1.0)
    design = import_generated(tmp_path / "a.glb")
    with pytest.raises(CompletionError, match="joint completion failed: ZeroDivisionError"):
        completed_joints(design, lambda _: [1 // 0])  # type: ignore[list-item]
    with pytest.raises(CompletionError, match="gave str instead of Joint"):
        completed_joints(design, lambda _: ["hinge"])  # type: ignore[list-item]
