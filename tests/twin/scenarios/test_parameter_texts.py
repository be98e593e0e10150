"""Titles and helps of all declared parameters: forms show them as they are."""

from __future__ import annotations

import pytest

from scheduling.kernel.parameters import describe
from scheduling.kernel.registry import schedulers
from twin.alerts.base import names, rule_class
from twin.scenarios.edits import verbs
from twin.scenarios.scheduler_titles import parameter_texts

DECLARED = {
    **{f"scheduler {name}": cls.Parameters for name, cls in schedulers().items()},
    **{f"edit {name}": cls.Parameters for name, cls in verbs().items()},
    **{f"rule {name}": rule_class(name).Parameters for name in names()},
}


@pytest.mark.parametrize("owner", DECLARED)
def test_titles_and_helps_begin_with_a_capital_letter_and_differ(owner):
    rows = describe(DECLARED[owner])
    for row in rows:
        assert row["title"][0].isupper(), row
        assert "_" not in row["title"], row
        assert row["help"][0].isupper() or row["help"][0].isdigit(), row
        assert row["help"] != row["title"], row
    assert len({row["title"] for row in rows}) == len(rows), "titles of one form are distinct"


@pytest.mark.parametrize("owner", [name for name in DECLARED if name.startswith("scheduler ")])
def test_choices_have_titles_that_do_not_begin_with_a_small_letter_and_differ(owner):
    for row in describe(DECLARED[owner]):
        titles = row.get("titles", {})
        assert list(titles) == (row["choices"] or [])
        assert all(not title[0].islower() and "_" not in title for title in titles.values()), row
        assert len(set(titles.values())) == len(titles)


def test_parameters_are_shown_with_their_titles():
    assert parameter_texts("oasis", {"model": "pd-ors", "floor_scale": 2.0}) == [
        "Training model PD-ORS", "Factor of the price floor 2.0",
    ]  # fmt: skip
    assert parameter_texts("easy", {"estimates": "similar-p90"}) == [
        "Run-time estimates 90th percentile of similar jobs"
    ]
    assert parameter_texts("gone", {"x": 1}) == ["x 1"]


def test_values_have_their_units_also_as_the_text_of_an_edit():
    for hour, slots, refine in ((3_600_000, 12, True), ("3600000", "12", "true")):
        assert parameter_texts("srtf", {"overhead_ms": hour}) == ["Reload time of a gang 1h"]
        assert parameter_texts("themis", {"lease_slots": slots}) == ["Worker lease 12 slots"]
        assert parameter_texts("pd_ors", {"refine": refine}) == ["Refinement yes"]
    assert parameter_texts("batch_sche", {"period_hours": 1.5}) == ["Period 1.5 h"]
    assert parameter_texts("srtf", {"overhead_ms": "soon", "gone": 1}) == ["Reload time of a gang soon ms", "gone 1"]
