"""Titles and helps of all declared parameters: forms show them as they are."""

from __future__ import annotations

import pytest

from scheduling.kernel.parameters import describe
from scheduling.kernel.registry import schedulers
from twin.alerts.base import names, rule_class
from twin.scenarios.edits import verbs

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
