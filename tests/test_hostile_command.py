"""Absurd arguments, scripts, configuration and streams: one clear line each, and nothing written."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ("run polybridge.smoke -n 0", "'-n'"),
        ("run polybridge.smoke --slice 1:2:3", "--slice takes A:B"),
        (f"run polybridge.smoke --slice {'9' * 5000}:", "--slice takes A:B"),
        ("run polybridge.smoke -j 0", "'-j'"),
        ("run polybridge.smoke -j 1000000", "'-j'"),
        ("run polybridge.smoke --epochs 999999999999 --dry-run", "more than a run holds"),
        (f"run polybridge.smoke --seed {10**30}", "'--seed'"),
        ("run polybridge.smoke --job-timeout nan", "'--job-timeout'"),
        ("run polybridge.smoke --job-timeout inf", "'--job-timeout'"),
        ("run polybridge.smoke --job-timeout 0", "'--job-timeout'"),
        ("run polybridge.smoke --job-memory -1", "'--job-memory'"),
        ("run polybridge.smoke -T x", "-T x: write it as key=value"),
        ("run polybridge.smoke -T limits.calls=1e400", "not a finite number"),
        ("run polybridge.smoke -T limits.calls=nan", "should be a valid number"),
        (f"run polybridge.smoke -T feedback_frames={'9' * 5000}", "feedback_frames"),
        (f"run polybridge.smoke -T skill={'[' * 5000}", "skill"),
        ("run polybridge.smok", "did you mean polybridge.smoke"),
        ("run ../../etc/passwd", "unknown suite"),
        ("run polybridge.smoke --agent trus", "did you mean truss"),
        ("run polybridge.smoke --agent scripted:/nope", "can't read the script"),
        ("run polybridge.smoke --agent scripted:.", "it is no regular file"),
        ("run polybridge.smoke --agent replay:nope", "there is no run 'nope'"),
        ("run polybridge.smoke --id \x1b[31m", "unknown task '\\x1b[31m'"),
        ("run polybridge.smoke -o afile", "'afile' is a file"),
        ("report \udcff\udcfe", "there is no run"),
        ("report -o .", "is a directory"),
        ("show latest \udcff", "there is no run"),
        ("runs afile", "afile is not a folder"),
        ("try polybridge.smoke \udcff --id T1B_Basic_08m", "there is no file"),
        ("try polybridge.smoke afile --id T1B_Basic_06m", "did you mean T1B_Basic_08m"),
        ("try polybridge.smoke afile --task afile", "is no level file"),
        ("frobnicate\x1b[31m", "unknown command"),
        ("info \udcff", "unknown target"),
    ],
)
def test_absurd_arguments_are_one_line(
    polite: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: str, says: str
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "afile").write_text("")
    said = polite(*words.split(" "))
    assert said.code == 2
    assert says in said.error
    assert said.out == ""
    assert [path.name for path in tmp_path.iterdir()] == ["afile"]


@pytest.mark.parametrize("place", ["/proc/nope", "afile/below", "/dev/null/x"])
def test_a_run_that_can_not_be_written_leaves_nothing(
    polite: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "afile").write_text("")
    said = polite("run", "polybridge.smoke", "--agent", "flat", "-n", "1", "-o", place, allowed=(4,))
    assert said.error.startswith(f"evalkit: error: can't make the run folder {place}")
    assert said.error.endswith("choose another with -o")
    assert [path.name for path in tmp_path.iterdir()] == ["afile"]


@pytest.mark.parametrize(
    ("script", "says"),
    [
        (b"\xff\xfe", "is not UTF-8 at byte 0"),
        (b"[" * 100_000, "nested deeper"),
        (b"5", "a script is a list of calls"),
        (b'{"*": 5}', "a script is a list of calls"),
        (b'[{"tool": 5}]', "entry 1 is not a call"),
        (b'[{"tool": "propose", "arguments": []}]', "'arguments' is not an object"),
        (b'[{"tool": "propose", "arguments": {"text": 1e999}}]', "is too large"),
    ],
)
def test_scripts_of_agents_are_checked(polite: Any, tmp_path: Path, script: bytes, says: str) -> None:
    path = tmp_path / "script.json"
    path.write_bytes(script)
    said = polite(
        "run", "polybridge.smoke", "-n", "1", "--agent", f"scripted:{path}", "-o", tmp_path / "runs"
    )
    assert said.code == 2
    assert says in said.error
    assert not (tmp_path / "runs").exists()


# Streams and surroundings

CONFIGURATIONS = (
    (b"\xff\xfe", "codec can't decode"),
    (b"a = " + b"[" * 5000, "nested too deeply"),
    (b"a = " + b"9" * 5000, "digits"),
    (b"#" * 3_000_000, "at most 1048576 are read"),
    (b"run = 3", "'run' has to be a table"),
    (b"[runn]", "did you mean run"),
    (b"[run]\nepochs = [1]", "epochs of run has to be a string or a number"),
    (b"[run]\nseed = 1979-05-27", "seed of run has to be a string or a number"),
    (b"[run]\npictures = 3", "pictures of run has to be true or false"),
    (b"[run]\nagent = {a = 1}", "or a list of them"),
    (b"[run]\nepochs = true", "has to be a string or a number"),
    (b"[run]\nepochs = 1.5", "not a valid integer"),
    (b"[run]\njob-timeout = nan", "not a finite number"),
    (b'[run]\nregistry = "a\\u0000b"', "has to be a string or a number"),
    (b"[run]\nepoch = 3", "did you mean epochs"),
)


@pytest.mark.parametrize(("content", "says"), CONFIGURATIONS)
def test_configuration_files_are_checked(
    polite: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, content: bytes, says: str
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("evalkit.toml").write_bytes(content)
    said = polite("run", "polybridge.smoke", "--dry-run")
    assert said.code == 2
    assert says in said.error


def test_configuration_values_are_taken_like_arguments(
    polite: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("evalkit.toml").write_text('[run]\nagent = "flat"\nepochs = 2\ndry-run = true\n')
    said = polite("run", "polybridge.smoke")
    assert said.code == 0
    assert "2 epochs, agent flat" in said.out
    assert not Path("runs").exists()


def command(*words: str | Path, **options: Any) -> subprocess.CompletedProcess[bytes]:
    """The command in a process of its own."""
    arguments = [sys.executable, "-m", "evalkit", *map(os.fspath, words)]
    environment = {**os.environ, "EVALKIT_PLUGINS": "polybridge", **options.pop("environment", {})}
    return subprocess.run(
        arguments, env=environment, stderr=subprocess.PIPE, timeout=120, check=False, **options
    )


@pytest.mark.parametrize(
    "environment", [{"TERM": "dumb"}, {"LC_ALL": "C", "PYTHONIOENCODING": "ascii"}, {"COLUMNS": "10"}]
)
@pytest.mark.parametrize(
    "words",
    [
        ("report", "RUN"),
        ("show", "RUN"),
        ("show", "RUN", "truss/T1B_Basic_08m/strict/1"),
        ("ls",),
        ("--help",),
    ],
)
def test_any_terminal_will_do(
    played_run: Path, tmp_path: Path, environment: dict[str, str], words: tuple[str, ...]
) -> None:
    words = tuple(word.replace("RUN", str(played_run)) for word in words)
    done = command(*words, environment=environment, stdout=subprocess.PIPE, cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, b"")
    assert done.stdout
    assert b"\x1b" not in done.stdout
    if "PYTHONIOENCODING" in environment:
        assert done.stdout.isascii()


def test_a_reader_that_goes_away_is_no_error(played_run: Path, tmp_path: Path) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    done = command("report", played_run, "--format", "json", stdout=writer, cwd=tmp_path)
    os.close(writer)
    assert (done.returncode, done.stderr) == (128 + signal.SIGPIPE, b"")


def test_closed_streams_are_no_error(played_run: Path, tmp_path: Path) -> None:
    for closed in ("<&-", ">&-", "<&- >&-"):
        line = f'exec "{sys.executable}" -m evalkit report "{played_run}" {closed}'
        done = subprocess.run(
            ["sh", "-c", line], cwd=tmp_path, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, timeout=120
        )
        assert b"Traceback" not in done.stderr
        assert b"internal error" not in done.stderr


def test_a_folder_that_was_removed_is_one_line(tmp_path: Path) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    line = f'cd "{gone}" && rmdir "{gone}" && exec "{sys.executable}" -m evalkit ls'
    done = subprocess.run(["sh", "-c", line], capture_output=True, text=True, timeout=120)
    assert done.returncode == 2
    assert done.stderr.splitlines()[-1] == (
        "evalkit: error: the current folder doesn't exist any more; change to another one"
    )
