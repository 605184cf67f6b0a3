"""The report of `evalkit try` for people: the twelve metrics below their levels, and what `check` says."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from evalkit import Execution
from evalkit_lmbuild.scoring.levels import LEVELS, combine
from evalkit_lmbuild.settings import maps_of
from evalkit_lmbuild.specs import GEOMETRY, METRICS, OPERABILITY_ID

NO_JUDGE = "judges look at runs only (evalkit rescore RUN --judge MODEL)"
_WIDTH = max(len(spec.label) for spec in METRICS) + 2


@dataclass(frozen=True)
class _Cell:
    """A metric's score, or why there is none; `note` says more of a score."""

    score: float | None
    note: str = ""


def as_text(
    executions: Sequence[Execution], check: Mapping[str, Any], settings: Mapping[str, Any]
) -> list[str]:
    """Lines of the scores that executors found, where they looked, and of the result of `check`."""
    return [*_score_lines(executions, settings), *_check_lines(check)]


def _score_lines(executions: Sequence[Execution], settings: Mapping[str, Any]) -> Iterator[str]:
    data = {execution.executor: execution.data for execution in executions}
    if GEOMETRY.id not in data:
        return
    cells = {metric: _cell(metric, data, settings) for names in LEVELS.values() for metric in names}
    for spec in METRICS:
        name = spec.id.removeprefix("lmbuild.")
        if name in LEVELS:
            yield _line(f"{name} {spec.label}", _level([cells[metric] for metric in LEVELS[name]]))
        else:
            yield f"  {_line(spec.label, cells[name])}"


def _line(label: str, cell: _Cell) -> str:
    shown = "–" if cell.score is None else f"{cell.score:.3f}"
    return f"{label:{_WIDTH}} {shown:5}  {cell.note}".rstrip()


def _cell(metric: str, data: Mapping[str, Mapping[str, Any]], settings: Mapping[str, Any]) -> _Cell:
    if metric == "R.3":
        if OPERABILITY_ID not in data:
            return _Cell(None, f"unscored: {OPERABILITY_ID} has not run")
        found = data[OPERABILITY_ID]
    else:
        found = data[GEOMETRY.id].get(metric, {"score": None, "reason": ""})
    score, reason = found["score"], found["reason"]
    if metric in LEVELS["D"]:
        combined = combine(metric, None, score, maps_of(settings))
        if combined.score is None:
            return _Cell(None, f"skipped: {reason or NO_JUDGE}")
        return _Cell(combined.score, f"degraded: the computed half alone; {NO_JUDGE}")
    return _Cell(score, f"not applicable: {reason}" if score is None else reason)


def _level(cells: Sequence[_Cell]) -> _Cell:
    """The mean of the metrics that apply; degraded where a judge is missing."""
    known = [cell.score for cell in cells if cell.score is not None]
    if not known:
        return _Cell(None, "none of its metrics applies")
    partly = any(cell.note.startswith(("degraded", "skipped", "unscored")) for cell in cells)
    return _Cell(sum(known) / len(known), "degraded" if partly else "")


def _check_lines(check: Mapping[str, Any]) -> Iterator[str]:
    yield f"parts: {check['n_parts']}, joints: {check['n_joints']}"
    if "stability" in check:
        yield from _geometry_lines(check)
    for entry in check["joint_issues"]:
        for issue in entry["issues"]:
            yield f"joint {entry['joint_id']}: {issue}"
    for key in ("parts_without_role", "parts_without_material", "parts_missing_from_sequence"):
        if check[key]:
            yield f"{key.replace('_', ' ')}: {', '.join(check[key])}"


def _geometry_lines(check: Mapping[str, Any]) -> Iterator[str]:
    yield f"collisions: {check['n_collisions'] or 'none'}"
    for found in check["collisions"]:
        share = f"{found['frac_of_smaller_part']:.0%} of the smaller part"
        yield f"  {found['a']} and {found['b']} share {found['overlap_cm3']:g} cm³, {share}"
    if (more := check["n_collisions"] - len(check["collisions"])) > 0:
        yield f"  and {more} more"
    yield f"groups that hang together: {check['connected_groups']}"
    if loose := check["not_connected_to_main_group"]:
        yield f"  not connected to the main one: {', '.join(loose)}"
    yield f"lowest point: {check['lowest_point_z_m']:g} m"
    for key in ("resting_on_ground", "parts_below_ground"):
        if check[key]:
            yield f"  {key.replace('_', ' ')}: {', '.join(check[key])}"
    tilt, margin = check["stability"]["critical_tilt_deg"], check["stability"]["support_margin_m"]
    yield f"tips over at {tilt:g}°, with a support margin of {margin * 100:g} cm"
