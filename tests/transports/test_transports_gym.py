"""The Gymnasium adapter, in the hands of Gymnasium's own checker and of a trainer."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

gymnasium = pytest.importorskip("gymnasium", reason="the extra gym isn't installed")

from gymnasium.error import ResetNeeded  # noqa: E402
from gymnasium.utils.env_checker import check_env  # noqa: E402

from evalkit.errors import StorageError, UnknownNameError  # noqa: E402
from evalkit.plugins import load_plugins  # noqa: E402
from evalkit.store.writer import RunWriter  # noqa: E402
from evalkit.transports.gym import EvalkitEnv  # noqa: E402


@pytest.fixture(autouse=True)
def blocks(blocks_path: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The toy benchmark, installed in this process."""
    for path in blocks_path.split(":"):
        monkeypatch.syspath_prepend(path)
    load_plugins.cache_clear()
    yield
    load_plugins.cache_clear()
    for name in [name for name in sys.modules if name.startswith("evalkit_blocks")]:
        del sys.modules[name]


def action(tool: str, **arguments: Any) -> str:
    return json.dumps({"tool": tool, "arguments": arguments})


@pytest.mark.filterwarnings("ignore:.*alternative render modes")
@pytest.mark.parametrize("suite", ["blocks.basic", "polybridge.smoke"])
def test_gymnasium_finds_nothing_wrong(suite: str) -> None:
    env = EvalkitEnv(suite)
    check_env(env)
    env.close()


def test_the_reward_is_the_first_metric_and_comes_at_the_end() -> None:
    env = EvalkitEnv("blocks.basic", "step-050")
    first, info = env.reset(seed=3)
    assert first in env.observation_space
    assert json.loads(first)["data"]["task"]["height_m"] == 0.5
    assert info["counters"]["calls"] == 0
    placed = env.step(action("place", x=0, width=1, height=0.5))
    assert placed[1:4] == (0.0, False, False)
    assert json.loads(placed[0])["data"]["height_m"] == 0.5
    last, reward, terminated, truncated, info = env.step(action("submit"))
    assert (reward, terminated, truncated) == (1.0, True, False)
    assert json.loads(last)["text"] == "It stands."
    assert info["counters"] == {"calls": 2, "tool_calls": 2, "executions": 1}
    assert info["end"] == "the episode has ended: done"
    with pytest.raises(ResetNeeded):
        env.step(action("submit"))


def test_a_used_up_budget_truncates() -> None:
    env = EvalkitEnv("polybridge.smoke", overrides=["limits.calls=2"])
    env.reset(seed=0)
    assert env.step(action("propose", text="no"))[1:4] == (0.0, False, False)
    assert env.step(action("propose", text="no"))[1:4] == (0.0, False, True)


@pytest.mark.parametrize(
    "junk", ["", "junk", "[]", '{"tool": 1}', '{"tool": "check", "arguments": 1}', "NaN"]
)
def test_junk_is_a_call_that_is_told_and_counted(junk: str) -> None:
    env = EvalkitEnv("blocks.basic")
    env.reset(seed=0)
    seen, *_, info = env.step(junk)
    told = json.loads(seen)["data"]
    assert told["code"] == "arguments"
    assert re.match("not JSON|the action is no JSON object|'arguments' of the action", told["message"])
    assert info["counters"]["errors"] == 1
    env.close()


def test_tasks_are_drawn_by_the_seed_or_named() -> None:
    env = EvalkitEnv("blocks.basic")

    def drawn() -> list[str]:
        return [env.reset(seed=5 if number == 0 else None)[1]["task"] for number in range(6)]

    tasks = drawn()
    assert drawn() == tasks
    assert len(set(tasks)) > 1
    assert env.reset(options={"task": "spire-300"})[1]["task"] == "spire-300"
    with pytest.raises(UnknownNameError, match="did you mean spire-300"):
        env.reset(options={"task": "spire-30"})
    with pytest.raises(UnknownNameError, match="did you mean task"):
        env.reset(options={"tsk": "spire-300"})
    env.close()


def test_with_a_root_every_episode_is_a_run(tmp_path: Path) -> None:
    env = EvalkitEnv("polybridge.smoke", root=str(tmp_path), pictures=True)
    _, info = env.reset(seed=0)
    assert info["images"]["editor.png"].startswith(b"\x89PNG")
    env.reset(seed=1)
    env.close()
    env.close()
    ends = [
        json.loads(line)["end"]["detail"]
        for run in sorted(tmp_path.iterdir())
        for line in (run / "episodes.jsonl").read_text().splitlines()
    ]
    assert ends == ["the trainer went on to something else"] * 2


def test_a_full_disk_leaves_no_lock_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise StorageError("the disk is full")

    env = EvalkitEnv("blocks.basic", root=tmp_path)
    env.reset(seed=0)
    monkeypatch.setattr(RunWriter, "finish", full)
    with pytest.raises(StorageError):
        env.close()
    (run,) = tmp_path.iterdir()
    RunWriter(run).close()


def test_a_picture_that_a_full_disk_refuses_is_no_error_of_the_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise StorageError("the disk is full")

    monkeypatch.setattr(RunWriter, "blob", full)
    env = EvalkitEnv("polybridge.smoke", root=tmp_path, pictures=True)
    with pytest.raises(StorageError, match="the disk is full"):
        env.reset(seed=0)
