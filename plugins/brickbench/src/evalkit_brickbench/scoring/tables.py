"""Tables of systems from one record per build: the published Table 1, reasons, what builds are made of.

Rows are plain dictionaries from column to number, text or None (nothing to report), ready for CSV.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import fsum
from typing import Literal, get_args

from evalkit_brickbench.scoring.ratings import OVERALL, Ratings

Reason = Literal["missing", "part rule", "collision", "stability"]
REASONS: tuple[Reason, ...] = get_args(Reason)
"""Why a build is invalid, in the order in which they are asked: the first that applies counts."""

NO_STABILITY = "Valid without stability"
"""Footnote of systems whose builds were never asked to stand."""

Cell = float | int | str | None
Row = dict[str, Cell]


@dataclass(frozen=True, slots=True)
class Contents:
    """What a build is made of, and what the checks counted: parts in `colliding_parts` overlap another,
    each two of them are one of `colliding_pairs`; both are None for a pile that is too dense to count them,
    which is a collision. `stable` is None if stability wasn't looked at."""

    parts: int
    unique_parts: int
    colours: int
    colliding_parts: int | None
    colliding_pairs: int | None
    components: int
    stable: bool | None


@dataclass(frozen=True, slots=True)
class BuildRecord:
    """One system's answer to one prompt.

    `contents` is None without a usable build. `vqa` is the build's score (0 … 1), None if it wasn't
    judged; `cost_usd` the list price of its tokens, None if it isn't known. `has_to_stand` is False for
    systems like BrickNet whose published validity has no stability term.
    """

    system: str
    setting: str
    task: str
    contents: Contents | None
    obeys_part_rules: bool = True
    vqa: float | None = None
    cost_usd: float | None = None
    has_to_stand: bool = True


def invalid_reason(record: BuildRecord) -> Reason | None:
    """Why a build is invalid; None for a valid one.

    Raises ValueError for a build that passed everything else without a verdict on stability: how an
    undetermined one counts has to be decided, and said, by whoever makes the record.
    """
    contents = record.contents
    if contents is None:
        return "missing"
    if not record.obeys_part_rules:
        return "part rule"
    if contents.colliding_pairs != 0:
        return "collision"
    if not record.has_to_stand:
        return None
    if contents.stable is None:
        raise ValueError(f"{record.system} on {record.task}: the verdict on stability is missing")
    return None if contents.stable else "stability"


def main_table(records: Iterable[BuildRecord], ratings: Mapping[str, Ratings]) -> list[Row]:
    """The published Table 1: a row per setting and system, `overall` (all prompts pooled) first.

    Columns: valid (0 … 1; a missing build is invalid), vqa (of the builds that were judged) and
    vqa_zero_filled (missing builds as 0; None if none was judged), elo and elo_half_width (the published
    ±), align, design, cost_usd
    (mean per prompt), n_prompts, n_builds, n_judged (by VQA), n_costed, note. `ratings` are by setting, as
    `rate_by_setting` gives them; systems that weren't rated have None. Systems come in the order of their
    overall rating, then by name.
    """
    by_setting = _by_setting(records)
    overall = ratings.get(OVERALL)
    order = {row.system: place for place, row in enumerate(overall.systems)} if overall else {}
    return [
        _main_row(setting, system, systems[system], ratings.get(setting))
        for setting, systems in by_setting.items()
        for system in sorted(systems, key=lambda name: (order.get(name, len(order)), name))
    ]


def reasons_table(records: Iterable[BuildRecord]) -> list[Row]:
    """A row per setting and system: n_prompts, n_invalid, and a column for each reason."""
    rows: list[Row] = []
    for setting, systems in _by_setting(records).items():
        for system in sorted(systems):
            found = [reason for reason in map(invalid_reason, systems[system]) if reason is not None]
            counts: Row = {reason: found.count(reason) for reason in REASONS}
            head: Row = {"setting": setting, "system": system, "n_prompts": len(systems[system])}
            rows.append({**head, "n_invalid": len(found), **counts})
    return rows


def contents_table(records: Iterable[BuildRecord]) -> list[Row]:
    """A row per setting and system: means over the builds that exist.

    Columns: n_builds, parts, unique_parts, colours, colliding_parts, colliding_pairs, components, and
    stable: the share of the builds whose stability was looked at, n_stability_known.
    """
    rows: list[Row] = []
    for setting, systems in _by_setting(records).items():
        for system in sorted(systems):
            built = [record.contents for record in systems[system] if record.contents is not None]
            rows.append({"setting": setting, "system": system, **_means(built)})
    return rows


def token_cost_usd(tokens: Mapping[str, int], usd_per_million: Mapping[str, float]) -> float:
    """List price of tokens by kind (input, cached input, output …). KeyError on a kind without a price."""
    return fsum(count * usd_per_million[kind] / 1e6 for kind, count in sorted(tokens.items()))


def rented_cost_usd(wall_s: float, usd_per_hour: float) -> float:
    """Price of a machine rented for `wall_s` seconds, as for systems that run on a GPU of one's own."""
    return wall_s / 3600.0 * usd_per_hour


def _by_setting(records: Iterable[BuildRecord]) -> dict[str, dict[str, list[BuildRecord]]]:
    """Records by setting and system: overall first, then the settings as they come in `records`.

    Raises ValueError if a system has two records on one task of a setting.
    """
    found: dict[str, dict[str, list[BuildRecord]]] = {OVERALL: {}}
    seen: set[tuple[str, str, str]] = set()
    for record in records:
        name = (record.system, record.setting, record.task)
        if name in seen:
            raise ValueError(f"two records of {record.system} on {record.task} ({record.setting})")
        seen.add(name)
        for setting in (OVERALL, record.setting):
            found.setdefault(setting, {}).setdefault(record.system, []).append(record)
    return found


def _main_row(setting: str, system: str, records: Sequence[BuildRecord], ratings: Ratings | None) -> Row:
    missing = [record for record in records if record.contents is None]
    built = len(records) - len(missing)
    scores = [r.vqa for r in records if r.contents is not None and r.vqa is not None]
    costs = [record.cost_usd for record in records if record.cost_usd is not None]
    return {
        "setting": setting,
        "system": system,
        "valid": sum(invalid_reason(record) is None for record in records) / len(records),
        "vqa": _mean(scores),
        "vqa_zero_filled": _mean([*scores, *(0.0 for _ in missing)]) if scores or not built else None,
        **_rating_cells(ratings, system),
        "cost_usd": _mean(costs),
        "n_prompts": len(records),
        "n_builds": built,
        "n_judged": len(scores),
        "n_costed": len(costs),
        "note": None if all(record.has_to_stand for record in records) else NO_STABILITY,
    }


def _rating_cells(ratings: Ratings | None, system: str) -> Row:
    rated = next((row for row in ratings.systems if row.system == system), None) if ratings else None
    return {
        "elo": rated.elo.elo if rated else None,
        "elo_half_width": rated.elo.half_width if rated else None,
        "align": rated.alignment.elo if rated else None,
        "design": rated.design.elo if rated else None,
    }


def _means(built: Sequence[Contents]) -> Row:
    columns: dict[str, Callable[[Contents], int | None]] = {
        "parts": lambda c: c.parts,
        "unique_parts": lambda c: c.unique_parts,
        "colours": lambda c: c.colours,
        "colliding_parts": lambda c: c.colliding_parts,
        "colliding_pairs": lambda c: c.colliding_pairs,
        "components": lambda c: c.components,
    }
    known = [c.stable for c in built if c.stable is not None]
    counts = {name: [count(c) for c in built] for name, count in columns.items()}
    means: Row = {name: _mean([n for n in found if n is not None]) for name, found in counts.items()}
    return {"n_builds": len(built), **means, "stable": _mean(known), "n_stability_known": len(known)}


def _mean(values: Sequence[float]) -> float | None:
    return fsum(values) / len(values) if values else None
