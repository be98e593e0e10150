"""A run of 1,000,000 jobs and 20,000,000 bars: its levels of detail, and a web process that shows its page."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
import urllib.request
from contextlib import ExitStack
from pathlib import Path

import orjson
from django.conf import settings

from benchmarks import Figure, Skip
from benchmarks._chromium import chromium
from benchmarks._memory import resident_mb
from benchmarks._stack import environment, process_tree, proportional_bytes, web_server

JOBS = int(os.environ.get("LARGE_JOBS", "1000000"))
TITLE = f"page of a run of {JOBS:,} jobs with 20 bars each"
MAX_PAGE_S, MAX_MB = 2.0, 1_000.0
PATHS = {  # what the page fetches, in its order; a window of ten minutes is read from the log
    "page": "runs/{}/",
    "schedule and totals": "api/runs/{}/levels/?columns=512",
    "table of jobs": "api/runs/{}/jobs/?page=1&size=25&sort=index&q=&state=",
    "window of ten minutes": "api/runs/{}/levels/?columns=512&from_ms=60000000&to_ms=60600000",
}


def run() -> list[Figure]:
    """Figures of one web process that has not seen the run before."""
    if sys.platform != "linux":
        raise Skip("memory is read from /proc, which only Linux has")
    with ExitStack() as ending:
        folder = Path(ending.enter_context(tempfile.TemporaryDirectory(prefix="twin-bench-")))
        _output(folder, "manage.py", "collectstatic", "--noinput")
        url = ending.enter_context(web_server(folder, {}))
        made = orjson.loads(_output(folder, "-c", "from benchmarks.large_run import prepare; prepare()"))
        web = next(pid for pid in process_tree(os.getpid()) if b"uvicorn" in Path(f"/proc/{pid}/cmdline").read_bytes())
        seconds = {what: _answer_s(f"{url}/{path.format(made['run'])}", made["cookie"]) for what, path in PATHS.items()}
        drawn_s = _drawn_s(url, made["run"], made["cookie"])
        memory = proportional_bytes(web) / 1e6
    page_s = seconds["page"] + seconds["schedule and totals"]
    return [
        Figure("page with its schedule", page_s, "s", MAX_PAGE_S),
        Figure("page in Chromium, schedule and jobs drawn", drawn_s, "s", MAX_PAGE_S),
        *(Figure(what, took, "s") for what, took in seconds.items()),
        Figure("memory of the web process", memory, "MB", MAX_MB),
        Figure("levels made, processor time", made["levels_s"], "s"),
        Figure("levels made, memory", made["levels_mb"], "MB"),
        Figure("log on disk", made["bytes"] / JOBS, "B/job"),
    ]


def prepare() -> None:
    """The run, its levels, and a session; prints JSON."""
    import django

    django.setup()
    from benchmarks._large_run import make_run
    from benchmarks.viewers import session_of_a_viewer
    from twin.analysis import stored_levels

    run = make_run(JOBS)
    size = Path(settings.DATABASES["default"]["NAME"]).stat().st_size
    began = time.process_time()
    stored_levels.bring_up(run)
    found = {"run": run, "cookie": session_of_a_viewer(), "levels_s": time.process_time() - began, "bytes": size}
    megabytes = resident_mb()
    print(orjson.dumps(found | {"levels_mb": megabytes}).decode())


def _answer_s(address: str, cookie: str) -> float:
    """Time until an answer has come whole."""
    began = time.perf_counter()
    request = urllib.request.Request(address, headers={"Cookie": f"sessionid={cookie}"})
    with urllib.request.urlopen(request, timeout=600) as answer:
        answer.read()
    return time.perf_counter() - began


def _drawn_s(url: str, run: int, cookie: str) -> float:
    """Time from the address to the drawn schedule and the first jobs, in a browser with an empty cache."""
    with chromium() as browser:
        page = browser.new_page(base_url=url, viewport={"width": 1280, "height": 900})
        page.context.add_cookies([{"name": "sessionid", "value": cookie, "url": url}])
        began = time.perf_counter()
        page.goto(f"/runs/{run}/")
        page.locator("#raster[aria-label]").wait_for()
        page.locator("#jobs tr[data-job]").first.wait_for()
        return time.perf_counter() - began


def _output(folder: Path, *words: str) -> str:
    done = subprocess.run(
        [sys.executable, *words], env=environment(folder), cwd=settings.BASE_DIR, stdout=subprocess.PIPE, check=True
    )
    return done.stdout.decode().strip().splitlines()[-1]
