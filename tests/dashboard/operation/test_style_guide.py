"""The style guide: both themes with the parts of the product, and the simulations that the test of colours uses."""

import re
from pathlib import Path

from dashboard.pages.style_guide import parts

ROOT = Path(__file__).resolve().parents[3]


def test_the_style_guide_shows_the_parts_in_both_themes(viewer):
    page = viewer.get("/styleguide/").content.decode()
    assert re.findall(r'class="theme" data-theme="(\w+)"', page) == ["light", "dark"]
    assert page.count('class="job-7"') == 8, "of each theme and vision"
    for part in ('class="primary"', 'class="tiles"', 'data-state="rejected"', 'class="notice bad"', "seen-tritanopia"):
        assert page.count(part) >= 2, part


def test_every_state_of_the_style_sheet_is_shown():
    drawn = set(re.findall(r'\.state\[data-state="(\w+)"\]', (ROOT / "static/css/tables.css").read_text()))
    same = {"finished", "applied", "ready", "parsing", "calibrated", "off", "failing", "starting", "refused", "scanned",
            "uploading", "proposed", "paused"}  # fmt: skip
    assert drawn - same == set(parts()["states"])


def test_the_filters_are_the_simulations_of_the_test_of_colours():
    numbers = re.compile(r"-?\d+\.\d+")
    tested = (ROOT / "tests/js/ui/theme.test.js").read_text()
    for vision in parts()["visions"][1:]:
        matrix = re.search(vision["name"] + r": \[(.*?)\n  \],", tested, re.DOTALL)
        assert matrix
        assert [float(part) for part in numbers.findall(matrix[1])] == [
            float(part) for part in numbers.findall(vision["matrix"])
        ]
