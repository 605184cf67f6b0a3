"""What is collected from a full sandbox: regular files that were asked for, and nothing else."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from evalkit.errors import UsageError
from evalkit.sandbox import Limits, Outcome, run_script

Play = Callable[..., Outcome]


def test_patterns_choose_files(play: Play) -> None:
    script = """
import os
os.makedirs("out/deep/er")
for name in ("a.json", "b.txt", "out/c.json", "out/deep/d.json", "out/deep/er/e.json", ".hidden.json"):
    open(name, "w").write(name)
"""

    def names(*patterns: str) -> list[str]:
        return list(play(script, outputs=patterns).files)

    assert names("*.json") == [".hidden.json", "a.json"]
    assert names("out/*") == ["out/c.json"]
    assert names("out/**") == ["out/c.json", "out/deep/d.json", "out/deep/er/e.json"]
    assert names("**/[de].json") == ["out/deep/d.json", "out/deep/er/e.json"]
    assert names("b.txt", "*.txt", "missing", "deep/d.json") == ["b.txt"]


@pytest.mark.parametrize("pattern", ["../x", "/etc/passwd", "a/../../b", "", "a//b", "./a", "**/..", "nul\0"])
def test_patterns_stay_inside(pattern: str) -> None:
    with pytest.raises(UsageError, match="not a path inside the workspace"):
        run_script("pass", outputs=[pattern])
    with pytest.raises(UsageError, match="not a path inside the workspace"):
        run_script("pass", inputs={pattern: b""})


def test_only_regular_files_are_taken(play: Play) -> None:
    script = """
import os, socket
os.symlink("/usr/bin/env", "link")
os.symlink("/usr/lib", "folder_link")
os.symlink("script.py", "link_inside")
os.symlink("link_to_itself", "link_to_itself")
os.mkfifo("fifo")
socket.socket(socket.AF_UNIX).bind("socket")
os.mkdir("folder")
open("closed", "w").write("x")
os.chmod("closed", 0)
open("fine", "w").write("fine")
os.link("fine", "hard_link")
"""
    outcome = play(
        script,
        outputs=[
            "link*",
            "folder_link/os-release",
            "fifo",
            "socket",
            "folder",
            "closed",
            "fine",
            "hard_link",
            "**",
        ],
    )
    assert outcome.status == "ok"
    assert outcome.files.keys() == {"fine", "hard_link", "script.py"}
    assert outcome.omitted == {
        "link": "a symbolic link",
        "folder_link": "a symbolic link",
        "link_inside": "a symbolic link",
        "link_to_itself": "a symbolic link",
        "fifo": "not a regular file",
        "socket": "can't be opened: No such device or address",
        "folder": "not a regular file",
        "closed": "can't be opened: Permission denied",
    }


@pytest.mark.parametrize("size", [2 << 20, 50 << 20])
def test_outputs_that_are_too_big_are_left_out(play: Play, size: int) -> None:
    """Sparse: they say to be big and hold nothing."""
    script = f"open('a', 'w').write('x')\nopen('b', 'wb').truncate({size})\nopen('c', 'w').write('y')"
    outcome = play(script, outputs=["*"], limits=Limits(wall_s=30, total_output_bytes=1 << 20))
    assert (outcome.status, outcome.fired) == ("output", "total_output_bytes")
    assert outcome.files == {"a": b"x"}
    assert outcome.omitted == {"b": "more than total_output_bytes allows"}


def test_many_outputs_are_bounded(play: Play) -> None:
    script = "for n in range(5000): open(f'{n:0200}', 'w').close()"
    outcome = play(script, outputs=["0*"], limits=Limits(wall_s=60, total_output_bytes=100_000))
    assert outcome.status == "output"
    assert 300 < len(outcome.files) < 500


def test_deep_trees_and_strange_names(play: Play) -> None:
    script = r"""
import os
open(b"\xff.x", "w").close()
open("new\nline.x", "w").close()
open("-rf.x", "w").close()
for _ in range(3000):
    os.mkdir("d")
    os.chdir("d")
open("bottom.x", "w").close()
"""
    outcome = play(script, outputs=["**/*.x"])
    assert outcome.status == "ok"
    assert sorted(outcome.files) == ["-rf.x", "new\nline.x", "\ufffd.x"]


@pytest.mark.parametrize(
    "forged",
    [
        b"F8\na.x\0evil",
        b"F15\n../../a.x\0evil!!",
        b"F13\n/etc/b.x\0evil",
        b"F9999999999\na.x\0",
        b"F-5\n",
        b"E3\n0 0",
        b"E50\n0 0 0 99999999999999999999999999999999999999999999",
        b"\0" * 100_000,
        b"garbage",
    ],
)
def test_forged_frames_give_no_files_of_other_names(play: Play, forged: bytes) -> None:
    """A script that writes into its supervisor's pipe: at worst it lies about itself.

    The pipe is closed to it if root made it; an ordinary user's it can open.
    """
    script = f"""
import os
parent = os.getppid()
for number in os.listdir(f"/proc/{{parent}}/fd"):
    if int(number) > 2:
        try:
            os.write(os.open(f"/proc/{{parent}}/fd/{{number}}", os.O_WRONLY), {forged!r})
            print("written")
        except PermissionError:
            print("closed")
"""
    outcome = play(script, outputs=["*.x"])
    assert outcome.stdout in ("written\n", "closed\n")
    assert outcome.status in ("ok", "killed")
    assert set(outcome.files) <= {"a.x"}


def test_endless_forged_frames_are_cut(play: Play) -> None:
    script = """
import os
parent = os.getppid()
pipes = [n for n in os.listdir(f"/proc/{parent}/fd") if int(n) > 2]
for number in pipes:
    try:
        pipe = os.open(f"/proc/{parent}/fd/{number}", os.O_WRONLY)
    except PermissionError:
        print("closed")
        continue
    while True:
        os.write(pipe, b"x" * 65536)
"""
    outcome = play(script, limits=Limits(wall_s=30, total_output_bytes=1 << 20))
    assert outcome.fired == "total_output_bytes" or outcome.stdout == "closed\n"


def test_inputs_arguments_and_script_files(play: Play, tmp_path: Path) -> None:
    (tmp_path / "part.bin").write_bytes(bytes(range(256)) * 4096)
    outcome = play(
        "import sys, helper\nfrom pathlib import Path\n"
        "print(sys.argv[1:3], sys.argv[0], Path.cwd(), helper.VALUE)\n"
        "Path('copy').write_bytes(Path('data/part.bin').read_bytes())",
        arguments=["-x", "two words\n"],
        inputs={"helper.py": b"VALUE = 5", "data/part.bin": (tmp_path / "part.bin").read_bytes()},
        outputs=["copy"],
    )
    assert outcome.stdout == "['-x', 'two words\\n'] script.py /workspace 5\n"
    assert outcome.files["copy"] == bytes(range(256)) * 4096
