"""A_online from a sampled workload to its picture: workers, the cloud's band, uploads, who displaced whom, quality."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple

import pytest
from playwright.sync_api import Page, StorageState, expect

from tests.browser.conftest import open_controls
from tests.browser.contexts import Contexts

pytestmark = [pytest.mark.browser, pytest.mark.slow]
FLIGHTS = """() => { const { gantt } = window.twin; const out = [];
  for (const row of gantt.rows.list) if (row.kind === 'server')
    for (const g of gantt.layer('uploads').grouped(row, 0, 1e15, 1e15))
      out.push([g.job, g.server, g.from, g.until, g.count]);
  return out.sort((a, b) => a[0] - b[0] || a[1] - b[1]); }"""
WITH_UPLOADS = "() => window.twin?.store.finished && window.twin.gantt.layer('uploads').any"
DISPLACED = """async (run) => { for (let job = 0; job < 60; job++) {
  const story = await (await fetch(`/api/runs/${run}/jobs/${job}/`)).json();
  if (story.decisions.some((d) => d.kind === 'preempted')) return job; } return null; }"""


class Sampled(NamedTuple):
    """A finished run of a sampled workload, and the uploads that a page folded from its frames."""

    path: str
    streamed: list[list[float]]


@pytest.fixture(scope="module")
def sampled(contexts: Contexts, operator_session: StorageState) -> Sampled:
    """The workload is sampled and its run started on the pages."""
    with contexts.lent(operator_session) as context:
        page = context.new_page()
        page.goto("/traces/")
        page.locator("#g-profile").select_option("a-online")
        page.locator("#g-jobs").fill("60")
        page.locator("#g-servers").fill("8")
        page.locator("#g-seed").fill("2")
        page.get_by_role("button", name="Generate").click()
        page.locator("#generate").get_by_role("link", name="Use in a scenario").click()
        expect(page.locator("#f-fit")).to_contain_text("all 60 jobs pass the check")
        page.locator("#f-scheduler-a_online").check()
        page.locator("#advanced summary").click()
        expect(page.locator("#parameters .field").first).to_be_visible()
        page.get_by_role("button", name="Run A_online").click()
        page.wait_for_url(re.compile(r"/runs/\d+/"))
        page.wait_for_function(WITH_UPLOADS, timeout=60_000)
        return Sampled(page.url, page.evaluate(FLIGHTS))


def test_the_uploads_of_frames_are_those_of_the_log(open_page: Callable[..., Page], sampled: Sampled) -> None:
    """What the page folded from frames equals what a page opened later reads from a snapshot."""
    assert len({job for job, *_ in sampled.streamed}) == 60
    for _, server, start, until, _ in sampled.streamed:
        assert 1 <= (until - start) / 3_600_000 <= (15 if server == -2 else 4)
    again = open_page(sampled.path)
    again.wait_for_function(WITH_UPLOADS)
    assert again.evaluate(FLIGHTS) == sampled.streamed


@pytest.mark.parametrize("width", [1280, 390])
def test_workers_cloud_uploads_and_reasons_are_on_the_page(
    open_page: Callable[..., Page], sampled: Sampled, width: int
) -> None:
    page = open_page(sampled.path, viewport={"width": width, "height": 900})
    page.wait_for_function("() => window.twin?.store.finished && window.twin.gantt.layer('uploads').any")
    rows = page.evaluate(
        "() => window.twin.gantt.rows.list.map((row) => [row.kind, row.label, row.typed ? row.subRows : 0])"
    )
    assert [label for kind, label, _ in rows if kind == "site"] == ["edge · 8 servers", "unlimited cloud"]
    assert {sub_rows for kind, label, sub_rows in rows if kind == "server" and label != "cloud"} <= {6, 24}, (
        "workers, and twice the ps"
    )
    expect(page.locator("#panel-gantt .note:not(#gantt-legend)")).to_contain_text(
        "upload, or reload of the data of a gang"
    )
    page.evaluate(
        "() => { const { view, gantt } = window.twin; view.set(31 * 864e5, 36 * 864e5); gantt.scrollTo(1e9); }"
    )
    open_controls(page)
    page.locator("#gantt-table").click()
    expect(page.locator("#gantt-numbers tr", has_text="upload").filter(has_text="cloud").first).to_contain_text("j0002")
    assert page.evaluate("() => document.documentElement.scrollWidth") <= width
    expect(page.locator("#tiles")).to_contain_text("Total utility")
    expect(page.locator("#panel-metrics")).to_contain_text("3d 3h")
    expect(page.locator("#panel-certificate")).to_contain_text(
        re.compile(r"within a factor of 1\.0\d+ of the optimum"), timeout=60_000
    )
    expect(page.locator("#panel-certificate")).to_contain_text("its proof does not hold as")
    expect(page.locator("#utilization-legend")).to_contain_text("edge workers")
    job = page.evaluate(DISPLACED, int(sampled.path.rstrip("/").split("/")[-1]))
    page.goto(f"{sampled.path}?job={job}")
    reason = page.locator("#drawer .reason[data-kind=preempted]").first
    expect(reason).to_contain_text("Preempted by job")
    for term in ("Upload", "Wait for earlier chunks", "Processing", "Delay of later chunks", "Total"):
        expect(reason.locator(".terms")).to_contain_text(term)
    reason.get_by_role("button", name=re.compile(r"^j\d+$")).click()
    expect(page.locator("#drawer .reason[data-kind=admitted]")).to_contain_text("Displaces")


def test_the_tip_tells_an_upload(open_page: Callable[..., Page], sampled: Sampled) -> None:
    """In the middle of an upload to the cloud, over its strip."""
    page = open_page(sampled.path)
    page.wait_for_function("() => window.twin?.store.finished && window.twin.gantt.layer('uploads').any")
    page.evaluate("() => window.twin.view.set(31 * 864e5, 36 * 864e5)")
    page.locator("#panel-gantt").scroll_into_view_if_needed()
    point = """() => { const { gantt } = window.twin; const row = gantt.rows.list.findIndex((r) => r.label === 'cloud');
      const [one] = gantt.layer('uploads').grouped(gantt.rows.list[row], 31 * 864e5, 36 * 864e5, 1e15);
      const { chartArea: a, scales } = gantt.chart;
      return [scales.x.getPixelForValue((one.from + one.until) / 2),
        a.top + (row + 0.5) * gantt.rowHeight() - gantt.top]; }"""
    x, y = page.evaluate(point)
    page.locator("#gantt").hover(position={"x": x, "y": y})
    expect(page.locator("#tip")).to_contain_text(re.compile(r"upload of \d+ chunks, 1\dh"))
