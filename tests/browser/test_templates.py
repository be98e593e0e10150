"""Templates of runs: a click starts one and opens its page."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

pytestmark = [pytest.mark.browser, pytest.mark.slow]


def test_a_click_opens_the_run_and_a_second_one_uses_its_scenario(open_page: Callable[..., Page]) -> None:
    page = open_page("/scenarios/")
    opened = []
    for _ in range(2):
        page.goto("/scenarios/")
        page.get_by_role("button", name="Edge failure").click()
        expect(page).to_have_url(re.compile(r"/runs/\d+/"))
        expect(page.get_by_role("heading", name="Edge failure")).to_be_visible()
        opened.append(page.url)
    assert opened[0] != opened[1]
    page.goto("/scenarios/")
    expect(page.locator("#list a[href^='/scenarios/']:not(.button)", has_text="Edge failure")).to_have_count(1)


def test_a_template_with_rivals_opens_their_comparison(open_page: Callable[..., Page]) -> None:
    page = open_page("/scenarios/")
    page.get_by_role("button", name="Flash crowd").click()
    expect(page).to_have_url(re.compile(r"/compare/\?runs=\d+(,|%2C)\d+(,|%2C)\d+$"))
