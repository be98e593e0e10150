"""Any trace, dropped: looked at, chosen from, imported; an unknown CSV; a broken upload; a cluster by the form."""

from __future__ import annotations

import csv
import re
from collections.abc import Callable
from datetime import datetime
from pathlib import Path

import pytest
from playwright.sync_api import BrowserContext, Locator, Page, expect

from scheduling.model.measured_speed import MeasuredSpeed
from tests.browser.boxes import box_at_rest
from twin.files.speed_json import dump_speed

pytestmark = [pytest.mark.browser, pytest.mark.slow]
PART_BYTES = 4 * 2**20
LOOK_MS = 60_000  # a worker of the twin looks at a file, at low priority: this takes longer on a busy machine
DROP = """([names, texts]) => { const data = new DataTransfer();
  names.forEach((name, i) => data.items.add(new File([texts[i]], name)));
  document.querySelector('#drop').dispatchEvent(
    new DragEvent('drop', { dataTransfer: data, bubbles: true, cancelable: true })); }"""

FIRST_PART_ONLY = """() => { const { open, send } = XMLHttpRequest.prototype;
  XMLHttpRequest.prototype.open = function (method, url) {
    this.first = url.endsWith('offset=0'); open.call(this, method, url); };
  XMLHttpRequest.prototype.send = function (body) {
    if (this.first) send.call(this, body); else window.held = true; }; }"""


def row_of(page: Page, file: str) -> Locator:
    return page.locator(".upload", has_text=file)


def choose(page: Page, file: str) -> None:
    row_of(page, file).get_by_role("link", name="Choose what to import").click(timeout=LOOK_MS)


def numbers(text: str | None) -> list[int]:
    return [int(found.replace(",", "")) for found in re.findall(r"\d[\d,]*", text or "")]


def test_two_files_are_dropped_and_a_window_of_one_virtual_cluster_is_imported(
    open_page: Callable[..., Page], traces: Path
) -> None:
    """The Philly jobs and their machines: half of the time by a drag, the largest cluster, twice as fast."""
    files = [traces / "philly_derived" / name for name in ("philly_2017-10-01_2017-10-15.csv", "philly_vc.csv")]
    page = open_page("/traces/")
    page.evaluate(DROP, [[file.name for file in files], [file.read_text() for file in files]])
    choose(page, "philly_vc.csv")
    expect(page.locator("#chosen-line")).to_contain_text("All 24,134 jobs selected")
    page.locator("#c-slot").scroll_into_view_if_needed()
    expect(page.get_by_role("button", name="Import")).to_be_in_viewport()
    page.locator("#c-limit").fill("300")
    with files[0].open() as text:
        begun = sorted(datetime.fromisoformat(line["timestamp"]) for line in csv.DictReader(text))
    hours = round((begun[299] - begun[0]).total_seconds() / 3600)
    span = f"arrivals span {hours // 24}d {hours % 24}h."
    expect(page.locator("#chosen-line")).to_contain_text(f"300 of 24,134 jobs selected; {span}")
    page.locator("#c-limit").fill("")
    page.locator("#arrivals-table").click()
    expect(page.locator("#arrivals-numbers tbody tr")).to_have_count(120)
    page.locator("#arrivals-table").click()
    plot = box_at_rest(page.locator("#arrivals"))
    page.mouse.move(plot["x"] + plot["width"] * 0.5, plot["y"] + 80)
    page.mouse.down()
    page.mouse.move(plot["x"] + plot["width"] - 2, plot["y"] + 90, steps=4)
    page.mouse.up()
    expect(page.locator("#c-from")).to_have_value(re.compile(r"^1[3-7]\d$"))  # of 336 h
    expect(page.locator("#c-to")).to_have_value("")
    page.get_by_role("button", name="None").click()
    expect(page.locator("#chosen-line")).to_have_text("Select at least one queue.")
    expect(page.get_by_role("button", name="Import")).to_be_disabled()
    page.locator("#group-filter").fill("6214")
    page.get_by_label("6214e9").check()
    page.locator("#c-rate").fill("2")
    expect(page.locator("#chosen-line")).to_contain_text("About")
    about = numbers(page.locator("#chosen-line").text_content())[0]
    page.get_by_role("button", name="Import").click()
    expect(page.locator("#facts")).to_contain_text("6214e9")
    jobs = numbers(page.locator("#tiles .tile", has_text="Jobs").locator("dd").text_content())[0]
    assert abs(jobs - about) < 0.15 * about
    expect(page.locator("#facts")).to_contain_text("× 2")
    expect(page.locator("#arrivals")).to_be_visible()
    expect(page.locator("#imported")).to_be_visible()
    expect(page.locator("#provenance")).to_contain_text("Time per mini-batch")
    with page.expect_download() as download:
        page.get_by_role("link", name="jobs.csv").click()
    assert len(download.value.path().read_text().splitlines()) == jobs + 1
    page.goto("/traces/")
    page.evaluate(DROP, [[file.name for file in reversed(files)], [file.read_text() for file in reversed(files)]])
    choose(page, "philly_vc.csv")  # the same files with another choice are another trace
    page.get_by_role("button", name="Discard upload").click()
    expect(page.get_by_role("heading", level=1)).to_be_visible()


def test_an_unknown_csv_is_mapped_by_the_form(open_page: Callable[..., Page]) -> None:
    """A wrong column is refused and can be corrected; a bad row is listed with its line."""
    lines = ["job;submitted;secs;gpu count;queue"]
    lines += [f"j{i};2026-01-0{1 + i // 30} {i % 24:02d}:00:00;{100 + 7 * i};{1 + i % 4};q{i % 3}" for i in range(90)]
    lines += ["bad;2026-01-09 00:00:00;-3;1;q1"]
    page = open_page("/traces/")
    page.evaluate(DROP, [["mystery.csv"], ["\n".join(lines)]])
    choose(page, "mystery.csv")
    expect(page.locator("ol.lines li").first).to_have_text("job;submitted;secs;gpu count;queue")
    expect(page.get_by_label("Arrival (required)")).to_have_value("submitted")
    expect(page.locator("#m-arrival_unit")).to_have_value("datetime")
    expect(page.get_by_role("button", name="Scan again")).to_be_disabled()
    page.locator("#m-run").select_option("queue")
    page.get_by_role("button", name="Scan again").click()
    expect(page.locator("#unclear .notice").first).to_contain_text("91 rows read, no job found")
    page.locator("#m-run").select_option("secs")
    page.get_by_role("button", name="Scan again").click()
    expect(page.locator("#chosen-line")).to_contain_text("All 90 jobs")
    expect(page.locator("#skipped tbody tr")).to_have_text(re.compile(r"^\s*92\s*run not positive\s*-3\s*$"))
    page.locator("#c-sample").fill("30")
    page.get_by_role("button", name="Import").click()
    expect(page.locator("#status")).to_have_text("91 rows read = 30 jobs + 60 not selected + 1 skipped.")


WAITED = "id,submit,end,mem\n" + "".join(f"j{n},{1700000000 + 60 * n},{1700003600 + 60 * n},16Gi\n" for n in range(12))


def test_ten_rows_are_shown_before_the_scan_and_the_mapping_is_saved_and_remembered(
    open_page: Callable[..., Page], tmp_path: Path
) -> None:
    """Only submission and end are known: the page asks whether the wait counts. The next file has the mapping."""
    page = open_page("/traces/")
    page.evaluate(DROP, [["waited.csv"], [WAITED]])
    choose(page, "waited.csv")
    rows = page.get_by_label("First rows as they are read").locator("tbody tr")
    expect(rows).to_have_count(10)
    expect(rows.nth(1)).to_contain_text("+ 1m")
    expect(rows.nth(1)).to_contain_text("1h")
    expect(page.get_by_role("button", name="Scan again")).to_be_disabled()
    page.get_by_label("count the time in the queue as run time").check()
    page.locator("#m-arrival_unit").select_option("min")
    expect(rows.nth(1)).to_contain_text("2d 12h")
    page.locator("#m-arrival_unit").select_option("s")
    with page.expect_download() as download:
        page.get_by_role("button", name="Save mapping").click()
    assert download.value.suggested_filename == "waited-mapping.json"
    saved = tmp_path / "saved.json"
    saved.write_text(download.value.path().read_text().replace('"submit"', '"end"'))
    page.locator("#m-load").set_input_files(saved)
    expect(page.get_by_label("Arrival (required)")).to_have_value("end")
    page.locator("#m-load").set_input_files(download.value.path())
    expect(page.get_by_label("Arrival (required)")).to_have_value("submit")
    page.get_by_role("button", name="Scan again").click()
    expect(page.locator("#chosen-line")).to_contain_text("All 12 jobs")
    page.get_by_role("button", name="Import").click()
    expect(page.locator("#status")).to_have_text("12 rows read = 12 jobs + 0 skipped.")
    page.goto("/traces/")
    page.evaluate(DROP, [["next.csv"], [WAITED.replace("j1,", "k1,")]])
    choose(page, "next.csv")
    expect(page.locator("#unclear")).to_contain_text("Mapping of the last import of a file with these columns")
    expect(page.get_by_label("End", exact=True)).to_have_value("end")


def test_a_recognized_file_with_an_implausible_unit_is_scanned_again(open_page: Callable[..., Page]) -> None:
    lines = ["job_id,num_gpu,submit_time,iterations,model_name,duration"]
    lines += [f"{n},1,{n},10,vgg16,0.5" for n in range(30)]
    page = open_page("/traces/")
    page.evaluate(DROP, [["short.csv"], ["\n".join(lines)]])
    choose(page, "short.csv")
    expect(page.locator("#status")).to_contain_text("The median run time is 500 ms, shorter than 1 s.")
    expect(page.get_by_label("Format")).to_have_value("auto")
    page.get_by_label("Time unit").select_option("min")
    page.get_by_role("button", name="Scan again").click()
    expect(page.locator("#tiles .tile", has_text="Run time, median")).to_contain_text("30 s")
    expect(page.locator("#status")).not_to_contain_text("shorter than")
    page.get_by_role("button", name="Import").click()
    expect(page.locator("#facts")).to_contain_text("min")


def test_an_upload_goes_on_after_a_reload(open_page: Callable[..., Page], tmp_path: Path) -> None:
    """The second of three parts never arrives; after the reload the same file is dropped and only the rest is sent."""
    file = tmp_path / "long.swf"
    jobs = "".join(f"{n} {60 * n} 0 300 4 -1 -1 4 -1 -1 1 1 1 -1 1 1 -1 -1\n" for n in range(1, 51))
    file.write_text("; Version: 2.2\n" + (";" + " " * 1022 + "\n") * (9 * 1024) + jobs)
    page = open_page("/traces/")
    page.evaluate(FIRST_PART_ONLY)
    page.locator("#file").set_input_files(file)
    expect(row_of(page, "long.swf")).to_contain_text("4.2 MB of 9.4 MB, 44 %")
    page.wait_for_function("() => window.held")
    page.reload()
    expect(page.locator("#list tr", has_text="long.swf")).to_contain_text(
        "received 4.2 MB of 9.4 MB; drop the same files again to resume"
    )
    asked: list[str] = []
    page.on(
        "request",
        lambda request: asked.append(request.url.partition("offset=")[2]) if request.method == "PUT" else None,
    )
    page.locator("#file").set_input_files(str(file))
    choose(page, "long.swf")
    expect(page.locator("#chosen-line")).to_contain_text("All 50 jobs")
    assert asked == [str(PART_BYTES), str(2 * PART_BYTES)]


def test_the_same_bytes_again_lead_to_the_first_trace(context: BrowserContext, traces: Path) -> None:
    """A page of its own: the browser itself writes the server's 409 on the console."""
    page = context.new_page()
    page.goto("/traces/")
    page.locator("#file").set_input_files(traces / "tiresias" / "60_job.csv")
    expect(row_of(page, "60_job.csv").get_by_role("link")).to_be_visible()
    page.reload()
    page.locator("#file").set_input_files(traces / "tiresias" / "60_job.csv")
    row_of(page, "60_job.csv").get_by_role("link", name="Open trace").click()
    expect(page.locator("#chosen-line")).to_contain_text("All 60 jobs")


def test_a_workload_trains_at_the_speed_of_a_file(open_page: Callable[..., Page], tmp_path: Path) -> None:
    file = tmp_path / "speed.json"
    file.write_bytes(dump_speed(MeasuredSpeed(2.0, 0.05, 0.7, 4.0, 256, 4, 0.9, 0.01, 0.02), []))
    page = open_page("/traces/", refused=400)
    status = page.locator("#generate").get_by_role("status")
    page.get_by_text("Measured speed", exact=True).click()
    page.locator("#g-jobs").fill("3")
    page.locator("#g-speed-file").set_input_files(file)
    expect(page.locator("#g-speed")).to_have_value(file.read_text())
    page.get_by_role("button", name="Generate").click()
    expect(status).to_contain_text("3 jobs, seed 0, measured speed")
    page.locator("#g-speed").fill("{}")
    page.get_by_role("button", name="Generate").click()
    expect(status).to_contain_text('measured speed: must be an object with "kind": "measured-speed"')


def test_a_cluster_is_made_by_the_form(open_page: Callable[..., Page]) -> None:
    page = open_page("/clusters/")
    page.get_by_role("button", name="Create cluster").click()
    expect(page.locator("#n-name-error")).to_have_text("Enter a name.")
    page.locator("#n-name").fill("two-sites")
    page.get_by_role("button", name="Add row").click()
    page.locator("#r2-count").fill("100")
    page.locator("#r2-site").select_option("cloud")
    expect(page.locator("#sums tr", has_text="cloud")).to_contain_text("800")
    page.get_by_role("button", name="Create cluster").click()
    expect(page.locator("#detail-kinds tbody tr").first).to_contain_text("100")
    row = page.locator("#list tr", has_text="two-sites")
    expect(row).to_contain_text("864")
    row.get_by_role("button", name="Delete").click()
    page.locator("dialog.confirm").get_by_role("button", name="Delete").click()
    expect(row).to_have_count(0)
