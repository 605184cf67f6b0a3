from __future__ import annotations

from itertools import permutations
from math import log10
from pathlib import Path

import choix
import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from evalkit.stats import win_probability
from evalkit_brickbench.scoring.pairwise import QUESTIONS, Verdict, schedule
from evalkit_brickbench.scoring.ratings import (
    Ratings,
    disconnection,
    linked_groups,
    rate,
    rate_by_setting,
    rate_one_question,
    systems_of,
    tasks_of,
    wins_table,
)

ELO_PER_THETA = 400.0 / np.log(10.0)


def random_verdicts(n_systems: int, n_tasks: int, seed: int = 0) -> list[Verdict]:
    """Verdicts of a fair judge on systems 0.4 apart in θ, a task's builds a little better or worse."""
    rng = np.random.default_rng(seed)
    strength = {
        (f"t{t:03}", f"s{s}"): -0.4 * s + rng.normal(0, 0.4) for t in range(n_tasks) for s in range(n_systems)
    }
    views = {f"t{t:03}": {f"s{s}": 8 for s in range(n_systems)} for t in range(n_tasks)}
    verdicts = []
    for duel in schedule(views):
        lead = strength[duel.task, duel.first] - strength[duel.task, duel.second]
        choice = 1 if rng.random() < 1.0 / (1.0 + np.exp(-lead)) else 2
        verdicts.append(Verdict(duel.task, duel.question, duel.first, duel.second, choice))
    return verdicts


def on(verdicts: list[Verdict], question: str) -> list[Verdict]:
    return [v for v in verdicts if v.question == question]


def totals(verdicts: list[Verdict]) -> np.ndarray:
    return wins_table(verdicts, tasks_of(verdicts), systems_of(verdicts)).sum(axis=0)


def elo_of(ratings: Ratings) -> dict[str, float]:
    return {row.system: row.elo.elo for row in ratings.systems}


def test_ratings_that_can_be_worked_out_by_hand() -> None:
    # With the virtual draw the wins are 1.5 : 0.5, 1.5 : 0.5 and 4.5 : 0.5, odds of 3, 3 and 9 = 3 · 3.
    verdicts = [Verdict("t1", "design", "a", "b", 1), Verdict("t1", "design", "c", "b", 2)]
    verdicts += [Verdict(f"t{i}", "design", *pair, 1 + i % 2) for i, pair in enumerate(["ac", "ca"] * 2)]
    step = 400.0 * log10(3.0)
    found = rate_one_question(verdicts, draws=10)
    assert [found[name].elo for name in "abc"] == pytest.approx([1000 + step, 1000, 1000 - step], abs=1e-9)


@pytest.mark.parametrize(("prior", "reference"), [(0.5, "elo_prior_half"), (0.0, "elo_mle")])
def test_reference_verdicts(shared_data: Path, prior: float, reference: str) -> None:
    with np.load(shared_data / "brickbench" / "bt_case.npz") as case:
        pairs, won, expected = zip(case["I"], case["J"], strict=True), case["W"], case[reference]
    verdicts = [
        Verdict(f"t{n // 30:02}", question, f"s{i}", f"s{j}", 1 if w else 2)
        for n, ((i, j), w) in enumerate(zip(pairs, won, strict=True))
        for question in QUESTIONS
    ]
    assert len(tasks_of(verdicts)) == 40
    draws = 20 if prior == 0.0 else 100
    found = rate(verdicts, prior=prior, draws=draws)
    assert found.groups == (tuple(f"s{i}" for i in range(6)),)
    for row in found.systems:
        truth = expected[int(row.system[1:])]
        assert row.alignment.elo == pytest.approx(truth, abs=1e-6)
        assert row.design.elo == pytest.approx(truth, abs=1e-6)
        assert row.elo.elo == pytest.approx(truth, abs=1e-6)
    alone = rate_one_question(on(verdicts, "design"), prior=prior, draws=draws)
    assert [alone[f"s{i}"].elo for i in range(6)] == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_agrees_with_choix(seed: int) -> None:
    verdicts = on(random_verdicts(7, 8, seed), "alignment")
    wins = totals(verdicts)
    theta = choix.ilsr_pairwise_dense(wins + 0.5 * (1.0 - np.eye(7)), tol=1e-13, max_iter=1000)
    found = rate_one_question(verdicts, draws=2)
    ours = np.array([(found[f"s{i}"].elo - 1000.0) / ELO_PER_THETA for i in range(7)])
    np.testing.assert_allclose(ours, theta - theta.mean(), rtol=0, atol=1e-9)


@pytest.mark.parametrize("seed", [0, 1])
def test_agrees_with_logistic_regression(seed: int) -> None:
    verdicts = on(random_verdicts(6, 10, seed), "design")
    systems = systems_of(verdicts)
    rows, weights = [], []
    for v in verdicts:
        loser = v.second if v.winner == v.first else v.first
        rows.append(_row(systems, v.winner, loser))
        weights.append(1.0)
    for one, other in permutations(systems, 2):  # half a win each way: two virtual rows a pair
        rows.append(_row(systems, one, other))
        weights.append(0.5)
    x = np.array(rows)[:, 1:]  # the first system's θ is 0
    model = LogisticRegression(C=np.inf, fit_intercept=False, solver="newton-cholesky", tol=1e-12)
    model.fit(np.vstack([x, -x]), np.repeat([1, 0], len(x)), sample_weight=np.tile(weights, 2))
    theta = np.concatenate([[0.0], model.coef_[0]])
    found = rate_one_question(verdicts, draws=2)
    expected = 1000.0 + ELO_PER_THETA * (theta - theta.mean())
    np.testing.assert_allclose([found[s].elo for s in systems], expected, rtol=0, atol=1e-6)


def _row(systems: list[str], winner: str, loser: str) -> list[float]:
    return [float(name == winner) - float(name == loser) for name in systems]


def test_an_undefeated_system_stays_finite() -> None:
    verdicts = [
        Verdict(v.task, v.question, v.first, v.second, 1 if v.first == "s0" else 2)
        if "s0" in (v.first, v.second)
        else v
        for v in random_verdicts(4, 20)
    ]
    best = rate(verdicts, draws=50).systems[0]
    assert best.system == "s0"
    assert 1300.0 < best.elo.elo < 2500.0
    assert best.elo.low is not None
    assert np.isfinite(best.elo.low)
    with pytest.raises(ValueError, match="no chain of wins"):
        rate(verdicts, prior=0.0, draws=2)


def test_anchors_are_centred_and_not_moved_by_newcomers() -> None:
    verdicts = random_verdicts(6, 15)
    anchors = ["s1", "s2", "s4"]
    old = [v for v in verdicts if {v.first, v.second} <= set(anchors)]
    alone, together = rate(old, draws=50), rate(verdicts, anchors, draws=50)
    for name in anchors:
        before, after = alone.of(name), together.of(name)
        assert after.anchor
        assert after.design.elo == pytest.approx(before.design.elo, abs=1e-9)
        assert after.elo.elo == pytest.approx(before.elo.elo, abs=1e-9)
        assert after.elo.high == pytest.approx(before.elo.high, abs=1e-9)
    for column in ("elo", "alignment", "design"):
        mean = np.mean([getattr(together.of(name), column).elo for name in anchors])
        assert mean == pytest.approx(1000.0, abs=1e-9)
    assert not together.of("s0").anchor
    with pytest.raises(ValueError, match="no verdicts on the anchors s9"):
        rate(verdicts, ["s1", "s9"])


def test_columns_are_combined_with_equal_spread_over_the_anchors() -> None:
    verdicts = random_verdicts(5, 12)
    # All design verdicts for the better system: design spreads much further than alignment.
    verdicts = [
        v
        if v.question == "alignment"
        else Verdict(v.task, v.question, v.first, v.second, 1 + (v.first > v.second))
        for v in verdicts
    ]
    anchors = ["s0", "s2", "s3"]
    found = rate(verdicts, anchors, draws=2)
    align = np.array([found.of(s).alignment.elo for s in anchors])
    design = np.array([found.of(s).design.elo for s in anchors])
    mean_sd = (align.std(ddof=1) + design.std(ddof=1)) / 2
    for row in found.systems:
        expected = 1000.0 + 0.5 * (
            mean_sd / align.std(ddof=1) * (row.alignment.elo - 1000.0)
            + mean_sd / design.std(ddof=1) * (row.design.elo - 1000.0)
        )
        assert row.elo.elo == pytest.approx(expected, abs=1e-9)


def test_same_verdicts_in_any_order_give_the_same_bits() -> None:
    verdicts = random_verdicts(4, 12)
    found = rate(verdicts, draws=100)
    assert rate(verdicts[::-1], draws=100) == found
    assert rate(verdicts, draws=100, seed=1) != found
    assert rate(verdicts, draws=100, seed=1).of("s0").elo.elo == found.of("s0").elo.elo


def test_intervals_hold_the_rating_and_shrink_with_more_tasks() -> None:
    few, many = (rate(random_verdicts(4, n), draws=300) for n in (10, 90))
    for row in many.systems:
        assert row.elo.low < row.elo.elo < row.elo.high
        assert row.elo.half_width == pytest.approx((row.elo.high - row.elo.low) / 2)
        assert 2.0 < few.of(row.system).elo.half_width / row.elo.half_width < 4.5  # √9 = 3
        assert row.n_verdicts == 90 * 3 * 2 * 2


def test_one_task_gives_no_interval() -> None:
    row = rate(random_verdicts(3, 1)).systems[0]
    assert (row.elo.low, row.elo.high, row.elo.half_width) == (None, None, None)


def test_groups_that_never_met_are_named() -> None:
    verdicts = [
        Verdict("t1", question, first, second, 1)
        for question in QUESTIONS
        for first, second in (("d", "c"), ("a", "b"), ("e", "a"), ("b", "e"))
    ]
    assert linked_groups(verdicts) == (("a", "b", "e"), ("c", "d"))
    warning = rate(verdicts).warning
    assert warning is not None
    assert warning.endswith("a, b, e | c, d")
    assert rate(random_verdicts(3, 2), draws=2).warning is None
    assert disconnection([]) is None


PROBLEM = "set: no ratings: there are no verdicts on alignment"


def test_settings_are_rated_apart_and_together() -> None:
    verdicts = random_verdicts(4, 9)
    setting_of = {task: "set" if task < "t003" else "model" for task in tasks_of(verdicts)}
    found, problems = rate_by_setting(verdicts, setting_of, ["s0", "s1", "s2"], draws=20)
    assert list(found) == ["overall", "model", "set"]
    assert [found[name].n_tasks for name in found] == [9, 6, 3]
    model = [v for v in verdicts if setting_of[v.task] == "model"]
    assert found["model"] == rate(model, ["s0", "s1", "s2"], draws=20)
    assert found["overall"] == rate(verdicts, ["s0", "s1", "s2"], draws=20)
    half = [v for v in verdicts if v in model or v.question == "design"]
    assert problems == []
    found, problems = rate_by_setting(half, setting_of, draws=2)
    assert (list(found), problems) == (["overall", "model"], [PROBLEM])


def test_an_anchor_that_a_setting_lacks_is_left_out_there() -> None:
    verdicts = [v for v in random_verdicts(4, 6) if v.task > "t002" or "s0" not in (v.first, v.second)]
    setting_of = {task: "set" if task > "t002" else "model" for task in tasks_of(verdicts)}
    found, _ = rate_by_setting(verdicts, setting_of, ["s0", "s1", "s2"], draws=2)
    anchors = [[row.system for row in found[name].systems if row.anchor] for name in ("model", "set")]
    assert [sorted(names) for names in anchors] == [["s1", "s2"], ["s0", "s1", "s2"]]
    assert found["model"].of("s1").elo.elo + found["model"].of("s2").elo.elo == pytest.approx(2000.0)


def test_verdicts_that_cant_be_rated() -> None:
    verdicts = random_verdicts(3, 2)
    with pytest.raises(ValueError, match="no verdicts on design"):
        rate(on(verdicts, "alignment"))
    with pytest.raises(ValueError, match="alignment or design"):
        rate([*verdicts, Verdict("t000", "taste", "s0", "s1", 1)])
    with pytest.raises(ValueError, match="one question, not on alignment, design"):
        rate_one_question(verdicts)
    with pytest.raises(ValueError, match="not on none"):
        rate_one_question([])
    with pytest.raises(KeyError):
        rate(verdicts, draws=2).of("s9")


def test_the_published_difference_between_best_and_worst() -> None:
    assert win_probability(1297.0 - 752.0) == pytest.approx(0.958, abs=5e-4)
