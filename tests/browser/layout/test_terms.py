"""Definitions of metrics: by mouse, by keyboard and by touch, on tiles and in the metrics of a run."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import Locator, Page, expect

pytestmark = [pytest.mark.browser, pytest.mark.slow]
LOADED = "() => window.twin?.store.finished"


# Ends once the element has kept its place for ten frames; the mouse, which opens definitions by itself, stays away
RESTS = """async (element) => {
  for (let still = 0, was = 0; still < 10; ) {
    await new Promise(requestAnimationFrame);
    const { top } = element.getBoundingClientRect();
    still = top === was ? still + 1 : 0;
    was = top;
  }
}"""


def tap(page: Page, element: Locator) -> None:
    """A touch of one finger on the middle of the element."""
    element.evaluate(RESTS)
    box = element.bounding_box()
    assert box
    finger = {"x": box["x"] + box["width"] / 2, "y": box["y"] + box["height"] / 2}
    devtools = page.context.new_cdp_session(page)
    devtools.send("Input.dispatchTouchEvent", {"type": "touchStart", "touchPoints": [finger]})
    devtools.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})


def test_a_tile_explains_its_metric_by_mouse_and_keyboard(open_page: Callable[..., Page], finished_run: int) -> None:
    page = open_page(f"/runs/{finished_run}/")
    page.wait_for_function(LOADED)
    tile, definition = page.locator("#tiles button.term", has_text="GPU allocation"), page.locator(".definition")
    tile.hover()
    expect(definition).to_contain_text("GPU held × time")
    page.mouse.move(5, 600)
    expect(definition).to_be_hidden()
    tile.click()
    expect(definition).to_contain_text("Higher is better.")
    page.mouse.move(5, 600)
    tile.click()
    expect(definition).to_be_hidden()
    page.locator("#tiles button.term").first.focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    expect(definition).to_contain_text("Queued")
    page.keyboard.press("Escape")
    expect(definition).to_be_hidden()
    stops = page.evaluate(
        "() => [...document.querySelectorAll('#tiles button')].filter((b) => b.tabIndex === 0).length"
    )
    assert stops == 1


def test_a_metric_of_a_run_is_explained_by_touch(open_page: Callable[..., Page], finished_run: int) -> None:
    page = open_page(f"/runs/{finished_run}/", viewport={"width": 390, "height": 800})
    page.wait_for_function(LOADED)
    metric = page.locator("#panel-metrics button.term", has_text="Makespan")
    metric.evaluate("(button) => button.scrollIntoView({ block: 'center' })")  # not below the fixed bar
    tap(page, metric)
    expect(page.locator(".definition")).to_contain_text("Last completion − first arrival.")
    box = page.locator(".definition").bounding_box()
    assert box
    assert box["x"] >= 0
    assert box["x"] + box["width"] <= 390
    tap(page, metric)
    expect(page.locator(".definition")).to_be_hidden()
