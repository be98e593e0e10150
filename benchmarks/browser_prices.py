"""Curves of 16 prices, 100,000 slots each, in a real Chromium, every frame panned or zoomed: ms from frame to frame."""

from __future__ import annotations

from statistics import median, quantiles

from benchmarks import Figure
from benchmarks._chromium import chromium
from benchmarks.browser_gantt import MAX_MS, files

TITLE = "16 price curves of 100,000 points each, pan and zoom, 1280 x 900"
POINTS = 100_000
FRAMES = 150


def run() -> list[Figure]:
    with files() as url, chromium() as browser:
        page = browser.new_page(viewport={"width": 1280, "height": 900})
        page.goto(f"{url}/benchmarks/pages/prices.html")
        page.wait_for_function("() => window.ready")
        found = page.evaluate("([points, frames]) => measure(points, frames)", [POINTS, FRAMES])
        page.close()
    figures = [Figure(f"{move}, median", median(found[move]), "ms", MAX_MS) for move in ("pan", "zoom")]
    figures += [Figure(f"{move}, p95", quantiles(found[move], n=20)[-1], "ms") for move in ("pan", "zoom")]
    return [*figures, Figure("drawing only, median", median(found["paint"]), "ms")]
