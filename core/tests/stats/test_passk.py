from itertools import combinations

import pytest

from evalkit.stats import mean_pass_at_k, mean_pass_hat_k, pass_at_k, pass_hat_k


@pytest.mark.parametrize("n", range(1, 8))
def test_estimators_agree_with_enumeration(n: int) -> None:
    for c in range(n + 1):
        attempts = [True] * c + [False] * (n - c)
        for k in range(1, n + 1):
            picks = list(combinations(attempts, k))
            assert pass_at_k(n, c, k) == pytest.approx(sum(map(any, picks)) / len(picks), abs=1e-15)
            assert pass_hat_k(n, c, k) == pytest.approx(sum(map(all, picks)) / len(picks), abs=1e-15)


def test_k_of_one_is_the_success_rate() -> None:
    assert pass_at_k(10, 3, 1) == pass_hat_k(10, 3, 1) == 0.3


def test_large_counts_do_not_overflow() -> None:
    assert pass_at_k(5000, 1, 2500) == pytest.approx(0.5, abs=1e-15)


def test_means_over_tasks_skip_what_cannot_be_estimated() -> None:
    counts = {"b": (4, 2), "a": (4, 4), "short": (1, 1)}
    at_2, hat_2 = mean_pass_at_k(counts, 2), mean_pass_hat_k(counts, 2)
    assert at_2.per_task == {"a": 1.0, "b": 5 / 6}
    assert hat_2.per_task == {"a": 1.0, "b": 1 / 6}
    assert at_2.value == pytest.approx(11 / 12)
    assert hat_2.value == pytest.approx(7 / 12)
    assert list(at_2.per_task) == ["a", "b"]
    assert at_2.skipped == hat_2.skipped == ("short",)


def test_no_usable_task_gives_no_value() -> None:
    average = mean_pass_at_k({"a": (1, 1)}, 3)
    assert average.value is None
    assert average.skipped == ("a",)


@pytest.mark.parametrize(("n", "c", "k"), [(3, 4, 1), (3, -1, 1), (3, 1, 4), (3, 1, 0)])
def test_impossible_counts(n: int, c: int, k: int) -> None:
    for estimate in (pass_at_k, pass_hat_k):
        with pytest.raises(ValueError):
            estimate(n, c, k)


@pytest.mark.parametrize("k", [0, -1])
def test_a_mean_over_no_attempts_is_refused(k: int) -> None:
    with pytest.raises(ValueError, match="k must be"):
        mean_pass_at_k({"a": (3, 1)}, k)
