"""The kit passes the toy that is played in a workspace."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from evalkit_blocks.workspace import FILE, BlocksWorkspace

from evalkit import Brief, Task, ToolCall, UsageError
from evalkit.plugins import Plugins
from evalkit.testing import CHECKS, Subject, check_benchmark, check_subject

STACK = b'{"boxes": [[0, 0.5, 0.3], [0, 0.5, 0.3]]}'


def test_blocks_passes_every_check_that_applies(plugins: Plugins) -> None:
    findings = check_benchmark("blocks.workspace", plugins=plugins)
    assert [f.check for f in findings] == list(CHECKS)
    assert {f.check for f in findings if f.status != "ok"} == {"tools", "state", "meters"}, findings
    assert "failed" not in {f.status for f in findings}


def test_given_files_are_handed_in(workspace: Callable[..., Subject]) -> None:
    subject = workspace(tasks=["step-050"], scripts={"*": {FILE: STACK}})
    assert check_subject(subject, ["validators"])[0].message == "1 validators, 1 candidates"


def test_files_that_are_not_asked_for_are_not_taken(workspace: Callable[..., Subject]) -> None:
    subject = workspace(scripts={"*": {"other.json": STACK}})
    assert check_subject(subject, ["validators"])[0].message == "the scripts make no candidate"


def test_without_files_the_checks_that_need_them_are_skipped(plugins: Plugins) -> None:
    findings = {f.check: f for f in check_benchmark("blocks.workspace", plugins=plugins, scripts={})}
    skipped = {name for name, finding in findings.items() if finding.status == "skipped"}
    assert {"determinism", "replay", "hidden", "processes", "validators"} <= skipped
    assert "there are no files to hand in" in findings["hidden"].message
    assert findings["hostile"].status == "ok"


def test_scripts_of_the_wrong_kind_are_named(plugins: Plugins) -> None:
    (finding,) = check_benchmark("blocks.workspace", plugins=plugins, scripts={"*": [ToolCall("submit")]})
    assert (finding.check, finding.status) == ("setup", "failed")
    assert "wanted a mapping of paths to bytes" in finding.message
    (finding,) = check_benchmark("blocks.basic", plugins=plugins, scripts={"*": {FILE: STACK}})
    assert "wanted a list of calls" in finding.message


def test_declared_exceptions_may_be_in_files(workspace: Callable[..., Subject]) -> None:
    class Telling(BlocksWorkspace):
        def prepare(self, folder: Path, task: Task, seed: int) -> Brief:
            (folder / "family.txt").write_text(task.hidden["family"])
            return super().prepare(folder, task, seed)

    telling = replace(workspace(), environment=Telling)
    assert check_subject(telling, ["hidden"])[0].status == "failed"
    visible = replace(telling, visible=frozenset({"family"}))
    assert check_subject(visible, ["hidden"])[0].status == "ok"


def test_agents_of_the_other_kind_are_left_out(
    blocks: Callable[..., Subject], workspace: Callable[..., Subject]
) -> None:
    assert sorted(workspace().agents) == ["writer"]
    assert sorted(blocks().agents) == ["random", "tower"]


def test_agents_that_need_an_argument_are_left_out(
    blocks: Callable[..., Subject], monkeypatch: pytest.MonkeyPatch
) -> None:
    from evalkit_blocks.agents import TowerAgent

    def demanding(self: object, argument: str, settings: object) -> None:
        raise UsageError("agent 'tower' needs a file")

    monkeypatch.setattr(TowerAgent, "__init__", demanding)
    assert sorted(blocks().agents) == ["random"]
