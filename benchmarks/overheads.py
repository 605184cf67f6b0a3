"""What evalkit itself costs, with an environment that does nothing.

    python benchmarks/overheads.py [--quick] [--peers]

Prints each figure beside its gate and their ratio. `--peers` measures Inspect AI and lm-evaluation-harness
in the same run where they are installed. CPU seconds are user + system of all processes.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

PLUGIN = """
from pathlib import Path
from evalkit.hookspecs import AgentSpec, BenchmarkSpec, EnvironmentSpec, MetricSpec, hookimpl

@hookimpl
def evalkit_benchmarks():
    return [BenchmarkSpec(id="noop", title="Nothing", tasks="evalkit_noop.play:tasks")]

@hookimpl
def evalkit_suites():
    return Path(__file__).with_name("suites.yaml")

@hookimpl
def evalkit_environment(benchmark, variant):
    return EnvironmentSpec(target="evalkit_noop.play:Noop") if benchmark == "noop" else None

@hookimpl
def evalkit_metrics(benchmark):
    if benchmark != "noop":
        return []
    return [MetricSpec(id="noop.done", target="evalkit_noop.play:Done", label="Done", summary="ended")]

@hookimpl
def evalkit_agents():
    return [AgentSpec(name="noop", target="evalkit_noop.play:Nobody", summary="does nothing")]
"""

PLAY = """
from evalkit import Observation, Reply, Score, StepResult, Task, Tool, ToolCall

TICK = Tool("tick", "Do nothing.")
REPLY = Reply((ToolCall("tick"),))

def tasks(block, settings):
    return [Task(f"task-{i}", {"turns": block["turns"]}) for i in range(block["count"])]

class Noop:
    def __init__(self, settings):
        self.left = 0
    def reset(self, task, seed):
        self.left = task.inputs["turns"]
        return Observation(text="tick")
    def tools(self):
        return (TICK,)
    def step(self, call, ctx):
        self.left -= 1
        return StepResult(Observation(text="tock"), done=self.left == 0)
    def feedback(self, verdict, execution):
        raise AssertionError
    def state(self):
        return {"left": self.left}
    @classmethod
    def from_state(cls, task, state, settings):
        environment = cls(settings)
        environment.left = state["left"]
        return environment

class Nobody:
    def __init__(self, argument, settings):
        pass
    def start(self, tools, seed):
        pass
    def act(self, observation, ctx):
        return REPLY

class Done:
    def __init__(self, settings):
        pass
    def measure(self, episode, task):
        return Score(1.0 if episode.end["reason"] == "done" else 0.0)
"""

SUITES = """
evalkit: 1
suites:
  noop.run:
    benchmark: noop
    tasks: {count: 1, turns: 1}
    agent: noop
    metrics: [noop.done]
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and print; the exit code is the number of gates missed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a tenth of the episodes")
    parser.add_argument("--peers", action="store_true", help="also measure installed peers")
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(Path(folder), 10 if options.quick else 1)
        rows = bench.rows()
        missed = print_rows(rows)
        if options.peers:
            print_peers(rows[0][1])
    return missed


class Bench:
    """Runs evalkit in processes of its own."""

    def __init__(self, folder: Path, divisor: int) -> None:
        self.folder, self.divisor = folder, divisor
        package = folder / "site" / "evalkit_noop"
        info = folder / "site" / "evalkit_noop-1.0.dist-info"
        for path, text in {
            package / "__init__.py": "",
            package / "plugin.py": PLUGIN,
            package / "play.py": PLAY,
            package / "suites.yaml": SUITES,
            info / "METADATA": "Metadata-Version: 2.1\nName: evalkit-noop\nVersion: 1.0\n",
            info / "entry_points.txt": "[evalkit]\nnoop = evalkit_noop.plugin\n",
        }.items():
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        self.environment = {**os.environ, "PYTHONPATH": str(folder / "site"), "EVALKIT_PLUGINS": "noop"}

    def rows(self) -> list[tuple[str, float, float, str]]:
        """(what, measured, gate, unit)."""
        few, many = 100, 100 + 10_000 // self.divisor
        base = self.run(few, 1)
        full = self.run(many, 1)
        turns = self.run(few, 101)
        per_episode = (full["cpu_s"] - base["cpu_s"]) / (many - few) * 1e3
        per_turn = (turns["cpu_s"] - base["cpu_s"]) / (few * 100) * 1e3
        memory = (full["rss_kib"] - base["rss_kib"]) / (many - few)
        rows = [
            ("CPU per one-turn episode", per_episode, 1.0, "ms"),
            ("CPU per turn", per_turn, 0.3, "ms"),
            ("memory growth per episode", memory, 2.0, "KiB"),
            ("log per one-turn episode", full["log_bytes"] / 1024, 1.5, "KiB"),
            ("reading 100,000 finished episodes", self.index(100_000 // self.divisor), 2.0, "s"),
            ("evalkit --help, CPU", self.help_ms(), 150.0, "ms"),
        ]
        rescoring = self.rescore_rate(Path(full["run"]), many)
        rows.append(("rescoring one episode, CPU", 1e3 / rescoring, 0.2, "ms"))
        return rows

    def run(self, count: int, turns: int) -> dict[str, float | str]:
        """Play `count` episodes; CPU of all processes, peak memory of the parent, size of the logs."""
        out = self.folder / "runs" / f"{count}-{turns}"
        command = [
            "run",
            "noop.run",
            "-T",
            f"tasks.count={count}",
            "-T",
            f"tasks.turns={turns}",
            "-o",
            str(out),
        ]
        cpu = self.cpu([*command, "--format", "json"], report=self.folder / "rss")
        (run,) = out.iterdir()
        logs = [path.stat().st_size for path in (run / "episodes").iterdir()]
        assert len(logs) == count
        return {
            "cpu_s": cpu,
            "rss_kib": float((self.folder / "rss").read_text()),
            "log_bytes": sum(logs) / count,
            "run": str(run),
        }

    def cpu(self, arguments: list[str], report: Path | None = None) -> float:
        """CPU seconds of an evalkit command and its workers; peak memory of the command goes to `report`."""
        code = (
            "import resource, sys\n"
            "from evalkit.cli.main import main\n"
            "if __name__ == '__main__':\n"
            f"    sys.argv = ['evalkit', *{arguments!r}]\n"
            "    try:\n        main()\n"
            "    finally:\n"
            f"        open({str(report)!r}, 'w').write("
            "str(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss))\n"
        )
        script = self.folder / "command.py"
        script.write_text(code if report else code.split("    try")[0] + "    main()\n")
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        done = subprocess.run(
            [sys.executable, str(script)],
            env=self.environment,
            capture_output=True,
            text=True,
            cwd=self.folder,
        )
        if done.returncode:
            raise SystemExit(done.stderr)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime

    def help_ms(self) -> float:
        """Best of five."""
        return min(self.cpu(["--help"]) for _ in range(5)) * 1e3

    def index(self, count: int) -> float:
        """Seconds to find out which of `count` finished episodes need not be played, scaled to 100,000."""
        from evalkit.store.reader import RunReader

        (run,) = (self.folder / "runs" / "100-1").iterdir()
        folder = self.folder / "big"
        folder.mkdir()
        manifest = json.loads((run / "run.json").read_text())
        manifest["tasks"] = [f"task-{i}" for i in range(count)]
        (folder / "run.json").write_text(json.dumps(manifest))
        line = json.loads((run / "episodes.jsonl").read_text().splitlines()[0])
        with open(folder / "episodes.jsonl", "w") as file:
            for i in range(count):
                line["key"]["task"] = f"task-{i}"
                file.write(json.dumps(line, separators=(",", ":")) + "\n")
        started = time.process_time()
        reader = RunReader(folder)
        done = reader.index()
        left = [key for key in reader.planned() if key not in done]
        seconds = time.process_time() - started
        assert not left
        return seconds * 100_000 / count

    def rescore_rate(self, run: Path, count: int) -> float:
        """Episodes rescored per CPU second, without the start-up."""
        base = min(
            self.cpu(["rescore", str(next((self.folder / "runs" / "100-1").iterdir()))]) for _ in range(2)
        )
        return (count - 100) / max(1e-9, self.cpu(["rescore", str(run)]) - base)


def print_rows(rows: list[tuple[str, float, float, str]]) -> int:
    """A line per figure; how many miss their gate."""
    print(f"{'':40} {'measured':>12} {'gate':>12} {'ratio':>7}")
    for what, value, gate, unit in rows:
        print(f"{what:40} {value:>8.3f} {unit:<3} {gate:>8g} {unit:<3} {value / gate:>7.2f}")
    return sum(value > gate for _, value, gate, _ in rows)


def print_peers(own_ms: float) -> None:
    """One-turn episodes in other harnesses, each with a model that answers at once."""
    for name, module, script in (("Inspect AI", "inspect_ai", INSPECT), ("lm-eval", "lm_eval", LM_EVAL)):
        if importlib.util.find_spec(module) is None:
            print(f"{name}: not installed, not measured")
            continue
        ms = (_peer_cpu(script, 550) - _peer_cpu(script, 50)) / 500 * 1e3
        print(f"{name:40} {ms:>8.3f} ms CPU per one-turn episode, {ms / own_ms:.1f} times ours")


def _peer_cpu(script: str, count: int) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(
            [sys.executable, "-c", script, str(count)], cwd=folder, check=True, capture_output=True
        )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


#: Its token counter downloads a vocabulary; counting words instead lets it run offline and costs it less.
INSPECT = """
import sys
import tiktoken
from inspect_ai import Task, eval
from inspect_ai.dataset import Sample
from inspect_ai.scorer import includes

class Words:
    def encode(self, text, **_):
        return text.split()

tiktoken.get_encoding = tiktoken.encoding_for_model = lambda name: Words()
samples = [Sample(input="tick", target="output") for _ in range(int(sys.argv[1]))]
task = Task(dataset=samples, scorer=includes())
(log,) = eval(task, model="mockllm/model", display="none", log_dir="logs")
assert log.status == "success" and len(log.samples) == len(samples), log.error
"""

LM_EVAL = """
import sys
from datasets import Dataset
from lm_eval import simple_evaluate
from lm_eval.api.task import ConfigurableTask

count = int(sys.argv[1])
rows = Dataset.from_list([{"q": "tick", "a": "tock"}] * count)
task = ConfigurableTask(config={
    "task": "tick", "custom_dataset": lambda **_: {"test": rows}, "test_split": "test",
    "output_type": "generate_until", "doc_to_text": "{{q}}", "doc_to_target": "{{a}}",
    "generation_kwargs": {"until": ["."]}, "metric_list": [{"metric": "exact_match"}],
})
found = simple_evaluate(model="dummy", tasks=[task], log_samples=True, bootstrap_iters=0)
assert len(found["samples"]["tick"]) == count
"""

if __name__ == "__main__":
    sys.exit(main())
