from __future__ import annotations

from pathlib import Path

import pytest

from evalkit_brickbench.scoring.replies import ReplyError
from evalkit_brickbench.scoring.vqa import (
    JudgedBuild,
    SubtypeShare,
    build_score,
    gate,
    parse_answers,
    request_text,
    scores_by_category,
    shares_by_subtype,
    system_score,
)
from evalkit_brickbench.tasks.schema import Question, read_prompts


def ask(key: str, *dependencies: str, kind: str = "entity", subtype: str = "part") -> Question:
    return Question(key, f"Is there a {key}?", kind, subtype, dependencies)


# A ship's mast carries a sail, the sail a stripe; the anchor is by itself. Children come before parents.
SHIP = (ask("stripe", "sail", "ship"), ask("sail", "mast"), ask("mast", "ship"), ask("ship"), ask("anchor"))


@pytest.mark.parametrize(
    ("answers", "held"),
    [
        ("yyyyy", "yyyyy"),
        ("ynyyy", "nnyyy"),  # no sail: its stripe doesn't count
        ("yynyy", "nnnyy"),  # no mast: the stripe falls two steps below
        ("yyyny", "nnnny"),
        ("yyyyn", "yyyyn"),
        ("nynyy", "nnnyy"),
        ("nnnnn", "nnnnn"),
    ],
)
def test_a_yes_counts_only_with_all_it_depends_on(answers: str, held: str) -> None:
    found = gate(SHIP, [answer == "y" for answer in answers])
    assert "".join("ny"[value] for value in found) == held


def test_gating_passes_through_a_deep_chain() -> None:
    chain = [ask("q0"), *(ask(f"q{i}", f"q{i - 1}") for i in range(1, 5000))]
    assert all(gate(chain, [True] * 5000))
    assert not any(gate(chain, [False] + [True] * 4999))
    assert sum(gate(chain[::-1], [True] * 4999 + [False])) == 0


@pytest.mark.parametrize(
    ("questions", "message"),
    [
        ([ask("a", "b"), ask("b", "a")], "in a circle: [ab] → [ab] → [ab]"),
        ([ask("a", "a")], "in a circle"),
        ([ask("a", "b")], "'a' depends on 'b', which isn't in the graph"),
        ([ask("a"), ask("a")], "a key comes twice"),
    ],
)
def test_impossible_graphs_are_refused(questions: list[Question], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        gate(questions, [True] * len(questions))


def test_answers_and_questions_must_match() -> None:
    with pytest.raises(ValueError, match="5 questions but 4 answers"):
        gate(SHIP, [True] * 4)


def test_request_has_every_question_once_on_a_numbered_line() -> None:
    text = request_text([*SHIP, Question("two lines", "Is it\n2: red?", "attribute", "color", ())])
    lines = text.splitlines()
    assert [line for line in lines if line.startswith("4: ")] == ["4: Is there a ship?"]
    assert "6: Is it 2: red?" in lines
    assert "from 1 to 6" in text
    with pytest.raises(ValueError, match="empty"):
        request_text([])


@pytest.mark.parametrize(
    "reply", ["1: yes\n2: no\n3: yes", "\n 3: YES \r\n2: No\r\n\r\n1: yes\n", "1:yes\n2 : no\n3:  yes"]
)
def test_replies_that_answer_everything(reply: str) -> None:
    assert parse_answers(reply, 3) == (True, False, True)


@pytest.mark.parametrize(
    ("reply", "reason"),
    [
        ("", "3 of 3 answers are missing, the first is 1"),
        ("1: yes\n3: yes", "1 of 3 answers are missing, the first is 2"),
        ("1: yes\n2: no\n3: yes\n2: no", "question 2 is answered twice"),
        ("1: yes\n2: no\n3: yes\n4: yes", "question 4 is answered, but there are only 3"),
        ("Here you are:\n1: yes\n2: no\n3: yes", "'Here you are:'"),
        ("1: yes\n2: maybe\n3: yes", "'2: maybe'"),
        ("1: yes\n2: no, there isn't\n3: yes", "a line is not"),
        ("1: yes 2: no 3: yes", "a line is not"),
        ("1. yes\n2. no\n3. yes", "a line is not"),
        ("0: yes\n1: yes\n2: yes\n3: yes", "a line is not"),
        ("01: yes\n2: yes\n3: yes", "a line is not"),
        ("1: yes\n2: yes\n³: yes", "a line is not"),
        ("1: yes\n" + "9" * 5000 + ": yes", "a line is not"),
        ("```\n1: yes\n2: no\n3: yes\n```", "a line is not"),
    ],
)
def test_other_replies_have_a_reason(reply: str, reason: str) -> None:
    with pytest.raises(ReplyError) as caught:
        parse_answers(reply, 3)
    assert reason in str(caught.value)
    assert len(str(caught.value)) < 200
    assert "\n" not in str(caught.value)


def judged(task: str, held: str | None, category: str = "Pirate") -> JudgedBuild:
    return JudgedBuild(task, category, SHIP, None if held is None else tuple(c == "y" for c in held))


def test_missing_builds_are_skipped_or_count_as_zero() -> None:
    score = system_score(
        [judged("a", "yyyyy"), judged("b", "nnnyy"), judged("c", None), judged("d", "nnnnn")]
    )
    assert score.existing == pytest.approx((1.0 + 0.4 + 0.0) / 3)
    assert score.zero_filled == pytest.approx((1.0 + 0.4 + 0.0) / 4)
    assert (score.n_builds, score.n_missing) == (3, 1)


def test_a_system_without_builds_has_only_the_zero_filled_score() -> None:
    score = system_score([judged("a", None)])
    assert (score.existing, score.zero_filled) == (None, 0.0)
    with pytest.raises(ValueError, match="at least one prompt"):
        system_score([])
    with pytest.raises(ValueError, match="without questions"):
        build_score(())


def test_assemblies_weigh_the_same_whatever_their_number_of_questions() -> None:
    small = JudgedBuild("small", "Animal", SHIP[3:4], (True,))
    assert system_score([small, judged("large", "nnnnn")]).existing == 0.5


def test_scores_by_category_and_by_subtype() -> None:
    graph = (ask("fish"), ask("red", "fish", kind="attribute", subtype="color"), ask("fin", "fish"))
    builds = [
        judged("a", "yyyyy"),
        judged("b", None),
        JudgedBuild("c", "Animal", graph, (True, False, True)),
        JudgedBuild("d", "Animal", graph, (True, True, False)),
    ]
    by_category = scores_by_category(builds)
    assert list(by_category) == ["Animal", "Pirate"]
    assert by_category["Animal"].existing == pytest.approx(2 / 3)
    assert by_category["Pirate"].zero_filled == 0.5
    assert shares_by_subtype(builds) == [
        SubtypeShare("attribute", "color", held=1, asked=2),
        SubtypeShare("entity", "part", held=5 + 3, asked=5 + 4),
    ]
    assert shares_by_subtype(builds)[0].share == 0.5


@pytest.mark.parametrize("setting", ["model", "set", "alt"])
def test_official_graphs(shared_data: Path, setting: str) -> None:
    path = shared_data / "brickbench" / f"{setting}.sample.json"
    for prompt in read_prompts(path.read_text(encoding="utf-8"), path.name):
        n = len(prompt.questions)
        reply = "\n".join(f"{number}: yes" for number in range(n, 0, -1))
        assert all(gate(prompt.questions, parse_answers(reply, n)))
        assert request_text(prompt.questions).count("\n") >= n
        for index, root in enumerate(prompt.questions):
            answers = [True] * n
            answers[index] = False
            held = gate(prompt.questions, answers)
            for question, value in zip(prompt.questions, held, strict=True):
                if root.key in question.dependencies:
                    assert not value, (prompt.id, question.key)
