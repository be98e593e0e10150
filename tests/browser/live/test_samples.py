"""The use of a real cluster: the form with a sampler, the chart of allocated and used, and the tiles of a server."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import Twin, posted
from tests.browser.pushed import Pushed
from tests.twin.samplers.fake_prometheus import FakePrometheus, answer

pytestmark = [pytest.mark.browser, pytest.mark.slow]
SLOW_MS = 40_000


@pytest.fixture
def prometheus() -> Iterator[FakePrometheus]:
    server = FakePrometheus()
    yield server
    server.close()


def test_allocated_and_used_are_shown_from_the_form_on(
    open_page: Callable[..., Page], twin: Twin, prometheus: FakePrometheus
) -> None:
    page = open_page("/live/connect/", refused=400)
    token = posted(page, "/api/tokens/", {"name": "sampled", "scopes": ["ingest:sampled"]})["value"]
    cluster = Pushed(twin.url, "sampled", token)
    cluster.post(
        cluster.event("node.changed", "edge1", 900, gpus=4, cpus=8, memory_mb=16_000, queues=["edge"]),
        cluster.event("node.changed", "cpu1", 900, gpus=0, cpus=8, memory_mb=16_000, queues=["batch"]),
        cluster.event("job.submitted", "1", 600, gpus=4),
        cluster.event(
            "job.started", "1", 590, shares=[{"node": "edge1", "gpus": 4, "cpus": 4, "gpu_ids": [0, 1, 2, 3]}]
        ),
    )
    page.select_option("#c-connector", "push")
    page.fill("#c-name", "sampled")
    page.select_option("#c-sampler", "prometheus")
    page.get_by_role("button", name="Test connection").click()
    expect(page.locator("#s-url-error")).to_contain_text("parameter url is missing")
    page.fill("#s-url", prometheus.url)
    page.get_by_role("button", name="Test connection").click()
    expect(page.locator("#c-result")).to_contain_text("use of GPUs busy samples of 1 of 1 node", timeout=SLOW_MS)
    page.get_by_role("button", name="Connect", exact=True).click()
    expect(page).to_have_url(re.compile("/live/sampled/"), timeout=SLOW_MS)
    page.wait_for_function("() => window.twin?.store.samples.use.length > 0", timeout=SLOW_MS)
    expect(page.locator("#panel-utilization h2")).to_have_text("Allocation and use", timeout=SLOW_MS)
    legend = page.locator("#utilization-legend")
    expect(legend).to_contain_text(re.compile(r"edge GPU allocated\s*100 %"), timeout=SLOW_MS)
    expect(legend).to_contain_text(re.compile(r"edge GPU used\s*75 %"))
    expect(legend).to_contain_text(re.compile(r"edge GPU busy\s*30 %"))
    expect(page.locator("#utilization-note")).to_contain_text("samples of 2 of 2 servers")
    expect(page.locator("#samples")).to_have_text(re.compile(r"samples of 2 nodes, \d+ s old"), timeout=SLOW_MS)
    page.click("#utilization-table")
    expect(page.locator("#utilization-numbers thead")).to_contain_text("edge GPU used (% of the capacity")
    run, server = page.evaluate(
        "() => [document.querySelector('main').dataset.runId, "
        "window.twin.gantt.info.cluster.servers.findIndex(({ name }) => name === 'edge1')]"
    )
    page.goto(f"{twin.url}/runs/{run}/servers/{server}/")
    expect(page.locator("#sample-gpu")).to_have_text("3 of 4", timeout=SLOW_MS)
    expect(page.locator("#sample-busy")).to_have_text("30 %")
    expect(page.locator("#sample-age")).to_have_text(re.compile(r"\d+ s|\d+ min.*"))


def test_a_prometheus_that_refuses_is_said_on_the_page_of_the_cluster(
    open_page: Callable[..., Page], twin: Twin, prometheus: FakePrometheus
) -> None:
    prometheus.hostile = lambda handler: answer(handler, 401, b"")
    page = open_page("/live/connect/", refused=400)
    token = posted(page, "/api/tokens/", {"name": "refused", "scopes": ["ingest:refused"]})["value"]
    Pushed(twin.url, "refused", token).begin()
    settings = {"connector": "push", "parameters": {"source": "refused"}, "name": "refused"}
    posted(
        page,
        "/api/connections/",
        {**settings, "sampler": "prometheus", "sampler_parameters": {"url": prometheus.url}},
    )
    page.goto(f"{twin.url}/live/refused/")
    expect(page.locator("#samples-message")).to_contain_text("it refuses the request (401)", timeout=SLOW_MS)
    expect(page.locator("#follow span.state")).to_contain_text("following", timeout=SLOW_MS)
    page.get_by_role("button", name="Sampler").click()
    address = page.locator("#s-url")
    expect(address).to_have_value(prometheus.url)
    address.fill("nowhere")
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.locator("#s-url-error")).to_contain_text("url must look like http")
    address.fill(prometheus.url + "/")
    prometheus.hostile = None
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.locator("#sampler")).to_have_count(0)
    expect(page.locator("#samples")).to_have_text("waiting for samples", timeout=SLOW_MS)
    page.get_by_role("button", name="Sampler").click()
    page.select_option("#c-sampler", "")
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.locator("#samples")).to_have_count(0, timeout=SLOW_MS)
