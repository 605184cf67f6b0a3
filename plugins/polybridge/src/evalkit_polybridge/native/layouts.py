"""Where the game keeps its layouts, where evalkit keeps lock and journal, and what goes into a layout."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from evalkit_polybridge.graph import Bridge
from evalkit_polybridge.levelfiles import MAX_FILE_BYTES
from evalkit_polybridge.native.calibration import TEMPLATE_SUFFIX
from evalkit_polybridge.native.desktop import GameError
from evalkit_polybridge.savefile import SaveFileError, read_layout, write_layout

#: Names the layouts folder where it isn't the game's usual one.
FOLDER_VARIABLE = "EVALKIT_POLYBRIDGE_LAYOUTS"


def layouts_folder() -> Path:
    """The folder of the game's layouts; GameError, with what to do, if there is none."""
    named = os.environ.get(FOLDER_VARIABLE)
    if named:
        folder = Path(named)
    elif sys.platform == "win32":
        folder = Path.home() / "AppData" / "LocalLow" / "Dry Cactus" / "Poly Bridge"
    else:
        raise GameError(f"where are the game's layouts? Set {FOLDER_VARIABLE} to their folder")
    if not folder.is_dir():
        raise GameError(f"there is no layouts folder {folder}: start the game once, or set {FOLDER_VARIABLE}")
    return folder


def state_folder() -> Path:
    """The user's folder for the lock and the journal (not created)."""
    import platformdirs

    return platformdirs.user_state_path("evalkit", appauthor=False) / "polybridge-native"


def layout_with(folder: Path, level_name: str, bridge: Bridge) -> bytes:
    """The level's own layout, `<level>.layout.json` in the folder, with `bridge` in its first save.

    GameError if there is none or it can't be read.
    """
    path = folder / (level_name + TEMPLATE_SUFFIX)
    try:
        with open(path, "rb") as file:
            data = file.read(MAX_FILE_BYTES + 1)
    except FileNotFoundError:
        raise GameError(
            f"the layouts folder has no {path.name}: make the level in the game and save it under that name"
        ) from None
    except OSError as error:
        raise GameError(f"can't read the layout {path}: {error.strerror}") from error
    if len(data) > MAX_FILE_BYTES:
        raise GameError(f"the layout {path} has more than {MAX_FILE_BYTES} bytes: refused")
    try:
        return write_layout(read_layout(data.decode("utf-8")), bridge).encode()
    except (UnicodeDecodeError, SaveFileError) as error:
        raise GameError(f"the layout {path}: {error}") from error
