"""What the package exports, and that importing it is light."""

import subprocess
import sys

import pytest

import evalkit.render3d


def test_importing_it_loads_nothing_heavy() -> None:
    code = "import sys, evalkit.render3d\nprint(*sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60
    )
    assert not {"numpy", "numba", "PIL"} & set(done.stdout.split())


def test_exports() -> None:
    assert set(evalkit.render3d.__all__) == set(evalkit.render3d._MODULE_OF)
    for name in evalkit.render3d.__all__:
        assert getattr(evalkit.render3d, name) is not None
    assert set(evalkit.render3d.__all__) <= set(dir(evalkit.render3d))


def test_unknown_name() -> None:
    with pytest.raises(AttributeError, match="rendr"):
        _ = evalkit.render3d.rendr
