"""Folders that a script finds empty, although they lie in one that it is shown."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from evalkit.sandbox import Outcome

Play = Callable[..., Outcome]

LOOK = """
import os, shown
print(shown.NAME, os.listdir({secret!r}))
try:
    open({secret!r} + "/new", "w")
except OSError as error:
    print(type(error).__name__)
"""


@pytest.fixture
def package(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder to import from, with a module and a folder of secrets."""
    folder = tmp_path_factory.mktemp("packages")
    for path in (folder, folder.parent, folder.parent.parent):  # an ordinary user plays, too
        path.chmod(0o755)
    (folder / "shown.py").write_text("NAME = 'shown'\n")
    (folder / "secret").mkdir()
    (folder / "secret" / "answers.json").write_text("[]")
    return folder


def test_hidden_folder_is_empty_and_closed(play: Play, package: Path) -> None:
    script = LOOK.format(secret=str(package / "secret"))
    outcome = play(script, packages=[package], hidden=[package / "secret"])
    assert (outcome.status, outcome.stderr) == ("ok", "")
    assert outcome.stdout.splitlines() == ["shown []", "OSError"]
    assert os.listdir(package / "secret") == ["answers.json"]


def test_hidden_folder_out_of_sight_changes_nothing(play: Play, package: Path) -> None:
    outcome = play("import os; print(os.path.exists('/opt/nowhere'))", hidden=[package / "secret"])
    assert outcome.stdout == "False\n"
