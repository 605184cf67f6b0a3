"""What the game has open: the layout that evalkit opened last, and what the editor looked like then.

A layout that is opened a second time changes nothing on the screen, so only this tells that nothing had to.
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

from evalkit_polybridge.native.desktop import GameError, Picture
from evalkit_polybridge.native.slot import replace_file


class Opened:
    """The memory of one layout, in a file; the lock of the game has to be held."""

    def __init__(self, path: Path, layout: bytes) -> None:
        self._path = path
        self._layout_sha256 = hashlib.sha256(layout).hexdigest()

    def shows(self, editor: Picture) -> bool:
        """Whether the editor looks as it did when this very layout had been opened; a damaged memory is none.

        GameError if the memory can't be read.
        """
        try:
            remembered = json.loads(self._path.read_bytes())
        except (FileNotFoundError, ValueError):
            return False
        except OSError as error:
            raise GameError(f"can't read {self._path}: {error.strerror}") from error
        return bool(remembered == self._as_remembered(editor))

    def forget(self) -> None:
        """Before the game is told to open something; GameError if the memory can't be deleted."""
        try:
            self._path.unlink(missing_ok=True)
        except OSError as error:
            raise GameError(f"can't delete {self._path}: {error.strerror}") from error

    def remember(self, editor: Picture) -> None:
        """This layout is open, and that is the editor; GameError if it can't be written."""
        try:
            replace_file(self._path, json.dumps(self._as_remembered(editor)).encode())
        except OSError as error:
            raise GameError(f"can't write {self._path}: {error.strerror}") from error

    def _as_remembered(self, editor: Picture) -> dict[str, str]:
        picture_sha256 = hashlib.sha256(editor.raw).hexdigest()
        return {"layout_sha256": self._layout_sha256, "picture_sha256": picture_sha256}
