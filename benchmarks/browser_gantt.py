"""The twin's Gantt in a real Chromium, every frame panned or zoomed: ms from frame to frame."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from statistics import median, quantiles
from typing import Any

from django.conf import settings

from benchmarks import Figure
from benchmarks._chromium import chromium

TITLE = "Gantt pan and zoom, 100 servers, 1280 x 900"
CASES = (  # bars, order of the rows, how the figure names it
    (100_000, "servers", ""),
    (500_000, "servers", ""),
    (100_000, "sites", ", rows of sites"),
)
FRAMES = 150
MAX_MS = 16.8  # one frame at 60 Hz, 16.67 ms, as the browser's clock rounds it


def run() -> list[Figure]:
    figures = []
    with files() as url, chromium() as browser:
        for bars, order, rows in CASES:
            page = browser.new_page(viewport={"width": 1280, "height": 900})
            page.goto(f"{url}/benchmarks/pages/gantt.html")
            page.wait_for_function("() => window.ready")
            found = page.evaluate("(given) => measure(...given)", [bars, FRAMES, order])
            page.close()
            for move in ("pan", "zoom"):
                gaps = found[move]
                figures.append(Figure(f"{move}, {bars:,} bars{rows}, median", median(gaps), "ms", MAX_MS))
                figures.append(Figure(f"{move}, {bars:,} bars{rows}, p95", quantiles(gaps, n=20)[-1], "ms"))
            figures.append(Figure(f"drawing only, {bars:,} bars{rows}, median", median(found["paint"]), "ms"))
    return figures


@contextmanager
def files() -> Iterator[str]:
    """The checkout's files over HTTP, for ES modules do not load from file: addresses."""

    class Quiet(SimpleHTTPRequestHandler):
        def log_message(self, format: str, *args: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(settings.BASE_DIR)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
