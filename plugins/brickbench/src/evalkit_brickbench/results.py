"""What became of each planned build of some runs: validity, contents, answers of the judge, cost.

Read from the records; only builds that the validators refused are looked at again, for what they are made of.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np

from evalkit import Episode, Task, UnknownNameError, UsageError
from evalkit.report import RecordedRun
from evalkit_brickbench.designs import look
from evalkit_brickbench.inspection import Inspection
from evalkit_brickbench.judges.entrants import Build, build_of, is_submission, kit_of, open_runs, system_names
from evalkit_brickbench.scoring.tables import BuildRecord, Contents, rented_cost_usd, token_cost_usd
from evalkit_brickbench.scoring.vqa import JudgedBuild
from evalkit_brickbench.settings import BrickSettings, settings_of
from evalkit_brickbench.specs import STABILITY, VQA
from evalkit_brickbench.tasks.schema import Question

COLLISIONS = frozenset({"collision", "collisions", "too_dense"})
"""Codes of violations that are collisions; all others of a readable build break a part rule."""
UNKNOWN_CATEGORY = "unknown"
UNJUDGED = ("kit", "sandbox")
"""Settings that decide how builds come about, not how they're checked."""


@dataclass(frozen=True, slots=True)
class Prices:
    """What users know of costs, by system; it takes the place of what the record says.

    `per_build_usd`; `usd_per_million`: tokens read and written; `usd_per_hour` of a rented machine.
    """

    per_build_usd: Mapping[str, float] = field(default_factory=dict)
    usd_per_million: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    usd_per_hour: Mapping[str, float] = field(default_factory=dict)

    @property
    def systems(self) -> set[str]:
        """All systems that a price is given for."""
        return {*self.per_build_usd, *self.usd_per_million, *self.usd_per_hour}


@dataclass(frozen=True, slots=True)
class Outcome:
    """One answer to one prompt. `kit` is what the agent had to build with; `held` says which questions hold,
    None where no judge, who is named by `judge`, answered them. `sha256` is that of the model file, None if
    there is none; `load` reads the build from the record."""

    record: BuildRecord
    agent: str
    kit: str
    task: Task
    held: tuple[bool, ...] | None
    sha256: str | None
    load: Callable[[], Build | None]
    judge: str | None = None

    @property
    def category(self) -> str:
        """The prompt's category by its short name."""
        return str(self.task.hidden.get("category") or UNKNOWN_CATEGORY)

    @property
    def questions(self) -> list[Question]:
        """The questions of the prompt."""
        return [Question.of(question) for question in self.task.hidden["questions"]]

    def judged(self) -> JudgedBuild | None:
        """For the statistics of answers; None for a build that no judge answered questions about, and for a
        prompt without questions."""
        if not self.questions or (self.sha256 is not None and self.held is None):
            return None
        return JudgedBuild(self.record.task, self.category, self.questions, self.held)


@dataclass(frozen=True, slots=True)
class Outcomes:
    """All outcomes in the order of runs and plans, and what readers of tables have to know (`notes`)."""

    all: tuple[Outcome, ...]
    notes: tuple[str, ...]
    priced: frozenset[str] = frozenset()
    """Systems whose costs are what users said."""

    @property
    def records(self) -> list[BuildRecord]:
        """The records for the tables."""
        return [outcome.record for outcome in self.all]

    @property
    def systems(self) -> list[str]:
        """Names of systems in the order in which they come."""
        return list(dict.fromkeys(outcome.record.system for outcome in self.all))

    @property
    def builds(self) -> dict[str, dict[str, str]]:
        """SHA-256 of the model files by system and task; of several epochs the first one with a build, as in
        the arena."""
        found: dict[str, dict[str, str]] = {}
        for outcome in self.all:
            hashes = found.setdefault(outcome.record.system, {})
            if outcome.sha256 is not None:
                hashes.setdefault(outcome.task.id, outcome.sha256)
        return found

    @property
    def settings(self) -> list[str]:
        """Settings in the order in which they come."""
        return list(dict.fromkeys(outcome.record.setting for outcome in self.all))


def outcomes(
    names: Sequence[str], prices: Prices | None = None, need_not_stand: Collection[str] = ()
) -> Outcomes:
    """The outcomes of runs, each by its folder or name; systems as in the arena.

    A further epoch of a task counts as a prompt of its own, `TASK#2`. `need_not_stand`: systems whose
    validity has no stability term. Planned episodes without a result, and builds whose stability couldn't be
    looked at, are left out and noted, as are several protocols or judges. Errors as in `open_runs`,
    UnknownNameError for prices of systems that aren't there, and UsageError for rates or rent of builds that
    were made elsewhere: the time in their record is what handing them in took.
    """
    runs = open_runs(names)
    system_of = system_names(runs)
    prices = prices or Prices()
    known = {system_of(run, key.agent): key.agent for run in runs for key in run.reader.planned()}
    for name in sorted({*prices.systems, *need_not_stand}):
        if name not in known:
            raise UnknownNameError("system", name, sorted(known))
    for name in sorted({*prices.usd_per_million, *prices.usd_per_hour}):
        if is_submission(known[name]):
            raise UsageError(
                f"{name} was made elsewhere: neither its tokens nor its time are in the record; work out "
                f"what a build cost and give --cost {name}=USD"
            )
    found: list[Outcome] = []
    notes = _protocol_notes(runs)
    for run in runs:
        unfinished = 0
        for episode, task in run.played:
            system = system_of(run, episode.key.agent)
            outcome = _outcome(run, episode, task, system, prices, system not in need_not_stand)
            if outcome is None:
                unfinished += 1
            else:
                found.append(outcome)
        if run.missing:
            notes.append(
                f"{run.name}: {len(run.missing)} planned episodes have no result; they aren't counted"
            )
        if unfinished:
            notes.append(f"{run.name}: {unfinished} builds lack a verdict on stability; they aren't counted")
    judges = sorted({outcome.judge for outcome in found if outcome.judge is not None})
    if judges:
        several = "" if len(judges) == 1 else "several judges, whose answers can't be compared: "
        notes.append(f"VQA by {several}{', '.join(judges)}")
    return Outcomes(tuple(found), tuple(notes), frozenset(prices.systems))


def _protocol_notes(runs: Sequence[RecordedRun]) -> list[str]:
    """What the runs' protocols differ in, as far as verdicts depend on it."""
    notes = []
    for name in BrickSettings.model_fields:
        values = sorted({str(run.reader.settings.get(name)) for run in runs})
        if name not in UNJUDGED and len(values) > 1:
            notes.append(f"the runs were checked under several protocols, {name}: {', '.join(values)}")
    return notes


def _outcome(
    run: RecordedRun, episode: Episode, task: Task, system: str, prices: Prices, has_to_stand: bool
) -> Outcome | None:
    """None for a build without a verdict on stability where one is needed."""
    load = partial(build_of, run, system, episode.final_design())
    build, codes = load(), _violations(episode)
    contents = None if build is None else _contents(episode, build, refused=bool(codes))
    if contents is not None and not codes and has_to_stand and contents.stable is None:
        return None
    if contents is not None and codes & COLLISIONS and contents.colliding_pairs == 0:
        contents = replace(contents, colliding_parts=None, colliding_pairs=None)  # an older check's verdict
    score, held, judge = _answers(episode)
    key = episode.key
    record = BuildRecord(
        system,
        str(task.hidden["setting"]),
        task.id if key.epoch == 1 else f"{task.id}#{key.epoch}",
        contents,
        obeys_part_rules=codes <= COLLISIONS,
        vqa=score,
        cost_usd=_cost_usd(episode, system, prices),
        has_to_stand=has_to_stand,
    )
    sha256 = None if build is None else build.sha256
    return Outcome(record, key.agent, kit_of(run), task, held, sha256, load, judge)


def _violations(episode: Episode) -> frozenset[str]:
    """Codes of what the validators hold against the last complete design."""
    designs = [turn for turn in episode.turns() if turn.result is not None and turn.result.get("candidate")]
    last = designs[-1].violations if designs else None
    return frozenset(v["code"] for v in last["violations"] if not v.get("advisory")) if last else frozenset()


def _contents(episode: Episode, build: Build, *, refused: bool) -> Contents:
    evidence = episode.evidence(STABILITY.id)
    if evidence is not None and not refused and "error" not in evidence:
        data: Mapping[str, Any] = episode.load(evidence["data"])
        colours = {name.rsplit(" ", 1)[1] for name in data["part_colour_counts"]}
        stable = evidence["success"] is True
        return Contents(data["parts"], data["distinct_parts"], len(colours), 0, 0, data["components"], stable)
    return contents_of(look(build.candidate, settings_of(build.settings), stand=False))


def contents_of(found: Inspection) -> Contents:
    """What a build is made of, by an inspection that may have left out stability."""
    scene, collisions = found.scene, found.collisions
    return Contents(
        len(scene),
        len(set(scene.stems)),
        len(np.unique(scene.colours)),
        None if collisions is None else len(np.unique(collisions.pairs)),
        None if collisions is None else len(collisions),
        len(found.components.sizes),
        None if found.stability is None else found.stability.stable,
    )


def _answers(episode: Episode) -> tuple[float | None, tuple[bool, ...] | None, str | None]:
    """The judge's score of the final build, which questions hold, and who judged; None without an answer."""
    found = episode.evidence(VQA.id)
    data: Mapping[str, Any] = {} if found is None or "error" in found else episode.load(found["data"])
    if data.get("held") is None:
        return None, None, None
    return data["score"], tuple(data["held"]), str(data["judge"]["source"]["model"])


def _cost_usd(episode: Episode, system: str, prices: Prices) -> float | None:
    """Dollars for one build: as the user says, else as recorded at the prices in the manifest."""
    if system in prices.per_build_usd:
        return prices.per_build_usd[system]
    if system in prices.usd_per_hour:
        return rented_cost_usd(float(episode.end["seconds"]), prices.usd_per_hour[system])
    counters = episode.counters
    if system in prices.usd_per_million:
        if "input_tokens" not in counters or "output_tokens" not in counters:
            return None
        tokens = {name: int(counters[f"{name}_tokens"]) for name in ("input", "output")}
        rates = dict(zip(("input", "output"), prices.usd_per_million[system], strict=True))
        return token_cost_usd(tokens, rates)
    return counters.get("cost")
