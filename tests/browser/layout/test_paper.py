"""Pages on paper: nothing is wider than the sheet, no control is printed, and charts are drawn for the sheet."""

from __future__ import annotations

import struct
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, ViewportSize, expect

from tests.browser.conftest import posted

pytestmark = [pytest.mark.browser, pytest.mark.slow]
A4: ViewportSize = {"width": 794, "height": 1123}
FITS = "() => document.documentElement.scrollWidth <= innerWidth"
# Chromium draws no button in a header row that it repeats on the next sheet
REPEATED = "() => [...document.querySelectorAll('th button')].every((b) => getComputedStyle(b).display === 'contents')"
LINES = """() => Math.max(...[...document.querySelectorAll('#jobs td.wide')].map(
  (cell) => Math.round((cell.clientHeight - 8) / parseFloat(getComputedStyle(cell).lineHeight))))"""


def test_a_comparison_is_no_wider_than_its_page(open_page: Callable[..., Page], finished_run: int) -> None:
    page = open_page("/", viewport=A4)
    other = posted(page, "/api/scenarios/1/race/", {"schedulers": ["fifo", "drf"]})["runs"][0]["id"]
    page.goto(f"/compare/?runs={finished_run},{other}")
    expect(page.locator("#differences tbody tr").first).to_be_visible()
    page.emulate_media(media="print")
    assert page.evaluate(FITS)
    assert page.locator("#differences th button").count() > 0
    assert page.evaluate(REPEATED)
    expect(page.locator("#metrics .run-head").first).to_be_visible()
    expect(page.get_by_text("make baseline").first).to_be_hidden()


@pytest.mark.parametrize("path", ["/experiments/", "/scenarios/", "/clusters/"])
def test_tables_with_buttons_are_no_wider_than_their_page(open_page: Callable[..., Page], path: str) -> None:
    page = open_page(path, viewport=A4)
    expect(page.locator("main tbody tr").last).to_be_visible()
    page.emulate_media(media="print")
    assert page.evaluate(FITS)


def test_a_comparison_of_a_phone_fits_its_page(open_page: Callable[..., Page], finished_run: int) -> None:
    page = open_page("/", viewport={"width": 390, "height": 800})
    other = posted(page, "/api/scenarios/1/race/", {"schedulers": ["fifo", "drf"]})["runs"][0]["id"]
    page.goto(f"/compare/?runs={finished_run},{other}")
    expect(page.locator("#metrics .run-head").first).to_be_visible()
    page.emulate_media(media="print")
    assert page.evaluate(FITS)


def test_a_run_has_short_rows_and_no_empty_panel(open_page: Callable[..., Page], finished_run: int) -> None:
    page = open_page(f"/runs/{finished_run}/", viewport=A4)
    expect(page.locator("#jobs tr[data-job]").first).to_be_visible()
    page.emulate_media(media="print")
    assert page.evaluate(FITS)
    assert page.evaluate(LINES) <= 2
    expect(page.locator("#panel-events")).to_be_hidden()
    gantt, prices = (page.locator(f"#panel-{name}").bounding_box() for name in ("gantt", "prices"))
    assert gantt is not None
    assert prices is not None
    assert prices["y"] - gantt["y"] - gantt["height"] >= 10


SHEET_PX = 718  # of A4 with the margins of browsers
# px of a chart's drawing for each px of the sheet: below 1 its texts are smaller than those around it
DRAWN = """() => [...document.querySelectorAll('main .plot canvas')].filter((c) => c.offsetParent)
  .map((c) => [c.id, parseFloat(c.style.width) / c.getBoundingClientRect().width, c.width / c.offsetWidth])"""
CONTROLS = """() => [...document.querySelectorAll('main :is(input, textarea, button:not(.key, .term, .link, .state))')]
  .filter((e) => e.checkVisibility() && e.getBoundingClientRect().width).map((e) => e.id || e.textContent)"""
BOXED = """() => [...document.querySelectorAll('main select')]
  .filter((e) => e.checkVisibility() && getComputedStyle(e).borderStyle !== 'none').map((e) => e.id)"""


def on_paper(page: Page) -> None:
    """The page as its browser prints it: the event comes first, then the layout of the sheet."""
    page.evaluate("() => dispatchEvent(new Event('beforeprint'))")
    page.set_viewport_size({"width": SHEET_PX, "height": 1047})
    page.emulate_media(media="print")


@pytest.mark.parametrize("width", [390, 1280, 1920])
def test_charts_are_drawn_for_the_sheet(open_page: Callable[..., Page], finished_run: int, width: int) -> None:
    page = open_page(f"/runs/{finished_run}/", viewport={"width": width, "height": 900})
    expect(page.locator("#jobs tr[data-job]").first).to_be_visible()
    on_paper(page)
    drawn = page.evaluate(DRAWN)
    assert len(drawn) >= 4
    assert [name for name, size, _ in drawn if not 0.95 < size < 1.05] == []
    assert [name for name, _, pixels in drawn if pixels < 2] == [], "coarse on paper"
    assert page.evaluate(CONTROLS) == []
    assert page.evaluate(BOXED) == []
    page.emulate_media(media="screen")
    page.set_viewport_size({"width": width, "height": 900})
    page.evaluate("() => dispatchEvent(new Event('afterprint'))")
    chart, plot = (page.locator(place).bounding_box() for place in ("#gantt", ".plot.gantt"))
    assert chart is not None
    assert plot is not None
    assert abs(chart["width"] - plot["width"]) < 2


def test_a_printed_comparison_has_long_bars_and_no_controls(open_page: Callable[..., Page], finished_run: int) -> None:
    page = open_page("/")
    other = posted(page, "/api/scenarios/1/race/", {"schedulers": ["fifo", "drf"]})["runs"][0]["id"]
    page.goto(f"/compare/?runs={finished_run},{other}")
    expect(page.locator("#differences tbody tr").first).to_be_visible()
    on_paper(page)
    bars = page.locator("#ranking .track").evaluate_all("(all) => all.map((one) => one.offsetWidth)")
    assert min(bars) > 200
    assert page.evaluate(CONTROLS) == []
    assert page.evaluate(BOXED) == []


def test_a_printed_overview_has_no_controls(open_page: Callable[..., Page], finished_run: int) -> None:
    page = open_page("/")
    expect(page.locator(".run-card").first).to_be_visible()
    on_paper(page)
    assert page.evaluate(FITS)
    assert page.evaluate(CONTROLS) == []
    assert page.evaluate(BOXED) == []


@pytest.mark.parametrize("width", [390, 1280])
def test_a_picture_of_a_chart_is_as_wide_on_every_screen(
    open_page: Callable[..., Page], finished_run: int, width: int
) -> None:
    page = open_page(f"/runs/{finished_run}/", viewport={"width": width, "height": 900})
    expect(page.locator("#jobs tr[data-job]").first).to_be_visible()
    panel = page.locator("#panel-utilization")
    panel.scroll_into_view_if_needed()
    before = panel.bounding_box()
    panel.locator(".panel-menu").click()
    with page.expect_download() as saved:
        page.get_by_role("button", name="Save as PNG").click()
    assert struct.unpack(">I", saved.value.path().read_bytes()[16:20]) == (1600,)  # the width in the head of the file
    assert panel.bounding_box() == before
