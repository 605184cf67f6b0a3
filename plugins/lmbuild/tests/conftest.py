"""Fixtures that the tests of this plugin share."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))  # for scenes that several test files use

SHARED = Path(__file__).parents[3].parent / "shared"


@pytest.fixture(scope="session")
def lmbuild_data() -> Path:
    """The folder of recorded scores and scenes beside the repository; a file missing there is a failure."""
    if not SHARED.exists():
        pytest.skip("needs ../shared, the recorded scores and scenes")
    return SHARED / "data" / "lmbuild"
