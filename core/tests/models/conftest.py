"""A provider on this machine, and a record in memory."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

sys.path.insert(0, str(Path(__file__).parents[3] / "tests" / "provider"))

if TYPE_CHECKING:
    from provider_standin import StandIn


@pytest.fixture
def provider(monkeypatch: pytest.MonkeyPatch) -> Iterator[StandIn]:
    """A stand-in provider that no proxy is in front of."""
    from provider_standin import StandIn

    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    with StandIn() as standin:
        yield standin
