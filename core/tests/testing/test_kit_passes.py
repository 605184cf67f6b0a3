"""The kit passes the toy as it is, skips what doesn't apply, and is imported lazily."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace

import pytest

import evalkit.testing
from evalkit import ToolCall, UsageError
from evalkit.plugins import Plugins
from evalkit.testing import CHECKS, Subject, check_benchmark, check_plugin, check_subject, conformance_tests


def test_blocks_passes_every_check(plugins: Plugins) -> None:
    findings = check_benchmark("blocks.basic", plugins=plugins)
    assert [f.check for f in findings] == list(CHECKS)
    assert {f.status for f in findings} == {"ok"}, findings


def test_given_scripts_are_played(plugins: Plugins) -> None:
    script = [ToolCall("place", {"x": 0.0, "width": 0.5, "height": 0.5}), ToolCall("submit")]
    findings = check_benchmark("blocks.basic", plugins=plugins, tasks=["step-050"], scripts={"*": script})
    by_check = {f.check: f for f in findings}
    assert by_check["replay"].message == "2 states"
    assert {f.status for f in findings} == {"ok"}, findings


def test_without_calls_the_checks_that_need_them_are_skipped(plugins: Plugins) -> None:
    findings = check_benchmark("blocks.basic", plugins=plugins, scripts={})
    skipped = {f.check for f in findings if f.status == "skipped"}
    assert {"determinism", "state", "replay", "hidden", "processes", "validators"} <= skipped
    assert "failed" not in {f.status for f in findings}


def test_what_does_not_apply_is_skipped(blocks: Callable[..., Subject]) -> None:
    bare = replace(
        blocks(), validators={}, executors={}, final_executors={}, metrics={}, run_metrics={}, agents={}
    )
    findings = check_subject(bare, ["validators", "executors", "metrics", "agents"])
    assert [f.status for f in findings] == ["skipped"] * 4


def test_declared_exceptions_may_be_seen(blocks: Callable[..., Subject]) -> None:
    subject = blocks()
    plain = subject.environment

    class Telling(plain):  # type: ignore[misc, valid-type]
        def reset(self, task, seed):  # type: ignore[no-untyped-def]
            seen = super().reset(task, seed)
            return replace(seen, text=f"{seen.text} This one is {task.hidden['family']}.")

    telling = replace(subject, environment=Telling)
    assert check_subject(telling, ["hidden"])[0].status == "failed"
    assert check_subject(replace(telling, visible=frozenset({"family"})), ["hidden"])[0].status == "ok"


def test_a_suite_that_cannot_be_had_is_a_finding(plugins: Plugins) -> None:
    (finding,) = check_benchmark("blocks.basik", plugins=plugins)
    assert (finding.check, finding.status) == ("setup", "failed")
    assert "did you mean blocks.basic" in finding.message


def test_an_unknown_task_is_named(plugins: Plugins) -> None:
    (finding,) = check_benchmark("blocks.basic", plugins=plugins, tasks=["step-05"])
    assert "did you mean step-050" in finding.message


def test_a_plugin_is_checked_as_a_whole(plugins: Plugins) -> None:
    findings = list(check_plugin("blocks", plugins=plugins))
    assert {f.status for _, f in findings} == {"ok"}, findings
    assert [s for s, _ in findings[:4]] == ["blocks"] * 4
    assert {s for s, _ in findings[4:]} == {"blocks.smoke"}


def test_a_plugin_that_is_not_there_is_an_error(plugins: Plugins) -> None:
    with pytest.raises(UsageError, match="did you mean blocks"):
        list(check_plugin("block", plugins=plugins))


def test_the_pytest_class_has_a_test_per_check() -> None:
    generated = conformance_tests("blocks.basic")
    (mark,) = generated.test_conforms.pytestmark
    assert mark.args == ("check", list(CHECKS))


def test_public_names_are_there_and_nothing_heavy_is_imported_for_them() -> None:
    for name in evalkit.testing.__all__:
        assert getattr(evalkit.testing, name) is not None
    code = "import sys, evalkit.testing; sys.exit(bool({'pydantic', 'pytest', 'yaml'} & sys.modules.keys()))"
    assert subprocess.run([sys.executable, "-c", code], check=False, timeout=60).returncode == 0
