"""Does a build show what its prompt asks for? All questions in one request, with eight pictures."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from evalkit import Candidate, EvalkitError, Execution, Task
from evalkit_brickbench.scoring.vqa import N_VIEWS, build_score, gate, parse_answers, request_text
from evalkit_brickbench.specs import VQA
from evalkit_brickbench.tasks.schema import Question

if TYPE_CHECKING:
    from evalkit.models import ModelClient
    from evalkit_brickbench.judges.asking import Judge

VIEW_PX = 1024


class QuestionJudge:
    """Puts the questions of a task's hidden graph to a model; tell it which with `use_model`."""

    def __init__(self, settings: Mapping[str, Any]) -> None:
        self._settings = dict(settings)
        self._judge: Judge | None = None

    def use_model(self, client: ModelClient) -> None:
        """The model that answers from here on; may be used by several threads."""
        from evalkit_brickbench.judges.asking import CallLog, Judge

        self._judge = Judge(client, CallLog())

    def constants(self) -> Mapping[str, Any]:
        """What is shown and asked, and once it is known the judge's name and settings."""
        shown = {"views": N_VIEWS, "view_px": VIEW_PX, "request": request_text([_SAMPLE])}
        return shown if self._judge is None else {**shown, "judge": self._judge.identity}

    def execute(self, task: Task, candidate: Candidate, *, pictures: bool) -> Execution:
        """The answers, in the order of the questions, and which hold.

        `success` is None if no reply could be used, and else whether every question holds. Raises
        EvalkitError without a model, and ModelError if it can't be reached.
        """
        if self._judge is None:
            raise EvalkitError("the questions need a model that answers them: evalkit rescore --judge MODEL")
        from evalkit_brickbench.judges.asking import CallLog
        from evalkit_brickbench.judges.shown import seen
        from evalkit_brickbench.pictures import views

        questions = questions_of(task)
        shown = [view.data for view in views(seen(candidate, self._settings), VIEW_PX)]
        data: dict[str, Any] = {"judge": self._judge.identity, "answers": None, "held": None, "score": None}
        if not shown:
            return Execution(None, {**data, "failures": ["no part has a shape to draw"]}, (), VQA.id)
        log = CallLog()
        asked = self._judge.ask(
            task.id, request_text(questions), shown, lambda reply: parse_answers(reply, len(questions)), log
        )
        data |= {**asked.as_json(), "http_attempts": log.http_attempts}
        if asked.answer is None:
            return Execution(None, data, (), VQA.id)
        held = gate(questions, asked.answer)
        data |= {"answers": list(asked.answer), "held": list(held), "score": build_score(held)}
        return Execution(all(held), data, (), VQA.id)


_SAMPLE = Question("a", "?", "entity", "whole", ())


def questions_of(task: Task) -> list[Question]:
    """The questions that a task hides."""
    return [Question.of(question) for question in task.hidden["questions"]]
