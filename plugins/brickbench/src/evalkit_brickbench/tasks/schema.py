"""Files of prompts with question graphs: what they look like, and what is wrong with one.

A file is a JSON list of prompts: `{"id": …, "prompt": …, "questions": [question, …]}`. A question is
`{"key", "question", "kind", "subtype", "dependencies"}`; it is asked of pictures of a build, yes is the good
answer, and it counts only if all that it depends on, by key, hold as well.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter
from typing import Any

KINDS: Mapping[str, tuple[str, ...]] = {
    "entity": ("whole", "part"),
    "attribute": ("color", "count", "material", "shape", "size", "state", "texture", "type"),
    "relation": ("action", "spatial"),
}
"""Kinds of questions and their usual subtypes; files may have others."""
SHOWN = 12
_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,79}")


class TaskFileError(ValueError):
    """A file that can't be used; the message has a line for each fault."""


@dataclass(frozen=True, slots=True)
class Question:
    """A question with yes for a good build, and the keys of the questions that it depends on."""

    key: str
    question: str
    kind: str
    subtype: str
    dependencies: tuple[str, ...]

    @staticmethod
    def of(found: Mapping[str, Any]) -> Question:
        """A question as files and tasks have it, already checked."""
        depends = tuple(found["dependencies"])
        return Question(found["key"], found["question"], found["kind"], found["subtype"], depends)

    def as_json(self) -> dict[str, Any]:
        """The question as files have it."""
        return {
            "key": self.key,
            "question": self.question,
            "kind": self.kind,
            "subtype": self.subtype,
            "dependencies": list(self.dependencies),
        }


@dataclass(frozen=True, slots=True)
class Prompt:
    """What to build, the graph of questions, and what else the file says (`category`, `setting`)."""

    id: str
    prompt: str
    questions: tuple[Question, ...]
    notes: Mapping[str, Any]


def read_prompts(text: str, source: str) -> list[Prompt]:
    """The prompts in a file's text, in its order; TaskFileError names every fault, after `source`."""
    try:
        found = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise TaskFileError(f"{source} isn't JSON: {error}") from error
    if wrong := list(faults(found)):
        more = [f"and {len(wrong) - SHOWN} more"] if len(wrong) > SHOWN else []
        raise TaskFileError("\n".join(f"{source}: {line}" for line in [*wrong[:SHOWN], *more]))
    return [_prompt(entry) for entry in found]


def faults(found: Any) -> Iterator[str]:
    """A line for each thing that is wrong with the content of a file."""
    if not isinstance(found, list) or not found:
        yield "wanted a list of prompts"
        return
    for place, entry in enumerate(found, 1):
        name = entry.get("id") if isinstance(entry, dict) else None
        if not isinstance(name, str) or not _ID.fullmatch(name):
            yield f"prompt {place}: wanted an object with an id of letters, digits, '-', '_' and '.'"
            continue
        for line in _prompt_faults(entry):
            yield f"{name}: {line}"
    ids = Counter(entry["id"] for entry in found if isinstance(entry, dict) and _is_text(entry.get("id")))
    yield from (f"{name}: the id occurs {count} times" for name, count in ids.items() if count > 1)


def _prompt_faults(entry: Mapping[str, Any]) -> Iterator[str]:
    if not _is_text(entry.get("prompt")):
        yield "the prompt is empty"
    questions = entry.get("questions")
    if not isinstance(questions, list) or not questions:
        yield "there are no questions"
        return
    wrong = [line for place, question in enumerate(questions, 1) for line in _form_faults(place, question)]
    yield from wrong or _graph_faults(questions)


def _form_faults(place: int, question: Any) -> Iterator[str]:
    """What is wrong with one question by itself."""
    if not isinstance(question, dict) or not _is_text(question.get("key")):
        yield f"question {place}: wanted an object with a key"
        return
    key = question["key"]
    if not _is_text(question.get("question")):
        yield f"{key}: the question is empty"
    if question.get("kind") not in tuple(KINDS):
        yield f"{key}: unknown kind {question.get('kind')!r}; there are {', '.join(KINDS)}"
    if not _is_text(question.get("subtype")):
        yield f"{key}: the subtype is empty"
    depends = question.get("dependencies")
    if not isinstance(depends, list) or not all(isinstance(other, str) for other in depends):
        yield f"{key}: the dependencies have to be a list of keys"


def _graph_faults(questions: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """What is wrong between questions that are sound by themselves."""
    graph = {question["key"]: question["dependencies"] for question in questions}
    keys = Counter(question["key"] for question in questions)
    yield from (f"{key}: the key occurs {count} times" for key, count in keys.items() if count > 1)
    for key, depends in graph.items():
        for other, count in Counter(depends).items():
            if other not in graph:
                yield f"{key}: depends on {other}, which isn't there"
            if count > 1:
                yield f"{key}: depends on {other} {count} times"
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        yield f"dependencies in a circle: {' -> '.join(reversed(error.args[1]))}"


def _is_text(value: Any) -> bool:
    return isinstance(value, str) and bool(value.strip())


def _prompt(entry: Mapping[str, Any]) -> Prompt:
    questions = tuple(Question.of(question) for question in entry["questions"])
    notes = {key: value for key, value in entry.items() if key not in ("id", "prompt", "questions")}
    return Prompt(entry["id"], entry["prompt"], questions, notes)
