"""Calls through litellm to the stand-in provider; `test_model_litellm.py` runs them in their own process."""

import base64
import json
import subprocess
import sys
import textwrap
import threading

import pytest
from provider_standin import (
    anthropic_body,
    cut,
    drip,
    drop,
    gemini_body,
    hang,
    openai_body,
    page,
    raw,
    reply,
    stall,
    status,
)

from evalkit.errors import UnknownNameError, UsageError
from evalkit.models import (
    TOOL_IMAGES_SENTENCE,
    AdaptiveLimiter,
    CallKey,
    Controls,
    ErrorKind,
    Message,
    ModelError,
    ModelRequest,
    ModelSession,
    NativeCodec,
    RetryPolicy,
    ToolResult,
    ToolSchema,
    Usage,
    check_model,
    open_model,
    parse_options,
)
from evalkit.run.trial import MemorySink
from evalkit.types import Image

pytestmark = pytest.mark.filterwarnings("ignore:.*ReadOnly:UserWarning")

KEY = CallKey("T-1", 1, 1)
HELLO = ModelRequest((Message("system", "Be brief."), Message("user", "Hello.")))
SCHEMA = {
    "type": "object",
    "properties": {"a": {"type": "integer"}, "b": {"type": "string"}},
    "required": ["a"],
}
CHECK = ToolSchema("check", "Check a part.", SCHEMA)
WITH_TOOL = ModelRequest(HELLO.messages, (CHECK,))
WIRES = ("openai", "anthropic")


def client_of(provider, wire="openai", *options, model=None):
    url = provider.anthropic_url if wire == "anthropic" else provider.openai_url
    return open_model(model or f"{wire}/stand-in", parse_options([f"base_url={url}", *options]))


def session_of(provider, wire="openai", *options, attempts=1, model=None):
    client = client_of(provider, wire, *options, model=model)
    retry = RetryPolicy(attempts, shortest_s=0.0, longest_s=0.0, retry_after_cap_s=0.01)
    return ModelSession(client, AdaptiveLimiter(client.max_connections), retry, None, MemorySink())


def failed(session, request=HELLO):
    with pytest.raises(ModelError) as error:
        session.complete(request, key=KEY)
    return error.value


@pytest.mark.parametrize("wire", WIRES)
class TestBothWires:
    """What has to be the same, whichever language the provider speaks."""

    def test_a_reply_with_calls(self, provider, wire):
        provider.then(reply("I check.", [("check", '{"a": 1}'), ("check", '{"a": 2}')]))
        session = session_of(provider, wire)
        found = session.complete(WITH_TOOL, key=KEY)
        assert (found.text, found.finish_reason, found.served_by) == ("I check.", "tool_calls", "stand-in-1")
        assert [(c.name, c.arguments, c.error) for c in found.tool_calls] == [
            ("check", {"a": 1}, None),
            ("check", {"a": 2}, None),
        ]
        assert found.usage == Usage(11, 7)
        assert json.loads(found.raw_response)["model"] == "stand-in-1"
        assert json.loads(found.raw_request) == dict(provider.requests[0].body)
        assert provider.requests[0].body.get("stream") in (None, False)
        assert dict(session.counters) == {
            "llm_calls": 1, "http_attempts": 1, "input_tokens": 11, "output_tokens": 7,
        }  # fmt: skip

    def test_what_was_really_sent(self, provider, wire):
        session = session_of(provider, wire, "seed=3", "max_output_tokens=99", "stop=END")
        found = session.complete(WITH_TOOL, key=KEY)
        body = provider.requests[0].body
        assert found.sent["temperature"] == body["temperature"] == 0.2
        assert found.sent["max_tokens"] == 99
        assert found.sent["tool_schemas"] == "json_schema"
        assert "messages" not in found.sent
        assert list(found.not_sent) == (["seed"] if wire == "anthropic" else [])
        assert ("seed" in body) == (wire == "openai")

    def test_missing_usage_stays_unknown(self, provider, wire):
        provider.then(reply("ok", tokens=None))
        session = session_of(provider, wire)
        assert session.complete(HELLO, key=KEY).usage == Usage(None, None, None, None)
        assert session.counters["uncounted_calls"] == 1

    def test_a_text_that_utf_8_cannot_carry_comes_back_and_goes_out_again(self, provider, wire):
        provider.then(reply("a\ud800b"))
        session = session_of(provider, wire)
        first = session.complete(HELLO, key=KEY)
        again = ModelRequest((*HELLO.messages, first.message(), Message("user", "Go on.")))
        assert session.complete(again, key=CallKey("T-1", 1, 2)).text == "ok"
        assert "a\ufffdb" in json.dumps(dict(provider.requests[1].body), ensure_ascii=False)

    def test_an_empty_text_is_a_reply(self, provider, wire):
        provider.then(reply(None))
        assert session_of(provider, wire).complete(HELLO, key=KEY).text == ""

    def test_a_reply_cut_off_at_the_limit_says_so(self, provider, wire):
        provider.then(reply("half a", finish="length"))
        assert session_of(provider, wire).complete(HELLO, key=KEY).finish_reason == "length"

    @pytest.mark.parametrize(
        ("behaviour", "kind", "seen", "counted"),
        [
            (status(429), "rate_limited", 429, 0),
            (status(429, retry_after="7"), "rate_limited", 429, 0),
            (status(429, kind="insufficient_quota"), "insufficient_quota", 429, 0),
            (status(402), "insufficient_quota", 402, 0),
            (status(401), "auth", 401, 0),
            (status(404), "model_not_found", 404, 0),
            (status(400, "temperature is wrong"), "bad_request", 400, 0),
            (status(400, "prompt is too long: 9 > 8"), "context_overflow", 400, 1),
            (status(400, "flagged", kind="content_filter"), "content_filter", 400, 1),
            (reply("x", finish="content_filter"), "content_filter", 200, 1),
            (status(408), "server_error", 408, 0),
            (status(500), "server_error", 500, 0),
            (page(502), "server_error", 502, 0),
            (status(529), "server_error", 529, 0),
            (drop(), "connection", None, 0),
            (cut(), "connection", 200, 0),
            (raw(b'{"id": "x", "choices": ['), "malformed_reply", 200, 0),
            (raw(b"{}"), "malformed_reply", 200, 0),
            (raw(b""), "malformed_reply", 200, 0),
            (page(200), "malformed_reply", 200, 0),
            (raw(b" " * (17 << 20)), "malformed_reply", 200, 0),
            (page(302), "model_not_found", 302, 0),
            (raw(b'{"error": {"message": "slow down", "code": 429}}'), "rate_limited", 200, 0),
            (
                status(
                    400, "Could not finish the message because max_tokens or model output limit was reached"
                ),
                "bad_request",
                400,
                0,
            ),
        ],
    )
    def test_misbehaviour_has_its_class_and_its_counters(
        self, provider, wire, behaviour, kind, seen, counted
    ):
        provider.then(behaviour)
        session = session_of(provider, wire)
        error = failed(session)
        assert (error.kind, error.status) == (kind, seen)
        assert len(error.attempts) == len(provider.requests) == session.counters["http_attempts"] == 1
        assert session.counters["llm_calls"] == counted

    def test_everything_that_can_be_tried_again_is(self, provider, wire):
        provider.then(
            status(429, retry_after="0.005"), status(500), page(502), drop(), raw(b"{"), reply("at last")
        )
        session = session_of(provider, wire, attempts=6)
        found = session.complete(HELLO, key=KEY)
        assert found.text == "at last"
        assert [a.status for a in found.attempts] == [429, 500, 502, None, 200, 200]
        assert (session.counters["llm_calls"], session.counters["http_attempts"]) == (1, 6)

    @pytest.mark.parametrize("behaviour", [hang(), stall(), drip(pause_s=0.05, pieces=400)])
    def test_the_deadline_ends_a_call_however_the_provider_dawdles(self, provider, wire, behaviour):
        session = session_of(provider, wire, attempts=5)
        session.complete(HELLO, key=KEY)
        provider.then(behaviour)
        session.allow(0.5)
        error = failed(session)
        assert error.kind is ErrorKind.DEADLINE
        assert (len(error.attempts), len(provider.requests)) == (1, 2)
        assert session.counters["llm_calls"] == 1

    @pytest.mark.parametrize("behaviour", [hang(), stall()])
    def test_silence_is_a_read_timeout(self, provider, wire, behaviour):
        provider.then(behaviour)
        error = failed(session_of(provider, wire, "timeout.read=0.2"))
        assert (error.kind, error.phase) == (ErrorKind.TIMEOUT, "read")
        assert error.attempts[0].timeouts == {"connect": 10.0, "write": 60.0, "pool": 30.0, "read": 0.2}

    def test_a_refused_connection_is_no_server_error(self, provider, wire):
        session = session_of(provider, wire)
        provider.stop()
        error = failed(session)
        assert (error.kind, error.phase) == (ErrorKind.CONNECTION, "connect")
        assert "ConnectError" in str(error)
        assert "refused" in str(error)

    def test_a_refusal_where_no_key_was_sent_says_so(self, provider, wire, monkeypatch):
        monkeypatch.setenv("SOME_KEY", "sk-very-wrong")
        provider.then(status(401, "who are you?"), status(401, "who are you?"))
        assert "with -M api_key_env=NAME" in str(failed(session_of(provider, wire)))
        assert "api_key_env" not in str(failed(session_of(provider, wire, "api_key_env=SOME_KEY")))

    def test_keys_are_sent_and_never_recorded(self, provider, wire, monkeypatch):
        monkeypatch.setenv("SOME_KEY", "sk-very-secret")
        provider.then(status(500, "you said sk-very-secret"), status(401, "sk-very-secret is no key"))
        session = session_of(provider, wire, "api_key_env=SOME_KEY", attempts=2)
        assert "[secret] is no key" in str(failed(session))
        name = "x-api-key" if wire == "anthropic" else "authorization"
        assert provider.requests[0].headers[name].endswith("sk-very-secret")
        written = json.dumps(session.recorder.events).encode() + b"".join(session.recorder.blobs.values())
        assert b"you said [secret]" in written
        assert b"very-secret" not in written

    def test_pictures_of_results_follow_the_results(self, provider, wire):
        codec = NativeCodec()
        provider.then(reply(None, [("check", '{"a": 1}'), ("check", '{"a": 2}')]))
        session = session_of(provider, wire)
        first = session.complete(WITH_TOOL, key=KEY)
        pictures = [Image(f"view {n}", f"png {n}".encode()) for n in (1, 2)]
        results = [
            ToolResult(c.id, c.name, "seen", (p,)) for c, p in zip(first.tool_calls, pictures, strict=True)
        ]
        told = Message("tool", tool_results=tuple(results))
        request = codec.request([*HELLO.messages, first.message(), told], (CHECK,))
        found = session.complete(request, key=CallKey("T-1", 1, 2))
        sent = json.dumps(dict(provider.requests[1].body))
        first_picture = sent.index(base64.b64encode(b"png 1").decode())
        assert sent.rindex("seen") < sent.index(TOOL_IMAGES_SENTENCE) < first_picture
        assert first_picture < sent.index(base64.b64encode(b"png 2").decode())
        assert base64.b64encode(b"png 1") not in found.raw_request
        assert found.raw_request.count(b"sha256:") == 2


def test_empty_choices_are_tried_again(provider):
    usage = {"prompt_tokens": 4, "completion_tokens": 0}
    empty = json.dumps(openai_body("x", usage=usage) | {"choices": []})
    provider.then(raw(empty.encode()), reply("better"))
    session = session_of(provider, attempts=2)
    assert session.complete(HELLO, key=KEY).text == "better"
    assert (session.counters["llm_calls"], session.counters["input_tokens"]) == (1, 15)
    provider.then(raw(empty.encode()))
    assert failed(session_of(provider)).kind is ErrorKind.EMPTY_CHOICES


def test_truncated_arguments_reach_the_agent_as_an_error(provider):
    provider.then(reply(None, [("check", '{"a": 1'), ("check", '{"a": 1}')], finish="length"))
    broken, fine = session_of(provider).complete(WITH_TOOL, key=KEY).tool_calls
    assert broken.arguments is None
    assert "cut off at the output limit" in broken.error
    assert fine.arguments == {"a": 1}


def test_strict_schemas_are_recorded_and_their_nulls_are_undone(provider):
    provider.then(reply(None, [("check", '{"a": 1, "b": null}')]))
    request = NativeCodec(strict=True).request(HELLO.messages, (CHECK,))
    found = session_of(provider).complete(request, key=KEY)
    function = provider.requests[0].body["tools"][0]["function"]
    assert function["strict"] is True
    assert function["parameters"]["required"] == ["a", "b"]
    assert found.tool_calls[0].arguments == {"a": 1}
    assert found.sent["tool_schemas"] == "openai_strict"


def test_a_slow_but_steady_body_is_no_timeout(provider):
    provider.then(drip(pause_s=0.1, pieces=5))
    assert session_of(provider, "openai", "timeout.read=0.4").complete(HELLO, key=KEY).text == "slow"


def test_user_messages_in_a_row_are_sent_as_one(provider):
    picture = Image("a.png", b"png")
    request = ModelRequest((Message("user", images=(picture,)), Message("user", "What is it?")))
    session_of(provider).complete(request, key=KEY)
    (message,) = provider.requests[0].body["messages"]
    assert [part["type"] for part in message["content"]] == ["image_url", "text"]


def test_a_request_that_litellm_rewrites_and_resends_is_seen(provider):
    provider.then(status(400, "Conversation roles must alternate user/assistant"), reply("ok"))
    session = session_of(provider)
    twice = ModelRequest(
        (Message("user", "One."), Message("assistant", "Two."), Message("assistant", "Three."))
    )
    found = session.complete(twice, key=KEY)
    assert [a.status for a in found.attempts] == [400, 200]
    assert found.sent["rewritten"] is True
    assert (session.counters["llm_calls"], session.counters["http_attempts"]) == (1, 2)


def test_controls_that_a_model_refuses_are_named(provider):
    session = session_of(provider, "openai", "reasoning_effort=low", model="openai/o3")
    found = session.complete(HELLO, key=KEY)
    assert found.sent["reasoning_effort"] == "low"
    assert "temperature" not in provider.requests[0].body
    assert "temperature" in found.not_sent["temperature"]


def test_controls_that_a_model_refuses_beside_reasoning_are_named(provider):
    session = session_of(provider, "anthropic", "reasoning_effort=high", model="anthropic/claude-opus-4-6")
    found = session.complete(HELLO, key=KEY)
    assert "temperature" not in provider.requests[0].body
    assert provider.requests[0].body["thinking"]["type"] == "adaptive"
    assert list(found.not_sent) == ["temperature"]


def test_signed_reasoning_is_sent_back(provider):
    thinking = {"type": "thinking", "thinking": "Hm.", "signature": "signed"}
    body = anthropic_body("I check.", [("check", '{"a": 1}')], usage={"input_tokens": 1, "output_tokens": 2})
    provider.then(raw(json.dumps(body | {"content": [thinking, *body["content"]]}).encode()))
    session = session_of(provider, "anthropic", "reasoning_effort=high", model="anthropic/claude-opus-4-6")
    first = session.complete(WITH_TOOL, key=KEY)
    results = Message("tool", tool_results=(ToolResult(first.tool_calls[0].id, "check", "fine"),))
    request = ModelRequest((*HELLO.messages, first.message(), results), (CHECK,))
    session.complete(request, key=CallKey("T-1", 1, 2))
    assert provider.requests[1].body["messages"][1]["content"][0] == thinking


def test_controls_that_litellm_drops_are_named_as_well(provider):
    found = session_of(provider, model="moonshot/kimi-latest").complete(HELLO, key=KEY)
    assert found.not_sent == {"temperature": "litellm left it out"}
    assert found.sent["model"] != "kimi-latest"


@pytest.mark.parametrize(
    "model",
    [
        "cerebras/x", "dashscope/qwen3-max", "deepinfra/x", "deepseek/deepseek-chat", "fireworks_ai/x",
        "gemini/gemini-2.5-flash", "groq/x", "hosted_vllm/x", "lm_studio/x", "mistral/mistral-large-latest",
        "moonshot/kimi-latest", "nvidia_nim/x", "ollama_chat/llama3", "openrouter/a/b", "perplexity/sonar",
        "publicai/x", "together_ai/x", "xai/grok-4", "zai/glm-5",
    ],
)  # fmt: skip
def test_every_provider_goes_through_the_transport_and_is_not_tried_again_below_us(provider, model):
    provider.then(status(500), reply("ok"))
    session = session_of(provider, model=model, attempts=2)
    found = session.complete(HELLO, key=KEY)
    assert [a.status for a in found.attempts] == [500, 200]
    assert (found.text, found.usage.input, found.usage.output) == ("ok", 11, 7)


def test_gemini_s_refusal_and_cut_are_understood(provider):
    cut_off = gemini_body("half", finish="length", usage={"promptTokenCount": 1, "thoughtsTokenCount": 4})
    provider.then(raw(json.dumps(cut_off).encode()))
    found = session_of(provider, model="gemini/gemini-2.5-flash").complete(HELLO, key=KEY)
    assert (found.finish_reason, found.usage) == ("length", Usage(1, 4, None, 4))


def test_a_provider_with_a_library_of_its_own_has_unknown_attempts(provider):
    session = session_of(provider, model="cohere/command-r")
    error = failed(session)
    assert error.attempts == ()
    assert error.kind is ErrorKind.MODEL_NOT_FOUND


def test_calls_in_threads_do_not_mix(provider):
    provider.otherwise = drip(pause_s=0.01)
    client = client_of(provider)
    limiter = AdaptiveLimiter(4)
    counts = []

    def play(task):
        session = ModelSession(client, limiter, RetryPolicy(1), None, MemorySink())
        for turn in (1, 2, 3):
            session.complete(HELLO, key=CallKey(task, 1, turn))
        counts.append(session.counters["http_attempts"])

    threads = [threading.Thread(target=play, args=(f"T-{n}",)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert counts == [3, 3, 3, 3]
    assert len(provider.requests) == 12


def test_a_recorded_call_is_replayed_byte_for_byte_without_the_provider(provider, tmp_path):
    provider.then(reply("I check.", [("check", '{"a": 1}')]))
    path = tmp_path / "one.cassette"
    options = parse_options([f"base_url={provider.openai_url}"])
    recorder = open_model(f"cassette-record:{path}=openai/stand-in", options)
    first = ModelSession(recorder, AdaptiveLimiter(1), RetryPolicy(1), None, MemorySink())
    live = first.complete(WITH_TOOL, key=KEY)
    recorder.close()
    provider.stop()
    replayer = open_model(f"cassette:{path}")
    second = ModelSession(replayer, AdaptiveLimiter(1), RetryPolicy(1), None, MemorySink())
    again = second.complete(WITH_TOOL, key=KEY)
    assert (again.raw_request, again.raw_response) == (live.raw_request, live.raw_response)
    assert (again.text, again.tool_calls, again.usage, again.sent) == (
        live.text, live.tool_calls, live.usage, live.sent,
    )  # fmt: skip
    requests = [s.recorder.events[0]["request"] for s in (first, second)]
    assert requests[0] == requests[1]
    assert second.counters["http_attempts"] == 0


def test_the_description_names_what_applies_and_prices(provider, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-1")
    known = open_model("gpt-4.1", parse_options(["seed=1"])).describe()
    assert (known["model"], known["controls"], known["defaults"]) == (
        "openai/gpt-4.1", {"seed": 1}, {"temperature": 0.2},
    )  # fmt: skip
    assert known["prices"]["output"] > known["prices"]["input"] > 0
    assert known["prices"]["source"].startswith("litellm ")
    assert client_of(provider).describe()["prices"] is None
    assert "sk-1" not in json.dumps(known)


def test_unknown_providers_and_models_are_explained():
    with pytest.raises(UnknownNameError, match="did you mean anthropic"):
        check_model("antropic/claude")
    with pytest.raises(UnknownNameError, match=r"unknown model 'gpt-five'.*provider/model"):
        check_model("gpt-five")


def test_a_provider_that_only_litellm_knows_names_its_key(monkeypatch):
    monkeypatch.delenv("NOVITA_API_KEY", raising=False)
    with pytest.raises(UsageError, match="needs NOVITA_API_KEY"):
        check_model("novita/x")


@pytest.mark.filterwarnings("default")
def test_litellm_says_nothing_of_its_own(provider):
    program = """
        import sys
        from evalkit.models import *
        options = parse_options([f"base_url={sys.argv[1]}"])
        request = ModelRequest((Message("user", "hi"),))
        for model in ("openai/x", "mistral/mistral-large-latest", "moonshot/kimi-latest"):
            try:
                open_model(model, options).complete(request, CallKey("T", 1, 1))
            except ModelError as error:
                print(error.kind.value)
    """
    provider.then(status(500), status(429), status(404))
    command = [sys.executable, "-c", textwrap.dedent(program), provider.openai_url]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)
    assert (done.stdout, done.stderr) == ("server_error\nrate_limited\nmodel_not_found\n", "")


def test_controls_beyond_the_model_are_asked_about_once(provider):
    client = client_of(provider, model="openai/o3")
    request = ModelRequest(HELLO.messages, controls=Controls(temperature=0.2))
    assert client.complete(request, KEY).not_sent == client.complete(request, KEY).not_sent
    assert len(client._fitted) == 1
