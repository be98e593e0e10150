"""The prices of a run in several plots and as a heat map, and the jobs that hold a resource at one time."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from tests.browser.boxes import box_at_rest

pytestmark = [pytest.mark.browser, pytest.mark.slow]
LOADED = "() => window.twin?.store.finished"


def test_a_heat_map_has_a_colour_bar_with_ends_unit_and_mark(open_page: Callable[..., Page], finished_run: int) -> None:
    page = open_page(f"/runs/{finished_run}/?prices=heat")
    page.wait_for_function(LOADED)
    key = page.locator("#prices-legend button.key", has_text="edge GPU")
    low, high, mark = (key.locator(f".color-bar {part}") for part in (".low", ".high", ".ramp i"))
    expect(low).to_have_text(re.compile(r"^[\d.e-]+$"))
    expect(high).to_have_text(re.compile(r"^[\d.,]+ per GPU$"))
    expect(key.locator("b")).to_have_text(re.compile(r"^[\d.e-]+$"))
    canvas = page.locator("#prices")
    box = box_at_rest(canvas)
    before = mark.get_attribute("style")
    page.mouse.move(box["x"] + box["width"] * 0.4, box["y"] + 30)
    expect(mark).not_to_have_attribute("style", before or "")
    page.select_option("#prices-layout", "")
    expect(page.locator("#prices-legend .color-bar")).to_have_count(0)


def test_layouts_of_the_prices_and_who_holds_a_resource(open_page: Callable[..., Page], finished_run: int) -> None:
    page = open_page(f"/runs/{finished_run}/")
    page.wait_for_function(LOADED)
    page.select_option("#prices-layout", "resource")
    plot = page.locator("#panel-prices .plot")
    expect(plot).to_have_class(re.compile("several"))
    assert "prices=resource" in page.url
    canvas = page.locator("#prices")
    box = box_at_rest(canvas)
    assert box["height"] > 300
    page.mouse.click(box["x"] + box["width"] * 0.4, box["y"] + 30)  # in the plot of the first resource
    holders = page.locator("#prices-holders")
    expect(holders.locator("h3")).to_have_text(re.compile(r"Why this price: (edge|cloud) GPU at "))
    expect(holders.locator("p").first).to_have_text(
        re.compile(r"Price [\d.]+ per GPU\. \d+ jobs? holds? [\d.,]+ GPU of")
    )
    holders.get_by_role("button", name=re.compile("Table")).click()
    expect(holders.locator("tbody tr").first).to_be_visible()
    holders.locator("li button").first.click()
    expect(page.locator("#drawer h1")).to_be_visible()
    page.keyboard.press("Escape")
    page.select_option("#prices-layout", "heat")
    canvas.focus()
    page.keyboard.press("]")
    page.keyboard.press("Enter")
    expect(holders.locator("h3")).to_have_text(re.compile("Why this price"))
    holders.get_by_role("button", name="Close").click()
    expect(holders).to_be_hidden()
    page.goto(f"/runs/{finished_run}/?prices=site")
    page.wait_for_function(LOADED)
    expect(page.locator("#prices-layout")).to_have_value("site")
    page.select_option("#prices-layout", "")
    expect(plot).not_to_have_class(re.compile("several"))
