"""How long it takes to take up a run of many finished episodes, and to check it.

python benchmarks/records.py [EPISODES]
"""

from __future__ import annotations

import json
import sys
import tempfile
import time
from pathlib import Path

from evalkit.run.resume import selected
from evalkit.store import RECORD_VERSION
from evalkit.store.reader import RunReader
from evalkit.types import EpisodeKey


def write_run(folder: Path, episodes: int) -> None:
    """A run folder with an index of finished episodes; there are no logs behind it."""
    tasks = [f"T1A_Spacing_{n:06d}m" for n in range(episodes)]
    manifest = {
        "record_version": RECORD_VERSION,
        "run": folder.name,
        "created": "2026-01-01T00:00:00+00:00",
        "suite": {"name": "made.up", "version": 1, "title": "", "origin": "", "notices": []},
        "protocol": {
            "benchmark": {"made": "1"},
            "tasks": {},
            "condition": "strict",
            "variant": "default",
            "limits": {},
            "settings": {},
            **{kind: {} for kind in ("validators", "executors", "final_executors", "metrics")},
            "order": [[], [], []],
        },
        "protocol_hash": "",
        "condition": "strict",
        "agents": [{"id": "truss", "name": "truss", "argument": "", "version": "1"}],
        "tasks": tasks,
        "tasks_sha256": "",
        "epochs": 1,
        "seed": 0,
        "pictures": False,
        "executors": {},
        "versions": {},
        "platform": {"python": "", "system": "", "machine": ""},
    }
    (folder / "run.json").write_text(json.dumps(manifest, indent=2))
    with open(folder / "episodes.jsonl", "w") as file:
        for number, task in enumerate(tasks):
            line = {
                "key": EpisodeKey("truss", task, "strict", 1).as_dict(),
                "end": {"reason": "done", "counters": {"calls": 1 + number % 3, "executions": 1}},
                "attempt": 1,
                "events": 5,
                "chain": f"{number:064x}",
            }
            file.write(json.dumps(line, separators=(",", ":")) + "\n")


def main() -> None:
    """Print the seconds that reading the manifest and index and choosing what to play take."""
    episodes = int(sys.argv[1]) if len(sys.argv) > 1 else 100_000
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        write_run(folder, episodes)
        for _ in range(3):
            started = time.process_time()
            chosen = selected(RunReader(folder), None)
            seconds = time.process_time() - started
            print(f"{episodes} finished episodes read in {seconds:.2f} s of CPU time; {len(chosen)} to play")


if __name__ == "__main__":
    main()
