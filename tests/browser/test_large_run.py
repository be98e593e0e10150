"""The page of a large run: its totals are those of the log, it zooms in to single bars, and it fits a phone."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, Playwright, StorageState, expect

from benchmarks._stack import stack
from tests.browser.boxes import box_at_rest
from tests.browser.conftest import PATIENCE_MS, Twin, posted
from tests.browser.contexts import Contexts

pytestmark = [pytest.mark.browser, pytest.mark.slow]
JOBS = 40


@pytest.fixture(scope="module")
def large(
    playwright: Playwright, chromium: str, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[Contexts, StorageState]]:
    """Contexts of a twin of its own whose runs are all large, and the cookies of an operator."""
    folder = tmp_path_factory.mktemp("large")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("LARGE_RUN_EVENTS", "20")
        with stack(folder) as (_, url):
            made = Contexts(playwright.chromium, chromium, tmp_path_factory.mktemp("profiles"), url, PATIENCE_MS)
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


def _finished_run(page: Page) -> int:
    page.goto("/")
    workload = posted(page, "/api/workloads/", {"profile": "oasis", "jobs": JOBS, "servers": 10, "seed": 4})
    scenario = posted(page, "/api/scenarios/", {
        "name": "Large", "cluster": workload["cluster"]["id"], "trace": workload["trace"]["id"], "scheduler": "fifo",
    })  # fmt: skip
    run = int(posted(page, "/api/runs/", {"scenario": scenario["id"], "mode": "batch"})["id"])
    page.goto(f"/runs/{run}/")
    expect(page.locator("#status, .state").first).to_have_text("finished")
    return run


def _looked_at(page: Page, run: int) -> None:
    page.goto(f"/runs/{run}/")
    expect(page.locator("#level")).to_contain_text("the page shows it by level of detail")
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
    expect(page.locator("#at")).to_contain_text(re.compile(r"server.*: (\d+ % allocated|no capacity)"))
    for _ in range(4):
        page.locator("#closer").click()
    expect(page.locator("#source")).to_contain_text("exact to the millisecond")
    expect(page.locator("#panel-bars")).to_be_visible()
    assert "from=" in page.url
    page.locator("#whole").click()
    expect(page.locator("#window")).to_contain_text(re.compile(r"^0|^00"))
