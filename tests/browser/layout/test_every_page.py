"""Every page: it keeps its places while it loads, is no wider than its window, and axe-core finds no fault.

One visit checks all three: loading a page costs more than looking at it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, StorageState, expect

from benchmarks._demo import edited, swept
from tests.browser.contexts import Contexts

pytestmark = [pytest.mark.browser, pytest.mark.slow]
MAX_SHIFT = 0.05  # cumulative layout shift
EXPERIMENT = "/experiments/oasis_fig07_testbed_utility/"
LARGE, WIDE, NARROW = 1920, 1280, 390
DARK = ("/", "/traces/1/", "/compare/", "/styleguide/")
CARDS = ("/", "/clusters/", "/compare/")  # with the run page: what is another structure on a phone
COLOURS = {"runOnly": ["color-contrast"]}  # the only rule whose result depends on the theme
WIDER = "() => { const { scrollWidth } = document.documentElement; return scrollWidth > innerWidth ? scrollWidth : 0; }"
CHANGED = "() => document.getAnimations().every((one) => !(one instanceof CSSTransition))"
# the entries from before this call are buffered
SHIFT = """() => new Promise((resolve) => new PerformanceObserver((list) => resolve(list.getEntries()
  .filter((entry) => !entry.hadRecentInput).reduce((sum, entry) => sum + entry.value, 0)))
  .observe({ type: 'layout-shift', buffered: true }) || setTimeout(() => resolve(0), 500))"""
MOVED = """() => new Promise((resolve) => new PerformanceObserver((list) => resolve(list.getEntries()
  .filter((entry) => !entry.hadRecentInput && entry.value > 0.005).flatMap(({ value, sources }) => sources.map(
    ({ node, previousRect: was, currentRect: is }) => `${value.toFixed(3)} ${node?.id || node?.className}: ` +
      `${was.x},${was.y} ${was.width}x${was.height} -> ${is.x},${is.y} ${is.width}x${is.height}`))))
  .observe({ type: 'layout-shift', buffered: true }))"""
RECEIVED = "() => window.twin?.store.lastSeq > 0"


class Made(NamedTuple):
    """What the pages show: runs, a scenario with edits, a sweep, a live cluster."""

    finished: str
    live: str
    scenario: int
    sweep: int
    cluster: str


@pytest.fixture
def made(made_once: tuple[int, int], finished_run: int, live_run: int, followed: str) -> Made:
    return Made(f"/runs/{finished_run}/", f"/runs/{live_run}/", *made_once, followed)


@pytest.fixture(scope="module")
def made_once(contexts: Contexts, operator_session: StorageState) -> tuple[int, int]:
    """The scenario and the sweep."""
    with contexts.lent(operator_session) as context:
        page = context.new_page()
        page.goto("/clusters/")
        scenario = edited(page)
        return scenario, swept(page, scenario)


def complete(made: Made) -> dict[str, str | None]:
    """The path of each page, and what stands there once it is complete; None: nothing is asked for any more."""
    still = (
        "/", "/live/", "/traces/", "/traces/1/", "/clusters/", "/scenarios/", f"/scenarios/{made.scenario}/",
        "/sweeps/", f"/sweeps/{made.sweep}/", "/experiments/", EXPERIMENT, "/compare/", "/alerts/", "/audit/",
        "/settings/tokens/", "/styleguide/",
    )  # fmt: skip
    followed = (f"/live/{made.cluster}/{tab}/" for tab in ("fidelity", "shadows", "plans"))
    return {
        **dict.fromkeys(still),
        **dict.fromkeys(followed, "main:not([data-loading], [data-starting])"),  # they ask again and again
        made.finished: "#jobs tr[data-job]",
        made.live: "#jobs tr[data-job]",
        f"{made.finished}?job=3&t=36000000": "#drawer .step",
        f"{made.finished}servers/0/": "main:not([data-waits]) #jobs :is(table, .empty)",
        f"/live/{made.cluster}/": ".follow-facts",
    }


def visited(page: Page, path: str, there: str | None) -> list[str]:
    """Faults of the page while it loads, and of its width once it is complete."""
    page.goto(path)
    if there is None:
        page.wait_for_load_state("networkidle")
    else:
        page.locator(there).first.wait_for()
        expect(page.get_by_text("Loading …").filter(visible=True)).to_have_count(0)
        if path.startswith("/runs/"):
            page.wait_for_function(RECEIVED)
    shift = page.evaluate(SHIFT)
    return ([f"layout shift {shift:.3f}: {page.evaluate(MOVED)}"] if shift > MAX_SHIFT else []) + too_wide(page)


def too_wide(page: Page) -> list[str]:
    wide = page.evaluate(WIDER)
    return [f"wider than its window: {wide} px"] if wide else []


def faults(page: Page, dark: bool = False) -> list[str]:
    """'rule (impact): n, the first element' of every fault that axe-core finds.

    dark: contrast in the dark theme, too. tests/js/ui/theme.test.js checks all text colours of both themes.
    """
    found = Axe().run(page).response["violations"]
    if dark:
        page.emulate_media(color_scheme="dark")
        expect(page.locator("html")).to_have_attribute("data-theme", "dark")
        page.wait_for_function(CHANGED)
        found += Axe().run(page, options=COLOURS).response["violations"]
        page.emulate_media(color_scheme="light")
    return [
        f"{rule['id']} ({rule['impact']}): {len(rule['nodes'])}, {rule['nodes'][0]['html'][:200]}" for rule in found
    ]


@pytest.mark.parametrize("width", [WIDE, NARROW])
def test_no_page_has_a_fault(open_page: Callable[..., Page], made: Made, width: int) -> None:
    page = open_page("/login/", viewport={"width": width, "height": 800})
    by_page = {}
    for path, there in complete(made).items():
        by_page[path] = visited(page, path, there)
        if width == WIDE:
            by_page[path] += faults(page, dark=path in DARK)
        elif path in (*CARDS, made.live):
            by_page[path] += faults(page)
    assert {path: found for path, found in by_page.items() if found} == {}


def test_pages_with_more_columns_on_large_screens_keep_their_places(open_page: Callable[..., Page], made: Made) -> None:
    page = open_page("/login/", viewport={"width": LARGE, "height": 900})
    pages = complete(made)
    by_page = {path: visited(page, path, pages[path]) for path in ("/", made.finished, f"/live/{made.cluster}/")}
    assert {path: found for path, found in by_page.items() if found} == {}


@pytest.mark.parametrize("width", [WIDE, NARROW])
def test_what_opens_over_a_run_has_no_fault(open_page: Callable[..., Page], live_run: int, width: int) -> None:
    """The drawer, the events, a table of numbers and the command palette."""
    page = open_page(
        f"/runs/{live_run}/?job=0&events=1&rows=jobs&colour=state", viewport={"width": width, "height": 800}
    )
    page.wait_for_function("() => window.twin?.store.jobs.arrived_ms[0] >= 0")
    newer = page.get_by_role("button", name="newer event")  # the job arrived after the list was made
    newer.dispatch_event("click")  # on a phone the drawer lies over it
    expect(page.locator("#drawer h2").first).to_be_visible()
    expect(page.locator("#events tbody tr").first).to_be_visible()
    page.locator("#utilization-table").dispatch_event("click")  # the drawer lies over it
    assert faults(page, dark=width == WIDE) + too_wide(page) == []
    page.keyboard.press("Escape")
    page.keyboard.press("Control+k")
    expect(page.get_by_role("dialog", name="Search").get_by_role("option").first).to_be_visible()
    assert faults(page) + too_wide(page) == []


def test_the_form_and_the_result_of_a_test_connection_have_no_fault(
    open_page: Callable[..., Page], followed: str
) -> None:
    page = open_page("/live/connect/")
    page.select_option("#c-connector", "push")
    page.fill("#p-source", followed)
    page.get_by_role("button", name="Test connection").click()
    expect(page.locator(".preview > table")).to_be_visible(timeout=40_000)
    page.locator(".preview summary").click()
    assert faults(page) == []
    page.set_viewport_size({"width": NARROW, "height": 800})
    assert too_wide(page) == []


@pytest.mark.parametrize("width", [WIDE, NARROW])
def test_the_drawer_of_a_live_cluster_has_no_fault(open_page: Callable[..., Page], followed: str, width: int) -> None:
    page = open_page(f"/live/{followed}/?job=1", viewport={"width": width, "height": 800})
    expect(page.locator("#data-age")).to_be_visible()
    expect(page.locator("#drawer h2").first).to_be_visible()
    assert faults(page) + too_wide(page) == []


def test_the_page_to_log_in_has_no_fault(contexts: Contexts) -> None:
    with contexts.lent() as context:
        page = context.new_page()
        page.goto("/login/")
        assert faults(page) + too_wide(page) == []
