"""Two linked Gantts of the compare page in a real Chromium, every frame panned or zoomed: ms from frame to frame."""

from __future__ import annotations

from statistics import median, quantiles

from benchmarks import Figure
from benchmarks._chromium import chromium
from benchmarks.browser_gantt import files

TITLE = "two linked Gantts of 100,000 bars each, pan and zoom, 1280 x 900"
BARS, FRAMES = 100_000, 120
MAX_MS = 33.4  # two frames at 60 Hz: 30 a second


def run() -> list[Figure]:
    figures = []
    with files() as url, chromium() as browser:
        for order in ("servers", "jobs"):
            page = browser.new_page(viewport={"width": 1280, "height": 900})
            page.goto(f"{url}/benchmarks/pages/compare.html")
            page.wait_for_function("() => window.ready")
            found = page.evaluate("([bars, frames, order]) => measure(bars, frames, order)", [BARS, FRAMES, order])
            page.close()
            for move in ("pan", "zoom"):
                figures.append(Figure(f"{move}, rows by {order}, median", median(found[move]), "ms", MAX_MS))
                figures.append(Figure(f"{move}, rows by {order}, p95", quantiles(found[move], n=20)[-1], "ms"))
    return figures
