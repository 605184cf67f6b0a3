"""Cassettes and the cache: the same answer to the same question, and what differs otherwise."""

import dataclasses
import json
import sys

import pytest

from evalkit.errors import StorageError, UsageError
from evalkit.models import (
    AdaptiveLimiter,
    CallKey,
    Controls,
    Message,
    ModelError,
    ModelReply,
    ModelRequest,
    ModelSession,
    ModelToolCall,
    ResponseCache,
    RetryPolicy,
    Usage,
    open_model,
    parse_options,
)
from evalkit.models._identity import differences, identity
from evalkit.models._replies import read_reply, reply_json
from evalkit.run.trial import MemorySink

KEY = CallKey("T-1", 1, 1)
REQUEST = ModelRequest((Message("system", "Be brief."), Message("user", "Build a bridge of 30 m.")))
REPLY = ModelReply(
    "half é",
    (ModelToolCall("1", "check", None, '{"a": ', "cut"), ModelToolCall("2", "check", {"a": 1}, '{"a": 1}')),
    served_by="m-2026-01-01",
    usage=Usage(5, 2, None, 1),
    finish_reason="length",
    sent={"temperature": 0.2},
    not_sent={"seed": "not taken"},
    opaque={"thinking_blocks": [{"signature": "s"}]},
    seconds=1.5,
    raw_request=b'{"x": 1}',
    raw_response=b"\xff\x00 not text",
)


def test_a_reply_survives_being_written_down():
    assert read_reply(json.loads(json.dumps(reply_json(REPLY)))) == REPLY


@pytest.fixture
def script(tmp_path):
    path = tmp_path / "script.json"
    answers = [{"text": "one", "usage": {"input": 3, "output": 1}}, {"error": "content_filter"}, "three"]
    path.write_text(json.dumps({"*": answers}))
    return path


@pytest.fixture
def cassette(tmp_path, script):
    """Two replies and an error, recorded."""
    path = tmp_path / "tapes" / "one.cassette"
    client = open_model(f"cassette-record:{path}=scripted:{script}", parse_options(["temperature=0.5"]))
    assert play(client) == ["one", "content_filter", "three"]
    client.close()
    return path


def play(client, request=REQUEST):
    session = ModelSession(client, AdaptiveLimiter(1), RetryPolicy(), None, MemorySink())
    return [answer(session, request, CallKey("T-1", 1, turn)) for turn in (1, 2, 3)]


def answer(session, request, key):
    try:
        return session.complete(request, key=key).text
    except ModelError as error:
        return error.kind.value


def test_a_cassette_answers_as_recorded_errors_included(cassette, script):
    client = open_model(f"cassette:{cassette}")
    assert play(client) == ["one", "content_filter", "three"]
    assert client.model == f"scripted:{script}"
    assert client.controls == Controls(temperature=0.5)
    recorded = open_model(f"scripted:{script}").complete(REQUEST, KEY)
    replayed = client.complete(dataclasses.replace(REQUEST, controls=client.controls), KEY)
    assert replayed == recorded


def test_a_miss_names_what_differs(cassette):
    client = open_model(f"cassette:{cassette}")
    other = ModelRequest(
        (REQUEST.messages[0], Message("user", "Build a bridge of 31 m.")), controls=client.controls
    )
    with pytest.raises(ModelError) as missed:
        client.complete(other, KEY)
    text = "messages[1].text: 'Build a bridge of 31 m.', there 'Build a bridge of 30 m.'"
    assert text in str(missed.value)
    assert str(missed.value).startswith("no_recording: ")
    with pytest.raises(ModelError, match=r"call\.turn: 9, there"):
        client.complete(dataclasses.replace(REQUEST, controls=client.controls), CallKey("T-1", 1, 9))


def test_a_cassette_is_never_overwritten(cassette, script):
    with pytest.raises(UsageError, match=f"replay it with -m cassette:{cassette}"):
        open_model(f"cassette-record:{cassette}=scripted:{script}")


def test_a_torn_last_line_of_a_cassette_is_left_out(cassette):
    cassette.write_bytes(cassette.read_bytes()[:-20])
    assert play(open_model(f"cassette:{cassette}")) == ["one", "content_filter", "no_recording"]


@pytest.mark.parametrize(
    "content", ["", "[]\n", '{"cassette": 1}\n', "text\n", '{"cassette":1,"source":{"model":"m"}}\n{}\n']
)
def test_other_files_are_no_cassettes(tmp_path, content):
    path = tmp_path / "x.cassette"
    path.write_text(content)
    with pytest.raises(UsageError, match="cassette of evalkit"):
        open_model(f"cassette:{path}")


def test_a_cassette_of_another_version_is_refused(tmp_path):
    path = tmp_path / "x.cassette"
    path.write_text('{"cassette": 99}\n')
    with pytest.raises(UsageError, match="version 99; this evalkit reads 1"):
        open_model(f"cassette:{path}")


def test_failures_that_a_retry_may_mend_are_not_recorded(tmp_path):
    script = tmp_path / "script.json"
    script.write_text('[{"error": "server_error"}, {"error": "auth"}]')
    path = tmp_path / "x.cassette"
    client = open_model(f"cassette-record:{path}=scripted:{script}")
    for turn in (1, 2):
        with pytest.raises(ModelError):
            client.complete(REQUEST, CallKey("T-1", 1, turn))
    client.close()
    assert not path.exists()


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no limit on the size of files")
def test_an_answer_that_a_full_disk_loses_ends_the_recording_and_counts_as_spent(tmp_path):
    import resource

    script = tmp_path / "script.json"
    usage = {"input": 9, "output": 4}
    long = {"text": "x" * 100_000, "usage": usage}
    script.write_text(json.dumps([{"text": "one", "usage": usage}, long, {"text": "three", "usage": usage}]))
    path = tmp_path / "x.cassette"
    client = open_model(f"cassette-record:{path}=scripted:{script}")
    session = ModelSession(client, AdaptiveLimiter(1), RetryPolicy(), None, MemorySink())
    session.complete(REQUEST, key=CallKey("T-1", 1, 1))
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (50_000, before[1]))
    try:
        with pytest.raises(ModelError, match=r"not_kept: can't write .*x\.cassette: File") as lost:
            session.complete(REQUEST, key=CallKey("T-1", 1, 2))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert lost.value.policy.fatal
    assert session.counters["input_tokens"] == 18
    session.complete(REQUEST, key=CallKey("T-1", 1, 3))
    client.close()
    replay = open_model(f"cassette:{path}")
    kept = [replay.complete(REQUEST, CallKey("T-1", 1, turn)).text for turn in (1, 3)]
    assert kept == ["one", "three"]


# The cache


@pytest.fixture
def cache(tmp_path):
    return ResponseCache(tmp_path / "cache")


def cached_session(cache, script):
    client = open_model(f"scripted:{script}")
    return ModelSession(client, AdaptiveLimiter(1), RetryPolicy(), cache, MemorySink())


def test_a_reply_is_found_again_and_counts_as_a_call_but_not_as_an_attempt(cache, script):
    first = cached_session(cache, script)
    second = cached_session(cache, script)
    reply, again = (s.complete(REQUEST, key=KEY) for s in (first, second))
    assert again == reply
    assert [s.recorder.events[-1]["cache"] for s in (first, second)] == ["miss", "hit"]
    assert (first.counters["input_tokens"], first.counters["output_tokens"]) == (3, 1)
    assert {name: count for name, count in second.counters.items() if count} == {
        "llm_calls": 1,
        "cache_hits": 1,
        "reused_input_tokens": 3,
        "reused_output_tokens": 1,
    }
    assert cache.info().entries == 1


@pytest.mark.parametrize(
    ("change", "where"),
    [
        ({"key": CallKey("T-2", 1, 1)}, "call.task"),
        ({"key": CallKey("T-1", 2, 1)}, "call.epoch"),
        ({"key": CallKey("T-1", 1, 3)}, "call.turn"),
        ({"request": dataclasses.replace(REQUEST, controls=Controls(seed=1))}, "controls.seed"),
        ({"request": ModelRequest(REQUEST.messages[1:])}, "messages"),
    ],
)
def test_every_part_of_the_key_matters_and_is_named(cache, script, change, where):
    session = cached_session(cache, script)
    session.complete(REQUEST, key=KEY)
    asked = {"request": REQUEST, "key": KEY} | change
    session.complete(asked["request"], key=asked["key"])
    assert session.recorder.events[-1]["cache"] == "miss"
    same = identity(session.client.source, asked["request"], asked["key"])
    entry = identity(session.client.source, REQUEST, KEY)
    found = differences(same, entry)
    assert found
    assert all(line.startswith(where) for line in found)


def test_another_script_of_the_same_name_is_another_model(cache, script):
    cached_session(cache, script).complete(REQUEST, key=KEY)
    script.write_text('["changed"]')
    session = cached_session(cache, script)
    assert session.complete(REQUEST, key=KEY).text == "changed"
    assert session.recorder.events[-1]["cache"] == "miss"


def test_errors_are_not_cached(cache, script):
    session = cached_session(cache, script)
    assert answer(session, REQUEST, CallKey("T-1", 1, 2)) == "content_filter"
    assert cache.info().entries == 0


def test_a_damaged_entry_is_a_miss_and_is_written_anew(cache, script):
    session = cached_session(cache, script)
    session.complete(REQUEST, key=KEY)
    (path,) = cache.folder.glob("*/*")
    for damage in (b"", b"{}", path.read_bytes()[:-30], b"\xff\n\xff\n"):
        path.write_bytes(damage)
        session.complete(REQUEST, key=KEY)
        assert session.recorder.events[-1]["cache"] == "miss"
    session.complete(REQUEST, key=KEY)
    assert session.recorder.events[-1]["cache"] == "hit"


def test_clear_deletes_everything(cache, script):
    cached_session(cache, script).complete(REQUEST, key=KEY)
    assert cache.clear() == 1
    assert cache.info().entries == cache.info().size == 0


def test_a_folder_that_cannot_be_written_is_explained(tmp_path):
    (tmp_path / "file").write_text("")
    cache = ResponseCache(tmp_path / "file" / "cache")
    with pytest.raises(StorageError, match="--no-cache plays without the cache"):
        cache.put(identity({"model": "m"}, REQUEST, KEY), REPLY)


def test_differences_in_long_texts_show_the_place():
    ours = {"text": "x" * 500 + "left" + "y" * 500}
    theirs = {"text": "x" * 500 + "right" + "y" * 500}
    (line,) = differences(ours, theirs)
    assert "from character 500 on" in line
    assert "left" in line
    assert len(line) < 160
    assert differences(ours, ours) == []
    assert differences({"a": 1}, {"a": True}) == ["a: 1, there True"]
