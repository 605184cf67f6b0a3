"""Writing assemblies, and reading back the same."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from evalkit_brickbench.build import Assembly, BuildError, at, spin
from evalkit_brickbench.build._files import scene_of
from evalkit_brickbench.ldraw.flatten import flatten
from evalkit_brickbench.ldraw.reader import read_document
from evalkit_brickbench.parts._wheel_files import WHEELS_VARIABLE

pytestmark = pytest.mark.usefixtures("wheel_catalogue")


def _model() -> Assembly:
    tree = Assembly("tree")
    trunk = tree.add("3062b", color="brown")
    tree.attach("3003", to=trunk.stud[0], by="tube[0]")
    grove = Assembly("grove")
    grove.add(tree, at(1) @ spin(30), color="green")
    grove.add(tree, at(9))
    model = Assembly("Park 1 ä")
    model.add("3031", color="#123456")
    model.add(grove, at(0, 5) @ spin(77), color="lime")
    model.add(tree, at(-5), color="red")
    return model


def test_mpd_keeps_sub_models_once_and_reads_back(tmp_path: Path) -> None:
    model = _model()
    data = model.write(tmp_path / "park.mpd").read_bytes()
    text = data.decode("utf-8")
    assert text.count("\n") == text.count("\r\n")
    assert [line for line in text.splitlines() if line.startswith("0 FILE")] == [
        "0 FILE Park 1 ä.ldr",
        "0 FILE grove.ldr",
        "0 FILE tree.ldr",
    ]
    scene, notes = flatten(read_document(data, "park.mpd"), None)
    assert not notes
    own = scene_of(model)
    assert scene.stems == own.stems
    assert scene.colours.tolist() == own.colours.tolist()
    np.testing.assert_allclose(scene.matrices, own.matrices, atol=1e-12)
    np.testing.assert_allclose(scene.positions, own.positions, atol=1e-9)
    assert [path.count("/") for path in own.paths] == [0, 1, 1, 1, 1, 0, 0]


def test_ldr_is_flat_and_reads_back_bit_by_bit(tmp_path: Path) -> None:
    model = _model()
    data = model.write(str(tmp_path / "park.ldr")).read_bytes()
    assert b"0 FILE" not in data
    scene, _ = flatten(read_document(data, "park.ldr"), None)
    own = scene_of(model)
    assert scene.stems == own.stems
    assert np.array_equal(scene.colours, own.colours)
    assert np.array_equal(scene.matrices, own.matrices)
    assert np.array_equal(scene.positions, own.positions)
    assert own.colours[0] == 0x2123456


def test_same_model_same_bytes(tmp_path: Path) -> None:
    first = _model().write(tmp_path / "a.mpd").read_bytes()
    assert first == _model().write(tmp_path / "b.mpd").read_bytes()


def test_equal_names_of_pieces_are_numbered(tmp_path: Path) -> None:
    model = Assembly("m")
    for stem in ("3001", "3003"):
        piece = Assembly("Piece" if stem == "3001" else "piece")
        piece.add(stem)
        model.add(piece)
    text = model.write(tmp_path / "m.mpd").read_text(encoding="utf-8")
    assert "0 FILE Piece.ldr" in text
    assert "0 FILE piece 2.ldr" in text
    assert flatten(read_document(text.encode(), "m.mpd"), None)[0].stems == ("3001", "3003")


def test_other_kinds_of_files_are_refused(tmp_path: Path) -> None:
    with pytest.raises(BuildError, match=r"ends in \.ldr \(flat\) or \.mpd"):
        _model().write(tmp_path / "park.dat")


def _run(code: str, **environment: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, **environment},
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_building_and_writing_import_nothing_heavy(tmp_path: Path) -> None:
    code = f"""
import sys
from evalkit_brickbench.build import Assembly, describe
model = Assembly("m")
brick = model.add("brick 2x4")
model.attach("3003", to=brick.stud[0], by="hole[0]")
model.mirror().write({str(tmp_path / "m.mpd")!r})
describe(model)
heavy = ("evalkit", "scipy", "numba", "fcl", "PIL", "pybullet", "trimesh")
print([name for name in heavy if name in sys.modules])
"""
    assert _run(code).strip() == "[]"


def test_the_small_catalogue_will_do(tmp_path: Path) -> None:
    code = """
from evalkit_brickbench.build import Assembly, clashes, color, connections, find
model = Assembly("m")
brick = model.add("technic brick 1x2 with holes")
model.attach("3673", to=brick.socket[0], by="pin[0]")
model.attach("brick 1x2", to=brick.stud[0], by="hole[0]", color="red")
image = model.mirror()
held = len(connections(model))
print(find("slope brick 45 2x4")[0].stem, color("red"), len(connections(image)) == held > 1)
"""
    assert _run(code, **{WHEELS_VARIABLE: str(tmp_path)}).split() == ["3037", "4", "True"]
