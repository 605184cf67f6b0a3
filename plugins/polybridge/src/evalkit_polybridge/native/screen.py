"""Which desktop this machine has, and whether what drives it is installed."""

from __future__ import annotations

import importlib
import os
import sys

from evalkit import UsageError
from evalkit_polybridge.native.desktop import Desktop

INSTALL = "pip install 'evalkit-polybridge[native]'"


def open_desktop() -> Desktop:
    """The desktop of this machine; UsageError if there is none or the extra `native` isn't installed."""
    require_libraries()
    if sys.platform == "win32":
        from evalkit_polybridge.native.windows import WindowsDesktop

        return WindowsDesktop()
    else:  # noqa: RET505 - so that types hold on either system
        from evalkit_polybridge.native.x11 import X11Desktop

        return X11Desktop()


def require_libraries() -> None:
    """UsageError, with the remedy, if this machine can't drive a game; nothing is opened."""
    if sys.platform == "win32":
        needed = ("mss", "pynput", "win32gui")
    elif sys.platform == "linux":
        needed = ("mss", "Xlib")
        if not os.environ.get("DISPLAY"):
            raise UsageError("the native executor needs a screen: DISPLAY isn't set")
    else:
        raise UsageError("the native executor drives the game on Windows (and X11), not on this system")
    for name in needed:
        try:
            importlib.import_module(name)
        except ImportError as error:
            raise UsageError(f"the native executor needs {name} ({error}): {INSTALL}") from error
