"""What a page says of its connection: red with the time of the last data when lost; complete; deleted."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import BrowserContext, Page, StorageState, WebSocketRoute, expect

from tests.browser.conftest import posted, posted_scenario
from tests.browser.contexts import Contexts

pytestmark = [pytest.mark.browser, pytest.mark.slow]
LAST_DATA = re.compile(r"^offline: last data \d\d:\d\d:\d\d UTC, .* ago; reconnecting$")
COMPLETE = re.compile(r"^complete, ended at [\d d:]+$")
DELETED = "(OASiS, “{name}”) was deleted by operator on"
REMOVE = """(path) => fetch(path, { method: 'DELETE',
  headers: { 'X-CSRFToken': document.querySelector('meta[name="csrf-token"]').content } })
  .then((answer) => answer.status)"""


@pytest.fixture
def short_run(context: BrowserContext) -> Callable[[str], int]:
    """A finished run of its own of a scenario with that name."""

    def make(name: str) -> int:
        page = context.new_page()
        page.goto("/scenarios/")
        made = posted(page, "/api/workloads/", {"profile": "oasis", "jobs": 6, "servers": 4, "seed": 4})
        body = {"name": name, "cluster": made["cluster"]["id"], "trace": made["trace"]["id"], "scheduler": "oasis"}
        scenario = posted(page, "/api/scenarios/", {**body, "seed": 1})
        run = int(posted(page, "/api/runs/", {"scenario": scenario["id"], "mode": "batch"})["id"])
        page.goto(f"/runs/{run}/")
        expect(page.locator("#status")).to_have_text("finished")
        page.close()
        return run

    return make


def remove(context: BrowserContext, run: int) -> None:
    page = context.new_page()
    page.goto("/clusters/")
    assert page.evaluate(REMOVE, f"/api/runs/{run}/") == 204
    page.close()


@pytest.mark.parametrize("path", ["/runs/{run}/", "/runs/{run}/servers/0/", "/", "/traces/"])
def test_a_browser_that_goes_offline_turns_red_at_once_and_comes_back(
    context: BrowserContext, live_run: int, path: str
) -> None:
    page = context.new_page()
    page.goto(path.format(run=live_run))
    badge = page.locator("#connection")
    expect(badge).to_have_attribute("data-state", "live")
    context.set_offline(True)
    expect(badge).to_have_attribute("data-state", "offline")
    expect(badge).to_have_text(LAST_DATA)
    context.set_offline(False)
    expect(badge).to_have_attribute("data-state", "live")


@pytest.mark.parametrize("path", ["/runs/{run}/", "/"])
def test_a_line_on_which_nobody_answers_turns_red(context: BrowserContext, live_run: int, path: str) -> None:
    """Neither end notices: the network drops what is sent."""
    page = context.new_page()
    swallows = {"on": False}

    def between(socket: WebSocketRoute) -> None:
        if swallows["on"]:
            return  # a new line opens and is as silent; closing it here would wait for ever in Playwright's own loop
        server = socket.connect_to_server()
        socket.on_message(lambda message: None if swallows["on"] else server.send(message))
        server.on_message(lambda message: None if swallows["on"] else socket.send(message))

    page.route_web_socket(re.compile("/ws/"), between)
    page.goto(path.format(run=live_run))
    badge = page.locator("#connection")
    expect(badge).to_have_attribute("data-state", "live")
    swallows["on"] = True
    expect(badge).to_have_attribute("data-state", "offline")
    expect(badge).to_have_text(LAST_DATA)
    swallows["on"] = False
    expect(badge).to_have_attribute("data-state", "live")


def test_a_finished_run_is_complete_and_has_no_age(context: BrowserContext, finished_run: int) -> None:
    page = context.new_page()
    page.goto(f"/runs/{finished_run}/")
    badge = page.locator("#connection")
    expect(badge).to_have_text(COMPLETE)
    context.set_offline(True)
    expect(badge).to_have_text("offline; reconnecting")


def test_a_run_that_is_deleted_while_it_is_open_says_so_everywhere(
    context: BrowserContext, short_run: Callable[[str], int]
) -> None:
    run, other = short_run("Short lived"), short_run("Stays")
    sentence = f"Run {run} {DELETED.format(name='Short lived')}"
    pages: dict[str, Page] = {}
    for path in (f"/runs/{run}/", f"/runs/{run}/servers/0/", f"/compare/?runs={other},{run}", "/?view=table"):
        pages[path] = context.new_page()
        pages[path].goto(path)
    for path in (f"/runs/{run}/", f"/runs/{run}/servers/0/"):
        expect(pages[path].locator("#connection")).to_have_text(COMPLETE)
    expect(pages[f"/compare/?runs={other},{run}"].locator("#connection")).to_have_attribute("data-state", "live")
    row = pages["/?view=table"].locator("#runs").get_by_role("link", name=f"{run} · Short lived")
    expect(row).to_be_visible()
    remove(context, run)
    for path in list(pages)[:3]:
        expect(pages[path].locator("#notice")).to_contain_text(sentence)
    page = pages[f"/runs/{run}/"]
    expect(page.locator("#connection")).to_have_text("deleted")
    expect(page.locator("#status")).to_have_text("deleted")
    expect(page.locator("#fork")).to_be_hidden()
    expect(row).to_have_count(0)

    answer = page.goto(f"/runs/{run}/")
    assert answer is not None
    assert answer.status == 404
    expect(page.locator("main")).to_contain_text(sentence)
    page.get_by_role("link", name="audit entries of").click()
    expect(page.locator("#list tbody tr")).to_have_count(2)
    expect(page.locator("#list s", has_text=f"run {run}")).to_have_count(2)
    expect(page.locator("#list")).to_contain_text(sentence)
    expect(page.locator("#list a")).to_have_count(0)


def test_a_page_that_was_offline_meanwhile_finds_out_when_it_is_back(
    context: BrowserContext, contexts: Contexts, operator_session: StorageState, short_run: Callable[[str], int]
) -> None:
    run = short_run("Missed")
    page = context.new_page()
    page.goto(f"/runs/{run}/")
    expect(page.locator("#connection")).to_have_text(COMPLETE)
    context.set_offline(True)
    expect(page.locator("#connection")).to_have_attribute("data-state", "offline")
    with contexts.lent(operator_session) as elsewhere:
        remove(elsewhere, run)
    context.set_offline(False)
    expect(page.locator("#notice")).to_contain_text(f"Run {run} {DELETED.format(name='Missed')}")


def test_a_page_without_a_socket_goes_on_asking(context: BrowserContext) -> None:
    """A sweep that still runs is asked about by HTTP."""
    page = context.new_page()
    page.goto("/scenarios/")
    scenario = posted_scenario(page, "Many", jobs=60, servers=40)
    axes = [{"parameter": "floor_scale", "values": [0.1, 0.5, 1, 2, 5, 10]}]
    sweep = posted(page, "/api/sweeps/", {"scenario": scenario["id"], "axes": axes, "seeds": [0, 1, 2]})["id"]
    page.goto(f"/sweeps/{sweep}/")
    badge = page.locator("#connection")
    expect(badge).to_have_attribute("data-state", "live")
    context.set_offline(True)
    expect(badge).to_have_text(LAST_DATA)
    context.set_offline(False)
    expect(badge).to_have_text("complete", timeout=120_000)
    expect(page.locator("#going")).to_have_text("18 of 18 runs finished")
