"""Thresholds on figures and regressions against a baseline, which no run can pass by losing episodes."""

import pytest

from evalkit.errors import RecordError, UnknownNameError, UsageError
from evalkit.hookspecs import MetricSpec
from evalkit.report.aggregate import aggregate, aggregate_run
from evalkit.report.regression import Baseline
from evalkit.report.run_report import run_report
from evalkit.report.systems import System
from evalkit.report.thresholds import Threshold, check_names, find_metric, missed_thresholds
from evalkit.store.reader import RunReader
from evalkit.types import EpisodeKey, Score

SUCCESS = MetricSpec("m.success", "", "Success@3", "")
FAULTS = MetricSpec("m.faults", "", "Faults", "", higher_is_better=False, missing="omit")
HEIGHT = MetricSpec("m.height", "", "Mean height", "", kind="mean", missing="omit", unit="m")
GRADE = MetricSpec("m.grade", "", "Grade", "", kind="mean", unit="")
LATE = MetricSpec("m.late", "", "Late", "", scope="run", missing="omit")
SPECS = [SUCCESS, FAULTS, HEIGHT, GRADE, LATE]


def missed(text, spec, figure):
    system = System("run", "s.one", "builder", 4, 4, 0, 4, {spec.id: figure})
    return [str(problem) for problem in missed_thresholds(system, [spec], [Threshold.parse(text)])]


def figure(spec, *values, missing=0):
    scores = {
        EpisodeKey("builder", f"t{i}", "c", 1): value if isinstance(value, Score) else Score(float(value))
        for i, value in enumerate(values)
    }
    lost = [EpisodeKey("builder", f"lost{i}", "c", 1) for i in range(missing)]
    return aggregate(spec, scores, clusters=None, missing=lost)


# Reading


@pytest.mark.parametrize(
    ("text", "metric", "sign", "limit"),
    [
        ("success>=0.8", "success", ">=", 0.8),
        ("  Mean height  <  1e-2 ", "Mean height", "<", 0.01),
        ("a.b@3>-1", "a.b@3", ">", -1.0),
        ("Cost ÷ budget<=+2.", "Cost ÷ budget", "<=", 2.0),
    ],
)
def test_a_threshold_is_read(text, metric, sign, limit):
    assert Threshold.parse(text) == Threshold(metric, sign, limit)


@pytest.mark.parametrize(
    "text", ["", "success", ">=0.8", "success=0.8", "success>=", "success>=x", "a>=1e999", "a>b>1", "a>=nan"]
)
def test_what_is_no_threshold_is_refused(text):
    with pytest.raises(UsageError, match="is no threshold; write it like success"):
        Threshold.parse(text)


def test_metrics_are_found_by_id_then_label_in_any_case():
    assert find_metric("M.SUCCESS", SPECS) is SUCCESS
    assert find_metric("success@3", SPECS) is SUCCESS
    assert find_metric("success", SPECS) is None
    twin = MetricSpec("m.twin", "", "SUCCESS@3", "")
    with pytest.raises(UsageError, match=r"label of several metrics: m\.success, m\.twin"):
        find_metric("success@3", [*SPECS, twin])


def test_names_are_checked_before_anything_is_played():
    check_names([Threshold("grade", ">=", 1)], [[SUCCESS], [GRADE]], "--fail-under")
    with pytest.raises(UnknownNameError, match=r"'sucess@3'; did you mean Success@3.*--fail-under"):
        check_names([Threshold("sucess@3", ">=", 1)], [[SUCCESS], [GRADE]], "--fail-under")
    with pytest.raises(UsageError, match=r"between 0 and 1; 80 % is 0\.8"):
        check_names([Threshold("success@3", ">=", 80)], [[SUCCESS]], "--fail-under")


# Judging


def test_a_threshold_is_met_or_missed_with_name_value_threshold_and_counts():
    assert missed("success@3>=0.75", SUCCESS, figure(SUCCESS, 1, 1, 1, 0)) == []
    assert missed("success@3>0.75", SUCCESS, figure(SUCCESS, 1, 1, 1, 0)) == [
        "s.one · builder: Success@3 is 0.75 (3/4), wanted > 0.75"
    ]
    assert missed("mean height<=2", HEIGHT, figure(HEIGHT, 2, 3)) == [
        "s.one · builder: Mean height is 2.5 (n=2), wanted <= 2"
    ]


def test_a_threshold_on_a_metric_of_another_suite_is_passed_over():
    system = System("run", "s.one", "builder", 4, 4, 0, 4, {SUCCESS.id: figure(SUCCESS, 0)})
    assert missed_thresholds(system, [SUCCESS], [Threshold("Grade", ">=", 1)]) == []


@pytest.mark.parametrize("status", ["missing", "unscored", "skipped", "undetermined"])
def test_no_outcome_of_unknown_episodes_could_break_a_threshold_that_is_met(status):
    for known in ([1, 1, 1], [1, 0], [0]):
        for lost in (1, 2):
            extra = [] if status == "missing" else [Score(None, status)] * lost
            found = figure(SUCCESS, *known, *extra, missing=lost if status == "missing" else 0)
            n = len(known) + lost
            possible = [(sum(known) + good) / n for good in range(lost + 1)]
            for sign in (">=", ">", "<=", "<"):
                for limit in (0, 0.25, 0.5, 0.75, 1):
                    threshold = Threshold("m.success", sign, limit)
                    met = missed(f"m.success{sign}{limit}", SUCCESS, found) == []
                    assert met == all(map(threshold.holds, possible)), (known, lost, threshold)


def test_lost_episodes_are_named_in_the_message():
    assert missed("success@3>=0.8", SUCCESS, figure(SUCCESS, 1, 1, missing=2)) == [
        "s.one · builder: Success@3 is 0.5 (2/4, 2 without a known result counted against it), wanted >= 0.8"
    ]
    assert missed("faults<=0.2", FAULTS, figure(FAULTS, 0, 0, 0, missing=1)) == [
        "s.one · builder: Faults is 0.25 (1/4, 1 without a known result counted against it), wanted <= 0.2"
    ]


def test_a_mean_with_lost_episodes_is_certain_only_if_they_count_as_zero():
    assert missed("grade>=0.5", GRADE, figure(GRADE, 1, 1, missing=1)) == []
    assert missed("grade>=0.7", GRADE, figure(GRADE, 1, 1, missing=1)) == [
        "s.one · builder: Grade is 0.666667 (n=3, 1 without a result counted as 0), wanted >= 0.7"
    ]
    assert "Grade has no certain value" in missed("grade<=2", GRADE, figure(GRADE, 1, 1, missing=1))[0]
    assert missed("mean height>=1", HEIGHT, figure(HEIGHT, 5, 5, missing=1)) == [
        "s.one · builder: Mean height has no certain value (5 over n=2, but the result of 1 more is "
        "not known), wanted >= 1"
    ]


@pytest.mark.parametrize(
    ("figures", "counts"),
    [
        ([Score.not_applicable("never failed")], "0/0; 1 not applicable (never failed)"),
        ([Score(None, "skipped", {"why": "no judge"})], "0/0; 1 skipped (no judge)"),
        ([], "0/0"),
    ],
)
@pytest.mark.parametrize("condition", [">= 0", "<= 1"])
def test_a_metric_without_a_value_misses(figures, counts, condition):
    assert missed(f"success@3{condition}", SUCCESS, figure(SUCCESS, *figures)) == [
        f"s.one · builder: Success@3 has no certain value ({counts}), wanted {condition}"
    ]


def test_not_applicable_episodes_are_not_lost():
    assert missed("success@3>=1", SUCCESS, figure(SUCCESS, 1, Score.not_applicable())) == []


def test_lost_episodes_count_against_a_ratio_of_a_whole_run():
    late = aggregate_run(LATE, Score(None, numerator=3, denominator=3), missing=1)
    assert missed("late>=0.75", LATE, late) == []
    assert "(3/4, 1 without a known result" in missed("late>=0.8", LATE, late)[0]


# Regressions


GOOD = {"T-1": [1], "T-2": [2], "T-3": [4, 3], "T-4": [4]}


@pytest.fixture
def regressions(toy, tmp_path):
    """What a run of one agent lost against a baseline."""

    def compare(old, new, allowed=0.0, **changes):
        plugins = toy.plugins()
        baseline = Baseline(RunReader(toy.record(tmp_path, {"builder": old}, run="old")))
        reader = RunReader(toy.record(tmp_path, {"builder": new}, run="new", **changes))
        systems = run_report([reader], plugins).systems
        return [str(p) for p in baseline.regressions(reader, systems, plugins, allowed)]

    return compare


def test_an_equal_run_has_not_regressed(regressions):
    assert regressions(GOOD, GOOD) == []


def test_a_regression_names_figures_and_tasks(regressions):
    assert regressions(GOOD, {**GOOD, "T-3": [9, 9, 9]}, 0.02) == [
        "towers.all · builder: Success@3 went from 1 to 0.75 over the 4 tasks in both: 25 points worse "
        "than in old, 2 allowed; failing now: T-3",
        "towers.all · builder: Recovery went from 1 to 0 over the run: 100 points worse than in old, "
        "2 allowed",
    ]


def test_a_drop_within_what_is_allowed_passes(regressions):
    worse = {**GOOD, "T-1": [1, 9], "T-2": [9, 9, 9]}
    found = regressions(GOOD, worse, 0.25)
    assert not any("Success" in line for line in found)


def test_figures_that_are_no_percentage_may_drop_by_a_share(toy, tmp_path, regressions):
    lower = {"T-1": [1], "T-2": [2], "T-3": [3], "T-4": [3]}
    higher = {"T-1": [1], "T-2": [2], "T-3": [3], "T-4": [4]}
    assert regressions(higher, lower, 0.09) == [
        "towers.all · builder: Height went from 2.5 to 2.25 over the 4 tasks in both: worse than in old by "
        "more than the 9 % allowed"
    ]


def test_losing_episodes_is_a_regression_of_proportions(regressions):
    found = regressions(GOOD, {"T-1": [1], "T-2": [2], "T-3": [4, 3], "T-4": [None]})
    assert found[0] == (
        "towers.all · builder: Success@3 went from 1 to 0.75 over the 4 tasks in both: 25 points worse "
        "than in old, 0 allowed; failing now: T-4; no known result: T-4"
    )


def test_what_the_baseline_lost_counts_for_neither(regressions):
    assert not any("Success" in line for line in regressions({**GOOD, "T-2": [None]}, {**GOOD, "T-2": [9]}))


def test_a_metric_that_has_lost_its_value_has_regressed(toy, regressions, monkeypatch):
    judged = iter([True] * 8)  # the systems of the new run, then the baseline; at last the new run again

    def measure(self, episode, task):
        return Score(1.0) if next(judged, False) else Score(None, "skipped")

    monkeypatch.setattr(toy.Looks, "measure", measure)
    assert regressions(GOOD, GOOD) == [
        "towers.all · builder: Looks has no value any more: no known result for T-1, T-2, T-3, T-4"
    ]


def test_a_metric_that_does_not_apply_any_more_has_not_regressed(regressions):
    assert regressions(GOOD, {**GOOD, "T-3": [3]}) == []


def test_other_protocols_are_refused(toy, tmp_path, regressions):
    manifest = RunReader(toy.record(tmp_path, {"builder": GOOD}, run="first")).manifest
    changed = manifest["protocol"] | {"benchmark": {"towers": "2"}, "metrics": {"towers.success": "1"}}
    with pytest.raises(UsageError, match="can't be compared: they differ in benchmark, metrics"):
        regressions(GOOD, GOOD, protocol_hash="f" * 64, protocol=changed)


def test_a_baseline_of_other_physics_is_refused(regressions):
    other = {"gravity": {"version": "1", "constants_sha256": "ef" * 32, "constants": {}}}
    with pytest.raises(UsageError, match="old and new can't be compared: they differ in the constants of"):
        regressions(GOOD, GOOD, executors=other)


def test_agents_and_tasks_have_to_fit(toy, tmp_path):
    two = Baseline(RunReader(toy.record(tmp_path, {"careful": GOOD, "hasty": GOOD}, run="two")))
    assert two.agent_for("hasty", ["hasty"]) == "hasty"
    with pytest.raises(UsageError, match="the baseline two has no agent 'builder', only careful, hasty"):
        two.check(["builder"], ["T-1"])
    with pytest.raises(UsageError, match="has none of the tasks"):
        two.check(["hasty"], ["T-9"])
    one = Baseline(RunReader(toy.record(tmp_path, {"careful": GOOD}, run="one")))
    assert one.agent_for("builder", ["builder"]) == "careful"
    with pytest.raises(RecordError, match="is not a run"):
        RunReader(tmp_path)
