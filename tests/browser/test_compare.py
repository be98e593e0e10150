"""Two schedulers race on one trace; the page compares them, and says where they part and why."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import posted

pytestmark = [pytest.mark.browser, pytest.mark.slow]
FIVE_OTHERS = """() => { const one = document.querySelector('#against button');
  for (let i = 0; i < 4; i++) one.after(one.cloneNode(true)); }"""  # as many as are compared in full
CENTRE = (
    "() => { const box = document.querySelector('#gantts canvas').getBoundingClientRect(); return [box.x + "
    "box.width / 2, box.y + box.height / 2]; }"
)
RACE = """async ([id, names]) => { const token = document.querySelector('meta[name=csrf-token]').content;
  const answer = await fetch(`/api/scenarios/${id}/race/`, { method: 'POST',
    headers: { 'Content-Type': 'application/json', 'X-CSRFToken': token },
    body: JSON.stringify({ schedulers: names }) }); return (await answer.json()).compare; }"""


@pytest.fixture(scope="module")
def compared() -> dict[str, str]:
    """Where the comparison is that the first test starts, for those that look at it."""
    return {}


def test_two_schedulers_race_and_the_first_divergence_says_why(
    open_page: Callable[..., Page], compared: dict[str, str]
) -> None:
    """OASiS and FIFO on the demo's trace, side by side on the workers; both decisions are described in words."""
    page = open_page("/scenarios/")
    expect(page.get_by_role("button", name="Race schedulers").last).to_be_visible()
    scenario = page.evaluate(
        "async () => (await (await fetch('/api/scenarios/?size=500')).json()).results.find((s) => "
        "s.name.startsWith('Demo')).id"
    )
    compared["path"] = page.evaluate(RACE, [scenario, ["oasis", "fifo"]])
    page.goto(compared["path"])
    expect(page.locator("#race")).to_contain_text("Left out")
    expect(page.locator("#race")).to_contain_text("PD-ORS: slotted (jobs train by samples)")
    page.wait_for_function("() => window.twin?.answer.runs.every((run) => run.status === 'finished')", timeout=120_000)
    expect(page.locator("#against button")).to_have_text([re.compile("FIFO")])
    divergence = page.locator("#divergence")
    expect(divergence).to_contain_text("the runs make different decisions for job")
    expect(divergence.locator(".reason")).to_have_count(2)
    expect(divergence.locator(".reason").first).to_contain_text(
        re.compile(r"(Admitted|Rejected): its utility of [0-9.,e−-]+ (exceeds|does not exceed) its cost of")
    )
    utility = page.locator("[data-metric=total_utility]")
    expect(utility).to_contain_text("higher")
    expect(utility.locator(".delta")).to_contain_text(re.compile("better|worse|same"))
    expect(page.locator("#ranking li")).to_have_count(2)
    expect(page.locator("#ranking li.first")).to_contain_text("OASiS")
    assert page.locator("#ranking .fill").first.bounding_box()["width"] > 50, "bars are drawn"
    painted = page.evaluate(
        "() => { const { answer } = window.twin; return [answer.metrics[0].values.map((v) => "
        "v.value), answer.differences[0]]; }"
    )
    assert painted[0][0] > 0
    expect(page.locator("#differences-count")).to_contain_text(f"{painted[1]['differing']} jobs differ")


def test_zoom_is_linked_and_a_job_is_found_in_both_schedules(
    open_page: Callable[..., Page], compared: dict[str, str]
) -> None:
    page = open_page(compared["path"])
    page.wait_for_function("() => window.twin?.gantts.list.length === 2")
    page.locator("#panel-gantts").scroll_into_view_if_needed()
    page.mouse.move(*page.evaluate(CENTRE))
    page.keyboard.down("Control")
    page.mouse.wheel(0, -600)
    page.keyboard.up("Control")
    page.wait_for_function(
        "() => { const { gantts, view } = window.twin; return !view.fitted && gantts.list.every(({ gantt }) => "
        "gantt.chart.scales.x.max === view.to); }"
    )
    page.wait_for_function("() => location.search.includes('from=')")
    row = page.locator("#differences tr.pick").first
    row.click()
    expect(row).to_have_attribute("aria-selected", "true")
    selected = page.evaluate("() => window.twin.gantts.list.map(({ gantt, info }) => info.ids[gantt.selected])")
    assert selected == [row.get_attribute("data-job")] * 2
    assert f"job={selected[0]}" in page.url
    page.keyboard.press("Escape")
    expect(row).not_to_have_attribute("aria-selected", "true")
    page.get_by_role("button", name="Show in the schedules").click()
    assert page.evaluate("() => window.twin.playhead.ms === window.twin.answer.divergences[0].at_ms")


def test_the_schedules_are_shown_by_server_too(open_page: Callable[..., Page], compared: dict[str, str]) -> None:
    page = open_page(f"{compared['path']}&rows=servers")
    page.wait_for_function(
        "() => window.twin?.gantts.list.length === 2 && "
        "window.twin.gantts.list.every(({ gantt }) => gantt.rows.list.some((row) => row.kind === 'server'))"
    )
    expect(page.locator("#panel-gantts .gantt-head").first).to_contain_text(re.compile(r"\d+ servers"))
    expect(page.get_by_text("This panel failed")).to_have_count(0)


def test_differences_are_filtered_and_the_address_keeps_it(
    open_page: Callable[..., Page], compared: dict[str, str]
) -> None:
    page = open_page(compared["path"])
    count = page.locator("#kinds [data-kind=rejected] b, #kinds [data-kind=not_rejected] b")
    expect(count.first).to_be_visible()
    kind = "rejected" if int(page.locator("#kinds [data-kind=rejected] b").inner_text()) else "not_rejected"
    page.locator(f"#kinds [data-kind={kind}]").click()
    expect(page.locator("#differences-count")).to_contain_text(" of ")
    page.locator("#panel-breakdown [data-by=site]").click()
    page.reload()
    expect(page.locator(f"#kinds [data-kind={kind}]")).to_have_attribute("aria-pressed", "true")
    expect(page.locator("#breakdown")).to_contain_text("edge")
    for row in page.locator("#differences tbody tr").all():
        expect(row).to_contain_text(kind.replace("_", " "))


def test_each_chart_has_its_numbers_and_each_table_its_file(
    open_page: Callable[..., Page], compared: dict[str, str]
) -> None:
    page = open_page(compared["path"])
    page.wait_for_function("() => window.twin?.gantts.list.length === 2")
    page.locator("#spread-table").click()
    expect(page.locator("#spread-numbers tbody tr")).to_have_count(6)
    page.locator("#gantts-table").click()
    expect(page.locator("#gantts-numbers tbody tr").first).to_be_visible()
    for button, first in (
        ("#metrics-csv", "metric,unit,direction"),
        ("#differences-csv", "job,model,arrived_ms,kinds"),
    ):
        with page.expect_download() as download:
            page.locator(button).click()
        assert download.value.path().read_text().startswith(first)


def test_runs_are_chosen_from_a_list(open_page: Callable[..., Page], compared: dict[str, str]) -> None:
    """From the overview with two ticks, and on the page itself with none."""
    ids = re.search(r"runs=(\d+),(\d+)", compared["path"])
    assert ids is not None
    page = open_page("/")
    for run in ids.groups():
        page.locator(f"[data-compare='{run}']").check()
    page.get_by_role("link", name="Compare 2 runs").click()
    page.wait_for_url(re.compile(rf"/compare/\?runs={ids[1]},{ids[2]}"))
    page.goto("/compare/")
    page.locator("#choose-q").fill("fifo")
    expect(page.locator("#choose-list tbody tr").filter(has_not_text="FIFO")).to_have_count(0)
    expect(page.locator(f"#pick-{ids[2]}")).to_be_visible()
    expect(page.locator("#compare")).to_be_disabled()
    page.locator(f"#pick-{ids[2]}").check()
    page.locator("#choose-q").fill("")
    page.locator(f"#pick-{ids[1]}").check()
    page.locator("#compare").click()
    page.wait_for_url(re.compile(rf"runs={ids[2]},{ids[1]}"))
    expect(page.locator("#metrics thead")).to_contain_text("FIFO")


def test_the_page_fits_its_width(open_page: Callable[..., Page], compared: dict[str, str]) -> None:
    page = open_page(compared["path"], viewport={"width": 390, "height": 800})
    page.wait_for_function("() => window.twin?.gantts.list.length === 2")
    page.evaluate(FIVE_OTHERS)
    for width in (390, 1280):
        page.set_viewport_size({"width": width, "height": 800})
        assert page.evaluate("() => document.documentElement.scrollWidth") <= width


def test_a_run_that_is_gone_is_said(context) -> None:
    """The refusal is on the console, so this page is opened without a watch on it."""
    page = context.new_page()
    page.goto("/compare/?runs=1,987654")
    expect(page.locator("#notice")).to_contain_text("Run 987654 does not exist; it may have been deleted.")
    expect(page.locator("#choose-list tbody tr").first).to_be_visible()


def test_the_first_column_stays_and_explains_its_metrics(
    open_page: Callable[..., Page], compared: dict[str, str]
) -> None:
    """Two runs fit any page: the box of the table is made narrow, as it is for 15 runs."""
    page = open_page(compared["path"])
    term = page.locator("#metrics button.term").first
    expect(term).to_be_visible()
    page.evaluate("() => document.querySelector('#metrics').style.setProperty('width', '240px')")
    lefts = """() => [...document.querySelectorAll('#metrics thead th:first-child, #metrics tbody th')]
      .map((cell) => cell.getBoundingClientRect().left)"""
    scrolled = "(to) => { const box = document.querySelector('#metrics'); box.scrollLeft = to; return box.scrollLeft; }"
    for width in (390, 1280, 1920):
        page.set_viewport_size({"width": width, "height": 800})
        assert page.evaluate(scrolled, 0) == 0
        before = page.evaluate(lefts)
        assert page.evaluate(scrolled, 40) == 40
        assert page.evaluate(lefts) == before
    term.press("Enter")
    expect(page.locator(".definition")).to_contain_text("Sum of the utilities")


def test_a_live_run_is_followed(open_page: Callable[..., Page], live_run: int) -> None:
    """The note, the metrics and the differences advance with the run, without a reload."""
    page = open_page("/")
    other = posted(page, "/api/scenarios/1/race/", {"schedulers": ["fifo", "drf"]})["runs"][0]["id"]
    page.goto(f"/compare/?runs={other},{live_run}")
    page.wait_for_function("() => window.twin?.answer.at_ms > 0")
    said = page.locator("#notes").inner_text()
    for _ in range(3):
        seen = page.evaluate("() => window.twin.answer.at_ms")
        page.wait_for_function("(ms) => window.twin.answer.at_ms > ms", arg=seen)
    expect(page.locator("#notes")).not_to_have_text(said)
    page.wait_for_function(
        "(ms) => window.twin.gantts.list.every(({ store }) => store.simMs >= ms)",
        arg=page.evaluate("() => window.twin.answer.at_ms"),
    )
