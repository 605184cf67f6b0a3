"""The façade: what it exports, and that light uses stay light."""

import subprocess
import sys

import pytest

import evalkit.stats


def heavy_modules_after(statement: str) -> set[str]:
    code = f"import sys\n{statement}\nprint(*sorted({{m.split('.')[0] for m in sys.modules}}))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return {"numpy", "scipy", "choix"} & set(done.stdout.split())


@pytest.mark.parametrize(
    "statement",
    [
        "import evalkit.stats",
        "from evalkit.stats import wilson; wilson(3, 7)",
        "from evalkit.stats import mcnemar_exact; mcnemar_exact({'a': True}, {'a': False})",
        "from evalkit.stats import pass_at_k; pass_at_k(5, 2, 3)",
    ],
)
def test_light_uses_load_neither_numpy_nor_scipy(statement: str) -> None:
    assert heavy_modules_after(statement) == set()


def test_the_guard_notices_numpy() -> None:
    assert "numpy" in heavy_modules_after("from evalkit.stats import bootstrap_mean")


def test_exports() -> None:
    assert evalkit.stats.__all__ == sorted(evalkit.stats._MODULE_OF)
    for name in evalkit.stats.__all__:
        assert getattr(evalkit.stats, name).__module__.startswith("evalkit.stats.")
    assert set(evalkit.stats.__all__) <= set(dir(evalkit.stats))


def test_unknown_name() -> None:
    with pytest.raises(AttributeError, match="wilsn"):
        _ = evalkit.stats.wilsn
