"""The page of a large run: its totals are those of the log, it zooms in to single bars, fits a phone, and follows a
run that is active."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, Playwright, StorageState, expect

from benchmarks._stack import stack
from tests.browser.boxes import box_at_rest
from tests.browser.conftest import MAX_WAIT_MS, Twin, posted
from tests.browser.contexts import Contexts
from tests.twin.runtime import prepared

pytestmark = [pytest.mark.browser, pytest.mark.slow]
JOBS = 40
LIVE_JOBS = 10_000  # of a run that lasts until it is cancelled
MAX_EVENTS = 20  # events, above which a run is large
UNTIL_LARGE = f"async (path) => {{ while ((await (await fetch(path)).json()).last_seq <= {MAX_EVENTS}); }}"


@pytest.fixture(scope="module")
def large(
    playwright: Playwright, chromium: str, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[Contexts, StorageState]]:
    """Contexts of a twin of its own whose runs are all large, and the cookies of an operator."""
    folder = tmp_path_factory.mktemp("large")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("LARGE_RUN_EVENTS", str(MAX_EVENTS))
        prepared.fill(folder)
        with stack(folder) as (_, url):
            made = Contexts(playwright.chromium, chromium, tmp_path_factory.mktemp("profiles"), url, MAX_WAIT_MS)
            with made.lent() as context:
                context.new_page().goto(Twin(url, folder).login_link())
                session = context.storage_state()
            yield made, session
            made.close()


def test_a_large_run_is_shown_by_level_of_detail_at_two_widths(large: tuple[Contexts, StorageState]) -> None:
    contexts, session = large
    with contexts.lent(session) as context:
        run = _finished_run(context.new_page())
        page = context.new_page()  # the first one may still be told that its run has become large
        written: list[str] = []
        page.on("console", lambda message: written.append(message.text))
        for width in (1280, 390):
            page.set_viewport_size({"width": width, "height": 900})
            _looked_at(page, run)
        assert written == []


def test_an_active_large_run_is_followed_and_controlled_on_its_page(large: tuple[Contexts, StorageState]) -> None:
    contexts, session = large
    with contexts.lent(session) as context:
        page = context.new_page()
        sockets: list[str] = []
        run = _started_run(page, LIVE_JOBS, "oasis")
        page.evaluate(UNTIL_LARGE, f"/api/runs/{run}/")
        page.on("websocket", lambda socket: sockets.append(socket.url))
        page.goto(f"/runs/{run}/")
        state, connection = page.locator("#status"), page.locator("#connection")
        page.locator("#run-pause").click()
        expect(state).to_have_text("paused")
        expect(connection).to_have_text("connected")
        expect(page.locator("#tiles")).to_contain_text("Bars")
        page.locator("#run-resume").click()
        expect(state).to_have_text("running")
        page.locator("#run-cancel").click()
        page.get_by_role("dialog").get_by_role("button", name="Cancel run").click()
        expect(state).to_have_text("cancelled")
        expect(connection).to_contain_text("cancelled, ended at")
        expect(page.locator("#covered")).to_have_text("Nothing is left out of the totals, and the log is complete.")
        page.locator("#run-delete").click()
        expect(page.get_by_role("dialog")).to_contain_text(f"Delete run {run}")
        page.keyboard.press("Escape")
        other = context.new_page()
        other.goto(f"/runs/{run}/")
        other.locator("#run-delete").click()
        other.get_by_role("dialog").get_by_role("button", name="Delete run").click()
        expect(page.locator("#notice")).to_contain_text("was deleted by")
        expect(state).to_have_text("deleted")
        expect(page.locator("#controls")).to_be_hidden()
        assert [url.split("/ws/")[1] for url in sockets] == ["overview/"], "no stream of bars is opened"


def _finished_run(page: Page) -> int:
    run = _started_run(page, JOBS, "fifo")
    page.goto(f"/runs/{run}/")
    expect(page.locator("#status, .state").first).to_have_text("finished")
    return run


def _started_run(page: Page, jobs: int, scheduler: str) -> int:
    page.goto("/")
    workload = posted(page, "/api/workloads/", {"profile": "oasis", "jobs": jobs, "servers": 10, "seed": 4})
    scenario = posted(page, "/api/scenarios/", {
        "name": "Large", "cluster": workload["cluster"]["id"], "trace": workload["trace"]["id"],
        "scheduler": scheduler,
    })  # fmt: skip
    return int(posted(page, "/api/runs/", {"scenario": scenario["id"], "mode": "batch"})["id"])


def _looked_at(page: Page, run: int) -> None:
    page.goto(f"/runs/{run}/")
    expect(page.locator("#level")).to_contain_text("the page shows totals over intervals (levels of detail)")
    tiles = page.locator("#tiles")
    expect(tiles).to_contain_text(f"Jobs{JOBS}")
    rows = page.evaluate("(path) => fetch(path).then((answer) => answer.text())", f"/api/runs/{run}/events.jsonl")
    completed = rows.count('"job_completed"')
    expect(tiles).to_contain_text(f"Completed{completed}")
    expect(page.locator("#raster")).to_have_attribute("aria-label", re.compile("^Allocation of 10 groups of servers"))
    expect(page.locator("#jobs tr[data-job]").first).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), "nothing scrolls sideways"
    box = box_at_rest(page.locator("#raster"))
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + 20)
    expect(page.locator("#at")).to_contain_text(re.compile(r"server.*: (\d+ % (of \w+ )?allocated|no capacity)"))
    for _ in range(4):
        page.locator("#closer").click()
    expect(page.locator("#source")).to_contain_text("exact to the millisecond")
    expect(page.locator("#panel-bars")).to_be_visible()
    assert "from=" in page.url
    page.locator("#whole").click()
    expect(page.locator("#window")).to_contain_text(re.compile(r"^0|^00"))
