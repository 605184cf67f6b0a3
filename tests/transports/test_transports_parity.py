"""One action script gives the same record, and so the same chain of states, whoever carries the calls."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

Call = tuple[str, dict[str, Any]]
Script = tuple[str, str, Sequence[Call]]

BLOCKS: Sequence[Call] = [
    ("place", {"x": 0.0, "width": 0.8, "height": 0.5}),
    ("plaice", {"x": 0.0}),
    ("place", {"x": 0.0, "width": "wide", "height": 0.25}),
    ("submit", {}),
    ("remove", {"index": 3}),
    ("remove", {"index": 0}),
    ("place", {"x": 0.0, "width": 0.8, "height": 0.4}),
    ("place", {"x": 0.05, "width": 0.7, "height": 0.35}),
    ("check", {}),
    ("submit", {}),
    ("place", {"x": 0.1, "width": 0.6, "height": 0.25}),
    ("submit", {}),
]


@pytest.fixture(scope="module")
def bridges(new_workplace: Any, tmp_path_factory: pytest.TempPathFactory) -> Sequence[Call]:
    """A reply that is none, a deck that falls, a truss that holds."""
    work = new_workplace(tmp_path_factory.mktemp("designs") / "w")
    agents = ("--agent", "flat", "--agent", "truss")
    work.run("run", "polybridge.smoke", "-n", "1", *agents, "-j", "1", "--format", "json")
    reply = "I'd rather not. Ünïcode “quotes” included."
    return [("propose", {"text": reply}), *map(first_call(work.only_run()), ("flat", "truss"))]


def first_call(run: Path) -> Callable[[str], Call]:
    """Looks up the first call of an agent in a run."""

    def look_up(agent: str) -> Call:
        for log in (run / "episodes").iterdir():
            start, *rest = (json.loads(line) for line in log.read_text().splitlines())
            if start["key"]["agent"] == agent:
                action = next(event for event in rest if event["kind"] == "action")
                return action["tool"], whole(action["arguments"])
        raise AssertionError(f"{agent} played nothing")

    def whole(arguments: dict[str, Any]) -> dict[str, Any]:
        if "blob" not in arguments:
            return arguments
        path = run / "blobs" / arguments["blob"][:2] / arguments["blob"]
        found: dict[str, Any] = json.loads(path.read_text())
        return found

    return look_up


@pytest.fixture(scope="module", params=["polybridge.smoke", "blocks.basic"])
def script(request: pytest.FixtureRequest) -> Script:
    """Suite, task and calls; the last call ends the episode with a success."""
    if request.param == "blocks.basic":
        return request.param, "step-100", BLOCKS
    return request.param, "T1B_Basic_08m", request.getfixturevalue("bridges")


@pytest.fixture(scope="module")
def reference(
    script: Script, new_workplace: Any, tmp_path_factory: pytest.TempPathFactory
) -> list[dict[str, Any]]:
    """The record of the script as `evalkit run` plays it."""
    suite, task, calls = script
    work = new_workplace(tmp_path_factory.mktemp("run") / "w")
    (work.folder / "script.json").write_text(json.dumps([{"tool": t, "arguments": a} for t, a in calls]))
    agent = ("--agent", "scripted:script.json", "--pictures")
    work.run("run", suite, "--id", task, *agent, "-j", "1", "--format", "json")
    content: list[dict[str, Any]] = work.content(work.only_run())
    assert content[-1]["reason"] == "done"
    assert len([event for event in content if event["kind"] == "result"]) == len(calls)
    return content


def by_prompt(work: Any, suite: str, task: str, calls: Sequence[Call]) -> None:
    lines = "".join(f"{tool} {json.dumps(arguments)}\n" for tool, arguments in calls)
    work.run("play", suite, "--id", task, given=lines)


def by_shell(work: Any, suite: str, task: str, calls: Sequence[Call]) -> None:
    server = work.start("play", suite, "--id", task, "--serve", "s.sock", "--format", "json")
    work.said(server, "waiting for calls")
    for number, (tool, arguments) in enumerate(calls):
        work.folder.joinpath("arguments.json").write_text(json.dumps(arguments))
        words = [f"{k}={v if isinstance(v, str) else json.dumps(v)}" for k, v in arguments.items()]
        given = words if number % 2 else ["@arguments.json"]
        done = work.call("s.sock", tool, *given, "--json", code=None)
        assert json.loads(done.stdout)["ok"] is (done.returncode == 0)
    work.call("s.sock", "stop")
    work.finished(server)


def by_mcp_stdio(work: Any, suite: str, task: str, calls: Sequence[Call]) -> None:
    pytest.importorskip("mcp", reason="the extra mcp isn't installed")
    from mcp import Client
    from mcp.client.stdio import StdioServerParameters

    words = ["-m", "evalkit", "mcp", suite, "--id", task]
    server = StdioServerParameters(command=sys.executable, args=words, env=work.environment, cwd=work.folder)
    asyncio.run(drive_mcp(Client(server), calls))


def by_mcp_http(work: Any, suite: str, task: str, calls: Sequence[Call]) -> None:
    pytest.importorskip("mcp", reason="the extra mcp isn't installed")
    from mcp import Client

    server = work.start("mcp", suite, "--id", task, "--http", "127.0.0.1:0")
    url = work.said(server, "http://").split()[-1]
    asyncio.run(drive_mcp(Client(url), calls))
    server.terminate()
    work.finished(server, code=130)


async def drive_mcp(connection: Any, calls: Sequence[Call]) -> None:
    async with connection as client:
        for tool, arguments in calls:
            await client.call_tool(tool, arguments)


IN_PROCESS = """
import json, sys
from pathlib import Path
transport, suite, task, calls = json.load(sys.stdin)
if transport == "gym":
    from evalkit.transports.gym import EvalkitEnv
    env = EvalkitEnv(suite, task, root=Path("runs"), pictures=True)
    env.reset(seed=0)
    steps = [env.step(json.dumps({"tool": tool, "arguments": arguments})) for tool, arguments in calls]
    assert [step[1] for step in steps] == [0.0] * (len(calls) - 1) + [1.0], "the reward comes at the end"
    assert steps[-1][2:4] == (True, False)
else:
    from evalkit.transports._session import Player, RecordedEpisode, Stage
    stage = Stage.open(suite)
    driven = RecordedEpisode(stage, stage.task(task), Player("driven", "test"), Path("runs"))
    for tool, arguments in calls:
        driven.call(tool, arguments)
    assert driven.episode.end is not None
"""


def in_process(transport: str) -> Callable[..., None]:
    def play(work: Any, suite: str, task: str, calls: Sequence[Call]) -> None:
        if transport == "gym":
            pytest.importorskip("gymnasium", reason="the extra gym isn't installed")
        given = json.dumps([transport, suite, task, calls])
        work.process([sys.executable, "-c", IN_PROCESS], given=given)

    return play


TRANSPORTS: Mapping[str, Callable[..., None]] = {
    "driven": in_process("driven"),
    "prompt": by_prompt,
    "shell": by_shell,
    "mcp": by_mcp_stdio,
    "mcp-http": by_mcp_http,
    "gym": in_process("gym"),
}


@pytest.mark.parametrize("transport", TRANSPORTS)
def test_every_transport_gives_the_same_record(
    transport: str, script: Script, reference: list[dict[str, Any]], work: Any
) -> None:
    if transport == "shell" and sys.platform == "win32":
        pytest.skip("Windows has no Unix sockets")
    suite, task, calls = script
    TRANSPORTS[transport](work, suite, task, calls)
    run: Path = work.only_run()
    assert work.states(run) == [event["state"] for event in reference if event["kind"] == "result"]
    assert work.content(run) == reference
    work.run("verify", str(run))
