"""Logging in, roles, themes, and a live run as several pages see it."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import Twin, watched
from tests.browser.contexts import Contexts

pytestmark = [pytest.mark.browser, pytest.mark.slow]
STATE = """() => { const { store } = window.twin; const sum = (a, n) => a.subarray(0, n).reduce((x, y) => x + y, 0);
  return [store.lastSeq, store.simMs, store.jobs.length, store.bars.length, sum(store.bars.end_ms, store.bars.length),
    sum(store.bars.died_ms, store.bars.length), sum(store.jobs.finish_ms, store.jobs.length),
    JSON.stringify(store.verdicts)]; }"""

# What the badge says after each change; it is offline for at most a quarter of a second, which a look may miss.
BADGES = """() => { window.badges = []; const badge = document.querySelector('#connection');
  window.twin.stream.addEventListener('connection', () => window.badges.push(badge.textContent)); }"""


def test_nothing_is_open_without_a_login_and_a_link_works_once(contexts: Contexts, twin: Twin) -> None:
    with watched(contexts, None) as open_page:
        page = open_page("/")
        expect(page).to_have_url(re.compile("/login/"))
        link = twin.login_link()
        page.goto(link)
        expect(page.get_by_role("heading", name="Overview")).to_be_visible()
    with contexts.lent() as context:
        assert context.new_page().goto(link).status == 403


def test_a_viewer_sees_everything_and_can_change_nothing(contexts: Contexts, twin: Twin, live_run: int) -> None:
    with watched(contexts, None) as open_page:
        page = open_page(twin.login_link("viewer"))
        expect(page.locator(".run-card").first).to_be_visible()
        expect(page.get_by_role("link", name="New run")).to_have_count(0)
        page.goto("/traces/")
        expect(page.locator("#list tbody tr").first).to_be_visible()
        expect(page.locator("#upload")).to_have_count(0)
        page.goto(f"/runs/{live_run}/")
        page.wait_for_function("() => window.twin?.store.lastSeq > 0")
        expect(page.get_by_role("button", name="Pause run")).to_have_count(0)


def test_the_chosen_theme_stays(open_page: Callable[..., Page]) -> None:
    page = open_page("/")
    page.get_by_role("button", name="Dark").click()
    page.reload()
    assert page.evaluate("() => document.documentElement.dataset.theme") == "dark"
    expect(page.get_by_role("button", name="Light")).to_be_visible()


def test_a_theme_that_nobody_chose_is_that_of_the_system(open_page: Callable[..., Page]) -> None:
    page = open_page("/", color_scheme="light")
    expect(page.get_by_role("button", name="Dark")).to_be_visible()
    page.emulate_media(color_scheme="dark")
    expect(page.get_by_role("button", name="Light")).to_be_visible()
    assert page.evaluate("() => getComputedStyle(document.documentElement).colorScheme") == "dark"


def test_bars_arrive_and_a_page_opened_late_shows_the_same(open_page: Callable[..., Page], live_run: int) -> None:
    """One page watches from early on, one comes late, one is reloaded: the same state after the same event."""
    early = open_page(f"/runs/{live_run}/")
    early.wait_for_function("() => window.twin?.stream.state === 'live' && window.twin.store.lastSeq > 0")
    seen = early.evaluate("() => window.twin.store.lastSeq")
    early.wait_for_function("(seen) => window.twin.store.lastSeq > seen", arg=seen)
    early.get_by_role("button", name="Pause run").click()
    expect(early.locator("#status")).to_have_text("paused")
    late = open_page(f"/runs/{live_run}/")
    late.wait_for_function("() => window.twin?.store.lastSeq > 0")
    early.wait_for_function(
        "(seq) => window.twin.store.lastSeq >= seq", arg=late.evaluate("() => window.twin.store.lastSeq")
    )
    late.wait_for_function(
        "(seq) => window.twin.store.lastSeq >= seq", arg=early.evaluate("() => window.twin.store.lastSeq")
    )
    assert late.evaluate(STATE) == early.evaluate(STATE)
    early.get_by_role("button", name="Resume run").click()
    expect(early.locator("#status")).to_have_text("running")
    early.wait_for_function(
        "(seen) => window.twin.store.lastSeq > seen", arg=late.evaluate("() => window.twin.store.lastSeq")
    )
    late.wait_for_function(
        "(seq) => window.twin.store.lastSeq >= seq", arg=early.evaluate("() => window.twin.store.lastSeq")
    )


def test_a_lost_connection_is_said_and_mended(open_page: Callable[..., Page], live_run: int) -> None:
    """The socket breaks; the badge says so; the page listens again and misses nothing."""
    page = open_page(f"/runs/{live_run}/")
    page.wait_for_function("() => window.twin?.stream.state === 'live'")
    before = page.evaluate("() => window.twin.store.lastSeq")
    page.evaluate(BADGES)
    page.evaluate("() => window.twin.stream.line.socket.close()")
    page.wait_for_function(
        "() => window.badges.some((text) => text.startsWith('offline')) && window.badges.at(-1).startsWith('connected')"
    )
    page.wait_for_function("(seq) => window.twin.store.lastSeq > seq", arg=before)
