"""Metrics as text: the same in Python, where equal texts decide a ranking, as on pages.

tests/js/run/metrics.test.js holds the pages against the same file.
"""

import json
from pathlib import Path

import pytest

from scheduling.reporting.quantities import amount, significant, value_text

PINNED = json.loads((Path(__file__).parents[2] / "fixtures" / "value_texts.json").read_text())


@pytest.mark.parametrize("row", PINNED, ids=lambda row: f"{row['value']} {row['unit']}")
def test_a_value_reads_as_on_pages(row):
    assert value_text(row["value"], row["unit"]) == row["text"]


@pytest.mark.parametrize(("value", "text"), [
    (0.0, "0.00"), (0.01, "0.01"), (0.007, "0.007"), (-0.00012345, "−0.000123"), (2.5e-9, "2.50e-9"),
    (1234.567, "1,234.57"),
])  # fmt: skip
def test_an_amount_below_a_hundredth_has_three_digits(value, text):
    assert amount(value) == text


@pytest.mark.parametrize(("value", "text"), [
    (0.005759, "0.00576"), (999.96, "1000"), (12_345.6, "12,346"), (2.5e8, "2.50e+8"), (0.0, "0"),
])  # fmt: skip
def test_three_significant_digits_read_as_on_pages(value, text):
    assert significant(value) == text
