"""One model under all checks: what is kept between questions, and parts of its own that can't be read."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from evalkit_brickbench import inspection
from evalkit_brickbench.inspection import Protocol, inspect, inspected, read_model, tools
from evalkit_brickbench.pictures import instances
from evalkit_brickbench.report import unchecked

LIBRARY = Path(__file__).parent / "data" / "ldraw" / "library"
BRICK = "1 4 0 -24 0 1 0 0 0 1 0 0 0 1 3001.dat"


def placed(name: str, x: int) -> str:
    return f"1 4 {x} 0 0 1 0 0 0 1 0 0 0 1 {name}"


@pytest.fixture
def own_library(monkeypatch: pytest.MonkeyPatch) -> Iterator[Protocol]:
    monkeypatch.setenv("LDRAWDIR", str(LIBRARY))
    tools.cache_clear()
    yield Protocol(meshes="ldraw")
    tools.cache_clear()


def counted(monkeypatch: pytest.MonkeyPatch, *names: str) -> list[str]:
    """Names of the functions of the inspection as they are called."""
    calls: list[str] = []

    def spied(name: str):
        original = getattr(inspection, name)

        def call(*arguments, **options):
            calls.append(name)
            return original(*arguments, **options)

        return call

    for name in names:
        monkeypatch.setattr(inspection, name, spied(name))
    return calls


def test_stability_is_looked_at_on_top_of_the_checks_before_it(monkeypatch):
    calls = counted(monkeypatch, "read_model", "connect", "collide", "judge_stability")
    data = f"0 First\n{BRICK}\n".encode()
    first = inspected(data, "a.ldr", Protocol(), stand=False)
    assert calls == ["read_model", "connect", "collide"]
    second = inspected(data, "a.ldr", Protocol(), stand=True)
    assert calls == ["read_model", "connect", "collide", "judge_stability"]
    assert second.collisions is first.collisions
    assert (first.stability, second.stability.stable) == (None, True)
    assert "stand" in second.seconds
    assert "stand" not in first.seconds


def test_both_ways_find_the_same():
    data = f"0 Two\n{BRICK}\n1 4 4 -26 0 1 0 0 0 1 0 0 0 1 3001.dat\n".encode()
    whole, later = inspect(data, "a.ldr"), inspected(data, "a.ldr", Protocol(), stand=True)
    assert len(whole.collisions) == len(later.collisions) == 1
    assert (whole.stability.stable, whole.notes) == (later.stability.stable, later.notes)


def test_drawing_looks_at_nothing_else(monkeypatch):
    calls = counted(monkeypatch, "connect", "collide", "judge_stability")
    assert len(instances(read_model(f"0 One\n{BRICK}\n".encode(), "a.ldr"))) == 1
    assert calls == []


def test_a_part_of_the_files_own_that_cant_be_read_is_unknown_geometry(own_library):
    """Its sub-files contain each other: the part has no mesh and is named; the others are checked."""
    lines = [
        "0 FILE main.ldr",
        placed("loop.dat", 0),
        placed("block.dat", 100),
        placed("block.dat", 101),
        "0 FILE loop.dat",
        "0 !LDRAW_ORG Unofficial_Part",
        placed("s\\more.dat", 0),
        "0 FILE s\\more.dat",
        "0 !LDRAW_ORG Unofficial_Subpart",
        placed("loop.dat", 0),
        "",
    ]
    found = inspect("\n".join(lines).encode(), "main.mpd", own_library, stand=False)
    assert unchecked(found) == {"loop": 1}
    assert found.collisions.pairs.tolist() == [[1, 2]]
    (note,) = [note for note in found.notes if note.code == "geometry"]
    assert note.file == "loop.dat"
    assert "contain each other" in note.message
    assert [part.id for part in instances(found)] == [1, 2]


def test_an_unreadable_part_isnt_taken_from_elsewhere(own_library):
    lines = ["0 FILE main.ldr", placed("block.dat", 0), "0 FILE block.dat", placed("s\\more.dat", 0)]
    lines += ["0 FILE s\\more.dat", placed("block.dat", 0), ""]
    found = inspect("\n".join(lines).encode(), "main.mpd", own_library, stand=False)
    assert unchecked(found) == {"block": 1}
