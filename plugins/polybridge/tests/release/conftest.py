"""A run worth releasing: an agent that crosses, and one that is refused twice and falls."""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from evalkit.cli.main import main
from evalkit_polybridge.agents.flat import flat_deck
from evalkit_polybridge.contract import format_reply
from evalkit_polybridge.graph import Bridge, Edge
from evalkit_polybridge.levels import catalogue

LEVELS = ("T1B_Basic_08m", "T2D_Platform_4-4-4")
KEY = "sk-" + "a1B2" * 8


def scripted(path: Path) -> str:
    """A script of replies: unreadable, illegal, and a deck that falls."""
    levels = {entry.level.name: entry.level for entry in catalogue.load("strict")}
    replies = {}
    for name in LEVELS:
        level = levels[name]
        too_long = Bridge(level.anchors, (Edge(90, 1, 1, 2),))
        texts = [
            f"My key is {KEY}, and it lies in /home/ann/keys.txt.",
            format_reply(too_long, f"Authorization: Bearer {KEY}"),
            format_reply(flat_deck(level), r"written to C:\Users\ann\bridge.json"),
        ]
        replies[name] = [{"tool": "propose", "arguments": {"text": text}} for text in texts]
    path.write_text(json.dumps(replies))
    return f"scripted:{path}"


@pytest.fixture(scope="session")
def bridge_run(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A run of two levels: one agent that crosses, one that is refused twice and falls."""
    folder = tmp_path_factory.mktemp("release-run")
    agents = ["--agent", "truss", "--agent", scripted(folder / "script.json")]
    protocol = ["-T", f"tasks.names={json.dumps(LEVELS)}"]
    options = ["-j", "1", "--pictures", "-o", str(folder / "runs"), "--format", "json"]
    assert main(["run", "polybridge.smoke", *agents, *protocol, *options]) == 0
    (run,) = (folder / "runs").iterdir()
    return str(run)


@pytest.fixture(scope="session")
def honest(bridge_run: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An untampered release."""
    folder = tmp_path_factory.mktemp("release") / "release"
    assert main(["polybridge", "release", "write", bridge_run, "-o", str(folder)]) == 0
    return folder


@pytest.fixture(scope="session")
def play(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., str]:
    """`play(*options)`: the folder of a run of the smoke suite; equal options are played once."""
    folder = tmp_path_factory.mktemp("played")

    @cache
    def run(*options: str) -> str:
        before = set(folder.iterdir())
        words = ["run", "polybridge.smoke", "-j", "1", "-o", str(folder), "--format", "json"]
        assert main([*words, *options]) == 0
        (made,) = set(folder.iterdir()) - before
        return str(made)

    return run


@pytest.fixture(scope="session")
def fallen(play: Callable[..., str]) -> Callable[..., str]:
    """`fallen(*options)`: a run in which a bare deck falls on one level."""
    return lambda *options: play("--agent", "flat", "-T", f'tasks.names=["{LEVELS[0]}"]', *options)


class Tampered:
    """A copy of a release to tamper with: JSON files by patterns, and the seal that hides it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def find(self, pattern: str) -> Path:
        """The first file that fits."""
        return min(self.folder.glob(pattern))

    def edit_all(self, pattern: str, change: Callable[[Any], Any]) -> None:
        """Change the documents in all files that fit."""
        for path in sorted(self.folder.glob(pattern)):
            self.edit(path.relative_to(self.folder).as_posix(), change)

    def edit(self, pattern: str, change: Callable[[Any], Any]) -> None:
        """Change the document in the first file that fits."""
        path = self.find(pattern)
        document = json.loads(path.read_text())
        change(document)
        path.write_text(json.dumps(document))

    def manifest(self, change: Callable[[Any], Any]) -> None:
        """Change the manifest."""
        self.edit("manifest.json", change)

    def declare(self, change: Callable[[Any], Any]) -> None:
        """Change the configuration in the manifest and in every summary."""
        self.manifest(lambda document: change(document["inclusion"]))
        self.edit_all("sessions/*/*/*/summary.json", lambda document: change(document["configuration"]))

    def seal(self) -> None:
        """List the files that are there with their hashes; secret-looking and left-over files too."""
        manifest = json.loads((self.folder / "manifest.json").read_text())
        lists = manifest["files"], manifest["images"]["files"]
        for files in lists:
            files.clear()
        for path in sorted(self.folder.rglob("*")):
            name = path.relative_to(self.folder).as_posix()
            if path.is_file() and name != "manifest.json":
                data = path.read_bytes()
                entry = {"sha256": hashlib.sha256(data).hexdigest(), "size": len(data)}
                lists[name.endswith(".png")][name] = entry
        (self.folder / "manifest.json").write_text(json.dumps(manifest))


@pytest.fixture
def tampered(honest: Path, tmp_path: Path) -> Tampered:
    """A copy of the honest release to tamper with."""
    return Tampered(Path(shutil.copytree(honest, tmp_path / "release")))
