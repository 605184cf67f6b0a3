import random

import numpy as np
import pytest
from scipy import stats as scipy_stats

from evalkit.stats import Interval, bootstrap_mean, mean_interval, paired_bootstrap

Z = 1.959963984540054


@pytest.fixture
def values() -> list[float]:
    return [float(x) for x in np.random.default_rng(5).normal(3.0, 2.0, 400)]


@pytest.mark.parametrize("confidence", [0.9, 0.95, 0.99])
@pytest.mark.parametrize("n", [2, 5, 100])
def test_mean_interval_agrees_with_scipy(values: list[float], n: int, confidence: float) -> None:
    sample = values[:n]
    expected = scipy_stats.t.interval(confidence, n - 1, np.mean(sample), scipy_stats.sem(sample))
    interval = mean_interval(sample, confidence)
    assert (interval.low, interval.high) == pytest.approx(expected, rel=1e-12)
    assert interval.method == "t"


def test_bootstrap_agrees_with_the_closed_form(values: list[float]) -> None:
    """For a mean the bootstrap's standard error is known: population standard deviation / √n."""
    interval = bootstrap_mean(values, draws=20_000)
    half_width = Z * np.std(values) / np.sqrt(len(values))
    assert interval.low is not None
    assert interval.high is not None
    assert interval.low == pytest.approx(np.mean(values) - half_width, abs=0.05 * half_width)
    assert interval.high == pytest.approx(np.mean(values) + half_width, abs=0.05 * half_width)


def test_clusters_of_equal_values_count_once(values: list[float]) -> None:
    """Ten copies of each value carry the information of one: the same width as the values alone."""
    copies = [value for value in values for _ in range(10)]
    clusters = [f"{i:03}" for i in range(len(values)) for _ in range(10)]
    clustered, alone = bootstrap_mean(copies, clusters, draws=20_000), bootstrap_mean(values, draws=20_000)
    naive = bootstrap_mean(copies, draws=2_000)
    assert width(clustered) == pytest.approx(width(alone), rel=0.05)
    assert width(naive) < 0.4 * width(alone)
    assert clustered.method == "cluster bootstrap"


def test_large_clusters_keep_all_members() -> None:
    """Two clusters, one of 9 ones and one of a single zero: a resample's mean is 0, 0.9 or 1."""
    interval = bootstrap_mean([1.0] * 9 + [0.0], ["a"] * 9 + ["b"], confidence=0.9)
    assert (interval.low, interval.high) == (0.0, 1.0)
    middle = bootstrap_mean([1.0] * 9 + [0.0], ["a"] * 9 + ["b"], confidence=0.2)
    assert (middle.low, middle.high) == pytest.approx((0.9, 0.9))


def test_order_does_not_change_the_bits(values: list[float]) -> None:
    clusters = [f"family{i % 17}" for i in range(len(values))]
    order = list(range(len(values)))
    random.Random(1).shuffle(order)
    shuffled, names = [values[i] for i in order], [clusters[i] for i in order]
    assert bootstrap_mean(shuffled) == bootstrap_mean(values)
    assert bootstrap_mean(shuffled, names) == bootstrap_mean(values, clusters)
    assert bootstrap_mean(values, seed=1) != bootstrap_mean(values, seed=2)


def test_blocks_do_not_change_the_bits(values: list[float], monkeypatch: pytest.MonkeyPatch) -> None:
    whole = bootstrap_mean(values)
    monkeypatch.setattr("evalkit.stats._bootstrap._BLOCK", 5_000)
    assert bootstrap_mean(values) == whole


def test_too_little_data_has_no_bounds() -> None:
    for sample in ([], [1.0]):
        assert mean_interval(sample) == Interval(None, None, "t")
        assert bootstrap_mean(sample) == Interval(None, None, "bootstrap")
    assert bootstrap_mean([1.0, 2.0], ["a", "a"]) == Interval(None, None, "cluster bootstrap")


def test_bad_input_is_refused() -> None:
    with pytest.raises(ValueError, match="nan"):
        mean_interval([1.0, float("nan")])
    with pytest.raises(ValueError, match="inf"):
        bootstrap_mean([1.0, float("inf")])
    with pytest.raises(ValueError, match="2 values but 1"):
        bootstrap_mean([1.0, 2.0], ["a"])
    with pytest.raises(ValueError, match="draws"):
        bootstrap_mean([1.0, 2.0], draws=0)


def test_paired_difference_agrees_with_the_paired_t_test() -> None:
    rng = np.random.default_rng(7)
    base = rng.normal(0.0, 5.0, 200)
    a = {f"{i:03}": float(x) for i, x in enumerate(base)}
    b = {key: x + float(d) for (key, x), d in zip(a.items(), rng.normal(0.15, 1.0, 200), strict=True)}
    differences = [b[key] - a[key] for key in a]
    result = paired_bootstrap(a, b, draws=20_000)
    expected = mean_interval(differences)
    assert result.difference == pytest.approx(np.mean(differences))
    assert result.interval.low == pytest.approx(expected.low, abs=0.02)
    assert result.interval.high == pytest.approx(expected.high, abs=0.02)
    assert result.p_value == pytest.approx(scipy_stats.ttest_1samp(differences, 0.0).pvalue, abs=0.02)
    assert (result.n_pairs, result.n_clusters) == (200, 200)


def test_paired_difference_has_a_sign_and_ignores_order() -> None:
    a = {f"{i:02}": i / 10 for i in range(30)}
    b = {key: value + (0.5 if int(key) % 3 else -0.1) for key, value in reversed(a.items())}
    forward, back = paired_bootstrap(a, b), paired_bootstrap(b, a)
    assert forward.difference == pytest.approx(0.3)
    assert forward.interval.low is not None
    assert forward.interval.low > 0.0
    assert forward.p_value == pytest.approx(2 / 10_001)
    assert back.difference == pytest.approx(-0.3)
    assert back.interval.high == pytest.approx(-forward.interval.low)
    assert paired_bootstrap(dict(reversed(a.items())), dict(reversed(b.items()))) == forward


def test_clusters_make_a_paired_comparison_cautious() -> None:
    """Three families, one of which got worse: forty tasks each don't make it 120 independent facts.

    A resample of three families is ≤ 0 when the worse one comes twice or thrice, 7 times in 27.
    """
    a = {f"{family}{i:02}": 0.0 for family in "xyz" for i in range(40)}
    b = {key: (-0.5 if key[0] == "z" else 1.0) for key in a}
    families = {key: key[0] for key in a}
    by_task, by_family = paired_bootstrap(a, b), paired_bootstrap(a, b, families)
    assert by_task.difference == by_family.difference == 0.5
    assert by_task.p_value is not None
    assert by_task.p_value < 0.001
    assert by_family.p_value == pytest.approx(14 / 27, abs=0.02)
    assert by_family.n_clusters == 3


def test_identical_runs_do_not_differ() -> None:
    a = {str(i): 0.1 * i for i in range(20)}
    result = paired_bootstrap(a, dict(a))
    assert (result.difference, result.p_value) == (0.0, 1.0)
    assert (result.interval.low, result.interval.high) == (0.0, 0.0)


def test_rounding_does_not_break_ties() -> None:
    """A rise and a fall by 0.1 cancel in half of all resamples, but for a rounding error of 3e-17."""
    a = {"p": 0.3, "q": 0.0}
    b = {"p": 0.4, "q": -0.1}
    assert (b["p"] - a["p"]) + (b["q"] - a["q"]) != 0.0
    assert paired_bootstrap(a, b).p_value == 1.0


def test_paired_comparisons_need_data_and_matching_keys() -> None:
    one = paired_bootstrap({"a": 1.0, "b": 2.0}, {"a": 2.0, "b": 4.0}, {"a": "f", "b": "f"})
    assert (one.difference, one.p_value, one.interval.low) == (1.5, None, None)
    assert paired_bootstrap({}, {}).difference is None
    with pytest.raises(ValueError, match="same keys"):
        paired_bootstrap({"a": 1.0}, {"b": 1.0})
    with pytest.raises(ValueError, match="no cluster, such as 'a'"):
        paired_bootstrap({"a": 1.0}, {"a": 1.0}, {})


def width(interval: Interval) -> float:
    assert interval.low is not None
    assert interval.high is not None
    return interval.high - interval.low
