"""Whatever stands on the command line or in evalkit.toml: one line, a fitting exit code, nothing written."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

WORDS = (
    "polybridge.smoke", "polybridge.*", "ci.smoke", "latest", "truss", "", "-", "--", "..", "/", "*", "[",
    "nan", "-1", "1e999", "9" * 5000, "\udcff", "\x1b[31m", "a=b", "limits.calls=0", "skill=[", "1:2", "1/0",
    "x>=1", "json", "-n", "-k", "-j", "-T", "--id", "--slice", "--epochs", "--seed", "--agent", "--format",
    "--metric", "--json", "--registry", "--help", "--shard", "--fail-under", "--baseline", "--max-regression",
    "--id=T1B_Basic_08m",
)  # fmt: skip
VERBS = (
    "run",
    "try",
    "ls",
    "info",
    "runs",
    "show",
    "report",
    "rescore",
    "verify",
    "compare",
    "replay",
    "completion",
)


@pytest.fixture(scope="module")
def empty(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """The current folder, with nothing in it."""
    folder = tmp_path_factory.mktemp("empty")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        yield folder


@given(verb=st.sampled_from(VERBS), words=st.lists(st.sampled_from(WORDS) | st.text(max_size=4), max_size=6))
def test_any_arguments(polite: Any, empty: Path, verb: str, words: list[str]) -> None:
    words = [word.replace("\0", "") for word in words]  # no argument holds one
    polite(*(("run", "--dry-run") if verb == "run" else (verb,)), *words)
    assert list(empty.iterdir()) == []


@given(data=st.data())
def test_any_configuration(
    polite: Any, empty: Path, hostile_values: st.SearchStrategy[Any], data: st.DataObject
) -> None:
    keys = (
        "agent",
        "epochs",
        "seed",
        "jobs",
        "slice",
        "format",
        "pictures",
        "job-timeout",
        "dry-run",
        "id",
        "x",
    )
    lines = ["[run]"] + [
        f"{key} = {_toml(data.draw(hostile_values))}"
        for key in data.draw(st.lists(st.sampled_from(keys), unique=True, max_size=3))
    ]
    path = empty / "evalkit.toml"
    path.write_text("\n".join(lines), encoding="utf-8", errors="surrogatepass")
    try:
        polite("run", "polybridge.smoke", "--dry-run")
    finally:
        path.unlink()
    assert list(empty.iterdir()) == []


def _toml(value: Any) -> str:
    if isinstance(value, dict):
        return (
            "{"
            + ", ".join(f'"{key.encode("unicode_escape").decode()}" = {_toml(v)}' for key, v in value.items())
            + "}"
        )
    if isinstance(value, list):
        return "[" + ", ".join(map(_toml, value)) + "]"
    return {None: '""', True: "true", False: "false"}.get(value) or (
        repr(value) if isinstance(value, int | float) else f'"{value.encode("unicode_escape").decode()}"'
    )
