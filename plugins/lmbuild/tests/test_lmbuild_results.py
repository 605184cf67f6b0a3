"""Tables and figures of runs: systems and their names, cells, paired differences, failures, files."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from evalkit import Episode, EpisodeKey, Task, UsageError
from evalkit.report import Rate
from evalkit_lmbuild import specs
from evalkit_lmbuild.catalogue import Catalogue
from evalkit_lmbuild.objects import read_object
from evalkit_lmbuild.results.ablations import differences
from evalkit_lmbuild.results.failures import TRACKING, calls_table, failures_table
from evalkit_lmbuild.results.figures import write_figures
from evalkit_lmbuild.results.main import compare_kinds, main_table
from evalkit_lmbuild.results.stability import agreement
from evalkit_lmbuild.results.systems import System, deviations
from evalkit_lmbuild.results.tables import all_tables
from evalkit_lmbuild.scene import Scene
from evalkit_lmbuild.scoring.levels import level
from evalkit_lmbuild.settings import BuildSettings
from evalkit_lmbuild.tasks import OBJECTS
from evalkit_lmbuild.tools import Rules, Session, call

COMPUTED = ("S.1", "S.2", "S.3", "A.1", "A.2", "A.3", "D.1", "D.3", "R.1", "R.2")
BOX = read_object(OBJECTS / "keepsake_box.json")


def task(name: str, family: str = "hinged") -> Task:
    document = {key: value for key, value in BOX.items() if key != "subpart_pool"}
    return Task(name, {}, {"family": family, "document": document})


def row(score: float | None, **evidence: Any) -> dict[str, Any]:
    return {"score": score, "reason": "", "evidence": evidence}


def played(
    name: str, calls: tuple[Any, ...] = (), design: bool = True, **scores: Any
) -> tuple[Episode, Task]:
    """An episode whose metrics are all ½ but for `scores` (numbers or rows, `A2` for A.2)."""
    of = {metric: scores.get(metric.replace(".", ""), 0.5) for metric in (*COMPUTED, "R.3")}
    rows = {metric: value if isinstance(value, dict) else row(value) for metric, value in of.items()}
    events = list(calls)
    if design:
        events.append({"kind": "result", "candidate": {"sha256": "d", "data": {}, "files": {}}, "ok": True})
    found = {specs.GEOMETRY.id: rows, specs.OPERABILITY_ID: rows["R.3"]}
    gathered = {(name, "d", executor): {"data": data} for executor, data in found.items()}
    key = EpisodeKey(agent="a", task=name, condition="c", epoch=1)
    return Episode(key, events, {"counters": {}}, lambda value: value, gathered), task(name)


def system(agent: str = "a", family: str = "open", episodes: Any = (), **settings: Any) -> System:
    return System(agent, BuildSettings(**settings), "", family, tuple(episodes))


def test_names_tell_protocols_apart() -> None:
    assert system("m").name == "m"
    assert system("m", tier="A", brief="functional").name == "m (tier A, functional)"
    assert deviations(BuildSettings(rounds=3)) == ["rounds 3"]


def test_cells_are_means_and_marked() -> None:
    found = system(
        episodes=[played("x", S1=1.0, S3=None), played("y", S1=0.0, S3=0.8), played("z", design=False)]
    )
    assert found.cell("S.1").value == pytest.approx(1 / 3)
    assert found.cell("S.3").value == pytest.approx(0.4)  # N/A is left out, a missing design counts 0
    assert found.cell("D.1").status == "degraded"
    assert found.by_task("S") == {"x": 0.75, "y": pytest.approx(1.3 / 3), "z": 0.0}
    table = main_table([found])
    cells = dict(zip([c.name for c in table.columns], table.rows[0], strict=True))
    assert cells["n"] == 3
    assert cells["S.1"].value == pytest.approx(1 / 3)
    assert cells["D.2"].word == "skipped"  # even the missing design, which no judge would have seen


def test_single_parts_are_told_of() -> None:
    single = row(None, n_parts=1, n_parts_reference=6)
    one = system("a", episodes=[played("x", S1=single, S2=None), played("y")])
    assert "a: 1 designs are a single part, their references more" in main_table([one]).note
    assert "single part" not in main_table([system("b", episodes=[played("x")])]).note


def test_kinds_are_compared_on_what_all_have() -> None:
    cells = {"m": {"S.1": 0.8, "R.3": 0.2}, "n": {"S.1": 0.6, "R.3": 0.4}, "g": {"S.1": 0.9, "R.3": None}}
    common, means = compare_kinds(cells, {"m": "closed", "n": "closed", "g": "domain-specific"})
    assert common == ["S.1"]
    assert means == {"closed": [pytest.approx(0.7)], "domain-specific": [0.9]}


def test_published_kinds(lmbuild_data: Path) -> None:
    """The published main table by kinds: generators lack what the table says they do."""
    data = json.loads((lmbuild_data / "published_table2.json").read_text())
    closed = ("gpt-6-astra", "gpt-5.6-sol", "claude-opus-5", "claude-fable-5.1", "claude-sonnet-5")
    closed = (*closed, "claude-haiku-4.5")
    generators = ("partcrafter_np15", "partpacker", "physx-anything")
    cells = {name: dict(zip(data["columns"], data[name], strict=True)) for name in (*closed, *generators)}
    kinds = dict.fromkeys(closed, "closed") | dict.fromkeys(generators, "domain-specific")
    common, means = compare_kinds(cells, kinds)
    assert common == ["S.1", "S.2", "S.3", "A.1", "A.2", "D.1", "D.2", "D.3"]
    alone, of_closed = compare_kinds({n: cells[n] for n in closed}, dict.fromkeys(closed, "closed"))
    assert of_closed["closed"][alone.index("R.3")] == pytest.approx(18.3, abs=0.2)  # as published
    assert level(cells["gpt-6-astra"], "S") == pytest.approx(88.5, abs=0.051)
    assert means["closed"][common.index("A.2")] > means["domain-specific"][common.index("A.2")]


def test_differences_are_paired_and_of_one_setting() -> None:
    names = [f"t{i:02}" for i in range(12)]
    before = system(episodes=[played(n, A2=0.2 + 0.01 * i) for i, n in enumerate(names)])
    after = system(episodes=[played(n, A2=0.3 + 0.01 * i) for i, n in enumerate(names)], brief="functional")
    other = system("b", episodes=[played(n) for n in names], brief="functional")
    found = {each.metric: each for each in differences([after, before, other], "brief")}
    gain = found["A.2"]
    assert gain.change == "name_only+image → functional"
    assert (gain.n, gain.difference) == (12, pytest.approx(0.1))
    assert gain.p is not None
    assert gain.p_adjusted is not None
    assert gain.p <= 0.001 < gain.p_adjusted
    assert found["S.1"].p == 1.0
    assert found["A"].difference == pytest.approx(0.1 / 3)
    assert differences([before, after], "tier") == []


def test_few_tasks_have_no_p() -> None:
    pair = [system(episodes=[played(f"t{i}") for i in range(4)], tier=tier) for tier in "BA"]
    assert {each.p for each in differences(pair, "tier")} == {None}


def parts(**scores: float) -> dict[str, Any]:
    """A.2 of the keepsake box by component."""
    return row(0.5, components={n: {"score": v, "parts": {"p": v} if v else {}} for n, v in scores.items()})


def test_failures_have_thresholds_and_denominators() -> None:
    from evalkit_lmbuild.results.failures import _claims

    required, movers = _claims(json.dumps(task("t").hidden["document"]))
    assert len(required) == 4
    assert movers == ("lid",)
    whole = dict.fromkeys(required, 1.0)
    capability = [{"id": "F1", "score": 0.95}]
    good = played("x", A2=parts(**whole), R1=row(1.0, E=1.0), R3=row(0.95, capabilities=capability))
    half = played(
        "y",
        A2=parts(**(whole | {required[0]: 0.5, "lid": 0.0})),
        R1=row(0.9, E=0.9),
        R3=row(0.5, capabilities=[{"id": "F1", "score": 0.89}]),
    )
    table = failures_table([system(episodes=[good, half, played("z", design=False)])])
    rates = {str(line[0]): line[2] for line in table.rows}
    assert all(isinstance(rate, Rate) for rate in rates.values())
    counts = [(rate.numerator, rate.denominator) for rate in rates.values() if isinstance(rate, Rate)]
    assert counts == [(2, 3), (2, 3), (2, 3), (2, 3)]
    assert [line[1] for line in table.rows] == ["tasks", "tasks", "tasks", "motions"]


def refusal(tool: str, **arguments: Any) -> str:
    session = Session(Scene(Catalogue()), Rules())
    cube = {"nodes": [{"id": "n", "op": "box", "size": [0.1, 0.1, 0.1]}], "output": "n"}
    for name, given in (
        ("create_part", {"name": "P001", "program": cube}),
        ("create_part", {"name": "P002", "program": cube}),
        ("place_part", {"part_id": "P001", "instance_id": "a", "position": [0, 0, 0]}),
        ("place_part", {"part_id": "P001", "instance_id": "b", "position": [1, 0, 0]}),
        ("add_joint", {"joint_id": "j", "type": "fixed", "parent": "a", "child": "b"}),
    ):
        assert call(session, name, given).data["ok"]
    answer = call(session, tool, arguments).data
    assert not answer["ok"]
    return str(answer["error"])


@pytest.mark.parametrize(
    ("tool", "arguments", "kind"),
    [
        ("move_part", {"instance_id": "c", "position": [0, 0, 0]}, 0),
        ("move_part", {"instance_id": "P002", "position": [0, 0, 0]}, 0),
        ("add_joint", {"joint_id": "k", "type": "fixed", "parent": "a", "child": "c"}, 0),
        ("place_part", {"part_id": "P001", "instance_id": "a", "position": [0, 0, 0]}, 1),
        ("add_joint", {"joint_id": "j", "type": "fixed", "parent": "a", "child": "b"}, 1),
        ("create_part", {"name": "P001", "program": "{}"}, 1),
        ("place_part", {"part_id": "nowhere", "instance_id": "d", "position": [0, 0, 0]}, None),
        ("move_part", {"instance_id": "a"}, None),
    ],
)
def test_lost_track_of_the_scene_is_told_from_other_mistakes(
    tool: str, arguments: dict[str, Any], kind: int | None
) -> None:
    text = refusal(tool, **arguments)
    assert [bool(words.search(text)) for words in TRACKING.values()] == [kind == 0, kind == 1], text


def test_calls_are_counted() -> None:
    events = []
    for tool, ok, text in (
        ("create_part", False, "node 'a': no"),
        ("create_part", True, ""),
        ("move_part", False, "there is no placed part 'x'; there is none yet"),
        ("list_parts", True, ""),
    ):
        events.append({"kind": "action", "tool": tool, "arguments": {"name": "made"}})
        events.append({"kind": "result", "ok": ok, "data": {"ok": ok, "error": text}})
    table = calls_table([system(episodes=[played("x", calls=tuple(events))])])
    cells = dict(zip([c.name for c in table.columns], table.rows[0], strict=True))
    assert cells["calls"] == 4
    rates = {name: cell.value for name, cell in cells.items() if isinstance(cell, Rate)}
    assert rates == {
        "refused": 0.5,
        "refers to what isn't placed": 0.25,
        "adds what is there": 0.0,
        "created": 0.5,
        "created at once": 0.0,
    }


def test_small_samples_of_true_differences_agree_and_of_noise_do_not() -> None:
    rng = np.random.default_rng(7)
    strata = ["one"] * 20 + ["two"] * 20
    skill = np.linspace(0.2, 0.8, 8)[:, None]
    same = agreement(np.repeat(skill, 40, axis=1), strata, 10)
    assert same is not None
    assert (same.size, same.pearson, same.spearman) == (10, pytest.approx(1.0), pytest.approx(1.0))
    noise = agreement(rng.normal(size=(8, 400)), ["one"] * 400, 20)
    assert noise is not None
    assert abs(noise.pearson) < 0.15
    assert noise.pearson_interval[0] < -0.4 < 0.4 < noise.pearson_interval[1]


def test_the_fixed_pair_takes_tasks_by_turns() -> None:
    scores = np.array([[0.1, 0.9, 0.2, 0.8], [0.5, 0.5, 0.5, 0.5], [0.9, 0.1, 0.8, 0.2]])
    found = agreement(scores, ["one"] * 4, 2, draws=10)
    assert found is not None
    assert found.fixed_pearson == pytest.approx(-1.0)  # tasks 0 and 2 against tasks 1 and 3
    assert found.fixed_spearman == pytest.approx(-1.0)


def test_agreement_is_as_theory_says() -> None:
    """Skill of variance v plus noise of variance w over k tasks: r = v / (v + w/k)."""
    rng = np.random.default_rng(3)
    systems, tasks, k = 400, 40, 10
    scores = rng.normal(size=(systems, 1)) * 0.5 + rng.normal(size=(systems, tasks))
    found = agreement(scores, ["one"] * tasks, k, draws=100)
    assert found is not None
    assert found.pearson == pytest.approx(0.25 / (0.25 + 1 / k), abs=0.05)
    assert found == agreement(scores, ["one"] * tasks, k, draws=100)


def test_samples_that_do_not_fit_are_refused() -> None:
    with pytest.raises(ValueError, match="two disjoint samples of 3 tasks don't fit into 5"):
        agreement(np.zeros((3, 5)), ["one"] * 5, 3)


def three_systems() -> list[System]:
    names = [f"t{i:02}" for i in range(12)]
    return [
        system("a", episodes=[played(n, S1=0.1 * i / 2) for i, n in enumerate(names)]),
        system("a", episodes=[played(n, S1=0.2) for n in names], tier="A"),
        system("b", "closed", episodes=[played(n, S1=0.9, A1=0.1) for n in names]),
    ]


@pytest.mark.parametrize(
    ("systems", "size", "says"),
    [(3, 7, "two disjoint samples of 7 tasks don't fit into the 12"), (2, 1, "samples need 3 systems")],
)
def test_samples_that_the_table_cant_have_are_refused(systems: int, size: int, says: str) -> None:
    with pytest.raises(UsageError, match=says):
        all_tables(three_systems()[:systems], size)


def test_all_tables_and_figures(tmp_path: Path) -> None:
    ids = [table.id for table in all_tables(three_systems())]
    assert ids == [
        f"lmbuild.{name}"
        for name in ("systems", "levels", "kinds", "mechanisms", "tier", "failures", "calls", "stability")
    ]
    written, left_out = write_figures(three_systems(), tmp_path / "one")
    again, _ = write_figures(three_systems(), tmp_path / "two")
    assert left_out.keys() == {"rounds", "brief"}
    assert {path.suffix for path in written} == {".svg", ".png", ".csv"}
    assert [path.read_bytes() for path in written] == [path.read_bytes() for path in again]


def test_nothing_to_draw_is_said(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="nothing to draw"):
        write_figures([system()], tmp_path)


def test_missing_designs_of_a_generator_dont_fail_in_what_it_never_makes() -> None:
    lacks = row(None) | {"reason": "the generator gives no assembly sequence"}
    one, missing = played("x", R1=lacks), played("y", design=False)
    both = [(replace(episode, gathered=one[0].gathered), task) for episode, task in (one, missing)]
    found = system(episodes=both)
    assert found.cell("R.1").status == "not_applicable"
    assert found.cell("S.1").value == 0.25
    rates = {str(line[0]): line[2] for line in failures_table([found]).rows}
    rate = rates["sequence not fully executable"]
    assert isinstance(rate, Rate)
    assert (rate.value, rate.denominator) == (None, 0)
