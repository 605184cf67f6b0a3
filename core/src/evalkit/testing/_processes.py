"""The same episode in another process: what is pickled arrives, and the results are equal.

The other process has another hash seed, so that whatever depends on the order of a set shows.
"""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from dataclasses import replace
from typing import Any

from evalkit.testing._environment_checks import first_difference
from evalkit.testing._evidence_checks import execution_facts
from evalkit.testing._finding import Broken, difference, raised
from evalkit.testing._play import play_script
from evalkit.testing._subject import Subject

TIMEOUT_S = 300
HASH_SEEDS = ("1", "2")


def check_processes(subject: Subject) -> str:
    """Tasks, candidates and executions can be pickled, and another process gets the same results."""
    for task in subject.tasks:
        _pickled(task, f"the task {task.id}")
    alone = replace(subject, load_tasks=tuple, metrics={}, run_metrics={}, agents={})
    pickled = _pickled(alone, "the environment, a validator or an executor")
    here = {task.id: play_script(alone, task) for task in subject.tasks}
    for played in here.values():
        for candidate in played.candidates:
            _pickled(candidate, f"{played.task.id}: a candidate")
        for execution in played.executions:
            _pickled(execution, f"{played.task.id}: an execution by {execution.executor}")
    there = _elsewhere(pickled)
    for task in subject.tasks:
        played = here[task.id]
        other_events, other_executions = there[task.id]
        if found := first_difference(played.events(), other_events):
            raise Broken(f"{task.id}: another process gets another episode: {found}")
        facts = [[execution_facts(e) for e in some] for some in (played.executions, other_executions)]
        if found := difference(facts[0], facts[1], "executions"):
            raise Broken(f"{task.id}: another process finds other evidence: {found}")
    return f"{len(subject.tasks)} tasks, played in another process with another hash seed"


def _pickled(value: Any, what: str) -> bytes:
    try:
        data = pickle.dumps(value)
        pickle.loads(data)
    except Exception as error:
        raise Broken(f"{what} can't be pickled: {raised(error)}") from error
    return data


def _elsewhere(subject: bytes) -> dict[str, Any]:
    """What another process plays, by task."""
    seed = next(seed for seed in HASH_SEEDS if seed != os.environ.get("PYTHONHASHSEED"))
    done = subprocess.run(
        [sys.executable, "-m", "evalkit.testing._processes"],
        input=pickle.dumps(sys.path) + subject,
        capture_output=True,
        env={**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        timeout=TIMEOUT_S,
        check=False,
    )
    if done.returncode != 0:
        words = done.stderr.decode(errors="replace").strip().splitlines() or [f"exit {done.returncode}"]
        raise Broken(f"another process fails: {words[-1]}")
    result: dict[str, Any] = pickle.loads(done.stdout)
    return result


def main() -> None:
    """Read a subject from stdin, play its scripts, and write what came out to stdout."""
    results = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what plugins print is no result
    sys.path[:] = pickle.load(sys.stdin.buffer)
    subject: Subject = pickle.load(sys.stdin.buffer)
    with results:
        played = {task.id: play_script(subject, task) for task in subject.tasks}
        pickle.dump({id: (play.events(), play.executions) for id, play in played.items()}, results)


if __name__ == "__main__":
    main()
