"""`evalkit cache` on a cache and a recorded run."""

import datetime
import importlib
import json
import os
import sys
import time
from pathlib import Path

import pytest
from click.testing import CliRunner

from evalkit.canonical import canonical_json
from evalkit.cli.cache import command
from evalkit.errors import UnknownNameError
from evalkit.models import CallKey, Message, ModelReply, ModelRequest, ResponseCache
from evalkit.models._identity import identity
from evalkit.run.trial import MemorySink
from evalkit.store.writer import RunWriter
from evalkit.types import EpisodeKey


@pytest.fixture
def cache(tmp_path, monkeypatch):
    monkeypatch.setattr("platformdirs.user_cache_path", lambda *a, **k: tmp_path / "user")
    return ResponseCache(tmp_path / "user" / "models")


@pytest.fixture
def run(tmp_path, monkeypatch, cache):
    """A run with a hit and a miss; the cache holds a reply to another question."""
    monkeypatch.chdir(tmp_path)
    known, asked = (same(text) for text in ("30 m", "31 m"))
    cache.put(known, ModelReply("ok"))
    monkeypatch.syspath_prepend(str(Path(__file__).parents[1] / "report"))
    created = datetime.datetime.fromtimestamp(time.time() + 10, datetime.UTC).isoformat(timespec="seconds")
    towers = importlib.import_module("toy_towers")
    towers.record(tmp_path / "runs", {"chat": {}}, run="r1", created=created)
    sys.modules.pop("toy_towers")
    key = EpisodeKey("chat", "T-1", "strict", 1)
    writer = RunWriter(tmp_path / "runs" / "r1")
    sink = MemorySink()
    sink.event("episode_start", {"key": key.as_dict(), "seed": 0})
    for turn, request, found in ((1, known, "hit"), (2, asked, "miss"), (3, known, "off")):
        sink.event("model_request", {"turn": turn, "request": sink.blob(canonical_json(request))})
        sink.event("model_response", {"turn": turn, "cache": found})
    sink.event("episode_end", {"reason": "done", "counters": {}})
    log, attempt = writer.begin(key)
    for sha256, data in sink.blobs.items():
        writer.blob(sha256, data)
    log.append([json.dumps(event, separators=(",", ":")) for event in sink.events])
    writer.finish(key, log, attempt, {"reason": "done", "counters": {}})
    writer.close()
    return "r1"


def same(text):
    return identity({"model": "m"}, ModelRequest((Message("user", text),)), CallKey("T-1", 1, 1))


def evalkit_cache(*words):
    done = CliRunner().invoke(command, list(words), help_option_names=["-h", "--help"])
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception
    assert done.exit_code == 0, done.output
    return done.stdout


def test_info_and_clear(cache):
    assert "0 replies" in evalkit_cache("info")
    cache.put(same("30 m"), ModelReply("ok"))
    assert json.loads(evalkit_cache("info", "--json"))["entries"] == 1
    assert evalkit_cache("clear") == "1 reply deleted\n"
    assert json.loads(evalkit_cache("clear", "--json")) == {"deleted": 0}


def test_explain_says_in_what_a_miss_differs(run):
    rows = json.loads(evalkit_cache("explain", run, "--json"))["calls"]
    assert [(row["turn"], row["cache"]) for row in rows] == [(1, "hit"), (2, "miss"), (3, "off")]
    assert [row["why"] for row in rows] == [[], ["messages[0].text: '31 m', there '30 m'"], []]
    text = evalkit_cache("explain", run, "T-1")
    assert "messages[0].text: '31 m', there '30 m'" in text


def test_replies_that_came_later_explain_nothing(run, cache):
    (path,) = cache.folder.glob("*/*")
    os.utime(path, (time.time() + 60,) * 2)
    (row,) = (r for r in json.loads(evalkit_cache("explain", "--json"))["calls"] if r["cache"] == "miss")
    assert row["why"] == ["the cache held no reply before the run"]


def test_an_unknown_episode_is_named(run):
    with pytest.raises(UnknownNameError, match="did you mean T-1"):
        evalkit_cache("explain", run, "T-l")
