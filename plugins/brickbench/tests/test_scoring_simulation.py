"""Simulated judges with known strengths, position bias and errors: do the statistics find the truth?"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import pytest

from evalkit.stats import elo_ratings
from evalkit_brickbench.scoring.pairwise import Duel, Verdict, position_bias, schedule
from evalkit_brickbench.scoring.ratings import rate_one_question

SYSTEMS = ("a", "b", "c", "d", "e", "f")
THETA = dict(zip(SYSTEMS, (1.2, 0.6, 0.2, -0.1, -0.7, -1.2), strict=True))
N_TASKS = 60


@dataclass(frozen=True)
class Judge:
    """Takes the first build unseen with chance `position`; else looks, and errs with chance `error`."""

    position: float = 0.0
    error: float = 0.0

    def takes_first(self, lead: float) -> float:
        """Chance of a verdict for the first build, which is better by `lead` (in θ)."""
        better = 1.0 / (1.0 + np.exp(-lead))
        seen = (1.0 - self.error) * better + self.error * (1.0 - better)
        return self.position + (1.0 - self.position) * seen

    def wins(self, one: str, other: str) -> float:
        """Chance that a system beats another, both orders taken together."""
        lead = THETA[one] - THETA[other]
        return (self.takes_first(lead) + 1.0 - self.takes_first(-lead)) / 2.0

    def consistent(self, one: str, other: str) -> float:
        """Chance of two verdicts for the same system, one in each order."""
        lead = THETA[one] - THETA[other]
        shown_first, shown_second = self.takes_first(lead), 1.0 - self.takes_first(-lead)
        return shown_first * shown_second + (1.0 - shown_first) * (1.0 - shown_second)

    def true_elo(self) -> dict[str, float]:
        """Ratings after endlessly many verdicts."""
        wins = [[0.0 if i == j else self.wins(i, j) for j in SYSTEMS] for i in SYSTEMS]
        return dict(zip(SYSTEMS, elo_ratings(wins, prior=0.0).tolist(), strict=True))

    def verdicts(self, seed: int) -> list[Verdict]:
        rng = np.random.default_rng(seed)
        return [self._judged(duel, rng.random()) for duel in duels()]

    def _judged(self, duel: Duel, lot: float) -> Verdict:
        chance = self.takes_first(THETA[duel.first] - THETA[duel.second])
        return Verdict(duel.task, duel.question, duel.first, duel.second, 1 if lot < chance else 2)


@lru_cache(maxsize=1)
def duels() -> list[Duel]:
    views = {f"t{t:02}": dict.fromkeys(SYSTEMS, 8) for t in range(N_TASKS)}
    return [duel for duel in schedule(views) if duel.question == "design"]


@pytest.mark.parametrize("judge", [Judge(), Judge(0.1, 0.05), Judge(0.3, 0.1)])
def test_share_of_first_picks_tells_the_bias(judge: Judge) -> None:
    bias = position_bias(judge.verdicts(seed=0))
    assert bias.n_verdicts == N_TASKS * 30
    spread = 0.5 / np.sqrt(bias.n_verdicts)
    assert abs(bias.first_share - (0.5 + judge.position / 2.0)) < 3.0 * spread
    if judge.position:
        assert bias.p_value < 1e-4
        assert bias.conflict_p_value <= bias.p_value
    else:
        assert bias.p_value > 0.05
        assert bias.conflict_p_value > 0.05


@pytest.mark.parametrize("judge", [Judge(), Judge(0.3, 0.1)])
def test_consistency_over_orders(judge: Judge) -> None:
    expected = np.mean([judge.consistent(i, j) for i in SYSTEMS for j in SYSTEMS if i < j])
    bias = position_bias(judge.verdicts(seed=1))
    assert bias.n_pairs == N_TASKS * 15
    assert bias.consistency == pytest.approx(expected, abs=3.0 * 0.5 / np.sqrt(bias.n_pairs))


def test_p_values_of_a_fair_judge_are_rarely_small() -> None:
    found = [position_bias(Judge().verdicts(seed)) for seed in range(100)]
    assert sum(bias.p_value < 0.05 for bias in found) <= 8
    assert 1 <= sum(bias.conflict_p_value < 0.05 for bias in found) <= 10


@pytest.mark.parametrize("judge", [Judge(), Judge(0.2, 0.05)])
def test_intervals_cover_the_truth(judge: Judge) -> None:
    truth = judge.true_elo()
    covered = []
    for seed in range(30):
        found = rate_one_question(judge.verdicts(seed), draws=300)
        covered += [found[s].low <= truth[s] <= found[s].high for s in SYSTEMS]
    assert 0.88 <= np.mean(covered) <= 0.99


def test_a_faultless_judge_gives_the_strengths_themselves() -> None:
    expected = [1000.0 + 400.0 / np.log(10.0) * THETA[s] for s in SYSTEMS]
    assert list(Judge().true_elo().values()) == pytest.approx(expected, abs=1e-6)


def test_both_orders_cancel_the_bias_that_one_order_keeps() -> None:
    judge = Judge(position=0.3)
    both, one_order, squeezed = [], [], judge.true_elo()
    for seed in range(5):
        verdicts = judge.verdicts(seed)
        both.append([rate_one_question(verdicts, draws=2)[s].elo for s in SYSTEMS])
        first_only = [v for v in verdicts if v.first < v.second]
        one_order.append([rate_one_question(first_only, draws=2)[s].elo for s in SYSTEMS])
    truth = np.array([squeezed[s] for s in SYSTEMS])
    assert np.abs(np.mean(both, axis=0) - truth).max() < 15.0
    gained = np.mean(one_order, axis=0) - truth
    assert gained[0] > 50.0  # always shown first
    assert gained[-1] < -50.0  # never
    order = np.argsort(-np.mean(both, axis=0)).tolist()
    assert order == list(range(len(SYSTEMS)))
