"""Every page of the demo from a click to its first and its largest paint, in a browser with an empty cache."""

from __future__ import annotations

import tempfile
from pathlib import Path
from statistics import median

from benchmarks import Figure
from benchmarks._chromium import chromium
from benchmarks._demo import edited, login_link, swept
from benchmarks._stack import stack

TITLE = "first and largest paint of all pages of the demo, cold cache"
LOADS = 5
MAX_MS = 1_000.0
MAX_LARGEST_MS = 1_200.0
# The newest candidate counts: a page without further requests paints none.
OBSERVED = """() => new PerformanceObserver((list) => { window.largest = list.getEntries().at(-1).startTime; })
  .observe({ type: 'largest-contentful-paint', buffered: true })"""
PAINTED = "() => performance.getEntriesByName('first-contentful-paint')[0]?.startTime"


def run() -> list[Figure]:
    with (
        tempfile.TemporaryDirectory(prefix="twin-paint-") as data,
        chromium() as browser,
        stack(Path(data), "--demo") as (_, url),
    ):
        context = browser.new_context(base_url=url)
        page = context.new_page()
        page.goto(login_link(Path(data)))
        scenario = edited(page)
        sweep = swept(page, scenario)
        session = context.storage_state()
        context.close()
        figures = []
        for title, path in {
            "run": "/runs/1/", "overview": "/", "live clusters": "/live/",
            "server": "/runs/1/servers/0/", "scenarios": "/scenarios/",
            "scenario": f"/scenarios/{scenario}/", "sweeps": "/sweeps/", "sweep": f"/sweeps/{sweep}/",
            "compare": "/compare/?runs=1", "traces": "/traces/", "trace": "/traces/1/", "clusters": "/clusters/",
            "audit": "/audit/",
        }.items():  # fmt: skip
            first, largest = [], []
            for _ in range(LOADS):
                context = browser.new_context(
                    base_url=url, storage_state=session, viewport={"width": 1280, "height": 900}
                )
                context.add_init_script(f"({OBSERVED})()")
                page = context.new_page()
                page.goto(path)
                first.append(float(page.wait_for_function(PAINTED).json_value()))
                page.wait_for_load_state("networkidle")
                largest.append(float(page.wait_for_function("() => window.largest").json_value()))
                context.close()
            figures.append(Figure(f"{title}, median", median(first), "ms", MAX_MS))
            figures.append(Figure(f"{title}, maximum of {LOADS}", max(first), "ms"))
            figures.append(Figure(f"{title}, largest paint, median", median(largest), "ms", MAX_LARGEST_MS))
    return figures
