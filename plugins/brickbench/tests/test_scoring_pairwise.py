from __future__ import annotations

from collections import Counter

import pytest
from scipy.stats import binomtest

from evalkit_brickbench.scoring.pairwise import (
    QUESTIONS,
    Duel,
    Verdict,
    fair_coin_p_value,
    parse_choice,
    position_bias,
    request_text,
    schedule,
    select_views,
)
from evalkit_brickbench.scoring.replies import ReplyError


def test_views_go_all_around_or_show_one_side() -> None:
    assert select_views() == (0, 2, 4, 6)
    assert select_views(choice="compat") == (0, 1, 2, 3)
    assert select_views(4) == (0, 1, 2, 3)
    with pytest.raises(ValueError, match="only 3"):
        select_views(3)


def test_every_two_builds_meet_twice_on_each_question() -> None:
    duels = schedule({"t2": {"b": 8, "a": 8}, "t1": {"a": 8, "c": 4, "b": 8, "hidden": 3}})
    assert duels == sorted(duels)
    assert len(duels) == len(set(duels)) == (1 + 3) * 2 * 2
    assert Counter(duel.question for duel in duels) == dict.fromkeys(QUESTIONS, 8)
    assert Duel("t1", "design", "c", "a") in duels
    assert Duel("t1", "design", "a", "c") in duels
    assert not any("hidden" in (duel.first, duel.second) for duel in duels)


def test_only_alignment_names_the_prompt() -> None:
    prompt = "A heron on one leg."
    text = request_text("alignment", prompt)
    assert prompt in text
    assert "1 or 2" in text
    assert "1 or 2" in request_text("design")
    with pytest.raises(ValueError, match="pass it"):
        request_text("alignment")
    with pytest.raises(ValueError, match="leave it out"):
        request_text("design", prompt)


def test_replies_are_exactly_one_digit() -> None:
    assert parse_choice("1") == 1
    assert parse_choice(" 2\n") == 2
    for reply in ("", "3", "12", "1.", "Model 1", "1 or 2", "one", "**1**", "¹", "٢", "1\n2", "2" * 9999):
        with pytest.raises(ReplyError) as caught:
            parse_choice(reply)
        assert len(str(caught.value)) < 200


def test_verdicts_make_sense() -> None:
    assert Verdict("t", "design", "a", "b", 1).winner == "a"
    assert Verdict("t", "design", "a", "b", 2).winner == "b"
    with pytest.raises(ValueError, match="1 or 2"):
        Verdict("t", "design", "a", "b", 0)
    with pytest.raises(ValueError, match="meet itself"):
        Verdict("t", "design", "a", "a", 1)


def test_position_bias_of_a_table_counted_by_hand() -> None:
    verdicts = [
        Verdict("t1", "design", "a", "b", 1),  # a in both orders
        Verdict("t1", "design", "b", "a", 2),
        Verdict("t2", "design", "a", "b", 1),  # the first in both orders
        Verdict("t2", "design", "b", "a", 1),
        Verdict("t2", "alignment", "a", "b", 1),  # again
        Verdict("t2", "alignment", "b", "a", 1),
        Verdict("t3", "design", "a", "b", 2),  # the second in both orders
        Verdict("t3", "design", "b", "a", 2),
        Verdict("t4", "design", "a", "b", 1),  # one order only
    ]
    bias = position_bias(verdicts)
    assert (bias.first_picks, bias.n_verdicts) == (6, 9)
    assert bias.first_share == pytest.approx(6 / 9)
    assert bias.p_value == pytest.approx(2 * (84 + 36 + 9 + 1) / 512)
    assert (bias.consistent, bias.both_first, bias.n_pairs) == (1, 2, 4)
    assert bias.consistency == 0.25
    assert bias.conflict_p_value == 1.0  # two of three
    assert position_bias(reversed(verdicts)) == bias
    with pytest.raises(ValueError, match="two verdicts on one duel"):
        position_bias([*verdicts, Verdict("t4", "design", "a", "b", 2)])


def test_no_verdicts_no_shares() -> None:
    bias = position_bias([])
    assert (bias.first_share, bias.consistency, bias.p_value, bias.conflict_p_value) == (None, None, 1.0, 1.0)


def test_a_judge_that_always_takes_the_first() -> None:
    duels = schedule({f"t{i}": {"a": 8, "b": 8} for i in range(10)})
    bias = position_bias(Verdict(d.task, d.question, d.first, d.second, 1) for d in duels)
    assert (bias.first_share, bias.consistency) == (1.0, 0.0)
    assert bias.p_value == 2.0**-39
    assert bias.conflict_p_value == 2.0**-19


@pytest.mark.parametrize(
    ("heads", "n"), [(323, 360), (37, 360), (5, 10), (0, 1), (0, 0), (1, 7), (10_300, 20_000), (0, 1000)]
)
def test_exact_test_agrees_with_scipy(heads: int, n: int) -> None:
    expected = binomtest(heads, n).pvalue if n else 1.0
    assert fair_coin_p_value(heads, n) == pytest.approx(expected, rel=1e-9)


def test_exact_test_refuses_impossible_counts() -> None:
    with pytest.raises(ValueError, match="impossible"):
        fair_coin_p_value(3, 2)
