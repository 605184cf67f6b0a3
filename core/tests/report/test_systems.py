"""The main tables of one and several systems, and plugins' tables of several runs."""

from dataclasses import replace

import pytest

from evalkit.hookspecs import MetricSpec
from evalkit.report import Column, System, Table, main_tables, summary
from evalkit.report.aggregate import aggregate
from evalkit.report.systems import merged_by_id
from evalkit.types import EpisodeKey, Score


def figure(label, successes, n, missing=0, metric=""):
    spec = MetricSpec(metric or f"m.{label}", "", label, "")
    scores = {EpisodeKey("a", f"t{i}", "c", 1): Score(float(i < successes)) for i in range(n)}
    lost = [EpisodeKey("a", f"lost{i}", "c", 1) for i in range(missing)]
    return aggregate(spec, scores, clusters=None, missing=lost)


def system(agent, *figures, run="r1", suite="s.one"):
    aggregates = {a.metric: a for a in figures}
    return System(run, suite, agent, planned=4, played=4, errors=0, finished=4, aggregates=aggregates)


def names(table):
    return [column.name for column in table.columns], [row[0] for row in table.rows]


def test_metrics_go_down_the_page_unless_there_are_more_systems():
    many = [figure(f"m{i}", 1, 4) for i in range(12)]
    tall = main_tables([system("a", *many), system("b", *many), system("c", *many)])[0]
    assert names(tall) == (["metric", "a", "b", "c"], [f"m{i}" for i in range(12)])
    wide = main_tables([system(agent, *many[:2]) for agent in "abc"])[0]
    assert names(wide) == (["agent", "m0", "m1"], ["a", "b", "c"])


def test_one_system_has_a_row_per_metric_whatever_their_number():
    table = main_tables([system("a", figure("m", 1, 4))])[0]
    assert names(table) == (["metric", "over scored episodes"], ["m"])
    assert (table.title, table.note.splitlines()[0]) == ("s.one · a · 4 episodes", "no episode is missing")


def test_second_table_only_where_something_is_missing():
    whole, holed = figure("m", 1, 4), figure("m", 1, 3, missing=1)
    assert [t.id for t in main_tables([system("a", whole), system("b", whole)])] == ["main"]
    tables = main_tables([system("a", whole), replace(system("b", holed), finished=3)])
    assert [t.id for t in tables] == ["main", "main_missing"]
    second = {row[0]: row[1] for row in tables[1].rows}
    assert [(second[a].numerator, second[a].denominator) for a in "ab"] == [(1, 4), (1, 4)]
    assert tables[0].note.splitlines()[0] == (
        "b: 1 of 4 episodes missing (not played, ended in an error, or unreadable)"
    )


@pytest.mark.parametrize(
    ("systems", "expected"),
    [
        ([system("a"), system("b")], ["a", "b"]),
        ([system("a"), system("a", run="r2")], ["a · r1", "a · r2"]),
        ([system("a"), system("a", suite="s.two")], ["a · s.one", "a · s.two"]),
    ],
)
def test_systems_are_told_apart_by_as_little_as_it_takes(systems, expected):
    assert [row[0] for row in main_tables(systems)[0].rows] == expected


def test_metrics_with_one_label_are_told_apart_by_their_id():
    first, second = figure("Success", 1, 4, metric="a.s"), figure("Success", 2, 4, metric="b.s")
    table = main_tables([system("a", first, second)])[0]
    assert [row[0] for row in table.rows] == ["Success (a.s)", "Success (b.s)"]


def test_a_metric_that_a_suite_lacks_is_an_empty_cell():
    table = main_tables([system("a", figure("m", 1, 4)), system("b", figure("n", 2, 4))])[0]
    assert [[cell is None for cell in row[1:]] for row in table.rows] == [[False, True], [True, False]]


def test_tables_of_several_runs_merge_by_id_where_their_columns_agree():
    one = Table("t", "T", (Column("family"), Column("n")), (("low", 1),), "a note")
    two = Table("t", "T", (Column("family"), Column("n")), (("low", 2),), "a note")
    other = Table("t", "T", (Column("family"), Column("n"), Column("m")), (("low", 3, 4),))
    assert merged_by_id([("r1", [one])]) == [one]
    merged, apart = merged_by_id([("r1", [one]), ("r2", [two]), ("r3", [other])])
    assert merged.rows == (("r1", "low", 1), ("r2", "low", 2))
    assert (merged.id, merged.columns[0].name, merged.note) == ("t", "run", "a note")
    assert (apart.id, apart.rows) == ("t@r3", other.rows)


def test_summary_names_runs_metrics_and_tables():
    systems = [system("a", figure("m", 1, 3, missing=1))]
    document = summary(systems, main_tables(systems))
    metric = document["runs"][0]["metrics"]["m.m"]
    assert (metric["numerator"], metric["denominator"], metric["missing"]["counted_as"]) == (1, 3, "failure")
    assert document["tables"]["main"]["columns"] == ["metric", "over scored episodes", "missing as failures"]
