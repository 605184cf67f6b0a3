"""BrickNet's path text and BrickGPT's lists of bricks: by hand, against BrickNet itself, and hostile."""

from __future__ import annotations

import json
import subprocess
import sys
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from evalkit_brickbench.connections import connect
from evalkit_brickbench.inspection import inspect, read_model
from evalkit_brickbench.ldraw.writer import write_ldr
from evalkit_brickbench.parts.catalogue import resolved_scene
from evalkit_brickbench.readers.brick_list import read_brick_list
from evalkit_brickbench.readers.cli import import_designs
from evalkit_brickbench.readers.errors import ReaderError
from evalkit_brickbench.readers.path_text import read_path_text
from evalkit_brickbench.readers.samples import as_ldraw, format_of, read_samples, read_scene
from evalkit_brickbench.scene import Scene

TWO = "a brick 2x4 | red\nb brick 2x4 | blue\na stud stud a hole a 0\n"


# Path text, by hand


def test_a_brick_on_a_brick(wheel_catalogue):
    scene = read_path_text(TWO, wheel_catalogue)
    assert (scene.stems, scene.colours.tolist()) == (("3001", "3001"), [4, 1])
    to, by = (wheel_catalogue.connectors("3001") for _ in range(2))
    stud = to.origins[to.subtypes.index("stud")]
    hole = by.origins[by.subtypes.index("hole")]
    assert scene.positions[0].tolist() == [0, 0, 0]
    assert np.allclose(scene.positions[1] + hole, stud, atol=1e-9)
    assert scene.positions[1][1] == -24  # −y is up: the child stands on its parent


def test_attachments_are_exact_connections(wheel_catalogue):
    """By hand: an axle that slides in a hole, a turned plate, a brick at an odd angle, a flipped hinge."""
    text = (
        "a technic brick 1x4 with holes | red\n"
        "b technic axle 4 | black\na axle socket a axle a flip 45 10\n"
        "c plate 2x4 | blue\na stud open a hole c 90\n"
        "d brick 2x4 | red\nc stud stud b hole h 17\n"
        "e hinge 1x2 base | red\nd stud stud a hole a 0\n"
        "f hinge 1x2 top | red\ne hinge m on a a flip 30\n"
    )
    scene = read_path_text(text, wheel_catalogue)
    found = connect(scene, wheel_catalogue)
    joined = set(zip(found.part_a.tolist(), found.part_b.tolist(), strict=True))
    assert {tuple(sorted(pair)) for pair in joined} >= {(0, 1), (0, 2), (2, 3), (3, 4), (4, 5)}
    assert len(found.components().sizes) == 1
    assert found.residual_ldu.max() < 1e-9
    turned = scene.matrices[3] @ scene.matrices[2].T
    assert np.degrees(np.arccos(turned[0, 0])) == pytest.approx(17)


@pytest.mark.parametrize("flip", ["regular", "flip"])
@pytest.mark.parametrize("slide", [0, -7])
def test_an_axle_slides_along_its_parents_axis(wheel_catalogue, flip, slide):
    parts = "a technic axle 4 | black\nb technic bush with two flanges | red\n"
    text = f"{parts}a axle axle a cross a {flip} 30 {slide}\n"
    scene = read_path_text(text, wheel_catalogue)
    axle, bush = wheel_catalogue.connectors("3705"), wheel_catalogue.connectors("3713")
    a, b = axle.subtypes.index("axle"), bush.subtypes.index("cross")
    down = axle.frames[a] @ np.array([0.0, 1.0, 0.0])
    middle = scene.matrices[1] @ bush.origins[b] + scene.positions[1]
    assert np.allclose(middle - axle.origins[a], -slide * down, atol=1e-9)
    sense = (scene.matrices[1] @ bush.frames[b])[:, 1] @ down
    assert sense == pytest.approx(-1 if flip == "flip" else 1)


def test_the_last_newline_may_be_missing(wheel_catalogue):
    assert len(read_path_text(TWO.rstrip("\n"), wheel_catalogue)) == 2


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "line 1: wanted a part such as"),
        ("brick 2x4, red\n", "line 1: wanted a part"),
        ("1 brick 2x4 | red\n", "line 1: wanted a count in lower-case letters, not '1'"),
        ("a brick 2x5 | red\n", "line 1: there is no part named 'brick 2x5'"),
        ("a brick 2x4 | rouge\n", "line 1: there is no colour named 'rouge'"),
        ("a brick 2x4 | red\nb brick 2x4 | blue\n", "line 2: the last part isn't attached"),
        (TWO.replace("a stud", "b stud"), "line 3: 'b' is no earlier part"),
        (TWO.replace("stud stud", "glue stud"), "line 3: wanted an attachment"),
        (TWO.replace(" 0\n", "\n"), "line 3: an attachment by stud has 7 words, not 6"),
        (TWO.replace(" 0\n", " 360\n"), "line 3: an angle is from 0 to 359 degrees, not 360"),
        (TWO.replace(" 0\n", " 07\n"), "line 3: wanted a whole number, not '07'"),
        (TWO.replace(" 0\n", " 1e3\n"), "line 3: wanted a whole number"),
        (TWO.replace("hole a", "hole i"), "line 3: 3001 has 8 connectors hole"),
        (TWO.replace("hole a", "stud a"), "line 3: 'stud' and 'stud' don't fit as stud"),
        (TWO.replace("stud a hole", "stud zzzzzz hole"), "line 3: wanted a count"),
        (TWO.replace("stud stud a hole a 0", "fixed a up a a"), "line 3: the parent's side is in or on"),
        (TWO.replace("stud stud a hole a 0", "hinge a in a a regular 0"), "line 3: 3001 has 0 connectors 0"),
        (TWO.replace("\nb", "\r\nb"), "line 1: there is no colour named 'red"),
        ("a brick 2x4 | red\n" + "b brick 2x4 | red\na stud stud a hole a 0\n" * 10_000, "line 20000: more"),
    ],
)  # fmt: skip
def test_a_bad_path_text_names_its_line(wheel_catalogue, text, why):
    with pytest.raises(ReaderError) as caught:
        read_path_text(text, wheel_catalogue)
    assert str(caught.value).startswith(why)
    assert len(str(caught.value)) < 250


def test_a_chain_of_slides_ends(wheel_catalogue):
    far = "b technic bush with two flanges | red\na axle axle a cross a regular 0 99999\n"
    near = "a technic axle 4 | black\n"
    assert len(read_path_text(near + far, wheel_catalogue)) == 2
    with pytest.raises(ReaderError, match="too long"):
        read_path_text(near + far.replace("99999", "100001"), wheel_catalogue)


# Path text, against BrickNet

COMPARE = """
import json, sys
import bricknet
found = []
for model in json.load(sys.stdin):
    tree = bricknet.sample_tree(bricknet.parse_ldr(model), 0, method="bfs")
    found.append([bricknet.serialize_tree(tree), bricknet.graph_to_ldr(bricknet.tree_to_graph(tree))])
print(json.dumps(found))
"""


def check_against_bricknet(*models: str, least_parts: int) -> None:
    """BrickNet makes path texts of flat models' largest components; the parts stand where it puts them."""
    try:
        distribution("bricknet")
    except PackageNotFoundError:
        pytest.skip("needs bricknet to compare with")
    command = [sys.executable, "-c", COMPARE]
    done = subprocess.run(command, input=json.dumps(models), capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout.splitlines()[-1])
    assert len(found) == len(models)
    for text, placed in found:
        rows = [line.split(" ", 14) for line in placed.splitlines()]
        scene = read_scene(text)
        assert len(scene) == len(rows) >= least_parts
        assert [f"{stem}.dat" for stem in scene.stems] == [row[14] for row in rows]
        assert scene.colours.tolist() == [int(row[1]) for row in rows]
        poses = np.concatenate([scene.positions, scene.matrices.reshape(-1, 9)], axis=1)
        assert np.abs(poses - np.array([row[2:14] for row in rows], float)).max() < 2e-5


def test_a_brick_list_that_begins_with_a_mistake_is_told_as_one():
    with pytest.raises(ReaderError, match=r"line 1: wanted a brick such as .* not '2x4 \(-1,0,0\)'"):
        read_scene("2x4 (-1,0,0)\n2x4 (0,0,0)\n")


def test_a_tower_stands_where_bricknet_puts_it():
    turned = "0 0 1 0 1 0 -1 0 0"
    lines = ["1 4 0 0 0 1 0 0 0 1 0 0 0 1 3001.dat", f"1 1 10 -24 30 {turned} 3001.dat"]
    lines += ["1 14 10 -32 50 1 0 0 0 1 0 0 0 1 3020.dat", "1 2 20 -56 60 1 0 0 0 1 0 0 0 1 3003.dat"]
    check_against_bricknet("\n".join([*lines, ""]), least_parts=4)


def test_real_models_stand_where_bricknet_puts_them(shared_data, wheel_catalogue):
    names = ["6861-1 - X1 Patrol Craft.mpd", "5934 - Dino Explorer.mpd"]
    folder = shared_data / "brickbench/models"
    models = [named_parts((folder / name).read_bytes(), wheel_catalogue) for name in names]
    check_against_bricknet(*models, least_parts=20)


def named_parts(data: bytes, catalogue) -> str:
    """The parts and colours that path text has names for, as a flat model."""
    scene = resolved_scene(read_model(data, "model.mpd").scene, catalogue)
    colours = set(catalogue.colour_names.values())
    known = [
        index
        for index, (stem, colour) in enumerate(zip(scene.stems, scene.colours.tolist(), strict=True))
        if stem in catalogue.titles and colour in colours
    ]
    flat = Scene(
        tuple(scene.stems[index] for index in known),
        scene.colours[known],
        scene.matrices[known],
        scene.positions[known],
        ("",) * len(known),
        np.zeros(len(known), np.int32),
    )
    return write_ldr(flat).decode().replace("\r\n", "\n")


# Lists of bricks


def test_bricks_cover_their_cells():
    scene = read_brick_list("2x4 (0,0,0)\n4x2 (0,0,1)\n1x1 (3,5,2)\n", 4)
    assert scene.stems == ("3001", "3001", "3005")
    assert scene.positions.tolist() == [[20, -24, 40], [40, -48, 20], [70, -72, 110]]
    long_side = scene.matrices @ np.array([1.0, 0.0, 0.0])
    assert np.abs(long_side).tolist() == [[0, 0, 1], [1, 0, 0], [1, 0, 0]]
    assert np.allclose(np.linalg.det(scene.matrices), 1)
    assert set(scene.colours.tolist()) == {4}


def test_a_staircase_of_bricks_holds_together_and_bricks_in_one_place_collide():
    stairs = "2x4 (0,0,0)\n2x4 (0,2,1)\n2x4 (0,4,2)\n"
    found = inspect(as_ldraw(stairs.encode(), "stairs.txt"), "stairs.ldr", stand=False)
    assert (found.components.sizes.tolist(), len(found.collisions)) == ([3], 0)
    twice = inspect(as_ldraw(b"2x4 (0,0,0)\n2x4 (1,0,0)\n", "twice.txt"), "twice.ldr", stand=False)
    assert twice.collisions.pairs.tolist() == [[0, 1]]


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "line 1: there is no brick"),
        ("2x4 (0,0,0)\n\n2x4 0,0,0\n", "line 3: wanted a brick such as"),
        ("2x4 (0,0,-1)", "line 1: wanted a brick"),
        ("2x4 (0,0,0.5)", "line 1: wanted a brick"),
        ("3x4 (0,0,0)", "line 1: there is no brick 3x4; there are 1x1, 1x2"),
        ("2x4 (0,0,1000)", "line 1: a coordinate is beyond 999"),
        ("1x1 (0,0,0)\n" * 10_001, "line 10001: more than 10,000"),
        ("2x4 (٠,0,0)", "line 1: wanted a brick"),
    ],
)
def test_a_bad_list_names_its_line(text, why):
    with pytest.raises(ReaderError) as caught:
        read_brick_list(text, 4)
    assert str(caught.value).startswith(why)


# Files


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        (TWO, "path-text"),
        ("\n2x4 (0,0,0)\n", "brick-list"),
        ("0 FILE a.ldr\n", None),
        ("1 4 0 0 0 1 0 0 0 1 0 0 0 1 3001.dat", None),
        ("", None),
    ],
)
def test_formats_are_told_apart(text, wanted):
    assert format_of(text) == wanted


def test_ldraw_and_binary_files_stay_as_they_are():
    for data in (b"0 Model\r\n", b"\xff\xfe\x00", b""):
        assert as_ldraw(data, "x") is data
    with pytest.raises(ReaderError, match="neither"):
        read_scene("0 Model")


def test_rows_of_json(tmp_path):
    path = tmp_path / "rows.jsonl"
    rows = ['{"id": 7, "sample": 0, "text": "x"}', "no json", '{"id": "../x", "text": ""}', '{"path": "y"}']
    path.write_text("\n".join([*rows, "[" * 100_000, '"x"', ""]))
    found = list(read_samples(path))
    assert [s.id if not isinstance(s, ReaderError) else s.line for s in found] == ["7", 2, 3, "4", 5, 6]


def test_the_command_writes_a_folder_per_task(tmp_path):
    path, out = tmp_path / "rows.jsonl", tmp_path / "out"
    rows = [("model-001", TWO), ("model-002", "2x4 (0,0,0)\n"), ("model-003", "?"), ("model-001", TWO)]
    path.write_text("".join(json.dumps({"id": name, "text": text}) + "\n" for name, text in rows))
    done = CliRunner().invoke(import_designs, [str(path), "-o", str(out), "--colour", "14", "--json"])
    assert done.exit_code == 0, done.output
    assert "left out: row 3, model-003: line 1: this is neither" in done.stderr
    assert "left out: row 4: model-001 came before" in done.stderr
    written = [Path(name) for name in json.loads(done.stdout)["files"]]
    assert [p.relative_to(out).as_posix() for p in written] == ["model-001/model.mpd", "model-002/model.mpd"]
    first, second = (inspect(p.read_bytes(), p.name, stand=False) for p in written)
    assert (len(first.scene), first.collision_free) == (2, True)
    assert second.scene.colours.tolist() == [14]


def test_the_command_takes_one_design(tmp_path):
    path = tmp_path / "two.txt"
    path.write_text(TWO)
    done = CliRunner().invoke(import_designs, [str(path), "-o", str(tmp_path / "two.ldr")])
    assert done.exit_code == 0, done.output
    assert (tmp_path / "two.ldr").read_bytes() == as_ldraw(TWO.encode(), "two.txt")


@pytest.mark.parametrize("content", ["0 Model\n", "a brick 2x4 | rouge\n", ""])
def test_the_command_refuses_other_files(tmp_path, content):
    path = tmp_path / "x.txt"
    path.write_text(content)
    done = CliRunner().invoke(import_designs, [str(path), "-o", str(tmp_path / "x.ldr")])
    assert done.exit_code != 0
    assert not (tmp_path / "x.ldr").exists()
