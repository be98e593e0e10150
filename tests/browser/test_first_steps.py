"""The first steps of an operator, by doing them."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

pytestmark = pytest.mark.browser


def test_steps_are_ticked_by_doing_them(open_page: Callable[..., Page], finished_run: int) -> None:
    """A rejected job, a preview and a fork; then the card is skipped, and shown again."""
    page = open_page("/")
    page.evaluate("() => localStorage.removeItem('first-steps')")
    page.reload()
    card = page.locator("#first-steps")
    expect(card.locator(".next a")).to_have_text("Find a rejected job")
    card.get_by_role("link", name="Find a rejected job").click()
    page.wait_for_url(re.compile(r"/runs/\d+/\?state=rejected"))
    page.goto(f"/runs/{finished_run}/?state=rejected")  # the run that the link opens depends on earlier tests
    page.locator("#jobs tr[data-job]").first.click()
    expect(page.locator("#drawer")).to_contain_text("What would have changed the decision")
    page.goto("/")
    expect(card.locator("[data-step=rejected]")).to_have_class(re.compile("done"))
    card.get_by_role("link", name="Preview one more job").click()
    expect(page.locator("#jobs tr[data-job]").first).to_be_attached()
    expect(page.locator("#panel-ask h2")).to_be_in_viewport()
    page.locator("#ask").click()
    expect(page.locator("#panel-ask .error")).to_be_hidden()
    expect(page.locator("#panel-ask .answer")).not_to_be_empty()
    page.goto(f"/runs/{finished_run}/")
    page.get_by_role("button", name="What-if").click()
    page.wait_for_url(re.compile(r"/scenarios/\d+/"))
    page.goto("/")
    expect(page.locator("#steps-count")).to_have_text("3 of 6 done")
    expect(card.locator(".next a")).to_have_text("Fail a server in the fork")
    page.get_by_role("button", name="Skip").click()
    expect(card).to_be_hidden()
    page.reload()
    expect(page.locator("#runs-card")).to_be_visible()
    expect(card).to_be_hidden()
    page.get_by_role("button", name="First steps").click()
    expect(card).to_be_visible()
    for width in (390, 1280):
        page.set_viewport_size({"width": width, "height": 900})
        assert page.evaluate("() => document.documentElement.scrollWidth") <= width
