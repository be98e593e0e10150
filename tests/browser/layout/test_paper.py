"""Pages on paper: nothing is wider than the sheet, and no panel is empty."""

from __future__ import annotations

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
