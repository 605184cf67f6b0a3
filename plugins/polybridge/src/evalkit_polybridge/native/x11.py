"""A desktop under X11, with or without a window manager: for tests, and for the game's Linux build."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import mss
from mss.exception import ScreenShotError
from Xlib import XK, X, Xatom
from Xlib.display import Display
from Xlib.error import BadDrawable, BadMatch, BadWindow, DisplayError
from Xlib.ext import xtest
from Xlib.protocol.event import ClientMessage

from evalkit import UsageError
from evalkit_polybridge.native.desktop import HOLD_S, Area, Arrangement, GameError, Picture, WindowInfo

_GONE = (BadWindow, BadDrawable, BadMatch)
_KEYSYMS = {"space": "space", "enter": "Return", "escape": "Escape", "tab": "Tab"}
_MM_PER_INCH, _LOGICAL_DPI = 25.4, 96.0
#: `translate_coords` goes one level down at a time; no real tree of windows is deeper.
_DEEPEST = 32


class X11Desktop:
    """See `evalkit_polybridge.native.desktop.Desktop`; input goes through the XTEST extension."""

    def __init__(self) -> None:
        """Connect to the server that DISPLAY names; UsageError if that fails."""
        try:
            self._display = Display()
            self._grabber = mss.MSS()
        except (DisplayError, ScreenShotError, OSError) as error:
            raise UsageError(f"can't use the screen that DISPLAY names: {error}") from error
        self._root = self._display.screen().root
        # A request without an answer to a window that was just closed; the next question about it tells.
        self._display.set_error_handler(lambda error, request: None)

    def windows(self) -> list[WindowInfo]:
        """All viewable windows with a title."""
        found = []
        for window in self._tops():
            try:
                viewable = window.get_attributes().map_state == X.IsViewable
                title, names = self._title(window), window.get_wm_class()
            except _GONE:
                continue
            if viewable and title:
                found.append(WindowInfo(window.id, title, names[1] if names else ""))
        return found

    def area(self, handle: int) -> Area | None:
        """The window's inside."""
        window = self._window(handle)
        try:
            if window.get_attributes().map_state != X.IsViewable:
                return None
            size = window.get_geometry()
            corner = self._root.translate_coords(window, 0, 0)
        except _GONE:
            return None
        return Area(corner.x, corner.y, size.width, size.height)

    def scale(self) -> float:
        """From the size in millimetres that the server states."""
        screen = self._display.screen()
        if not screen.width_in_mms:
            return 1.0
        return round(float(screen.width_in_pixels / screen.width_in_mms * _MM_PER_INCH / _LOGICAL_DPI), 2)

    def bring_up(self, handle: int) -> None:
        """Raise the window, and ask a window manager to activate it."""
        window = self._window(handle)
        window.configure(stack_mode=X.Above)
        active = self._display.intern_atom("_NET_ACTIVE_WINDOW")
        # 2: the request comes from a tool that acts for the user.
        event = ClientMessage(window=window, client_type=active, data=(32, [2, X.CurrentTime, 0, 0, 0]))
        self._root.send_event(event, event_mask=X.SubstructureRedirectMask | X.SubstructureNotifyMask)
        self._display.sync()

    def focused(self, handle: int) -> bool:
        """Whether the window or one inside it has the input focus."""
        focus = self._display.get_input_focus().focus
        try:
            for _ in range(_DEEPEST):
                if isinstance(focus, int) or focus.id == self._root.id:
                    return False
                if focus.id == handle:
                    return True
                focus = focus.query_tree().parent
        except _GONE:
            return False
        return False

    def shows(self, handle: int, x: int, y: int) -> bool:
        """Whether the way down from the root at this point leads through the window."""
        inside = self._root
        try:
            for _ in range(_DEEPEST):
                inside = inside.translate_coords(self._root, x, y).child
                if not inside or isinstance(inside, int):
                    return False
                if inside.id == handle:
                    return True
        except _GONE:
            return False
        return False

    def click(self, x: int, y: int) -> None:
        """Move there, press, release."""
        xtest.fake_input(self._display, X.MotionNotify, x=x, y=y)
        self._hold(X.ButtonPress, X.ButtonRelease, X.Button1)

    def press(self, key: str) -> None:
        """Press and release the key; GameError if this keyboard has no such key."""
        self._hold(X.KeyPress, X.KeyRelease, self._code(key))

    def let_go(self, key: str) -> None:
        """Release both; GameError if this keyboard has no such key."""
        xtest.fake_input(self._display, X.ButtonRelease, X.Button1)
        xtest.fake_input(self._display, X.KeyRelease, self._code(key))
        self._display.sync()

    def grab(self, area: Area) -> Picture:
        """The part of the screen; GameError if it can't be read."""
        box = {"left": area.left, "top": area.top, "width": area.width, "height": area.height}
        try:
            shot = self._grabber.grab(box)
        except ScreenShotError as error:
            raise GameError(f"can't read the screen ({error}): move the window wholly onto it") from error
        return Picture(shot.width, shot.height, shot.raw)

    def arrangement(self) -> Arrangement:
        """Where the pointer is and what has the focus."""
        pointer = self._root.query_pointer()
        focus = self._display.get_input_focus().focus
        return Arrangement((pointer.root_x, pointer.root_y), focus if isinstance(focus, int) else focus.id)

    def rearrange(self, arrangement: Arrangement) -> None:
        """Put both back; a window that is gone leaves the focus with the root."""
        x, y = arrangement.pointer
        xtest.fake_input(self._display, X.MotionNotify, x=x, y=y)
        self._display.set_input_focus(arrangement.active, X.RevertToPointerRoot, X.CurrentTime)
        self._display.sync()

    def close(self) -> None:
        """Disconnect."""
        self._grabber.close()
        self._display.close()

    def _window(self, handle: int) -> Any:
        return self._display.create_resource_object("window", handle)

    def _tops(self) -> Iterator[Any]:
        """The windows of programs: as the window manager lists them or, without one, those below the root."""
        listed = self._root.get_full_property(
            self._display.intern_atom("_NET_CLIENT_LIST"), Xatom.WINDOW, sizehint=1024
        )
        if listed is None:
            yield from self._root.query_tree().children
        else:
            yield from (self._window(handle) for handle in listed.value)

    def _title(self, window: Any) -> str:
        name = window.get_full_text_property(self._display.intern_atom("_NET_WM_NAME"))
        return str(name or window.get_wm_name() or "")

    def _code(self, key: str) -> int:
        keysym = XK.string_to_keysym(_KEYSYMS.get(key, key.upper() if len(key) > 1 else key))
        code: int = self._display.keysym_to_keycode(keysym)
        if not code:
            raise GameError(f"the keyboard of this screen has no key {key!r}: choose another keyboard layout")
        return code

    def _hold(self, down: int, up: int, detail: int) -> None:
        # A process that was killed while it held it has left it down, and what is down can't be pressed.
        xtest.fake_input(self._display, up, detail)
        xtest.fake_input(self._display, down, detail)
        self._display.sync()
        try:
            time.sleep(HOLD_S)
        finally:
            xtest.fake_input(self._display, up, detail)
            self._display.sync()
