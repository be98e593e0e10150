"""The style guide: both themes with the parts of the product, and the simulations that the test of colours uses."""

import re
from pathlib import Path

from dashboard.pages.style_guide import parts
from twin.eventlog.job_states import STATES
from twin.models import Proposal, Run, Trace

ROOT = Path(__file__).resolve().parents[3]


def test_the_style_guide_shows_the_parts_in_both_themes(viewer):
    page = viewer.get("/styleguide/").content.decode()
    assert re.findall(r'class="theme" data-theme="(\w+)"', page) == ["light", "dark"]
    assert page.count('class="job-7"') == 8, "of each theme and vision"
    for part in ('class="primary"', 'class="tiles"', 'data-state="rejected"', 'class="notice bad"', "seen-tritanopia"):
        assert page.count(part) >= 2, part


def rules() -> dict[tuple[str, ...], str]:
    """The shape of the states of each rule of the sheet of marks."""
    sheet = (ROOT / "static/css/marks.css").read_text()
    found = re.findall(r"((?:\.state\[[^{]+)+)\{([^}]+)\}", sheet)
    named = [(tuple(re.findall(r'data-state="([\w-]+)"', heads)), rule) for heads, rule in found]
    return {states: re.sub(r"\s|\\", "", rule.partition("evenodd")[2]) for states, rule in named}


def test_every_state_of_the_style_sheet_is_shown_with_its_meaning():
    assert list(rules()) == [mark.states for mark in parts()["marks"]]


def test_two_meanings_differ_by_shape_and_not_by_colour_alone():
    shapes = [shape.strip(",;)") for shape in rules().values()]
    assert all(shape.startswith('"M') for shape in shapes)
    assert len(set(shapes)) == len(shapes)


def test_every_state_of_a_run_a_trace_a_plan_and_a_job_has_a_mark():
    drawn = {state for mark in parts()["marks"] for state in mark.states}
    plans = {value for name, value in vars(Proposal).items() if name.isupper() and isinstance(value, str)}
    runs = {*Run.ACTIVE, Run.FINISHED, Run.CANCELLED, Run.FAILED}
    assert {*STATES, *runs, *plans, *Trace.BUSY, *Trace.REMEDIES, Trace.READY} <= drawn


def test_the_filters_are_the_simulations_of_the_test_of_colours():
    numbers = re.compile(r"-?\d+\.\d+")
    tested = (ROOT / "tests/js/ui/theme.test.js").read_text()
    for vision in parts()["visions"][1:]:
        matrix = re.search(vision["name"] + r": \[(.*?)\n  \],", tested, re.DOTALL)
        assert matrix
        assert [float(part) for part in numbers.findall(matrix[1])] == [
            float(part) for part in numbers.findall(vision["matrix"])
        ]
