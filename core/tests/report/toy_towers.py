"""A toy benchmark and a recorded run of it: towers of a height, which fall above the task's limit.

The run is played by the real walk and written by the real writer. Tests put this folder on the path and
import it, because plugins name what they bring as `module:attribute`.
"""

import itertools
import json

from pydantic import BaseModel

from evalkit.episode import LoopExecutor, Rules, play
from evalkit.hookspecs import BenchmarkSpec, MetricSpec, ViewSpec, hookimpl
from evalkit.plugins import Plugins
from evalkit.report import Column, Rate, Table
from evalkit.run.plan import tasks_sha256
from evalkit.run.worker import event_body
from evalkit.store.writer import RunWriter
from evalkit.types import (
    Artifact,
    Candidate,
    EpisodeKey,
    Execution,
    Image,
    Observation,
    Reply,
    Score,
    StepResult,
    Stop,
    Task,
    Tool,
    ToolCall,
    Violation,
)

TASKS = [Task(f"T-{n}", {"limit_m": n}, {"family": "low" if n < 3 else "high"}) for n in range(1, 5)]

METRICS = [
    MetricSpec("towers.success", "toy_towers:Success", "Success@3", "stood in the end"),
    MetricSpec("towers.height", "toy_towers:Height", "Height", "of towers that stand", kind="mean",
               cluster="family", missing="omit", unit="m"),
    MetricSpec("towers.looks", "toy_towers:Looks", "Looks", "what a judge says", kind="mean"),
    MetricSpec("towers.recovery", "toy_towers:Recovery", "Recovery", "late success", scope="run",
               missing="omit"),
]  # fmt: skip


class Propose(BaseModel):
    """How high to build."""

    height_m: int


class Towers:
    """Up to three proposals; the end comes with the first that stands."""

    def __init__(self, settings):
        self.heights = []

    def reset(self, task, seed):
        return Observation(f"Build as high as {task.id} takes.", images=(Image("site.png", b"a picture"),))

    def tools(self):
        return [Tool("propose", "Propose a tower.", Propose)]

    def step(self, call, ctx):
        self.heights.append(call.arguments["height_m"])
        plan = Artifact("../plan.txt", b"a plan")
        return StepResult(Observation(), Candidate({"height_m": self.heights[-1]}, (plan,)))

    def feedback(self, verdict, execution):
        stood = execution is not None and execution.success
        return Observation("It stands." if stood else "Try again.", done=stood or len(self.heights) == 3)

    def state(self):
        return {"heights": self.heights}


class Positive:
    def validate(self, task, candidate):
        height = candidate.data["height_m"]
        if height > 0:
            return []
        return [Violation("TOO_LOW", f"height {height} m; build above the ground", value=height, limit=0)]


class Gravity:
    def execute(self, task, candidate, *, pictures):
        height, limit = candidate.data["height_m"], task.inputs["limit_m"]
        frame = Artifact("frame.png", b"the end")
        return Execution(height <= limit, {"sway_m": height / 10, "limit_m": limit}, (frame,))


class Builder:
    """Plays the heights it was given; raises at None."""

    def __init__(self, heights):
        self.heights = list(heights)

    def start(self, tools, seed):
        pass

    def act(self, observation, ctx):
        if not self.heights:
            return Stop("out of ideas")
        height = self.heights.pop(0)
        if height is None:
            raise RuntimeError("no idea")
        return Reply((ToolCall("propose", {"height_m": height}),))


class _Metric:
    def __init__(self, settings):
        pass


class Success(_Metric):
    def measure(self, episode, task):
        return Score(float(any(turn.succeeded for turn in episode.turns())))


class Height(_Metric):
    def measure(self, episode, task):
        heights = [t.action["arguments"]["height_m"] for t in episode.turns() if t.succeeded]
        return Score(heights[0]) if heights else Score.not_applicable("nothing stands")


class Looks(_Metric):
    def measure(self, episode, task):
        return Score(None, "skipped", {"why": "no judge"})


class Recovery(_Metric):
    def measure_run(self, episodes):
        failed = [e for e, _ in episodes if any(t.executions and not t.succeeded for t in e.turns())]
        late = [e for e in failed if any(t.succeeded for t in e.turns())]
        return Score(None, numerator=len(late), denominator=len(failed))


def by_family(episodes):
    families = sorted({task.hidden["family"] for _, task in episodes})
    rows = []
    for family in families:
        ends = [
            any(t.succeeded for t in e.turns()) for e, task in episodes if task.hidden["family"] == family
        ]
        rows.append((family, Rate(sum(ends) / len(ends), sum(ends), len(ends))))
    return [Table("towers.families", "By family", (Column("family"), Column("Success")), tuple(rows))]


def broken_view(*_):
    raise RuntimeError("no ink")


def counting(played, missing=()):
    keys = tuple((key.text(), task.hidden["family"]) for key, task in missing)
    return [
        Table("towers.counts", "Counts", (Column("missing"), Column("family")), keys, f"{len(played)} played")
    ]


def drawing(episode, task):
    return [Artifact("tower.svg", f"<svg>{task.inputs['limit_m']}</svg>".encode(), "image/svg+xml")]


def load_tasks(tasks, settings):
    return TASKS


class Plugin:
    """The hooks, with views that a test may change."""

    def __init__(self):
        self.views = [
            ViewSpec("families", "toy_towers:by_family", "by family", scope="run"),
            ViewSpec("drawing", "toy_towers:drawing", "a drawing"),
        ]

    @hookimpl
    def evalkit_benchmarks(self):
        return [BenchmarkSpec("towers", "Towers", "toy_towers:load_tasks")]

    @hookimpl
    def evalkit_metrics(self, benchmark):
        return METRICS if benchmark == "towers" else []

    @hookimpl
    def evalkit_views(self, benchmark):
        return self.views if benchmark == "towers" else []


def plugins(plugin=None):
    """The plugins of a process in which only the toy is installed."""
    found = Plugins()
    found.add("towers", plugin or Plugin())
    return found


class _Sink:
    def __init__(self, writer, log):
        self.writer, self.log, self.sequence = writer, log, 0

    def event(self, kind, fields):
        self.log.append([event_body(self.sequence, kind, fields)])
        self.sequence += 1

    def blob(self, data):
        from hashlib import sha256

        digest = sha256(data).hexdigest()
        self.writer.blob(digest, data)
        return digest

    def flush(self):
        pass


def record(folder, builders, *, run="20260131-101500-towers.all-0001", **changes):
    """Record a run: `builders` maps agent → task id, or (task id, epoch) → heights; what an agent lacks
    isn't played. `changes` are of the manifest.
    """
    manifest = {
        "record_version": 1,
        "run": run,
        "created": "2026-01-31T10:15:00+00:00",
        "suite": {"name": "towers.all", "version": 1, "title": "Towers", "origin": "toy", "notices": []},
        "protocol": {
            "benchmark": {"towers": "1"},
            "tasks": {},
            "condition": "strict",
            "variant": "default",
            "limits": {},
            "settings": {},
            "validators": {},
            "executors": {},
            "final_executors": {},
            "metrics": {spec.id: spec.version for spec in METRICS},
            "order": [[], [], []],
        },
        "protocol_hash": "0123456789abcdef" * 4,
        "condition": "strict",
        "agents": [
            {"id": a, "name": a, "argument": "", "version": "1", "plugin": "towers"} for a in builders
        ],
        "tasks": [task.id for task in TASKS],
        "tasks_sha256": tasks_sha256(t for t in TASKS if t.id in changes.get("tasks", [t.id])),
        "epochs": 1,
        "seed": 0,
        "pictures": True,
        "executors": {"gravity": {"version": "1", "constants_sha256": "ab" * 32, "constants": {}}},
        "versions": {"evalkit-core": "0.1.0"},
        "platform": {"python": "3.11.7", "implementation": "cpython", "system": "Linux", "machine": "x86_64"},
    } | changes
    writer = RunWriter.create(folder / run, json.loads(json.dumps(manifest)))
    rules = Rules({}, [Positive()], [LoopExecutor("gravity", "1", "ab" * 32, Gravity())], pictures=True)
    for agent, of_task in builders.items():
        for task, epoch in itertools.product(TASKS, range(1, manifest["epochs"] + 1)):
            heights = of_task.get((task.id, epoch), of_task.get(task.id))
            if heights is not None and task.id in manifest["tasks"]:
                key = EpisodeKey(agent, task.id, "strict", epoch)
                log, attempt = writer.begin(key)
                sink = _Sink(writer, log)
                end = play(key, task, 0, Towers({}), Builder(heights), rules, sink)
                fields = {"reason": end.reason.value, "counters": dict(end.counters)}
                writer.finish(key, log, attempt, fields | ({"detail": end.detail} if end.detail else {}))
    writer.close()
    return folder / run
