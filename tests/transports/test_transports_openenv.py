"""The OpenEnv adapter behind OpenEnv's own server, played by its own client."""

from __future__ import annotations

import base64
import socket
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip(
    "openenv", reason="openenv-core isn't installed (it is no extra: its requirements are large)"
)

import uvicorn
from openenv.core.generic_client import GenericEnvClient

from evalkit.transports.openenv import app


@pytest.fixture
def client(tmp_path: Path) -> Iterator[Any]:
    listener = socket.create_server(("127.0.0.1", 0))
    served = app("polybridge.smoke", root=tmp_path / "runs", pictures=True)
    server = uvicorn.Server(uvicorn.Config(served, log_level="warning"))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
    thread.start()
    with GenericEnvClient(base_url=f"http://127.0.0.1:{listener.getsockname()[1]}").sync() as env:
        yield env
    server.should_exit = True
    thread.join(timeout=30)
    assert not thread.is_alive()


def test_an_episode_over_the_wire(client: Any, tmp_path: Path) -> None:
    first = client.reset(seed=1, task="T2D_Platform_4-4-4")
    assert first.observation["text"].startswith("Level T2D_Platform_4-4-4")
    assert base64.b64decode(first.observation["images"]["editor.png"]).startswith(b"\x89PNG")
    assert (first.done, first.reward) == (False, None)
    wrong = client.step({"tool": "design"})
    assert (wrong.observation["ok"], wrong.observation["data"]["code"]) == (False, "unknown_tool")
    assert client.state()["budget_left"]["calls"] == 2
    client.step({"tool": "propose", "arguments": {"text": "no"}})
    last = client.step({"tool": "propose", "arguments": {"text": "no"}})
    assert (last.done, last.reward) == (True, 0.0)
    assert last.observation["end"] == "the episode has ended: limit (calls: limit 3, observed 3)"
    with pytest.raises(RuntimeError, match="no episode is going on"):
        client.step({"tool": "propose", "arguments": {"text": "no"}})
    (run,) = (tmp_path / "runs").iterdir()
    assert '"reason":"limit"' in (run / "episodes.jsonl").read_text()
