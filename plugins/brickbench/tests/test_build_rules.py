"""What a model breaks of the part rules in a task's file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from evalkit_brickbench.build import Assembly, BuildError, at, broken_rules


def row(count: int, part: str = "3001") -> Assembly:
    model = Assembly("row")
    for place in range(count):
        model.add(part, at(4 * place, 0), color="red")
    return model


def task(folder: Path, rules: dict[str, Any] | None) -> Path:
    path = folder / "task.json"
    path.write_text(json.dumps({"prompt": "p", **({} if rules is None else {"part_rules": rules})}))
    return path


def test_number_of_parts(tmp_path: Path) -> None:
    path = task(tmp_path, {"min_parts": 2, "max_parts": 3})
    assert broken_rules(row(3), path) == ()
    assert broken_rules(row(1), path) == ("1 parts, at least 2 are wanted",)
    assert broken_rules(row(4), path) == ("4 parts, at most 3 are allowed",)


def test_stock_also_under_another_id(tmp_path: Path) -> None:
    path = task(tmp_path, {"min_parts": 1, "max_parts": 9, "stock": {"3001": {"4": 2}}})
    assert broken_rules(row(2), path) == ()
    (message,) = broken_rules(row(3, "3001.dat"), path)
    assert "3001 in colour 4: 3 of 2" in message


def test_task_without_rules_and_files_that_are_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert broken_rules(row(1), task(tmp_path, None)) == ()
    monkeypatch.chdir(tmp_path)
    assert broken_rules(row(1)) == ()
    for content in ("", "[]", "3", '{"part_rules": {}}', '{"part_rules": [1]}'):
        (tmp_path / "task.json").write_text(content)
        with pytest.raises(BuildError, match="no part rules to be read"):
            broken_rules(row(1))
    with pytest.raises(BuildError, match="no part rules to be read"):
        broken_rules(row(1), tmp_path / "none.json")
