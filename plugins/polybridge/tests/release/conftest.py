"""A run worth releasing: an agent that crosses, and one that is refused twice and falls."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import cache
from pathlib import Path

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
