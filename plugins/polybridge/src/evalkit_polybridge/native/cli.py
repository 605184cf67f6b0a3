"""`evalkit polybridge native`: is the game there, and where to click."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import click

from evalkit import UsageError

_FILE = click.Path(path_type=Path, dir_okay=False)


@click.group(name="native")
def native() -> None:
    """The real game as an executor, driven through its window.

    \b
    Examples:
      evalkit polybridge native calibrate game.json
      evalkit polybridge native doctor --calibration game.json
      evalkit run polybridge.strict --executor native --calibration game.json

    The layouts folder is the game's own, or the one that EVALKIT_POLYBRIDGE_LAYOUTS names.
    """


@native.command()
@click.option("--calibration", type=_FILE, metavar="FILE", help="The calibration to compare the window with.")
@click.option("--screenshot", type=_FILE, metavar="PNG", help="Where to draw what is clicked and looked at.")
@click.option("--force", is_flag=True, help="Replace PNG even if it is another picture than doctor's own.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def doctor(calibration: Path | None, screenshot: Path | None, force: bool, as_json: bool) -> int:
    """Look at the game's layouts folder and window, without a click; exit code 1 if something is wrong.

    Files that a run that broke off has left in the layouts folder are put back.

    \b
    Examples:
      evalkit polybridge native doctor
      evalkit polybridge native doctor --calibration game.json --screenshot game.png
    """
    from evalkit_polybridge.native.calibration import read_calibration
    from evalkit_polybridge.native.doctor import examine, may_draw

    if screenshot is not None and calibration is None:
        raise UsageError("--screenshot draws the points of a calibration; name it with --calibration")
    if screenshot is not None and not force and not may_draw(screenshot):
        raise UsageError(f"{screenshot} exists and isn't a picture by doctor; --force replaces it")
    findings = examine(None if calibration is None else read_calibration(calibration), screenshot)
    sound = all(finding.ok is not False for finding in findings)
    if as_json:
        listed = [{"name": f.name, "ok": f.ok, "detail": f.detail} for f in findings]
        click.echo(json.dumps({"ok": sound, "findings": listed}, indent=2))
    else:
        for finding in findings:
            word = {True: "ok", False: "WRONG", None: "–"}[finding.ok]
            click.echo(f"{word:<6} {finding.name:<8} {finding.detail}")
    return 0 if sound else 1


@native.command()
@click.argument("file", type=_FILE)
@click.option("--title", help="The whole title of the game's window.")
@click.option("--window-class", default="", help="Its class, if other windows have the same title.")
@click.option("--game", help="The game and its version, for readers of results.")
@click.option("--focus", metavar="X,Y", help="Where a click in the editor does nothing.")
@click.option("--reload", multiple=True, metavar="STEP", help="How the layout is opened from the editor: "
              "click:X,Y, key:NAME or wait:SECONDS (repeatable, in order).")  # fmt: skip
@click.option("--editor", metavar="X,Y,CHANNEL,ABOVE", help="What is lit in the editor and not during a run.")
@click.option(
    "--success", metavar="X,Y,CHANNEL,ABOVE", help="What is lit at the end of a run that succeeded."
)
@click.option("--failure", metavar="X,Y,CHANNEL,ABOVE", help="What is lit once a vehicle is lost. "
              "[default: red > 150 at 1145, 637 of 2560 × 1600]")  # fmt: skip
@click.option("--slot", help="The layout file that is replaced. [default: evalkit.layout.json]")
@click.option("--run-key", help="What starts and leaves a run. [default: space]")
@click.option("--editor-timeout", "editor_timeout_s", type=float, metavar="S",
              help="How long the editor may take to appear. [default: 10]")  # fmt: skip
@click.option("--window", "window_s", type=float, metavar="S",
              help="How long a run is watched. Not the protocol's 12? It marks the results.")  # fmt: skip
@click.option("--ask/--no-ask", default=None, help="Ask for what isn't given. [default: on a terminal]")
@click.option("--force", is_flag=True, help="Replace FILE if it is there.")
def calibrate(file: Path, ask: bool | None, force: bool, **options: Any) -> None:
    """Confirm once where the game's window is clicked and looked at, and write that to FILE.

    Points are pixels of the window as it is; FILE holds them as fractions of its size, and holds for this
    size only. Have the game in its editor.

    \b
    Examples:
      evalkit polybridge native calibrate game.json
      evalkit polybridge native calibrate game.json --title 'Poly Bridge' --game 'Poly Bridge 1.2' \\
        --focus 1280,20 --reload click:60,1540 --reload wait:1 --editor 2500,40,blue,150 \\
        --success 1280,500,green,180
    """
    from evalkit_polybridge.native.calibration import write_calibration
    from evalkit_polybridge.native.confirm import Given, confirm
    from evalkit_polybridge.native.screen import open_desktop

    if file.exists() and not force:
        raise UsageError(f"{file} exists; --force replaces it")
    names = ("slot", "run_key", "editor_timeout_s", "window_s")
    rest = {name: options.pop(name) for name in names}
    given = Given(**options, rest={name: value for name, value in rest.items() if value is not None})
    desktop = open_desktop()
    try:
        calibration = confirm(desktop, given, ask=sys.stdin.isatty() if ask is None else ask)
    finally:
        desktop.close()
    write_calibration(calibration, file)
    window = calibration.window
    click.echo(f"{file} holds for {window.title!r} at {window.width} × {window.height} pixels", err=True)
    click.echo(f"see `evalkit polybridge native doctor --calibration {file} --screenshot game.png`", err=True)
