"""Designs of runs that people rate: sheets to fill in, and the halves that ratings are compared with."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from evalkit.report import RecordedRun
from evalkit_lmbuild.metrics import halves
from evalkit_lmbuild.scoring.levels import CALIBRATION

Halves = tuple[float | None, float | None]


def design_halves(runs: Sequence[RecordedRun]) -> dict[tuple[str, str, str], Halves]:
    """Judged and computed half by object, system (the agent's id) and metric, before their maps.

    Of several episodes of a task by one system the first with a design counts. What has neither half is
    left out.
    """
    found: dict[tuple[str, str, str], Halves] = {}
    seen: set[tuple[str, str]] = set()
    for run in runs:
        for episode, task in run.played:
            design = (task.id, episode.key.agent)
            if design in seen or episode.final_design() is None:
                continue
            seen.add(design)
            for metric in CALIBRATION:
                if (both := halves(episode, metric)) != (None, None):
                    found[(*design, metric)] = both
    return found


def sheet_rows(
    runs: Sequence[RecordedRun], raters: Sequence[str]
) -> Iterator[tuple[str, str, str, str, None]]:
    """A row to fill in for every design, metric of level D and rater."""
    designs = dict.fromkeys((name, system) for name, system, _ in design_halves(runs))
    for name, system in designs:
        for metric in CALIBRATION:
            for rater in raters:
                yield (name, system, metric, rater, None)
