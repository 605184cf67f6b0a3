"""`evalkit polybridge native doctor` and `calibrate`, against the stand-in."""

from __future__ import annotations

import errno
import itertools
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psutil
import pytest
from PIL import Image, ImageDraw

from evalkit.cli.main import main
from evalkit_polybridge.native.calibration import Calibration, read_calibration
from evalkit_polybridge.native.desktop import Picture
from evalkit_polybridge.native.doctor import annotated

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
    table.slot.write_text("no level, though it has the suffix of one")
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


def test_a_machine_that_is_not_ready_is_told_in_one_sentence(
    start: Start, table: Any, tmp_path: Path, capsys: Any
) -> None:
    start("--size", "700", "400")
    design = Path(__file__).parents[4] / "examples" / "warren_08m.json"
    native = ["-T", "executors=polybridge.native", "-T", f"calibration=@{table.calibration}"]
    assert main(["try", "polybridge.smoke", str(design), "--id", "T1B_Basic_08m", *native]) == 3
    sentence = (
        "the game's window is 700 × 400 pixels, the calibration is for 640 × 400: resize the window, or "
        "calibrate it with `evalkit polybridge native calibrate`"
    )
    assert capsys.readouterr().err == f"evalkit: error: {sentence}\n"
    game = ["--executor", "native", "--calibration", str(table.calibration), "-o", str(tmp_path / "runs")]
    assert main(["run", "polybridge.smoke", "-n", "1", *game]) == 3
    (log,) = (tmp_path / "runs").glob("*/episodes/*")
    end = json.loads(log.read_text().splitlines()[-1])
    assert (end["reason"], end["detail"]) == ("executor_error", sentence)


def test_a_picture_that_can_t_be_written_leaves_the_former_one(
    start: Start, table: Any, tmp_path: Path, capsys: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    start()
    picture = tmp_path / "game.png"
    seen = ["--calibration", str(table.calibration), "--screenshot", str(picture)]
    assert main(["polybridge", "native", "doctor", *seen]) == 0
    before = picture.read_bytes()

    def full(_: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", full)
    capsys.readouterr()
    assert main(["polybridge", "native", "doctor", *seen]) == 1
    assert f"can't write {picture}: No space left on device" in capsys.readouterr().out
    assert picture.read_bytes() == before
    assert not list(tmp_path.glob(".game*"))


@pytest.mark.parametrize(
    "marks",
    [
        {"success": (340.5, 20.5), "editor": (390.5, 22.5)},
        {"success": (620.5, 390.5), "editor": (621.5, 391.5), "failure": (622.5, 392.5)},
        {"success": (5.5, 5.5), "editor": (5.5, 6.5), "focus": (6.5, 7.5)},
    ],
)
def test_labels_and_marks_of_a_picture_are_kept_apart(
    calibrated: Callable[..., Calibration], marks: dict[str, tuple[float, float]],
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    boxes: list[tuple[float, ...]] = []
    rectangle = ImageDraw.ImageDraw.rectangle

    def noted(self: ImageDraw.ImageDraw, box: tuple[float, ...], *colours: Any) -> None:
        boxes.append(box)
        rectangle(self, box, *colours)

    monkeypatch.setattr(ImageDraw.ImageDraw, "rectangle", noted)
    moved = calibrated(**{
        name: getattr(calibrated(), name).model_dump() | {"x": x / 640, "y": y / 400}
        for name, (x, y) in marks.items()
    })  # fmt: skip
    annotated(Picture(640, 400, bytes(640 * 400 * 4)), moved)
    assert len(boxes) == 5
    boxes += [(x - 12, y - 12, x + 12, y + 12) for x, y in marks.values()]
    for label, other in itertools.combinations(boxes, 2):
        if boxes.index(label) < 5:
            assert label[2] < other[0] or other[2] < label[0] or label[3] < other[1] or other[3] < label[1]
    assert all(box[0] >= 0 and box[1] >= 0 and box[2] <= 640 and box[3] <= 400 for box in boxes[:5])


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
    assert main(["polybridge", "native", "calibrate", str(file), *words(options)]) in (2, 4)
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
