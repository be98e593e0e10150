"""A finished run as an operator reads it: moments by link, each event, a server's page, colours, rows, highlights."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from django.conf import settings
from playwright.sync_api import Page, expect

from benchmarks._stack import environment
from benchmarks._views import ask_to_delete
from tests.browser.conftest import Twin

pytestmark = [pytest.mark.browser, pytest.mark.slow]
FITS = "(width) => document.documentElement.scrollWidth <= width"
LOADED = "() => window.twin?.store.lastSeq > 0"
# Every job that has completed gets a share of this utility in all.
EARNED = """(total) => {
  const { store, playhead } = window.twin;
  const done = [...store.jobs.completed_ms.subarray(0, store.jobs.length).keys()]
    .filter((job) => store.jobs.completed_ms[job] >= 0);
  done.forEach((job) => (store.jobs.utility[job] = total / done.length));
  playhead.scrub(playhead.liveMs - 1);
  playhead.goLive(); }"""
CUT = """() => [...document.querySelectorAll('#tiles .tile')]
  .filter((tile) => tile.querySelector('dd').scrollWidth >
    tile.clientWidth - parseFloat(getComputedStyle(tile).paddingRight))
  .map((tile) => tile.textContent)"""
# A workload whose jobs state chunks only; `generate` would derive the samples.
WITHOUT_SAMPLES = """
from dataclasses import replace
from scheduling.workloads import generate
from twin.scenarios.store import store_generated
cluster, jobs = generate("oasis", num_jobs=80, num_servers=80, seed=1)
jobs = [replace(job, num_samples=None, sample_ms=None) for job in jobs]
spec, trace = store_generated("chunks only", cluster, jobs, 1)
print(trace.pk, spec.pk)
"""
SEEN = "() => [window.twin.playhead.ms, window.twin.view.from, window.twin.view.to, window.twin.gantt?.selected]"


def test_a_link_shows_the_same_moment_zoom_and_job(open_page: Callable[..., Page], finished_run: int) -> None:
    page = open_page(f"/runs/{finished_run}/")
    page.wait_for_function("() => window.twin?.store.finished")
    page.locator("#event-back").click()
    page.locator("#event-back").click()
    last = page.evaluate("() => window.twin.store.lastSeq")
    expect(page.locator("#event-at")).to_contain_text(f"event {last - 1:,} of {last:,}")
    page.locator("#gantt").focus()
    page.keyboard.press("+")
    page.locator("#jobs tr[data-job='4']").click()
    expect(page.locator("#drawer h1")).to_have_text("j0005")
    expect(page).to_have_url(re.compile(rf"(?=.*\bevent={last - 1}\b)(?=.*\bjob=4\b)(?=.*\bt=\d+)"))
    expect(page).to_have_url(re.compile(r"from=-?\d+&to=\d+"))
    other = open_page(page.url)
    other.wait_for_function(LOADED)
    expect(other.locator("#event-at")).to_contain_text(f"event {last - 1:,} of {last:,}")
    expect(other.locator("#drawer h1")).to_have_text("j0005")
    assert other.evaluate(SEEN) == pytest.approx(page.evaluate(SEEN), abs=1)  # the address has whole ms


def test_everything_shows_the_moment(open_page: Callable[..., Page], finished_run: int) -> None:
    """Just after its arrival the first job is admitted and has not begun: tiles, table and drawer say so."""
    page = open_page(f"/runs/{finished_run}/")
    page.wait_for_function("() => window.twin?.store.finished")
    arrived = page.evaluate("() => window.twin.store.jobs.arrived_ms[0]")
    floor = page.locator("#prices-legend b").first
    expect(floor).not_to_have_text("–")
    page.goto(f"/runs/{finished_run}/?t={arrived}&job=0")
    page.wait_for_function(LOADED)
    expect(page.locator("#jobs-count")).to_contain_text("1 arrived job, state at")
    expect(page.locator("#jobs tbody tr")).to_have_count(1)
    expect(page.locator("#drawer .notice")).to_contain_text("State at")
    expect(page.locator("#drawer .state").first).to_have_text("planned")
    expect(page.locator("#tile-completed")).to_have_text("0")
    expect(page.locator("#drawer svg.utility circle.finish")).to_have_count(1)
    page.locator("#live").click()
    expect(page.locator("#drawer .state").first).to_have_text("completed")
    expect(page.locator("#drawer .notice")).to_have_count(0)


def test_every_tile_shows_its_whole_value(open_page: Callable[..., Page], finished_run: int) -> None:
    page = open_page(f"/runs/{finished_run}/")
    page.wait_for_function("() => window.twin?.store.finished")
    for utility in (629_638.6, 12_345_678.9):
        page.evaluate(EARNED, utility)
        expect(page.locator("#tile-utility")).to_have_text(f"{utility:,.1f}")
        for width in (390, 1280, 1920):
            page.set_viewport_size({"width": width, "height": 900})
            assert page.evaluate(CUT) == [], width


def test_the_table_of_jobs_fits_the_side_column(open_page: Callable[..., Page], finished_run: int) -> None:
    """The other columns are in its menu."""
    page = open_page(f"/runs/{finished_run}/", viewport={"width": 1920, "height": 900})
    page.locator("#jobs tr[data-job]").first.wait_for()
    assert (
        page.evaluate(
            "() => { const { scrollWidth, clientWidth } = document.querySelector('#jobs');"
            "return scrollWidth - clientWidth; }"
        )
        <= 1
    )
    expect(page.locator("#jobs th", has_text="Planned finish")).to_have_count(0)
    page.get_by_role("button", name="Columns").click()
    page.get_by_label("Planned finish").check()
    expect(page.locator("#jobs th", has_text="Planned finish")).to_have_count(1)


def test_the_bar_of_the_time_shown_leaves_no_gap_and_cuts_no_text(
    open_page: Callable[..., Page], finished_run: int
) -> None:
    page = open_page(f"/runs/{finished_run}/?t=80000000", viewport={"width": 1280, "height": 800})
    page.wait_for_function(LOADED)
    expect(page.locator("#behind")).to_have_text(re.compile("before the end$"))
    cut = page.locator("#behind").evaluate("one => one.scrollWidth - one.clientWidth")
    assert cut <= 0
    place = "one => { const { left, right } = one.getBoundingClientRect(); return [left, right]; }"
    (begin, end), (live, _) = (page.locator(one).evaluate(place) for one in ("#scrub", "#live"))
    assert end - begin > 200
    assert live - end < 20


def test_a_run_is_deleted_from_a_phone_too(open_page: Callable[..., Page], finished_run: int) -> None:
    page = open_page(f"/runs/{finished_run}/", viewport={"width": 390, "height": 900})
    page.wait_for_function(LOADED)
    ask_to_delete(page)
    expect(page.get_by_role("dialog").get_by_role("button", name="Delete run")).to_be_visible()
    page.keyboard.press("Escape")


def test_an_event_of_the_table_leads_to_its_moment(open_page: Callable[..., Page], finished_run: int) -> None:
    page = open_page(f"/runs/{finished_run}/?events=1&kind=decided/rejected")
    page.wait_for_function(LOADED)
    row = page.locator("#events tbody tr").nth(2)
    seq = row.locator("td").first.inner_text()
    row.locator("button.link").first.click()
    expect(page.locator("#event-at")).to_contain_text(f"event {seq} of")
    expect(page.locator("#events tr[aria-selected='true'] td").first).to_have_text(seq)
    expect(page).to_have_url(re.compile(rf"event={seq.replace(',', '')}\b"))


def test_rows_colours_and_highlights_are_kept_in_the_address(open_page: Callable[..., Page], finished_run: int) -> None:
    page = open_page(f"/runs/{finished_run}/")
    page.wait_for_function(LOADED)
    page.locator("#gantt-rows button[data-rows='sites']").click()
    expect(page.locator("#gantt-count")).to_contain_text("2 sites")
    page.locator("#gantt-colour").select_option("state")
    expect(page.locator("#gantt-legend")).to_contain_text("completed")
    page.locator("#gantt-colour").select_option("payoff")
    expect(page.locator("#gantt-legend")).to_contain_text("payoff = utility − cost")
    page.locator("#job-search").fill("vgg")
    expect(page.locator("#job-found")).to_contain_text(re.compile(r"^\d+ of 80 jobs highlighted"))
    marked = page.evaluate("() => window.twin.gantt.marked.reduce((a, b) => a + b, 0)")
    assert 0 < marked < 80
    expect(page).to_have_url(re.compile("rows=sites&colour=payoff&find=vgg"))
    page.reload()
    page.wait_for_function(LOADED)
    expect(page.locator("#gantt-count")).to_contain_text("2 sites")
    assert page.evaluate("() => window.twin.gantt.marked.reduce((a, b) => a + b, 0)") == marked


def test_a_servers_page_tells_what_is_on_it(open_page: Callable[..., Page], finished_run: int) -> None:
    """The amounts of its tiles are the sums of the bars there at that moment."""
    page = open_page(f"/runs/{finished_run}/")
    page.wait_for_function("() => window.twin?.store.finished")
    server, moment = page.evaluate(
        """() => { const { bars } = window.twin.store; let best = 0;
        for (let i = 0; i < bars.length; i++)
          if (bars.role[i] === 0 && bars.died_ms[i] < 0 && bars.count[i] > bars.count[best]) best = i;
        return [bars.server[best], bars.start_ms[best] + 1]; }"""
    )
    page.goto(f"/runs/{finished_run}/servers/{server}/?t={moment}")
    page.wait_for_function(LOADED)
    expect(page.locator("#tiles dd").nth(1)).to_have_text(re.compile(r"[1-9][\d.]* of \d+"))
    expect(page.locator("#jobs .state[data-state='running']").first).to_be_visible()
    expect(page.locator("#panel-prices")).to_be_visible()
    expect(page.locator("#job-key .legend button.key .swatch").first).to_be_visible()
    page.locator("#stack-gpu-table").click()
    expect(page.locator("#stack-gpu-numbers tbody tr").first).to_be_visible()
    page.locator("#jobs button.link").first.click()
    expect(page.locator("#drawer h1")).to_be_visible()
    page.keyboard.press("Escape")
    page.locator("#back").click()
    expect(page).to_have_url(re.compile(rf"/runs/{finished_run}/"))


def test_the_audit_page_filters_and_keeps_its_filters(open_page: Callable[..., Page], finished_run: int) -> None:
    page = open_page("/audit/?action=run")
    expect(page.locator("#action")).to_have_value("run")
    expect(page.locator("#list tbody tr").first).to_contain_text(re.compile(r"run \d"))
    page.locator("#q").fill("no such thing")
    expect(page.locator("#list")).to_contain_text("No matching entries")
    expect(page).to_have_url(re.compile("q=no\\+such\\+thing"))
    # the list begins with the newest of all runs, and their number grows
    page.locator("#q").fill(f"run {finished_run}")
    page.get_by_role("link", name=f"run {finished_run}", exact=True).first.click()
    expect(page).to_have_url(re.compile(rf"/runs/{finished_run}/"))


def test_the_bar_of_a_finished_run_has_one_line(open_page: Callable[..., Page], finished_run: int) -> None:
    page = open_page(f"/runs/{finished_run}/")
    page.wait_for_function(LOADED)
    badge = page.locator("#connection")
    expect(badge).to_contain_text("complete, ended at")
    badge.evaluate("badge => { badge.firstChild.data = 'complete, ended at 13d 09:00:00'; }")
    assert page.locator("header.top").evaluate("bar => bar.offsetHeight") <= 46
    assert page.locator("header.top :is(a, .who, .connection, button):not([popover] *)").evaluate_all(
        "all => all.every((one) => one.getClientRects().length === 1 && one.offsetHeight <= 44)"
    )
    assert page.evaluate("() => document.documentElement.scrollWidth") == 1280
    expect(page.locator("#gantt-count")).to_contain_text("80 servers")


def without_samples(twin: Twin) -> list[str]:
    """Trace and cluster of the workload, stored in the database of the stack."""
    command = [sys.executable, str(settings.BASE_DIR / "manage.py"), "shell", "-c", WITHOUT_SAMPLES]
    done = subprocess.run(command, env=environment(twin.folder), capture_output=True, text=True, check=True)
    return done.stdout.split()[-2:]


def test_a_form_and_a_run_tell_of_jobs_that_are_all_rejected(
    open_page: Callable[..., Page], twin: Twin, tmp_path: Path
) -> None:
    trace, cluster = without_samples(twin)
    page = open_page(f"/scenarios/?trace={trace}&cluster={cluster}")
    expect(page.locator("#f-scheduler-oasis")).to_be_checked()
    expect(page.locator("#f-fit")).to_contain_text("OASiS: all 80 jobs pass the check")
    expect(page.locator("#f-warnings")).to_be_hidden()
    page.locator("#f-scheduler-pd_ors").check()
    expect(page.locator("#f-scheduler-oasis")).not_to_be_checked()
    warnings = page.locator("#f-warnings")
    expect(warnings).to_contain_text("80 of 80 jobs lack num_samples")
    fit = page.locator("#f-fit")
    expect(fit).to_contain_text("PD-ORS: 0 of 80 jobs pass the check")
    expect(page.locator("#f-scheduler .choice", has_text="OASiS").first).to_contain_text("All 80 jobs pass the check")
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        for width in (390, 1280):
            page.set_viewport_size({"width": width, "height": 900})
            assert page.evaluate("() => document.documentElement.scrollWidth") <= width
            page.screenshot(path=tmp_path / f"form-{scheme}-{width}.png", full_page=True)
    page.get_by_role("button", name="Run PD-ORS").click()
    page.wait_for_url(re.compile(r"/runs/\d+/"))
    expect(page.locator("#all-rejected")).to_contain_text("All 80 jobs with a decision were rejected.")
    expect(page.locator("#all-rejected")).to_contain_text("Most frequent reason (80")
    expect(page.locator("#all-rejected")).to_contain_text("the job has no num_samples")
    for width in (390, 1280):
        page.set_viewport_size({"width": width, "height": 900})
        page.wait_for_function(FITS, arg=width)  # charts are drawn again in the next frame
        page.screenshot(path=tmp_path / f"run-{width}.png")
