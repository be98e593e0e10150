"""Tasks of an operator, from the overview on: how many clicks each takes, and each again by keyboard alone."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.boxes import box_at_rest

pytestmark = [pytest.mark.browser, pytest.mark.slow]
MAX_STOPS = 150  # of Tab, to reach a control of a page
LOADED = "() => window.twin?.store.finished && document.querySelector('#jobs tr[data-job]')"
HEADER = "job_id,num_gpu,submit_time,iterations,model_name,duration,interval"  # of the Tiresias simulator


class Mouse:
    """Clicks and counts them."""

    def __init__(self) -> None:
        self.clicks = 0

    def click(self, target: Locator) -> None:
        target.click()
        self.clicks += 1


def reach(page: Page, target: Locator) -> None:
    """Presses Tab until the target has the focus."""
    expect(target).to_be_visible()
    page.wait_for_load_state()  # the modules have run: the target has its listeners
    for _ in range(MAX_STOPS):
        if target.evaluate("(element) => element === document.activeElement"):
            return
        page.keyboard.press("Tab")
    raise AssertionError(f"{target} is not reached by {MAX_STOPS} presses of Tab")


def press(page: Page, target: Locator) -> None:
    """Reaches the target by Tab and presses Enter."""
    reach(page, target)
    page.keyboard.press("Enter")


def steps_shown(page: Page) -> None:
    page.evaluate("() => localStorage.removeItem('first-steps')")
    page.reload()
    expect(page.get_by_role("link", name="Find a rejected job")).to_have_attribute("href", re.compile("/runs/"))


def why_rejected(page: Page) -> None:
    expect(page.locator("#drawer .reason[data-kind=rejected]").first).to_be_visible()


def compared(page: Page) -> None:
    page.wait_for_url(re.compile(r"/compare/\?runs="))
    expect(page.locator("#compared")).to_be_visible()


@pytest.fixture
def trace_file(tmp_path: Path, request: pytest.FixtureRequest) -> Path:
    """A file of 60 jobs in columns that are recognized; each test has another one: equal files are one trace."""
    path = tmp_path / "own.csv"
    lines = [f"{i},{1 + i % 2},{600 * i},1000,resnet50,{1800 + 60 * i + len(request.node.name)},1" for i in range(60)]
    path.write_text("\n".join([HEADER, *lines]))
    return path


def test_why_a_job_was_rejected_takes_two_clicks(open_page: Callable[..., Page], finished_run: int) -> None:
    page, mouse = open_page("/"), Mouse()
    steps_shown(page)
    mouse.click(page.get_by_role("link", name="Find a rejected job"))
    page.wait_for_function(LOADED)
    mouse.click(page.locator("#jobs tr[data-job]").first)
    why_rejected(page)
    assert mouse.clicks == 2


def test_why_a_job_was_rejected_by_keyboard(open_page: Callable[..., Page], finished_run: int) -> None:
    page = open_page("/")
    steps_shown(page)
    press(page, page.get_by_role("link", name="Find a rejected job"))
    page.wait_for_function(LOADED)
    press(page, page.get_by_role("link", name="Skip to the jobs"))
    press(page, page.locator("#jobs tr[data-job]").first)
    why_rejected(page)


def test_a_what_if_with_a_failed_server_takes_four_clicks(open_page: Callable[..., Page], live_run: int) -> None:
    page, mouse = open_page("/"), Mouse()
    mouse.click(page.locator(f".run-card[data-run='{live_run}'] h3 a"))
    page.wait_for_function("() => window.twin?.store.lastSeq > 0")
    mouse.click(page.get_by_role("button", name="What-if", exact=True))
    page.wait_for_url(re.compile(r"/scenarios/\d+/"))
    picture = page.locator("canvas.picture")
    expect(picture).to_have_attribute("aria-label", re.compile("^80 servers"))
    box = box_at_rest(picture)
    page.mouse.click(box["x"] + 8, box["y"] + 28)
    mouse.clicks += 1
    expect(page.locator("[data-parameter=servers]")).not_to_have_value("")
    expect(page.locator("#run")).to_be_enabled()
    mouse.click(page.locator("#run"))
    compared(page)
    assert mouse.clicks == 4


def test_a_what_if_with_a_failed_server_by_keyboard(open_page: Callable[..., Page], live_run: int) -> None:
    page = open_page("/")
    press(page, page.locator(f".run-card[data-run='{live_run}'] h3 a"))
    page.wait_for_function("() => window.twin?.store.lastSeq > 0")
    page.keyboard.press("Control+k")
    page.keyboard.type("What-if")
    expect(page.get_by_role("option", name="What-if", exact=True)).to_have_attribute("aria-selected", "true")
    page.keyboard.press("Enter")
    page.wait_for_url(re.compile(r"/scenarios/\d+/"))
    reach(page, page.locator("[data-parameter=servers]"))
    page.keyboard.type("w00")
    expect(page.locator("#saved")).to_contain_text("Save and Run first add the edit in the form")
    expect(page.locator("#run")).to_be_enabled()
    press(page, page.locator("#run"))
    compared(page)


def test_a_file_becomes_a_race_of_all_schedulers_in_five_clicks(
    open_page: Callable[..., Page], trace_file: Path
) -> None:
    page, mouse = open_page("/"), Mouse()
    mouse.click(page.get_by_role("link", name="Upload a trace", exact=True))
    with page.expect_file_chooser() as chooser:
        mouse.click(page.locator("label[for=file]"))
    chooser.value.set_files(trace_file)
    mouse.click(page.locator(".upload", has_text="own.csv").get_by_role("link", name="Choose what to import"))
    mouse.click(page.get_by_role("button", name="Import"))
    mouse.click(page.get_by_role("button", name="Race schedulers"))
    compared(page)
    expect(page.locator("#notes")).to_contain_text("runs are listed")
    assert mouse.clicks == 5


def test_a_file_becomes_a_race_of_all_schedulers_by_keyboard(open_page: Callable[..., Page], trace_file: Path) -> None:
    page = open_page("/")
    press(page, page.get_by_role("link", name="Upload a trace", exact=True))
    button = page.get_by_role("button", name="Choose files")
    reach(page, button)
    with page.expect_file_chooser() as chooser:
        page.keyboard.press("Enter")
    chooser.value.set_files(trace_file)
    press(page, page.locator(".upload", has_text="own.csv").get_by_role("link", name="Choose what to import"))
    press(page, page.get_by_role("button", name="Import"))
    press(page, page.get_by_role("button", name="Race schedulers"))
    compared(page)
