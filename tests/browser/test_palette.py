"""The command palette by keyboard: pages, actions, jobs and servers, and the focus when it closes."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

pytestmark = [pytest.mark.browser, pytest.mark.slow]


def test_pages_runs_jobs_and_servers_are_two_keys_and_a_word_away(
    open_page: Callable[..., Page], finished_run: int
) -> None:
    page = open_page("/", viewport={"width": 390, "height": 800})
    page.keyboard.press("Control+k")
    palette = page.get_by_role("dialog", name="Search")
    field = palette.get_by_role("combobox")
    expect(field).to_be_focused()
    expect(palette.get_by_role("group", name="Runs").get_by_role("option").first).to_be_visible()
    field.fill("clust")
    expect(palette.get_by_role("option", name="Clusters", exact=True)).to_have_attribute("aria-selected", "true")
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile("/clusters/$"))

    page.get_by_role("button", name="Search").click()
    field.fill(str(finished_run))
    option = palette.get_by_role("option", name=re.compile(f"^{finished_run} · "))
    expect(option).to_be_visible()
    option.click()
    expect(page).to_have_url(re.compile(f"/runs/{finished_run}/$"))
    page.wait_for_function("() => window.twin?.store.finished")

    page.keyboard.press("Control+k")
    job = page.locator("#jobs tr[data-job]").nth(2).locator("td").nth(0).inner_text()
    field.fill(job)
    expect(palette.get_by_role("group", name=f"Jobs of run {finished_run}").get_by_role("option").first).to_be_visible()
    page.keyboard.press("Enter")
    expect(page.locator("#drawer")).to_contain_text(job)
    assert page.evaluate("() => document.documentElement.scrollWidth") <= 390


def test_letters_typed_right_after_the_shortcut_reach_the_palette(open_page: Callable[..., Page]) -> None:
    page = open_page("/clusters/")
    field = page.evaluate(
        """() => {
            dispatchEvent(new KeyboardEvent('keydown', { key: 'k', ctrlKey: true }));
            return document.activeElement.getAttribute('role');
        }"""
    )
    assert field == "combobox"


def test_the_bar_is_one_line_at_1280_pixels(open_page: Callable[..., Page], finished_run: int) -> None:
    page = open_page(f"/runs/{finished_run}/", viewport={"width": 1280, "height": 800})
    page.wait_for_function("() => window.twin?.store.finished")
    assert page.locator("header.top").bounding_box()["height"] <= 46


def test_arrows_choose_an_action_and_escape_returns_the_focus(
    open_page: Callable[..., Page], finished_run: int
) -> None:
    page = open_page(f"/runs/{finished_run}/")
    page.wait_for_function("() => window.twin?.store.finished")
    page.locator("#play").focus()
    page.keyboard.press("Control+k")
    palette = page.get_by_role("dialog", name="Search")
    palette.get_by_role("combobox").fill("zzzz")
    expect(palette.get_by_role("status")).to_have_text("No results for “zzzz”.")
    page.keyboard.press("Escape")
    expect(palette).to_be_hidden()
    expect(page.locator("#play")).to_be_focused()

    page.keyboard.press("Control+k")
    palette.get_by_role("combobox").fill("t")
    expect(palette.get_by_role("option", name="Overview", exact=True)).to_have_count(0)
    options = palette.get_by_role("option")
    expect(options.first).to_have_attribute("aria-selected", "true")
    page.keyboard.press("ArrowDown")
    expect(options.nth(1)).to_have_attribute("aria-selected", "true")
    palette.get_by_role("combobox").fill("theme")
    theme = page.evaluate("() => document.documentElement.dataset.theme")
    page.keyboard.press("Enter")
    expect(page.locator("html")).not_to_have_attribute("data-theme", theme)
