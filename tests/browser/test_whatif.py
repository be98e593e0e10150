"""What if: a live run is forked by hand, a server fails, the page shows the divergence; asking, conflicts, sweeps."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from tests.browser.boxes import box_at_rest
from tests.browser.conftest import open_controls, posted
from tests.browser.scenarios import small_scenario

pytestmark = [pytest.mark.browser, pytest.mark.slow]


@pytest.mark.parametrize("width", [1280, 390])
def test_a_live_run_is_forked_a_server_fails_in_it_and_the_two_are_compared(
    open_page: Callable[..., Page], width: int
) -> None:
    page = open_page("/clusters/", refused=404, viewport={"width": width, "height": 900})
    scenario = small_scenario(page)
    run = posted(page, "/api/runs/", {"scenario": scenario["id"], "mode": "live", "speed": 21_600})
    page.goto(f"/runs/{run['id']}/")
    page.wait_for_function("() => window.twin?.store.simMs > 10 * 3.6e6 && window.twin.store.bars.length > 4")
    # a job runs from 12 to 17 h; the run itself may be far beyond by now
    page.evaluate("() => window.twin.playhead.scrub(10 * 3.6e6)")
    open_controls(page)
    page.get_by_role("button", name="What-if", exact=True).click()
    page.wait_for_url(re.compile(r"/scenarios/\d+/"))
    expect(page.locator("#about")).to_contain_text(f"continues run {run['id']}")
    picture = page.locator("canvas.picture")
    expect(picture).to_have_attribute("aria-label", re.compile("^10 servers, 0 servers changed"))
    box = box_at_rest(picture)
    page.mouse.move(box["x"] + 1, box["y"] + 22)
    page.mouse.down()
    page.mouse.move(box["x"] + 300, box["y"] + 36, steps=3)  # all servers of the edge
    page.mouse.up()
    expect(page.locator("[data-parameter=servers]")).to_have_value(re.compile(r"^\w+( \w+){5}$"))
    page.locator("[data-parameter=for_ms]").fill("20 h")
    page.locator("#add").get_by_role("button", name="Add").click()
    first = page.locator("#edits li").first
    expect(first.locator(".sentence")).to_contain_text("for 20h")
    expect(first.locator(".chip")).to_have_text("6 servers unavailable")
    page.locator("#e-verb").select_option("fail_servers")
    page.locator("[data-parameter=servers]").fill("nobody")
    page.locator("#add").get_by_role("button", name="Add").click()
    expect(page.locator("#edits li").nth(1).locator(".error")).to_contain_text("no server matches 'nobody'")
    expect(page.locator("#run")).to_be_disabled()
    page.locator("#undo").click()
    expect(page.locator("#edits li")).to_have_count(1)
    page.locator("#run").click()
    page.wait_for_url(re.compile(r"/compare/\?runs="))
    expect(page.locator("#compared")).to_be_visible()
    expect(page.locator("body")).to_contain_text("the runs make different decisions for job")
    fork = int(re.split(r"%2C|,", page.url.split("runs=")[1])[1].split("&")[0])
    page.goto(f"/runs/{fork}/")
    expect(page.locator("#panel-family")).to_contain_text(f"Run {run['id']}")
    expect(page.locator("#panel-family .edit-sentences")).to_contain_text("for 20h")
    page.wait_for_function("() => window.twin?.store.edits.length === 1")
    page.locator("#discard").click()
    # what the page still asks is gone with it: 404
    page.locator("dialog.confirm").get_by_role("button", name="Discard").click()
    page.wait_for_url(re.compile(rf"/runs/{run['id']}/$"))


@pytest.mark.parametrize("width", [1280, 390])
def test_a_job_is_asked_about_and_nothing_changes(open_page: Callable[..., Page], width: int) -> None:
    page = open_page("/clusters/", refused=400, viewport={"width": width, "height": 900})
    scenario = small_scenario(page)
    run = posted(page, "/api/runs/", {"scenario": scenario["id"], "mode": "live", "speed": 3_600})
    page.goto(f"/runs/{run['id']}/")
    page.wait_for_function("() => window.twin?.store.simMs > 6 * 3.6e6")
    open_controls(page)
    page.get_by_role("button", name="Pause run").click()
    expect(page.locator("#status")).to_have_text("paused")
    page.wait_for_function("() => window.twin.store.lastSeq > 0")
    seq = page.evaluate("() => window.twin.store.lastSeq")
    page.get_by_role("button", name="Add a field").click()
    page.get_by_label("Field", exact=True).select_option(label="Training epochs")
    page.get_by_label("Training epochs", exact=True).fill("3")
    page.locator("#ask").click()
    answer = page.locator(".answer")
    expect(answer).to_contain_text("submitted at")
    expect(answer.locator("dt", has_text="Answer")).to_be_visible()
    expect(answer).to_contain_text("with training epochs 3")
    expect(answer).to_contain_text("What would change the answer")
    page.get_by_text("Paste a job instead").click()
    page.locator("#ask-text").fill("epochs: many")
    page.locator("#ask").click()
    expect(page.locator("#panel-ask .error")).to_contain_text("epochs")
    expect(answer).to_be_empty()  # the former answer is none to this question
    assert page.evaluate("() => window.twin.store.lastSeq") == seq


def test_the_second_of_two_operators_sees_a_conflict_and_loses_nothing(open_page: Callable[..., Page]) -> None:
    first = open_page("/clusters/")
    path = f"/scenarios/{small_scenario(first)['id']}/"
    first.goto(path)
    second = open_page(path, refused=409)
    for page, factor in ((first, "2"), (second, "3")):
        page.locator("#e-verb").select_option("scale_arrivals")
        page.locator("[data-parameter=factor]").fill(factor)
        page.locator("#add").get_by_role("button", name="Add").click()
        expect(page.locator("#edits .sentence")).to_have_text(f"Scale the arrival rate by {factor}")
        expect(page.locator("#save")).to_be_enabled()
    first.locator("#save").click()
    expect(first.locator("#saved")).to_have_text("Saved as version 2")
    second.locator("#save").click()
    expect(second.locator("#conflict")).to_contain_text(
        "Version 2 was saved in another window or by another user; your edits are based on version 1"
    )
    expect(second.locator("#edits .sentence")).to_have_text("Scale the arrival rate by 3")
    second.get_by_role("button", name="Replace theirs with mine").click()
    expect(second.locator("#saved")).to_have_text("Saved as version 3")


@pytest.mark.parametrize("width", [1280, 390])
def test_a_sweep_fills_its_grid(open_page: Callable[..., Page], width: int) -> None:
    page = open_page("/clusters/", viewport={"width": width, "height": 900})
    page.goto(f"/sweeps/?scenario={small_scenario(page)['id']}")
    page.locator("#s-what-1").select_option("p:floor_scale")
    page.locator("#s-values-1").fill("0.1, 1, 10")
    page.locator("#s-seeds").fill("0, 1")
    expect(page.get_by_text("6 runs in total")).to_be_visible()
    page.locator("#start").click()
    page.wait_for_url(re.compile(r"/sweeps/\d+/"))
    expect(page.locator("#going")).to_have_text("6 of 6 runs finished", timeout=60_000)
    cells = page.locator(".heatmap .heat")
    expect(cells).to_have_count(3)
    expect(page.locator(".bands circle")).to_have_count(3)
    answer = page.evaluate("() => fetch(document.querySelector('#csv').href).then((answer) => answer.text())")
    assert answer.splitlines()[0].startswith("floor_scale,seed,run,status,total_utility,")
    assert len(answer.splitlines()) == 7


def test_a_cancelled_run_keeps_the_metrics_that_it_had(open_page: Callable[..., Page]) -> None:
    page = open_page("/clusters/")
    scenario = small_scenario(page)
    run = posted(page, "/api/runs/", {"scenario": scenario["id"], "mode": "live", "speed": 21_600})
    page.goto(f"/runs/{run['id']}/")
    page.wait_for_function("() => window.twin?.store.simMs > 12 * 3.6e6")
    posted(page, f"/api/runs/{run['id']}/cancel/", {})
    expect(page.locator("#status")).to_have_text("cancelled")
    expect(page.locator("#panel-metrics")).to_contain_text(
        re.compile(r"until cancelled at (\d+d )?\d\d:\d\d:\d\d: \d+ metrics")
    )
    page.goto("/?view=table")
    row = page.locator("#runs tbody tr", has=page.locator(f"a[href='/runs/{run['id']}/']"))
    expect(row).to_contain_text(re.compile(r"metrics until cancelled at "))
    expect(row.locator("td").nth(8)).to_have_text(re.compile(r"^\d+$"))
    count = page.evaluate("async () => (await (await fetch('/api/runs/?size=1')).json()).count")
    shown = page.locator("#runs-by-status .state").all_inner_texts()
    assert sum(int(text.split()[0]) for text in shown) == count
