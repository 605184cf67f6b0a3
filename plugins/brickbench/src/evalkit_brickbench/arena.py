"""The arena: every two systems' builds for a task before a judge, in both orders, about both questions.

Judgements are kept in a folder (`judges.store`), each under a key of everything that it depends on. Only what
is missing is asked for: after a crash, with a further system, or with other runs of the same builds.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from typing import Any, cast

from evalkit import sha256_of
from evalkit.models import BudgetReachedError, ModelError
from evalkit_brickbench.inspection import tools
from evalkit_brickbench.judges.asking import Asked, Judge
from evalkit_brickbench.judges.entrants import Build, Entrants
from evalkit_brickbench.judges.shown import seen, tiled
from evalkit_brickbench.judges.store import ArenaStore
from evalkit_brickbench.ldraw.notes import LDrawError
from evalkit_brickbench.pictures import VIEWS
from evalkit_brickbench.scoring.pairwise import (
    Duel,
    QuestionName,
    Verdict,
    ViewChoice,
    parse_choice,
    request_text,
    schedule,
    select_views,
)
from evalkit_brickbench.settings import settings_of

VIEW_PX = 512
FAILURES_IN_A_ROW = 5
"""So many questions that the judge couldn't be asked, one after the other, end the judging."""
REPORTS = 20
"""How often, at most, the progress of judging is said."""

Say = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Rules:
    """What is shown: which four of the eight views, and how wide each is."""

    views: ViewChoice = "every-second"
    view_px: int = VIEW_PX


@dataclass(frozen=True, slots=True)
class Question:
    """A duel to judge; `key` names everything the verdict depends on, `pictures` are names in the store."""

    duel: Duel
    key: str
    text: str
    pictures: tuple[str, str]
    builds: tuple[str, str]


@dataclass(slots=True)
class Schedule:
    """All duels: those a judge decides, and draws between builds that are the same file.

    `unseen` says, by system and task, why a build can't be shown.
    """

    questions: list[Question] = field(default_factory=list)
    draws: list[Duel] = field(default_factory=list)
    unseen: dict[tuple[str, str], str] = field(default_factory=dict)


@dataclass(slots=True)
class Progress:
    """What a round of judging did; `stopped` says why it ended before everything was asked."""

    asked: int = 0
    failed: int = 0
    unreached: int = 0
    stopped: str | None = None
    out_of_budget: bool = False


def plan(entrants: Entrants, store: ArenaStore, judge: Mapping[str, Any], rules: Rules, say: Say) -> Schedule:
    """Draw what isn't drawn yet, and list the duels; `judge` is `Judge.identity`."""
    found = Schedule()
    views = select_views(VIEWS, rules.views)
    pictures: dict[str, dict[str, str]] = {}
    for task, builds in sorted(entrants.builds.items()):
        if len(builds) < 2:
            continue
        say(f"pictures: {task}")
        for system, build in sorted(builds.items()):
            try:
                name = _drawn(build, store, views, rules)
            except LDrawError as error:
                found.unseen[system, task] = str(error)
                continue
            if name is None:
                found.unseen[system, task] = "no part has a shape to draw"
            else:
                pictures.setdefault(task, {})[system] = name
    for duel in schedule({task: dict.fromkeys(names, len(views)) for task, names in pictures.items()}):
        builds = entrants.builds[duel.task]
        first, second = builds[duel.first], builds[duel.second]
        if first.sha256 == second.sha256:
            found.draws.append(duel)
            continue
        prompt = str(entrants.tasks[duel.task].inputs["prompt"])
        shown = pictures[duel.task]
        found.questions.append(_question(duel, (first, second), prompt, shown, judge))
    return found


def _drawn(build: Build, store: ArenaStore, views: Sequence[int], rules: Rules) -> str | None:
    """The name of a build's picture in the store; None if there is nothing to see."""
    meshes = build.settings.get("meshes")
    looks = {"build": build.sha256, "views": list(views), "view_px": rules.view_px, "meshes": meshes}
    library = tools(settings_of(build.settings).protocol()).library
    name = sha256_of(looks if library is None else {**looks, "library": library.id})

    def draw() -> bytes | None:
        return tiled(seen(build.candidate, build.settings), views, rules.view_px)

    return name if store.keep_picture(name, draw) else None


def _question(
    duel: Duel, builds: tuple[Build, Build], prompt: str, shown: Mapping[str, str], judge: Mapping[str, Any]
) -> Question:
    asked = cast(QuestionName, duel.question)
    text = request_text(asked, prompt if asked == "alignment" else None)
    pictures = (shown[duel.first], shown[duel.second])
    hashes = (builds[0].sha256, builds[1].sha256)
    key = sha256_of(
        {
            "task": duel.task,
            "question": duel.question,
            "builds": list(hashes),
            "pictures": list(pictures),
            "judge": dict(judge),
            "text": sha256_of(text),
        }
    )
    return Question(duel, key, text, pictures, hashes)


def judge_missing(
    questions: Iterable[Question], store: ArenaStore, judge: Judge, rules: Rules, say: Say
) -> Progress:
    """Ask what the store doesn't know yet, several questions at once, and keep every answer as it comes.

    A duel whose three replies can't be used is kept without a verdict and isn't asked again. One that the
    judge couldn't be asked stays missing. Ctrl-C ends it; what was answered is kept.
    """
    known = set(store.judgements)
    waiting = list({q.key: q for q in questions if q.key not in known}.values())
    waiting.reverse()
    total, in_a_row, reported, progress = len(waiting), 0, 0, Progress()
    running: dict[Future[Asked[int]], Question] = {}
    pool = ThreadPoolExecutor(judge.connections, "judge")
    try:
        while running or (waiting and progress.stopped is None):
            while waiting and len(running) < judge.connections and progress.stopped is None:
                question = waiting.pop()
                running[pool.submit(_ask, question, store, judge)] = question
            for done in wait(running, return_when=FIRST_COMPLETED).done:
                failure = _keep(running.pop(done), done, store, judge, rules, progress)
                in_a_row = 0 if failure is None else in_a_row + 1
                if in_a_row >= FAILURES_IN_A_ROW and progress.stopped is None:
                    times = f"{in_a_row} times in a row"
                    progress.stopped = (
                        f"the judge, {judge.address}, couldn't be asked {times}; last: {failure}"
                    )
            if progress.asked * REPORTS // total > reported:
                reported = progress.asked * REPORTS // total
                say(f"judged {progress.asked} of {total}")
    finally:
        judge.close()
        pool.shutdown(wait=True, cancel_futures=True)
    return progress


def _ask(question: Question, store: ArenaStore, judge: Judge) -> Asked[int]:
    pictures = [store.picture(name) for name in question.pictures]
    return judge.ask(question.duel.task, question.text, pictures, parse_choice)


def _keep(
    question: Question,
    done: Future[Asked[int]],
    store: ArenaStore,
    judge: Judge,
    rules: Rules,
    progress: Progress,
) -> str | None:
    """Enter what came of a question; why, if the judge couldn't be asked."""
    try:
        asked = done.result()
    except BudgetReachedError as error:
        progress.stopped, progress.out_of_budget = str(error), True
        return None
    except ModelError as error:
        progress.unreached += 1
        if error.policy.fatal:
            progress.stopped = f"the judge, {judge.address}: {error}"
        return str(error)
    duel = question.duel
    store.add(
        question.key,
        {
            "task": duel.task,
            "question": duel.question,
            "builds": list(question.builds),
            "systems": [duel.first, duel.second],
            "pictures": list(question.pictures),
            "views": rules.views,
            "view_px": rules.view_px,
            "judge": judge.identity,
            "text_sha256": sha256_of(question.text),
            "choice": asked.answer,
            **asked.as_json(),
        },
    )
    progress.asked += 1
    progress.failed += asked.answer is None
    return None


@dataclass(frozen=True, slots=True)
class Verdicts:
    """What the store knows of a schedule.

    `judged` are verdicts of the judge, `all` those and the draws. `failed` duels have no usable reply,
    `missing` weren't asked yet; `failed_replies` were asked for again. `cost_usd` is None if any is unknown.
    """

    judged: tuple[Verdict, ...]
    all: tuple[Verdict, ...]
    failed: int
    missing: int
    failed_replies: int
    cost_usd: float | None


def verdicts(found: Schedule, store: ArenaStore) -> Verdicts:
    """The verdicts on a schedule's duels; a draw is a win for either side, one in each order."""
    counts: Counter[str] = Counter()
    costs: list[float | None] = []
    judged: list[Verdict] = []
    for question in found.questions:
        record = store.judgements.get(question.key)
        if record is None:
            counts["missing"] += 1
            continue
        counts["replies"] += len(record["failures"])
        costs.append(record["cost_usd"])
        if record["choice"] is None:
            counts["failed"] += 1
            continue
        duel = question.duel
        judged.append(Verdict(duel.task, duel.question, duel.first, duel.second, record["choice"]))
    draws = [Verdict(d.task, d.question, d.first, d.second, 1) for d in found.draws]
    known = [cost for cost in costs if cost is not None]
    return Verdicts(
        tuple(judged),
        (*judged, *draws),
        counts["failed"],
        counts["missing"],
        counts["replies"],
        sum(known) if len(known) == len(costs) else None,
    )
