"""Time from an event to a pixel, through the real bus, hub and socket, onto the real run page.

An event's age is counted from the moment at which its batch is published (50 batches a second) to the task after the
animation frame that painted it. Each rate has a run and a page of its own.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import median, quantiles
from typing import TYPE_CHECKING

from django.conf import settings

from benchmarks import Figure
from benchmarks._chromium import chromium
from benchmarks._feed import FRAMES_PER_S
from benchmarks._stack import environment, stack
from twin.infra.broker import socket_path

if TYPE_CHECKING:
    from playwright.sync_api import Page

TITLE = "event-to-pixel latency at 10,000 and 20,000 events/s"
RATES = (10_000, 20_000)  # events per second
SECONDS = 12.0
WARM_UP = 2 * FRAMES_PER_S  # batches before anything is counted
MAX_P50, MAX_P99, MIN_FRAMES = 25.0, 60.0, 59.0

# Each batch that reaches the store is aged in the task after the next animation frame, when the page has drawn it.
WATCH = """() => {
  const { stream, store } = window.twin;
  const found = { ages: [], ticks: [] };
  window.found = found;
  const channel = new MessageChannel();
  let waiting = [];
  channel.port1.onmessage = () => {
    const now = performance.timeOrigin + performance.now();
    for (const at of waiting) found.ages.push(now - at);
    waiting = [];
  };
  stream.addEventListener('data', () => {
    waiting.push(store.simMs);
    if (waiting.length === 1) requestAnimationFrame(() => channel.port2.postMessage(0));
  });
  const tick = (now) => { found.ticks.push(now); requestAnimationFrame(tick); };
  requestAnimationFrame(tick);
}"""


def run() -> list[Figure]:
    with (
        tempfile.TemporaryDirectory(prefix="twin-bench-") as name,
        stack(Path(name)) as (_, url),
        chromium() as browser,
    ):
        folder = Path(name)
        page = browser.new_page(viewport={"width": 1280, "height": 900})
        page.goto(url + _manage(folder, "login_link"))
        return [figure for rate in RATES for figure in _measure(folder, page, url, rate)]


def _measure(folder: Path, page: Page, url: str, rate: int) -> list[Figure]:
    run_id = _feed(folder, "run")
    page.goto(f"{url}/runs/{run_id}/")
    page.wait_for_function("() => window.twin?.stream.state === 'live'")
    page.evaluate(WATCH)
    _feed(folder, str(SECONDS), run_id, str(rate))
    total = int(SECONDS * rate)
    page.wait_for_function("(total) => window.twin.store.lastSeq >= total || window.twin.stream.gaps > 0", arg=total)
    found = page.evaluate("() => ({ ...window.found, gaps: window.twin.stream.gaps, last: window.twin.store.lastSeq })")
    ages, ticks = found["ages"][WARM_UP:], found["ticks"]
    at = f"{rate:,} events/s"
    drawn = (len(ticks) - 1) * 1000 / (ticks[-1] - ticks[0])
    return [
        Figure(f"p50 at {at}", median(ages), "ms", MAX_P50),
        Figure(f"p99 at {at}", quantiles(ages, n=100)[-1], "ms", MAX_P99),
        Figure(f"sequence gaps at {at}", found["gaps"], "gaps", 0),
        Figure(f"events received at {at}", found["last"], "events", total, at_least=True),
        Figure(f"frames painted at {at}", drawn, "frames/s", MIN_FRAMES, at_least=True),
    ]


def _manage(folder: Path, *words: str) -> str:
    return _output(folder, str(settings.BASE_DIR / "manage.py"), *words)


def _feed(folder: Path, *words: str) -> str:
    return _output(folder, "-m", "benchmarks._feed", *words)


def _output(folder: Path, *words: str) -> str:
    env = environment(folder) | {"LAYER_URL": f"unix://{socket_path(folder)}"}
    done = subprocess.run(
        [sys.executable, *words], env=env, cwd=settings.BASE_DIR, capture_output=True, text=True, check=True
    )
    return done.stdout.strip()
