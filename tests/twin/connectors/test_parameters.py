"""Parameters of connectors on forms: titles, units, help."""

from __future__ import annotations

import re

import pytest

from scheduling.kernel.parameters import describe
from twin.connectors.base import connector_class, names
from twin.mirror.nodes.sites import SiteRule

DECLARED = {name: connector_class(name).Parameters for name in names()} | {"sites": SiteRule}
UNITS = {"_ms": "ms", "_s": "s", "_mb": "MB"}


@pytest.mark.parametrize("name", DECLARED)
def test_each_parameter_has_a_title_a_unit_and_help(name):
    for row in describe(DECLARED[name]):
        assert re.fullmatch(r"[A-Z][A-Za-z ]+", row["title"]), row
        assert row["title"].lower() != row["name"] or "_" not in row["name"]
        assert row["help"][0].isupper() or row["help"].startswith("UDP"), row
        for ending, unit in UNITS.items():
            if row["name"].endswith(ending):
                assert row["unit"] == unit, row
