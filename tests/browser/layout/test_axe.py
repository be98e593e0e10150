"""axe-core finds no fault on any page, and no page is wider than its window, wide and narrow."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, expect

from benchmarks._demo import edited, swept

pytestmark = [pytest.mark.browser, pytest.mark.slow]
EXPERIMENT = "/experiments/oasis_fig07_testbed_utility/"
WIDE, NARROW = 1280, 390
DARK = ("/", "/traces/1/", "/compare/", "/styleguide/")
COLOURS = {"runOnly": ["color-contrast"]}  # the only rule whose result depends on the theme
WIDER = "() => { const { scrollWidth } = document.documentElement; return scrollWidth > innerWidth ? scrollWidth : 0; }"
CHANGED = "() => document.getAnimations().every((one) => !(one instanceof CSSTransition))"


def faults(page: Page, dark: bool = False) -> list[str]:
    """'rule (impact): n, the first element' of every fault on the page now; its width if it scrolls sideways.

    dark: contrast in the dark theme, too. tests/js/ui/theme.test.js checks all text colours of both themes.
    """
    found = Axe().run(page).response["violations"]
    if dark:
        page.emulate_media(color_scheme="dark")
        expect(page.locator("html")).to_have_attribute("data-theme", "dark")
        page.wait_for_function(CHANGED)
        found += Axe().run(page, options=COLOURS).response["violations"]
        page.emulate_media(color_scheme="light")
    wide = page.evaluate(WIDER)
    return [
        f"{rule['id']} ({rule['impact']}): {len(rule['nodes'])}, {rule['nodes'][0]['html'][:200]}" for rule in found
    ] + ([f"wider than its window: {wide} px"] if wide else [])


def settled(page: Page, path: str) -> None:
    page.goto(path)
    if path.startswith("/runs/"):
        page.wait_for_function("() => window.twin?.store.lastSeq > 0")
    else:
        page.wait_for_load_state("networkidle")


@pytest.mark.parametrize("width", [WIDE, NARROW])
def test_no_page_has_a_fault(open_page: Callable[..., Page], live_run: int, width: int) -> None:
    page = open_page("/", viewport={"width": width, "height": 800})
    run = f"/runs/{live_run}/"
    by_page = {}
    scenario = edited(page)
    sweep = f"/sweeps/{swept(page, scenario)}/"
    for path in ("/", "/traces/", "/traces/1/", "/clusters/", "/scenarios/", f"/scenarios/{scenario}/", "/sweeps/",
                 sweep, "/experiments/", EXPERIMENT, "/compare/", "/alerts/", "/audit/", "/settings/tokens/", run,
                 f"{run}servers/0/", "/styleguide/"):  # fmt: skip
        settled(page, path)
        by_page[path] = faults(page, dark=width == WIDE and path in DARK)
    settled(page, f"{run}?job=0&events=1&rows=jobs&colour=state")
    expect(page.locator("#drawer h2").first).to_be_visible()
    expect(page.locator("#events tbody tr").first).to_be_visible()
    page.locator("#utilization-table").dispatch_event("click")  # the drawer lies over it
    by_page["drawer, events and numbers"] = faults(page, dark=width == WIDE)
    page.keyboard.press("Escape")
    page.keyboard.press("Control+k")
    expect(page.get_by_role("dialog", name="Search").get_by_role("option").first).to_be_visible()
    by_page["command palette"] = faults(page)
    assert {path: found for path, found in by_page.items() if found} == {}


@pytest.mark.parametrize("width", [WIDE, NARROW])
def test_the_pages_of_live_clusters_have_no_fault(open_page: Callable[..., Page], followed: str, width: int) -> None:
    page = open_page("/live/", viewport={"width": width, "height": 800})
    by_page = {}
    expect(page.locator("#list tbody tr").first).to_be_visible()
    by_page["list"] = faults(page)
    page.goto("/live/connect/")
    page.select_option("#c-connector", "push")
    page.fill("#p-source", followed)
    page.get_by_role("button", name="Test connection").click()
    expect(page.locator(".preview > table")).to_be_visible(timeout=40_000)
    page.locator(".preview summary").click()
    by_page["form and result"] = faults(page)
    page.goto(f"/live/{followed}/?job=1")
    expect(page.locator("#data-age")).to_be_visible()
    expect(page.locator("#drawer h2").first).to_be_visible()
    by_page["run of a live cluster"] = faults(page)
    assert {path: found for path, found in by_page.items() if found} == {}


def test_the_page_to_log_in_has_no_fault(contexts) -> None:
    with contexts.lent() as context:
        page = context.new_page()
        page.goto("/login/")
        assert faults(page) == []
