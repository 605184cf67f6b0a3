"""Every format, to the letter."""

import csv
import io
import json

import pytest

from evalkit.report import Column, Estimate, Rate, Table, to_csv, to_json, to_markdown, to_text
from evalkit.report.formats import table_json, write_text

FIGURES = Table(
    "main",
    "bridges.strict · truss",
    (Column("metric"), Column("over scored episodes"), Column("calls", "right")),
    (
        ("Valid", Rate(1.0, 189, 189, 0.98, 1.0, method="wilson"), 189),
        ("Success", Rate(110 / 189, 110, 189, 0.511, 0.65, method="wilson"), 1234),
        ("Recovery", Rate(None, 0, 0), None),
        ("Looks", Rate(None, 0, 0, word="skipped"), 0),
        ("Cost | total", Estimate(12.5, 110, 11.0, 14.0, unit="$", word="degraded"), 7),
    ),
    "no episode is missing",
)


def test_text_aligns_the_parts_of_figures():
    assert to_text([FIGURES], 100) == (
        "bridges.strict · truss\n"
        "metric        over scored episodes                       calls\n"
        "────────────  ─────────────────────────────────────────  ─────\n"
        "Valid         100.0 % (189/189) [98.0, 100.0]              189\n"
        "Success        58.2 % (110/189) [51.1, 65.0]             1,234\n"
        "Recovery            – (0/0)                                  –\n"
        "Looks         skipped (0/0)                                  0\n"
        "Cost | total  12.50 $ (n=110)   [11.00, 14.00] degraded      7\n"
        "\n"
        "no episode is missing\n"
    )


def test_narrow_text_breaks_figures_between_their_parts():
    assert to_text([FIGURES], 40) == (
        "bridges.strict · truss\n"
        "metric        over scored        calls\n"
        "              episodes\n"
        "────────────  ─────────────────  ─────\n"
        "Valid         100.0 % (189/189)    189\n"
        "              [98.0, 100.0]\n"
        "\n"
        "Success        58.2 % (110/189)  1,234\n"
        "              [51.1, 65.0]\n"
        "\n"
        "Recovery            – (0/0)          –\n"
        "\n"
        "Looks         skipped (0/0)          0\n"
        "\n"
        "Cost | total  12.50 $ (n=110)        7\n"
        "              [11.00, 14.00]\n"
        "              degraded\n"
        "\n"
        "no episode is missing\n"
    )


@pytest.mark.parametrize("width", [30, 40, 60, 80, 100, 140])
def test_no_line_is_longer_than_the_width(width):
    assert max(map(len, to_text([FIGURES, FIGURES], width).splitlines())) <= width


def test_more_columns_than_fit_become_blocks_that_repeat_the_first():
    columns = (Column("agent"), *(Column(f"metric-{i}") for i in range(4)))
    table = Table("t", "Many", columns, (("truss", 1, 2, 3, 4), ("flat", 5, 6, 7, 8)))
    assert to_text([table], 28) == (
        "Many\n"
        "agent  metric-0  metric-1\n"
        "─────  ────────  ────────\n"
        "truss  1         2\n"
        "flat   5         6\n"
        "\n"
        "agent  metric-2  metric-3\n"
        "─────  ────────  ────────\n"
        "truss  3         4\n"
        "flat   7         8\n"
    )


def test_equal_columns_stay_equal_when_they_shrink():
    cell = Rate(110 / 189, 110, 189, 0.511, 0.65)
    columns = (Column("metric"), Column("one"), Column("two"))
    rule = to_text([Table("t", "T", columns, (("Success", cell, cell),))], 60).splitlines()[2]
    assert [len(part) for part in rule.split()] == [7, 16, 16]


def test_wide_characters_take_two_columns():
    table = Table("t", "T", (Column("task"), Column("n")), (("橋", 1), ("ab", 2)))
    assert to_text([table], 40).splitlines()[3:] == ["橋    1", "ab    2"]


def test_empty_table_says_so():
    assert to_text([Table("t", "Runs", (Column("run"),), ())], 40) == "Runs\nrun\n───\n(none)\n"


def test_markdown():
    assert to_markdown([FIGURES]) == (
        "### bridges.strict · truss\n"
        "\n"
        "| metric | over scored episodes | calls |\n"
        "| --- | --- | ---: |\n"
        "| Valid | 100.0 % (189/189) [98.0, 100.0] | 189 |\n"
        "| Success | 58.2 % (110/189) [51.1, 65.0] | 1,234 |\n"
        "| Recovery | – (0/0) | – |\n"
        "| Looks | skipped (0/0) | 0 |\n"
        "| Cost \\| total | 12.50 $ (n=110) [11.00, 14.00] degraded | 7 |\n"
        "\n"
        "no episode is missing\n"
    )


def test_markdown_escapes_markup_and_separates_tables():
    table = Table("t", "a `b`", (Column("<i>"),), (("*x*",),))
    assert to_markdown([table, table]).split("\n\n### ") == [
        "### a \\`b\\`\n\n| &lt;i> |\n| --- |\n| \\*x\\* |",
        "a \\`b\\`\n\n| &lt;i> |\n| --- |\n| \\*x\\* |\n",
    ]


def test_csv_has_a_line_per_value():
    assert to_csv([FIGURES]) == (
        "table,row,column,value,numerator,denominator,low,high,unit,method,status\n"
        "main,Valid,over scored episodes,1.0,189,189,0.98,1.0,%,wilson,\n"
        "main,Valid,calls,189,,,,,,,\n"
        "main,Success,over scored episodes,0.582010582010582,110,189,0.511,0.65,%,wilson,\n"
        "main,Success,calls,1234,,,,,,,\n"
        "main,Recovery,over scored episodes,,0,0,,,%,,\n"
        "main,Looks,over scored episodes,,0,0,,,%,,skipped\n"
        "main,Looks,calls,0,,,,,,,\n"
        "main,Cost | total,over scored episodes,12.5,,110,11.0,14.0,$,,degraded\n"
        "main,Cost | total,calls,7,,,,,,,\n"
    )


def test_csv_names_a_row_by_all_its_leading_texts():
    columns = (Column("agent"), Column("condition"), Column("n"))
    table = Table("t", "T", columns, (("truss", "strict", 3), ("truss, b", "loose", 4)))
    rows = list(csv.reader(io.StringIO(to_csv([table]))))
    assert [row[1:4] for row in rows[1:]] == [["truss / strict", "n", "3"], ["truss, b / loose", "n", "4"]]


def test_json_keeps_figures_as_objects_and_no_value_as_null():
    document = json.loads(to_json({"tables": {"main": table_json(FIGURES)}}))
    rows = document["tables"]["main"]["rows"]
    assert rows[0][0] == "Valid"
    assert rows[0][1]["numerator"] == 189
    assert rows[2][1]["value"] is None
    assert (rows[3][1]["value"], rows[3][1]["word"]) == (None, "skipped")
    assert document["tables"]["main"]["columns"] == ["metric", "over scored episodes", "calls"]


def test_json_refuses_what_is_no_number():
    with pytest.raises(ValueError, match="not JSON compliant"):
        to_json({"value": float("nan")})


class Terminal(io.StringIO):
    encoding = "utf-8"

    def isatty(self):
        return True


def test_colour_only_on_a_terminal(monkeypatch):
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.delenv("NO_COLOR", raising=False)
    text = to_text([FIGURES], 100)
    plain, coloured, never = io.StringIO(), Terminal(), Terminal()
    write_text(text, plain)
    write_text(text, coloured)
    write_text(text, never, colour=False)
    assert plain.getvalue() == never.getvalue() == text
    assert "\x1b[" in coloured.getvalue()


def test_what_the_encoding_lacks_is_escaped():
    raw = io.BytesIO()
    stream = io.TextIOWrapper(raw, encoding="ascii", newline="\n")
    write_text("– ok\n", stream)
    stream.flush()
    assert raw.getvalue() == b"\\u2013 ok\n"
