"""How cells become text: the one place where numbers are formatted."""

import pytest

from evalkit.report import Column, Estimate, Rate, Table, cell_text
from evalkit.report.table import printable


@pytest.mark.parametrize(
    ("cell", "text"),
    [
        (Rate(110 / 189, 110, 189, 0.5108, 0.65), "58.2 % (110/189) [51.1, 65.0]"),
        (Rate(1.0, 40, 40, 0.912, 1.0), "100.0 % (40/40) [91.2, 100.0]"),
        (Rate(0.25, 3, 12), "25.0 % (3/12)"),
        (Rate(None, 0, 0), "– (0/0)"),
        (Rate(None, 0, 0, word="skipped"), "skipped (0/0)"),
        (Rate(0.5, 1, 2, word="degraded"), "50.0 % (1/2) degraded"),
        (Rate(0.5, 1, 2, unit=""), "0.500 (1/2)"),
        (Estimate(2.314, 110, 2.1, 2.524), "2.31 (n=110) [2.10, 2.52]"),
        (Estimate(0.481, 50, 0.45, 0.512, unit="%"), "48.1 % (n=50) [45.0, 51.2]"),
        (Estimate(10234.4, 110, 9000.1, 11000.9, unit="$"), "10,234 $ (n=110) [9,000, 11,001]"),
        (Estimate(567, 189), "567 (n=189)"),
        (Estimate(2.0, 1), "2.00 (n=1)"),
        (Estimate(1042.26, None, 990.0, 1100.0), "1,042.3 [990.0, 1,100.0]"),
        (Estimate(None, 0, word="undetermined"), "undetermined (n=0)"),
        (0.0123, "0.012"),
        (3.14159, "3.14"),
        (123.456, "123.5"),
        (1234567, "1,234,567"),
        (0.0, "0.00"),
        (None, "–"),
        ("", ""),
        ("over  budget\n", "over budget"),
    ],
)
def test_text_of_a_cell(cell, text):
    assert cell_text(cell) == text


def test_control_characters_are_shown_and_not_sent_to_the_terminal():
    assert printable("a\x1b[31mred") == "a\\x1b[31mred"
    assert printable("lone \ud800, \u202eturned") == "lone \\ud800, \\u202eturned"
    assert printable("no\u00a0break, – × µ\n") == "no break, – × µ\n"


def test_a_row_has_a_cell_per_column():
    with pytest.raises(ValueError, match="table 't': row 2 has 1 cells for 2 columns"):
        Table("t", "T", (Column("a"), Column("b")), (("x", 1), ("y",)))
