"""Designs, saves and level files from hell: one clear violation or one clear line each, and never a crash."""

from __future__ import annotations

import base64
import json
import os
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

LEVEL = "T1B_Basic_08m"
ANCHORS = [{"id": 1, "x": 0, "y": 0, "isKinematic": True}, {"id": 2, "x": 8, "y": 0, "isKinematic": True}]

REGISTRY = """
evalkit: 1
suites:
  mine: {{version: 1, title: x, benchmark: polybridge, tasks: {{{}}}}}
"""

Try = Callable[..., Any]


def reply(nodes: list[Any] | None = None, edges: list[Any] | None = None, **fields: Any) -> str:
    document = {"action": "modify", "thought_process": "", "nodes": [*ANCHORS, *(nodes or [])]}
    return json.dumps({**document, "edges": edges or [], **fields})


def saved_node(id: int, x: float, y: float, fixed: bool = False) -> dict[str, Any]:
    return {"type": 0, "x": x, "y": y, "id": id, "anchorAID": 0, "anchorBID": 0, "isKinematic": fixed}


def saved_edge(id: int, kind: int, a: int, b: int) -> dict[str, Any]:
    return {"type": kind, "x": 0, "y": 0, "id": id, "anchorAID": a, "anchorBID": b}


def save(*objects: dict[str, Any], name: str = LEVEL) -> str:
    ends = [saved_node(1, 0, 0, True), saved_node(2, 8, 0, True)]
    return json.dumps({"DisplayName": name, "Objects": [*ends, *objects]})


def payload(text: str) -> str:
    return base64.b64encode(zlib.compress(text.encode(), 9)).decode()


def layout(*saves: Any) -> str:
    return json.dumps({"saveFiles": saves})


@pytest.fixture
def tried(polite: Any, tmp_path: Path) -> Try:
    """`evalkit try --json` of a file with these bytes: the JSON object, or the error line."""

    def run(content: str | bytes, *options: str) -> Any:
        path = tmp_path / "design"
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        said = polite("try", "polybridge.smoke", path, "--id", LEVEL, "--json", *options)
        return said.error if said.code == 2 else json.loads(said.out)

    return run


@pytest.mark.parametrize(
    ("content", "code"),
    [
        ("", "PARSE_ERROR"),
        ("[" * 100_000, "PARSE_ERROR"),
        ("[" * 100_000 + "]" * 100_000, "PARSE_ERROR"),
        ('{"a":' * 100_000, "PARSE_ERROR"),
        ("[[]" + ",[]" * 300_000 + "]", "PARSE_ERROR"),
        (reply().replace('"x": 8', '"x": NaN'), "PARSE_ERROR"),
        (reply().replace('"x": 8', '"x": -Infinity'), "PARSE_ERROR"),
        (reply().replace('"x": 8', '"x": 1e999'), "PARSE_ERROR"),
        (reply().replace('"x": 8', '"x": ' + "9" * 5000), "PARSE_ERROR"),
        (reply().replace('"x": 8', '"x": ' + "9" * 10**6), "TOO_LARGE"),
        (reply([{"id": 3, "x": 1e308, "y": -1e308}]), "OUT_OF_RANGE"),
        (reply([{"id": 10**12, "x": 1, "y": 0}]), "OUT_OF_RANGE"),
        (
            reply([{"id": 3, "x": 1e-320, "y": 0}], [{"id": 4, "type": 1, "anchorAID": 1, "anchorBID": 3}]),
            "ZERO_LENGTH",
        ),
        (b" " * 100_000_000 + b"{}", "TOO_LARGE"),
        (reply().replace('"action"', '"action": "modify", "action"', 1), "PARSE_ERROR"),
        (b"\0" * 1000, "PARSE_ERROR"),
        (b"\xed\xa0\x80" + reply().encode(), "PARSE_ERROR"),
        (reply().encode("utf-16"), "PARSE_ERROR"),
        (reply().encode("utf-32"), "PARSE_ERROR"),
        (reply(nodes=None, edges=[5, None, "x", [], True]), "WRONG_TYPE"),
        (json.dumps({"action": [], "thought_process": 5, "nodes": {}, "edges": 7}), "ACTION"),
        (reply([{"id": True, "x": "1", "y": None, "isKinematic": 0}]), "WRONG_TYPE"),
        (reply([{"id": i, "x": 1, "y": 0} for i in range(3, 3003)]), "TOO_LARGE"),
        (reply([{"id": i, "x": 1, "y": 0} for i in range(3, 1900)]), "ISOLATED_NODE"),
        (save(saved_node(3, 1, 0), saved_edge(4, 99, 1, 3)), "UNKNOWN_MATERIAL"),
    ],
)
def test_what_is_no_legal_design_is_a_violation(tried: Try, content: str | bytes, code: str) -> None:
    document = tried(content)
    assert code in [violation["code"] for violation in document["violations"]]
    assert (document["valid"], document["execution"]) == (False, None)
    assert all("\n" not in violation["message"] for violation in document["violations"])


@pytest.mark.parametrize(
    "content",
    [
        reply(),
        b"\xef\xbb\xbf" + reply().encode(),
        reply(thought_process="\ud800\x00\x1b[2J"),
        reply(**{f"\x1b[31m{i}": i for i in range(20_000)}),
        save(name="\x1b[31m\ud800"),
        payload(save()),
        layout(payload(save()), None, 5),
        json.dumps({"a": {"saveFiles": ["x"]}, "saveFiles": [payload(save())]}),
    ],
)
def test_what_is_odd_but_legal_is_executed(tried: Try, content: str | bytes) -> None:
    document = tried(content)
    assert document["valid"]
    assert document["execution"]["outcome"] == "lost"
    assert tried(content) == document


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (payload(" " * 300_000_000), "the save inflates to more than"),
        (layout(payload(" " * 300_000_000)), "the save inflates to more than"),
        (layout(payload(save())[:-7]), "the save is not Base64"),
        (layout(payload(save())[:-8]), "breaks off"),
        (layout(base64.b64encode(b"xx" + zlib.compress(b"{}")).decode()), "the save is not zlib data"),
        (layout(5), "saveFiles[0] has to be the payload"),
        (layout(), "saveFiles[0] has to be the payload"),
        ('{"saveFiles":{}}', "saveFiles has to be a list"),
        (save(*(saved_node(i, 1, 0) for i in range(3, 3000))), "at most 2000 are read"),
        (save(saved_edge(4, -1, 1, 2)), "has the type -1"),
        (save(saved_edge(4, 10**90, 1, 2)), "numbers up to"),
        (save(saved_node(10**40, 1, 0)), "numbers up to"),
        (payload("[[]" + ",[]" * 600_000 + "]"), "has no DisplayName"),
    ],
)
def test_damaged_saves_are_refused_in_one_line(tried: Try, content: str, says: str) -> None:
    assert says in tried(content)


def test_a_save_is_rounded_like_a_reply(tried: Try) -> None:
    near = [saved_node(3, 0.00004999, 1), saved_node(4, 0.00005001, 1)]
    members = [saved_edge(5, 2, 1, 3), saved_edge(6, 2, 3, 4), saved_edge(7, 2, 1, 4)]
    document = tried(save(*near, *members))
    nodes = [{"id": 3, "x": 0.0, "y": 1.0}, {"id": 4, "x": 0.0001, "y": 1.0}]
    ends = [(5, 1, 3), (6, 3, 4), (7, 1, 4)]
    same = reply(nodes, [{"id": i, "type": 2, "anchorAID": a, "anchorBID": b} for i, a, b in ends])
    assert document["candidate_sha256"] == tried(same)["candidate_sha256"]


def test_pictures_of_an_odd_design_are_written_or_nothing_is(tried: Try, tmp_path: Path) -> None:
    far = reply([{"id": 3, "x": -1000, "y": 1000}])
    tried(far, "-o", str(tmp_path / "out"))
    assert list((tmp_path / "out").iterdir()) == []
    near = [{"id": i, "x": round(1 + i / 10_000, 4), "y": 0.5} for i in range(3, 300)]
    members = [{"id": 300, "type": 3, "anchorAID": 1, "anchorBID": 3}]
    members += [{"id": 298 + i, "type": 3, "anchorAID": i - 1, "anchorBID": i} for i in range(4, 300)]
    document = tried(reply(near, members), "-o", str(tmp_path / "out"))
    assert document["valid"]
    assert len(list((tmp_path / "out").glob("frame-*.png"))) > 1


# Files that aren't designs


@pytest.mark.parametrize("make", [Path.mkdir, os.mkfifo, lambda path: path.symlink_to("/dev/zero")])
def test_what_is_no_file_is_not_opened(polite: Any, tmp_path: Path, make: Callable[[Path], None]) -> None:
    make(tmp_path / "design")
    said = polite("try", "polybridge.smoke", tmp_path / "design", "--id", LEVEL)
    assert (said.code, said.error) == (2, f"evalkit: error: there is no file {tmp_path / 'design'}")


@pytest.fixture
def level(tmp_path: Path) -> Path:
    """The folder with the three files of a level."""
    from evalkit_polybridge.levelfiles import export_level
    from evalkit_polybridge.levels.catalogue import load

    entry = next(entry for entry in load("strict") if entry.level.name == LEVEL)
    export_level(entry.level, entry.meta, tmp_path / "levels")
    (tmp_path / "design").write_text(reply())
    return tmp_path / "levels"


@pytest.mark.parametrize(
    ("damage", "says"),
    [
        (lambda path: path.write_bytes(b"\xff\xfe"), "is not UTF-8 at byte 0"),
        (lambda path: path.write_bytes(b""), "is not JSON"),
        (lambda path: path.write_text("[" * 100_000), "nested deeper"),
        (lambda path: path.write_text("[]"), '"context" has to be there'),
        (lambda path: path.write_text('{"context": {}, "analysis": {}}'), "task_context has to be there"),
        (lambda path: path.write_bytes(b" " * 20_000_000), "has more than 16777216 bytes"),
        (lambda path: path.unlink(), "is missing"),
        (lambda path: (path.unlink(), path.mkdir()), "is no regular file"),
        (lambda path: (path.unlink(), os.mkfifo(path)), "is no regular file"),
        (lambda path: (path.unlink(), path.symlink_to(path)), "can't be read"),
    ],
)
def test_damaged_level_files_are_named(
    polite: Any, level: Path, tmp_path: Path, damage: Callable[[Path], None], says: str
) -> None:
    path = level / f"{LEVEL}.context.json"
    damage(path)
    one = polite("try", "polybridge.smoke", tmp_path / "design", "--task", path)
    registry = tmp_path / "registry.yaml"
    registry.write_text(REGISTRY.format(f"folder: {level}"))
    all_of_it = polite("run", "mine", "--agent", "flat", "--dry-run", "--registry", registry)
    for said in (one, all_of_it):
        assert said.code == 2
        assert says in said.error
        assert path.name in said.error


@pytest.mark.parametrize(
    ("option", "says"),
    [
        ("levels: []", "tasks.levels has to be a string"),
        ("levels: nope", "it is 'main' or 'heldout'"),
        ("names: 5", "tasks.names has to be a list of strings"),
        ("names: [[1]]", "tasks.names has to be a list of strings"),
        ("budget: {a: 1}", "tasks.budget has to be a string"),
        ("folder: 5", "tasks.folder has to be a string"),
        ("folder: /dev/null", "/dev/null is no folder"),
        ("folder: ''", "there is no"),
    ],
)
def test_task_options_of_wrong_types_are_named(
    polite: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, option: str, says: str
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("registry.yaml").write_text(REGISTRY.format(option))
    said = polite("run", "mine", "--agent", "flat", "--dry-run")
    assert said.code == 2
    assert says in said.error
