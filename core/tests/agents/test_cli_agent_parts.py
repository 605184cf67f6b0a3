"""Templates, what is read from a program's lines, transcripts, what is taken from a workspace."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from evalkit.agents.cli.redaction import Redactor
from evalkit.agents.cli.stream import Meter
from evalkit.agents.cli.template import PRESETS, Template, load_template
from evalkit.agents.cli.transcript import MAX_LINE_BYTES, Lines, Transcript
from evalkit.errors import UsageError
from evalkit.run.trial import MemorySink
from evalkit.workspace import MAX_DEPTH, take


def read(template: str | Template, *events: dict[str, Any] | str) -> Meter:
    """A meter that has read these lines."""
    meter = Meter(load_template(template) if isinstance(template, str) else template)
    for event in events:
        meter.line((event if isinstance(event, str) else json.dumps(event)).encode() + b"\n")
    return meter


def claude(message: str, tokens: int) -> dict[str, Any]:
    usage = {"input_tokens": tokens, "cache_read_input_tokens": 100, "output_tokens": 5}
    return {"type": "assistant", "message": {"id": message, "usage": usage}}


def test_every_preset_is_a_template() -> None:
    names = sorted(path.stem for path in PRESETS.glob("*.toml"))
    assert names == ["claude", "codex", "gemini"]
    for name in names:
        template = load_template(name)
        assert template.argv[0] == name
        assert "model" in template.options()
        assert template.credentials.variables


def test_lines_of_one_message_are_one_turn() -> None:
    meter = read("claude", claude("a", 1), claude("a", 2), claude("b", 3), {"type": "user"}, "no JSON", "[1]")
    assert meter.counters() == {"turns": 2, "input_tokens": 205, "output_tokens": 10, "tokens": 215}


def test_a_total_replaces_what_was_counted_and_brings_the_cost() -> None:
    usage = {"input_tokens": 7, "output_tokens": 8}
    result = {"type": "result", "is_error": False, "usage": usage, "total_cost_usd": 0.5}
    counted = read("claude", claude("a", 1), result).counters()
    assert counted == {"turns": 1, "input_tokens": 7, "output_tokens": 8, "tokens": 15, "cost": 0.5}


def test_cost_without_tokens_is_unknown() -> None:
    result = {"type": "result", "total_cost_usd": 0, "usage": {"input_tokens": 0, "output_tokens": 0}}
    assert read("claude", result).counters() == {"turns": 0}


def test_codex_and_gemini() -> None:
    item = {"type": "item.completed", "item": {"type": "command_execution"}}
    thought = {"type": "item.completed", "item": {"type": "reasoning"}}
    done = {"type": "turn.completed", "usage": {"input_tokens": 9, "output_tokens": 2}}
    counted = read("codex", item, thought, item, done, done).counters()
    assert counted == {"turns": 2, "input_tokens": 18, "output_tokens": 4, "tokens": 22}
    failed = {"type": "turn.failed", "error": {"message": "no\nquota"}}
    assert read("codex", failed).failure == "no quota"
    result = {"type": "result", "status": "success", "stats": {"input_tokens": 3, "output_tokens": 1}}
    assert read("gemini", {"type": "tool_use"}, result).counters()["tokens"] == 4


@pytest.mark.parametrize("amount", [-5, "many", None, True, 1e300, [1], {"a": 1}])
def test_nonsense_is_no_amount(amount: Any) -> None:
    usage = {"input_tokens": amount, "output_tokens": 3}
    counted = read("claude", {"type": "result", "usage": usage, "total_cost_usd": amount}).counters()
    assert counted == {"turns": 0, "input_tokens": 0, "output_tokens": 3, "tokens": 3}


def test_text_is_read_by_patterns() -> None:
    template = Template.model_validate(
        {
            "argv": ["aid"],
            "output": "text",
            "turns": [{"pattern": "^> "}],
            "usage": [{"pattern": r"in (?P<input>[\d,]+) out (?P<output>\d+) \$(?P<cost>[\d.]+)"}],
        }
    )
    counted = read(template, "> hello", "in 1,200 out 34 $0.02", "> again").counters()
    assert counted == {"turns": 2, "input_tokens": 1200, "output_tokens": 34, "tokens": 1234, "cost": 0.02}


def test_a_command_line_leaves_out_what_has_no_value() -> None:
    template = Template(argv=["a", "{workspace}", ["--model", "{model}"], ["--x={x}", "{model}"]])
    assert template.options() == ["model", "x"]
    assert template.command({"workspace": "/w"}) == ["a", "/w"]
    assert template.command({"workspace": "/w", "model": "{x}"}) == ["a", "/w", "--model", "{x}"]
    with pytest.raises(UsageError, match="-M level=…"):
        Template(argv=["a", "{level}"]).command({})


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("argv = [", "is no TOML"),
        ("argv = []", "argv: "),
        ('argv = ["{model}"]', "argv has to begin with the program"),
        ('argv = ["a"]\nagrv = 1', "unknown key 'agrv'; did you mean argv?"),
        ('argv = ["a"]\n[limits]\nturns = 0', "limits.turns: "),
        ('argv = ["a"]\n[[turns]]\ndistinct = "a"', "turns.0: "),
        ('argv = ["a"]\n[[turns]]\npattern = "("', "pattern '('"),
        ('argv = ["a"]\n[[turns]]\npattern = "x"', "a rule is for the other kind"),
    ],
)
def test_a_wrong_template_is_named(tmp_path: Path, text: str, words: str) -> None:
    path = tmp_path / "agent.toml"
    path.write_text(text)
    with pytest.raises(UsageError) as caught:
        load_template(str(path))
    assert words in str(caught.value)
    assert str(path) in str(caught.value)
    assert "\n" not in str(caught.value)


def test_too_long_lines_come_in_pieces() -> None:
    lines = Lines()
    long = b"x" * (MAX_LINE_BYTES + 1)
    assert list(lines.feed(b"one\ntw")) == [(b"one\n", True)]
    assert list(lines.feed(b"o\n" + long)) == [(b"two\n", True), (long, False)]
    assert list(lines.feed(b"rest\nnext\nlast")) == [(b"rest\n", False), (b"next\n", True)]
    assert lines.end() == [(b"last", True)]


def test_secrets_are_replaced_by_their_names() -> None:
    sink = MemorySink()
    redactor = Redactor([("KEY", "secret-value"), ("SHORT", "a")])
    transcript = Transcript(sink, redactor, lambda: {"turns": 1})
    transcript.add("stdout", b"a secret-value\n")
    transcript.add("stderr", b"secret-value!\n\n")
    transcript.flush()
    (event,) = sink.events
    texts = [sink.blobs[artifact["blob"]] for artifact in event["artifacts"]]
    assert texts == [b"a [KEY]\n", b"[KEY]!\n\n"]
    assert transcript.last_words == "[KEY]!"
    assert event["usage"] == {"turns": 1}


def test_only_what_was_asked_for_is_taken(tmp_path: Path) -> None:
    (tmp_path / "out" / "deep").mkdir(parents=True)
    for name in ("a.json", "b.txt", "out/c.json", "out/deep/d.json"):
        (tmp_path / name).write_text(name)
    assert sorted(take(tmp_path, ["a.json", "out/*.json"], 100).files) == ["a.json", "out/c.json"]
    assert sorted(take(tmp_path, ["**/*.json"], 100).files) == ["a.json", "out/c.json", "out/deep/d.json"]


def test_links_devices_and_excess_are_left_out_with_the_reason(tmp_path: Path) -> None:
    folder, outside = tmp_path / "work", tmp_path / "outside"
    folder.mkdir()
    outside.mkdir()
    (outside / "secret").write_text("secret")
    (folder / "big").write_bytes(b"x" * 60)
    (folder / "c-small").write_bytes(b"x" * 40)
    (folder / "d-more").write_bytes(b"x")
    (folder / "link").symlink_to(outside / "secret")
    (folder / "folder").symlink_to(outside)
    os.mkfifo(folder / "pipe")
    found = take(folder, ["**"], 100)
    assert sorted(found.files) == ["big", "c-small"]
    assert found.omitted == {
        "d-more": "more bytes than are taken",
        "folder": "a symbolic link",
        "link": "a symbolic link",
        "pipe": "not a regular file",
    }


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root can give files away")
def test_a_hard_link_to_the_file_of_somebody_else_is_left_out(tmp_path: Path) -> None:
    folder, secret = tmp_path / "work", tmp_path / "secret"
    folder.mkdir()
    secret.write_text("secret")
    os.chown(folder, 61001, 61001)
    os.link(secret, folder / "a.json")
    found = take(folder, ["*.json"], 100)
    assert (found.files, found.omitted) == ({}, {"a.json": "somebody else's file"})


def test_from_a_folder_that_is_gone_nothing_is_taken(tmp_path: Path) -> None:
    (tmp_path / "x").write_text("x")
    (tmp_path / "link").symlink_to(tmp_path)
    for folder in ("gone", "x", "link"):
        assert not take(tmp_path / folder, ["**"], 100).files


def test_a_folder_without_bottom_is_bounded(tmp_path: Path) -> None:
    deep = tmp_path
    for _ in range(MAX_DEPTH + 3):
        deep = deep / "d"
    deep.mkdir(parents=True)
    (deep / "x").write_text("x")
    (tmp_path / "x").write_text("x")
    assert list(take(tmp_path, ["**"], 100).files) == ["x"]


def test_what_templates_count() -> None:
    assert load_template("claude").counters() == {"turns", "tokens", "cost"}
    assert load_template("codex").counters() == load_template("gemini").counters() == {"turns", "tokens"}
    text = {"argv": ["a"], "output": "text"}
    for pattern, counted in ((r"(?P<input>\d+) (?P<cost>.*)", {"tokens", "cost"}), ("(?P<cost>.*)", set())):
        assert Template.model_validate({**text, "usage": [{"pattern": pattern}]}).counters() == counted
