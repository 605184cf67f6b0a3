"""Executions after play: the final design of every episode before each of the suite's `final_executors`.

Play and this have separate fates: what fails here leaves the episode played, its metrics unscored, and
can be gathered again.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from evalkit.episode import LoopExecutor
from evalkit.errors import EvalkitError, PluginError
from evalkit.plugins import Plugins
from evalkit.run.assemble import Assembly, release_executors
from evalkit.run.plan import load_benchmark_tasks
from evalkit.run.pool import Blob, Evidence, Failed, JobPool, Message
from evalkit.run.runner import POLL_S, interruptible
from evalkit.run.scoring import benchmark_of, scorable_episodes
from evalkit.run.worker import EvidenceJob, PlaySetup, failed_evidence
from evalkit.store.reader import RunReader
from evalkit.store.writer import RunWriter
from evalkit.types import Artifact, Candidate, EpisodeKey, Task


@dataclass(slots=True)
class Gathered:
    """How gathering went: executions done, and those that failed with the reason."""

    done: int = 0
    failed: list[tuple[EpisodeKey, str, str]] = field(default_factory=list)
    interrupted: bool = False


def recorded_setup(
    reader: RunReader, plugins: Plugins, *, judges: bool = False
) -> tuple[PlaySetup, list[str], list[Task], Assembly]:
    """What a run's final executors need, from its manifest: setup, executor ids, tasks, assembly.

    The executors are those without a model, or with `judges` those that need one.
    """
    protocol, benchmark = reader.manifest["protocol"], benchmark_of(reader)
    setup = PlaySetup(
        benchmark=benchmark,
        variant=protocol["variant"],
        settings=protocol["settings"],
        limits={},
        validators=(),
        executors=(),
        agents=(),
        pictures=reader.manifest["pictures"],
    )
    specs = plugins.executors(benchmark)
    executors = [name for name in protocol["final_executors"] if specs[name].needs_model is judges]
    tasks = load_benchmark_tasks(plugins, benchmark, protocol["tasks"], protocol["settings"])
    return setup, executors, tasks, Assembly(setup, plugins)


def missing_evidence(
    reader: RunReader, tasks: Iterable[Task], executors: Sequence[str], assembly: Assembly
) -> list[EvidenceJob]:
    """A job per final design and executor that the record has no good evidence for."""
    return jobs_without_evidence(reader, tasks, {name: assembly.executor(name) for name in executors})


def jobs_without_evidence(
    reader: RunReader, tasks: Iterable[Task], current: Mapping[str, LoopExecutor]
) -> list[EvidenceJob]:
    """A job per final design and executor (by id) that the record has no good evidence for.

    Evidence counts if it was found by the same version with the same constants and without an error.
    Designs that several episodes of a task share are executed once.
    """
    if not current:
        return []
    by_id = {task.id: task for task in tasks}
    jobs: dict[tuple[str, str, str], EvidenceJob] = {}
    unreadable: dict[EpisodeKey, str] = {}
    for key, episode in scorable_episodes(reader, unreadable):
        design = episode.final_design()
        if design is None or key.task not in by_id:
            continue
        for name, loop in current.items():
            found = episode.evidence(name)
            identity = {"version": loop.version, "constants_sha256": loop.constants_sha256}
            if found is not None and "error" not in found and identity.items() <= dict(found).items():
                continue
            files = tuple(Artifact(n, reader.blob(sha)) for n, sha in design.get("files", {}).items())
            candidate = Candidate(reader.load(design["data"]), files)
            jobs.setdefault(
                (key.task, design["sha256"], name),
                EvidenceJob(len(jobs), key, by_id[key.task], candidate, name),
            )
    return list(jobs.values())


def gather(
    setup: PlaySetup,
    plugins: Plugins,
    writer: RunWriter,
    jobs: Sequence[EvidenceJob],
    *,
    workers: int,
    timeout_s: float | None,
    memory_bytes: int | None,
) -> Gathered:
    """Run the jobs in worker processes and append what they find to the record."""
    gathered = Gathered()
    if not jobs:
        return gathered
    assembly = Assembly(setup, plugins)
    waiting, running = deque(jobs), dict[int, EvidenceJob]()
    pool = JobPool(setup, workers, timeout_s, memory_bytes)
    try:
        with interruptible() as interrupted:
            while (waiting or running) and not interrupted():
                while waiting and pool.free():
                    job = waiting.popleft()
                    running[job.number] = job
                    pool.submit(job)
                for message in pool.messages(POLL_S):
                    _handle(message, running, assembly, writer, gathered)
            gathered.interrupted = interrupted()
    finally:
        try:
            pool.close()
        finally:
            release_executors(plugins, setup, sorted({job.executor for job in jobs}))
    return gathered


def _handle(
    message: Message,
    running: dict[int, EvidenceJob],
    assembly: Assembly,
    writer: RunWriter,
    gathered: Gathered,
) -> None:
    if isinstance(message, Blob):
        writer.blob(message.sha256, message.data)
        return
    job = running.pop(message.number, None)
    if job is None:
        return
    if isinstance(message, Failed):
        if message.reason is None:
            raise PluginError(assembly.setup.benchmark, message.detail)
        why = f"{message.reason.value}: {message.detail}"
        fields = failed_evidence(assembly.executor(job.executor), job.candidate, why)
    elif isinstance(message, Evidence):
        fields = message.fields
    else:
        raise EvalkitError(f"unexpected {type(message).__name__} from the execution of {job.key.text()}")
    writer.evidence({"task": job.key.task, **fields})
    gathered.done += 1
    if "error" in fields:
        gathered.failed.append((job.key, job.executor, fields["error"]))
