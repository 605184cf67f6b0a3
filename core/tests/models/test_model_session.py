"""A session: what is tried again, what is counted, what is recorded."""

import json
import threading

import pytest

from evalkit.models import (
    AdaptiveLimiter,
    CallKey,
    Controls,
    ErrorKind,
    HttpAttempt,
    Message,
    ModelError,
    ModelReply,
    ModelRequest,
    ModelSession,
    ResponseCache,
    RetryPolicy,
    ToolResult,
    Usage,
    open_model,
)
from evalkit.run.trial import MemorySink
from evalkit.types import Image

KEY = CallKey("T-1", 1, 1)
REQUEST = ModelRequest((Message("user", "Build."),))
AT_ONCE = RetryPolicy(attempts=4, shortest_s=0.0, longest_s=0.0)


class Client:
    """Answers and fails in a fixed order, each time with one HTTP attempt."""

    model, provider, attempts, max_connections = "test/model", "test", 4, 4
    source = {"model": model}  # noqa: RUF012

    def __init__(self, *outcomes, controls=Controls(), defaults=Controls(temperature=0.2)):  # noqa: B008
        self.outcomes, self.controls, self.defaults = list(outcomes), controls, defaults
        self.asked = []

    def complete(self, request, key):
        self.asked.append(request)
        outcome = self.outcomes.pop(0)
        attempt = HttpAttempt(
            1, "POST", "http://x", 0.0, {}, status=200, request_body=b"{}", response_body=b"[]"
        )
        if isinstance(outcome, ModelError):
            outcome.attempts = (attempt,)
            raise outcome
        return ModelReply(outcome, usage=Usage(10, 3, None, 1), attempts=(attempt,), raw_response=b"{}")


def error(kind, **fields):
    return ModelError(ErrorKind(kind), "no", **fields)


def session_of(*outcomes, retry=AT_ONCE, **options):
    client = Client(*outcomes, **options)
    sink = MemorySink()
    return ModelSession(client, AdaptiveLimiter(4), retry, None, sink), client, sink


def kinds(sink):
    return [event["kind"] for event in sink.events]


def test_a_call_is_recorded_before_during_and_after():
    session, _, sink = session_of(error("server_error"), error("timeout"), "done")
    reply = session.complete(REQUEST, key=KEY)
    assert (reply.text, len(reply.attempts), [a.n for a in reply.attempts]) == ("done", 3, [1, 2, 3])
    assert kinds(sink) == ["model_request", *["http_attempt"] * 3, "model_response"]
    request, *attempts, response = sink.events
    assert (request["task"], request["epoch"], request["turn"]) == ("T-1", 1, 1)
    asked = json.loads(sink.blobs[request["request"]])
    assert asked["messages"] == [{"role": "user", "text": "Build."}]
    assert [(a["n"], a["try"], sink.blobs[a["request"]]) for a in attempts] == [
        (n, n, b"{}") for n in (1, 2, 3)
    ]
    assert (response["text"], response["http_attempts"], response["cache"]) == ("done", 3, "off")
    assert response["usage"] == {"input": 10, "output": 3, "cached": None, "reasoning": 1}


def test_retries_count_as_http_attempts_and_never_as_calls():
    session, _, _ = session_of(error("rate_limited"), error("connection"), "done", "again")
    session.complete(REQUEST, key=KEY)
    session.complete(REQUEST, key=CallKey("T-1", 1, 2))
    counters = dict(session.counters)
    assert (counters["llm_calls"], counters["http_attempts"]) == (2, 4)
    assert (counters["input_tokens"], counters["output_tokens"], counters["reasoning_tokens"]) == (20, 6, 2)


@pytest.mark.parametrize("kind", ["bad_request", "auth", "insufficient_quota", "model_not_found", "not_sent"])
def test_what_cannot_be_mended_is_tried_once_and_is_no_call(kind):
    session, client, sink = session_of(error(kind), "never")
    with pytest.raises(ModelError) as failed:
        session.complete(REQUEST, key=KEY)
    assert failed.value.kind == kind
    assert len(client.asked) == len(failed.value.attempts) == session.counters["http_attempts"] == 1
    assert session.counters["llm_calls"] == 0
    assert sink.events[-1]["error"]["kind"] == kind


@pytest.mark.parametrize("kind", ["content_filter", "context_overflow"])
def test_a_refusal_of_the_model_counts_as_a_call(kind):
    session, _, _ = session_of(error(kind, usage=Usage(9, 0)))
    with pytest.raises(ModelError):
        session.complete(REQUEST, key=KEY)
    assert (session.counters["llm_calls"], session.counters["input_tokens"]) == (1, 9)


def test_tries_end_with_the_last_error_and_all_attempts():
    session, _, sink = session_of(*[error("server_error", usage=Usage(4, 0)) for _ in range(4)])
    with pytest.raises(ModelError) as failed:
        session.complete(REQUEST, key=KEY)
    assert [a.n for a in failed.value.attempts] == [1, 2, 3, 4]
    assert sink.events[-1]["http_attempts"] == 4
    assert (session.counters["llm_calls"], session.counters["input_tokens"]) == (0, 16)


def test_a_429_narrows_the_limiter_and_holds_it():
    session, _, _ = session_of(error("rate_limited", retry_after=0.0), "done")
    session.complete(REQUEST, key=KEY)
    assert session.limiter.window.size < 3
    assert session.limiter.window.epoch == 1


def test_closing_the_limiter_ends_a_call_that_waits_and_keeps_what_was_spent():
    waiting = threading.Event()

    class Slow(RetryPolicy):
        def wait_s(self, failed, tries, key):
            waiting.set()
            return 600.0

    session, _, sink = session_of(error("server_error"), "never", retry=Slow())
    failures = []

    def call():
        try:
            session.complete(REQUEST, key=KEY)
        except ModelError as failed:
            failures.append(failed)

    thread = threading.Thread(target=call)
    thread.start()
    assert waiting.wait(20)
    session.limiter.close()
    thread.join(20)
    assert [f.kind for f in failures] == ["cancelled"]
    assert session.counters["http_attempts"] == sink.events[-1]["http_attempts"] == 1


class Clock:
    """Stands still unless it is told."""

    def __init__(self):
        self.now = 100.0

    def __call__(self):
        return self.now


def test_no_try_begins_after_the_deadline():
    clock, waits = Clock(), []
    session, client, sink = session_of(error("server_error", usage=Usage(4, 0)), "never", retry=RetryPolicy())
    session._clock, session.limiter.pause = clock, waits.append
    session.allow(1.5)
    with pytest.raises(ModelError, match="time is up; before that server_error") as failed:
        session.complete(REQUEST, key=KEY)
    assert failed.value.kind is ErrorKind.DEADLINE
    assert (waits, len(client.asked)) == ([1.5], 1)
    assert sink.events[-1]["error"]["kind"] == "deadline"
    assert (session.counters["llm_calls"], session.counters["input_tokens"]) == (0, 4)


def test_a_try_that_the_deadline_ends_is_no_failure_of_the_provider():
    clock = Clock()
    session, client, _ = session_of(error("timeout"), retry=RetryPolicy(attempts=1))
    session._clock = clock
    session.allow(5.0)
    complete = client.complete

    def late(request, key):
        clock.now += 5.0
        return complete(request, key)

    client.complete = late
    with pytest.raises(ModelError) as failed:
        session.complete(REQUEST, key=KEY)
    assert failed.value.kind is ErrorKind.DEADLINE


def test_errors_that_are_final_stay_what_they_are_whatever_the_time():
    session, _, _ = session_of(error("auth"))
    session.allow(-1.0)
    with pytest.raises(ModelError) as failed:
        session.complete(REQUEST, key=KEY)
    assert failed.value.kind is ErrorKind.AUTH


def test_a_cache_that_cannot_be_written_costs_no_reply_and_one_warning(tmp_path, caplog):
    (tmp_path / "file").write_text("")
    cache = ResponseCache(tmp_path / "file" / "cache")
    for _ in range(2):
        session, _, sink = session_of("done", "more")
        session.cache = cache
        for turn in (1, 2):
            session.complete(REQUEST, key=CallKey("T-1", 1, turn))
        assert [e["text"] for e in sink.events if e["kind"] == "model_response"] == ["done", "more"]
        assert (session.counters["llm_calls"], session.counters["input_tokens"]) == (2, 20)
    (warning,) = caplog.messages
    assert "aren't kept" in warning


def test_the_user_s_controls_win_over_the_request_s_and_those_over_the_preset_s():
    session, client, sink = session_of("a", "b", controls=Controls(seed=1))
    session.complete(REQUEST, key=KEY)
    controls = Controls(temperature=0.9, seed=5)
    session.complete(ModelRequest(REQUEST.messages, controls=controls), key=CallKey("T-1", 1, 2))
    assert [asked.controls.given() for asked in client.asked] == [
        {"temperature": 0.2, "seed": 1},
        {"temperature": 0.9, "seed": 1},
    ]
    assert sink.events[0]["controls"] == {"temperature": 0.2, "seed": 1}


def test_answers_without_a_count_are_counted_as_such():
    session, client, sink = session_of("x")
    client.complete = lambda request, key: ModelReply("x")
    session.complete(REQUEST, key=KEY)
    assert (session.counters["uncounted_calls"], session.counters["input_tokens"]) == (1, 0)
    assert session.usages == [Usage()]
    assert sink.events[-1]["usage"]["input"] is None


def test_pictures_are_kept_once_and_named_in_the_request():
    session, _, sink = session_of("a")
    image = Image("front", b"png bytes")
    message = Message("tool", tool_results=(ToolResult("1", "view", "seen", (image,)),))
    session.complete(ModelRequest((message,)), key=KEY)
    (named,) = json.loads(sink.blobs[sink.events[0]["request"]])["messages"][0]["tool_results"][0]["images"]
    assert sink.blobs[named["sha256"]] == b"png bytes"


def test_long_texts_are_kept_as_blobs():
    session, _, sink = session_of("x" * 100_000)
    session.complete(REQUEST, key=KEY)
    reference = sink.events[-1]["text"]
    assert sink.load(reference) == "x" * 100_000
    assert len(json.dumps(sink.events)) < 4000


def test_a_script_answers_by_task_and_turn(tmp_path):
    path = tmp_path / "script.json"
    calls = [{"name": "check", "arguments": {"a": 1}}, {"name": "check", "arguments": "{'a': 1}"}]
    script = {
        "T-1": ["one", {"tool_calls": calls, "usage": {"input": 5, "output": 2}}],
        "*": [{"error": "auth"}],
    }
    path.write_text(json.dumps(script))
    client = open_model(f"scripted:{path}")
    session = ModelSession(client, AdaptiveLimiter(1), AT_ONCE, None, MemorySink())
    assert session.complete(REQUEST, key=KEY).text == "one"
    second = session.complete(REQUEST, key=CallKey("T-1", 1, 2))
    assert second.finish_reason == "tool_calls"
    assert [c.arguments for c in second.tool_calls] == [{"a": 1}, None]
    assert "not valid JSON" in second.tool_calls[1].error
    with pytest.raises(ModelError, match="has 2 replies for T-1; this is call 3"):
        session.complete(REQUEST, key=CallKey("T-1", 1, 3))
    with pytest.raises(ModelError, match="auth: scripted"):
        session.complete(REQUEST, key=CallKey("T-9", 1, 1))
