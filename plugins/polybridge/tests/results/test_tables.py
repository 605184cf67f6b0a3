"""Tables of runs with known outcomes."""

from __future__ import annotations

from typing import Any

import pytest

from evalkit import EpisodeKey
from evalkit.report import Cell, Estimate, Rate, Table, cell_text, to_csv, to_text
from evalkit_polybridge.levels.families import generate
from evalkit_polybridge.tables import breakdown
from evalkit_polybridge.tasks import level_task, load_tasks

# Task: family, group, suite, tags, strict budget, calls, road of the success in members of $200.
RUN: dict[str, tuple[str, str, str, list[str], float, str, int]] = {
    "a": ("T1B", "T1", "core", [], 1000.0, "S", 4),
    "b": ("T1B", "T1", "core", ["slope"], 1000.0, "VS", 3),
    "c": ("T2A", "T2", "core", ["slope"], 2000.0, "FS", 10),
    "d": ("T4C", "T4", "core", ["multi_vehicle"], 1000.0, "FFF", 1),
    "e": ("G5", "G", "compositional", ["slope", "multi_vehicle"], 1000.0, "VVV", 1),
}


@pytest.fixture(scope="module")
def run(episode_of: Any, task_of: Any) -> list[tuple[Any, Any]]:
    episodes = []
    for name, (family, group, suite, tags, budget, calls, road_m) in RUN.items():
        task = task_of(name, family=family, group=group, suite=suite, tags=tags, budget=budget)
        episodes.append((episode_of(calls, road_m=road_m, task=name, agent="truss"), task))
    return episodes


@pytest.fixture(scope="module")
def tables(run: Any) -> dict[str, Table]:
    return {table.id: table for table in breakdown(run)}


def row(table: Table, name: str) -> dict[str, Cell]:
    cells = next(r for r in table.rows if r[0] == name)
    return {column.name: cell for column, cell in zip(table.columns, cells, strict=True)}


def shown(table: Table, name: str) -> dict[str, str]:
    return {column: cell_text(cell) for column, cell in row(table, name).items()}


def counts(table: Table, name: str) -> dict[str, tuple[float | None, float]]:
    return {n: (c.numerator, c.denominator) for n, c in row(table, name).items() if isinstance(c, Rate)}


def test_the_tables_of_one_agent(tables: dict[str, Table]) -> None:
    assert list(tables) == [
        "polybridge.systems",
        "polybridge.groups/truss/strict",
        "polybridge.families/truss/strict",
        "polybridge.tags/truss/strict",
        "polybridge.errors",
    ]


def test_a_row_per_agent_and_condition(tables: dict[str, Table]) -> None:
    assert shown(tables["polybridge.systems"], "truss") == {
        "agent": "truss",
        "condition": "strict",
        "n": "5",
        "Valid@1": "60.0 % (3/5) [23.1, 88.2]",
        "Valid@2": "80.0 % (4/5) [37.6, 96.4]",
        "Valid@3": "80.0 % (4/5) [37.6, 96.4]",
        "Success@1": "20.0 % (1/5) [3.6, 62.4]",
        "Success@2": "60.0 % (3/5) [23.1, 88.2]",
        "Success@3": "60.0 % (3/5) [23.1, 88.2]",
        "Recovery@3": "50.0 % (1/2) [9.5, 90.5]",
    }


def test_suites_and_groups(tables: dict[str, Table]) -> None:
    table = tables["polybridge.groups/truss/strict"]
    assert [r[0] for r in table.rows] == [
        "all levels",
        "core",
        "compositional",
        "T1 anchors, connectivity",
        "T2 terrain, geometry",
        "T4 dynamic load",
        "G compositions",
    ]
    assert [r[1] for r in table.rows] == [5, 4, 1, 2, 1, 1, 1]
    assert counts(table, "core") == {
        "Valid@1": (3, 4),
        "Valid@3": (4, 4),
        "Success@1": (1, 4),
        "Success@3": (3, 4),
        "Recovery@3": (1, 2),
    }
    assert shown(table, "compositional")["Recovery@3"] == "– (0/0)"


def test_cost_ratios_are_means_over_successes(tables: dict[str, Table]) -> None:
    table = tables["polybridge.groups/truss/strict"]
    overall = row(table, "all levels")["cost ÷ strict budget"]
    assert isinstance(overall, Estimate)
    # (800/1000 + 600/1000 + 2000/2000) / 3; the two families' own means are 0.7 and 1.
    assert overall.value == pytest.approx(0.8)
    assert (overall.n, overall.method) == (3, "bootstrap(cluster=family)")
    assert (overall.low, overall.high) == (pytest.approx(0.7), pytest.approx(1.0))
    assert shown(table, "T1 anchors, connectivity")["cost ÷ strict budget"] == "0.700 (n=2)"
    assert shown(table, "G compositions")["cost ÷ strict budget"] == "– (n=0)"


def test_families_stand_in_their_order(tables: dict[str, Table]) -> None:
    table = tables["polybridge.families/truss/strict"]
    assert [r[:2] for r in table.rows] == [
        ("T1B Basic", 2),
        ("T2A SlopeUp", 1),
        ("T4C Multi", 1),
        ("G5 Slope", 1),
    ]


def test_a_family_from_elsewhere_keeps_its_name(episode_of: Any, task_of: Any) -> None:
    tables = breakdown([(episode_of("S"), task_of(family="Z9", group="Z", suite="mine"))])
    assert [r[:2] for r in tables[2].rows] == [("Z9", 1)]
    assert [r[:2] for r in tables[1].rows] == [("all levels", 1)]


def test_a_level_counts_under_each_of_its_tags(tables: dict[str, Table]) -> None:
    table = tables["polybridge.tags/truss/strict"]
    assert [r[:2] for r in table.rows] == [("multi_vehicle", 2), ("slope", 3)]
    assert counts(table, "slope")["Success@3"] == (2, 3)


def test_errors_as_shares_of_all_errors(tables: dict[str, Table]) -> None:
    table = tables["polybridge.errors"]
    assert [column.name for column in table.columns] == ["error", "truss, strict"]
    assert [(r[0], cell_text(r[1])) for r in table.rows] == [
        ("EDGE_TOO_LONG", "50.0 % (4/8)"),
        ("RUN_FALSE_AFTER_VALID", "50.0 % (4/8)"),
    ]


def test_a_code_counts_once_per_call(written: Any, task_of: Any) -> None:
    episode = written("a", "t", "strict")
    episode.call("V", 3, ("EDGE_TOO_LONG", "EDGE_TOO_LONG", "CLEARANCE"))
    episode.call("V", 3, ("EDGE_TOO_LONG",))
    errors = breakdown([(episode.episode(), task_of())])[-1]
    assert [(r[0], cell_text(r[1])) for r in errors.rows] == [
        ("EDGE_TOO_LONG", "66.7 % (2/3)"),
        ("CLEARANCE", "33.3 % (1/3)"),
    ]


def test_several_agents_and_conditions(episode_of: Any, task_of: Any) -> None:
    episodes = [
        (episode_of(calls, agent=agent, condition=condition), task_of(budget_name=condition))
        for agent, condition, calls in (
            ("truss", "strict", "S"),
            ("flat", "strict", "FFF"),
            ("truss", "loose", "VS"),
        )
    ]
    tables = {table.id: table for table in breakdown(episodes)}
    assert [r[:3] for r in tables["polybridge.systems"].rows] == [
        ("truss", "strict", 1),
        ("flat", "strict", 1),
        ("truss", "loose", 1),
    ]
    assert "polybridge.groups/flat/strict" in tables
    errors = [(r[0], *(cell_text(cell) for cell in r[1:])) for r in tables["polybridge.errors"].rows]
    assert errors == [
        ("RUN_FALSE_AFTER_VALID", "– (0/0)", "100.0 % (3/3)", "0.0 % (0/1)"),
        ("EDGE_TOO_LONG", "– (0/0)", "0.0 % (0/3)", "100.0 % (1/1)"),
    ]


def test_a_condition_that_promises_another_budget_is_headed_by_both(episode_of: Any, task_of: Any) -> None:
    tables = breakdown([(episode_of("S", condition="loose"), task_of(budget_name="strict"))])
    assert tables[0].rows[0][:2] == ("a", "loose (strict budget)")
    assert tables[1].id == "polybridge.groups/a/loose (strict budget)"
    assert tables[-1].columns[1].name == "a, loose (strict budget)"


@pytest.mark.parametrize("budget", ["strict", "loose", "tight"])
def test_tasks_know_their_budget(budget: str) -> None:
    assert {task.hidden["budget_name"] for task in load_tasks({"budget": budget}, {})} == {budget}


def test_missing_episodes_are_counted_where_they_belong(run: Any, task_of: Any) -> None:
    key = EpisodeKey("truss", "f", "strict", 1)
    missing = [(key, task_of("f", family="T4C", group="T4", tags=["heavy"]))]
    tables = {table.id: table for table in breakdown(run, missing=missing)}
    again = "Success@3, missing as failures"
    system = shown(tables["polybridge.systems"], "truss")
    assert (system["n"], system["no result"], system["Success@3"][:12]) == ("5", "1", "60.0 % (3/5)")
    assert system[again].startswith("50.0 % (3/6)")
    groups = tables["polybridge.groups/truss/strict"]
    assert counts(groups, "T4 dynamic load")["Success@3"] == (0, 1)
    assert counts(groups, "T4 dynamic load")[again] == (0, 2)
    assert counts(groups, "T1 anchors, connectivity")[again] == (2, 2)
    assert shown(tables["polybridge.tags/truss/strict"], "heavy")["Success@3"] == "– (0/0)"
    assert shown(groups, "all levels")["cost ÷ strict budget"].startswith("0.800 (n=3)")


def test_an_agent_without_any_result_has_its_row(run: Any, task_of: Any) -> None:
    tables = breakdown(run, [(EpisodeKey("broken", "f", "strict", 1), task_of("f"))])
    found = shown(tables[0], "broken")
    assert (found["n"], found["no result"], found["Valid@1"]) == ("0", "1", "– (0/0)")


def test_a_run_without_results_has_empty_tables() -> None:
    assert [(table.id, table.rows) for table in breakdown([])] == [
        ("polybridge.systems", ()),
        ("polybridge.errors", ()),
    ]


def test_all_levels_in_the_sizes_of_the_benchmark(episode_of: Any) -> None:
    episodes = [(episode_of("S", task=level.name), level_task(level, meta)) for level, meta in generate()]
    _, groups, families, _, _ = breakdown(episodes)
    assert [r[1] for r in groups.rows] == [189, 149, 40, 59, 64, 26, 40]
    assert len(families.rows) == 27


def test_tables_can_be_printed(run: Any) -> None:
    tables = breakdown(run)
    assert "all levels,Success@3,0.6,3,5,0.230" in to_csv(tables)
    assert all(len(line) <= 100 for line in to_text(tables, 100).splitlines())
