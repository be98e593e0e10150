"""The page of a live cluster in a browser, which records when it has drawn what happens to new jobs."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from django.conf import settings

from benchmarks import Figure
from benchmarks._chromium import chromium
from benchmarks._stack import environment, stack

NAME = "bench"
MAX_WAIT_MS = 60_000
SUBMITTED, STARTED, ENDED = "submitted", "started", "ended"

# What a frame brings of new jobs is timed in the task after the next animation frame, when the page has drawn it.
WATCH = """() => {
  const { stream, store } = window.twin;
  const first = store.jobs.length;
  const drawn = { submitted: {}, started: {}, ended: {} };
  window.drawn = drawn;
  const channel = new MessageChannel();
  let waiting = [];
  channel.port1.onmessage = () => {
    const now = performance.timeOrigin + performance.now();
    for (const [what, job] of waiting) drawn[what][job] = now;
    waiting = [];
  };
  const known = { submitted: new Set(), started: new Set(), ended: new Set() };
  const found = (what, job) => {
    if (known[what].has(job)) return;
    known[what].add(job);
    waiting.push([what, job]);
  };
  stream.addEventListener('data', () => {
    const before = waiting.length;
    for (let job = first; job < store.jobs.length; job++) {
      if (store.jobs.arrived_ms[job] !== -1) found('submitted', job);
      if (store.jobs.start_ms[job] !== -1) found('started', job);
      if (store.jobs.completed_ms[job] !== -1) found('ended', job);
    }
    if (!before && waiting.length) requestAnimationFrame(() => channel.port2.postMessage(0));
  });
}"""
LOADED = """(open) => window.twin?.stream.state === 'live' && window.twin.store.jobs.length >= open
  && window.twin.gantt.info.cluster.servers.length"""  # a page that was opened before the first poll loads again
DRAWN = "([what, number]) => Object.keys(window.drawn[what]).length >= number"
NAMED = """async () => {
  const path = `/api/runs/${document.querySelector('main').dataset.runId}/static/`;
  const { ids } = await (await fetch(path)).json();
  const name = (of) => Object.fromEntries(Object.entries(of).map(([job, ms]) => [ids[job], ms]));
  return Object.fromEntries(Object.entries(window.drawn).map(([what, of]) => [what, name(of)]));
}"""


class Watched:
    """A twin that follows a cluster, and a browser on the cluster's page."""

    def __init__(self, page: Any, url: str, folder: Path) -> None:
        self.page, self.url, self.folder = page, url, folder

    def wait(self, what: str, number: int) -> None:
        """Appearance of n new jobs on the page, waited for; `what` names the event of them."""
        self.page.wait_for_function(DRAWN, arg=[what, number], timeout=MAX_WAIT_MS)

    def drawn(self) -> dict[str, dict[str, float]]:
        """{what: {job as the cluster names it: Unix ms at which it was drawn}}."""
        found: dict[str, dict[str, float]] = self.page.evaluate(NAMED)
        return found

    def condition(self) -> dict[str, Any]:
        """State of this cluster on the page of all clusters."""
        found = self.page.evaluate("async () => (await fetch('/api/connections/')).json()")
        rows = found if isinstance(found, list) else found["results"]
        return next(row for row in rows if row["name"] == NAME)


@contextmanager
def watched(folder: Path, connector: str, parameters: Mapping[str, Any], open_jobs: int) -> Iterator[Watched]:
    """The page of the cluster once it shows the jobs that the cluster has already."""
    folder.mkdir()
    with stack(folder) as (_, url), chromium() as browser:
        page = browser.new_page(viewport={"width": 1280, "height": 900})
        page.goto(url + manage(folder, "login_link"))
        words = [word for name, value in parameters.items() for word in ("--param", f"{name}={value}")]
        manage(folder, "connect", connector, "--name", NAME, *words)
        address = f"{url}/live/{NAME}/"
        while page.goto(address).status == 404 or not page.locator("#gantt").count():
            page.wait_for_timeout(200)
        page.wait_for_function(LOADED, arg=open_jobs, timeout=MAX_WAIT_MS)
        page.evaluate(WATCH)
        yield Watched(page, url, folder)


def delays(since_ms: Mapping[str, float], drawn_ms: Mapping[str, float]) -> list[float]:
    """Seconds until each was drawn; every job has to be."""
    return [(drawn_ms[job] - ms) / 1_000 for job, ms in since_ms.items()]


def figures(name: str, seconds: list[float], p50: float, p99: float) -> list[Figure]:
    """Median and 99th percentile with their bounds."""
    return [
        Figure(f"{name}, p50 of {len(seconds)}", float(np.percentile(seconds, 50)), "s", p50),
        Figure(f"{name}, p99", float(np.percentile(seconds, 99)), "s", p99),
    ]


def load_figure() -> Figure:
    """Load of the machine in the last minute, under which the figures beside it were measured."""
    return Figure(f"load of the machine ({os.cpu_count()} cores), 1 min", os.getloadavg()[0], "")


def manage(folder: Path, *words: str) -> str:
    """Output of a command of manage.py."""
    command = [sys.executable, str(settings.BASE_DIR / "manage.py"), *words]
    done = subprocess.run(command, env=environment(folder), cwd=settings.BASE_DIR, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"manage.py {words[0]}: {done.stdout}{done.stderr}")
    return done.stdout.strip()
