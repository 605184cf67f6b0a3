"""A stand-in for the game, in its own process: a window that loads a layout, reacts to input, judges.

    python standin.py < LINES

Each line of its input is a JSON list, SLOT and options, and starts a stand-in: a fork of this process, so
that only the first one waits for imports and the physics' kernel.

It knows a level by the display name in the layout's save, runs the embedded executor's physics on the
design and paints what happens, `--speed` times as fast. In the editor a blue field is lit and the design is
shown; a click on the grey one reads the layout file, and the field looks pressed until the next click; Space
starts a run and leaves it. A run ends with a green field when every
vehicle has crossed, a red one when one is lost, and with neither when the time is over. It takes the focus
when it is clicked.
`--misbehave` makes it a bad partner. It prints `ready PID` once its window can be seen and driven.
"""

from __future__ import annotations

import argparse
import io
import json
import os
import select
import signal
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from PIL import Image, ImageDraw
from Xlib import XK, X
from Xlib.display import Display

from evalkit_polybridge.editor import editor_image
from evalkit_polybridge.frames import frame_image
from evalkit_polybridge.graph import Bridge, Level
from evalkit_polybridge.levels.catalogue import load
from evalkit_polybridge.physics import Run, simulate, warm
from evalkit_polybridge.savefile import read_layout

TITLE, CLASS = "Stand-in", "StandIn"
WIDTH, HEIGHT = 640, 400
#: Fields in pixels (left, top, right, bottom); the failure field holds the protocol's marker pixel.
LOAD, EDITOR, SUCCESS, FAILURE = (
    (10, 370, 90, 394),
    (560, 4, 636, 36),
    (300, 4, 380, 36),
    (270, 145, 300, 175),
)
DARK, BLUE, GREEN, RED = (20, 20, 20), (30, 60, 250), (40, 220, 60), (230, 30, 30)
GREY, LIGHT = (90, 90, 90), (140, 140, 140)
MISBEHAVIOUR = (
    "",
    "crash",
    "close",
    "never-start",
    "slow-start",  # starts a run long after the key
    "stuck",
    "no-focus",
    "lose-focus",
    "resave",
    "always-red",
    "in-front",
    "drop-all",  # every click on the grey field
    "drop-later",  # every one but the first
    "late",  # opens a layout long after the click
    "restless",  # an editor that moves by itself
    "restless-menu",  # it opens a layout by way of a menu
)
#: How long a late layout, the menu, and a slow start take.
OPENING_S = 1.0
#: When, in real seconds after the start of a run, it crashes, closes its window or gives the focus away.
TROUBLE_S = 0.2


@dataclass
class Playing:
    """A run being shown."""

    started: float
    run: Run


class StandIn:
    """The window and what it shows."""

    def __init__(self, slot: Path, speed: float, misbehave: str, title: str, size: tuple[int, int]) -> None:
        self.slot, self.speed, self.misbehave, self.size = slot, speed, misbehave, size
        self.levels = {entry.level.name: entry.level for entry in load("strict")}
        self.loaded: tuple[Level, Bridge] | None = None
        self.playing: Playing | None = None
        self.editor: Image.Image | None = None
        self.pressed = False
        self.clicks = 0
        self.opens_at: float | None = None
        self.starts_at: float | None = None
        self.display = Display()
        screen = self.display.screen()
        self.window = screen.root.create_window(
            20, 30, *size, 0, screen.root_depth, background_pixel=0,
            event_mask=X.ExposureMask | X.KeyPressMask | X.ButtonPressMask | X.StructureNotifyMask,
        )  # fmt: skip
        self.window.set_wm_name(title)
        self.window.set_wm_class("standin", CLASS)
        self.gc = self.window.create_gc()
        self.shown: tuple[Any, ...] = ()
        self.other = screen.root.create_window(700, 500, 40, 40, 0, screen.root_depth)
        self.window.map()
        self.other.map()
        self.display.sync()

    def serve(self) -> None:
        """Handle events and repaint, until the window is closed or the process ends."""
        ready = False
        while True:
            select.select([self.display.fileno()], [], [], 0.03)
            while self.display.pending_events():
                event = self.display.next_event()
                if event.type == X.Expose and not ready:
                    ready = True
                    self.paint()
                    self.display.sync()
                    print(f"ready {os.getpid()}", flush=True)
                self.handle(event)
            self.trouble()
            self.paint()

    def handle(self, event: Any) -> None:
        """React to a key or a click; what was covered is painted again."""
        if event.type == X.Expose:
            self.shown = ()
        if event.type == X.ButtonPress:
            if self.misbehave != "no-focus":
                self.window.set_input_focus(X.RevertToParent, X.CurrentTime)
            self.pressed = inside((event.event_x, event.event_y), LOAD)
            if self.pressed and self.playing is None:
                self.open_slot()
        elif event.type == X.KeyPress and self.display.keycode_to_keysym(event.detail, 0) == XK.XK_space:
            if self.playing is not None:
                self.log("leave")
                self.playing = None if self.misbehave != "stuck" else self.playing
            elif self.misbehave == "never-start":
                self.log("ignored")
            elif self.misbehave == "slow-start":
                self.starts_at = time.monotonic() + OPENING_S
            else:
                self.begin()

    def begin(self) -> None:
        """Start a run of what is open, if anything is."""
        if self.loaded is not None:
            self.log("run")
            run = simulate(*self.loaded, frames=True)
            self.playing = Playing(time.monotonic(), run)

    def log(self, what: str) -> None:
        """Note beside the layouts what was done."""
        with self.slot.with_name("standin.log").open("a", encoding="utf-8") as log:
            log.write(what + "\n")

    def open_slot(self) -> None:
        """Read the layout, at once or later, or miss the click."""
        self.clicks += 1
        if self.misbehave == "drop-all" or (self.misbehave == "drop-later" and self.clicks > 1):
            self.log("miss")
        elif self.misbehave == "late" or self.misbehave == "restless-menu":
            self.opens_at = time.monotonic() + OPENING_S
        else:
            self.read_slot()

    def read_slot(self) -> None:
        """Load the layout as it is now."""
        layout = read_layout(self.slot.read_text(encoding="utf-8"))
        self.loaded = (self.levels[layout.display_name], layout.bridge)
        editor = Image.open(io.BytesIO(editor_image(*self.loaded)))
        self.editor = editor.convert("RGB").resize((480, 320))
        self.log(f"load {layout.display_name}")
        if self.misbehave == "resave":
            self.slot.write_text("the game was here", encoding="utf-8")

    def trouble(self) -> None:
        """Misbehave: stay in front of everything, be late, or do something in the middle of a run."""
        if self.opens_at is not None and time.monotonic() > self.opens_at:
            self.opens_at = None
            self.read_slot()
        if self.starts_at is not None and time.monotonic() > self.starts_at:
            self.starts_at = None
            self.begin()
        if self.misbehave == "in-front":
            self.window.configure(stack_mode=X.Above)
        if self.playing is None or time.monotonic() - self.playing.started < TROUBLE_S:
            return
        if self.misbehave == "crash":
            os.abort()
        elif self.misbehave == "close":
            self.window.destroy()
            self.display.sync()
            time.sleep(120.0)
        elif self.misbehave == "lose-focus":
            self.misbehave = ""  # once
            self.other.set_input_focus(X.RevertToParent, X.CurrentTime)
            self.display.sync()

    def paint(self) -> None:
        """Show the editor, or the run as it is at this moment."""
        frame, verdict = None, None
        if self.playing is not None:
            run, frames = self.playing.run, self.playing.run.frames or ()
            t_s = (time.monotonic() - self.playing.started) * self.speed
            frame = frames[min(int(t_s * 4), len(frames) - 1)]
            if run.lost_s is not None and t_s >= run.lost_s:
                verdict = RED
            elif run.success and t_s >= max(t for t in run.finish_s if t is not None):
                verdict = GREEN
        menu = self.opens_at is not None and self.misbehave == "restless-menu"
        cloud = int(time.monotonic() * 10) % 100 if self.misbehave.startswith("restless") else 0
        wanted = (id(frame), verdict, id(self.loaded), self.pressed, menu, cloud)
        if self.shown == wanted:
            return
        self.shown = wanted
        image = Image.new("RGB", (WIDTH, HEIGHT), DARK)
        draw = ImageDraw.Draw(image)
        draw.rectangle(LOAD, LIGHT if self.pressed else GREY)
        if frame is not None and self.loaded is not None:
            image.paste(frame_image(*self.loaded, frame), (0, 40))
        elif self.editor is not None:
            image.paste(self.editor, (0, 40))
        draw.rectangle((150 + cloud, 8, 160 + cloud, 18), GREY)
        for field, colour, lit in (
            (EDITOR, BLUE, frame is None and not menu), (SUCCESS, GREEN, verdict == GREEN),
            (FAILURE, RED, verdict == RED or self.misbehave == "always-red"),
        ):  # fmt: skip
            draw.rectangle(field, colour if lit else DARK)
        self.window.put_pil_image(self.gc, 0, 0, image)
        self.display.flush()


def inside(point: tuple[int, int], field: tuple[int, int, int, int]) -> bool:
    """Whether a point is in a field."""
    return field[0] <= point[0] <= field[2] and field[1] <= point[1] <= field[3]


def play(words: list[str]) -> None:
    """Be a stand-in with these options."""
    parser = argparse.ArgumentParser()
    parser.add_argument("slot", type=Path)
    parser.add_argument("--speed", type=float, default=24.0)
    parser.add_argument("--misbehave", choices=MISBEHAVIOUR, default="")
    parser.add_argument("--title", default=TITLE)
    parser.add_argument("--size", type=int, nargs=2, default=(WIDTH, HEIGHT))
    options = parser.parse_args(words)
    size: tuple[int, int] = tuple(options.size)
    StandIn(options.slot, options.speed, options.misbehave, options.title, size).serve()


def main() -> None:
    """Start a stand-in for each line of the input."""
    warm()
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for them: no zombies
    for line in sys.stdin:
        if os.fork() == 0:
            play(json.loads(line))  # a fork that fails ends with its error, and reads no further line


if __name__ == "__main__":
    main()
