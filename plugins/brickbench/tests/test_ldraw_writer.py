"""What is written reads back the same."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evalkit_brickbench.ldraw.flatten import flatten, read_scene
from evalkit_brickbench.ldraw.lines import LARGEST_NUMBER
from evalkit_brickbench.ldraw.reader import read_document
from evalkit_brickbench.ldraw.writer import Model, models_of, number, references, write_ldr, write_mpd
from evalkit_brickbench.scene import Scene

QUIRKS = Path(__file__).parent / "data" / "ldraw" / "quirks.mpd"
coordinates = st.floats(-LARGEST_NUMBER, LARGEST_NUMBER)
colours = st.one_of(st.integers(0, 600), st.integers(0x2000000, 0x3FFFFFF))
stems = (
    st.text("abcdefghijklmnopqrstuvwxyz0123456789-_é ", min_size=1, max_size=12).map(str.strip).filter(bool)
)


@st.composite
def scenes(draw: st.DrawFn) -> Scene:
    count = draw(st.integers(0, 6))

    def many(strategy: st.SearchStrategy[Any]) -> list[Any]:
        drawn: list[Any] = draw(st.lists(strategy, min_size=count, max_size=count))
        return drawn

    numbers = np.array(many(st.tuples(*[coordinates] * 3)), dtype=np.float64).reshape(count, 3)
    stretches = np.array(many(st.tuples(*[st.floats(0.001, 1000.0)] * 3)), dtype=np.float64).reshape(count, 3)
    return Scene(
        stems=tuple(many(stems)),
        colours=np.array(many(colours), dtype=np.int32),
        matrices=np.eye(3) * stretches[:, None, :],
        positions=numbers,
        paths=("",) * count,
        steps=np.array(sorted(many(st.integers(0, 5))), dtype=np.int32),
    )


def assert_same(first: Scene, second: Scene) -> None:
    assert first.stems == second.stems
    assert first.colours.tolist() == second.colours.tolist()
    assert first.steps.tolist() == second.steps.tolist()
    np.testing.assert_array_equal(first.matrices, second.matrices)
    np.testing.assert_array_equal(first.positions, second.positions)
    assert dict(first.embedded) == dict(second.embedded)


@settings(deadline=None, derandomize=True)
@given(st.floats(allow_nan=False, allow_infinity=False))
def test_numbers_read_back_bit_by_bit_without_exponents(value: float) -> None:
    shown = number(value)
    assert np.float64(shown).tobytes() == np.float64(value).tobytes()
    assert "e" not in shown


@pytest.mark.parametrize(
    ("value", "shown"), [(1.0, "1"), (-24.0, "-24"), (0.1, "0.1"), (1e-7, "0.0000001"), (100.0, "100")]
)
def test_numbers_are_short(value: float, shown: str) -> None:
    assert number(value) == shown


@settings(deadline=None, derandomize=True)
@given(scenes())
def test_scenes_read_back(scene: Scene) -> None:
    raw = write_ldr(scene, "round trip.ldr", "Round trip")
    assert raw.count(b"\n") == raw.count(b"\r\n")
    again, notes = read_scene(raw)
    assert_same(scene, again)
    assert {note.code for note in notes} <= {"unknown-colour"}


def test_flat_file_of_a_model_with_everything() -> None:
    scene, _ = read_scene(QUIRKS)
    again, _ = read_scene(write_ldr(scene))
    assert_same(scene, again)
    assert set(again.paths) == {""}


def test_mpd_keeps_sub_models() -> None:
    document = read_document(QUIRKS)
    scene, _ = flatten(document)
    raw = write_mpd(models_of(document), scene.embedded)
    again = read_document(raw)
    assert [block.name.lower() for block in again.blocks] == [
        "main model.ldr", "arm with spaces.ldr", "own part.dat", "s\\own piece.dat",
    ]  # fmt: skip
    back, _ = flatten(again)
    assert_same(scene, back)
    assert back.paths == scene.paths


def test_real_models_read_back(shared_data: Path) -> None:
    for path in sorted((shared_data / "brickbench" / "models").iterdir()):
        document = read_document(path)
        scene, _ = flatten(document)
        assert_same(scene, read_scene(write_ldr(scene))[0])
        if "torso" not in path.name:  # its second block of the same name can't be kept apart
            back, _ = flatten(read_document(write_mpd(models_of(document), scene.embedded)))
            assert_same(scene, back)
            assert back.paths == scene.paths


@pytest.mark.parametrize("title", ["FILE a.ldr", "NOFILE", "STEP", "!DATA x", "GHOST 1", "Simple"])
def test_titles_are_never_commands(title: str) -> None:
    model = Model("a.ldr", title, references(["b.dat"], np.array([4]), np.eye(3)[None], np.zeros((1, 3))))
    document = read_document(write_mpd([model]))
    assert [block.name for block in document.blocks] == ["a.ldr"]
    assert document.main.references.steps.tolist() == [0]


@pytest.mark.parametrize("name", ["a\nb.dat", "a\r0 FILE b.dat", " ", "", "a\0.dat"])
def test_names_that_would_break_the_file_are_refused(name: str) -> None:
    placed = references([name], np.array([4]), np.eye(3)[None], np.zeros((1, 3)))
    with pytest.raises(ValueError, match="can't be written"):
        write_mpd([Model("a.ldr", "", placed)])


def test_numbers_and_steps_that_cannot_be_written_are_refused() -> None:
    broken = references(["a.dat"], np.array([4]), np.eye(3)[None], np.array([[0, np.nan, 0]]))
    with pytest.raises(ValueError, match="finite"):
        write_mpd([Model("a.ldr", "", broken)])
    two = np.broadcast_to(np.eye(3), (2, 3, 3))
    falling = references(["a.dat"] * 2, np.array([4, 4]), two, np.zeros((2, 3)), np.array([1, 0]))
    with pytest.raises(ValueError, match="steps fall"):
        write_mpd([Model("a.ldr", "", falling)])
