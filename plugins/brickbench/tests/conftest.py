"""Fixtures that the tests of this plugin share."""

from __future__ import annotations

import sys
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

import pytest

from evalkit_brickbench.parts import _wheel_cache
from evalkit_brickbench.parts.wheels import WheelCatalogue

sys.path.insert(0, str(Path(__file__).parent))  # for scenes that several test files use

SHARED = Path(__file__).parents[3].parent / "shared"


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder of real inputs with known answers beside the repository; one missing there is a failure."""
    if not SHARED.exists():
        pytest.skip("needs ../shared, the real models with known answers")
    return SHARED / "data"


@pytest.fixture(scope="session")
def wheel_catalogue(tmp_path_factory: pytest.TempPathFactory) -> WheelCatalogue:
    """The large catalogue, with a cache of its own."""
    for name in ("bricknet", "brickagent"):
        try:
            distribution(name)
        except PackageNotFoundError:
            pytest.skip(f"needs the data of {name}")
    folder = tmp_path_factory.mktemp("cache")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_wheel_cache, "cache_folder", lambda: folder)
        catalogue = WheelCatalogue()
        assert catalogue.connectors("3001") is not None
        assert catalogue.bounds("3001") is not None
    return catalogue
