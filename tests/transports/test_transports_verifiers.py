"""The verifiers adapter in verifiers' own rollouts: its harness, its tool servers, a scripted model."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

from evalkit.errors import EvalkitError, UnknownNameError, UsageError

pytest.importorskip("verifiers", reason="verifiers isn't installed: it pins another mcp than ours")

sys.path.insert(0, str(Path(__file__).parents[1] / "provider"))

if TYPE_CHECKING:
    from provider_standin import Behaviour, Exchange, StandIn

Call = tuple[str, dict[str, Any]]

#: A box that is too high, arguments that are refused, then a stack that stands.
BLOCKS: Sequence[Call] = [
    ("place", {"x": 0.0, "width": 0.8, "height": 0.5}),
    ("place", {"x": 0.0, "width": "wide", "height": 0.25}),
    ("submit", {}),
    ("remove", {"index": 3}),
    ("remove", {"index": 0}),
    ("place", {"x": 0.0, "width": 0.8, "height": 0.4}),
    ("place", {"x": 0.05, "width": 0.7, "height": 0.35}),
    ("check", {}),
    ("place", {"x": 0.1, "width": 0.6, "height": 0.25}),
    ("submit", {}),
]
BRIDGES: Sequence[Call] = [("propose", {"text": f"I'd rather not, “{n}”."}) for n in range(3)]

#: Plays rollouts as verifiers does, but with the chat program of its null harness run by this Python, since
#: verifiers would have uv fetch one. Prints what the traces say.
ROLLOUTS = """
import asyncio, json, sys
from pathlib import Path
import verifiers.v1 as vf
from verifiers.v1.runtimes import subprocess
from evalkit.transports.verifiers import SuiteConfig, SuiteTaskset

async def this_python(self, script, env=None, *, activate=True):
    Path("program.py").write_text(script)
    return [sys.executable, str(Path("program.py").absolute())]

subprocess.SubprocessRuntime.prepare_uv_script = this_python
subprocess.CACHE_DIR = Path("cache").absolute()
given = json.load(sys.stdin)
tasks = list(SuiteTaskset(SuiteConfig(**given["suite"])).include(ids=given["tasks"]))
client = vf.EvalClientConfig(base_url=given["url"], api_key_var="NO_SUCH_KEY")
agent = vf.Agent(vf.AgentConfig(model="stand-in-1", client=client, harness={"id": "null"},
                                runtime={"type": "subprocess"}))

async def play():
    traces = await asyncio.gather(*(agent.run(task) for task in tasks))
    print(json.dumps([
        {"ok": trace.ok, "errors": [error.message for error in trace.errors], "reward": trace.reward,
         "rewards": sorted(trace.rewards), "metrics": trace.metrics, "stop": trace.stop_condition,
         "state": trace.state.model_dump(), "prompt": trace.task.data.prompt}
        for trace in traces
    ], default=str))

asyncio.run(play())
"""


@pytest.fixture
def model() -> Iterator[StandIn]:
    """A model whose replies are queued; afterwards it says that it is done."""
    from provider_standin import StandIn

    with StandIn() as standin:
        standin.otherwise = streamed("I am done.")
        yield standin


def streamed(text: str, *calls: Call) -> Behaviour:
    """A reply as a stream of OpenAI's chunks."""
    tools = [
        {
            "index": n,
            "id": f"call_{n}",
            "type": "function",
            "function": {"name": t, "arguments": json.dumps(a)},
        }
        for n, (t, a) in enumerate(calls)
    ]
    delta = {"role": "assistant", "content": text} | ({"tool_calls": tools} if calls else {})
    common = {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": "stand-in-1"}
    finish = "tool_calls" if calls else "stop"
    usage = {"prompt_tokens": 11, "completion_tokens": 7, "total_tokens": 18}
    chunks = [
        common | {"choices": [{"index": 0, "delta": delta, "finish_reason": None}]},
        common | {"choices": [{"index": 0, "delta": {}, "finish_reason": finish}]},
        common | {"choices": [], "usage": usage},
    ]
    body = "".join(f"data: {json.dumps(chunk)}\n\n" for chunk in chunks) + "data: [DONE]\n\n"

    def behave(exchange: Exchange) -> None:
        exchange.send(200, body.encode(), "text/event-stream")

    return behave


def rollout(work: Any, model: StandIn, name: str, **suite: Any) -> dict[str, Any]:
    """What the trace of a rollout says."""
    given = {"suite": suite, "tasks": [name], "url": model.openai_url}
    done = work.process([sys.executable, "-c", ROLLOUTS], given=json.dumps(given))
    (trace,) = json.loads(done.stdout.splitlines()[-1])
    found: dict[str, Any] = trace
    return found


@pytest.mark.parametrize(
    ("suite", "task", "calls", "reason", "reward"),
    [
        ("blocks.basic", "step-100", BLOCKS, "done", 1.0),
        ("polybridge.smoke", "T1B_Basic_08m", BRIDGES, "limit", 0.0),
    ],
)
def test_a_rollout_gives_the_record_that_a_run_gives(
    suite: str,
    task: str,
    calls: Sequence[Call],
    reason: str,
    reward: float,
    work: Any,
    new_workplace: Any,
    tmp_path: Path,
    model: StandIn,
) -> None:
    reference = new_workplace(tmp_path / "reference")
    script = [{"tool": tool, "arguments": arguments} for tool, arguments in calls]
    (reference.folder / "script.json").write_text(json.dumps(script))
    agent = ("--agent", "scripted:script.json", "--pictures")
    reference.run("run", suite, "--id", task, *agent, "-j", "1", "--format", "json")

    model.then(*(streamed("", call) for call in calls))
    tools = {"tools": {"root": "runs"}}
    trace = rollout(work, model, task, target=suite, pictures=True, task=tools)
    assert (trace["ok"], trace["errors"]) == (True, [])
    assert (trace["stop"], trace["reward"]) == ("episode_ended", reward)
    assert len(model.requests) == len(calls), "the model isn't asked again after the end"

    (asked,) = model.requests[0].body["messages"]
    if suite == "polybridge.smoke":
        kinds = [part["type"] for part in asked["content"]]
        assert kinds == ["text", "image_url"], "the first observation comes with its picture"

    expected, run = reference.content(reference.only_run()), work.only_run()
    assert work.states(run) == reference.states(reference.only_run())
    assert work.content(run) == expected
    assert expected[-1]["reason"] == reason
    assert trace["metrics"] == expected[-1]["counters"] == trace["state"]["counters"]
    work.run("verify", str(run))


def test_an_agent_that_stops_leaves_a_closed_record_and_a_reward(work: Any, model: StandIn) -> None:
    calls = [("place", {"x": 0.0, "width": 0.8, "height": 0.4}), ("plaice", {}), ("check", {})]
    model.then(streamed("Two boxes will do.", *calls))
    trace = rollout(work, model, "step-050", target="blocks.basic", task={"tools": {"root": "runs"}})
    first, second = (request.body for request in model.requests)
    assert (trace["ok"], trace["stop"], trace["rewards"], trace["reward"]) == (
        True,
        "agent_completed",
        ["first_metric"],
        0.0,
    )
    assert trace["state"]["end"].startswith("the episode has ended: agent stopped")

    events = work.events(work.only_run())
    assert events[-1]["reason"] == "agent_stopped"
    assert [event["tool"] for event in events if event["kind"] == "action"] == ["place", "check"]
    assert trace["metrics"] == {"calls": 2, "tool_calls": 2, "executions": 0, "meter:checks": 1}
    work.run("verify", str(work.only_run()))

    assert first["messages"][-1] == {"role": "user", "content": trace["prompt"]}
    assert trace["prompt"].startswith(events[1]["text"])
    assert trace["prompt"].endswith("left: tool calls 120, checks 5")
    place = next(tool["function"] for tool in first["tools"] if tool["function"]["name"] == "place")
    assert place["description"].startswith("Lower one more box")
    assert place["parameters"]["required"] == ["x", "width", "height"]
    placed, unknown, checked = (message["content"] for message in second["messages"][-3:])
    assert "boxes: 1" in placed
    assert "unknown tool" in unknown, "the harness answers: it never reaches the episode"
    assert checked.endswith("left: tool calls 118, checks 4")


def test_what_evalkit_would_not_score_is_an_error() -> None:
    from evalkit.transports.verifiers import Progress, SuiteData, SuiteTask

    task = SuiteTask(SuiteData(id="t", suite="s", overrides=[], seed=0, pictures=False))

    def reward(**state: Any) -> float:
        found: float = asyncio.run(task.first_metric(SimpleNamespace(state=Progress(**state))))
        return found

    assert reward(end="the episode has ended: done", reward=0.5) == 0.5
    with pytest.raises(EvalkitError, match="the episode has ended: environment error"):
        reward(end="the episode has ended: environment error", scored=False)
    with pytest.raises(EvalkitError, match="the tool server went away"):
        reward()


def test_a_suite_that_there_is_not_is_told_when_tasks_are_loaded() -> None:
    from evalkit.transports.verifiers import SuiteConfig, SuiteTaskset

    with pytest.raises(UnknownNameError, match=r"did you mean polybridge\.smoke"):
        list(SuiteTaskset(SuiteConfig(target="polybridge.smok")))
    with pytest.raises(UsageError, match="no suite is named"):
        list(SuiteTaskset(SuiteConfig()))
