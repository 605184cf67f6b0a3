"""One episode as text, and its files."""

from dataclasses import replace

import pytest

from evalkit.errors import RecordError, StorageError
from evalkit.report.episode import episode_json, episode_text, find_episode, outcome
from evalkit.report.files import recorded_artifacts, write_artifacts
from evalkit.types import Artifact, Episode, EpisodeKey

KEY = EpisodeKey("agent", "task", "strict", 1)
BLOB = {"blob": "ab" * 32, "size": 3000, "media_type": "application/json"}


def load(value):
    return {"text": "y" * 500} if value == BLOB else value


def episode(*events, reason="done", **end):
    last = {"kind": "episode_end", "reason": reason, "counters": {"calls": 1}, **end}
    numbered = [{"seq": n, **event} for n, event in enumerate([*events, last])]
    return Episode(KEY, numbered, numbered[-1], load)


def action(**fields):
    return {"kind": "action", "turn": 1, "tool": "propose", "arguments": {}, **fields}


def execution(success, **fields):
    return {"kind": "execution", "executor": "sim", "version": "2", "success": success, "data": {}, **fields}


def violation(valid, *found):
    return {"kind": "violation", "valid": valid, "violations": list(found)}


def test_outcome_has_a_letter_per_design_and_refused_call():
    played = episode(
        action(tool="look"),
        {"kind": "result", "ok": True, "state": "00"},
        action(tool="propsoe"),
        {"kind": "result", "ok": False, "state": "00", "data": {"code": "unknown_tool"}},
        action(),
        {"kind": "result", "ok": False, "state": "00"},
        violation(False, {"code": "LONG", "message": "too long"}),
        action(),
        violation(True, {"code": "HINT", "message": "a hint", "advisory": True}),
        execution(False),
        action(),
        execution(None),
        action(),
        execution(None),
        execution(True),
    )
    assert outcome(played) == "e V F X S"


def test_text_marks_advice_mistakes_and_notes():
    text = episode_text(
        episode(
            action(note={"tried": 3}),
            {"kind": "result", "ok": False, "state": "00", "data": {"ok": False, "message": "no such tool"}},
            action(),
            violation(True, {"code": "HINT", "message": "a hint", "advisory": True}),
            reason="limit",
            detail="calls: limit 3, observed 3",
        )
    )
    assert text == (
        "agent/task/strict/1\n"
        "ended: limit (calls: limit 3, observed 3)\n"
        "outcome: e   (V invalid, F failed, S succeeded, X executed without a verdict, e refused call)\n"
        "spent: calls 1\n"
        "\n"
        "call 1: propose\n"
        "  the agent's note\n"
        "    tried: 3\n"
        "  refused: a mistake of the agent\n"
        "  answer\n"
        "    ok: false\n"
        "    message: no such tool\n"
        "\n"
        "call 2: propose\n"
        "  legal, with advice\n"
        "    HINT (advice): a hint\n"
    )


def test_long_values_are_cut_and_hostile_ones_escaped():
    text = episode_text(episode(action(arguments=BLOB), action(arguments={"text": "\x1b[2Jgone\nnext"})))
    assert f"  text: {'y' * 400}… (500 characters)\n" in text
    assert "  text: \\x1b[2Jgone\n    next\n" in text


def test_json_has_long_values_in_full():
    document = episode_json(episode(action(arguments=BLOB)))
    assert document["events"][0]["arguments"] == {"text": "y" * 500}
    assert (document["key"]["task"], document["outcome"]) == ("task", "")


def test_a_made_up_reference_is_shown_and_never_followed():
    forged = {"blob": "../../secret", "size": 1, "media_type": "application/json"}
    absent = {"blob": "cd" * 32, "size": 1, "media_type": "application/json"}

    def refuse(value):
        raise RecordError("no such blob")

    played = replace(episode(action(arguments={"a": forged, "b": [absent]})), load=refuse)
    assert episode_json(played)["events"][0]["arguments"] == {"a": forged, "b": [absent]}
    assert "../../secret" in episode_text(played)


def test_references_inside_values_are_followed():
    text = episode_text(episode({"kind": "observation", "data": {"prompt": BLOB}}))
    assert f'  prompt: {{"text": "{"y" * 390}… (512 characters)' in text


def test_an_episode_is_found_by_key_by_task_or_by_a_part():
    keys = [EpisodeKey(a, t, "strict", 1) for a in ("ann", "bob") for t in ("T-1", "T-10")]
    assert find_episode("bob/T-1/strict/1", keys) == [keys[2]]
    assert find_episode("T-1", keys) == [keys[0], keys[2]]
    assert find_episode("BOB/t-10", keys) == [keys[3]]
    assert find_episode("carl", keys) == []


def test_recorded_files_are_named_after_their_event_and_undrawn_pictures_left_out():
    played = episode(
        {"kind": "observation", "images": [{"name": "view", "blob": "1"}, {"name": "b.png", "blob": None}]},
        action(),
        {"kind": "result", "ok": True, "candidate": {"sha256": "0", "data": {}, "files": {"mesh.glb": "2"}}},
        execution(True, artifacts=[{"name": "sheet.png", "blob": "3", "media_type": "image/png"}]),
    )
    found = list(recorded_artifacts(played, lambda sha256: sha256.encode()))
    assert [(a.name, a.data) for a in found] == [
        ("000-view.png", b"1"),
        ("002-mesh.glb", b"2"),
        ("003-sheet.png", b"3"),
    ]


def test_files_stay_in_the_folder_and_do_not_overwrite_each_other(tmp_path):
    names = ["../../a.txt", "A.txt", "a.txt", "..", "/etc/passwd"]
    folder = tmp_path / "out"
    written = write_artifacts([Artifact(name, name.encode()) for name in names], folder)
    assert sorted(p.name for p in folder.iterdir()) == sorted(p.name for p in written)
    assert [p.name for p in written] == ["_.._a.txt", "A.txt", "a-2.txt", "file", "_etc_passwd"]
    assert [p.read_bytes().decode() for p in written] == names
    assert [p.name for p in tmp_path.iterdir()] == ["out"]


def test_a_folder_that_cannot_be_written_is_one_sentence(tmp_path):
    (tmp_path / "taken").write_text("a file")
    with pytest.raises(StorageError, match=r"can't write .*taken"):
        write_artifacts([], tmp_path / "taken")
