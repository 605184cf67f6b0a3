"""Files of prompts: what is read, and every fault that is named."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path

import pytest

from evalkit_brickbench.scoring.vqa import gate
from evalkit_brickbench.tasks.schema import KINDS, Question, TaskFileError, faults, read_prompts

TWO = Path(__file__).parent / "data" / "tasks" / "two.json"


def question(key, *dependencies, **changes):
    plain = {"key": key, "question": f"Is there a {key}?", "kind": "entity", "subtype": "whole"}
    return {**plain, "dependencies": list(dependencies), **changes}


def one(*questions, **changes):
    return [{"id": "a-1", "prompt": "A thing.", "questions": list(questions), **changes}]


def test_a_file_is_read_in_its_order():
    first, second = read_prompts(TWO.read_text(encoding="utf-8"), "two.json")
    assert (first.id, second.id) == ("model-001", "model-002")
    assert second.prompt == "A green kite flies over a brown dog."
    assert second.questions[2] == Question(
        "over", "Is the kite above the dog?", "relation", "spatial", ("kite", "dog")
    )
    assert [question.as_json() for question in first.questions] == json.loads(
        TWO.read_text(encoding="utf-8")
    )[0]["questions"]


def test_what_else_a_prompt_holds_is_kept_as_notes():
    text = json.dumps(one(question("a"), category="castle"))
    assert read_prompts(text, "x")[0].notes == {"category": "castle"}


def test_questions_are_what_the_scoring_takes():
    """A kite that isn't there can't be above anything."""
    _, second = read_prompts(TWO.read_text(encoding="utf-8"), "two.json")
    assert gate(second.questions, [False, True, True]) == (False, True, False)


@pytest.mark.parametrize(
    ("content", "line"),
    [
        ({}, "wanted a list of prompts"),
        ([], "wanted a list of prompts"),
        ([3], "prompt 1: wanted an object with an id"),
        (one(question("a"), id="../up"), "prompt 1: wanted an object with an id"),
        (one(question("a"), id=["a"]), "prompt 1: wanted an object with an id"),
        (one(question("a"), prompt="  "), "a-1: the prompt is empty"),
        (one(), "a-1: there are no questions"),
        (one(question("a"), questions=None), "a-1: there are no questions"),
        (one("a"), "a-1: question 1: wanted an object with a key"),
        (one(question("a", question="")), "a-1: a: the question is empty"),
        (one(question("a", kind="colour")), "a-1: a: unknown kind 'colour'; there are entity, att"),
        (one(question("a", kind=[])), "a-1: a: unknown kind []"),
        (one(question("a", subtype=None)), "a-1: a: the subtype is empty"),
        (one(question("a", dependencies="b")), "a-1: a: the dependencies have to be a list of keys"),
        (one(question("a"), question("a")), "a-1: a: the key occurs 2 times"),
        (one(question("a", "b")), "a-1: a: depends on b, which isn't there"),
        (one(question("a"), question("b", "a", "a")), "a-1: b: depends on a 2 times"),
        (one(question("a", "a")), "a-1: dependencies in a circle: a -> a"),
        (one(question("a")) + one(question("b")), "a-1: the id occurs 2 times"),
    ],
)  # fmt: skip
def test_a_fault_is_one_line_that_says_where(content, line):
    found = list(faults(content))
    assert len(found) == 1
    assert found[0].startswith(line)
    with pytest.raises(TaskFileError) as caught:
        read_prompts(json.dumps(content), "file.json")
    assert str(caught.value) == f"file.json: {found[0]}"


def test_a_circle_is_walked_from_a_question_to_what_it_depends_on():
    graph = one(question("a", "b"), question("b", "c"), question("c", "a"), question("d", "a"))
    (line,) = faults(graph)
    circle = line.removeprefix("a-1: dependencies in a circle: ").split(" -> ")
    depends = {"a": "b", "b": "c", "c": "a"}
    assert len(circle) == 4
    assert all(depends[key] == other for key, other in pairwise(circle))


def test_all_faults_are_named_up_to_a_dozen():
    many = one(*(question("a", kind="x") for _ in range(20)))
    with pytest.raises(TaskFileError) as caught:
        read_prompts(json.dumps(many), "f")
    lines = str(caught.value).splitlines()
    assert len(lines) == 13
    assert lines[-1] == "f: and 8 more"


@pytest.mark.parametrize("text", ["", "{", "[" * 100_000])
def test_what_isnt_json_is_refused(text):
    with pytest.raises(TaskFileError, match="f isn't JSON"):
        read_prompts(text, "f")


@pytest.mark.parametrize(("file", "counts"), [("model", (5, 84)), ("set", (3, 76)), ("alt", (6, 77))])
def test_samples_of_the_published_files_are_read(shared_data, file, counts):
    path = shared_data / "brickbench" / f"{file}.sample.json"
    found = read_prompts(path.read_text(encoding="utf-8"), path.name)
    questions = [question for prompt in found for question in prompt.questions]
    assert (len(found), len(questions)) == counts
    assert all(question.subtype in KINDS[question.kind] for question in questions)
