"""Frames that come out of a sandbox, honest and forged."""

from __future__ import annotations

import random

import pytest

from evalkit.sandbox._exchange import frame, stays_inside, understand


def test_honest_frames() -> None:
    said = understand(
        frame("S")
        + frame("E", b"3 0 120 4096")
        + frame("F", b"a.x\0one\0two")
        + frame("X", b"b.x\0a device"),
        ["*.x"],
    )
    assert said.started
    assert said.ended
    assert (said.exit_code, said.signal, said.cpu_ms, said.peak_bytes) == (3, 0, 120, 4096)
    assert (said.files, said.omitted) == ({"a.x": b"one\0two"}, {"b.x": "a device"})


@pytest.mark.parametrize(
    "forged",
    [
        frame("F", b"../a.x\0"),
        frame("F", b"/a.x\0"),
        frame("F", b"a.y\0"),
        frame("F", b"a.x"),
        frame("E", b"0 0 0"),
        frame("E", b"0 0 0 " + b"9" * 30),
        frame("E", b"256 0 0 0"),
        frame("E", b"-1 0 0 0"),
        b"F99\na.x\0",
        b"F-3\n",
        b"no newline comes in this",
        b"\xff" * 100,
    ],
)
def test_forged_frames_leave_nothing(forged: bytes) -> None:
    honest = frame("S") + frame("E", b"0 0 0 0") + frame("F", b"a.x\0fine")
    said = understand(honest + forged, ["*.x", "**/*.x"])
    assert said.started
    assert not said.ended
    assert said.files == {}


def test_any_bytes_are_read_without_an_error() -> None:
    chance = random.Random(5)
    alphabet = b"SEFX0123456789\n\0./ax- "
    for _ in range(3000):
        data = bytes(chance.choices(alphabet, k=chance.randrange(60)))
        said = understand(data, ["a", "x*"])
        assert all(stays_inside(name) for name in said.files)


def test_names_without_meaning_as_text_are_readable() -> None:
    said = understand(frame("F", b"\xff.x\0"), ["*.x"])
    assert list(said.files) == ["\ufffd.x"]


@pytest.mark.parametrize("path", ["a", "a/b", "...", "a..b", "-", "**/x"])
def test_paths_that_stay_inside(path: str) -> None:
    assert stays_inside(path)


@pytest.mark.parametrize("path", ["", "/", "/a", "..", "a/..", "a//b", "a/", "./a"])
def test_paths_that_do_not(path: str) -> None:
    assert not stays_inside(path)
