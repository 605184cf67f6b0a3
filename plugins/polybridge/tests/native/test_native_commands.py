"""`evalkit polybridge native doctor` and `calibrate`, against the stand-in."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psutil
import pytest
from PIL import Image

from evalkit.cli.main import main
from evalkit_polybridge.native.calibration import read_calibration

Start = Callable[..., psutil.Process]
OPTIONS = {
    "--title": "Stand-in", "--game": "the stand-in", "--focus": "400,390", "--editor": "600,20,blue,150",
    "--success": "340,20,green,150",
}  # fmt: skip
STEPS = ["--reload", "click:50,382", "--reload", "wait:0.2"]


def words(options: dict[str, str]) -> list[str]:
    return [word for pair in options.items() for word in pair]


def doctored(capsys: Any, *more: str) -> tuple[int, dict[str, Any]]:
    code = main(["polybridge", "native", "doctor", "--json", *more])
    result = json.loads(capsys.readouterr().out)
    assert result["ok"] is (code == 0)
    return code, {finding["name"]: finding for finding in result["findings"]}


def test_options_make_the_calibration_that_a_run_uses(
    start: Start, table: Any, tmp_path: Path, capsys: Any
) -> None:
    start()
    file = tmp_path / "made.json"
    made = ["polybridge", "native", "calibrate", str(file), *words(OPTIONS), *STEPS, "--window", "1"]
    assert main([*made, "--editor-timeout", "5"]) == 0
    assert read_calibration(file) == read_calibration(table.calibration)
    picture = tmp_path / "game.png"
    code, found = doctored(capsys, "--calibration", str(file), "--screenshot", str(picture))
    assert code == 0
    assert "2 levels" in found["layouts"]["detail"]
    assert "physical pixels per logical one" in found["screen"]["detail"]
    with Image.open(picture) as image:
        assert image.size == (640, 400)
        # A circle of 12 pixels around the failure pixel, where the stand-in is dark.
        assert image.getpixel((286 - 12, 159)) == (255, 255, 0)
        assert image.getpixel((50, 382)) == (255, 255, 0)
    assert table.log() == []  # nothing was clicked
    # A picture of its own is replaced, a person's isn't.
    seen = ["--calibration", str(file), "--screenshot", str(picture)]
    assert doctored(capsys, *seen)[0] == 0
    Image.new("RGB", (1, 1)).save(picture)
    before = picture.read_bytes()
    assert main(["polybridge", "native", "doctor", *seen]) == 2
    said = capsys.readouterr().err
    assert "game.png exists and isn't a picture by doctor; --force replaces it" in said
    assert picture.read_bytes() == before
    assert doctored(capsys, *seen, "--force")[0] == 0
    assert picture.read_bytes() != before


@pytest.mark.parametrize("content", [b"", b"notes", b"\x89PNG\r\n\x1a\n broken"])
def test_a_file_that_is_no_picture_of_doctor_s_is_kept(
    table: Any, tmp_path: Path, capsys: Any, content: bytes
) -> None:
    file = tmp_path / "notes.txt"
    file.write_bytes(content)
    words = ["--calibration", str(table.calibration), "--screenshot", str(file)]
    assert main(["polybridge", "native", "doctor", *words]) == 2
    assert "--force replaces it" in capsys.readouterr().err
    assert file.read_bytes() == content


def test_a_person_points_at_what_is_missing(start: Start, table: Any, tmp_path: Path) -> None:
    from Xlib import X
    from Xlib.display import Display
    from Xlib.ext import xtest

    start()
    file = tmp_path / "made.json"
    options = {name: value for name, value in OPTIONS.items() if name not in ("--focus", "--editor")}
    command = [sys.executable, "-m", "evalkit", "polybridge", "native", "calibrate", str(file), "--ask"]
    person = subprocess.Popen(
        [*command, *words(options), *STEPS], stdin=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    display = Display()
    try:
        assert person.stdin is not None
        assert person.stderr is not None
        for prompt, place, answers in (
            ("does nothing, then press Enter here", (900, 700), ["\n"]),  # not in the window: asked again
            ("isn't in the game's window", (420, 420), ["\n"]),
            ("not during a run, then press Enter here", (620, 50), ["\n", "blue\n", "\n"]),
        ):
            heard = ""
            while prompt not in heard:
                character = person.stderr.read(1)
                assert character, heard
                heard += character
            xtest.fake_input(display, X.MotionNotify, x=place[0], y=place[1])
            display.sync()
            for answer in answers:
                person.stdin.write(answer)
            person.stdin.flush()
        _, rest = person.communicate(timeout=120)
    finally:
        display.close()
        person.kill()
        person.communicate()
    assert person.returncode == 0, rest
    made = read_calibration(file)
    assert made.focus.pixel(640, 400) == (400, 390)
    assert (made.editor.pixel(640, 400), made.editor.channel, made.editor.above) == ((600, 20), "blue", 166)
    assert made.window_s == 12.0
    assert made.failure.above == 150


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"--title": "Stand-im"}, "no window is titled 'Stand-im'"),
        ({"--focus": "1,400"}, "give a pixel of the window as X,Y, below 640,400"),
        ({"--focus": "middle"}, "give a pixel of the window as X,Y"),
        ({"--editor": "1,1,blue"}, "give X,Y,CHANNEL,ABOVE"),
        ({"--editor": "1,1,bleu,3"}, "CHANNEL is red, green or blue"),
        ({"--success": "1,1,red,255"}, "a number from 0 to 254"),
        ({"--reload": "clik:1,1"}, "a step is click:X,Y, key:NAME or wait:SECONDS"),
        ({"--reload": "wait:soon"}, "a step is click:X,Y, key:NAME or wait:SECONDS"),
        ({"--reload": "key:F13"}, "'F13' is no key"),
        ({"--window": "0.3"}, "multiple of 1/4 s"),
    ],
)  # fmt: skip
def test_wrong_options_are_one_line(
    standin: Any, table: Any, tmp_path: Path, capsys: Any, change: dict[str, str], message: str
) -> None:
    file = tmp_path / "made.json"
    options = OPTIONS | {"--reload": "key:l", "--title": "Watched"} | change
    assert main(["polybridge", "native", "calibrate", str(file), *words(options)]) in (2, 3)
    said = capsys.readouterr().err
    assert message in said
    assert said.count("\n") == 1
    assert not file.exists()


def test_a_script_is_told_what_is_missing(standin: Any, table: Any, tmp_path: Path, capsys: Any) -> None:
    assert main(["polybridge", "native", "calibrate", str(tmp_path / "made.json"), "--no-ask"]) == 2
    assert "needs --title, --game, --focus, --reload, --editor, --success" in capsys.readouterr().err


def test_the_doctor_says_what_does_not_fit(
    start: Start, table: Any, tmp_path: Path, capsys: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    calibration = ["--calibration", str(table.calibration)]
    code, found = doctored(capsys)
    assert code == 0
    assert found["windows"]["detail"].startswith("no --calibration given; open now: ")
    code, found = doctored(capsys, *calibration)
    assert code == 1
    assert "no window is titled 'Stand-in'" in found["window"]["detail"]
    start("--size", "700", "400", "--misbehave", "always-red")
    code, found = doctored(capsys, *calibration)
    assert "is 700 × 400 pixels, the calibration is for 640 × 400" in found["window"]["detail"]
    document = json.loads(table.calibration.read_text())
    document["window"]["width"] = 700
    document["failure"]["x"] = 285.5 / 700
    table.calibration.write_text(json.dumps(document))
    code, found = doctored(capsys, *calibration)
    assert [name for name, f in found.items() if f["ok"] is False] == ["editor", "failure"]
    assert main(["polybridge", "native", "doctor", *calibration]) == 1
    assert "WRONG  failure  red 230, lit above 150; has to be dark in the editor" in capsys.readouterr().out
    monkeypatch.setenv("DISPLAY", ":7777")
    code, found = doctored(capsys, *calibration)
    assert "can't use the screen that DISPLAY names" in found["screen"]["detail"]
