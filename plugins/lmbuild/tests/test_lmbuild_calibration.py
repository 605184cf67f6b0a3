"""Maps of level D from ratings: known truth comes back, and agreement is what ranks say."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from evalkit_lmbuild.calibration.agreement import agreement, agreements, rater_correlations, spearman
from evalkit_lmbuild.calibration.fitting import fit, fit_scale
from evalkit_lmbuild.calibration.ratings import (
    COLUMNS,
    Rated,
    RatingsError,
    checked_raters,
    parse_ratings,
    read_ratings,
    split,
    with_halves,
)
from evalkit_lmbuild.cli import command
from evalkit_lmbuild.scoring.levels import CALIBRATION, Scale, combine
from evalkit_lmbuild.scoring.maps import MapsError, maps_document, read_maps

OBJECTS, SYSTEMS, RATERS = 15, 6, 4
HEADER = ",".join((*COLUMNS, "judge", "computed"))


def rated_world(noise: float, seed: int = 0, whole: bool = False) -> list[Rated]:
    """Designs whose true quality runs from 0 to 0.95: halves follow it by the published maps, raters err.

    `noise` is the raters' standard deviation; `whole`: they give whole numbers from 1 to 10.
    """
    rng = random.Random(seed)
    items = []
    for number in range(OBJECTS):
        for system in range(SYSTEMS):
            for metric, maps in CALIBRATION.items():
                quality = min(0.95, max(0.0, rng.random() * 0.6 + 0.08 * system))

                def half(scale: Scale | None, quality: float = quality) -> float | None:
                    return None if scale is None else scale.low + quality * (scale.high - scale.low)

                ratings = {}
                for rater in range(RATERS):
                    rating = min(1.0, max(0.0, quality + rng.gauss(0, noise)))
                    ratings[f"r{rater}"] = round(rating * 9) / 9 if whole else rating
                items.append(
                    Rated(
                        f"o{number:02}", f"s{system}", metric, half(maps.judge), half(maps.computed), ratings
                    )
                )
    return items


# Fitting


@pytest.mark.parametrize(("noise", "whole", "within"), [(0.0, False, 1e-6), (0.1, True, 0.2)])
def test_the_published_maps_come_back_from_ratings_that_follow_them(
    noise: float, whole: bool, within: float
) -> None:
    found = fit(rated_world(noise, whole=whole))
    assert list(found) == ["D.1", "D.2", "D.3"]
    for metric, maps in CALIBRATION.items():
        for half in ("judge", "computed"):
            mine, theirs = getattr(found[metric], half), getattr(maps, half)
            assert (mine is None) == (theirs is None)
            if theirs is not None:
                width = theirs.high - theirs.low
                assert mine.low == pytest.approx(theirs.low, abs=within * width), (metric, half)
                assert mine.high == pytest.approx(theirs.high, abs=within * width), (metric, half)
        assert found[metric].judge_weight == maps.judge_weight
        assert found[metric].computed_weight == maps.computed_weight


def independent_world(noise: float, seed: int, designs: int = 90) -> list[Rated]:
    """Designs whose judged and computed halves have nothing to do with each other; ratings follow the
    published maps.
    """
    rng = random.Random(seed)
    items = []
    for number in range(designs):
        for metric, maps in CALIBRATION.items():
            judge, computed = rng.random(), rng.random() if maps.computed is not None else None
            score = combine(metric, judge, computed).score
            assert score is not None
            ratings = {f"r{n}": min(1.0, max(0.0, score + rng.gauss(0, noise))) for n in range(RATERS)}
            items.append(Rated(f"o{number:02}", "s", metric, judge, computed, ratings))
    return items


@pytest.mark.parametrize("seed", [0, 1, 2])
@pytest.mark.parametrize("designs", [40, 90])
def test_published_maps_come_back_where_halves_differ(seed: int, designs: int) -> None:
    found = fit(independent_world(0.0, seed, designs))
    for metric, maps in CALIBRATION.items():
        for mine, theirs in ((found[metric].judge, maps.judge), (found[metric].computed, maps.computed)):
            if theirs is not None:
                assert mine is not None
                within = 0.001 * (theirs.high - theirs.low)
                assert mine.low == pytest.approx(theirs.low, abs=within), metric
                assert mine.high == pytest.approx(theirs.high, abs=within), metric


@pytest.mark.parametrize("world", [rated_world, independent_world])
def test_scores_by_fitted_maps_are_near_those_by_published_ones(
    world: Callable[[float, int], list[Rated]],
) -> None:
    """Raters err by 0.1, and leave more open about a map than about the scores that it makes."""
    for seed in range(3):
        maps = fit(world(0.1, seed))
        for item in world(0.0, seed + 10):
            mine, theirs = (
                combine(item.metric, item.judge, item.computed, each).score for each in (maps, CALIBRATION)
            )
            assert mine == pytest.approx(theirs, abs=0.12), item.metric


def test_a_half_that_is_missing_leaves_the_other_alone() -> None:
    items = independent_world(0.0, 0)
    for number in range(0, len(items), 4):
        item = items[number]
        score = combine(item.metric, item.judge, None).score
        assert score is not None
        items[number] = Rated(item.object, item.system, item.metric, item.judge, None, {"r": score})
    found, maps = fit(items)["D.3"], CALIBRATION["D.3"]
    assert found.judge.low == pytest.approx(maps.judge.low, abs=1e-3)
    assert found.judge.high == pytest.approx(maps.judge.high, abs=1e-3)


def test_what_lies_beyond_the_ends_does_not_bend_the_line() -> None:
    """A third of the values below the low end and a third above the high one: plain regression is far off."""
    scale = Scale(0.4, 0.6)
    values = [i / 60 for i in range(61)]
    found = fit_scale(values, [scale(value) for value in values])
    assert (found.low, found.high) == (pytest.approx(0.4, abs=1e-6), pytest.approx(0.6, abs=1e-6))


def test_a_fit_is_no_worse_than_any_other_line() -> None:
    rng = random.Random(3)
    values = [rng.random() for _ in range(40)]
    ratings = [min(1.0, max(0.0, Scale(0.3, 0.7)(v) + rng.gauss(0, 0.2))) for v in values]

    def loss(scale: Scale) -> float:
        return sum((scale(v) - r) ** 2 for v, r in zip(values, ratings, strict=True))

    best = fit_scale(values, ratings)
    for low in (-0.05, -0.01, 0.0, 0.01, 0.05):
        for high in (-0.05, -0.01, 0.0, 0.01, 0.05):
            assert loss(best) <= loss(Scale(best.low + low, best.high + high)) + 1e-9
    grid = [(low / 20, high / 20) for low in range(-20, 20) for high in range(low + 1, 40)]
    assert loss(best) <= min(loss(Scale(low, high)) for low, high in grid)


def test_the_order_of_rows_changes_nothing() -> None:
    items = rated_world(0.1, whole=True)
    shuffled = random.Random(1).sample(items, len(items))
    one, two = fit(items), fit(shuffled)
    for metric in one:
        assert one[metric].judge.low == pytest.approx(two[metric].judge.low, abs=1e-7)


def test_many_values_are_fitted_as_well() -> None:
    scale = Scale(0.3, 0.8)
    values = [i / 1500 for i in range(1501)]
    found = fit_scale(values, [scale(value) for value in values])
    assert (found.low, found.high) == (pytest.approx(0.3, abs=2e-3), pytest.approx(0.8, abs=2e-3))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda item, n: 1 - item.judge, "the judge half of D.2 can't be fitted: it doesn't rise"),
        (lambda item, n: 0.5, "the judge half of D.2 can't be fitted: it is the same for all"),
        (lambda item, n: item.judge if n < 3 else None, "3 designs have it, 4 are needed"),
    ],
)
def test_what_cannot_be_fitted(change: Callable[..., float | None], message: str) -> None:
    items = [item for item in rated_world(0.0) if item.metric == "D.2"]
    broken = [Rated(i.object, i.system, i.metric, change(i, n), None, i.ratings) for n, i in enumerate(items)]
    with pytest.raises(RatingsError, match=message):
        fit(broken)


# Shape of the published constants


def test_maps_go_out_and_come_back() -> None:
    document = json.loads(json.dumps(maps_document(CALIBRATION, ["b", "a"], ["c"])))
    assert read_maps(document) == CALIBRATION
    assert (document["fit"], document["test"]) == (["a", "b"], ["c"])
    for metric in CALIBRATION:
        for half in (0.2, 0.5, 0.9):
            assert combine(metric, half, half, read_maps(document)) == combine(metric, half, half)


def test_maps_have_the_published_shape(lmbuild_data: Path) -> None:
    published = json.loads((lmbuild_data / "calibration_v345.json").read_text())
    assert read_maps(published) == CALIBRATION
    mine = maps_document(CALIBRATION, published["fit"], published["test"])
    assert mine == {key: value for key, value in published.items() if key != "source"}


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"D.1": {"judge": [0, 1]}}, "the maps of D.1 can't be read: there is no field 'weights'"),
        ({"D.2": {"judge": [1, 0], "weights": [1, 0]}}, "a map of D.2 doesn't go up"),
        ({"D.2": {"judge": [1], "weights": [1, 0]}}, "can't be read: 'judge' has to be two numbers"),
        ({"D.2": [1]}, "the maps of D.2 can't be read: they have to be an object"),
        ({"D.2": {"judge": "x", "weights": [1, 0]}}, "the maps of D.2 can't be read"),
    ],
)
def test_maps_that_cannot_be_read(given: dict[str, Any], message: str) -> None:
    with pytest.raises(MapsError, match=message):
        read_maps(given)


# Agreement


def test_spearman() -> None:
    assert spearman([(1, 10), (2, 20), (3, 30)]) == pytest.approx(1.0)
    assert spearman([(1, 9), (2, 4), (3, 1)]) == pytest.approx(-1.0)
    # 1 − 6·Σd²/(n(n²−1)) with d = 0, 1, −1, 1, −1
    assert spearman([(1, 1), (2, 3), (3, 2), (4, 5), (5, 4)]) == pytest.approx(1 - 6 * 4 / 120)
    assert spearman([(1, 1), (1, 2), (2, 3)]) == pytest.approx(0.75**0.5)
    assert spearman([(1, 1), (2, 2)]) is None
    assert spearman([(1, 1), (1, 2), (1, 3)]) is None


def test_agreement_is_perfect_without_noise_and_gone_without_signal() -> None:
    for found in agreements(rated_world(0.0), CALIBRATION):
        assert found.systems == pytest.approx(1.0)
        assert found.items == pytest.approx(1.0, abs=1e-3)
        assert found.raters == pytest.approx(1.0)
        assert (found.n_systems, found.n_items, found.n_raters) == (SYSTEMS, OBJECTS * SYSTEMS, RATERS)
    for found in agreements(rated_world(50.0), CALIBRATION):
        assert found.raters is not None
        assert found.items is not None
        assert abs(found.raters) < 0.2
        assert abs(found.items) < 0.35


def test_agreement_falls_with_noise_and_systems_agree_more_than_designs() -> None:
    calm, loud = (agreements(rated_world(noise), CALIBRATION) for noise in (0.05, 0.4))
    for one, other in zip(calm, loud, strict=True):
        assert one.items > other.items  # type: ignore[operator]
        assert one.raters > other.raters  # type: ignore[operator]
        assert other.systems > other.items  # type: ignore[operator]
        assert other.items > other.raters  # type: ignore[operator]


def test_raters_are_compared_on_what_both_rated() -> None:
    def item(number: int, **ratings: float) -> Rated:
        return Rated(f"o{number}", "s", "D.2", 0.5 + number / 100, None, ratings)

    items = [item(n, a=n / 10, b=n / 10) for n in range(3)]
    items += [item(n, c=1 - n / 10, a=n / 10) for n in (3, 4, 5)]
    assert rater_correlations(items) == pytest.approx([1.0, -1.0])  # b and c share nothing
    found = agreement(items, "D.2", CALIBRATION)
    assert found.raters == pytest.approx(0.0)
    assert (found.systems, found.n_systems, found.n_raters) == (None, 1, 3)


def test_a_design_without_any_half_is_left_out() -> None:
    items = [item for item in rated_world(0.0) if item.metric == "D.2"]
    blind = [Rated("x", "s0", "D.2", None, None, {"r0": 0.1}), *items]
    assert agreement(blind, "D.2", CALIBRATION).n_items == len(items)


# Sheets


def sheet(items: list[Rated]) -> str:
    lines = [HEADER]
    for item in items:
        halves = ["" if half is None else repr(half) for half in (item.judge, item.computed)]
        for rater, rating in item.ratings.items():
            row = [item.object, item.system, item.metric, rater, repr(1 + 9 * rating), *halves]
            lines.append(",".join(row))
    return "\n".join(lines) + "\n"


def test_a_sheet_is_read(tmp_path: Path) -> None:
    items = rated_world(0.1)
    path = tmp_path / "ratings.csv"
    path.write_text("\ufeff" + sheet(items), encoding="utf-8")
    found = read_ratings(path)
    assert len(found) == len(items)
    for one, other in zip(found, sorted(items, key=lambda i: (i.object, i.system, i.metric)), strict=True):
        assert (one.object, one.system, one.metric, one.judge, one.computed) == (
            (other.object, other.system, other.metric, other.judge, other.computed)
        )
        assert one.ratings == pytest.approx(other.ratings)
        assert one.rating == pytest.approx(sum(other.ratings.values()) / RATERS)


def test_rows_without_a_rating_are_passed_over_and_halves_may_come_from_elsewhere() -> None:
    rows = ["object,system,metric,rater,rating", "a,s,D.1,r1,10", "a,s,D.1,r2, ", "a,s,D.2,r1,"]
    (item,) = parse_ratings("\n".join(rows))
    assert item == Rated("a", "s", "D.1", None, None, {"r1": 1.0})
    (item,) = with_halves([item], {("a", "s", "D.1"): (0.5, 0.25)})
    assert (item.judge, item.computed) == (0.5, 0.25)
    with pytest.raises(RatingsError, match=r"no design of a by s with D\.1"):
        with_halves([item], {})


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([], "no row has a rating"),
        (["a,s,D.1,r1,11,0.5,0.5"], "row 2: rating is '11', not a number from 1 to 10"),
        (["a,s,D.1,r1,nan,0.5,0.5"], "row 2: rating is 'nan'"),
        (["a,s,D.1,r1,x,0.5,0.5"], "row 2: rating is 'x'"),
        (["a,s,D.1,r1,7,1.5,0.5"], "row 2: judge is '1.5', not a number from 0 to 1"),
        (["a,s,S.1,r1,7,0.5,0.5"], r"row 2: metric 'S.1' isn't one of D.1, D.2, D.3"),
        (["a,,D.1,r1,7,0.5,0.5"], "row 2 has no object, system, metric or rater"),
        (["a,s,D.1,r1,7,0.5,0.5", "a,s,D.1,r1,7,0.5,0.5"], "row 3: r1 rates D.1 of this design twice"),
        (["a,s,D.1,r1,7,0.5,0.5", "a,s,D.1,r2,7,0.6,0.5"], "row 3: judge or computed differ"),
        (['a,s,D.1,r1,"7'], "isn't CSV"),
    ],
)
def test_sheets_that_are_refused(rows: list[str], message: str) -> None:
    with pytest.raises(RatingsError, match=message):
        parse_ratings("\n".join([HEADER, *rows]))


def test_a_sheet_needs_its_columns(tmp_path: Path) -> None:
    with pytest.raises(RatingsError, match="no column 'rater'"):
        parse_ratings("object,system,metric,rating\na,b,D.1,7\n")
    with pytest.raises(RatingsError, match=r"can't read .*no\.csv"):
        read_ratings(tmp_path / "no.csv")
    (tmp_path / "bad.csv").write_bytes(b"\xff\xfe")
    with pytest.raises(RatingsError, match="isn't UTF-8"):
        read_ratings(tmp_path / "bad.csv")


def test_objects_are_held_out_whole() -> None:
    items = rated_world(0.0)
    fitted, rest = split(items)
    assert {i.object for i in rest} == {f"o{n:02}" for n in range(1, OBJECTS, 2)}
    assert len(fitted) + len(rest) == len(items)
    fitted, rest = split(items, ["o03"])
    assert {i.object for i in rest} == {"o03"}
    with pytest.raises(RatingsError, match="no design of 'o99' is rated"):
        split(items, ["o99"])
    with pytest.raises(RatingsError, match="objects to fit to"):
        split([i for i in items if i.object == "o00"])


# The command


def test_calibrate_prints_and_writes_maps(tmp_path: Path) -> None:
    path = tmp_path / "ratings.csv"
    path.write_text(sheet(rated_world(0.1, whole=True)), encoding="utf-8")
    done = CliRunner().invoke(command, ["calibrate", str(path), "-o", str(tmp_path / "maps.json"), "--json"])
    assert done.exit_code == 0, done.output
    printed = json.loads(done.output)
    assert printed["maps"] == json.loads((tmp_path / "maps.json").read_text())
    maps = read_maps(printed["maps"])
    assert maps["D.2"].judge.low == pytest.approx(CALIBRATION["D.2"].judge.low, abs=0.03)
    assert printed["maps"]["test"] == [f"o{n:02}" for n in range(1, OBJECTS, 2)]
    assert {side["metric"] for side in printed["agreement"]["fitted"]} == {"D.1", "D.2", "D.3"}
    assert all(side["items"] > 0.8 for side in printed["agreement"]["fitted"])
    shown = CliRunner().invoke(command, ["calibrate", str(path), "--held-out", "o03"])
    assert shown.exit_code == 0
    assert "held out: o03" in shown.output
    assert "0.3741" not in shown.output  # fitted, not published


def test_calibrate_says_what_is_wrong_in_a_line(tmp_path: Path) -> None:
    from evalkit import UsageError

    path = tmp_path / "ratings.csv"
    path.write_text(HEADER + "\na,s,D.1,r1,0,,\n")
    done = CliRunner().invoke(command, ["calibrate", str(path)])
    assert isinstance(done.exception, UsageError)
    assert str(done.exception) == "ratings.csv: row 2: rating is '0', not a number from 1 to 10"


def test_maps_that_cannot_be_written(tmp_path: Path) -> None:
    from evalkit import UsageError

    path = tmp_path / "ratings.csv"
    path.write_text(sheet(rated_world(0.0)), encoding="utf-8")
    done = CliRunner().invoke(command, ["calibrate", str(path), "-o", str(tmp_path / "no" / "maps.json")])
    assert isinstance(done.exception, UsageError)
    assert re.fullmatch(r"can't write .*maps\.json: No such file or directory", str(done.exception))
    CliRunner().invoke(command, ["calibrate", str(path), "-o", str(tmp_path / "maps.json")])
    assert sorted(each.name for each in tmp_path.iterdir()) == ["maps.json", "ratings.csv"]


@pytest.mark.parametrize(
    ("raters", "message"),
    [
        (["a", "b", "a"], "the rater 'a' is named twice"),
        (["=1+1"], "can't be called '=1\\+1': spreadsheets take for a formula"),
        (["+a"], "can't be called"),
        (["-a"], "can't be called"),
        (["@a"], "can't be called"),
        ([" "], "has no name"),
    ],
)
def test_raters_of_a_sheet(raters: list[str], message: str) -> None:
    with pytest.raises(RatingsError, match=message):
        checked_raters(raters)
    checked_raters(["ann", "bob-2"])


def test_a_sheet_for_a_rater_named_twice_is_refused() -> None:
    from evalkit import UsageError

    done = CliRunner().invoke(command, ["rating-sheet", "nowhere", "--rater", "a", "--rater", "a"])
    assert isinstance(done.exception, UsageError)
    assert str(done.exception) == "the rater 'a' is named twice"


# Scoring by maps of one's own


def test_maps_of_ones_own_take_the_place_of_the_published_ones() -> None:
    from pydantic import ValidationError

    from evalkit_lmbuild.settings import BuildSettings, maps_of

    assert maps_of({}) == CALIBRATION
    own = {"D.2": {"judge": [0.25, 0.75], "weights": [1, 0]}, "fit": ["a"], "test": ["b"]}
    settings = BuildSettings(calibration=own).model_dump(mode="json")
    assert combine("D.2", 0.5, None, maps_of(settings)).score == 0.5
    assert maps_of(settings)["D.1"] == CALIBRATION["D.1"]
    with pytest.raises(ValidationError, match=r"a map of D\.2 doesn't go up"):
        BuildSettings(calibration={"D.2": {"judge": [1, 0], "weights": [1, 0]}})
