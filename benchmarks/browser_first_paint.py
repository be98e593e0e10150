"""Every page of the demo from a click to the first paint, as a browser that has never been here sees it."""

from __future__ import annotations

import tempfile
from pathlib import Path
from statistics import median

from benchmarks import Figure
from benchmarks._chromium import chromium
from benchmarks._demo import edited, login_link, swept
from benchmarks._stack import stack

TITLE = "first paint of all pages of the demo, cold cache"
LOADS = 5
MAX_MS = 1_000.0
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
            "run": "/runs/1/", "overview": "/", "server": "/runs/1/servers/0/", "scenarios": "/scenarios/",
            "scenario": f"/scenarios/{scenario}/", "sweeps": "/sweeps/", "sweep": f"/sweeps/{sweep}/",
            "compare": "/compare/?runs=1", "traces": "/traces/", "trace": "/traces/1/", "clusters": "/clusters/",
            "audit": "/audit/",
        }.items():  # fmt: skip
            times = []
            for _ in range(LOADS):
                context = browser.new_context(
                    base_url=url, storage_state=session, viewport={"width": 1280, "height": 900}
                )
                page = context.new_page()
                page.goto(path)
                times.append(float(page.wait_for_function(PAINTED).json_value()))
                context.close()
            figures.append(Figure(f"{title}, median", median(times), "ms", MAX_MS))
            figures.append(Figure(f"{title}, maximum of {LOADS}", max(times), "ms"))
    return figures
