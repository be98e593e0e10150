"""Places of texts on a page: none is cut, and like things stand alike."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import Page, StorageState, ViewportSize, expect

from tests.browser.conftest import watched
from tests.browser.contexts import Contexts

pytestmark = [pytest.mark.browser, pytest.mark.slow]
PHONE: ViewportSize = {"width": 390, "height": 800}
WHOLE = (
    "(element) => element.scrollWidth <= element.clientWidth + 1 && element.scrollHeight <= element.clientHeight + 1"
)


def top(page: Page, selector: str) -> float:
    box = page.locator(selector).bounding_box()
    assert box is not None, f"{selector} is not shown"
    return box["y"]


@pytest.fixture(scope="module")
def look_at(contexts: Contexts, operator_session: StorageState) -> Iterator[Callable[[str, int], Page]]:
    """look_at(path, width) -> that page, loaded once for all tests of this file that change nothing but its width."""
    loaded: dict[str, Page] = {}
    with watched(contexts, operator_session) as open_page:

        def look_at(path: str, width: int) -> Page:
            size: ViewportSize = {"width": width, "height": 900}
            if path not in loaded:
                loaded[path] = open_page(path, viewport=size)
            loaded[path].set_viewport_size(size)
            return loaded[path]

        yield look_at


def test_the_hint_below_the_bar_is_whole_beside_the_drawer(
    look_at: Callable[[str, int], Page], finished_run: int
) -> None:
    page = look_at(f"/runs/{finished_run}/?job=12", 1280)
    expect(page.locator("#drawer")).to_be_visible()
    assert page.locator("#readout-text").evaluate(WHOLE)


@pytest.mark.parametrize("width", [1110, 1280, 1430])
def test_nothing_lies_beneath_the_drawer(look_at: Callable[[str, int], Page], finished_run: int, width: int) -> None:
    page = look_at(f"/runs/{finished_run}/?job=12", width)
    expect(page.locator("#drawer h2").first).to_be_visible()
    expect(page.locator("#jobs tr[data-job]").first).to_be_visible()
    drawer = page.locator("#drawer").bounding_box()
    assert drawer is not None
    left = drawer["x"]
    assert left >= width - 410
    for part in ("#exports", "#live", "#panel-gantt", "#gantt", "#panel-jobs", "#jobs-state"):
        box = page.locator(part).bounding_box()
        assert box is not None, part
        assert box["x"] + box["width"] <= left, part
    assert page.evaluate("document.documentElement.scrollWidth") <= width


@pytest.mark.parametrize("time", ["", "?t=70000000"])
def test_the_drawer_leaves_the_schedule_where_it_is(
    open_page: Callable[..., Page], finished_run: int, time: str
) -> None:
    page = open_page(f"/runs/{finished_run}/{time}", viewport={"width": 1280, "height": 900})
    expect(page.locator("#jobs tr[data-job]").first).to_be_visible()
    before = top(page, "#panel-gantt")
    page.locator("#jobs tr[data-job]").first.click()
    expect(page.locator("#drawer h2").first).to_be_visible()
    page.evaluate("scrollTo(0, 0)")
    assert top(page, "#panel-gantt") == before


def test_an_enlarged_chart_is_in_view_with_its_axis_and_a_way_back(
    open_page: Callable[..., Page], finished_run: int
) -> None:
    page = open_page(f"/runs/{finished_run}/", viewport=PHONE)
    expect(page.locator("#prices-legend .key").first).to_be_visible()
    page.evaluate("twin.bench.enlarge('panel-prices')")
    canvas = page.locator("#prices").bounding_box()
    assert canvas is not None
    assert canvas["y"] + canvas["height"] <= PHONE["height"]
    page.locator("#panel-prices .panel-close").click()
    expect(page.locator(".enlarged")).to_have_count(0)


def test_five_waits_of_two_lines_are_whole_on_the_overview(open_page: Callable[..., Page]) -> None:
    page = open_page("/")
    waits = page.locator("#present-waiting")
    expect(waits.locator("li").first).to_be_visible()
    wait = "<li><a>j0001</a> since 08:26:11<div class='muted small'>Postponed</div></li>"
    heights = "(list, rows) => { list.innerHTML = rows; return [list.scrollHeight, list.clientHeight]; }"
    content, room = waits.evaluate(heights, wait * 5)
    assert content <= room


def test_a_reason_is_whole_in_the_side_column(look_at: Callable[[str, int], Page], finished_run: int) -> None:
    page = look_at(f"/runs/{finished_run}/", 1920)
    expect(page.locator("#jobs tr[data-job]").first).to_be_visible()
    assert all(cell.evaluate(WHOLE) for cell in page.locator("#jobs td.wide").all())


def test_the_filters_of_the_audit_list_stand_in_pairs(open_page: Callable[..., Page]) -> None:
    page = open_page("/audit/", viewport=PHONE)
    expect(page.locator("#list td").first).to_be_visible()
    assert top(page, "#since") == top(page, "#until")
    assert top(page, "#user") == top(page, "#action")


def test_the_buttons_of_a_phone_stay_beside_the_name(open_page: Callable[..., Page], finished_run: int) -> None:
    page = open_page(f"/runs/{finished_run}/", viewport=PHONE)
    expect(page.locator("#connection")).to_be_visible()
    page.locator("#connection").evaluate("(badge) => { badge.textContent = 'complete, ended at 321d 15:40:04'; }")
    assert top(page, "#theme") < top(page, "#connection")
    assert abs(top(page, "#theme") - top(page, ".brand")) < 10
    page.goto("/audit/")
    header = page.locator("header.top").bounding_box()
    assert header is not None
    assert header["height"] < 80, "there is no empty line"


def test_the_claims_of_experiments_have_what_the_other_columns_leave(open_page: Callable[..., Page]) -> None:
    page = open_page("/experiments/")
    cells = page.locator("#papers table").first.locator("thead tr > *")
    expect(cells).to_have_count(6)
    widths = [cell.bounding_box()["width"] for cell in cells.all()]
    assert widths[1] > 400
    assert widths[5] < 130


def test_a_trace_without_skipped_rows_has_a_low_card_for_them(open_page: Callable[..., Page]) -> None:
    page = open_page("/traces/1/")
    expect(page.get_by_text("No skipped rows")).to_be_visible()
    card = page.locator("section:has(> #skipped)").bounding_box()
    assert card is not None
    assert card["height"] < 220


@pytest.mark.parametrize("width", [1280, 1920])
def test_the_tools_of_the_schedule_take_one_line(
    look_at: Callable[[str, int], Page], finished_run: int, width: int
) -> None:
    page = look_at(f"/runs/{finished_run}/", width)
    expect(page.locator("#gantt-count")).to_contain_text("servers")
    expect(page.locator("#panel-gantt .panel-menu")).to_be_visible()
    header = page.locator("#panel-gantt > header").bounding_box()
    assert header is not None
    assert header["height"] < 45
    placeholder = "(field) => field.scrollWidth <= field.clientWidth"
    assert page.locator("#job-search").evaluate(placeholder)
