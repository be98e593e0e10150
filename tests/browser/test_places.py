"""Places of texts on a page: none is cut, and like things stand alike."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, ViewportSize, expect

pytestmark = [pytest.mark.browser, pytest.mark.slow]
PHONE: ViewportSize = {"width": 390, "height": 800}
WHOLE = (
    "(element) => element.scrollWidth <= element.clientWidth + 1 && element.scrollHeight <= element.clientHeight + 1"
)


def top(page: Page, selector: str) -> float:
    box = page.locator(selector).bounding_box()
    assert box is not None, f"{selector} is not shown"
    return box["y"]


def test_the_hint_below_the_bar_is_whole_beside_the_drawer(open_page: Callable[..., Page], finished_run: int) -> None:
    page = open_page(f"/runs/{finished_run}/?job=12")
    expect(page.locator("#drawer")).to_be_visible()
    assert page.locator("#readout-text").evaluate(WHOLE)


def test_a_reason_is_whole_in_the_side_column(open_page: Callable[..., Page], finished_run: int) -> None:
    page = open_page(f"/runs/{finished_run}/", viewport={"width": 1920, "height": 900})
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
