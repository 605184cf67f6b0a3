"""LMBuild played by models over function calls and over text, over MCP and by a shell: the same states."""

from __future__ import annotations

import asyncio
import base64
import io
import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("evalkit_lmbuild", reason="the plugin lmbuild isn't installed")

SUITE, TASK = "lmbuild.smoke", "milking_stool"
BOARD = {"nodes": [{"id": "a", "op": "box", "size": [0.3, 0.3, 0.03]}], "output": "a"}
Call = tuple[str, dict[str, Any]]
CALLS: Sequence[Call] = [
    ("list_parts", {"query": "seat"}),
    ("create_part", {"name": "board", "program": BOARD}),
    ("place_part", {"part_id": "board", "instance_id": "seat", "position": [0, 0, 0.3], "role": "seat"}),
    ("place_part", {"part_id": "bord", "instance_id": "leg", "position": [0, 0, 0.1]}),
    ("plase_part", {"part_id": "board"}),
    ("move_part", {"instance_id": "seat", "translate_by": [0, 0, -0.285]}),
    ("inspect_part", {"part_id": "board"}),
    ("render", {"views": ["cond", "top"]}),
    ("check", {}),
    ("submit", {}),
]
WITH_PICTURES = ("inspect_part", "render")


@pytest.fixture
def provider(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """A provider that answers with what it was told to."""
    monkeypatch.syspath_prepend(str(Path(__file__).parents[1] / "provider"))
    from provider_standin import StandIn

    with StandIn() as found:
        yield found


@pytest.fixture(scope="module")
def reference(new_workplace: Any, tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, Any]]:
    """The record of the calls as `evalkit run` plays them from a script."""
    work = new_workplace(tmp_path_factory.mktemp("run") / "w")
    script = [{"tool": tool, "arguments": arguments} for tool, arguments in CALLS]
    (work.folder / "script.json").write_text(json.dumps(script))
    work.run("run", SUITE, "--id", TASK, "--agent", "scripted:script.json", "--pictures", "-j", "1")
    content: list[dict[str, Any]] = work.content(work.only_run())
    assert content[-1]["reason"] == "done"
    assert len(states(content)) == len(CALLS)
    return content


def states(events: Sequence[Mapping[str, Any]]) -> list[str]:
    return [event["state"] for event in events if event["kind"] == "result"]


def results(events: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """What each call showed, pictures by their hashes, wherever in the record it stands."""
    return [{k: v for k, v in event.items() if k != "seq"} for event in events if event["kind"] == "result"]


def native(calls: Sequence[Call]) -> Any:
    from provider_standin import reply

    return reply(None, [(tool, json.dumps(arguments)) for tool, arguments in calls])


def text(calls: Sequence[Call]) -> Any:
    from provider_standin import reply

    blocks = [json.dumps({"name": tool, "arguments": arguments}) for tool, arguments in calls]
    return reply("So.\n" + "\n".join(f"```tool\n{block}\n```" for block in blocks))


def model_plays(work: Any, provider: Any, suite: str, agent: str, replies: Sequence[Any], *more: str) -> Path:
    """The run of a model behind the stand-in."""
    provider.then(*replies)
    work.environment = work.environment | {"OPENAI_API_KEY": "none", "NO_PROXY": "127.0.0.1"}
    model = ("-m", "openai/stand-in", "-M", f"base_url={provider.openai_url}", "-M", "max_retries=0")
    work.run("run", suite, "--id", TASK, "--agent", agent, *model, "-j", "1", *more)
    run: Path = work.only_run()
    return run


def pictures(body: Mapping[str, Any]) -> list[bytes]:
    """The pictures in a request, in order."""
    contents = [message.get("content") for message in body["messages"]]
    parts = [part for content in contents if isinstance(content, list) for part in content]
    urls = [part["image_url"]["url"] for part in parts if part["type"] == "image_url"]
    return [base64.b64decode(url.partition(",")[2]) for url in urls]


@pytest.mark.parametrize(
    ("agent", "say", "size"), [("tools", native, 1), ("text-tools", text, 1), ("release-text", text, 4)]
)
def test_models_play_the_same(
    agent: str, say: Any, size: int, provider: Any, work: Any, reference: list[dict[str, Any]]
) -> None:
    replies = [say(CALLS[start : start + size]) for start in range(0, len(CALLS), size)]
    run = model_plays(work, provider, SUITE, agent, replies)
    content = work.content(run)
    assert content[-1]["reason"] == "done"
    assert states(content) == states(reference)
    assert results(content) == results(reference)
    assert len(provider.requests) == len(replies)
    work.run("verify", str(run))
    # the object's picture from the first request on, those of results in the requests after them
    from PIL import Image

    counts = [len(pictures(request.body)) for request in provider.requests]
    played = [sum(tool in WITH_PICTURES for tool, _ in CALLS[: size * n]) for n in range(len(replies))]
    assert counts == [1 + seen for seen in played]
    first, *others = pictures(provider.requests[-1].body)
    shown = work.folder / "runs"
    blobs = {path.read_bytes() for path in shown.rglob("blobs/*/*")}
    assert {first, *others} <= blobs
    for picture in (first, *others):
        with Image.open(io.BytesIO(picture)) as opened:
            assert max(opened.size) <= 2000
        assert len(picture) < 1 << 20


def test_a_text_reply_stops_after_each_submission_and_its_results_are_short(provider: Any, work: Any) -> None:
    """Two rounds: what stands behind `submit` isn't played, in the first round neither.

    The brief has no picture.
    """
    place = CALLS[2]
    again = ("place_part", place[1] | {"instance_id": "second"})
    replies = [
        text([*CALLS[1:3], ("submit", {}), again]),
        text([("list_parts", {}), again]),
        text([("submit", {}), again]),
    ]
    brief = ("-T", "condition=name_only", "-T", "brief=name_only")
    more = ("-T", "rounds=2", "-T", "limits.tool_calls=320", *brief)
    run = model_plays(work, provider, SUITE, "release-text", replies, *more)
    tools = [event["tool"] for event in work.content(run) if event["kind"] == "action"]
    assert tools == ["create_part", "place_part", "submit", "list_parts", "place_part", "submit"]
    assert [len(pictures(request.body)) for request in provider.requests] == [0, 1, 1], "that of the review"
    told = [m["content"] for m in provider.requests[-1].body["messages"] if m["role"] == "user"]
    said = "\n".join(part["text"] for t in told if isinstance(t, list) for part in t if "text" in part)
    said += "\n".join(t for t in told if isinstance(t, str))
    assert "next_round" in said
    assert "not run" in said
    (player,) = json.loads((run / "run.json").read_text())["agents"]
    assert player["dialogue"] == {
        "result_characters": 6000,
        "newest_results": 10,
        "old_result_characters": 200,
        "newest_pictures": 80,
        "nudges": 3,
        "hand_in": "submit",
        "steps": 70,
    }


def test_a_shell_plays_the_same(work: Any, reference: list[dict[str, Any]]) -> None:
    if sys.platform == "win32":
        pytest.skip("Windows has no Unix sockets")
    server = work.start("play", SUITE, "--id", TASK, "--serve", "s.sock", "--format", "json")
    work.said(server, "waiting for calls")
    for tool, arguments in CALLS:
        (work.folder / "arguments.json").write_text(json.dumps(arguments))
        done = work.call("s.sock", tool, "@arguments.json", "--json", code=None)
        assert json.loads(done.stdout)["ok"] is (done.returncode == 0)
    work.call("s.sock", "stop")
    work.finished(server)
    assert work.content(work.only_run()) == reference


def test_an_mcp_client_plays_the_same(work: Any, reference: list[dict[str, Any]]) -> None:
    pytest.importorskip("mcp", reason="the extra mcp isn't installed")
    from mcp import Client
    from mcp.client.stdio import StdioServerParameters

    words = ["-m", "evalkit", "mcp", SUITE, "--id", TASK]
    server = StdioServerParameters(command=sys.executable, args=words, env=work.environment, cwd=work.folder)

    async def drive() -> list[int]:
        found = []
        async with Client(server) as client:
            for tool, arguments in CALLS:
                answer = await client.call_tool(tool, arguments)
                found.append(sum(part.type == "image" for part in answer.content))
        return found

    assert asyncio.run(drive()) == [int(tool in WITH_PICTURES) for tool, _ in CALLS]
    assert work.content(work.only_run()) == reference
