"""`evalkit plugin new` and `plugin check`: real packages, installed into a folder, in real processes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from evalkit.cli.main import main

TIMEOUT_S = 240

Run = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A new package, as the command writes it."""
    folder = tmp_path_factory.mktemp("new")
    assert main(["plugin", "new", "garden_beams", "-o", str(folder)]) == 0
    return folder / "evalkit-garden-beams"


@pytest.fixture(scope="module")
def site(package: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The new package, built and installed into a folder."""
    dist, site = tmp_path_factory.mktemp("dist"), tmp_path_factory.mktemp("site")
    pip = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check"]
    build = ["wheel", "--no-build-isolation", "--no-deps", "--no-index", "-w", str(dist), str(package)]
    subprocess.run([*pip, *build], check=True, timeout=TIMEOUT_S)
    (wheel,) = dist.glob("*.whl")
    install = ["install", "--no-deps", "--no-index", "--target", str(site), str(wheel)]
    subprocess.run([*pip, *install], check=True, timeout=TIMEOUT_S)
    return site


@pytest.fixture
def python(site: Path, tmp_path: Path) -> Run:
    """Run `python -m …` with the package installed."""

    def run(*words: str, cwd: Path = tmp_path) -> subprocess.CompletedProcess[str]:
        environment = {k: v for k, v in os.environ.items() if not k.startswith("EVALKIT_")}
        environment["PYTHONPATH"] = str(site)
        return subprocess.run(
            [sys.executable, "-m", *words],
            cwd=cwd,
            env=environment,
            capture_output=True,
            text=True,
            timeout=TIMEOUT_S,
        )

    return run


def test_a_new_package_runs(python: Run, tmp_path: Path) -> None:
    done = python("evalkit", "run", "garden_beams.all", "-j", "1", "--format", "plain")
    assert done.returncode == 0, done.stderr
    assert "Solved  100.0 % (4/4)" in done.stdout


def test_its_own_tests_pass(python: Run, package: Path) -> None:
    done = python("pytest", "-q", "-p", "no:cacheprovider", cwd=package)
    assert done.returncode == 0, done.stdout
    assert "passed" in done.stdout
    assert "failed" not in done.stdout


def test_check_prints_a_line_per_check(python: Run) -> None:
    done = python("evalkit", "plugin", "check", "garden_beams")
    assert done.returncode == 0, done.stdout
    lines = done.stdout.splitlines()
    assert lines[0] == "garden_beams"
    assert "garden_beams.smoke" in lines
    assert lines[-1] == "17 ok, 1 skipped, 0 failed"
    assert [line.split()[0] for line in lines if line.startswith("  ")].count("ok") == 17


def test_check_as_json(python: Run) -> None:
    done = python("evalkit", "plugin", "check", "garden_beams", "--suite", "garden_beams.all", "--json")
    found = json.loads(done.stdout)
    assert found["ok"] is True
    assert found["origin"] == "evalkit-garden_beams 0.1.0"
    assert {f["subject"] for f in found["findings"]} == {"garden_beams", "garden_beams.all"}
    assert set(found["findings"][0]) == {"subject", "check", "status", "message"}


def test_a_broken_plugin_fails_the_check(python: Run, site: Path) -> None:
    metrics = site / "evalkit_garden_beams" / "metrics.py"
    text = metrics.read_text()
    metrics.write_text(text.replace('Score.not_applicable("no beam held")', 'Score(0.0, "not_applicable")'))
    try:
        done = python("evalkit", "plugin", "check", "garden_beams")
    finally:
        metrics.write_text(text)
    assert done.returncode == 1
    assert "failed   metrics" in done.stdout
    assert done.stdout.splitlines()[-1] == "16 ok, 1 skipped, 1 failed"


def test_a_heavy_plugin_module_fails_the_check(python: Run, site: Path) -> None:
    module = site / "evalkit_garden_beams" / "plugin.py"
    text = module.read_text()
    module.write_text(text.replace("from pathlib", "import numpy\nfrom pathlib"))
    try:
        done = python("evalkit", "plugin", "check", "garden_beams")
    finally:
        module.write_text(text)
    assert done.returncode == 1
    assert "evalkit_garden_beams.plugin imports numpy" in done.stdout


def test_a_plugin_that_cannot_be_loaded_is_one_finding(python: Run, site: Path) -> None:
    module = site / "evalkit_garden_beams" / "plugin.py"
    text = module.read_text()
    module.write_text("import no_such_module\n")
    try:
        done = python("evalkit", "plugin", "check", "garden_beams")
    finally:
        module.write_text(text)
    assert done.returncode == 1
    assert "failed   loads" in done.stdout
    assert "no_such_module" in done.stdout
    assert done.stdout.splitlines()[-1] == "0 ok, 0 skipped, 1 failed"


def test_nothing_is_overwritten(package: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = sorted(package.rglob("*"))
    assert main(["plugin", "new", "garden_beams", "-o", str(package.parent)]) == 2
    assert "is there already; nothing was written" in capsys.readouterr().err
    assert sorted(package.rglob("*")) == before


@pytest.mark.parametrize("name", ["Beams", "3d", "a-b", "class", "", "../up", "evalkit"])
def test_names_that_cannot_be(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["plugin", "new", name, "-o", str(tmp_path)]) == 2
    assert len(capsys.readouterr().err.splitlines()) == 1
    assert list(tmp_path.iterdir()) == []


def test_no_placeholder_is_left(package: Path) -> None:
    for path in package.rglob("*"):
        assert "@" not in path.name
        assert path.is_dir() or "@name@" not in path.read_text()
        assert "NAME" not in path.name


def test_help_has_examples(capsys: pytest.CaptureFixture[str]) -> None:
    for words in (["plugin"], ["plugin", "new"], ["plugin", "check"]):
        assert main([*words, "--help"]) == 0
        assert "evalkit plugin" in capsys.readouterr().out.partition("Examples:")[2]


def test_it_is_tidy(python: Run, package: Path) -> None:
    rules = ["--isolated", "--no-cache", "--line-length", "110"]
    checked = python("ruff", "check", *rules, "--select", "E,F,W,I,B,UP,SIM,C4,RET,N", ".", cwd=package)
    assert checked.returncode == 0, checked.stdout
    formatted = python("ruff", "format", "--diff", *rules, ".", cwd=package)
    assert formatted.returncode == 0, formatted.stdout
