"""An episode as an MCP server, driven by the client library over both transports."""

from __future__ import annotations

import asyncio
import base64
import json
import socket
import subprocess
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("mcp", reason="the extra mcp isn't installed")

from mcp import Client
from mcp.client.stdio import StdioServerParameters

BLOCKS = ("blocks.basic", "--id", "step-100")
Conversation = Callable[[Any], Awaitable[None]]


def by_stdio(work: Any, conversation: Conversation, *words: str, mode: str = "auto") -> None:
    arguments = ["-m", "evalkit", "mcp", *words]
    server = StdioServerParameters(
        command=sys.executable, args=arguments, env=work.environment, cwd=work.folder
    )
    asyncio.run(converse(Client(server, mode=mode), conversation))


def by_http(work: Any, conversation: Conversation, *words: str, mode: str = "auto") -> None:
    process = work.start("mcp", *words, "--http", "127.0.0.1:0")
    url = work.said(process, "http://").split()[-1]
    asyncio.run(converse(Client(url, mode=mode), conversation))
    process.terminate()
    work.finished(process, code=130)


async def converse(connection: Any, conversation: Conversation) -> None:
    async with connection as client:
        await conversation(client)


@pytest.mark.parametrize("mode", ["auto", "legacy"])
@pytest.mark.parametrize("connect", [by_stdio, by_http])
def test_a_round_trip(connect: Callable[..., None], mode: str, work: Any) -> None:
    async def conversation(client: Any) -> None:
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
        assert list(tools) == ["get_task", "place", "remove", "check", "submit"]
        assert set(tools["place"].input_schema["properties"]) == {"x", "width", "height"}
        assert not (work.folder / "runs").exists(), "the episode begins with the first call"

        task = await client.call_tool("get_task")
        assert not task.is_error
        assert "Stack boxes to a height of at least 1 m" in task.content[0].text
        placed = await client.call_tool("place", {"x": 0, "width": 0.8, "height": 0.25})
        assert "height_m: 0.25" in placed.content[0].text
        assert "left: tool calls 119, checks 5" in placed.content[0].text

        for name, arguments, words in (
            ("place", {"x": 0}, "place: width: Field required"),
            ("plaice", {}, "there is no tool 'plaice'; try place"),
            ("remove", {"index": 7}, "there is no box 7"),
        ):
            mistake = await client.call_tool(name, arguments)
            assert mistake.is_error
            assert words in mistake.content[0].text

    connect(work, conversation, *BLOCKS, "--as", "tester", mode=mode)
    run = work.only_run()
    end = work.events(run)[-1]
    assert end["reason"] == "agent_stopped"
    assert end["counters"]["tool_calls"] == 4
    (agent,) = json.loads((run / "run.json").read_text())["agents"]
    assert (agent["id"], agent["transport"]) == ("tester", "mcp" if connect is by_stdio else "mcp-http")
    assert agent["client"].startswith("mcp ")
    work.run("verify", str(run))


def test_pictures_are_content_and_files(work: Any) -> None:
    async def conversation(client: Any) -> None:
        text, picture = (await client.call_tool("get_task")).content
        assert picture.mime_type == "image/png"
        path = Path(text.text.partition("picture: ")[2].splitlines()[0])
        assert path.is_absolute()
        assert path.read_bytes() == base64.b64decode(picture.data)

    by_stdio(work, conversation, "polybridge.smoke")


def test_long_results_are_cut_and_say_where_the_rest_is(work: Any) -> None:
    async def conversation(client: Any) -> None:
        await client.call_tool("get_task")
        long = await client.call_tool("propose", {"text": "no bridge " * 20_000})
        text = long.content[0].text
        assert len(text) == 80_000
        note, _, footer = text.rpartition("[cut here: ")[2].partition("]")
        assert "left: calls 2" in footer
        assert "picture: " in footer
        whole = Path(note.split(" is in ")[1]).read_text()
        assert "no bridge " * 20_000 in whole
        assert note.startswith(f"{len(whole):,} characters")

    by_stdio(work, conversation, "polybridge.smoke")


def test_after_the_end_calls_are_errors_and_the_scores_are_kept(work: Any) -> None:
    async def conversation(client: Any) -> None:
        for _ in range(4):
            await client.call_tool("place", {"x": 0, "width": 0.8, "height": 0.25})
        last = await client.call_tool("submit")
        assert "It stands." in last.content[0].text
        assert "the episode has ended: done" in last.content[0].text
        late = await client.call_tool("check")
        assert late.is_error
        assert late.content[0].text == "the episode has ended: done"
        assert not (await client.call_tool("get_task")).is_error
        await asyncio.to_thread(work.until, lambda: list(work.only_run().glob("scores/*.json")))

    by_stdio(work, conversation, *BLOCKS)
    scores = json.loads((work.only_run() / "scores" / "scores.json").read_text())
    assert scores["episodes"][0]["scores"]["blocks.solved"]["value"] == 1.0
    assert scores["episodes"][0]["scores"]["blocks.neatness"]["value"] == 1.0, "executed after play"


def test_what_plugins_print_does_not_reach_the_protocol(work: Any) -> None:
    noisy = work.folder / "sitecustomize.py"
    noisy.write_text(
        "import evalkit.canonical as c\nold = c.canonical_json\n"
        "def loud(value):\n    print('NOISE', flush=True)\n    return old(value)\n"
        "c.canonical_json = loud\n"
    )
    work.environment = work.environment | {"PYTHONPATH": f"{work.folder}:{work.environment['PYTHONPATH']}"}

    async def conversation(client: Any) -> None:
        assert not (await client.call_tool("check")).is_error

    by_stdio(work, conversation, *BLOCKS)


def test_a_client_that_only_looks_leaves_no_record(work: Any) -> None:
    async def conversation(client: Any) -> None:
        await client.list_tools()

    by_stdio(work, conversation, *BLOCKS)
    assert not (work.folder / "runs").exists()


def test_junk_on_standard_input_is_survived(work: Any) -> None:
    greeting = {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "rude", "version": "1"},
    }
    lines = ["junk", "[]", '{"jsonrpc": "2.0"}', "\x00", request(1, "initialize", greeting), "["]
    lines.append(request(2, "tools/call", {"name": "place", "arguments": {"x": float("nan")}}))
    process = work.start("mcp", *BLOCKS, stdin=subprocess.PIPE)
    process.stdin.write("".join(f"{line}\n" for line in lines))
    process.stdin.flush()
    answers = {answer["id"]: answer for answer in (json.loads(process.stdout.readline()) for _ in range(2))}
    assert answers[1]["result"]["serverInfo"]["name"] == "evalkit"
    assert answers[2]["result"]["isError"]
    assert "code: arguments" in answers[2]["result"]["content"][0]["text"]
    _, err = work.finished(process)
    assert "Traceback" not in err
    end = work.events(work.only_run())[-1]
    assert (end["detail"], end["counters"]["tool_calls"]) == ("the client went away", 1)


def request(number: int, method: str, params: dict[str, Any]) -> str:
    return json.dumps({"jsonrpc": "2.0", "id": number, "method": method, "params": params})


def test_a_busy_port_is_one_line(work: Any) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        address = f"127.0.0.1:{taken.getsockname()[1]}"
        done = work.run("mcp", *BLOCKS, "--http", address, code=2)
    assert f"can't listen at {address}" in done.stderr
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize(
    ("address", "message"), [("nowhere", "--http takes HOST:PORT"), ("127.0.0.1:99999", "--http takes")]
)
def test_a_wrong_address_is_one_line(work: Any, address: str, message: str) -> None:
    done = work.run("mcp", *BLOCKS, "--http", address, code=2)
    assert message in done.stderr
    assert done.stderr.count("\n") == 1
