"""A suite's condition and the budget of its tasks tell the same; `evalkit info` explains every setting."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from evalkit import UsageError
from evalkit_polybridge.settings import BridgeSettings, check_suite


def evalkit(folder: Path, *words: str, code: int = 0) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "evalkit", *words]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=120)
    assert done.returncode == code, done.stderr
    return done


@pytest.mark.parametrize(
    ("condition", "tasks"),
    [
        ("loose", {"levels": "main", "budget": "strict"}),
        ("strict", {"levels": "main", "budget": "loose"}),
        ("tight", {"levels": "heldout"}),
        ("loose", {"folder": "levels", "budget": "strict"}),
    ],
)
def test_a_condition_that_names_another_budget_is_refused(condition: str, tasks: dict[str, str]) -> None:
    with pytest.raises(UsageError, match=f"the condition '{condition}' names another budget"):
        check_suite(condition, tasks, {})


@pytest.mark.parametrize(
    ("condition", "tasks"),
    [
        ("loose", {"levels": "main", "budget": "loose"}),
        ("strict", {"levels": "heldout"}),
        ("my own", {"levels": "main", "budget": "tight"}),
        ("tight", {"folder": "levels", "budget": "own"}),
        ("tight", {"folder": "levels"}),
    ],
)
def test_other_names_are_free(condition: str, tasks: dict[str, str]) -> None:
    check_suite(condition, tasks, {})


def test_the_mismatch_is_found_before_anything_is_played(tmp_path: Path) -> None:
    done = evalkit(tmp_path, "run", "polybridge.smoke", "-T", "condition=loose", code=2)
    assert done.stderr.count("\n") == 1
    assert "suite polybridge.smoke: the condition 'loose' names another budget" in done.stderr
    assert not (tmp_path / "runs").exists()
    both = ("-T", "condition=loose", "-T", "tasks.budget=loose")
    evalkit(tmp_path, "run", "polybridge.smoke", *both, "--dry-run")


def test_every_setting_is_described(tmp_path: Path) -> None:
    found = json.loads(evalkit(tmp_path, "info", "benchmark:polybridge", "--json").stdout)["settings"]
    assert found.keys() == BridgeSettings.model_fields.keys()
    assert all(setting["description"] for setting in found.values())
