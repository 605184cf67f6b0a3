"""Fixtures that the tests of this plugin share."""

from __future__ import annotations

from pathlib import Path

import pytest

SHARED = Path(__file__).parents[3].parent / "shared"


@pytest.fixture(scope="session")
def lmbuild_data() -> Path:
    """The folder of recorded scores and scenes beside the repository; a file missing there is a failure."""
    if not SHARED.exists():
        pytest.skip("needs ../shared, the recorded scores and scenes")
    return SHARED / "data" / "lmbuild"
