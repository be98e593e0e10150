"""Cumulative layout shift of every page while it loads: at most 0.05, on narrow and on wide screens."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import posted

pytestmark = [pytest.mark.browser, pytest.mark.slow]
MAX_SHIFT = 0.05
PATHS = (
    "/", "/live/", "/alerts/", "/traces/", "/clusters/", "/scenarios/", "/sweeps/", "/experiments/", "/compare/",
    "/audit/", "/scenarios/1/", "/settings/tokens/",
)  # fmt: skip
# the entries from before this call are buffered
SHIFT = """() => new Promise((resolve) => new PerformanceObserver((list) => resolve(list.getEntries()
  .filter((entry) => !entry.hadRecentInput).reduce((sum, entry) => sum + entry.value, 0)))
  .observe({ type: 'layout-shift', buffered: true }) || setTimeout(() => resolve(0), 500))"""


@pytest.mark.parametrize("width", [390, 1280, 1920])
def test_a_page_keeps_its_places_while_it_loads(
    open_page: Callable[..., Page], finished_run: int, live_run: int, followed: str, width: int
) -> None:
    page = open_page("/", viewport={"width": width, "height": 800})
    axes = [{"parameter": "floor_scale", "values": [0.5, 1]}]
    sweep = posted(page, "/api/sweeps/", {"scenario": 1, "axes": axes, "seeds": [0]})
    assert "id" in sweep, sweep
    followers = {
        f"/runs/{finished_run}/": "#jobs tr[data-job]",
        f"/runs/{live_run}/": "#jobs tr[data-job]",
        f"/runs/{finished_run}/?job=3&t=36000000": "#drawer .step",
        f"/runs/{finished_run}/servers/0/": "main:not([data-waits]) #jobs :is(table, .empty)",
        f"/live/{followed}/": ".follow-facts",
    }  # pages that stay connected, with what stands there once they are complete
    tabs = [f"/live/{followed}/{tab}/" for tab in ("fidelity", "shadows", "plans")]
    moved = {}
    for path in (*PATHS, f"/sweeps/{sweep['id']}/", *tabs, *followers):
        page.goto(path)
        if path in followers:
            page.wait_for_function("() => window.twin?.store.lastSeq > 0")
            page.locator(followers[path]).first.wait_for()
        elif path in tabs:  # they ask again and again
            page.locator("main:not([data-loading], [data-starting])").wait_for()
            expect(page.get_by_text("Loading …")).to_have_count(0)
        else:
            page.wait_for_load_state("networkidle")
        moved[path] = page.evaluate(SHIFT)
    assert {path: shift for path, shift in moved.items() if shift > MAX_SHIFT} == {}
