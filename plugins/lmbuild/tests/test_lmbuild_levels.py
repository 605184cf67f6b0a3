"""Aggregation and calibration against the published table and recorded scores."""

import json

import pytest

from evalkit_lmbuild.scoring import levels


def test_levels_of_the_published_table(lmbuild_data):
    """Level = mean of three metrics: the four levels stated for the two leading systems and one open one."""
    table = json.loads((lmbuild_data / "published_table2.json").read_text())
    stated = {
        "gpt-6-astra": (88.5, 50.0, 74.0, 53.5),
        "claude-opus-5": (88.8, 46.6, 71.3, 55.1),
        "qwen3.5-27b": (82.9, 28.3, 52.7, 57.2),
    }
    for system, expected in stated.items():
        cells = dict(zip(table["columns"], table[system], strict=True))
        for name, value in zip("SADR", expected, strict=True):
            assert levels.level(cells, name) == pytest.approx(value, abs=0.051), (system, name)


def test_published_mean_of_operability(lmbuild_data):
    """The mean of R.3 over the closed systems is stated as 18.3."""
    table = json.loads((lmbuild_data / "published_table2.json").read_text())
    closed = (
        "gpt-6-astra",
        "gpt-5.6-sol",
        "claude-opus-5",
        "claude-fable-5.1",
        "claude-sonnet-5",
        "claude-haiku-4.5",
    )
    column = table["columns"].index("R.3")
    assert sum(table[name][column] for name in closed) / len(closed) == pytest.approx(18.3, abs=0.2)


def test_recorded_halves_give_recorded_d_scores(lmbuild_data):
    recorded = json.loads((lmbuild_data / "recorded_scores.json").read_text())
    for design in recorded["designs"]:
        for metric in ("D.1", "D.2", "D.3"):
            halves = design[metric.replace(".", "")]
            judge = (halves["judge_gemma"] + halves["judge_qwen"]) / 2
            combined = levels.combine(metric, judge, halves.get("computed"))
            assert combined.status == "full"
            assert combined.score == pytest.approx(design["final_v38"][metric], abs=1e-6)


def test_calibration_constants_are_the_published_ones(lmbuild_data):
    published = json.loads((lmbuild_data / "calibration_v345.json").read_text())
    for metric, maps in levels.CALIBRATION.items():
        assert (maps.judge.low, maps.judge.high) == tuple(published[metric]["judge"])
        assert maps.judge_weight == published[metric]["weights"][0]
        if maps.computed is not None:
            assert (maps.computed.low, maps.computed.high) == tuple(published[metric]["computed"])
            assert maps.computed_weight == published[metric]["weights"][1]


def test_missing_halves():
    assert levels.combine("D.2", None, None) == levels.Combined(None, "skipped")
    assert levels.combine("D.1", None, None).status == "skipped"
    alone = levels.combine("D.1", None, 0.9649122807017544)
    assert alone.status == "degraded"
    assert alone.score == pytest.approx(
        (0.9649122807017544 - 0.12761948890919605) / (1.0246941813514066 - 0.12761948890919605)
    )
    assert levels.combine("D.3", 0.1, None) == levels.Combined(0.0, "degraded")


def test_not_applicable_is_left_out_and_missing_counts():
    assert levels.cell([1.0, None, 0.5]) == 75.0
    assert levels.cell([1.0, 0.0]) == 50.0
    assert levels.cell([None]) is None
    assert levels.level({"S.1": None, "S.2": 50.0, "S.3": 100.0}, "S") == 75.0
    assert levels.level({"S.1": None, "S.2": None, "S.3": None}, "S") is None


def test_judged_integers():
    assert levels.judged([1, 1, 1]) == 0.0
    assert levels.judged([10, 10, 10]) == 1.0
    assert levels.judged([7, 6, 7]) == pytest.approx(0.6296296296296297)
