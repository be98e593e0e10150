"""Harmony on its own workload, as an operator sees it: bands, states of jobs, subtasks and idling, claims."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, StorageState, expect

from tests.browser.boxes import box_at_rest
from tests.browser.conftest import open_controls
from tests.browser.contexts import Contexts

pytestmark = [pytest.mark.browser, pytest.mark.slow]
START = """async (parameters) => {
  const { post } = await import(new URL('../core/api.js', document.querySelector('script[src*="js/pages/"]').src));
  const made = await post('/api/workloads/', { profile: 'harmony', jobs: 10, servers: 12, seed: 2 });
  const scenario = await post('/api/scenarios/', { name: 'Groups', cluster: made.cluster.id,
    trace: made.trace.id, scheduler: 'harmony', parameters, seed: 0 });
  return (await post('/api/runs/', { scenario: scenario.id, mode: 'batch' })).id; }"""
ROW = """([index, ms]) => { const { gantt } = window.twin; const area = gantt.chart.chartArea;
  const place = gantt.rows.list.findIndex((row) => row.kind !== 'site' && row.index === index);
  gantt.scrollTo(place * gantt.rowHeight() - gantt.height / 2);
  return [area.left + (ms - gantt.view.from) / (gantt.view.to - gantt.view.from) * (area.right - area.left),
    area.top + (place + 0.25) * gantt.rowHeight() - gantt.top]; }"""


@pytest.fixture(scope="module")
def grouped_runs(contexts: Contexts, operator_session: StorageState) -> list[int]:
    """One whose jobs are profiled first, and one whose times are known."""
    with contexts.lent(operator_session) as context:
        page = context.new_page()
        page.goto("/")
        return [page.evaluate(START, parameters) for parameters in ({"profiling": "online"}, {})]


def finished(page: Page) -> None:
    page.wait_for_function("() => window.twin?.store.finished && window.twin.stream.state === 'live'")


def point_at(page: Page, index: int, at_ms: float) -> None:
    """The mouse over the row of a server or job at a moment."""
    box = box_at_rest(page.locator("#gantt"))
    x, y = page.evaluate(ROW, [index, at_ms])
    page.mouse.move(box["x"] + x - 1, box["y"] + y)
    page.mouse.move(box["x"] + x, box["y"] + y)


@pytest.mark.parametrize("width", [1280, 390])
def test_bands_states_subtasks_and_claims(open_page: Callable[..., Page], grouped_runs: list[int], width: int) -> None:
    online, instant = grouped_runs
    page = open_page(f"/runs/{online}/", viewport={"width": width, "height": 900})
    finished(page)
    open_controls(page)
    page.locator("#panel-gantt").scroll_into_view_if_needed()
    band = page.evaluate(
        "() => window.twin.store.groups.find(([from, until, data]) => data.jobs.length > 1 && until > from)"
    )
    point_at(page, band[2]["servers"][0], (band[0] + band[1]) / 2)
    expect(page.locator("#tip")).to_contain_text(f"group {band[2]['group']}")
    expect(page.locator("#tip")).to_contain_text("on disk")

    page.locator("#gantt-rows button[data-rows=jobs]").click()
    expect(page.locator("#gantt-marks")).to_contain_text("profiling: computation and communication times")
    stretches = page.evaluate(
        "() => [...Array(10).keys()].flatMap((job) => window.twin.gantt.layer('job-states').of(job)"
        ".map(({ state, from, until }) => [job, state, from, until]))"
    )
    for state in ("profiling", "moving", "suspended", "running"):
        job, _, begin, end = max((row for row in stretches if row[1] == state), key=lambda row: row[3] - row[2])
        page.evaluate(
            "([from, to]) => window.twin.view.set(from, to)", [max(0, begin - (end - begin)), end + (end - begin)]
        )
        point_at(page, job, (begin + end) / 2)
        expect(page.locator("#tip")).to_contain_text(state)
    expect(page.locator("#jobs-state option", has_text="profiling")).to_have_count(1)
    page.locator("#jobs tbody tr").first.click()
    drawer = page.get_by_role("dialog", name="Job")
    expect(drawer.get_by_role("heading", name="Group history")).to_be_visible()
    expect(drawer.locator('.state[data-state="profiling"]')).to_be_visible()
    assert page.evaluate("() => document.querySelector('#drawer').scrollWidth") <= width
    drawer.get_by_role("button", name="Close").click()

    group = page.evaluate("""() => window.twin.store.groups.find(([from, until, data]) =>
      data.jobs.length > 1 && until - from > 20 * data.iteration_ms
      && Math.min(data.cpu_utilization, data.net_utilization) < 0.97)""")
    begin, length = group[0] + 5 * group[2]["iteration_ms"], 3 * group[2]["iteration_ms"]
    page.goto(f"/runs/{online}/?from={begin:.0f}&to={begin + length:.0f}")
    finished(page)
    page.wait_for_function(
        "() => [...window.twin.gantt.layer('group-bands').windows.values()].some((answer) => "
        "answer?.bars.length && answer.idle.length)"
    )
    answer = page.evaluate(
        "() => [...window.twin.gantt.layer('group-bands').windows.values()].find((answer) => "
        "answer?.bars.length && answer.idle.length)"
    )
    assert {bar[1] for bar in answer["bars"]} == {0, 1, 2}
    assert {cause for *_, cause in answer["idle"]} <= {"cpu", "net", "job"}
    page.locator("#panel-gantt").scroll_into_view_if_needed()
    point_at(page, group[2]["servers"][0], begin + length / 2)
    expect(page.locator("#tip")).to_contain_text("limited by")

    page.goto(f"/runs/{instant}/")
    finished(page)
    note = page.locator("#certificate-note")
    expect(note).to_contain_text("Makespan, completed and planned jobs", timeout=60_000)
    expect(note).to_contain_text("Oracle's wider search")
    expect(note).to_contain_text("not a bound")
    assert page.evaluate("() => document.documentElement.scrollWidth") <= width
