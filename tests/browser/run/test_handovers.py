"""Runs that are handed from one family of schedulers to another, and panels that fail: the page goes on and says so."""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import combinations

import pytest
from playwright.sync_api import BrowserContext, Page, Route, StorageState, expect

from tests.browser.conftest import Twin, posted
from tests.browser.contexts import Contexts

pytestmark = [pytest.mark.browser, pytest.mark.slow]
HOUR = 3_600_000
SCHEDULERS = ("oasis", "srtf", "harmony")  # slotted, typed workers, co-location
OPEN = list(combinations(SCHEDULERS, 2))  # handed over while their page is open; the others are read afterwards
READ = [(then, first) for first, then in OPEN]
FINISHED = "() => window.twin?.store.finished"
DRAWN = "() => ['gantt', 'utilization', 'queue'].every((name) => document.getElementById(name).width > 0)"
TALLY = """['not-arrived', 'queued', 'planned', 'profiling', 'moving', 'running', 'suspended', 'completed', 'rejected',
  'unfinished']
  .reduce((sum, name) => sum + Number(document.getElementById(`tile-${name}`)?.textContent ?? 0), 0)"""


@pytest.fixture(scope="module")
def handed(contexts: Contexts, operator_session: StorageState) -> dict[tuple[str, str], int]:
    """A finished run of each pair: the second scheduler takes over after three hours."""
    with contexts.lent(operator_session) as context:
        page = context.new_page()
        page.goto("/")
        made = posted(page, "/api/workloads/", {"profile": "oasis", "jobs": 20, "servers": 8, "seed": 5})
        runs = {}
        for first, then in OPEN + READ:
            edits = [{"verb": "change_scheduler", "scheduler": then, "at_ms": 3 * HOUR}]
            body = {
                "name": f"{first} to {then}",
                "cluster": made["cluster"]["id"],
                "trace": made["trace"]["id"],
                "scheduler": first,
            }
            scenario = posted(page, "/api/scenarios/", {**body, "seed": 1, "edits": edits})
            runs[first, then] = int(posted(page, "/api/runs/", {"scenario": scenario["id"], "mode": "batch"})["id"])
    return runs


@pytest.mark.parametrize(("first", "then"), READ)
def test_every_panel_of_a_run_that_was_handed_over_is_drawn(
    open_page: Callable[..., Page], handed: dict[tuple[str, str], int], first: str, then: str
) -> None:
    run = handed[first, then]
    page = open_page(f"/runs/{run}/")
    page.wait_for_function(FINISHED)
    page.wait_for_function(DRAWN)
    expect(page.locator("#jobs tbody tr").first).to_be_visible()
    expect(page.locator(".broken")).to_have_count(0)
    expect(page.locator("#subtitle")).to_contain_text(re.compile(r"^\S+ → \S+.* at 03:00:00, "))
    for at_ms in (2 * HOUR, 5 * HOUR):
        page.evaluate("(ms) => window.twin.playhead.scrub(ms)", at_ms)
        page.wait_for_function(f"() => {TALLY} === 20")
        expect(page.locator("#utilization-legend b").filter(has_text="%").first).to_be_visible()
    page.goto(f"/runs/{run}/servers/0/")
    page.wait_for_function("() => window.twin?.store.finished")
    expect(page.locator("#notice")).to_be_hidden()
    assert page.locator("#resources section").count() > 0


@pytest.mark.parametrize(("first", "then"), OPEN)
def test_a_page_that_is_open_when_a_live_run_is_handed_over_goes_on(
    open_page: Callable[..., Page], handed: dict[tuple[str, str], int], first: str, then: str
) -> None:
    """The run creeps until its page stands, then it is played to its end at once."""
    page = open_page("/clusters/")
    scenario = page.evaluate(
        "(path) => fetch(path).then((answer) => answer.json())", f"/api/runs/{handed[first, then]}/"
    )["scenario"]
    run = int(posted(page, "/api/runs/", {"scenario": scenario, "mode": "live", "speed": 1})["id"])
    page.goto(f"/runs/{run}/")
    expect(page.locator("#status")).to_have_text("running")
    page.wait_for_function("() => window.twin?.store.lastSeq > 0 && window.twin.stream.state === 'live'")
    assert page.evaluate("() => [window.twin.store.edits.length, window.twin.playhead.liveMs < 3 * 3600e3]") == [
        0,
        True,
    ]
    posted(page, f"/api/runs/{run}/clock/", {"speed": 1_000_000})
    page.wait_for_function("() => window.twin.store.edits.length === 1")
    page.wait_for_function(FINISHED)
    expect(page.locator("#status")).to_have_text("finished")
    expect(page.locator("#connection")).to_have_text(re.compile("^complete, ended at "))
    page.wait_for_function(f"() => {TALLY} === 20")
    page.wait_for_function(DRAWN)
    expect(page.locator(".broken, .banner")).to_have_count(0)
    expect(page.locator("#notice")).to_be_hidden()
    assert page.evaluate("() => window.twin.gantt.frame.views.length") > 8
    page.locator("#jobs tbody tr").first.click()
    expect(page.locator("#drawer .reason").first).to_be_visible()


def test_both_schedulers_are_named_where_runs_are_listed_and_who_decided_in_the_drawer(
    open_page: Callable[..., Page], handed: dict[tuple[str, str], int]
) -> None:
    run, other = handed["oasis", "srtf"], handed["srtf", "oasis"]
    page = open_page("/?view=table")
    row = page.locator("#runs tbody tr", has=page.get_by_role("link", name=re.compile(rf"^{run} · ")))
    expect(row).to_contain_text("OASiS → SRTF at 03:00:00")
    page.goto(f"/compare/?runs={run},{other}")
    expect(page.locator("#metrics")).to_contain_text(re.compile(r"OASiS → SRTF at 03:00:00 ·\s\d+"))
    page.goto(f"/runs/{run}/?job=6")
    expect(page.locator("#drawer .decided").first).to_have_text(re.compile(r"decided at .* by SRTF "))


def test_a_panel_that_fails_says_so_in_its_place_and_the_others_go_on(
    context: BrowserContext, twin: Twin, handed: dict[tuple[str, str], int]
) -> None:
    page = context.new_page()
    written: list[str] = []
    page.on("console", lambda message: written.append(message.text))

    def without_workers(route: Route) -> None:
        body = route.fetch().json()
        del body["typed_workers"]
        route.fulfill(json=body)

    page.route("**/api/runs/*/static/", without_workers)
    with page.expect_response("**/api/client-errors/") as answer:
        page.goto(f"/runs/{handed['oasis', 'srtf']}/")
    assert answer.value.status == 204
    page.wait_for_function(FINISHED)
    sentence = page.locator("#panel-utilization .broken")
    expect(sentence).to_have_text(
        "This panel failed (Cannot read properties of undefined (reading 'types')). "
        "The other panels still work; reloading the page may help."
    )
    expect(page.locator("#utilization")).to_be_hidden()
    expect(page.locator("#jobs tbody tr").first).to_be_visible()
    expect(page.locator("#queue-legend b").first).not_to_have_text("–")
    assert any("reading 'types'" in text for text in written), "the console has it, too"
    log = (twin.folder / "logs" / "web.log").read_text()
    assert re.search(
        rf"ERROR dashboard.api.client_errors: in the browser of \S+ at '/runs/{handed['oasis', 'srtf']}/.*types", log
    )

    page.evaluate(
        "() => { window.twin.kept = window.twin.gantt.rows; window.twin.gantt.rows = "
        "null; window.twin.gantt.update(); }"
    )
    expect(page.locator("#panel-gantt .broken")).to_be_visible()
    page.evaluate("() => { window.twin.gantt.rows = window.twin.kept; window.twin.gantt.update(); }")
    expect(page.locator("#panel-gantt .broken")).to_have_count(0)
    expect(page.locator("#gantt")).to_be_visible()
