"""Statistics of results: intervals, paired comparisons, repeated attempts, ratings from duels.

Every name is loaded on first use, so that importing this package is nearly free and a command which needs
only a Wilson interval pays for neither numpy nor scipy. `docs/statistics.md` says which one to use when.
"""

from __future__ import annotations

from importlib import import_module

# Type checkers take this name for true; importing it from `typing` would be most of the cost of this module.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from evalkit.stats._bootstrap import PairedDifference, bootstrap_mean, mean_interval, paired_bootstrap
    from evalkit.stats._bradley_terry import bradley_terry, count_wins
    from evalkit.stats._elo import (
        RatingIntervals,
        bt_bootstrap,
        bt_bootstrap_combined,
        combine_equal_spread,
        elo_ratings,
        win_probability,
    )
    from evalkit.stats._interval import Interval
    from evalkit.stats._paired import Flips, McNemar, flips, holm, mcnemar_exact
    from evalkit.stats._passk import TaskAverage, mean_pass_at_k, mean_pass_hat_k, pass_at_k, pass_hat_k
    from evalkit.stats._proportions import wilson

_MODULE_OF = {
    "Flips": "_paired",
    "Interval": "_interval",
    "McNemar": "_paired",
    "PairedDifference": "_bootstrap",
    "RatingIntervals": "_elo",
    "TaskAverage": "_passk",
    "bootstrap_mean": "_bootstrap",
    "bradley_terry": "_bradley_terry",
    "bt_bootstrap": "_elo",
    "bt_bootstrap_combined": "_elo",
    "combine_equal_spread": "_elo",
    "count_wins": "_bradley_terry",
    "elo_ratings": "_elo",
    "flips": "_paired",
    "holm": "_paired",
    "mcnemar_exact": "_paired",
    "mean_interval": "_bootstrap",
    "mean_pass_at_k": "_passk",
    "mean_pass_hat_k": "_passk",
    "paired_bootstrap": "_bootstrap",
    "pass_at_k": "_passk",
    "pass_hat_k": "_passk",
    "wilson": "_proportions",
    "win_probability": "_elo",
}

__all__ = [
    "Flips",
    "Interval",
    "McNemar",
    "PairedDifference",
    "RatingIntervals",
    "TaskAverage",
    "bootstrap_mean",
    "bradley_terry",
    "bt_bootstrap",
    "bt_bootstrap_combined",
    "combine_equal_spread",
    "count_wins",
    "elo_ratings",
    "flips",
    "holm",
    "mcnemar_exact",
    "mean_interval",
    "mean_pass_at_k",
    "mean_pass_hat_k",
    "paired_bootstrap",
    "pass_at_k",
    "pass_hat_k",
    "wilson",
    "win_probability",
]


if not TYPE_CHECKING:  # else a type checker would take every misspelt name for one of ours

    def __getattr__(name: str) -> object:
        if name not in _MODULE_OF:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        value = getattr(import_module(f"{__name__}.{_MODULE_OF[name]}"), name)
        globals()[name] = value
        return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
