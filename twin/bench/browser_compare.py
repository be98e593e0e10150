"""Two linked Gantts of the compare page in a real Chromium, every frame panned or zoomed: ms from frame to frame."""

from __future__ import annotations

from statistics import median, quantiles

from twin.bench import Figure
from twin.bench._chromium import chromium
from twin.bench.browser_gantt import files

TITLE = "two linked Gantts of 100,000 bars each, pan and zoom at 1280 x 900"
BARS, FRAMES = 100_000, 120
MOST_MS = 33.4  # two frames at 60 Hz: 30 a second


def run() -> list[Figure]:
    figures = []
    with files() as url, chromium() as browser:
        for order in ("servers", "jobs"):
            page = browser.new_page(viewport={"width": 1280, "height": 900})
            page.goto(f"{url}/twin/bench/pages/compare.html")
            page.wait_for_function("() => window.ready")
            found = page.evaluate("([bars, frames, order]) => measure(bars, frames, order)", [BARS, FRAMES, order])
            page.close()
            for move in ("pan", "zoom"):
                figures.append(Figure(f"{move}, rows are {order}, median", median(found[move]), "ms", MOST_MS))
                figures.append(Figure(f"{move}, rows are {order}, p95", quantiles(found[move], n=20)[-1], "ms"))
    return figures
