"""The suites with tools through the command: scripts, models with native and with text tools, a shell."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from tool_script import QUICK

from evalkit import StepContext, Task, ToolCall, UsageError
from evalkit_brickbench.tool_environment import BrickTools

TASK = "ek-smoke-model"


def evalkit(folder: Path, *arguments: str, given: str | None = None) -> subprocess.CompletedProcess[str]:
    done = subprocess.run(
        [sys.executable, "-m", "evalkit", *arguments],
        cwd=folder,
        input=given,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    return done


def events(folder: Path) -> list[dict[str, Any]]:
    """The record of the one episode of the one run below a folder."""
    (log,) = folder.glob("*/episodes/*.jsonl")
    return [json.loads(line) for line in log.read_text().splitlines()]


def states(folder: Path) -> list[str]:
    """Hashes of the states after each call."""
    return [event["state"] for event in events(folder) if event["kind"] == "result"]


@pytest.fixture(scope="module")
def scripted(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The script played by the core's agent `scripted`."""
    folder = tmp_path_factory.mktemp("scripted")
    calls = [{"tool": tool, "arguments": arguments} for tool, arguments in QUICK]
    (folder / "calls.json").write_text(json.dumps(calls))
    run = ["run", "brickbench.smoke-tools", "--id", TASK, "--agent", "scripted:calls.json", "-j", "1"]
    evalkit(folder, *run, "-o", "runs")
    return folder / "runs"


def test_script_gives_a_valid_build_and_replays(scripted: Path) -> None:
    found = events(scripted)
    assert found[-1]["reason"] == "done"
    assert found[-1]["counters"]["calls"] == len(QUICK)
    assert "You have 300 replies." in found[1]["text"]
    (execution,) = (event for event in found if event["kind"] == "execution")
    assert execution["success"] is True
    assert execution["data"]["components"] == 1
    (run,) = scripted.iterdir()
    assert "all equal (exact)" in evalkit(scripted.parent, "replay", str(run)).stdout


@pytest.mark.parametrize("agent", ["tools", "text-tools"])
def test_models_play_with_native_and_with_text_tools(agent: str, scripted: Path, tmp_path: Path) -> None:
    def reply(tool: str, arguments: dict[str, Any]) -> Any:
        if agent == "tools":
            return {"tool_calls": [{"name": tool, "arguments": arguments}]}
        return f"Next.\n```tool\n{json.dumps({'name': tool, 'arguments': arguments})}\n```\n"

    (tmp_path / "replies.json").write_text(json.dumps([reply(*call) for call in QUICK]))
    run = ["run", "brickbench.smoke-tools", "--id", TASK, "--agent", agent, "-m", "scripted:replies.json"]
    evalkit(tmp_path, *run, "-o", "runs", "-j", "1")
    assert states(tmp_path / "runs") == states(scripted)


def test_shell_plays_it(scripted: Path, tmp_path: Path) -> None:
    lines = "".join(f"{tool} {json.dumps(arguments)}\n" for tool, arguments in QUICK)
    evalkit(tmp_path, "play", "brickbench.smoke-tools", "--id", TASK, "-o", "runs", given=lines)
    assert states(tmp_path / "runs") == states(scripted)


def test_answers_say_when_few_replies_are_left() -> None:
    environment = BrickTools({})
    environment.reset(Task("t", {"prompt": "p"}), 0)
    call = ToolCall("search", {"query": "brick"})
    many = environment.step(call, StepContext({"calls": 21.0}, {}))
    few = environment.step(call, StepContext({"calls": 20.0}, {}))
    assert "replies_left" not in many.observation.data
    assert few.observation.data["replies_left"] == 20


def test_first_observation_has_rules_and_the_guide() -> None:
    rules = {"min_parts": 1, "max_parts": 400}
    inputs = {"prompt": "a red wall", "setting": "model", "part_rules": rules}
    seen = BrickTools({"profile": "bricknet-0.1.0"}).reset(Task("t", inputs, {"questions": ["secret"]}), 0)
    for words in ("a red wall", "Use 1 to 400 parts", "more than 0.5 LDU", "published set"):
        assert words in seen.text
    assert "replies" not in seen.text
    assert "new_assembly" in seen.data["prompt"]
    assert seen.data["task"] == inputs


def test_ablation_of_the_library_is_for_folders() -> None:
    with pytest.raises(UsageError, match="played in a folder"):
        BrickTools({"kit": "ldraw"})
