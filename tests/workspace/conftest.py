"""`evalkit run blocks.workspace` in real processes, with stand-ins for the programs of coding agents."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from evalkit.sandbox import Level, probe

BLOCKS = Path(__file__).parents[1] / "wheels" / "evalkit_blocks" / "src"
STANDIN = Path(__file__).with_name("standin_agent.py")
TIMEOUT_S = 120
TEMPLATE = """
argv = ["{program}", {arguments}]
prompt = "stdin"
variables = ["STANDIN_SETTING"]
[credentials]
variables = ["STANDIN_KEY"]
[limits]
{limits}
[[turns]]
where = {{ type = "assistant" }}
distinct = "message.id"
[[usage]]
where = {{ type = "assistant" }}
distinct = "message.id"
input = ["message.usage.input_tokens"]
output = ["message.usage.output_tokens"]
[[usage]]
where = {{ type = "result" }}
total = true
input = ["usage.input_tokens"]
output = ["usage.output_tokens"]
cost = ["total_cost_usd"]
[[failures]]
where = {{ type = "result", is_error = true }}
message = "result"
"""


def isolations() -> list[str]:
    """Those that work on this machine, the strongest first."""
    report = probe()
    full = ["full"] if report.level == Level.FULL else []
    return [*full, *(["uid"] if report.drops_uid else []), "none"]


def readable_python() -> str:
    """A Python that every user of the machine may start."""
    system = Path("/usr/bin/python3")
    return str(system) if system.exists() else sys.executable


@dataclass
class Shop:
    """A folder to run the command in, with the toy benchmark installed; `program` is the stand-in."""

    folder: Path
    environment: dict[str, str]
    program: Path

    def template(self, what: str, *arguments: str, program: str = "", **limits: float) -> str:
        """A template that starts the stand-in; the agent's name for it."""
        path = self.folder / "agent.toml"
        words = ", ".join(json.dumps(word) for word in (what, *arguments))
        lines = "\n".join(f"{name} = {value}" for name, value in {"seconds": 60, **limits}.items())
        program = program or str(self.program)
        path.write_text(TEMPLATE.format(program=program, arguments=words, limits=lines))
        return "cli:agent.toml"

    def evalkit(self, *words: str, code: int = 0) -> subprocess.CompletedProcess[str]:
        """Run the command to its end."""
        done = subprocess.run(
            [sys.executable, "-m", "evalkit", *words],
            cwd=self.folder,
            env=self.environment,
            capture_output=True,
            text=True,
            timeout=TIMEOUT_S,
        )
        assert done.returncode == code, done.stderr
        return done

    def play(self, agent: str, *words: str, code: int = 0) -> subprocess.CompletedProcess[str]:
        """Play one task."""
        arguments = ["run", "blocks.workspace", "--agent", agent, "--id", "step-050", "-j", "1"]
        return self.evalkit(*arguments, "--format", "plain", *words, code=code)

    def run_folder(self) -> Path:
        """The newest run."""
        return max((self.folder / "runs").iterdir(), key=lambda path: path.stat().st_ctime_ns)

    def events(self, kind: str = "") -> list[dict[str, Any]]:
        """The events of the newest run's one episode."""
        (path,) = (self.run_folder() / "episodes").iterdir()
        events = [json.loads(line) for line in path.read_text().splitlines()]
        return [event for event in events if not kind or event["kind"] == kind]

    def end(self) -> dict[str, Any]:
        """The end of the newest run's one episode."""
        return self.events()[-1]

    def manifest(self) -> dict[str, Any]:
        """The manifest of the newest run."""
        found: dict[str, Any] = json.loads((self.run_folder() / "run.json").read_text())
        return found

    def printed(self) -> str:
        """What the stand-in printed, as recorded."""
        artifacts = [
            a for e in self.events("agent_process") if e["phase"] == "transcript" for a in e["artifacts"]
        ]
        return b"".join(self.blob(a["blob"]) for a in artifacts).decode()

    def blob(self, sha256: str) -> bytes:
        """A blob of the newest run."""
        return (self.run_folder() / "blobs" / sha256[:2] / sha256).read_bytes()

    def codes(self) -> list[str]:
        """Codes of all violations."""
        return [v["code"] for e in self.events("violation") for v in e["violations"]]


def script(path: Path, source: Path, python: str) -> None:
    """An executable copy of a Python file."""
    path.write_text(f"#!{python}\n{source.read_text()}")
    path.chmod(0o755)


@pytest.fixture
def shop(tmp_path: Path) -> Iterator[Shop]:
    """A shop with a key in its environment."""
    site = tmp_path / "site"
    metadata = site / "evalkit_blocks-0.1.0.dist-info"
    metadata.mkdir(parents=True)
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: evalkit-blocks\nVersion: 0.1.0\n")
    (metadata / "entry_points.txt").write_text("[evalkit]\nblocks = evalkit_blocks.plugin\n")
    shutil.copytree(BLOCKS / "evalkit_blocks", site / "evalkit_blocks")
    program = Path(tempfile.mkdtemp(prefix="evalkit-standin-", dir="/tmp"))
    program.chmod(0o755)  # pytest's own folders are closed to other users
    script(program / "standin", STANDIN, readable_python())
    kept = {name: value for name, value in os.environ.items() if not name.startswith("EVALKIT")}
    environment = kept | {
        "PYTHONPATH": str(site),
        "EVALKIT_PLUGINS": "blocks",
        "COLUMNS": "100",
        "STANDIN_KEY": "key-1234567890",
    }
    yield Shop(tmp_path, environment, program / "standin")
    shutil.rmtree(program)


@pytest.fixture(params=isolations())
def isolation(request: pytest.FixtureRequest) -> str:
    """Every isolation that works on this machine, in turn."""
    return str(request.param)
