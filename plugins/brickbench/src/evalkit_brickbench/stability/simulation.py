"""Simulating clusters in a process of their own, with a time limit."""

from __future__ import annotations

import importlib.util
import json
import os
import pickle
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

from evalkit_brickbench.stability.pieces import EngineBody
from evalkit_brickbench.stability.worker import Job, Outcome


def available_engine(wanted: str) -> str:
    """The engine to use: `wanted`, or MuJoCo where PyBullet isn't installed (it has no wheels for newer
    Pythons). Raises `ValueError` for other names."""
    if wanted not in ("pybullet", "mujoco"):
        raise ValueError(f"unknown engine {wanted!r}: use pybullet or mujoco")
    return wanted if importlib.util.find_spec(wanted) else "mujoco"


def engine_version(engine: str) -> str:
    """Name and version of an installed engine."""
    return f"{engine} {version(engine)}"


def run(
    engine: str, ground_ldu: float, clusters: list[list[EngineBody]], seconds: float
) -> tuple[list[Outcome | None], str]:
    """Outcomes in the order of `clusters`, None from the first one that wasn't finished, and why it wasn't
    ("" if all were): the time was up, or the engine died."""
    job = pickle.dumps(Job(engine, ground_ldu, clusters))
    # -P: a folder that an agent wrote to may be the current one; nothing is imported from there.
    command = [sys.executable, "-P", "-m", "evalkit_brickbench.stability.worker"]
    own = str(Path(__file__).parents[2])  # what an agent was given may be installed nowhere
    search = os.pathsep.join(filter(None, [own, os.environ.get("PYTHONPATH")]))
    environment = {**os.environ, "PYTHONPATH": search, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    trouble = ""
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment
    ) as process:
        try:
            out, err = process.communicate(job, timeout=max(seconds, 0.001))
        except subprocess.TimeoutExpired:
            process.kill()
            out, _ = process.communicate()
            trouble = "the time for simulation was up"
        except BaseException:
            process.kill()
            raise
        else:
            if process.returncode:
                last = err.decode(errors="replace").strip().splitlines()[-1:] or ["no message"]
                trouble = f"{engine} died ({process.returncode}): {last[0]}"
    outcomes: list[Outcome | None] = [
        Outcome(**json.loads(line)) for line in out.decode().splitlines(keepends=True) if line.endswith("\n")
    ]
    return outcomes + [None] * (len(clusters) - len(outcomes)), trouble
