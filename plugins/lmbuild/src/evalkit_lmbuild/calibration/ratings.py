"""Ratings that people gave to designs, as a sheet: CSV with a row per rater, design and metric.

    object,system,metric,rater,rating,judge,computed
    wheelchair,ann,D.1,r1,7,0.703704,0.964912

`rating` is from 1 to 10, as a judge's criteria are. `judge` and `computed` are the halves of the design's
score before their maps, the same in all rows of a design and metric, and empty where there is none. Sheets
that people fill in are better without these two columns, so that nobody is told what to think.
"""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from evalkit_lmbuild.scoring.levels import CALIBRATION

COLUMNS = ("object", "system", "metric", "rater", "rating")
HALVES = ("judge", "computed")
"""Further columns, which a sheet may lack."""
LOWEST, HIGHEST = 1.0, 10.0
MAX_BYTES = 64 << 20
FORMULA = ("=", "+", "-", "@")


class RatingsError(ValueError):
    """A sheet of ratings can't be used: says which row and why, in one line."""


@dataclass(frozen=True)
class Rated:
    """A design on one metric: its halves in [0, 1] before their maps, and ratings in [0, 1] by rater."""

    object: str
    system: str
    metric: str
    judge: float | None
    computed: float | None
    ratings: Mapping[str, float]

    @property
    def rating(self) -> float:
        """Mean over raters."""
        return math.fsum(self.ratings.values()) / len(self.ratings)


def read_ratings(path: Path) -> list[Rated]:
    """The rated designs of a sheet, by object, system and metric; rows without a rating are passed over.

    Raises RatingsError, also if nothing is rated.
    """
    try:
        with open(path, "rb") as file:
            data = file.read(MAX_BYTES + 1)
        if len(data) > MAX_BYTES:
            raise RatingsError(f"{path.name} is larger than {MAX_BYTES >> 20} MiB")
        text = data.decode("utf-8-sig")
    except OSError as error:
        raise RatingsError(f"can't read {path}: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise RatingsError(f"{path.name} isn't UTF-8: {error}") from error
    try:
        return parse_ratings(text)
    except RatingsError as error:
        raise RatingsError(f"{path.name}: {error}") from error


def parse_ratings(text: str) -> list[Rated]:
    """The rated designs of a sheet's text; see `read_ratings`."""
    reader = csv.DictReader(io.StringIO(text, newline=""), strict=True)
    found: dict[tuple[str, str, str], tuple[tuple[float | None, float | None], dict[str, float]]] = {}
    try:
        if missing := [column for column in COLUMNS if column not in (reader.fieldnames or ())]:
            raise RatingsError(f"there is no column {missing[0]!r}; there have to be {','.join(COLUMNS)}")
        for number, row in enumerate(reader, 2):
            if row["rating"] and row["rating"].strip():
                _add(found, row, f"row {number}")
    except csv.Error as error:
        raise RatingsError(f"isn't CSV: {error}") from error
    if not found:
        raise RatingsError("no row has a rating")
    return [Rated(*key, *halves, ratings) for key, (halves, ratings) in sorted(found.items())]


def with_halves(
    items: Iterable[Rated], known: Mapping[tuple[str, str, str], tuple[float | None, float | None]]
) -> list[Rated]:
    """The items with the halves that are known by object, system and metric; RatingsError for one unknown."""
    found = []
    for item in items:
        key = (item.object, item.system, item.metric)
        if key not in known:
            raise RatingsError(
                f"the runs have no design of {item.object} by {item.system} with {item.metric}"
            )
        judge, computed = known[key]
        found.append(replace(item, judge=judge, computed=computed))
    return found


def checked_raters(raters: Sequence[str]) -> None:
    """RatingsError for a rater named twice, without a name, or with a name that looks like a formula."""
    for number, rater in enumerate(raters):
        if not rater.strip():
            raise RatingsError("a rater has no name")
        if rater.lstrip().startswith(FORMULA):
            raise RatingsError(
                f"a rater can't be called {rater[:20]!r}: spreadsheets take for a formula what begins with "
                f"{' '.join(FORMULA)}"
            )
        if rater.strip() in (other.strip() for other in raters[:number]):
            raise RatingsError(f"the rater {rater[:20]!r} is named twice")


def sheet_text(rows: Iterable[Iterable[object]]) -> str:
    """A sheet of rows in the order of `COLUMNS`; None is an empty cell."""
    out = io.StringIO(newline="")
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(COLUMNS)
    writer.writerows(rows)
    return out.getvalue()


def split(items: Iterable[Rated], held_out: Iterable[str] = ()) -> tuple[list[Rated], list[Rated]]:
    """The items to fit to, and those of objects that are held out; by default every second object by name.

    RatingsError if an object isn't there or if one side is empty.
    """
    items = list(items)
    objects = sorted({item.object for item in items})
    kept = set(held_out) or set(objects[1::2])
    if unknown := sorted(kept - set(objects)):
        raise RatingsError(f"no design of {unknown[0]!r} is rated; rated are {', '.join(objects)}")
    fitted = [item for item in items if item.object not in kept]
    rest = [item for item in items if item.object in kept]
    if not fitted or not rest:
        raise RatingsError("there have to be objects to fit to and others that are held out")
    return fitted, rest


def _add(
    found: dict[tuple[str, str, str], tuple[tuple[float | None, float | None], dict[str, float]]],
    row: Mapping[str, str | None],
    where: str,
) -> None:
    names = [(row[column] or "").strip() for column in ("object", "system", "metric", "rater")]
    if not all(names):
        raise RatingsError(f"{where} has no object, system, metric or rater")
    *key, rater = names
    if key[2] not in CALIBRATION:
        raise RatingsError(f"{where}: metric {key[2][:20]!r} isn't one of {', '.join(CALIBRATION)}")
    rating = _number(row["rating"], f"{where}: rating", LOWEST, HIGHEST)
    assert rating is not None
    halves = tuple(_number(row.get(half), f"{where}: {half}", 0.0, 1.0) for half in ("judge", "computed"))
    known, ratings = found.setdefault((key[0], key[1], key[2]), ((halves[0], halves[1]), {}))
    if known != halves:
        raise RatingsError(f"{where}: judge or computed differ from those in other rows of this design")
    if rater in ratings:
        raise RatingsError(f"{where}: {rater} rates {key[2]} of this design twice")
    ratings[rater] = (rating - LOWEST) / (HIGHEST - LOWEST)


def _number(text: str | None, what: str, lowest: float, highest: float) -> float | None:
    """A number, None for an empty cell."""
    if text is None or not text.strip():
        return None
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not lowest <= value <= highest:
        raise RatingsError(f"{what} is {text.strip()[:20]!r}, not a number from {lowest:g} to {highest:g}")
    return value
