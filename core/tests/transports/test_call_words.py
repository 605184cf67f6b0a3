"""The words of `evalkit-call`, and that the file needs nothing but Python."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from evalkit.transports import client


def test_words_make_a_request(tmp_path: Path) -> None:
    script, text = tmp_path / "call.json", tmp_path / "reply.txt"
    script.write_text('{"y": 2}')
    text.write_text("two\nlines")
    words = ["x=1=1", '{"z": [3]}', f"@{script}", f"text=@{text}", "empty="]
    assert client.request("place", words) == {
        "do": "call",
        "tool": "place",
        "pairs": {"x": "1=1", "text": "two\nlines", "empty": ""},
        "arguments": {"z": [3], "y": 2},
    }
    assert client.request("tools", []) == {"do": "tools"}


@pytest.mark.parametrize(
    ("verb", "word", "message"),
    [
        ("budget", "now", "'budget' takes nothing"),
        ("place", "x", "neither KEY=VALUE nor a JSON object nor @FILE"),
        ("place", "=1", "neither KEY=VALUE"),
        ("place", "{x}", "the arguments: not JSON"),
        ("place", "@gone.json", "can't read gone.json"),
        ("place", "x=@gone.txt", "can't read gone.txt"),
    ],
)
def test_wrong_words_are_one_line(verb: str, word: str, message: str) -> None:
    with pytest.raises(client.CallError, match=message.replace("(", "[(]")) as caught:
        client.request(verb, [word])
    assert "\n" not in str(caught.value)


def test_a_copy_of_the_file_runs_without_any_package(tmp_path: Path) -> None:
    copy = shutil.copy(str(client.__file__), tmp_path / "call.py")
    command = [sys.executable, "-I", "-S", str(copy)]
    told = subprocess.run([*command, "--help"], capture_output=True, text=True, timeout=60, check=True)
    assert told.stdout.startswith("usage: evalkit-call SOCKET tools")
    nobody = str(tmp_path / "nobody.sock")
    done = subprocess.run([*command, nobody, "tools"], capture_output=True, text=True, timeout=60)
    assert done.returncode == 1
    assert done.stdout == ""
    assert f"no episode answers at {nobody}" in done.stderr
    assert done.stderr.count("\n") == 1


def test_importing_it_from_evalkit_loads_nothing_else() -> None:
    code = "import sys, evalkit.transports.client; print(*sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60
    )
    loaded = {name.partition(".")[0] for name in done.stdout.split()}
    assert not {"click", "pydantic", "numpy", "yaml", "pluggy", "argparse"} & loaded
    assert [name for name in done.stdout.split() if name.startswith("evalkit.")] == [
        "evalkit.transports",
        "evalkit.transports.client",
    ]
