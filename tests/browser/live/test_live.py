"""A real cluster, from the form that connects it to its bars: events are posted, a follower mirrors them."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import Twin, posted, watched
from tests.browser.contexts import Contexts
from tests.browser.pushed import Pushed

pytestmark = [pytest.mark.browser, pytest.mark.slow]
SITES = "() => window.twin?.gantt.info.cluster.servers.map((server) => server.site)"
SLOW_MS = 40_000  # a follower looks for connections each second, and streams give a sign of life each 5 s


def test_a_cluster_is_connected_followed_paused_and_removed(open_page: Callable[..., Page], twin: Twin) -> None:
    page = open_page("/live/", refused=400)
    token = posted(page, "/api/tokens/", {"name": "plant", "scopes": ["ingest:plant"]})["value"]
    cluster = Pushed(twin.url, "plant", token)
    page.get_by_role("link", name="Connect a cluster").first.click()
    page.select_option("#c-connector", "push")
    page.fill("#c-name", "my plant")
    page.fill("#p-source", "plant")
    expect(page.locator("#c-guide")).to_contain_text(f"{twin.url}/api/ingest/plant/events")
    page.get_by_role("button", name="Test connection").click()
    expect(page.locator("#c-result")).to_contain_text("The cluster cannot be followed yet.", timeout=SLOW_MS)
    expect(page.locator("#c-result .remedy")).to_have_text(
        "The token plant can post events of plant: post one as docs/push.md shows, and test again."
    )
    page.fill("#p-source", "other")
    page.get_by_role("button", name="Test connection").click()
    expect(page.locator("#c-result .remedy code")).to_have_text(
        "manage.py token create --name other --scope ingest:other", timeout=SLOW_MS
    )
    page.fill("#p-source", "plant")
    cluster.begin()
    page.get_by_role("button", name="Test connection").click()
    expect(page.locator("#c-result")).to_contain_text("The cluster can be followed.", timeout=SLOW_MS)
    expect(page.locator(".preview > table tbody tr").first).to_have_text(re.compile(r"edge\s*1\s*4\s*64"))
    page.fill("#p-edge_pattern", ".*")
    expect(page.locator(".preview > table tbody tr").first).to_have_text(re.compile(r"edge\s*2\s*12\s*192"))
    page.get_by_role("button", name="Connect", exact=True).click()
    expect(page.locator("#c-name-error")).to_contain_text("letters, digits, hyphens and underscores, got 'my plant'")
    page.fill("#c-name", "plant")
    page.get_by_role("button", name="Connect", exact=True).click()
    expect(page).to_have_url(re.compile("/live/plant/"))
    page.wait_for_function("() => window.twin?.store.bars.length >= 2", timeout=SLOW_MS)
    run = page.evaluate("() => document.querySelector('main').dataset.runId")
    expect(page.locator("#data-age")).to_have_text(re.compile(r"last contact \d+ s ago"), timeout=SLOW_MS)
    expect(page.locator("#run-cancel, #run-pause, #run-speed")).to_have_count(0)
    cluster.post(
        cluster.event("job.submitted", "3", 2, gpus=1),
        cluster.event("job.started", "3", 1, shares=[{"node": "gpu2", "gpus": 1, "gpu_ids": [5]}]),
    )
    page.wait_for_function("() => window.twin.store.jobs.length === 3", timeout=SLOW_MS)
    expect(page.locator("#follow")).to_contain_text("2 nodes, 2 running, 1 waiting", timeout=SLOW_MS)
    expect(page.locator("#subtitle")).to_contain_text("3 jobs")
    expect(page.locator("#status")).to_have_text("following")
    drawn = "() => window.twin.gantt.layer('now').ms > 590000"
    page.wait_for_function(drawn, timeout=SLOW_MS)
    page.locator("#jobs tbody tr", has_text=re.compile(r"^2")).click()
    expect(page.locator("#drawer")).to_contain_text("the resources that it requests are not free")
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Pause following").click()
    expect(page.locator("#follow span.state")).to_contain_text("paused since")
    expect(page.locator("#status")).to_have_text("paused")
    page.goto("/?view=table")
    row = page.locator("#live-clusters tbody tr", has_text="plant")
    expect(row).to_contain_text("paused")
    expect(page.locator("#runs tbody tr", has_text="plant").locator('[data-label="Jobs"]')).to_have_text("3")
    row.get_by_role("link").click()
    page.get_by_role("button", name="Resume following").click()
    expect(page.locator("#follow span.state")).to_contain_text("following", timeout=SLOW_MS)
    page.get_by_role("button", name="Remove").click()
    page.get_by_role("dialog").get_by_role("button", name="Remove").click()
    expect(page).to_have_url(re.compile("/live/$"))
    expect(page.locator("#list")).not_to_contain_text("plant")
    page.goto(f"/runs/{run}/")
    expect(page.locator("#status")).to_have_text("finished")
    expect(page.locator("main")).to_contain_text("when the connection plant was removed")
    expect(page.locator("#jobs tbody tr", has_text=re.compile(r"^3"))).to_contain_text("unfinished")


def test_the_rule_of_sites_is_changed_while_the_run_goes_on(open_page: Callable[..., Page], twin: Twin) -> None:
    page = open_page("/live/", refused=400)
    token = posted(page, "/api/tokens/", {"name": "orchard", "scopes": ["ingest:orchard"]})["value"]
    Pushed(twin.url, "orchard", token).begin()
    made = {"name": "orchard", "connector": "push", "parameters": {"source": "orchard"}}
    posted(page, "/api/connections/", made)
    page.goto("/live/orchard/")
    page.wait_for_function("() => window.twin?.store.bars.length >= 2", timeout=SLOW_MS)
    run = page.evaluate("() => document.querySelector('main').dataset.runId")
    servers = page.evaluate(SITES)
    assert set(servers) == {"edge", "cloud"}
    page.get_by_role("button", name="Edge and cloud").click()
    preview = page.locator("#sites .preview > table tbody tr").first
    expect(preview).to_have_text(re.compile(r"edge\s*1\s*4\s*64"))
    pattern = page.get_by_label("Nodes at the edge")
    expect(pattern).to_have_value("edge.*")
    pattern.fill("(")
    expect(page.locator("#p-edge_pattern-error")).to_contain_text("edge_pattern must be a regular expression")
    pattern.fill(".*")
    expect(preview).to_have_text(re.compile(r"edge\s*2\s*12\s*192"))
    expect(pattern).to_be_focused()
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.locator("#sites")).to_have_count(0)
    page.wait_for_function(f"() => ({SITES})()?.every((site) => site === 'edge')", timeout=SLOW_MS)
    assert page.evaluate("() => document.querySelector('main').dataset.runId") == run
    page.get_by_role("button", name="Remove").click()
    page.get_by_role("dialog").get_by_role("button", name="Remove").click()
    expect(page).to_have_url(re.compile("/live/$"))


def test_a_viewer_looks_at_live_clusters_and_connects_none(contexts: Contexts, twin: Twin) -> None:
    with watched(contexts, None) as open_page:
        page = open_page(twin.login_link("viewer"), refused=403)
        page.goto("/live/")
        expect(page.get_by_role("heading", name="Live clusters", exact=True)).to_be_visible()
        expect(page.get_by_role("link", name="Connect a cluster")).to_have_count(0)
        page.goto("/live/connect/")
        expect(page.locator("main")).to_contain_text("Connecting a cluster is for operators")


def test_an_unknown_cluster_has_a_page_that_says_so(open_page: Callable[..., Page]) -> None:
    page = open_page("/live/nobody/", refused=404)
    expect(page.locator("main")).to_contain_text("No cluster is connected under the name nobody")
