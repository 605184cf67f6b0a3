"""From scores to figures: counts, intervals, what is missing and what has no value."""

from dataclasses import replace

import pytest

from evalkit.errors import EvalkitError
from evalkit.hookspecs import MetricSpec
from evalkit.report.aggregate import aggregate, aggregate_run
from evalkit.stats import bootstrap_mean, wilson
from evalkit.types import EpisodeKey, Score

SUCCESS = MetricSpec("m.success", "", "Success", "")
SHAPE = MetricSpec("m.shape", "", "Shape", "", kind="mean", cluster="family")
COST = MetricSpec("m.cost", "", "Cost", "", kind="mean", missing="omit", unit="$")
CALLS = MetricSpec("m.calls", "", "Calls", "", kind="total", unit="")
RECOVERY = MetricSpec("m.recovery", "", "Recovery", "", scope="run")


def keys(count):
    return [EpisodeKey("agent", f"task-{i:03}", "strict", 1) for i in range(count)]


def scores(values):
    """Scores of as many episodes; numbers are values, Scores stay."""
    return {
        key: value if isinstance(value, Score) else Score(value)
        for key, value in zip(keys(len(values)), values, strict=True)
    }


def lost(count):
    """Episodes of other tasks that have no score."""
    return [EpisodeKey("agent", f"lost-{i}", "strict", 1) for i in range(count)]


def tried(*tasks):
    """Scores of tasks with an epoch each per value."""
    return {
        EpisodeKey("agent", f"task-{i:03}", "strict", epoch): Score(float(value))
        for i, values in enumerate(tasks)
        for epoch, value in enumerate(values, 1)
    }


def test_proportion_has_counts_and_a_wilson_interval():
    found = aggregate(SUCCESS, scores([1.0] * 110 + [0.0] * 79), clusters=None)
    assert (found.value, found.numerator, found.denominator) == (110 / 189, 110, 189)
    assert (found.low, found.high) == pytest.approx((0.510744, 0.650010), abs=1e-6)
    assert (found.method, found.missing, found.note, found.word) == ("wilson", None, "", "")


def test_epochs_of_a_task_are_no_independent_episodes():
    thrice = tried(*[[1, 1, 1]] * 5, *[[0, 0, 0]] * 5)
    found = aggregate(SUCCESS, thrice, clusters=None)
    assert (found.value, found.numerator, found.denominator) == (0.5, 15, 30)
    assert found.method == "bootstrap(cluster=task)"
    expected = bootstrap_mean([1.0] * 5 + [0.0] * 5, seed=0)
    assert (found.low, found.high) == (expected.low, expected.high)  # three copies of a task tell no more
    in_pairs = {key: f"family {int(key.task[-3:]) % 5}" for key in thrice}
    by_family = aggregate(replace(SUCCESS, cluster="family"), thrice, clusters=in_pairs)
    assert by_family.method == "bootstrap(cluster=family)"
    assert (by_family.low, by_family.high) == (0.5, 0.5)  # each family is half and half
    once = {key: score for key, score in thrice.items() if key.epoch == 1}
    assert aggregate(SUCCESS, once, clusters=None).method == "wilson"


def test_epochs_that_all_succeed_are_as_sure_as_their_tasks():
    found = aggregate(SUCCESS, tried(*[[1, 1, 1]] * 8), clusters=None)
    assert (found.low, found.high, found.method) == (wilson(8, 8).low, 1.0, "wilson(cluster=task)")
    none = aggregate(SUCCESS, tried(*[[0, 0]] * 8), clusters=None)
    assert (none.value, none.low, none.high) == (0.0, 0.0, wilson(0, 8).high)


def test_a_missing_epoch_is_resampled_with_its_task():
    half = tried([1], [1], [0], [0])
    again = [replace(key, epoch=2) for key in half]
    found = aggregate(SUCCESS, half, clusters=None, missing=again)
    assert found.method == "wilson"
    assert found.missing is not None
    assert (found.missing.numerator, found.missing.denominator) == (2, 8)
    expected = bootstrap_mean([0.5, 0.5, 0.0, 0.0], seed=0)
    assert (found.missing.low, found.missing.high) == (expected.low, expected.high)


def test_means_over_epochs_are_resampled_by_task():
    found = aggregate(COST, tried([1, 1], [2, 2], [4, 4]), clusters=None)
    assert found.method == "bootstrap(cluster=task)"
    expected = bootstrap_mean([1.0, 2.0, 4.0], seed=0)
    assert (found.low, found.high) == (expected.low, expected.high)


def test_a_run_metric_says_that_its_counts_take_epochs_as_independent():
    found = aggregate_run(RECOVERY, Score(0.5, numerator=1, denominator=2), epochs=3)
    assert found.method == "wilson (epochs taken as independent)"


def test_missing_episodes_count_as_failures():
    found = aggregate(SUCCESS, scores([1.0, 1.0, 0.0]), clusters=None, missing=lost(2))
    assert (found.numerator, found.denominator) == (2, 3)
    second = found.missing
    assert second is not None
    assert (second.count, second.counted_as, second.value) == (2, "failure", 0.4)
    assert (second.numerator, second.denominator) == (2, 5)


def test_missing_episodes_are_left_out_where_the_metric_says_so():
    found = aggregate(COST, scores([10.0, 20.0]), clusters=None, missing=lost(3))
    assert (found.value, found.denominator) == (15.0, 2)
    second = found.missing
    assert second is not None
    assert (second.count, second.counted_as, second.value, second.denominator) == (3, "omit", 15.0, 2)


def test_unscored_episodes_lack_a_result():
    broken = Score(None, "unscored", {"error": "ValueError: no"})
    found = aggregate(SUCCESS, scores([1.0, broken]), clusters=None, missing=lost(1))
    assert (found.numerator, found.denominator, found.unscored) == (1, 1, 1)
    assert found.missing is not None
    assert (found.missing.count, found.missing.numerator, found.missing.denominator) == (2, 1, 3)
    assert found.note == "1 unscored (ValueError: no)"


def test_nothing_counted_is_no_value_and_not_zero():
    found = aggregate(SUCCESS, scores([Score.not_applicable("never failed")] * 3), clusters=None)
    assert (found.value, found.numerator, found.denominator) == (None, 0, 0)
    assert (found.low, found.high) == (None, None)
    assert (found.not_applicable, found.note) == (3, "3 not applicable (never failed)")
    assert aggregate(CALLS, {}, clusters=None).value is None
    assert aggregate(SHAPE, {}, clusters={}).value is None


def test_a_run_without_any_episode_is_zero_only_in_the_second_figure():
    found = aggregate(SUCCESS, {}, clusters=None, missing=lost(4))
    assert found.value is None
    assert found.missing is not None
    assert (found.missing.value, found.missing.numerator, found.missing.denominator) == (0.0, 0, 4)


@pytest.mark.parametrize("status", ["skipped", "undetermined"])
def test_what_was_never_measured_is_a_word_also_with_missing_episodes(status):
    found = aggregate(SHAPE, scores([Score(None, status)] * 2), clusters=None, missing=lost(2))
    assert (found.value, found.word) == (None, status)
    assert found.missing is not None
    assert (found.missing.count, found.missing.value, found.missing.denominator) == (2, None, 0)


def test_degraded_scores_count_and_are_named():
    degraded = Score(0.5, "degraded", {"why": "computed half only"})
    found = aggregate(SHAPE, scores([degraded, 1.0]), clusters=None)
    assert (found.value, found.denominator, found.degraded) == (0.75, 2, 1)
    assert (found.word, found.note) == ("degraded", "1 degraded (computed half only)")


def test_mean_is_resampled_by_cluster_and_the_order_of_episodes_is_irrelevant():
    values = scores([0.1, 0.2, 0.8, 0.9, 0.5])
    families = dict(zip(values, ["a", "a", "b", "b", "c"], strict=True))
    found = aggregate(SHAPE, values, clusters=families)
    assert found.method == "bootstrap(cluster=family)"
    assert found.value == pytest.approx(0.5)
    assert found.low is not None
    assert found.high is not None
    assert found.low < 0.5 < found.high
    turned = dict(reversed(values.items()))
    assert aggregate(SHAPE, turned, clusters=families) == found
    alone = aggregate(SHAPE, values, clusters=None)
    assert (alone.method, alone.low == found.low) == ("bootstrap", False)


def test_missing_episodes_pull_a_mean_down():
    values = scores([0.4, 0.6])
    found = aggregate(SHAPE, values, clusters=dict.fromkeys(values, "a"), missing=lost(2))
    assert found.value == 0.5
    assert (found.low, found.high) == (None, None)  # one family supports no interval
    assert found.missing is not None
    assert (found.missing.value, found.missing.numerator, found.missing.denominator) == (0.25, None, 4)


def test_total_is_a_sum_without_interval():
    found = aggregate(CALLS, scores([1.0, 2.0, 3.0]), clusters=None)
    assert (found.value, found.denominator, found.low, found.method) == (6.0, 3, None, "")


@pytest.mark.parametrize(
    ("spec", "score", "complaint"),
    [
        (SUCCESS, Score(0.5), "a proportion takes 0 or 1"),
        (SHAPE, Score(float("nan")), "value nan"),
        (SHAPE, Score(None), "status ok but value None"),
        (SHAPE, Score(None, "absent"), "unknown status 'absent'"),
    ],
)
def test_scores_that_break_the_contract_are_refused(spec, score, complaint):
    with pytest.raises(EvalkitError, match=complaint) as caught:
        aggregate(spec, scores([score]), clusters=None)
    assert spec.id in str(caught.value)


def test_run_metric_with_counts():
    found = aggregate_run(RECOVERY, Score(20 / 91, numerator=20, denominator=91))
    assert (found.value, found.numerator, found.denominator) == (20 / 91, 20, 91)
    assert (found.low, found.high) == pytest.approx((0.147021, 0.315239), abs=1e-6)
    empty = aggregate_run(RECOVERY, Score(None, numerator=0, denominator=0))
    assert (empty.value, empty.numerator, empty.denominator, empty.low) == (None, 0, 0, None)


def test_run_metric_with_missing_episodes():
    found = aggregate_run(RECOVERY, Score(0.5, numerator=1, denominator=2), missing=2)
    assert found.missing is not None
    assert (found.missing.counted_as, found.missing.numerator, found.missing.denominator) == ("failure", 1, 4)
    rating = MetricSpec("m.elo", "", "ELO", "", kind="mean", scope="run", unit="")
    rated = aggregate_run(rating, Score(1042.0), missing=2)
    assert rated.missing is not None
    assert (rated.missing.counted_as, rated.missing.value) == ("omit", 1042.0)


def test_run_metric_keeps_its_own_interval_and_its_word():
    rating = MetricSpec("m.elo", "", "ELO", "", kind="mean", scope="run", unit="")
    found = aggregate_run(rating, Score(1042.0, low=990.0, high=1100.0, evidence={"method": "bt bootstrap"}))
    assert (found.value, found.low, found.high, found.method) == (1042.0, 990.0, 1100.0, "bt bootstrap")
    skipped = aggregate_run(rating, Score(None, "skipped", {"why": "no judge"}))
    assert (skipped.value, skipped.word, skipped.note) == (None, "skipped", "skipped (no judge)")
    degraded = aggregate_run(rating, Score(0.7, "degraded", {}))
    assert (degraded.word, degraded.degraded, degraded.note) == ("degraded", 1, "degraded")


@pytest.mark.parametrize(("numerator", "denominator"), [(0.5, 2), (3, 2), (-1, 2)])
def test_run_metric_refuses_what_is_no_ratio_of_counts(numerator, denominator):
    with pytest.raises(EvalkitError, match=r"m\.recovery"):
        aggregate_run(RECOVERY, Score(0.5, numerator=numerator, denominator=denominator))
