import pytest
from scipy.stats import binomtest

from evalkit.stats import flips, holm, mcnemar_exact


def runs(both: int, only_a: int, only_b: int, neither: int) -> tuple[dict[str, bool], dict[str, bool]]:
    pairs = [(True, True)] * both + [(True, False)] * only_a + [(False, True)] * only_b
    pairs += [(False, False)] * neither
    a = {f"task{i}": first for i, (first, _) in enumerate(pairs)}
    b = {f"task{i}": second for i, (_, second) in enumerate(pairs)}
    return a, b


@pytest.mark.parametrize(
    ("only_a", "only_b"), [(1, 0), (0, 5), (5, 5), (3, 10), (10, 3), (40, 61), (700, 800)]
)
def test_mcnemar_agrees_with_the_binomial_test(only_a: int, only_b: int) -> None:
    result = mcnemar_exact(*runs(4, only_a, only_b, 2))
    assert (result.both, result.only_a, result.only_b, result.neither) == (4, only_a, only_b, 2)
    assert result.p_value == pytest.approx(binomtest(only_a, only_a + only_b, 0.5).pvalue, rel=1e-9)


def test_mcnemar_by_hand() -> None:
    """Five flips, all one way: 2 / 2⁵."""
    assert mcnemar_exact(*runs(0, 0, 5, 0)).p_value == 0.0625


def test_mcnemar_without_flips() -> None:
    assert mcnemar_exact(*runs(3, 0, 0, 2)).p_value == 1.0
    assert mcnemar_exact({}, {}).p_value == 1.0


def test_flips_have_a_direction_and_an_order() -> None:
    a = {"z": False, "y": True, "x": True, "w": False, "v": False}
    b = {"v": True, "w": False, "x": True, "y": False, "z": True}
    assert flips(a, b).gained == ("v", "z")
    assert flips(a, b).lost == ("y",)


def test_unmatched_keys_are_named() -> None:
    for compare in (flips, mcnemar_exact):
        with pytest.raises(ValueError, match="2 are on one side only, such as 'x'"):
            compare({"a": True, "x": True}, {"a": True, "y": False})


def test_holm_by_hand() -> None:
    """0.01·4, 0.02·3 and 0.03·2 in order of size; the last may not fall below those before it."""
    assert holm([0.03, 0.01, 0.055, 0.02]) == pytest.approx([0.06, 0.04, 0.06, 0.06])
    assert holm([0.9, 0.8]) == [1.0, 1.0]
    assert holm([0.04]) == [0.04]
    assert holm([]) == []


def test_holm_lies_between_raw_and_bonferroni() -> None:
    raw = [0.2, 0.001, 0.04, 0.04, 0.5, 0.0]
    adjusted = holm(raw)
    assert all(p <= q <= min(1.0, len(raw) * p) for p, q in zip(raw, adjusted, strict=True))
    order = sorted(range(len(raw)), key=lambda i: raw[i])
    assert [adjusted[i] for i in order] == sorted(adjusted)


@pytest.mark.parametrize("bad", [-0.1, 1.1, float("nan")])
def test_holm_rejects_what_is_no_p_value(bad: float) -> None:
    with pytest.raises(ValueError, match="not a p-value"):
        holm([0.5, bad])
