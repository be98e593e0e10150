"""A lost server of a live cluster: it opens an alert, is acknowledged, and ends, and nothing on the pages moves."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import MAX_WAIT_MS, Twin, posted
from tests.browser.pushed import Pushed

pytestmark = [pytest.mark.browser, pytest.mark.slow]
SHIFTS = """() => { window.shifted = 0; window.shifts = []; new PerformanceObserver((list) => {
  for (const one of list.getEntries()) if (!one.hadRecentInput) { window.shifted += one.value;
    for (const {node, previousRect: was, currentRect: is} of one.sources) window.shifts.push(
      `${node?.id || node?.className || node?.nodeName}: ${was.x},${was.y} ${was.width}x${was.height}`
      + ` -> ${is.x},${is.y} ${is.width}x${is.height}`); }
  }).observe({ type: 'layout-shift' }); }"""


@pytest.fixture
def source(open_page: Callable[..., Page], twin: Twin) -> Pushed:
    """A cluster of two nodes that is followed."""
    page = open_page("/live/")
    token = posted(page, "/api/tokens/", {"name": "alerting", "scopes": ["ingest:alerting"]})["value"]
    source = Pushed(twin.url, "alerting", token)
    source.begin()
    body = {"name": "alerting", "connector": "push", "parameters": {"source": "alerting"}}
    posted(page, "/api/connections/", body)
    page.goto("/live/alerting/")
    page.wait_for_function("() => window.twin?.store.bars.length > 0", timeout=2 * MAX_WAIT_MS)
    return source


def test_a_lost_server_opens_an_alert_that_is_acknowledged_and_ends(
    open_page: Callable[..., Page], source: Pushed
) -> None:
    page, overview = open_page("/alerts/", refused=400), open_page("/")
    own = page.locator("#open tbody tr", has_text="alerting")
    expect(page.locator("#rules-list tbody tr")).not_to_have_count(0)
    clear = page.get_by_label("Time in s after which alerts of the rule Unavailable server end")
    clear.fill("0")
    clear.blur()
    run = overview.locator("#present-run option", has_text="alerting").first
    overview.select_option("#present-run", value=run.get_attribute("value"))
    attention = overview.locator("#present-attention")
    expect(attention).to_contain_text("Nothing in this run needs attention")
    for one in (page, overview):
        one.wait_for_load_state("networkidle")
        one.evaluate(SHIFTS)
    source.post(source.event("node.changed", "gpu2", state="down", reason="not responding"))
    expect(own).to_contain_text("Server gpu2", timeout=2 * MAX_WAIT_MS)
    expect(attention).to_contain_text("Server gpu2")
    expect(attention.get_by_role("link", name=re.compile("gpu2"))).to_have_attribute(
        "href", re.compile(r"/runs/\d+/servers/1/")
    )
    expect(overview.locator("#alert-count")).to_have_text(re.compile(r"[1-9]"))
    assert overview.evaluate("() => window.shifted") < 0.01, overview.evaluate("() => window.shifts")
    own.get_by_role("button", name="Acknowledge").click()
    expect(own.get_by_role("button")).to_have_count(0)
    expect(attention).to_contain_text("acknowledged")
    source.post(source.event("node.changed", "gpu2", state="up"))
    expect(own).to_have_count(0, timeout=2 * MAX_WAIT_MS)
    expect(page.locator("#history tbody tr", has_text="gpu2").first).to_contain_text("cleared")
    expect(attention).to_contain_text("Nothing in this run needs attention")
    clear.fill("-1")
    clear.blur()
    expect(page.locator("#rules-error")).to_contain_text("clear_s must be 0 to 86,400 s, got -1")
