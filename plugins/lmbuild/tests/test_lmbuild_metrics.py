"""The twelve metrics and the four levels from records: statuses, missing designs, aggregation."""

from dataclasses import replace

import pytest

from evalkit import Episode, EpisodeKey, Task
from evalkit_lmbuild import metrics, specs
from evalkit_lmbuild.scoring.levels import LEVELS

SHA = "d" * 64


def row(score, reason=""):
    return {"score": score, "reason": reason, "evidence": {}}


def episode(task="t1", geometry=None, operability=None, judges=None, submitted=True) -> Episode:
    """An episode whose executors found this; None: they haven't run."""
    key = EpisodeKey(agent="a", task=task, condition="c", epoch=1)
    events = [{"kind": "result", "candidate": {"sha256": SHA, "data": {}, "files": {}}}] if submitted else []
    found = {specs.GEOMETRY.id: geometry, specs.OPERABILITY_ID: operability}
    found |= {specs.JUDGE_IDS[metric]: {"score": score} for metric, score in (judges or {}).items()}
    gathered = {(task, SHA, name): data for name, data in found.items() if data is not None}
    gathered = {k: data if "error" in data else {"data": data} for k, data in gathered.items()}
    return Episode(key, events, {"counters": {}}, lambda value: value, gathered)


def geometry(**scores):
    names = ("S.1", "S.2", "S.3", "A.1", "A.2", "A.3", "D.1", "D.3", "R.1", "R.2")
    return {name: row(scores.get(name.replace(".", ""), 1.0)) for name in names}


TASK = Task("t1", {}, {})


def test_scores_and_reasons():
    found = geometry(S1=0.25) | {"A.3": row(None, "nothing has to move")}
    assert metrics.Connectivity({}).measure(episode(geometry=found), TASK).value == 0.25
    skipped = metrics.Kinematics({}).measure(episode(geometry=found), TASK)
    assert skipped.status == "not_applicable"
    assert skipped.evidence["why"] == "nothing has to move"
    works = episode(geometry=found, operability=row(0.5))
    assert metrics.Operability({}).measure(works, TASK).value == 0.5


@pytest.mark.parametrize("metric", list(metrics._BY_METRIC.values()))
def test_no_design_counts_zero(metric):
    score = metric({}).measure(episode(submitted=False, judges={"D.2": 0.7}), TASK)
    assert (score.value, score.status) == (0.0, "ok")


def test_no_design_and_no_judge_is_skipped_where_only_a_judge_sees():
    missing = episode("t2", submitted=False)
    assert metrics.VisualQuality({}).measure(missing, TASK).status == "skipped"
    assert metrics.Decomposition({}).measure(missing, TASK).value == 0.0
    mixed = level("D", episode("t1", geometry=geometry()), missing)
    assert mixed.evidence["cells"]["D.2"] is None
    whole = level("D", episode("t1", geometry=geometry()))
    assert mixed.value == pytest.approx(whole.value / 2)


def test_what_has_not_run_or_failed_is_unscored_and_never_zero():
    assert metrics.Shape({}).measure(episode(), TASK).status == "unscored"
    failed = episode(geometry={"error": "out of memory"})
    score = metrics.Shape({}).measure(failed, TASK)
    assert (score.value, score.status) == (None, "unscored")
    assert score.evidence["why"] == "out of memory"
    assert metrics.Operability({}).measure(episode(geometry=geometry()), TASK).status == "unscored"
    assert metrics.Decomposition({}).measure(failed, TASK).status == "unscored"


def test_judged_metrics_are_full_degraded_or_skipped():
    plain = episode(geometry=geometry(D1=0.9649122807017544))
    degraded = metrics.Decomposition({}).measure(plain, TASK)
    assert degraded.status == "degraded"
    assert degraded.value == pytest.approx(0.933359, abs=1e-6)
    assert metrics.VisualQuality({}).measure(plain, TASK).status == "skipped"
    judged = episode(geometry=geometry(D1=0.9649122807017544), judges={"D.1": 0.7037037037037037, "D.2": 0.7})
    full = metrics.Decomposition({}).measure(judged, TASK)
    assert full.status == "ok"
    assert full.value == pytest.approx(0.891379, abs=1e-6)
    assert metrics.VisualQuality({}).measure(judged, TASK).status == "ok"


def level(name, *episodes):
    played = [(each, Task(each.key.task, {}, {})) for each in episodes]
    return getattr(metrics, f"Level{name}")({}).measure_run(played)


def test_a_level_is_the_mean_of_its_cells():
    first = episode("t1", geometry=geometry(S1=1.0, S2=0.5) | {"S.3": row(None, "not free-standing")})
    second = episode("t2", geometry=geometry(S1=0.0, S2=0.5, S3=0.8))
    score = level("S", first, second)
    assert score.evidence["cells"] == {"S.1": 0.5, "S.2": 0.5, "S.3": 0.8}
    assert score.value == pytest.approx(0.6)
    assert score.status == "ok"
    assert score.low <= score.value <= score.high


def test_a_missing_design_counts_in_its_level():
    assert level("S", episode("t1", geometry=geometry()), episode("t2", submitted=False)).value == 0.5


def test_levels_say_when_they_are_not_whole():
    whole = {"D.1": 0.7, "D.2": 0.7, "D.3": 0.7}
    assert level("D", episode(geometry=geometry(), judges=whole)).status == "ok"
    without = level("D", episode(geometry=geometry()))
    assert without.status == "degraded"
    assert without.evidence["cells"]["D.2"] is None
    assert level("R", episode(geometry=geometry())).status == "unscored"
    nothing = {name: row(None, "n/a") for name in geometry()}
    assert level("A", episode(geometry=nothing)).status == "not_applicable"


def test_intervals_keep_tasks_together_and_repeat():
    many = [episode(f"t{i}", geometry=geometry(S1=i % 2)) for i in range(20)]
    one, two = level("S", *many), level("S", *many)
    assert (one.low, one.high) == (two.low, two.high)
    assert one.low < one.value < one.high
    doubled = level("S", *many, *many)
    assert (doubled.low, doubled.high) == (one.low, one.high)


def test_every_metric_is_offered_under_its_level():
    assert [spec.id for spec in specs.METRICS] == [
        f"lmbuild.{name}" for level, names in LEVELS.items() for name in (level, *names)
    ]


def test_maps_of_the_settings_are_the_ones_that_count():
    own = {"calibration": {"D.2": {"judge": [0.25, 0.75], "weights": [1, 0]}}}
    judged = episode(geometry=geometry(), judges={"D.2": 0.5})
    assert metrics.VisualQuality(own).measure(judged, TASK).value == 0.5
    assert metrics.VisualQuality({}).measure(judged, TASK).value == pytest.approx(0.3587, abs=1e-4)
    assert metrics.LevelD(own).measure_run([(judged, TASK)]).evidence["cells"]["D.2"] == 0.5


NO_SEQUENCE = "the generator gives no assembly sequence"


def run_of(*designs, missing="t9"):
    """An episode without a design in a run whose designs have these rows of R.1."""
    gathered = {}
    for i, found in enumerate(designs):
        gathered |= episode(f"t{i}", geometry=geometry() | {"R.1": found}).gathered
    each = episode(missing, submitted=False)
    return replace(each, gathered=gathered)


def test_what_no_design_of_a_generator_has_is_not_held_against_missing_ones():
    lacking, refused = row(None, NO_SEQUENCE), {**row(0.0, "no GLB"), "evidence": {"no_design": True}}
    score = metrics.Assembly({}).measure(run_of(lacking, refused), TASK)
    assert (score.value, score.status) == (None, "not_applicable")
    assert score.evidence == {"why": NO_SEQUENCE, "design": metrics.NO_DESIGN}
    assert metrics.Assembly({}).measure(run_of(lacking, row(0.0)), TASK).value == 0.0
    assert metrics.Assembly({}).measure(run_of(row(None, "one part")), TASK).value == 0.0
    assert metrics.Shape({}).measure(run_of(lacking), TASK).value == 0.0


def test_a_refused_file_counts_as_a_missing_design():
    refused = geometry() | {"R.1": {**row(0.0, "no GLB"), "evidence": {"no_design": True}}}
    alone = episode("t1", geometry=refused)
    assert metrics.Assembly({}).measure(alone, TASK).value == 0.0
    others = episode("t2", geometry=geometry() | {"R.1": row(None, NO_SEQUENCE)}).gathered
    among = replace(alone, gathered=alone.gathered | others)
    assert metrics.Assembly({}).measure(among, TASK).status == "not_applicable"


def test_a_level_asks_only_the_designs_of_its_own_system():
    lacking = geometry() | {"R.1": row(None, NO_SEQUENCE)}
    one, missing = episode("t1", geometry=lacking, operability=row(1.0)), episode("t2", submitted=False)
    other = episode("t3", geometry=geometry(R1=0.5)).gathered
    both = [replace(each, gathered=one.gathered | other) for each in (one, missing)]
    cells = level("R", *both).evidence["cells"]
    assert cells == {"R.1": None, "R.2": 0.5, "R.3": 0.5}
