"""Metrics as text: the same in Python, where equal texts decide a ranking, as on pages (tests/js/metrics.test.js)."""

import json
from pathlib import Path

import pytest

from scheduling.reporting.quantities import value_text

PINNED = json.loads((Path(__file__).parents[1] / "fixtures" / "value_texts.json").read_text())


@pytest.mark.parametrize("row", PINNED, ids=lambda row: f"{row['value']} {row['unit']}")
def test_a_value_reads_as_on_pages(row):
    assert value_text(row["value"], row["unit"]) == row["text"]
