from math import log

import choix
import numpy as np
import pytest

from evalkit.stats import bradley_terry, count_wins

#: Games of a, b and c: a beat b 3 : 1, b beat c 2 : 2, c beat a 1 : 5.
WINS = np.array([[0, 3, 5], [1, 0, 2], [1, 2, 0]], dtype=float)


def random_wins(n: int, seed: int, spread: float = 1.0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    wins = rng.poisson(np.exp(rng.normal(1.0, spread, (n, n)))).astype(float)
    np.fill_diagonal(wins, 0.0)
    return wins


def score_residual(wins: np.ndarray, theta: np.ndarray) -> np.ndarray:
    """Wins minus expected wins of every system; 0 at the maximum of the likelihood."""
    expected = 1.0 / (1.0 + np.exp(theta[None, :] - theta[:, None]))
    np.fill_diagonal(expected, 0.0)
    return wins.sum(axis=1) - ((wins + wins.T) * expected).sum(axis=1)


def test_two_systems_have_a_closed_form() -> None:
    wins = [[0, 3], [1, 0]]
    assert bradley_terry(wins, prior=0.0) == pytest.approx([log(3) / 2, -log(3) / 2], abs=1e-14)
    assert bradley_terry(wins) == pytest.approx([log(3.5 / 1.5) / 2, -log(3.5 / 1.5) / 2], abs=1e-14)


@pytest.mark.parametrize("prior", [0.0, 0.5, 2.0])
@pytest.mark.parametrize("n", [3, 6, 15])
def test_agrees_with_choix(n: int, prior: float) -> None:
    wins = random_wins(n, seed=n) + (1.0 - np.eye(n)) * (prior == 0.0)
    reference = choix.ilsr_pairwise_dense(wins + prior * (1.0 - np.eye(n)), tol=1e-13, max_iter=1000)
    assert bradley_terry(wins, prior) == pytest.approx(reference - reference.mean(), abs=1e-9)


def test_lopsided_tables_converge() -> None:
    """A million to one in both directions, and a prior of a millionth."""
    for seed in range(5):
        wins = random_wins(12, seed, spread=4.0)
        theta = bradley_terry(wins, prior=1e-6)
        residual = score_residual(wins + 1e-6 * (1.0 - np.eye(12)), theta)
        assert np.abs(residual).max() <= 1e-12 * wins.sum()


def test_undefeated_system_is_finite_with_the_prior_and_refused_without() -> None:
    wins = [[0, 9, 9], [0, 0, 4], [0, 5, 0]]
    theta = bradley_terry(wins)
    assert np.isfinite(theta).all()
    assert theta.argmax() == 0
    with pytest.raises(ValueError, match="no chain of wins leads from system 1 to system 0"):
        bradley_terry(wins, prior=0.0)


def test_separate_leagues_are_refused_without_the_prior() -> None:
    wins = np.zeros((4, 4))
    wins[0, 1] = wins[1, 0] = wins[2, 3] = wins[3, 2] = 1.0
    with pytest.raises(ValueError, match="not unique"):
        bradley_terry(wins, prior=0.0)
    assert bradley_terry(wins) == pytest.approx(np.zeros(4), abs=1e-14)


def test_a_chain_of_wins_is_enough() -> None:
    """Rock, paper, scissors: nobody beat everybody, and all are equal."""
    wins = np.roll(np.eye(7), 1, axis=1)
    assert bradley_terry(wins, prior=0.0) == pytest.approx(np.zeros(7), abs=1e-14)


def test_frozen_systems_stay_and_the_others_solve_their_own_equations() -> None:
    wins = random_wins(6, seed=1)
    frozen = {4: 0.3, 1: -0.8}
    theta = bradley_terry(wins, prior=0.0, frozen=frozen)
    assert (theta[4], theta[1]) == (0.3, -0.8)
    residual = score_residual(wins, theta)
    assert np.abs(residual[[0, 2, 3, 5]]).max() < 1e-10
    assert np.abs(residual[[1, 4]]).min() > 0.1


def test_freezing_some_at_the_full_fit_changes_nothing() -> None:
    wins = random_wins(6, seed=2)
    theta = bradley_terry(wins)
    again = bradley_terry(wins, frozen={2: theta[2], 3: theta[3]})
    assert again == pytest.approx(theta, abs=1e-12)
    assert bradley_terry(wins, frozen=dict(enumerate(theta))) == pytest.approx(theta, abs=0.0)


def test_a_distant_frozen_core_is_reached() -> None:
    """Full Newton steps from 0 overshoot by orders of magnitude here."""
    for strength in (12.0, -30.0):
        theta = bradley_terry([[0, 1], [3, 0]], prior=0.0, frozen={0: strength})
        assert theta == pytest.approx([strength, strength + log(3)], abs=1e-9)


def test_frozen_systems_count_as_one_when_looking_for_chains() -> None:
    """System 2 beat frozen 0 and lost to frozen 1, which never met each other."""
    wins = np.zeros((3, 3))
    wins[2, 0] = wins[1, 2] = 1.0
    theta = bradley_terry(wins, prior=0.0, frozen={0: -1.0, 1: 1.0})
    assert theta == pytest.approx([-1.0, 1.0, 0.0], abs=1e-12)
    with pytest.raises(ValueError, match="chain of wins"):
        bradley_terry(wins, prior=0.0)


def test_a_single_system() -> None:
    assert bradley_terry([[0.0]]).tolist() == [0.0]


@pytest.mark.parametrize(
    ("wins", "message"),
    [
        ([[0, 1]], "axes"),
        ([0, 1], "axes"),
        (np.zeros((0, 0)), "axes"),
        ([[0, -1], [1, 0]], "negative"),
        ([[0, np.nan], [1, 0]], "finite"),
        ([[1, 1], [1, 0]], "diagonal"),
    ],
)
def test_bad_tables(wins: object, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        bradley_terry(wins)


def test_bad_prior_and_frozen() -> None:
    for prior in (-0.5, np.nan, np.inf):
        with pytest.raises(ValueError, match="prior"):
            bradley_terry(WINS, prior)
    for system in (-1, 3):
        with pytest.raises(ValueError, match="frozen systems"):
            bradley_terry(WINS, frozen={system: 0.0})
    with pytest.raises(ValueError, match="finite"):
        bradley_terry(WINS, frozen={0: np.inf})


def test_count_wins() -> None:
    verdicts = [("t1", "a", "b", 1), ("t2", "b", "a", 1), ("t1", "b", "c", 0.5), ("t1", "b", "a", 0)]
    wins = count_wins(*zip(*verdicts, strict=True), task_names=["t1", "t2", "t3"], systems=["a", "b", "c"])
    assert wins[0].tolist() == [[0, 2, 0], [0, 0, 0.5], [0, 0.5, 0]]
    assert wins[1].tolist() == [[0, 0, 0], [1, 0, 0], [0, 0, 0]]
    assert not wins[2].any()


@pytest.mark.parametrize(
    ("verdict", "message"),
    [
        (("t9", "a", "b", 1), "t9"),
        (("t", "a", "z", 1), "'z'"),
        (("t", "a", "a", 1), "two listed systems"),
        (("t", "a", "b", 2), "not 2"),
    ],
)
def test_count_wins_refuses_bad_verdicts(verdict: tuple[str, str, str, float], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        count_wins(*([field] for field in verdict), task_names=["t"], systems=["a", "b"])


def test_count_wins_refuses_bad_lists() -> None:
    with pytest.raises(ValueError, match="every verdict"):
        count_wins(["t"], ["a"], ["b"], [], task_names=["t"], systems=["a", "b"])
    with pytest.raises(ValueError, match="system is listed twice"):
        count_wins([], [], [], [], task_names=["t"], systems=["a", "a"])
