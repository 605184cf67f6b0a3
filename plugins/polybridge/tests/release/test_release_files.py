"""`release check` of files as such: pictures, archives, sizes, and things that are no files."""

from __future__ import annotations

import io
import os
import struct
import sys
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from evalkit.cli.main import main
from evalkit_polybridge.release import write as writing
from evalkit_polybridge.release.check import check_release
from evalkit_polybridge.release.check_pictures import picture_fault
from evalkit_polybridge.release.gather import gather

ROUND = "sessions/truss/strict/epoch-1/T1B*/round-1"
KEY = b"sk-" + b"a1B2" * 8


def chunk(name: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))


END = chunk(b"IEND", b"")

PICTURES: dict[str, tuple[str, Callable[[bytes], bytes]]] = {
    "a text": ("is no PNG file", lambda png: b"key " + KEY),
    "a chunk of text": (
        "holds more than a picture (tEXt)",
        lambda png: png.replace(END, chunk(b"tEXt", b"key\0" + KEY) + END),
    ),
    "a text behind it": ("goes on after the picture's end", lambda png: png + KEY),
    "half of it": ("is a damaged PNG file", lambda png: png[: len(png) // 2]),
    "another bit": ("is a damaged PNG file", lambda png: png[:60] + bytes([png[60] ^ 1]) + png[61:]),
    "the signature": ("is a damaged PNG file", lambda png: png[:8]),
}
"""What is in a picture's file → what is said of it, and how it is made of the picture."""


@pytest.mark.parametrize("what", PICTURES)
def test_a_picture_is_nothing_else(tampered: Any, what: str) -> None:
    words, change = PICTURES[what]
    path = tampered.find(f"{ROUND}/editor.png")
    assert picture_fault(path.read_bytes()) == ""
    path.write_bytes(change(path.read_bytes()))
    tampered.seal()
    (finding,) = check_release(tampered.folder).findings
    assert (finding.kind, finding.message) == ("form", words)


def archive_of(members: list[tuple[str, bytes]]) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_STORED) as packed:
        for name, data in members:
            packed.writestr(zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0)), data)
    return file.getvalue()


@pytest.fixture
def packed(bridge_run: str, tmp_path: Path) -> Path:
    """A release with packed pictures; its archive is `pictures.zip` beside it."""
    folder = tmp_path / "packed"
    writing.write_release(gather([bridge_run]), folder, str(tmp_path / "pictures.zip"))
    return folder


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_an_archive_is_nothing_but_its_members(packed: Path) -> None:
    archive = packed.with_name("pictures.zip")
    whole = archive.read_bytes()
    with zipfile.ZipFile(archive) as members:
        pictures = [(name, members.read(name)) for name in members.namelist()]

    def faults(data: bytes) -> list[str]:
        archive.write_bytes(data)
        return [finding.message for finding in check_release(packed).findings if finding.kind == "form"]

    assert faults(whole) == []
    assert faults(KEY + whole) == ["holds more than its members"]
    assert faults(whole[:-2] + struct.pack("<H", len(KEY)) + KEY) == ["holds more than its members"]
    name, picture = pictures[0]
    assert faults(archive_of([(name, b"other"), *pictures])) == [f"holds {name} 2 times"]
    assert "is no PNG file" in faults(archive_of([(name, KEY.ljust(len(picture))), *pictures[1:]]))


def test_sizes_are_compared(tampered: Any, packed: Path) -> None:
    tampered.manifest(lambda m: m["files"][min(m["files"])].update(size=1))
    (finding,) = check_release(tampered.folder).findings
    assert (finding.kind, finding.message) == ("changed file", "its size is not the manifest's")
    manifest = packed / "manifest.json"
    size = packed.with_name("pictures.zip").stat().st_size
    manifest.write_text(manifest.read_text().replace(f'"size": {size},', '"size": 1,'))
    (finding,) = check_release(packed).findings
    assert (finding.kind, finding.message) == ("changed file", "its hash and size are not the manifest's")


def test_pictures_that_are_left_out_are_noted(tampered: Any) -> None:
    for path in tampered.folder.rglob("*.png"):
        path.unlink()
    tampered.seal()
    tampered.manifest(lambda m: m["images"].update(where="left out"))
    report = check_release(tampered.folder)
    assert report.findings == []
    assert "the pictures are left out" in report.notes
    tampered.manifest(lambda m: m["images"].update(where="elsewhere"))
    assert any("which is nowhere" in finding.message for finding in check_release(tampered.folder).findings)


@pytest.mark.skipif(sys.platform == "win32", reason="there are no named pipes")
def test_a_pipe_is_named_and_ends_nothing(tampered: Any) -> None:
    """Whatever comes after it in the order of files is still looked at."""
    os.mkfifo(tampered.folder / "a-pipe")
    (tampered.folder / "z.txt").write_bytes(KEY)
    found = {(finding.kind, finding.file) for finding in check_release(tampered.folder).findings}
    assert found == {("extra file", "a-pipe"), ("extra file", "z.txt"), ("secret", "z.txt")}


def test_a_folder_without_a_manifest_and_the_number_of_faults(
    tampered: Any, tmp_path: Path, capsys: Any
) -> None:
    (tmp_path / "empty").mkdir()
    assert main(["polybridge", "release", "check", str(tmp_path / "empty")]) == 2
    assert "is no release: it has no file manifest.json" in capsys.readouterr().err
    (tampered.folder / "notes.txt").write_text("hello")
    assert main(["polybridge", "release", "check", str(tampered.folder)]) == 1
    assert capsys.readouterr().out.endswith("4 episodes: 1 fault\n")


CALLS: dict[str, dict[str, Any]] = {
    "another field": {"prompt": "leak everything"},
    "tokens that can't be": {"usage": {"output": -5}},
    "tokens of something": {"usage": {"thoughts": 5}},
    "a time that is none": {"seconds": "long"},
    "a model in parts": {"model": ["a", "b"]},
    "an error in prose": {"error": "it broke"},
}


@pytest.mark.parametrize("what", CALLS)
def test_calls_of_a_model_have_their_shape(tampered: Any, what: str) -> None:
    call = {"usage": {"input": 5, "output": None}, "cache": "off", "seconds": 1.5, "finish_reason": "stop"}
    pattern = "sessions/truss/*/*/T1B*/trajectory.json"
    tampered.edit(pattern, lambda d: d["rounds"][0].update(model_calls=[call]))
    tampered.seal()
    assert check_release(tampered.folder).findings == []
    tampered.edit(pattern, lambda d: d["rounds"][0].update(model_calls=[call | CALLS[what]]))
    tampered.seal()
    (finding,) = check_release(tampered.folder).findings
    assert finding.message.startswith("a model call has no such ")


@pytest.mark.parametrize("time", ["yesterday", None, True, -1])
def test_a_time_is_a_number_of_seconds(tampered: Any, time: Any) -> None:
    tampered.edit("sessions/truss/*/*/T1B*/trajectory.json", lambda d: d["rounds"][0].update(time=time))
    tampered.seal()
    (finding,) = check_release(tampered.folder).findings
    assert "which is no number of seconds" in finding.message
