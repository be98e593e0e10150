"""Gestures and forms of what-if: what was asked for is in the scenario when it runs, at the time shown."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple

import pytest
from playwright.sync_api import Page, StorageState, expect

from tests.browser.boxes import box_at_rest
from tests.browser.conftest import posted
from tests.browser.contexts import Contexts
from tests.browser.scenarios import played_to_its_end, small_scenario

pytestmark = [pytest.mark.browser, pytest.mark.slow]
H = 3_600_000


class Small(NamedTuple):
    """A scenario of 30 jobs on 10 servers under OASiS, and a finished run of it."""

    scenario: int
    run: int
    trace: int
    cluster: int


@pytest.fixture(scope="module")
def small(contexts: Contexts, operator_session: StorageState) -> Small:
    """Made once: tests that change the scenario or delete the run make their own."""
    with contexts.lent(operator_session) as context:
        page = context.new_page()
        page.goto("/clusters/")
        made = small_scenario(page)
        return Small(made["id"], played_to_its_end(page, made["id"]), made["trace"], made["cluster"])


def shown(page: Page, path: str) -> None:
    page.goto(path)
    page.wait_for_function("() => window.twin?.store.finished && window.twin.gantt.rows.list.length > 4")


def selected(page: Page, start: float, end: float) -> None:
    """Selection of the first servers with Alt; start and end are shares of the plot's width."""
    box = box_at_rest(page.locator("#gantt"))
    area = page.evaluate(
        "() => { const { left, right, top } = window.twin.gantt.chart.chartArea; return [left, right, top]; }"
    )
    left, right, top = box["x"] + area[0], box["x"] + area[1], box["y"] + area[2]
    page.keyboard.down("Alt")
    page.mouse.move(left + start * (right - left), top + 4)
    page.mouse.down()
    page.mouse.move(left + end * (right - left), top + 90, steps=4)
    page.mouse.up()
    page.keyboard.up("Alt")


def answered(page: Page, path: str) -> dict:
    return dict(page.evaluate("(path) => fetch(path).then((answer) => answer.json())", path))


def test_servers_that_are_selected_are_drained_in_a_fork_at_the_time_shown(
    open_page: Callable[..., Page], small: Small
) -> None:
    page = open_page("/clusters/")
    shown(page, f"/runs/{small.run}/?t={20 * H}")
    selected(page, 0.4, 0.7)
    expect(page.locator("dialog.confirm")).to_contain_text("the time shown")
    page.locator("dialog.confirm").get_by_role("button", name="Create scenario").click()
    page.wait_for_url(re.compile(r"/scenarios/\d+/"))
    expect(page.locator("#about")).to_contain_text(f"continues run {small.run} from 20:00:00")
    expect(page.locator("#edits li")).to_have_count(1)
    expect(page.locator("#edits .sentence")).to_contain_text(re.compile("^From 20:00:00: drain .* from .* until"))
    expect(page.locator("#run")).to_be_enabled()
    page.locator("#run").click()
    page.wait_for_url(re.compile(r"/compare/\?runs="))
    expect(page.locator("#compared")).to_be_visible()
    run = int(re.split(r"%2C|,", page.url.split("runs=")[1])[1].split("&")[0])
    run_now = answered(page, f"/api/runs/{run}/")
    assert run_now["fork_ms"] == 20 * H
    kept = answered(page, f"/api/scenarios/{run_now['scenario']}/")["edits"]
    assert [(edit["verb"], edit["at_ms"]) for edit in kept] == [("drain_servers", 20 * H)]


def test_a_selection_in_the_past_moves_the_time_shown_to_its_start(
    open_page: Callable[..., Page], small: Small
) -> None:
    page = open_page("/clusters/")
    shown(page, f"/runs/{small.run}/")
    selected(page, 0.2, 0.5)
    page.locator("dialog.confirm").get_by_role("button", name="Create scenario").click()
    page.wait_for_url(re.compile(r"/scenarios/\d+/"))
    scenario = answered(page, f"/api/scenarios/{page.url.rstrip('/').rpartition('/')[2]}/")
    assert scenario["fork_ms"] == scenario["edits"][0]["at_ms"] == scenario["edits"][0]["from_ms"]


def test_a_server_is_drained_in_a_fork_at_the_time_shown(open_page: Callable[..., Page], small: Small) -> None:
    """From the server's page: the form has its name and that moment, and nothing is added until it is asked for."""
    page = open_page("/clusters/")
    page.goto(f"/runs/{small.run}/servers/2/?t={20 * H}")
    name = page.locator("h1").inner_text()
    page.wait_for_function("() => window.twin?.store.finished && !document.querySelector('#loading')")
    expect(page.locator("#moment")).to_have_text("20:00:00")
    page.get_by_role("button", name="Drain in a what-if scenario").click()
    page.wait_for_url(re.compile(r"/scenarios/\d+/\?"))
    expect(page.locator("#about")).to_contain_text(f"continues run {small.run} from 20:00:00")
    expect(page.locator("#e-verb")).to_have_value("drain_servers")
    expect(page.locator("#e-at")).to_have_value("20:00:00")
    expect(page.locator("[data-parameter=servers]")).to_have_value(name)
    expect(page.locator("#edits .sentence")).to_have_count(0)
    page.locator("#e-verb").select_option("change_scheduler")
    expect(page.locator("#e-at")).to_have_value("20:00:00")
    page.locator("#e-verb").select_option("add_jobs")
    page.locator("[data-parameter=like]").fill("j0005")
    page.get_by_role("button", name="Add", exact=True).click()
    expect(page.locator("#edits .chip")).to_have_text("1 job added")
    page.on("dialog", lambda dialog: dialog.accept())
    page.goto("/scenarios/")


def test_a_scheduler_is_changed_later_than_at_the_beginning(open_page: Callable[..., Page], small: Small) -> None:
    """At 0 the scenario itself names it: the form begins with the first slot that it can be changed in."""
    page = open_page(f"/scenarios/{small.scenario}/")
    expect(page.locator("#e-at")).to_have_value("0")
    page.locator("#e-verb").select_option("change_scheduler")
    expect(page.locator("#e-at")).not_to_have_value("0")
    page.locator("[data-parameter=scheduler]").select_option(label="RRH")
    page.get_by_role("button", name="Add", exact=True).click()
    expect(page.locator("#edits .sentence")).to_contain_text("hange the scheduler to RRH")
    expect(page.locator("#edits .error")).to_have_count(0)
    expect(page.locator("#run")).to_be_enabled()
    page.locator("#undo").click()


def test_what_stands_in_the_form_is_added_before_it_runs(open_page: Callable[..., Page]) -> None:
    page = open_page("/clusters/")
    scenario = small_scenario(page)["id"]
    page.goto(f"/scenarios/{scenario}/?verb=drain_servers&servers=nobody")
    expect(page.locator("[data-parameter=servers]")).to_have_value("nobody")
    expect(page.locator("#saved")).to_contain_text("Save and Run first add the edit in the form")
    page.locator("#run").click()
    expect(page.locator("#edits .error")).to_contain_text("no server matches 'nobody'")
    expect(page.locator("#failed")).to_contain_text("the list of edits states which one and why")
    page.locator("#undo").click()
    page.locator("#e-verb").select_option("scale_arrivals")
    page.locator("[data-parameter=factor]").fill("3")
    page.locator("#e-at").fill("soon")
    page.locator("#run").click()
    expect(page.locator("#add .error:visible")).to_contain_text("“soon” is not a time")
    page.locator("#e-at").fill("0")
    page.locator("#run").click()
    page.wait_for_url(re.compile(r"/runs/\d+/"))
    kept = answered(page, f"/api/scenarios/{scenario}/")["edits"]
    assert [(edit["verb"], edit["factor"]) for edit in kept] == [("scale_arrivals", 3)]


def test_a_form_can_be_cleared_and_an_unchanged_fork_is_not_run(open_page: Callable[..., Page], small: Small) -> None:
    page = open_page("/clusters/")
    fork = posted(page, f"/api/runs/{small.run}/forks/", {"at_ms": 20 * H})["scenario"]["id"]
    page.goto(f"/scenarios/{fork}/")
    page.locator("#e-verb").select_option("add_jobs")
    expect(page.locator("#saved")).to_contain_text("Save and Run first add the edit in the form")
    page.get_by_role("button", name="Clear").click()
    expect(page.locator("#saved")).to_have_text(f"Run opens the comparison with run {small.run}")
    page.locator("#run").click()
    expect(page.locator("#failed")).to_have_text(f"No edits yet: this would repeat run {small.run}. Add an edit first.")
    assert answered(page, f"/api/runs/?scenario={fork}")["count"] == 0


def test_jobs_are_added_to_a_fork_and_a_scheduler_is_chosen_by_name(
    open_page: Callable[..., Page], small: Small
) -> None:
    page = open_page("/clusters/")
    fork = posted(page, f"/api/runs/{small.run}/forks/", {"at_ms": 20 * H})["scenario"]["id"]
    page.goto(f"/scenarios/{fork}/")
    page.locator("#e-verb").select_option("add_jobs")
    page.locator("[data-parameter=like]").fill("j0005")
    page.get_by_role("button", name="Add", exact=True).click()
    said = "From 20:00:00: add a job like j0005, arriving at 20:00:00.001"
    expect(page.locator("#edits .sentence")).to_have_text(said)
    expect(page.locator("#edits .chip")).to_have_text("1 job added")
    page.locator("#e-verb").select_option("change_scheduler")
    names = page.locator("[data-parameter=scheduler] option").all_inner_texts()
    page.locator("[data-parameter=scheduler]").select_option(label="RRH")
    page.get_by_role("button", name="Add", exact=True).click()
    expect(page.locator("#edits .sentence").nth(1)).to_have_text("From 20:00:00: change the scheduler to RRH")
    page.on("dialog", lambda dialog: dialog.accept())
    page.goto("/scenarios/")
    expect(page.locator("#f-scheduler .choice").first).to_be_visible()
    assert sorted(page.locator("#f-scheduler .choice strong").all_inner_texts()) == sorted(names)


def test_the_traces_own_cluster_is_proposed(open_page: Callable[..., Page], small: Small) -> None:
    page = open_page("/clusters/")
    # the newest cluster is another one
    posted(page, "/api/workloads/", {"profile": "oasis", "jobs": 5, "servers": 2, "seed": 9})
    page.goto(f"/scenarios/?trace={small.trace}")
    expect(page.locator(f"#f-trace-{small.trace}")).to_be_checked()
    own = page.locator("#f-cluster .choice").first
    expect(own.locator("input")).to_have_value(str(small.cluster))
    expect(own.locator("input")).to_be_checked()
    expect(own).to_contain_text("Cluster of this trace")
    page.locator("#f-cluster-generate").check()
    expect(page.get_by_label("Servers to generate")).to_be_visible()


def test_a_run_that_has_ended_is_deleted_by_an_operator(open_page: Callable[..., Page]) -> None:
    page = open_page("/clusters/", refused=404)
    run = played_to_its_end(page, small_scenario(page)["id"])
    shown(page, f"/runs/{run}/")
    question = page.locator("dialog.confirm")
    page.locator("#run-delete").click()
    expect(question).to_contain_text(
        re.compile(rf"Delete run {run}, “Small”\? Its log of [\d,]+ events will be deleted permanently")
    )
    page.keyboard.press("Escape")
    expect(question).to_have_count(0)
    expect(page.locator("#run-delete")).to_be_focused()
    page.locator("#run-delete").click()
    question.get_by_role("button", name="Delete run").click()
    page.wait_for_url(re.compile(r":\d+/$"))
    page.goto(f"/runs/{run}/")
    expect(page.get_by_role("heading", level=1)).to_contain_text(f"Run {run}")
    expect(page.locator(".who")).to_contain_text("operator")


def test_the_wheel_scrolls_the_page_and_zooms_with_control(open_page: Callable[..., Page], small: Small) -> None:
    page = open_page("/", viewport={"width": 1280, "height": 500})
    shown(page, f"/runs/{small.run}/")
    page.locator("#utilization").scroll_into_view_if_needed()
    before = page.evaluate("() => [scrollY, window.twin.view.from, window.twin.view.to]")
    page.locator("#utilization").hover(position={"x": 500, "y": 60})
    page.mouse.wheel(0, 120)
    page.wait_for_function("(y) => scrollY > y", arg=before[0])
    assert page.evaluate("() => [window.twin.view.from, window.twin.view.to]") == before[1:]
    page.locator("#utilization").hover(position={"x": 500, "y": 60})
    page.keyboard.down("Control")
    page.mouse.wheel(0, -300)
    page.keyboard.up("Control")
    page.wait_for_function("(to) => window.twin.view.to < to && window.twin.view.from > 0", arg=before[2])
    page.keyboard.down("Control")
    for _ in range(8):
        page.mouse.wheel(0, 900)
    page.keyboard.up("Control")
    page.wait_for_function(
        "() => window.twin.view.from === 0 && window.twin.view.to === window.twin.view.extent * 1.04"
    )


def test_a_promoted_run_is_not_compared_with_the_present_which_it_is(
    open_page: Callable[..., Page],
) -> None:
    page = open_page("/clusters/")
    live = posted(page, "/api/runs/", {"scenario": small_scenario(page)["id"], "mode": "live", "speed": 21_600})["id"]
    page.goto(f"/runs/{live}/")
    page.wait_for_function("() => window.twin?.store.simMs > 6 * 3.6e6")
    # neither it nor its heir ends before the page was looked at
    posted(page, f"/api/runs/{live}/clock/", {"speed": 60})
    at_ms = page.evaluate("() => window.twin.store.simMs")
    edits = [{"verb": "scale_arrivals", "factor": 2, "at_ms": at_ms}]
    fork = posted(page, f"/api/runs/{live}/forks/", {"at_ms": at_ms, "edits": edits, "start": True})["run"]["id"]
    page.goto(f"/runs/{fork}/")
    expect(page.locator("#panel-family .primary")).to_have_text("Compare with the live run")
    promoted = posted(page, f"/api/runs/{fork}/promote/", {})["id"]
    page.goto(f"/runs/{promoted}/")
    expect(page.locator("#panel-family .primary")).to_have_text(f"Compare with run {live}")
    expect(page.locator("#promote")).to_be_disabled()
    expect(page.locator("#promote-why")).to_have_text("This fork need not be promoted: it is live already.")
    page.goto(f"/runs/{fork}/")
    expect(page.locator("#promote")).to_be_disabled()
    expect(page.locator("#promote-why")).to_contain_text(f"This fork cannot be promoted: run {live} is cancelled")
