"""The desk at which clients of one episode take turns."""

from __future__ import annotations

import threading
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from evalkit.transports._desk import Desk, attend


def test_an_episode_is_concluded_only_when_its_record_is_whole() -> None:
    recorded: Any = SimpleNamespace(
        folder=Path("run"), episode=SimpleNamespace(end="done"), closed=False, stop=lambda reason: None
    )
    desk = Desk(lambda client: recorded, lambda _: Path("pictures"))
    desk.recorded = recorded
    whole: list[bool] = []

    def conclude(folder: Path) -> None:
        whole.append(recorded.closed)
        desk.dismissed = True

    server = threading.Thread(
        target=lambda: attend(desk, serving=lambda: True, idle_s=60.0, conclude=conclude)
    )
    server.start()
    time.sleep(0.3)
    recorded.closed = True
    server.join(10.0)
    assert whole == [True]
