"""Checks of validators, executors, metrics and agents. Each returns what it looked at, or raises."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict
from typing import Any

from evalkit.testing._contracts import checked_execution, checked_violations
from evalkit.testing._environment_checks import require_json
from evalkit.testing._finding import Broken, Skip, difference, raised
from evalkit.testing._play import Played, gather, play_script, record
from evalkit.testing._subject import Builder, Script, Subject, new_agent
from evalkit.types import Candidate, Episode, Execution, Score, Task, Verdict

STATUSES = ("ok", "not_applicable", "skipped", "degraded", "undetermined", "unscored")
VALUED = ("ok", "degraded")


def check_validators(subject: Subject) -> str:
    """A validator says the same of a candidate every time, and changes neither candidate nor task."""
    if not subject.validators:
        raise Skip("the suite has no validators")
    candidates = list(_candidates(subject))
    for name, build in subject.validators.items():
        for task, candidate in candidates:
            before = copy.deepcopy((task, candidate))
            validator = build(subject.settings)
            first = _violations(name, validator.validate(task, candidate))
            _check_unchanged(name, before, (task, candidate))
            for again in (validator, build(subject.settings)):
                second = _violations(name, again.validate(task, candidate))
                if found := difference(first, second, "violations"):
                    raise Broken(f"{name} on {task.id}: says different things of one candidate: {found}")
    return f"{len(subject.validators)} validators, {len(candidates)} candidates"


def _violations(name: str, answer: Any) -> list[dict[str, Any]]:
    """A validator's answer as JSON; Broken if it isn't one."""
    violations = [asdict(violation) for violation in checked_violations(name, answer)]
    require_json(violations, f"{name}: its answer")
    return violations


def check_executors(subject: Subject) -> str:
    """An executor finds the same evidence every time, with and without pictures, and changes nothing."""
    loops, finals = subject.executors, subject.final_executors
    if not loops and not finals:
        raise Skip("the suite has no executors without a model")
    legal = [(task, c) for task, c in _candidates(subject) if _is_legal(subject, task, c)]
    final = [(task, c) for task, c in _final_candidates(subject)]
    for name, build in loops.items():
        _check_executor(subject, name, build, legal)
    for name, build in finals.items():
        _check_executor(subject, name, build, final)
    counts = f"{len(loops)} in the loop on {len(legal)} candidates"
    return f"{counts}, {len(finals)} after play on {len(final)}" if finals else counts


def _check_executor(
    subject: Subject, name: str, build: Builder, candidates: list[tuple[Task, Candidate]]
) -> None:
    executor = build(subject.settings)
    require_json(executor.constants(), f"{name}: constants")
    if found := difference(executor.constants(), build(subject.settings).constants(), "constants"):
        raise Broken(f"{name}: has different constants when it is built again: {found}")
    for task, candidate in candidates:
        before = copy.deepcopy((task, candidate))
        first = executor.execute(task, candidate, pictures=False)
        checked_execution(name, first)
        require_json(first.data, f"{name}: data")
        _check_unchanged(name, before, (task, candidate))
        again = executor.execute(task, candidate, pictures=False)
        anew = build(subject.settings).execute(task, candidate, pictures=False)
        for other, files in ((again, True), (anew, True)):
            if found := difference(execution_facts(first, files), execution_facts(other, files)):
                raise Broken(f"{name} on {task.id}: gives other evidence the second time: {found}")
        pictured = executor.execute(task, candidate, pictures=True)
        if found := difference(execution_facts(first, False), execution_facts(pictured, False)):
            raise Broken(f"{name} on {task.id}: pictures change the evidence: {found}")


def execution_facts(execution: Execution, files: bool = True) -> dict[str, Any]:
    """What an execution found, as values that can be compared; `files` says whether artifacts count."""
    facts: dict[str, Any] = {"success": execution.success, "data": execution.data}
    if files:
        facts["files"] = {artifact.name: artifact.data for artifact in execution.artifacts}
    return facts


def _check_unchanged(name: str, before: tuple[Task, Candidate], after: tuple[Task, Candidate]) -> None:
    if found := difference(_facts(*before), _facts(*after)):
        raise Broken(f"{name} changes what it is given: {found}")


def _facts(task: Task, candidate: Candidate) -> dict[str, Any]:
    return {"inputs": task.inputs, "hidden": task.hidden, "candidate": candidate.data}


def _candidates(subject: Subject) -> Iterator[tuple[Task, Candidate]]:
    """Candidates that the scripts make, each once per task."""
    made = False
    for task in subject.tasks:
        distinct = {candidate.sha256: candidate for candidate in play_script(subject, task).candidates}
        for candidate in distinct.values():
            made = True
            yield task, candidate
    if not made:
        raise Skip("the scripts make no candidate")


def _final_candidates(subject: Subject) -> Iterator[tuple[Task, Candidate]]:
    for task in subject.tasks:
        if candidates := play_script(subject, task).candidates:
            yield task, candidates[-1]


def _is_legal(subject: Subject, task: Task, candidate: Candidate) -> bool:
    found = [
        violation
        for build in subject.validators.values()
        for violation in build(subject.settings).validate(task, candidate)
    ]
    return Verdict(tuple(found)).valid


def check_metrics(subject: Subject) -> str:
    """Metrics give a well-formed score of every record: played to the end, cut short, over at once, none."""
    if not subject.metrics and not subject.run_metrics:
        raise Skip("the suite has no metrics")
    played = [p for task in subject.tasks for p in _plays(subject, task)]
    for name, build in subject.metrics.items():
        for play in played:
            _check_measure(subject, name, build, play.episode(), play.task)
    episodes = [(play.episode(), play.task) for play in played]
    for name, build in subject.run_metrics.items():
        _check_measure_run(subject, name, build, episodes)
    count = len(subject.metrics) + len(subject.run_metrics)
    return f"{count} metrics on {len(played)} episodes"


def _plays(subject: Subject, task: Task) -> Iterator[Played]:
    """A task's script, half of it, and nothing; and an episode that is over before the agent's first turn."""
    script = subject.scripts[task.id]
    nothing: Script = {} if isinstance(script, Mapping) else []
    for some in (script, _half(script), nothing):
        yield gather(subject, play_script(subject, task, script=some))
    yield play_script(subject, task, limits={"calls": 0})


def _half(script: Script) -> Script:
    if isinstance(script, Mapping):
        return {name: content[: len(content) // 2] for name, content in script.items()}
    return script[: len(script) // 2]


def _check_measure(subject: Subject, name: str, build: Builder, episode: Episode, task: Task) -> None:
    before = copy.deepcopy(episode.events)
    first, second = (
        _score(subject, name, lambda: build(subject.settings).measure(episode, task)) for _ in range(2)
    )
    if found := difference(asdict(first), asdict(second), "score"):
        raise Broken(f"{name}: scores one episode differently the second time: {found}")
    if found := difference(before, episode.events, "events"):
        raise Broken(f"{name}: changes the record it is given: {found}")


def _check_measure_run(
    subject: Subject, name: str, build: Builder, episodes: list[tuple[Episode, Task]]
) -> None:
    def score(some: list[tuple[Episode, Task]]) -> Score:
        return _score(subject, name, lambda: build(subject.settings).measure_run(some))

    score([])
    score(episodes[:1])
    if found := difference(asdict(score(episodes)), asdict(score(episodes[::-1])), "score"):
        raise Broken(f"{name}: depends on the order of the episodes: {found}")


def _score(subject: Subject, name: str, measure: Callable[[], Any]) -> Score:
    try:
        score = measure()
    except Exception as error:
        raise Broken(f"{name} raises {raised(error)}") from error
    if not isinstance(score, Score):
        raise Broken(f"{name} gives {type(score).__name__}, wanted a Score")
    if score.status not in STATUSES:
        raise Broken(f"{name}: the status is {score.status!r}; there are {', '.join(STATUSES)}")
    if (score.value is not None) != (score.status in VALUED):
        raise Broken(f"{name}: the status {score.status!r} doesn't go with the value {score.value!r}")
    if score.value is not None and not math.isfinite(score.value):
        raise Broken(f"{name}: the value is {score.value!r}")
    if score.value is not None and name in subject.proportions and not 0 <= score.value <= 1:
        raise Broken(f"{name}: the value {score.value!r} of a proportion is outside 0 to 1")
    require_json(score.evidence, f"{name}: evidence")
    return score


def check_agents(subject: Subject) -> str:
    """Offline agents play without raising, the same for the same seed; in a workspace they leave a design."""
    if not subject.agents:
        raise Skip("no offline agent is named")
    for name, build in subject.agents.items():
        for task in subject.tasks:
            plays = [record(subject, task, new_agent(build, subject, task)) for _ in range(2)]
            reason = plays[0].end.reason.value
            if reason.endswith("_error"):
                raise Broken(f"{name} on {task.id}: {reason.replace('_', ' ')}: {plays[0].end.detail}")
            if found := difference(_deeds(subject, plays[0]), _deeds(subject, plays[1])):
                raise Broken(f"{name} on {task.id}: plays otherwise with the same seed: {found}")
            if subject.mode == "workspace" and not plays[0].candidates:
                raise Broken(f"{name} on {task.id}: leaves no design: {_refusal(plays[0])}")
    return f"{', '.join(subject.agents)} on {len(subject.tasks)} tasks"


def _deeds(subject: Subject, played: Played) -> dict[str, Any]:
    """What an agent did, as values that can be compared."""
    if subject.mode == "workspace":
        return {"files": played.delivery()}
    return {"calls": [(call.name, call.arguments) for call in played.calls()]}


def _refusal(played: Played) -> str:
    """Why what was handed in isn't a design, in the environment's words."""
    violations = [v for event in played.events() if event["kind"] == "violation" for v in event["violations"]]
    return "; ".join(v["message"] for v in violations)
