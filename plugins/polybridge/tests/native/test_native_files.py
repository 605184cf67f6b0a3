"""What the native executor does to files, and what it says where there is no screen: no game needed."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import pytest

from evalkit import UsageError
from evalkit.cli.main import main
from evalkit_polybridge.native import screen as screen_module
from evalkit_polybridge.native.calibration import (
    paper_marker,
    read_calibration,
    spot_of,
    write_calibration,
)
from evalkit_polybridge.native.desktop import Arrangement, GameError, Picture
from evalkit_polybridge.native.executor import whole_game
from evalkit_polybridge.native.layouts import FOLDER_VARIABLE, layouts_folder
from evalkit_polybridge.native.lock import game_lock
from evalkit_polybridge.native.opened import Opened
from evalkit_polybridge.native.slot import recover
from evalkit_polybridge.native.slot import replaced as replaced_from

DESK = Arrangement((3, 4), 5)


def replaced(slot: Path, data: bytes, journal: Path) -> AbstractContextManager[None]:
    return replaced_from(slot, data, journal, DESK)


@pytest.fixture
def slot(tmp_path: Path) -> Path:
    (tmp_path / "layouts").mkdir()
    return tmp_path / "layouts" / "slot.json"


@pytest.fixture
def journal(tmp_path: Path) -> Path:
    (tmp_path / "state").mkdir()
    return tmp_path / "state" / "journal.json"


def leave_behind(slot: Path, journal: Path, data: bytes) -> None:
    """What a killed process leaves: the journal, and the file as it was then."""
    kept = b""
    with replaced(slot, data, journal):
        kept, seen = journal.read_bytes(), slot.read_bytes()
    journal.write_bytes(kept)
    slot.write_bytes(seen)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("T1B_Basic_08m.layout.json", "is the own layout of a level"),
        ("t1b_basic_08M.LAYOUT.json", "is the own layout of a level"),
        ("H_T1B_Basic_01.layout.json", "is the own layout of a level"),
        ("CON", "is no name that a file can have under Windows"),
        ("nul.layout.json", "is no name that a file can have under Windows"),
        ("Com1 .json", "is no name that a file can have under Windows"),
        ("slot.json.", "is no name that a file can have under Windows"),
        ("slot\n.json", "is no name that a file can have under Windows"),
        ("a/slot.json", "has to be a file name without folders"),
    ],
)
def test_a_slot_that_can_t_be_replaced(table: Any, capsys: Any, name: str, message: str) -> None:
    document = json.loads(table.calibration.read_text())
    table.calibration.write_text(json.dumps(document | {"slot": name}))
    assert main(["polybridge", "native", "doctor", "--calibration", str(table.calibration)]) == 2
    said = capsys.readouterr().err
    assert "slot: " in said
    assert message in said
    assert said.count("\n") == 1


def test_a_file_is_replaced_and_put_back(slot: Path, journal: Path) -> None:
    slot.write_bytes(b"mine")
    slot.chmod(0o640)
    before = slot.stat()
    with replaced(slot, b"design", journal):
        assert slot.read_bytes() == b"design"
        assert journal.is_file()
    after = slot.stat()
    assert slot.read_bytes() == b"mine"
    assert (after.st_mode, after.st_mtime_ns) == (before.st_mode, before.st_mtime_ns)
    assert [p.name for p in slot.parent.iterdir()] == ["slot.json"]
    assert not journal.exists()


def test_a_file_that_was_not_there_is_gone_again_also_after_an_interrupt(slot: Path, journal: Path) -> None:
    with pytest.raises(KeyboardInterrupt), replaced(slot, b"design", journal):
        raise KeyboardInterrupt
    assert not slot.exists()
    assert not journal.exists()


def test_a_link_stays_a_link(slot: Path, journal: Path, tmp_path: Path) -> None:
    real = tmp_path / "elsewhere.json"
    real.write_bytes(b"mine")
    slot.symlink_to(real)
    with replaced(slot, b"design", journal):
        assert slot.read_bytes() == b"design"
    assert slot.is_symlink()
    assert real.read_bytes() == b"mine"


@pytest.mark.parametrize("original", [b"mine", None])
def test_a_later_start_puts_back_what_was_left(slot: Path, journal: Path, original: bytes | None) -> None:
    if original is not None:
        slot.write_bytes(original)
    leave_behind(slot, journal, b"design")
    recovered = recover(journal)
    assert recovered is not None
    assert "again what it was" in recovered.said
    assert recovered.arrangement == DESK
    assert (slot.read_bytes() if slot.exists() else None) == original
    assert recover(journal) is None


def test_whoever_comes_next_says_what_was_put_back(
    table: Any, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with whole_game() as turn:
        journal = turn.journal
        leave_behind(table.slot, journal, b"design")
    with whole_game():
        assert not table.slot.exists()
    (said,) = caplog.messages
    assert said.endswith("is again what it was before a run that broke off")


def test_work_saved_there_since_is_kept_beside_it(slot: Path, journal: Path) -> None:
    slot.write_bytes(b"mine")
    leave_behind(slot, journal, b"design")
    slot.write_bytes(b"a day's work")
    recovered = recover(journal)
    assert recovered is not None
    (kept,) = slot.parent.glob("slot.found-*.json")
    assert kept.read_bytes() == b"a day's work"
    assert kept.name in recovered.said
    assert slot.read_bytes() == b"mine"


def test_nothing_happens_to_the_file_before_the_journal_is_safe(slot: Path, tmp_path: Path) -> None:
    slot.write_bytes(b"mine")
    journal = tmp_path / "missing" / "journal.json"
    with pytest.raises(GameError, match="which keeps slot"), replaced(slot, b"design", journal):
        pytest.fail("the file was replaced")
    assert slot.read_bytes() == b"mine"


def test_a_slot_that_is_a_folder(slot: Path, journal: Path) -> None:
    slot.mkdir()
    with pytest.raises(GameError, match=r"slot\.json can't be read"), replaced(slot, b"design", journal):
        pytest.fail("a folder was replaced")
    assert not journal.exists()


@pytest.mark.parametrize("content", ["", "{}", "[1]", '{"version": 1}', "\xff"])
def test_a_journal_that_is_none_is_named(journal: Path, content: str) -> None:
    journal.write_text(content, encoding="latin-1")
    with pytest.raises(GameError, match=r"journal\.json is damaged or of another version"):
        recover(journal)


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"original": "bWlu?Q=="}, "base64"),
        ({"original": "bWluZQ"}, "padding"),
        ({"original": "bWlu"}, "isn't the one that was kept"),  # cut off, and still Base64
        ({"original": "möglich"}, "ASCII"),
        ({"original": None}, "isn't the one that was kept"),
        ({"slot": "slot.json"}, "slot: it has to be an absolute path"),
        ({"mode": "0640"}, "mode: Input should be a valid integer"),
        ({"mtime_ns": None}, "mtime_ns: Input should be a valid integer"),
    ],
)
def test_a_damaged_journal_puts_nothing_back(
    slot: Path, journal: Path, change: dict[str, Any], why: str
) -> None:
    slot.write_bytes(b"mine")
    leave_behind(slot, journal, b"design")
    damaged = json.dumps(json.loads(journal.read_text()) | change)
    journal.write_text(damaged)
    slot.write_bytes(b"a day's work")
    with pytest.raises(GameError) as raised:
        recover(journal)
    assert "so nothing is put back" in str(raised.value)
    assert why in str(raised.value)
    assert "\n" not in str(raised.value)
    assert slot.read_bytes() == b"a day's work"
    assert [p.name for p in slot.parent.iterdir()] == ["slot.json"]
    assert journal.read_text() == damaged


def test_the_commands_say_that_a_journal_is_damaged(table: Any, tmp_path: Path, capsys: Any) -> None:
    with whole_game() as turn:
        turn.journal.write_text("garbage")
    assert main(["polybridge", "native", "doctor", "--json"]) == 1
    (files, *_) = json.loads(capsys.readouterr().out)["findings"]
    assert (files["name"], files["ok"]) == ("files", False)
    assert "so nothing is put back: look at the game's layouts yourself" in files["detail"]


def locked(monkeypatch: pytest.MonkeyPatch, path: Path, calls: tuple[str, ...], times: int) -> None:
    """The system refuses these calls of `os` for a file, as Windows does while a game has it open."""
    left = dict.fromkeys(calls, times)

    def refusing(name: str, done: Any) -> Any:
        def call(*arguments: Any, **options: Any) -> Any:
            if str(path) in map(str, arguments) and left[name]:
                left[name] -= 1
                raise PermissionError(13, "the file is in use")
            return done(*arguments, **options)

        return call

    for name in calls:
        monkeypatch.setattr(os, name, refusing(name, getattr(os, name)))


@pytest.mark.parametrize("there", [True, False], ids=["a file", "no file"])
def test_a_file_that_is_locked_for_a_while_is_put_back(
    slot: Path, journal: Path, there: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if there:
        slot.write_bytes(b"mine")
        os.utime(slot, ns=(10**18, 10**18))
    with replaced(slot, b"design", journal):
        locked(monkeypatch, slot, ("unlink", "replace", "chmod", "utime"), 3)
    if there:
        assert (slot.read_bytes(), slot.stat().st_mtime_ns) == (b"mine", 10**18)
    else:
        assert not slot.exists()
    assert not journal.exists()


@pytest.mark.parametrize("there", [True, False], ids=["a file", "no file"])
def test_a_file_that_stays_locked_is_named_and_left_to_the_journal(
    slot: Path, journal: Path, there: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("evalkit_polybridge.native.slot._PATIENCE_S", 0.2)
    if there:
        slot.write_bytes(b"mine")
    with (
        monkeypatch.context() as context,
        pytest.raises(GameError, match=r"slot\.json can't be .*: the file is in use; close what has it open"),
        replaced(slot, b"design", journal),
    ):
        locked(context, slot, ("unlink", "replace"), 1000)
    assert slot.read_bytes() == b"design"
    assert recover(journal) is not None
    assert (slot.read_bytes() if slot.exists() else None) == (b"mine" if there else None)


def test_a_date_that_can_t_be_put_back_is_said_and_no_more(
    slot: Path, journal: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr("evalkit_polybridge.native.slot._PATIENCE_S", 0.2)
    slot.write_bytes(b"mine")
    with replaced(slot, b"design", journal):
        locked(monkeypatch, slot, ("utime",), 1000)
    assert slot.read_bytes() == b"mine"
    assert not journal.exists()
    (said,) = caplog.messages
    assert "date and permissions" in said


def test_a_memory_of_what_is_open_that_is_damaged_is_none(tmp_path: Path) -> None:
    path, picture = tmp_path / "opened.json", Picture(1, 1, b"1234")
    opened = Opened(path, b"layout")
    assert not opened.shows(picture)
    opened.remember(picture)
    assert opened.shows(picture)
    assert not Opened(path, b"another layout").shows(picture)
    assert not opened.shows(Picture(1, 1, b"1235"))
    path.write_bytes(b"\xff")
    assert not opened.shows(picture)
    opened.forget()
    opened.forget()
    assert not path.exists()


def test_the_lock_ends_with_its_process(tmp_path: Path) -> None:
    lock = tmp_path / "state" / "game.lock"
    code = (
        "import pathlib, sys, time\n"
        "from evalkit_polybridge.native.lock import game_lock\n"
        "with game_lock(pathlib.Path(sys.argv[1])):\n"
        "    print('held', flush=True)\n"
        "    time.sleep(60)\n"
    )
    holder = subprocess.Popen([sys.executable, "-c", code, str(lock)], stdout=subprocess.PIPE, text=True)
    try:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "held\n"
        with pytest.raises(GameError, match="another evalkit has driven the game"), game_lock(lock, 0.2):
            pytest.fail("two hold the lock")
        holder.kill()
        holder.wait()
        with game_lock(lock, 5.0):
            pass
    finally:
        holder.kill()
        holder.communicate()


def test_a_calibration_comes_back_from_its_file(tmp_path: Path, calibrated: Any) -> None:
    path = tmp_path / "game.json"
    calibration = calibrated(window_s=12.0)
    write_calibration(calibration, path)
    assert read_calibration(path) == calibration
    assert [p.name for p in tmp_path.iterdir()] == ["game.json"]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"version": 2}, "version: Input should be 1"),
        ({"slot": "../slot.json"}, "slot has to be a file name without folders"),
        ({"slot": "C:slot.json"}, "slot has to be a file name without folders"),
        ({"run_key": "spcae"}, "'spcae' is no key"),
        ({"reload": []}, "reload: List should have at least 1 item"),
        ({"reload": [{"key": "a", "wait_s": 1.0}]}, "exactly one of click, key and wait_s"),
        ({"focus": {"x": 1.0, "y": 0.0}}, "focus.x: Input should be less than 1"),
        ({"window_s": 0.3}, "multiple of 1/4 s"),
        ({"windows_s": 12.0}, "windows_s: Extra inputs are not permitted"),
    ],
)
def test_a_wrong_calibration_is_one_line(
    tmp_path: Path, calibrated: Any, change: dict[str, Any], message: str
) -> None:
    path = tmp_path / "game.json"
    path.write_text(json.dumps(calibrated().model_dump(mode="json") | change))
    with pytest.raises(UsageError) as raised:
        read_calibration(path)
    assert message in str(raised.value)
    assert "\n" not in str(raised.value)


def test_fractions_lead_back_to_their_pixel() -> None:
    for size in (640, 1366, 2560):
        for pixel in (0, 1, size // 3, size - 1):
            assert spot_of((pixel, pixel), size, size).pixel(size, size) == (pixel, pixel)
    assert paper_marker().pixel(2560, 1600) == (1145, 637)


def test_channels_of_a_picture() -> None:
    raw = bytes([*range(4), 10, 20, 30, 0])
    picture = Picture(2, 1, raw)
    assert [picture.value((1, 0), channel) for channel in ("red", "green", "blue")] == [30, 20, 10]
    assert picture.image().getpixel((1, 0)) == (30, 20, 10)


def test_the_layouts_folder_has_to_be_there(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv(FOLDER_VARIABLE, str(tmp_path / "nowhere"))
    with pytest.raises(GameError, match=f"start the game once, or set {FOLDER_VARIABLE}"):
        layouts_folder()


@pytest.mark.skipif(sys.platform != "linux", reason="what Linux needs")
def test_without_the_extra_the_remedy_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DISPLAY", ":1")
    monkeypatch.setitem(sys.modules, "mss", None)
    with pytest.raises(UsageError, match=r"pip install 'evalkit-polybridge\[native\]'"):
        screen_module.open_desktop()
    monkeypatch.delenv("DISPLAY")
    with pytest.raises(UsageError, match="DISPLAY isn't set"):
        screen_module.open_desktop()


def test_nothing_of_a_screen_is_imported_before_it_is_used() -> None:
    code = (
        "import sys\n"
        "import evalkit_polybridge.cli, evalkit_polybridge.settings, evalkit_polybridge.native.executor\n"
        "print([m for m in ('mss', 'Xlib', 'pynput', 'win32gui') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=dict(os.environ))
    assert done.stdout == "[]\n", done.stderr


def test_the_command_says_what_is_missing(table: Any, tmp_path: Path, capsys: Any) -> None:
    runs = ["-o", str(tmp_path / "runs")]
    assert main(["run", "polybridge.smoke", "--executor", "native", *runs]) == 2
    assert "polybridge.native needs --calibration FILE" in capsys.readouterr().err
    assert main(["run", "polybridge.smoke", "--calibration", str(table.calibration), *runs]) == 2
    assert "name it with --executor" in capsys.readouterr().err
    assert main(["run", "polybridge.smoke", "--executor", "nativ", *runs]) == 2
    assert "did you mean polybridge.native" in capsys.readouterr().err
    wrong = tmp_path / "wrong.json"
    wrong.write_text('{"version": 1}')
    assert main(["run", "polybridge.smoke", "--executor", "native", "--calibration", str(wrong), *runs]) == 2
    assert capsys.readouterr().err.count("\n") == 1
    assert main(["polybridge", "native", "calibrate", str(table.calibration)]) == 2
    assert "--force replaces it" in capsys.readouterr().err
