import pytest
from scipy.stats import binomtest

from evalkit.stats import Interval, wilson


@pytest.mark.parametrize("confidence", [0.8, 0.95, 0.999])
@pytest.mark.parametrize("n", [1, 2, 7, 30, 1000])
def test_wilson_agrees_with_scipy(n: int, confidence: float) -> None:
    for successes in sorted({0, 1, n // 3, n // 2, n - 1, n}):
        expected = binomtest(successes, n).proportion_ci(confidence, method="wilson")
        interval = wilson(successes, n, confidence)
        assert interval.low == pytest.approx(expected.low, abs=1e-12)
        assert interval.high == pytest.approx(expected.high, abs=1e-12)


def test_wilson_published_example() -> None:
    """81 of 263 (Newcombe 1998, table I, score method without continuity correction)."""
    interval = wilson(81, 263)
    assert (interval.low, interval.high) == pytest.approx((0.2553, 0.3662), abs=5e-5)
    assert interval.method == "wilson"


def test_wilson_at_the_ends_is_exact() -> None:
    for n in range(1, 60):
        assert wilson(0, n).low == 0.0
        assert wilson(n, n).high == 1.0


def test_wilson_without_trials_has_no_bounds() -> None:
    assert wilson(0, 0) == Interval(None, None, "wilson")


@pytest.mark.parametrize(("successes", "n"), [(-1, 3), (4, 3), (0, -1)])
def test_wilson_rejects_impossible_counts(successes: int, n: int) -> None:
    with pytest.raises(ValueError, match="not a proportion"):
        wilson(successes, n)


@pytest.mark.parametrize("confidence", [0.0, 1.0, 95.0, float("nan")])
def test_wilson_rejects_a_bad_confidence(confidence: float) -> None:
    with pytest.raises(ValueError, match="confidence"):
        wilson(1, 2, confidence)
