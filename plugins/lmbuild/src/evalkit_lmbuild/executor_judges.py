"""Judges of level D: a model that looks at pictures of a design and gives each criterion an integer."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from evalkit import Candidate, EvalkitError, Execution, Task
from evalkit_lmbuild.candidates import candidate_design
from evalkit_lmbuild.formats import DesignError
from evalkit_lmbuild.scoring.levels import judged
from evalkit_lmbuild.scoring.rubrics import RUBRICS, parse_scores, request_text
from evalkit_lmbuild.specs import JUDGE_IDS

if TYPE_CHECKING:
    from evalkit.models import ModelClient
    from evalkit_lmbuild.judges.asking import Asker


class _Judge:
    """Asks about one metric; tell it which model with `use_model`."""

    metric = ""

    def __init__(self, settings: Mapping[str, Any]) -> None:
        self._asker: Asker | None = None

    def use_model(self, client: ModelClient) -> None:
        """The model that answers from here on; may be used by several threads."""
        from evalkit_lmbuild.judges.asking import Asker

        self._asker = Asker(client)

    def constants(self) -> Mapping[str, Any]:
        """What is asked, how large pictures are, and once it is known the judge's name and settings."""
        from evalkit_lmbuild.judges.shown import PHOTO_PX, VIEW_PX

        fixed = {
            "request": request_text(RUBRICS[self.metric], "…"),
            "view_px": VIEW_PX,
            "photo_px": PHOTO_PX,
        }
        return fixed if self._asker is None else {**fixed, "judge": self._asker.identity}

    def execute(self, task: Task, candidate: Candidate, *, pictures: bool) -> Execution:
        """The integers by criterion, and their mean in [0, 1] as `score`; None, and `why`, if there are none.

        What is no design scores 0, unseen. Raises EvalkitError without a model, and ModelError if it can't
        be reached.
        """
        if self._asker is None:
            raise EvalkitError(f"{self.metric} needs a model that judges: evalkit rescore --judge MODEL")
        return Execution(None, self._judged(task, candidate, self._asker), (), JUDGE_IDS[self.metric])

    def _judged(self, task: Task, candidate: Candidate, asker: Asker) -> dict[str, Any]:
        from evalkit_lmbuild.judges.shown import NothingToShowError, shown

        found: dict[str, Any] = {"judge": asker.identity, "criteria": None, "score": None, "why": ""}
        try:
            design = candidate_design(task, candidate)
            if not design.parts:
                raise DesignError("the design is empty")
            seen = shown(self.metric, task, design)
        except DesignError as error:
            return found | {"score": 0.0, "why": str(error)}
        except NothingToShowError as error:
            return found | {"why": str(error)}
        rubric = RUBRICS[self.metric]
        text = request_text(rubric, task.inputs["name"])
        asked = asker.ask(task.id, text, seen, lambda reply: parse_scores(reply, rubric))
        found |= asked.record
        if asked.answer is None:
            return found | {"why": f"no reply of the judge could be used: {found['failures'][-1]}"}
        return found | {"criteria": asked.answer, "score": judged(list(asked.answer.values()))}


class DecompositionJudge(_Judge):
    """D.1: is the design cut into parts as the object is?"""

    metric = "D.1"


class VisualQualityJudge(_Judge):
    """D.2: does the shape look right?"""

    metric = "D.2"


class ResemblanceJudge(_Judge):
    """D.3: does it look like the object?"""

    metric = "D.3"
