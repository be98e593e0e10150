"""Texts of the pages at 390 px: nothing is cut or covered, and the arrow of a metric stands beside its name."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import posted

pytestmark = [pytest.mark.browser, pytest.mark.slow]
PHONE = {"width": 390, "height": 800}
# Names in legends, selected options and placeholders that are wider than their places; runs have names of any length.
CUT = """() => {
  const width = (element, text) => {
    const probe = document.createElement('span');
    probe.style.cssText = 'position: absolute; white-space: nowrap';
    probe.style.font = getComputedStyle(element).font;
    probe.textContent = text;
    document.body.append(probe);
    const found = probe.getBoundingClientRect().width;
    probe.remove();
    return found;
  };
  const [PADDING, ARROW, CANCEL] = [16, 12, 16];
  const seen = (selector) => [...document.querySelectorAll(`main ${selector}`)].filter((e) => e.offsetParent);
  const names = seen('button.key span').filter((e) => e.scrollWidth > e.clientWidth + 1).map((e) => e.textContent);
  const fields = [...seen('select:not(#present-run)'), ...seen('input[placeholder]')];
  const texts = fields.filter((e) => !e.placeholder || !e.value).map((e) => {
    const text = e.placeholder ?? e.selectedOptions[0]?.textContent.trim() ?? '';
    const room = e.clientWidth - PADDING - (e.type === 'search' ? CANCEL : e.placeholder ? 0 : ARROW);
    return width(e, text) > room ? text : null;
  });
  return [...names, ...texts.filter(Boolean)]; }"""
ARROWS = """() => [...document.querySelectorAll('#metrics .way-short')].map((arrow) => {
  const name = arrow.closest('th').querySelector('.term').getBoundingClientRect();
  return arrow.getBoundingClientRect().top < name.top + 10; })"""

SMALL_TARGETS = """() => [...document.querySelectorAll(
    'main :is(button.key, button.term, td a, th a, #go-to), td > input[type="checkbox"]')]
  .filter((element) => element.offsetParent && element.getBoundingClientRect().height < 24)
  .map((element) => `${element.className} ${element.textContent}`)"""


def test_no_text_is_cut_on_a_phone(open_page: Callable[..., Page], finished_run: int) -> None:
    page = open_page("/", viewport=PHONE)
    expect(page.locator("#present-by option").first).to_be_attached()
    cut = {"/": page.evaluate(CUT)}
    for path in (f"/runs/{finished_run}/", f"/runs/{finished_run}/servers/5/?t=150000000"):
        page.goto(path)
        expect(page.locator("#prices-legend button.key").first).to_be_visible()
        cut[path] = page.evaluate(CUT)
    assert {path: texts for path, texts in cut.items() if texts} == {}


def test_the_arrow_of_a_metric_is_beside_its_name(open_page: Callable[..., Page], finished_run: int) -> None:
    page = open_page("/", viewport=PHONE)
    other = posted(page, "/api/scenarios/1/race/", {"schedulers": ["fifo", "drf"]})["runs"][0]["id"]
    page.goto(f"/compare/?runs={finished_run},{other}")
    expect(page.locator("#metrics .way-short").first).to_be_visible()
    assert all(page.evaluate(ARROWS))
    states = page.locator("#differences td:has(> .state)")
    expect(states.first).to_be_visible()
    assert states.first.bounding_box()["width"] < 150, "three facts a line"


def test_the_baseline_stays_beside_the_names_and_a_run_fits_beside_it(
    open_page: Callable[..., Page], finished_run: int
) -> None:
    page = open_page("/", viewport=PHONE)
    others = posted(page, "/api/scenarios/1/race/", {"schedulers": ["fifo", "drf"]})["runs"]
    page.goto(f"/compare/?runs={finished_run},{others[0]['id']},{others[1]['id']}")
    heads = page.locator("#metrics .run-head")
    expect(heads).to_have_count(3)
    box = page.locator("#metrics").bounding_box()
    second = heads.nth(1).bounding_box()
    assert second["x"] + second["width"] <= box["x"] + box["width"]
    before = heads.first.bounding_box()["x"]
    page.locator("#metrics").evaluate("(box) => box.scrollBy({ left: 60, behavior: 'instant' })")
    assert heads.first.bounding_box()["x"] >= before - 1
    assert heads.nth(1).bounding_box()["x"] < second["x"] - 10


def test_the_list_of_keys_fits_a_phone(open_page: Callable[..., Page], finished_run: int) -> None:
    page = open_page(f"/runs/{finished_run}/", viewport=PHONE)
    page.wait_for_function("() => window.twin?.store.lastSeq > 0")
    page.keyboard.press("?")
    keys = page.get_by_role("dialog", name="Keys")
    expect(keys).to_be_visible()
    assert keys.evaluate("(dialog) => dialog.scrollWidth <= dialog.clientWidth")


def test_a_time_in_the_past_is_not_covered_by_the_button_beside_it(
    open_page: Callable[..., Page], finished_run: int
) -> None:
    page = open_page(f"/runs/{finished_run}/?t=120000000", viewport=PHONE)
    moment = page.locator("#moment")
    expect(moment).to_have_text("1d 09:20:00")
    assert moment.evaluate("(time) => time.scrollWidth <= time.clientWidth && time.clientHeight < 30")
    assert page.locator("#scrub").bounding_box()["width"] >= 50


def test_a_chosen_run_keeps_its_mark_off_its_name(open_page: Callable[..., Page], finished_run: int) -> None:
    page = open_page("/compare/", viewport=PHONE)
    row = page.locator("#choose-list tr", has=page.locator(f"#pick-{finished_run}"))
    row.locator("input").check()
    expect(row.locator("[data-order]")).to_have_text("baseline")
    name = row.locator("label").evaluate("(label) => Math.max(...[...label.getClientRects()].map((r) => r.right))")
    assert name <= row.locator("input").bounding_box()["x"]


def test_the_menu_of_columns_is_beside_the_servers_of_the_overview(open_page: Callable[..., Page]) -> None:
    """While their table is open; the card has other tools in its header."""
    page = open_page("/")
    page.locator("#present-table").click()
    columns = page.locator("#present").get_by_role("button", name="Columns")
    expect(columns).to_be_visible()
    assert columns.evaluate("(button) => button.parentElement.contains(document.querySelector('#present-by'))")
    page.locator("#present-table").click()
    expect(columns).to_be_hidden()


def test_a_long_source_takes_the_whole_card_of_a_cluster(open_page: Callable[..., Page]) -> None:
    page = open_page("/clusters/", viewport=PHONE)
    source = page.locator("#list td[data-label=Source]").first
    expect(source).to_be_visible()
    assert source.bounding_box()["width"] > 300


def test_lists_without_entries_take_one_line_on_a_phone(open_page: Callable[..., Page]) -> None:
    page = open_page("/", viewport=PHONE)
    run = posted(page, "/api/runs/", {"scenario": 1, "mode": "batch"})["id"]  # older ones may be no choice any more
    page.goto(f"/runs/{run}/")
    expect(page.locator("#status")).to_have_text("finished")
    page.evaluate("(run) => localStorage.setItem('present-run', run)", str(run))
    page.goto("/")
    expect(page.locator("#present-run")).to_have_value(str(run))
    waits = page.locator("#present-waiting")
    expect(waits).to_have_text("No waiting jobs")
    assert waits.bounding_box()["height"] < 40


def test_the_navigation_fades_at_both_ends_where_it_continues(open_page: Callable[..., Page]) -> None:
    page = open_page("/", viewport=PHONE)
    mask = "(nav) => getComputedStyle(nav).maskImage.match(/transparent|rgba\\(0, 0, 0, 0\\)/g).length"
    assert page.locator(".top > nav").evaluate(mask) == 1
    page.goto("/audit/")
    expect(page.locator(".top > nav[data-scrolled]")).to_be_visible()
    assert page.locator(".top > nav").evaluate(mask) == 2
    for width in (660, 760, 960, 1120, 1280, 1440):
        page.set_viewport_size({"width": width, "height": 800})
        assert page.evaluate("() => document.documentElement.scrollWidth") <= width
        assert page.locator(".top").bounding_box()["height"] < 80, "two lines at most"


def test_the_pages_of_a_live_cluster_are_named_below_its_heading(open_page: Callable[..., Page], followed: str) -> None:
    page = open_page(f"/live/{followed}/", viewport=PHONE)
    pages = page.locator(".subpages").bounding_box()
    schedule = page.locator("#panel-gantt").bounding_box()
    assert pages is not None
    assert schedule is not None
    assert pages["y"] < schedule["y"]


def test_a_comparison_with_a_long_name_fits_a_phone(open_page: Callable[..., Page], finished_run: int) -> None:
    page = open_page("/", viewport=PHONE)
    other = posted(page, "/api/scenarios/1/race/", {"schedulers": ["slurm", "fifo"]})["runs"][0]["id"]
    page.goto(f"/compare/?runs={finished_run},{other}")
    expect(page.locator("#spread-legend button")).to_have_count(2)
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_fingers_have_targets_of_24_pixels(open_page: Callable[..., Page], finished_run: int) -> None:
    page = open_page("/", viewport=PHONE)
    page.context.new_cdp_session(page).send("Emulation.setTouchEmulationEnabled", {"enabled": True})
    small = {}
    for path, shown in (
        (f"/runs/{finished_run}/", "#prices-legend button.key"),
        ("/alerts/", "#rules-list td input"),
        ("/experiments/", "main td a"),
    ):
        page.goto(path)
        expect(page.locator(shown).first).to_be_visible()
        assert page.evaluate("matchMedia('(pointer: coarse)').matches")
        small[path] = page.evaluate(SMALL_TARGETS)
    assert {path: found for path, found in small.items() if found} == {}
