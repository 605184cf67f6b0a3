"""The toy benchmark of tests/wheels, from its source folder."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from evalkit.plugins import Plugins
from evalkit.testing import Subject, subject_of

BLOCKS = Path(__file__).parents[3] / "tests" / "wheels" / "evalkit_blocks" / "src"
sys.path.insert(0, str(BLOCKS))


@pytest.fixture(scope="session")
def plugins() -> Plugins:
    """The core's plugin and blocks, without what else is installed."""
    found = Plugins()
    found.add("evalkit", importlib.import_module("evalkit._builtin"))
    found.add("blocks", importlib.import_module("evalkit_blocks.plugin"))
    return found


@pytest.fixture
def blocks(plugins: Plugins) -> Callable[..., Subject]:
    """`blocks.basic` taken apart."""
    return lambda **options: subject_of("blocks.basic", plugins=plugins, **options)


@pytest.fixture
def workspace(plugins: Plugins) -> Callable[..., Subject]:
    """`blocks.workspace` taken apart."""
    return lambda **options: subject_of("blocks.workspace", plugins=plugins, **options)
