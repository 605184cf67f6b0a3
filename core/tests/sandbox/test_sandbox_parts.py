"""Façade, limits, interpreters, the watch over memory."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from evalkit import sandbox
from evalkit.errors import SandboxError, UsageError
from evalkit.sandbox._interpreter import _link_folders, _outermost, closed_to_others, refuse_wide
from evalkit.sandbox._levels import Level, Limits
from evalkit.sandbox._limits import Watch, descendants, environment
from evalkit.sandbox._probe import _explain, _unlike, probe, require
from evalkit.sandbox._supervisor import asked_for

on_linux = pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")


def test_facade_names_everything_and_loads_nothing() -> None:
    assert set(sandbox.__all__) == set(sandbox._MODULE_OF) == set(dir(sandbox))
    for name in sandbox.__all__:
        assert getattr(sandbox, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        sandbox.nothing  # noqa: B018
    code = "import sys, evalkit.sandbox; print([m for m in sys.modules if m.startswith('evalkit.sandbox._')])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


def test_imports_where_unix_modules_are_missing() -> None:
    """As on Windows: everything imports, nothing runs."""
    code = """
import sys
import platform, subprocess, selectors, tempfile  # for this machine, before it pretends
for name in ("resource", "fcntl", "pwd", "grp"):
    sys.modules[name] = None
sys.platform = "win32"
import importlib, pkgutil, evalkit.sandbox as sandbox
for module in pkgutil.iter_modules(sandbox.__path__):
    importlib.import_module(f"evalkit.sandbox.{module.name}")
print(sandbox.probe().level.label)
try:
    sandbox.run_script("pass", required=sandbox.Level.NONE)
except Exception as error:
    print(error)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.stderr == ""
    level, message = done.stdout.splitlines()
    assert level == "none"
    assert message.startswith("scripts can't be run here: no sandbox on ")


def test_other_platforms_have_no_sandbox(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "darwin")
    monkeypatch.setattr("platform.system", lambda: "Darwin")
    probe.cache_clear()
    try:
        assert probe().level is Level.NONE
        with pytest.raises(SandboxError, match="no sandbox on Darwin: run on Linux"):
            require(Level.NONE)
    finally:
        probe.cache_clear()


def test_levels_are_ordered() -> None:
    assert Level.FULL > Level.UID > Level.LIMITS > Level.NONE
    assert [level.label for level in Level] == ["none", "limits", "uid", "full"]


@pytest.mark.parametrize("value", [0, -1, float("nan"), float("inf"), 1 << 63])
def test_limits_are_positive(value: float) -> None:
    with pytest.raises(UsageError, match=r"sandbox limit wall_s is .*; it has to be a positive number"):
        Limits(wall_s=value)


def test_environment_holds_nothing_of_the_caller(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SECRET", "x")
    variables = environment((Path("/a"), Path("/b")), "/tmp")
    assert "SECRET" not in variables
    assert variables["PYTHONPATH"] == "/a:/b"
    assert variables["OMP_NUM_THREADS"] == "1"
    assert "PYTHONPATH" not in environment((), "/tmp")


def test_folders_inside_others_are_left_out() -> None:
    folders = [Path("/a/b/c"), Path("/a/b"), Path("/d"), Path("/a/bc"), Path("/d")]
    assert sorted(_outermost(folders)) == [Path("/a/b"), Path("/a/bc"), Path("/d")]


def test_links_to_an_interpreter_are_followed(tmp_path: Path) -> None:
    for name in ("one", "two", "three"):
        (tmp_path / name).mkdir()
    (tmp_path / "three" / "python").write_text("")
    (tmp_path / "two" / "python3").symlink_to("../three/python")
    (tmp_path / "one" / "python").symlink_to(tmp_path / "two" / "python3")
    folders = _link_folders(tmp_path / "one" / "python")
    assert folders == [tmp_path / "one", tmp_path / "two", tmp_path / "three"]


@pytest.mark.parametrize("folder", [Path("/"), Path.home(), Path.home().parent])
def test_wide_folders_are_refused(folder: Path) -> None:
    with pytest.raises(UsageError, match="use a folder of its own"):
        refuse_wide(folder)


@pytest.mark.skipif(os.name == "nt", reason="permissions of Unix")
def test_closed_folders(tmp_path: Path) -> None:
    inner = tmp_path / "outer" / "inner"
    inner.mkdir(parents=True)
    assert not closed_to_others(Path("/usr"))
    inner.chmod(0o755)
    (tmp_path / "outer").chmod(0o700)
    assert closed_to_others(inner)


def test_patterns() -> None:
    assert asked_for("a.json", ["b", "*.json"])
    assert asked_for("x/y/z.json", ["**/*.json"])
    assert asked_for("z.json", ["**/*.json"])
    assert not asked_for("x/a.json", ["*.json"])
    assert asked_for("a", ["[ab]"])
    assert not asked_for("a", [])


def test_reasons_are_explained() -> None:
    assert _explain("bwrap: Unknown option --disable-userns").startswith(
        "bubblewrap is too old, 0.8 or newer"
    )
    assert _unlike({"A": "1"}, {"A": "1"}) == ""
    assert _unlike({"A": "0"}, {"A": "1", "B": "2"}) == (
        "a command that was shut in still had privileges: A is 0, B is missing"
    )


@on_linux
def test_watch_sees_the_whole_tree() -> None:
    child = "x = bytearray(b'x' * (30 << 20)); print('up', flush=True); input()"
    code = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {child!r}])"
    parent = subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    try:
        assert parent.stdout is not None
        assert parent.stdout.readline() == b"up\n"
        assert len(list(descendants(parent.pid))) == 1
        assert not Watch(parent.pid, 1 << 30).exceeded()
        watch = Watch(parent.pid, 20 << 20)
        assert watch.exceeded()
        assert watch.peak_bytes > 30 << 20
    finally:
        parent.communicate(b"\n", timeout=60)
    assert list(descendants(parent.pid)) == []
