"""`evalkit try`: designs and levels in every form of file."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from evalkit import Candidate, ToolCall, UsageError
from evalkit.cli.main import main
from evalkit_polybridge import savefile
from evalkit_polybridge.agents.flat import flat_deck
from evalkit_polybridge.contract import format_reply
from evalkit_polybridge.designs import bridge_to_json
from evalkit_polybridge.levelfiles import export_level
from evalkit_polybridge.levels import generate
from evalkit_polybridge.trial import MAX_BYTES, open_design, read_task

NAME = "T1B_Basic_08m"
LEVEL, META = next((level, meta) for level, meta in generate() if level.name == NAME)
DECK = flat_deck(LEVEL)


def written(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def tried(capsys, *arguments: str) -> tuple[int, dict]:
    code = main(["try", "polybridge.strict", *arguments, "--json"])
    return code, json.loads(capsys.readouterr().out)


@pytest.mark.parametrize(
    "text",
    [
        savefile.encode(DECK, "deck"),
        savefile.new_layout(DECK, "deck"),
        json.dumps(savefile.to_document(DECK, "deck")),
    ],
    ids=["payload", "layout", "decoded"],
)
def test_saves_are_designs(tmp_path: Path, text: str) -> None:
    opened = open_design(written(tmp_path, "design", text), {})
    assert opened == Candidate(bridge_to_json(DECK))


def test_everything_else_is_a_reply(tmp_path: Path) -> None:
    opened = open_design(written(tmp_path, "reply.txt", "I would build a truss."), {})
    assert opened == ToolCall("propose", {"text": "I would build a truss."})


def test_damaged_save_is_named(tmp_path: Path) -> None:
    path = written(tmp_path, "save", savefile.encode(DECK, "deck")[:-12])
    with pytest.raises(UsageError, match=str(path)):
        open_design(path, {})


def test_huge_file_is_read_in_part(tmp_path: Path) -> None:
    opened = open_design(written(tmp_path, "big.json", "[" * (MAX_BYTES + 100)), {})
    assert len(opened.arguments["text"]) == MAX_BYTES


def test_design_that_falls(tmp_path: Path, capsys) -> None:
    path = written(tmp_path, "reply.json", format_reply(DECK, "deck"))
    code, result = tried(capsys, str(path), "--id", NAME)
    assert code == 1
    assert list(result) == [
        "target", "task", "candidate_sha256", "valid", "violations", "execution", "metrics", "report",
    ]  # fmt: skip
    assert result["valid"] is True
    assert result["execution"]["success"] is False
    assert result["report"]["members"] == len(DECK.edges)
    assert result["report"]["cost"] == pytest.approx(8 * 200)
    assert result["report"]["first_break_s"] is not None
    assert result["metrics"]["polybridge.success_at_1"]["score"] == 0.0


def test_illegal_design_is_not_executed(tmp_path: Path, capsys) -> None:
    far = replace(DECK, nodes=(*DECK.nodes, replace(DECK.nodes[-1], id=99, x=3.3)))
    path = written(tmp_path, "reply.json", format_reply(far, ""))
    code, result = tried(capsys, str(path), "--id", NAME)
    assert code == 1
    assert result["execution"] is None
    assert "ISOLATED_NODE" in [v["code"] for v in result["violations"]]
    assert result["valid"] is False


def test_no_design_at_all(tmp_path: Path, capsys) -> None:
    code, result = tried(capsys, str(written(tmp_path, "reply.json", "{")), "--id", NAME)
    assert code == 1
    assert result["candidate_sha256"] is None
    assert [v["code"] for v in result["violations"]] == ["PARSE_ERROR"]


def test_task_from_a_level_file(tmp_path: Path, capsys) -> None:
    _, _, context = export_level(replace(LEVEL, name="mine", budget=9000.0), META, tmp_path)
    path = written(tmp_path, "reply.json", format_reply(DECK, ""))
    code, result = tried(capsys, str(path), "--level", str(context))
    assert code == 1
    assert (result["task"], result["report"]["budget"]) == ("mine", 9000.0)


def test_level_file_must_be_one(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="is no level file"):
        read_task(written(tmp_path, "x.json", "{}"), {})


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--id", "T1B_Basic_8m"), "T1B_Basic_08m?"),
        ((), "say which with --id"),
    ],
)
def test_usage_errors_are_one_line(tmp_path: Path, capsys, arguments: tuple[str, ...], words: str) -> None:
    path = written(tmp_path, "reply.json", "{}")
    assert main(["try", "polybridge.strict", str(path), *arguments]) == 2
    err = capsys.readouterr().err
    assert words in err
    assert err.count("\n") == 1


def test_pictures_and_files_are_written(tmp_path: Path, capsys) -> None:
    path = written(tmp_path, "reply.json", format_reply(DECK, "deck"))
    assert main(["try", "polybridge.strict", str(path), "--id", NAME, "-o", str(tmp_path / "out")]) == 1
    names = sorted(p.name for p in (tmp_path / "out").iterdir())
    assert "members.json" in names
    assert "frame-00.png" in names
