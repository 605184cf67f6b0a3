"""A coding agent's program in the workspace builds, checks and looks with the library; it sees no answers."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import evalkit_brickbench
from evalkit import Task, UsageError
from evalkit.sandbox import Level, probe
from evalkit_brickbench.environment import BrickWorkspace
from evalkit_brickbench.kit import contents
from evalkit_brickbench.kit.contents import library_files, library_folder

#: What the agent's program does, as Python that runs with the library.
WORK = """
import importlib.util, json, os
os.environ["NUMBA_DISABLE_JIT"] = "1"  # compiling takes longer than a small picture
from evalkit_brickbench.build import Assembly, at, broken_rules, check, view

def build():
    model = Assembly("tower")
    for course in range(4):
        model.add("brick 2x4", at(0, 0, up=3 * course), color="red")
    return model

model = build()
found = check(model)
pair = Assembly("pair")  # several components: the screen and, if need be, the simulation
pair.add("brick 2x4", at(0, 0), color="red")
pair.add("brick 1x1", at(8.25, 0, up=3), color="red")
seen = {
    "ok": found.ok, "stable": found.stable, "rules": broken_rules(model),
    "falls": check(pair).stable,
    "picture": view(model, "view.png", side=0, size_px=64).read_bytes()[:4].hex(),
    "files": sorted(os.listdir(".")),
    "tasks": str(importlib.util.find_spec("evalkit_brickbench.tasks")),
    "package": os.path.exists(PACKAGE) and os.listdir(PACKAGE),
    "guide": open("GUIDE.md").readline().strip(),
    "prompt": json.load(open("task.json"))["prompt"],
    "keys": sorted(json.load(open("task.json"))),
}
source = "from evalkit_brickbench.build import Assembly, at\\n" + SOURCE
open("build.py", "w").write(source + "\\n# SEEN " + json.dumps(seen) + "\\n")
"""
BUILD = WORK[WORK.index("def build") : WORK.index("model = build()")]

TEMPLATE = """
argv = ["{program}"]
prompt = "stdin"
[limits]
seconds = 100
[[turns]]
where = {{ type = "turn" }}
"""


def play(folder: Path, code: str, *options: str, environment: dict[str, str] | None = None) -> dict[str, Any]:
    """Let a program that runs `code` play the first smoke task; what the record keeps of it."""
    program = folder / "agent"
    program.write_text(
        "#!/bin/sh\ncat > brief.txt\n"
        f"cat > work.py <<'END'\n{code}END\n"
        'echo \'{"type": "turn"}\'\n'
        'if [ -x python ]; then ./python work.py; else /bin/sh -c "$(cat work.py)"; fi\n'
    )
    program.chmod(0o755)
    (folder / "agent.toml").write_text(TEMPLATE.format(program=program))
    done = subprocess.run(
        [
            *(sys.executable, "-m", "evalkit", "run", "brickbench.smoke", "--agent", "cli:agent.toml"),
            *("-n", "1", "-o", "out", *options),
        ],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=240,
        env={**os.environ, **(environment or {})},
    )
    assert done.returncode in (0, 3), done.stderr
    (run,) = (folder / "out").iterdir()
    (log,) = (run / "episodes").glob("*.jsonl")
    return {
        "events": [json.loads(line) for line in log.read_text().splitlines()],
        "blobs": {path.name: path for path in (run / "blobs").rglob("*") if path.is_file()},
        "manifest": json.loads((run / "run.json").read_text()),
    }


def delivered(played: dict[str, Any]) -> dict[str, bytes]:
    """Files that were handed in."""
    (delivery,) = (e for e in played["events"] if e["kind"] == "agent_process" and e["phase"] == "delivery")
    return {a["name"]: played["blobs"][a["blob"]].read_bytes() for a in delivery["artifacts"]}


@pytest.fixture
def full() -> None:
    """Skips where there is no full sandbox."""
    report = probe()
    if report.level < Level.FULL:
        pytest.skip(f"no full sandbox here: {report.reasons[0]}")


def test_agent_builds_checks_and_looks(full: None, tmp_path: Path) -> None:
    package = str(next(iter(evalkit_brickbench.__path__)))
    played = play(tmp_path, f"SOURCE, PACKAGE = {BUILD!r}, {package!r}\n{WORK}")
    source = delivered(played)["build.py"].decode()
    seen = json.loads(source.rpartition("# SEEN ")[2])
    assert seen.pop("prompt").startswith("A small gray watchtower")
    assert seen == {
        "ok": True,
        "stable": True,
        "rules": [],
        "falls": False,
        "picture": b"\x89PNG".hex(),
        "files": ["GUIDE.md", "brief.txt", "python", "task.json", "view.png", "work.py"],
        "tasks": "None",
        "package": False,
        "guide": "# Building LEGO® models with code",
        "keys": ["part_rules", "prompt", "setting"],
    }
    (result,) = (e for e in played["events"] if e["kind"] == "result")
    assert "candidate" in result
    (execution,) = (e for e in played["events"] if e["kind"] == "execution")
    assert execution["success"] is True
    end = played["events"][-1]
    assert (end["reason"], end["counters"]["turns"]) == ("done", 1)
    assert played["manifest"]["agents"][0]["program"]["limits"]["turns"] == 300


def test_library_holds_what_it_needs_and_no_tasks() -> None:
    names = library_files()
    assert {"evalkit_brickbench/build/__init__.py", "evalkit/render3d/__init__.py"} <= set(names)
    forbidden = ("tasks", "judges", "scoring", "agents", "kit", "metrics", "validator", "arena", "brief")
    for name in names:
        package, _, inside = name.partition("/")
        assert package == "evalkit" or not inside.startswith(forbidden), name
    everything = b"\n".join(names.values())
    for task in json.loads(Path(evalkit_brickbench.__path__[0], "tasks", "smoke.json").read_text()):
        for question in task["questions"]:
            assert question["question"].encode() not in everything


def test_library_folder_is_made_again_if_it_is_damaged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(contents, "cache_folder", lambda: tmp_path)
    folder = library_folder()
    assert library_folder() == folder
    spoiled = folder / "evalkit_brickbench" / "scene.py"
    spoiled.write_text("raise ImportError")
    assert library_folder() == folder
    assert spoiled.read_bytes() == library_files()["evalkit_brickbench/scene.py"]
    assert [path.name for path in tmp_path.iterdir()] == [folder.name]


def test_library_folder_that_cannot_be_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setattr(contents, "cache_folder", lambda: tmp_path / "file" / "cache")
    with pytest.raises(UsageError, match="set XDG_CACHE_HOME"):
        library_folder()


TASK = Task(
    "t", {"prompt": "a red wall", "setting": "model", "part_rules": {"min_parts": 1, "max_parts": 400}}
)
FLAT = b"1 4 0 -24 0 1 0 0 0 1 0 0 0 1 3001.dat\r\n"


def handed_in(folder: Path, **files: bytes) -> Path:
    """A folder with these deliverables; `_` stands for the dot."""
    folder.mkdir()
    for name, content in files.items():
        (folder / name.replace("_", ".")).write_bytes(content)
    return folder


def test_build_py_counts_where_both_are_there(full: None, tmp_path: Path) -> None:
    source = ("from evalkit_brickbench.build import Assembly, at\n" + BUILD).encode()
    desk = BrickWorkspace({})
    alone = desk.collect(handed_in(tmp_path / "alone", build_py=source))
    assert alone.candidate is not None
    both = desk.collect(handed_in(tmp_path / "both", build_py=source, model_mpd=FLAT))
    assert both.candidate == alone.candidate
    assert [(v.code, v.advisory) for v in both.violations] == [("model_differs", True)]
    same = desk.collect(
        handed_in(tmp_path / "same", build_py=source, model_mpd=alone.candidate.files[0].data)
    )
    assert not same.violations
    broken = desk.collect(handed_in(tmp_path / "broken", build_py=b"", model_mpd=FLAT))
    assert broken.candidate is None
    assert [v.code for v in broken.violations] == ["no_build_function"]


def test_model_alone_needs_no_sandbox(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from evalkit_brickbench import environment

    monkeypatch.delattr(environment, "build")
    result = BrickWorkspace({}).collect(handed_in(tmp_path / "model", model_mpd=FLAT))
    assert result.candidate is not None
    (missing,) = BrickWorkspace({}).collect(handed_in(tmp_path / "none")).violations
    assert (missing.code, missing.message) == ("missing", "there is no build.py and no model.mpd")
    (unreadable,) = BrickWorkspace({}).collect(handed_in(tmp_path / "bad", model_mpd=b"3 4")).violations
    assert unreadable.code == "unreadable"


def test_brief_has_rules_and_profile(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    brief = BrickWorkspace({"profile": "bricknet-0.1.0"}).prepare(tmp_path / "a", TASK, 0)
    assert brief.deliverables == ("build.py", "model.mpd")
    for words in ("a red wall", "Use 1 to 400 parts", "overlap by more than 0.5 LDU", '"bricknet-0.1.0"'):
        assert words in brief.text
    assert str(tmp_path) not in brief.text


def test_ablation_has_the_format_and_no_library(
    full: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    library = tmp_path / "ldraw-library"
    (library / "parts").mkdir(parents=True)
    (library / "parts" / "3001.dat").write_text("0 Brick  2 x  4\n")
    work = (
        "ls > seen; cat ldraw/parts/3001.dat >> seen; head -1 LDRAW.md >> seen\n"
        "printf '0 %s\\n' \"$(cat seen | tr '\\n' ';')\" > model.mpd\n"
        f"printf '{FLAT.decode().strip()}\\n' >> model.mpd\n"
    )
    played = play(tmp_path, work, "-T", "kit=ldraw", environment={"LDRAWDIR": str(library)})
    files = delivered(played)
    assert list(files) == ["model.mpd"]
    listed = files["model.mpd"].decode().partition("\n")[0]
    assert "LDRAW.md;brief.txt;ldraw;seen;task.json;work.py;0 Brick  2 x  4;# LDraw files" in listed
    assert played["manifest"]["protocol"]["settings"]["kit"] == "ldraw"
    assert any(e["kind"] == "execution" and e["success"] for e in played["events"])


def test_ablation_needs_a_library(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("LDRAWDIR", raising=False)
    monkeypatch.setenv("EVALKIT_DATA", str(tmp_path))
    with pytest.raises(UsageError, match="evalkit data pull ldraw"):
        BrickWorkspace({"kit": "ldraw"})
