"""A desktop under Windows, where the game runs."""

from __future__ import annotations

import ctypes
import time

import mss
import win32con
import win32gui
from mss.exception import ScreenShotError
from pynput import keyboard, mouse

from evalkit_polybridge.native.desktop import HOLD_S, Area, Arrangement, GameError, Picture, WindowInfo

_LOGICAL_DPI = 96.0
# DPI_AWARENESS_CONTEXT_PER_MONITOR_AWARE_V2, and what GetAwarenessFromDpiAwarenessContext says of it.
_PER_MONITOR_V2, _PER_MONITOR = -4, 2


class WindowsDesktop:
    """See `evalkit_polybridge.native.desktop.Desktop`."""

    def __init__(self) -> None:
        """Make this process see physical pixels; GameError if Windows refuses."""
        self._user32 = ctypes.WinDLL("user32")  # type: ignore[attr-defined, unused-ignore]
        _see_physical_pixels(self._user32)
        self._grabber = mss.MSS()
        self._mouse, self._keyboard = mouse.Controller(), keyboard.Controller()

    def windows(self) -> list[WindowInfo]:
        """All visible top-level windows with a title."""
        found: list[WindowInfo] = []

        def note(handle: int, _: object) -> bool:
            title = win32gui.GetWindowText(handle)
            if title and win32gui.IsWindowVisible(handle):
                found.append(WindowInfo(handle, title, win32gui.GetClassName(handle)))
            return True

        win32gui.EnumWindows(note, None)
        return found

    def area(self, handle: int) -> Area | None:
        """The client area."""
        try:
            if not win32gui.IsWindow(handle) or win32gui.IsIconic(handle):
                return None
            _, _, width, height = win32gui.GetClientRect(handle)
            left, top = win32gui.ClientToScreen(handle, (0, 0))
        except win32gui.error:
            return None
        return Area(left, top, width, height)

    def scale(self) -> float:
        """Of the primary screen."""
        return round(float(self._user32.GetDpiForSystem()) / _LOGICAL_DPI, 2)

    def bring_up(self, handle: int) -> None:
        """Restore the window and ask for the foreground; the click that follows decides."""
        if win32gui.IsIconic(handle):
            win32gui.ShowWindow(handle, win32con.SW_RESTORE)
        self._user32.SetForegroundWindow(handle)

    def focused(self, handle: int) -> bool:
        """Whether it is the foreground window."""
        return bool(win32gui.GetForegroundWindow() == handle)

    def shows(self, handle: int, x: int, y: int) -> bool:
        """Whether the topmost window at the point belongs to this one."""
        found = win32gui.WindowFromPoint((x, y))
        return bool(found) and bool(win32gui.GetAncestor(found, win32con.GA_ROOT) == handle)

    def click(self, x: int, y: int) -> None:
        """Move there, press, release."""
        self._mouse.position = (x, y)
        self._mouse.release(mouse.Button.left)  # a process that was killed may have left it down
        self._mouse.press(mouse.Button.left)
        try:
            time.sleep(HOLD_S)
        finally:
            self._mouse.release(mouse.Button.left)

    def press(self, key: str) -> None:
        """Press and release the key."""
        pressed = _key(key)
        self._keyboard.release(pressed)  # a process that was killed may have left it down
        self._keyboard.press(pressed)
        try:
            time.sleep(HOLD_S)
        finally:
            self._keyboard.release(pressed)

    def let_go(self, key: str) -> None:
        """Release both."""
        self._mouse.release(mouse.Button.left)
        self._keyboard.release(_key(key))

    def grab(self, area: Area) -> Picture:
        """The part of the screen; GameError if it can't be read."""
        box = {"left": area.left, "top": area.top, "width": area.width, "height": area.height}
        try:
            shot = self._grabber.grab(box)
        except ScreenShotError as error:
            raise GameError(f"can't read the screen ({error}): unlock it and leave it on") from error
        return Picture(shot.width, shot.height, shot.raw)

    def arrangement(self) -> Arrangement:
        """Where the pointer is and which window is in the foreground."""
        x, y = self._mouse.position
        return Arrangement((int(x), int(y)), win32gui.GetForegroundWindow())

    def rearrange(self, arrangement: Arrangement) -> None:
        """Put both back; a window that is gone stays gone."""
        self._mouse.position = arrangement.pointer
        if arrangement.active and win32gui.IsWindow(arrangement.active):
            self._user32.SetForegroundWindow(arrangement.active)

    def close(self) -> None:
        """Free the grabber's handles."""
        self._grabber.close()


def _key(name: str) -> str | keyboard.Key:
    """What pynput calls a key."""
    return name if len(name) == 1 else keyboard.Key["esc" if name == "escape" else name]


def _see_physical_pixels(user32: ctypes.CDLL) -> None:
    """Without this Windows scales coordinates and pictures, and a calibrated pixel is another one."""
    context = ctypes.c_void_p(_PER_MONITOR_V2)
    user32.SetProcessDpiAwarenessContext(context)  # refused if a library was first: what counts is below
    user32.GetThreadDpiAwarenessContext.restype = ctypes.c_void_p
    user32.GetAwarenessFromDpiAwarenessContext.argtypes = [ctypes.c_void_p]
    awareness = user32.GetAwarenessFromDpiAwarenessContext(user32.GetThreadDpiAwarenessContext())
    if awareness != _PER_MONITOR:
        raise GameError(
            "this process isn't DPI-aware, so its pixels aren't the screen's: in the properties of "
            "python.exe, under Compatibility, let the application scale high DPI itself"
        )
