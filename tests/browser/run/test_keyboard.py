"""The run page by keyboard: how far the jobs are, where the focus is when the drawer closes or a table is repainted."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

pytestmark = [pytest.mark.browser, pytest.mark.slow]
LOADED = "() => window.twin?.store.finished && document.querySelector('#jobs tr[data-job]')"
IN_JOBS = "() => Boolean(document.activeElement.closest('#panel-jobs'))"
MAX_STOPS = 15


def test_a_link_leads_to_the_jobs_and_toolbars_are_one_stop(open_page: Callable[..., Page], finished_run: int) -> None:
    page = open_page(f"/runs/{finished_run}/")
    page.wait_for_function(LOADED)
    stops = 0
    while page.evaluate("() => document.activeElement.textContent") != "Skip to the jobs":
        page.keyboard.press("Tab")
        stops += 1
        assert stops <= MAX_STOPS
    page.keyboard.press("Enter")
    while not page.evaluate("() => Boolean(document.activeElement.closest('#jobs'))"):
        page.keyboard.press("Tab")
        stops += 1
        assert stops <= MAX_STOPS
    toolbars = page.evaluate(
        """() => [...document.querySelectorAll('[role="toolbar"]')]
          .filter((bar) => bar.checkVisibility({ contentVisibilityAuto: true })
          || bar.querySelector('button')?.checkVisibility())
          .map((bar) => [...bar.querySelectorAll('button, a[href], select, input:not([type=range])')]
          .filter((one) => one.tabIndex === 0 && !one.disabled && one.checkVisibility()).length)"""
    )
    assert len(toolbars) >= 5
    assert set(toolbars) == {1}


def test_without_the_links_the_way_to_the_jobs_is_short_too(open_page: Callable[..., Page], finished_run: int) -> None:
    page = open_page(f"/runs/{finished_run}/")
    page.wait_for_function(LOADED)
    page.locator("#play").focus()
    stops = 0
    while not page.evaluate(IN_JOBS):
        page.keyboard.press("Tab")
        stops += 1
        assert stops <= MAX_STOPS


def test_arrow_keys_go_through_a_toolbar(open_page: Callable[..., Page], finished_run: int) -> None:
    page = open_page(f"/runs/{finished_run}/")
    page.wait_for_function(LOADED)
    page.locator("#gantt-rows button").first.focus()
    page.keyboard.press("ArrowRight")
    expect(page.locator("#gantt-rows button").nth(1)).to_be_focused()
    page.locator("#job-search").fill("vgg")
    page.keyboard.press("ArrowLeft")
    expect(page.locator("#job-search")).to_be_focused()  # inside the text
    page.keyboard.press("End")
    page.keyboard.press("ArrowRight")
    expect(page.locator("#gantt-fold")).to_be_focused()  # hidden controls are passed over


def test_the_focus_returns_to_the_row_that_opened_the_drawer(open_page: Callable[..., Page], finished_run: int) -> None:
    page = open_page(f"/runs/{finished_run}/")
    page.wait_for_function(LOADED)
    row = page.locator("#jobs tr[data-job='4']")
    row.focus()
    page.keyboard.press("Enter")
    expect(page.locator("#drawer h1")).to_have_text("j0005")
    expect(page.locator("#drawer-close")).to_be_focused()
    page.keyboard.press("Escape")
    expect(row).to_be_focused()
    page.keyboard.press("Enter")
    page.evaluate("() => { window.before = document.querySelector('#jobs tr[data-job]'); }")
    page.locator("#play").dispatch_event("click")  # the time advances and the table is painted again
    page.wait_for_function(
        "() => !window.before.isConnected && document.querySelector('#drawer-close') === document.activeElement"
    )
    page.locator("#live").dispatch_event("click")
    page.wait_for_function("() => window.twin.playhead.following && document.querySelector(\"#jobs tr[data-job='4']\")")
    page.locator("#drawer-close").press("Enter")
    expect(row).to_be_focused()


def test_the_focus_returns_to_the_schedule_when_a_bar_opened_the_drawer(
    open_page: Callable[..., Page], finished_run: int
) -> None:
    page = open_page(f"/runs/{finished_run}/?rows=jobs")
    page.wait_for_function(LOADED)
    page.locator("#gantt").click(position={"x": 600, "y": 60})
    expect(page.locator("#drawer-close")).to_be_focused()
    page.keyboard.press("Escape")
    expect(page.locator("#gantt")).to_be_focused()


def test_a_drawer_opened_by_the_address_leaves_the_focus_at_its_job(
    open_page: Callable[..., Page], finished_run: int
) -> None:
    page = open_page(f"/runs/{finished_run}/?job=4")
    page.wait_for_function(LOADED)
    expect(page.locator("#drawer-close")).to_be_focused()
    page.keyboard.press("Escape")
    expect(page.locator("#jobs tr[data-job='4']")).to_be_focused()


def test_a_sorted_table_keeps_the_focus_on_its_head(open_page: Callable[..., Page], finished_run: int) -> None:
    page = open_page(f"/runs/{finished_run}/")
    page.wait_for_function(LOADED)
    head = page.locator("#jobs th button", has_text="Model")
    head.focus()
    page.keyboard.press("Enter")
    expect(page.locator("#jobs th[aria-sort]")).to_have_text("Model ▲")
    expect(head).to_be_focused()
