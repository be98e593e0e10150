"""The main job on real input: a window of the Philly trace and openb machines, run, watch, ask why, scrub back."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

pytestmark = [pytest.mark.browser, pytest.mark.slow]
JOBS = 150


@pytest.fixture(scope="module")
def run_path(traces: Path) -> dict[str, str]:
    """Where the run is that the first test starts, for those that look at it. Without the trace they are skipped."""
    return {}


def upload(page: Page, file: Path, name: str, **choice: str) -> None:
    """Through the look at the file, and the choice of what is imported."""
    page.goto("/traces/")
    page.locator("#file").set_input_files(str(file))
    page.locator(".upload", has_text=file.name).get_by_role("link", name="Choose what to import").click()
    page.locator("#c-name").fill(name)
    for field, value in choice.items():
        page.locator(f"#c-{field}").fill(value)
    page.get_by_role("button", name="Import").click()
    expect(page.locator("#report")).to_be_visible()


def test_an_upload_is_run_and_its_bars_arrive(
    open_page: Callable[..., Page], traces: Path, run_path: dict[str, str]
) -> None:
    """From two files to a moving Gantt, through the pages alone."""
    page = open_page("/traces/")
    upload(page, traces / "alibaba_openb" / "openb_node_list_gpu_node.csv", "openb machines")
    upload(page, traces / "philly_derived" / "philly_2017-10-01_2017-10-15.csv", "Philly window", limit=str(JOBS))
    expect(page.get_by_role("heading", name="Philly window")).to_be_visible()
    expect(page.locator("#preview tbody tr").first).to_be_visible()
    expect(page.locator("#provenance")).to_contain_text("Time per mini-batch")
    expect(page.locator("#tiles")).to_contain_text(str(JOBS))
    page.get_by_role("link", name="Use in a scenario").click()
    expect(page.locator("#f-trace .choice:has(:checked)")).to_contain_text("Philly window")
    page.locator("#f-cluster .choice", has_text="openb").first.click()
    expect(page.locator("#f-scheduler-oasis")).to_be_checked()
    page.locator("#advanced summary").click()
    expect(page.locator("#parameters .field").first).to_be_visible()
    page.locator("#f-slot").fill("60")
    page.locator("#f-horizon").fill("24")  # the window's later jobs come too late for it
    page.get_by_role("button", name="Run OASiS").click()
    page.wait_for_url(re.compile(r"/runs/\d+/"))
    run_path["path"] = page.url
    page.wait_for_function("() => window.twin?.store.bars.length > 0")
    expect(page.locator("#status")).to_have_text("finished", timeout=120_000)
    page.wait_for_function("() => window.twin.store.finished")
    assert page.evaluate("() => window.twin.store.jobs.length") == JOBS


def test_a_rejected_job_says_why(open_page: Callable[..., Page], run_path: dict[str, str]) -> None:
    """The state filter finds it; the drawer shows utility, cost and payoff, or the resource that no server has."""
    page = open_page(run_path["path"])
    page.locator("#jobs-state").select_option("rejected")
    expect(page.locator("#jobs tr.pick").first).to_contain_text("rejected")
    assert "state=rejected" in page.url
    page.locator("#jobs tr.pick").first.click()
    drawer = page.locator("#drawer")
    expect(drawer.locator(".reason[data-kind=rejected]")).to_contain_text("Rejected")
    expect(drawer).to_contain_text("Fields")
    assert "job=" in page.url
    page.keyboard.press("Escape")
    expect(drawer).to_be_hidden()


def test_scrubbing_back_shows_the_past_and_the_address_keeps_it(
    open_page: Callable[..., Page], run_path: dict[str, str]
) -> None:
    """In the middle fewer jobs have arrived; a reload shows the same moment; End comes back."""
    page = open_page(run_path["path"])
    page.wait_for_function("() => window.twin?.store.finished")
    arrived = (
        "() => { const { store, playhead } = window.twin; let n = 0; for (let j = 0; j < store.jobs.length; "
        "j++) n += store.jobs.arrived_ms[j] <= playhead.ms; return n; }"
    )
    assert page.evaluate(arrived) == JOBS
    page.locator("#scrub").fill("20")
    early = page.evaluate(arrived)
    assert 0 < early < JOBS
    page.wait_for_url(re.compile(r"[?&]t=\d+"))
    page.reload()
    page.wait_for_function("() => window.twin?.store.finished && !window.twin.playhead.following")
    assert page.evaluate(arrived) == early
    page.get_by_role("button", name="Go to the end").click()
    assert page.evaluate(arrived) == JOBS


def test_play_moves_the_playhead_and_pause_holds_it(open_page: Callable[..., Page], run_path: dict[str, str]) -> None:
    page = open_page(run_path["path"])
    page.wait_for_function("() => window.twin?.store.finished")
    page.get_by_role("button", name="Play", exact=True).click()
    page.wait_for_function("() => window.twin.playhead.ms > 0 && !window.twin.playhead.following")
    page.get_by_role("button", name="Pause", exact=True).click()
    held = page.evaluate("() => window.twin.playhead.ms")
    page.evaluate("() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
    assert page.evaluate("() => window.twin.playhead.ms") == held


def test_the_wheel_zooms_every_chart_and_a_double_click_resets(
    open_page: Callable[..., Page], run_path: dict[str, str]
) -> None:
    page = open_page(run_path["path"])
    page.wait_for_function("() => window.twin?.store.finished")
    width = "() => window.twin.view.to - window.twin.view.from"
    whole = page.evaluate(width)
    page.locator("#gantt").hover(position={"x": 600, "y": 120})
    page.keyboard.down("Control")
    page.mouse.wheel(0, -600)
    page.keyboard.up("Control")
    page.wait_for_function(f"(whole) => ({width})() < whole / 2", arg=whole)
    page.wait_for_url(re.compile(r"from=-?\d+&to=\d+"))
    page.locator("#gantt").dblclick(position={"x": 600, "y": 120})
    page.wait_for_function("() => window.twin.view.fitted && window.twin.view.from === 0")


def test_every_canvas_has_a_table_of_its_numbers(open_page: Callable[..., Page], run_path: dict[str, str]) -> None:
    page = open_page(run_path["path"])
    page.wait_for_function("() => window.twin?.store.finished")
    for name in ("gantt", "prices", "utilization", "queue"):
        page.locator(f"#{name}-table").click()
        expect(page.locator(f"#{name}-numbers tbody tr").first).to_be_visible()
        expect(page.locator(f"#{name}-numbers")).to_contain_text("rows")
