"""`evalkit lmbuild tables`, `figures` and `proof` as people call them."""

from __future__ import annotations

import json
from pathlib import Path
from shutil import copytree

import pytest
from click.testing import CliRunner

from evalkit import UsageError
from evalkit.cli.main import main
from evalkit_lmbuild.cli import command


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of the agent boxes on one object."""
    folder = tmp_path_factory.mktemp("run")
    words = ["run", "lmbuild.smoke", "-T", "tasks.names=[milking_stool]", "-o", str(folder)]
    assert main(words) == 0
    return next(folder.iterdir())


def test_tables_of_a_run(run: Path) -> None:
    done = CliRunner().invoke(command, ["tables", str(run), "--json"])
    assert done.exit_code == 0, done.output
    tables = json.loads(done.stdout)
    assert list(tables) == [
        f"lmbuild.{name}" for name in ("systems", "levels", "mechanisms", "failures", "calls")
    ]
    assert tables["lmbuild.systems"]["rows"][0][:3] == ["boxes", "offline", 1]
    latex = CliRunner().invoke(command, ["tables", str(run), "--format", "latex"])
    assert r"\begin{tabular}" in latex.stdout


def test_figures_of_a_run(run: Path, tmp_path: Path) -> None:
    done = CliRunner().invoke(command, ["figures", str(run), "-o", str(tmp_path), "--json"])
    assert done.exit_code == 0, done.output
    assert len(json.loads(done.stdout)["files"]) == len(list(tmp_path.iterdir())) == 12


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["proof", "nothing"], "there is no object 'nothing'"),
        (["proof", "--variant", "nothing"], "there is no variant 'nothing'; there are part removed"),
    ],
)
def test_unknown_names_are_refused(words: list[str], says: str) -> None:
    done = CliRunner().invoke(command, words)
    assert isinstance(done.exception, UsageError)
    assert says in str(done.exception)


@pytest.mark.parametrize(
    ("kind", "says"),
    [("boxes", "write AGENT=KIND"), ("boxes=big", "there are closed"), ("x=open", "no run has an agent 'x'")],
)
def test_kinds_are_checked(run: Path, kind: str, says: str) -> None:
    done = CliRunner().invoke(command, ["tables", str(run), "--kind", kind])
    assert isinstance(done.exception, UsageError)
    assert says in str(done.exception)


@pytest.mark.parametrize("verb", [["tables"], ["figures", "-o", "figures"]])
def test_a_run_counts_once(run: Path, tmp_path: Path, verb: list[str]) -> None:
    copy = tmp_path / "copy"
    copytree(run, copy)
    for other in (run, copy):
        done = CliRunner().invoke(command, [*verb, str(run), str(other)])
        assert isinstance(done.exception, UsageError)
        assert f"the run {run.name} is given twice" in str(done.exception)


def test_proof_of_one_variant() -> None:
    words = ["proof", "keepsake_box", "--variant", "sequence reversed", "--jobs", "1", "--json"]
    done = CliRunner().invoke(command, words)
    assert done.exit_code == 0, done.output
    data = json.loads(done.stdout)
    assert data["findings"] == []
    assert data["averages"]["R.3"] == 1.0
