"""The tutorial, followed to the letter: files written, commands run, output compared, in one folder, offline.

A paragraph that ends in a file's name and a colon is followed by that file; `sh` blocks are run; every line
of a `text` block has to be in the output of the commands before it.
"""

from __future__ import annotations

import os
import re
import site
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

TUTORIAL = Path(__file__).parents[1] / "docs" / "tutorial.md"
NEEDS_INDEX = "<!-- needs a package index -->"
TIMEOUT_S = 240

_BLOCK = re.compile(
    rf"(?P<skip>{NEEDS_INDEX}\n)?"
    r"(?:^`(?P<path>[^`\n]+)`(?P<add> \(add\))?:\n\n)?"
    r"^```(?P<kind>\w+)\n(?P<text>.*?)^```$",
    re.MULTILINE | re.DOTALL,
)


@dataclass(frozen=True)
class Block:
    """A fenced block: a file (`path`), commands or expected output (`kind`)."""

    kind: str
    text: str
    path: str | None
    add: bool
    skip: bool


def blocks() -> list[Block]:
    text = TUTORIAL.read_text(encoding="utf-8")
    assert text.count("\n```") == 2 * len(_BLOCK.findall(text)), "a fenced block isn't understood"
    return [
        Block(m["kind"], m["text"], m["path"], bool(m["add"]), bool(m["skip"])) for m in _BLOCK.finditer(text)
    ]


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    """A virtual environment that sees the packages of this one, and what makes pip work without an index."""
    venv = tmp_path / "venv"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(venv)], check=True, timeout=TIMEOUT_S)
    (packages,) = venv.glob("lib/*/site-packages")
    lines = [f"import site; site.addsitedir({folder!r})" for folder in site.getsitepackages()]
    (packages / "these.pth").write_text("\n".join(lines))
    for name in ("evalkit", "pip", "pytest"):
        script = venv / "bin" / name
        script.write_text(f'#!/bin/sh\nexec "{venv}/bin/python" -m {name} "$@"\n')
        script.chmod(0o755)
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("EVALKIT_", "PIP_", "PYTHON"))}
    return kept | {
        "PATH": f"{venv}/bin:{os.environ['PATH']}",
        "VIRTUAL_ENV": str(venv),
        "PIP_NO_INDEX": "1",
        "PIP_NO_BUILD_ISOLATION": "0",  # pip's word for "without isolation"
        "PIP_DISABLE_PIP_VERSION_CHECK": "1",
        "COLUMNS": "120",
    }


@pytest.mark.skipif(os.name == "nt", reason="the tutorial's commands are for a Unix shell")
def test_tutorial(tmp_path: Path, environment: dict[str, str]) -> None:
    output = ""
    for block in blocks():
        if block.skip:
            continue
        if block.path is not None:
            path = tmp_path / block.path
            path.parent.mkdir(parents=True, exist_ok=True)
            with path.open("a" if block.add else "w", encoding="utf-8") as file:
                file.write(block.text)
        elif block.kind == "sh":
            done = subprocess.run(
                ["bash", "-euo", "pipefail", "-c", block.text],
                cwd=tmp_path,
                env=environment,
                capture_output=True,
                text=True,
                timeout=TIMEOUT_S,
            )
            output = done.stdout + done.stderr
            assert done.returncode == 0, f"{block.text}\n{output}"
        else:
            assert block.kind == "text", f"a {block.kind} block without a file's name before it"
            for line in block.text.splitlines():
                assert line in output.splitlines(), f"{line}\n\n{output}"


def test_the_tutorial_shows_what_it_needs() -> None:
    found = blocks()
    assert sum(block.path is not None for block in found) >= 10
    assert sum(block.kind == "sh" for block in found) >= 8
    assert sum(block.skip for block in found) == 1
