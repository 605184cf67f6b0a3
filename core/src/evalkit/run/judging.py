"""Judges after play: final designs before the executors that ask a model, in threads of this process."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from evalkit.episode import LoopExecutor, execution_fields
from evalkit.errors import UsageError
from evalkit.plugins import Plugins
from evalkit.run.assemble import constants_sha256
from evalkit.run.evidence import Gathered, jobs_without_evidence, recorded_setup
from evalkit.run.worker import EvidenceJob, failed_evidence
from evalkit.store.reader import RunReader
from evalkit.store.writer import RunWriter

if TYPE_CHECKING:
    from evalkit.models import ModelClient


@dataclass(slots=True)
class Judged(Gathered):
    """How judging went; `stopped` says why it ended before every design was judged.

    Of the jobs that were asked for, `unjudged` came to nothing; for `kept` of those an earlier judge's
    evidence still counts.
    """

    stopped: str | None = None
    unjudged: int = 0
    kept: int = 0


class _Blobs:
    """Keeps what is too long for a line of evidence; events are the executor's own business."""

    def __init__(self) -> None:
        self.found: dict[str, bytes] = {}

    def event(self, kind: str, fields: Any) -> None:
        """Nothing."""

    def blob(self, data: bytes) -> str:
        """Note the bytes for the parent, and return their hash."""
        sha256 = hashlib.sha256(data).hexdigest()
        self.found[sha256] = data
        return sha256

    def flush(self) -> None:
        """Nothing."""


def judge_designs(
    writer: RunWriter, plugins: Plugins, client: ModelClient, say: Callable[[str], None]
) -> Judged:
    """Let a model judge the final designs of a run that it hasn't judged yet, and append the evidence.

    A judge is an executor with `needs_model`; it gets the client by its method `use_model` and names the
    model among its constants, so that another model judges anew and the last one counts. Where the model
    can't be reached nothing is written, and the design stays unjudged; an error that no call can survive
    ends the judging, and so does a client whose budget is spent (`Budgeted`). UsageError if the run's suite
    has no judge.
    """
    from evalkit.models import BudgetReachedError, ModelError

    reader = RunReader(writer.folder)
    _, judges, tasks, assembly = recorded_setup(reader, plugins, judges=True)
    if not judges:
        raise UsageError(f"the suite of {reader.name} has no judge")
    loops = {name: _with_model(assembly.executor(name), client) for name in judges}
    jobs = jobs_without_evidence(reader, tasks, loops)
    say(f"judging {len(jobs)} final designs ({', '.join(judges)}) by {client.model}")
    gathered, unjudged = Judged(), {job.number: job for job in jobs}
    pool = ThreadPoolExecutor(client.max_connections, "judge")
    try:
        running: dict[Future[tuple[dict[str, Any], _Blobs]], EvidenceJob] = {
            pool.submit(_judged, job, loops[job.executor]): job for job in jobs
        }
        for done in as_completed(running):
            job = running[done]
            if done.cancelled():
                continue
            try:
                fields, blobs = done.result()
            except BudgetReachedError as error:
                gathered.stopped = str(error)
                pool.shutdown(wait=False, cancel_futures=True)
                continue
            except ModelError as error:
                gathered.failed.append((job.key, job.executor, str(error)))
                if error.policy.fatal:
                    pool.shutdown(wait=False, cancel_futures=True)
                continue
            for sha256, data in blobs.found.items():
                writer.blob(sha256, data)
            writer.evidence({"task": job.key.task, **fields})
            gathered.done += 1
            del unjudged[job.number]
            if "error" in fields:
                gathered.failed.append((job.key, job.executor, fields["error"]))
    finally:
        pool.shutdown(wait=True, cancel_futures=True)
    gathered.unjudged = len(unjudged)
    gathered.kept = sum(_has_evidence(reader, job) for job in unjudged.values())
    return gathered


def _has_evidence(reader: RunReader, job: EvidenceJob) -> bool:
    found = reader.evidence.get((job.key.task, job.candidate.sha256, job.executor))
    return found is not None and "error" not in found


def _with_model(loop: LoopExecutor, client: ModelClient) -> LoopExecutor:
    executor: Any = loop.executor
    executor.use_model(client)
    return LoopExecutor(loop.id, loop.version, constants_sha256(executor), executor)


def _judged(job: EvidenceJob, loop: LoopExecutor) -> tuple[dict[str, Any], _Blobs]:
    from evalkit.models import BudgetReachedError, ModelError

    blobs = _Blobs()
    try:
        execution = loop.executor.execute(job.task, job.candidate, pictures=False)
        return execution_fields(loop, job.candidate, execution, blobs), blobs
    except (ModelError, BudgetReachedError):
        raise
    except Exception as error:  # noqa: BLE001 - a judge that raises leaves its metrics unscored
        return failed_evidence(loop, job.candidate, f"{type(error).__name__}: {error}"), blobs
