from math import log, log10
from pathlib import Path

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from evalkit.stats import (
    bradley_terry,
    bt_bootstrap,
    bt_bootstrap_combined,
    combine_equal_spread,
    count_wins,
    elo_ratings,
    win_probability,
)

SHARED = Path(__file__).resolve().parents[4] / "shared"


@pytest.fixture
def shared_case() -> dict[str, np.ndarray]:
    """1,200 verdicts over 40 tasks of 6 systems with reference ratings; not part of this repository."""
    if not SHARED.is_dir():
        pytest.skip("the folder with shared reference data is not beside the repository")
    with np.load(SHARED / "data" / "brickbench" / "bt_case.npz") as case:
        return dict(case)


def duels(n_tasks: int, n: int, seed: int) -> np.ndarray:
    """(tasks, n, n) wins of systems whose true strengths fall by ½ from one to the next, 2 games a pair."""
    rng = np.random.default_rng(seed)
    strength = -0.5 * np.arange(n)
    first, second = np.triu_indices(n, 1)
    chance = 1.0 / (1.0 + np.exp(strength[second] - strength[first]))
    wins = np.zeros((n_tasks, n, n))
    wins[:, first, second] = rng.binomial(2, chance, (n_tasks, len(first)))
    wins[:, second, first] = 2.0 - wins[:, first, second]
    return wins


def logistic_elo(wins: np.ndarray, prior: float) -> np.ndarray:
    """Elo by logistic regression on one row per pair and direction, the prior as extra weight."""
    n = len(wins)
    winner, loser = np.nonzero(~np.eye(n, dtype=bool))
    rows = np.zeros((len(winner), n))
    rows[np.arange(len(winner)), winner], rows[np.arange(len(winner)), loser] = 1.0, -1.0
    weights = wins[winner, loser] + prior
    model = LogisticRegression(C=np.inf, fit_intercept=False, solver="newton-cholesky", tol=1e-12)
    model.fit(
        np.vstack([rows, -rows])[:, 1:],
        np.repeat([1, 0], len(rows)),
        sample_weight=np.concatenate([weights, weights]),
    )
    theta = np.concatenate([[0.0], model.coef_[0]])
    return 1000.0 + 400.0 / log(10.0) * (theta - theta.mean())


def test_win_probability() -> None:
    assert win_probability(545.0) == pytest.approx(0.958, abs=5e-4)
    assert win_probability(400.0) == pytest.approx(10 / 11)
    assert win_probability(0.0) == 0.5
    assert win_probability(-400.0) == pytest.approx(1 / 11)
    assert win_probability(-8000.0) == pytest.approx(1e-20, rel=1e-12, abs=0.0)
    assert (win_probability(1e6), win_probability(-1e6)) == (1.0, 0.0)


def test_elo_by_hand() -> None:
    half = 200.0 * log10(3.5 / 1.5)
    assert elo_ratings([[0, 3], [1, 0]]) == pytest.approx([1000 + half, 1000 - half], abs=1e-10)
    assert win_probability(2 * half) == pytest.approx(3.5 / 5)


def test_ratings_of_the_shared_case(shared_case: dict[str, np.ndarray]) -> None:
    wins = shared_wins(shared_case).sum(axis=0)
    assert elo_ratings(wins) == pytest.approx(shared_case["elo_prior_half"], abs=1e-6)
    assert elo_ratings(wins, prior=0.0) == pytest.approx(shared_case["elo_mle"], abs=1e-6)


def test_bootstrap_of_the_shared_case(shared_case: dict[str, np.ndarray]) -> None:
    result = bt_bootstrap(shared_wins(shared_case))
    assert result.elo == pytest.approx(shared_case["elo_prior_half"], abs=1e-6)
    assert result.samples.shape == (1000, 6)
    assert (result.low < result.elo).all()
    assert (result.elo < result.high).all()
    assert (result.high - result.low < 120.0).all()


@pytest.mark.parametrize("prior", [0.0, 0.5])
def test_agrees_with_logistic_regression(prior: float) -> None:
    wins = duels(20, 6, seed=3).sum(axis=0)
    assert elo_ratings(wins, prior=prior) == pytest.approx(logistic_elo(wins, prior), abs=1e-6)


def test_the_core_is_rated_by_its_own_games() -> None:
    wins = duels(20, 6, seed=4).sum(axis=0)
    core = [5, 0, 2]
    elo = elo_ratings(wins, core)
    assert elo[core].mean() == pytest.approx(1000.0, abs=1e-9)
    own_games = wins[np.ix_(core, core)]
    assert elo[core] == pytest.approx(elo_ratings(own_games), abs=1e-9)
    wins[1, :] += 7.0
    wins[1, 1] = 0.0
    changed = elo_ratings(wins, core)
    assert changed[core].tolist() == elo[core].tolist()
    assert changed[1] > elo[1] + 10.0


def test_others_are_fitted_beside_the_frozen_core() -> None:
    wins = duels(20, 5, seed=5).sum(axis=0)
    core_theta = bradley_terry(wins[:3, :3])
    theta = bradley_terry(wins, frozen=dict(enumerate(core_theta)))
    assert elo_ratings(wins, [0, 1, 2]) == pytest.approx(1000 + 400 / log(10) * theta, abs=1e-9)


def test_missing_maximum_names_the_systems_of_the_whole_table() -> None:
    wins = duels(20, 4, seed=6).sum(axis=0)
    wins[2, 3] = 0.0
    with pytest.raises(ValueError, match="from system 2 to system 3"):
        elo_ratings(wins, core=[3, 2], prior=0.0)


@pytest.mark.parametrize("core", [[], [0, 0], [0, 9], [-1, 0]])
def test_bad_core(core: list[int]) -> None:
    for use in (elo_ratings, combine_equal_spread):
        with pytest.raises(ValueError, match="the core"):
            use(np.zeros((3, 3)), core)


def test_equal_spread_by_hand() -> None:
    """Core spreads 100 and 300 (ddof 1, two systems a distance √2·sd apart): mean 200, k = 2 and 2/3."""
    d = np.sqrt(0.5)
    align = [1000 + 100 * d, 1000 - 100 * d, 1200.0]
    design = [1000 - 300 * d, 1000 + 300 * d, 700.0]
    combined = combine_equal_spread([align, design], core=[0, 1])
    assert combined == pytest.approx([1000.0, 1000.0, 1000 + (2 * 200 - 2 / 3 * 300) / 2])


def test_columns_without_spread_keep_their_scale() -> None:
    columns = [[1000.0, 1000.0, 1300.0], [1010.0, 990.0, 900.0]]
    sd = np.std([1010.0, 990.0], ddof=1)
    expected = 1000 + (np.array([0, 0, 300]) + (sd / 2) / sd * np.array([10, -10, -100])) / 2
    assert combine_equal_spread(columns, core=[0, 1]) == pytest.approx(expected)
    assert combine_equal_spread(columns, core=[0]) == pytest.approx(np.mean(columns, axis=0))


def test_one_column_is_left_alone_and_resamples_are_scaled_one_by_one() -> None:
    rng = np.random.default_rng(0)
    columns = rng.normal(1000.0, 100.0, (2, 7, 5))
    assert combine_equal_spread(columns[:1]) == pytest.approx(columns[0])
    whole = combine_equal_spread(columns, core=[1, 2, 4])
    assert whole[3] == pytest.approx(combine_equal_spread(columns[:, 3], core=[1, 2, 4]))


def test_combining_nothing_is_refused() -> None:
    for columns in ([], [1000.0, 1100.0]):
        with pytest.raises(ValueError, match="shape"):
            combine_equal_spread(columns)


def test_bootstrap_equals_refits_of_the_resampled_tasks() -> None:
    """The stacked fit against one fit per draw, with the tasks drawn the plain way."""
    wins = duels(12, 4, seed=8)
    result = bt_bootstrap(wins, [0, 1, 3], draws=25, seed=3)
    drawn = np.random.Generator(np.random.PCG64(3)).integers(0, 12, size=(25, 12))
    refits = [elo_ratings(wins[tasks].sum(axis=0), [0, 1, 3]) for tasks in drawn]
    assert result.samples == pytest.approx(np.array(refits), abs=1e-8)
    assert result.low == pytest.approx(np.percentile(refits, 2.5, axis=0))
    assert result.high == pytest.approx(np.percentile(refits, 97.5, axis=0))


def test_bootstrap_width_agrees_with_the_closed_form() -> None:
    """Two systems, two games a task: by the delta method sd(θ) is sd(wins per task) √T / (2 T p q)."""
    wins = duels(400, 2, seed=9)
    result = bt_bootstrap(wins, draws=4000)
    p = wins[:, 0, 1].sum() / 800
    sd_theta = wins[:, 0, 1].std() * np.sqrt(400) / (800 * p * (1 - p))
    sd_elo = 400.0 / log(10.0) * sd_theta / 2
    assert result.samples[:, 0].std() == pytest.approx(sd_elo, rel=0.05)


def test_bootstrap_is_deterministic() -> None:
    wins = duels(10, 3, seed=10)
    first, second = bt_bootstrap(wins), bt_bootstrap(wins)
    assert first.samples.tobytes() == second.samples.tobytes()
    assert (bt_bootstrap(wins, seed=1).samples != first.samples).any()


def test_combined_bootstrap_draws_the_same_tasks_for_both_columns() -> None:
    align, design = duels(15, 4, seed=11), duels(15, 4, seed=12)
    core = [0, 2, 3]
    combined = bt_bootstrap_combined([align, design], core, draws=50)
    columns = [bt_bootstrap(table, core, draws=50) for table in (align, design)]
    assert combined.elo == pytest.approx(combine_equal_spread([c.elo for c in columns], core))
    samples = combine_equal_spread([c.samples for c in columns], core)
    assert combined.samples == pytest.approx(samples, abs=1e-9)
    assert combined.low == pytest.approx(np.quantile(samples, 0.025, axis=0))


def test_one_task_has_ratings_but_no_bounds() -> None:
    wins = duels(1, 3, seed=13)
    result = bt_bootstrap(wins)
    assert result.elo == pytest.approx(elo_ratings(wins[0]))
    assert np.isnan([result.low, result.high]).all()
    assert result.samples.shape == (0, 3)


def test_bootstrap_without_prior_says_how_many_resamples_fail() -> None:
    wins = np.zeros((2, 2, 2))
    wins[0, 0, 1] = wins[1, 1, 0] = 1.0
    with pytest.raises(ValueError, match=r"in \d+ of 1000 resamples"):
        bt_bootstrap(wins, prior=0.0)


def test_bootstrap_refuses_unequal_tables() -> None:
    for columns in ([], [duels(3, 3, 0), duels(4, 3, 0)]):
        with pytest.raises(ValueError, match="same tasks"):
            bt_bootstrap_combined(columns)
    with pytest.raises(ValueError, match="3 axes"):
        bt_bootstrap(np.zeros((3, 3)))


def shared_wins(case: dict[str, np.ndarray]) -> np.ndarray:
    tasks = np.repeat(np.arange(40), 30).tolist()
    first, second, won = (case[key].tolist() for key in ("I", "J", "W"))
    return count_wins(tasks, first, second, won, task_names=range(40), systems=range(6))
