from __future__ import annotations

from collections import Counter
from itertools import combinations

import numpy as np
import pytest
from scipy.stats import binomtest, kendalltau

from evalkit_brickbench.scoring.human import (
    PREFERENCE,
    Comparison,
    Match,
    agreement,
    match_human_models,
    rates_against_humans,
    read_judgments,
    rescaled,
    scale_factor,
    study_design,
)
from evalkit_brickbench.scoring.pairwise import Verdict
from evalkit_brickbench.scoring.ratings import rate_one_question

NINE = tuple("abcdefghi")


def spread(counts: Counter[object]) -> int:
    return max(counts.values()) - min(counts.values())


def test_a_study_of_the_published_size_is_balanced() -> None:
    builds = {f"t{i:02}": NINE for i in range(60)}
    design = study_design(builds, n_raters=102)
    assert len(design) == 102 * 40 == 4080
    assert len({c.id for c in design}) == 4080
    assert set(Counter(c.rater for c in design).values()) == {40}
    pairs = Counter(frozenset((c.first, c.second)) for c in design)
    assert len(pairs) == 36
    assert spread(pairs) <= 1
    ways = Counter((c.first, c.second) for c in design)
    assert all(abs(ways[i, j] - ways[j, i]) <= 1 for i, j in combinations(NINE, 2))
    shown = Counter((c.task, frozenset((c.first, c.second))) for c in design)
    assert len(shown) == 60 * 36
    assert spread(shown) <= 1
    seen = Counter((c.rater, c.task, frozenset((c.first, c.second))) for c in design)
    assert set(seen.values()) == {1}
    tasks_of_rater = Counter((c.rater, c.task) for c in design)
    assert max(tasks_of_rater.values()) <= 3


def test_no_rater_sees_the_same_two_builds_twice_when_there_are_few() -> None:
    design = study_design({"t1": ("a", "b", "c"), "t2": ("a", "b", "c")}, n_raters=20, per_rater=5)
    seen = Counter((c.rater, c.task, frozenset((c.first, c.second))) for c in design)
    assert len(seen) == 20 * 5


def test_a_design_depends_on_seed_and_names_only() -> None:
    builds = {f"t{i}": ("a", "b", "c", "d") for i in range(10)}
    shuffled = {task: builds[task][::-1] for task in reversed(builds)}
    assert study_design(builds, 3) == study_design(shuffled, 3)
    assert study_design(builds, 3) != study_design(builds, 3, seed=1)


def test_missing_builds_are_never_shown() -> None:
    builds = {f"t{i}": ("a", "b", "c") if i % 2 else ("a", "b") for i in range(20)}
    design = study_design(builds, 4, per_rater=30)
    assert all({c.first, c.second} <= set(builds[c.task]) for c in design)
    assert max(Counter((c.rater, c.task, frozenset((c.first, c.second))) for c in design).values()) == 1


def test_studies_that_cant_be_made() -> None:
    with pytest.raises(ValueError, match="3 different comparisons, too few for 40"):
        study_design({"t": ("a", "b", "c")}, 1)
    with pytest.raises(ValueError, match="needs raters"):
        study_design({"t": ("a", "b")}, 0, per_rater=1)


DESIGN = (
    Comparison("r001-01", 1, "t1", "a", "b"),
    Comparison("r001-02", 1, "t2", "b", "a"),
    Comparison("r002-01", 2, "t1", "b", "a"),
)


def test_judgments_come_back_in_any_order() -> None:
    rows = [{"id": " r002-01", "choice": "2 ", "remark": "x"}, {"id": "r001-01", "choice": "1"}]
    found = read_judgments([*rows, {"id": "r001-02", "choice": ""}], DESIGN)
    assert found.verdicts == (
        Verdict("t1", PREFERENCE, "a", "b", 1),
        Verdict("t1", PREFERENCE, "b", "a", 2),
    )
    assert found.raters == (1, 2)
    assert found.unanswered == ("r001-02",)
    assert read_judgments(rows, DESIGN) == found


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({"id": "r009-01", "choice": "1"}, "row 2: there is no comparison 'r009-01'"),
        ({"id": "r001-01", "choice": "1"}, "row 2: r001-01 is answered twice"),
        ({"id": "r001-02", "choice": "left"}, "row 2: the choice is 1, 2 or empty, not 'left'"),
        ({"comparison": "r001-02", "choice": "1"}, "row 2 lacks the column"),
    ],
)
def test_judgments_that_dont_fit_the_design(row: dict[str, str], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        read_judgments([{"id": "r001-01", "choice": "2"}, row], DESIGN)


def test_people_are_rated_by_the_same_model_and_agree_with_the_truth() -> None:
    theta = dict(zip(NINE, np.linspace(1.6, -1.6, 9), strict=True))
    design = study_design({f"t{i:02}": NINE for i in range(60)}, n_raters=102)
    rng = np.random.default_rng(0)
    rows = [
        {
            "id": c.id,
            "choice": "1" if rng.random() < 1 / (1 + np.exp(theta[c.second] - theta[c.first])) else "2",
        }
        for c in design
    ]
    found = rate_one_question(read_judgments(rows, design).verdicts, draws=50)
    elo = {system: estimate.elo for system, estimate in found.items()}
    true_elo = {system: 1000.0 + 400.0 / np.log(10.0) * value for system, value in theta.items()}
    assert agreement(elo, true_elo).agreeing >= 35
    assert scale_factor(elo, true_elo) == pytest.approx(1.0, abs=0.1)


def test_the_published_agreement() -> None:
    judge = {name: float(-place) for place, name in enumerate(NINE)}
    people = {**judge, "a": judge["b"], "b": judge["a"], "e": judge["f"], "f": judge["e"]}
    found = agreement(judge, people)
    assert (found.agreeing, found.n_pairs) == (34, 36)
    assert found.tau == pytest.approx(0.89, abs=0.005)


def test_tau_agrees_with_scipy_with_ties() -> None:
    rng = np.random.default_rng(1)
    for _ in range(20):
        a = dict(zip(NINE, rng.integers(0, 6, 9).astype(float), strict=True))
        b = dict(zip(NINE, rng.integers(0, 6, 9).astype(float), strict=True))
        expected = kendalltau(list(a.values()), list(b.values())).statistic
        assert agreement(a, b).tau == pytest.approx(expected, abs=1e-12)


def test_agreement_needs_the_same_systems_and_differences() -> None:
    assert agreement({"a": 1.0, "b": 1.0}, {"a": 1.0, "b": 2.0}).tau is None
    for other in ({"a": 1.0}, {"a": 1.0, "c": 2.0}):
        with pytest.raises(ValueError, match="same systems"):
            agreement({"a": 1.0, "b": 2.0}, other)


def test_scales_are_aligned_by_one_factor() -> None:
    people = {"a": 1120.0, "b": 1010.0, "c": 870.0}
    judge = rescaled(people, 2.5)
    assert judge == pytest.approx({"a": 1300.0, "b": 1025.0, "c": 675.0})
    assert scale_factor(people, judge) == pytest.approx(2.5)
    assert scale_factor(judge, people) == pytest.approx(1 / 2.5)
    with pytest.raises(ValueError, match="no spread"):
        scale_factor(people, dict.fromkeys(people, 1000.0))
    with pytest.raises(ValueError, match="same systems"):
        scale_factor(people, {"a": 1.0, "b": 2.0, "d": 3.0})


def test_builds_meet_human_models_of_about_their_size() -> None:
    builds = {"b1": 100, "b2": 205, "b3": 950}
    assert match_human_models(builds, {"m1": 1000, "m2": 90, "m3": 210, "m4": 3}) == [
        Match("b1", "m2", 100, 90),
        Match("b2", "m3", 205, 210),
        Match("b3", "m1", 950, 1000),
    ]


def test_human_models_are_used_evenly() -> None:
    builds = {f"b{i:02}": 100 for i in range(10)}
    found = match_human_models(builds, {"near": 100, "far": 900, "farther": 2000})
    assert sorted(Counter(match.human_model for match in found).values()) == [2, 4, 4]
    assert match_human_models({}, {"near": 1}) == []
    with pytest.raises(ValueError, match="no human models"):
        match_human_models(builds, {})
    with pytest.raises(ValueError, match="at least one part"):
        match_human_models(builds, {"empty": 0})


def test_the_published_rate_against_humans() -> None:
    verdicts = [
        Verdict(f"t{i}", PREFERENCE, *(("ours", "human") if i % 2 else ("human", "ours")), 1 + (i % 2))
        for i in range(323)
    ]
    verdicts += [Verdict(f"t{i}", PREFERENCE, "ours", "human", 1) for i in range(323, 360)]
    (rate,) = rates_against_humans(verdicts)
    assert (rate.system, rate.preferred, rate.n) == ("ours", 37, 360)
    assert rate.share == pytest.approx(37 / 360)
    expected = binomtest(323, 360)
    assert rate.p_value == pytest.approx(expected.pvalue, rel=1e-9)
    assert 1e-60 < rate.p_value < 1e-50
    wilson = expected.proportion_ci(method="wilson")
    assert rate.interval.low == pytest.approx(1 - wilson.high, abs=1e-12)
    assert rate.interval.high == pytest.approx(1 - wilson.low, abs=1e-12)
    with pytest.raises(ValueError, match="no human model"):
        rates_against_humans([Verdict("t", PREFERENCE, "a", "b", 1)])
