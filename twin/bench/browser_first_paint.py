"""A finished run's page from a click to the first paint, as a browser that has never been here sees it."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import median

from django.conf import settings

from twin.bench import Figure
from twin.bench._chromium import chromium
from twin.bench._stack import environment, stack

TITLE = "first paint of the run page and the overview, nothing cached"
LOADS = 7
MOST_MS = 1_000.0
PAINTED = "() => performance.getEntriesByName('first-contentful-paint')[0]?.startTime"


def run() -> list[Figure]:
    with (
        tempfile.TemporaryDirectory(prefix="twin-paint-") as data,
        chromium() as browser,
        stack(Path(data), "--demo") as (_, url),
    ):
        command = [sys.executable, str(settings.BASE_DIR / "manage.py"), "login_link"]
        link = subprocess.run(command, env=environment(Path(data)), capture_output=True, text=True, check=True).stdout.strip()
        context = browser.new_context(base_url=url)
        context.new_page().goto(link)
        session = context.storage_state()
        figures = []
        for title, path in (("run page", "/runs/1/"), ("overview", "/")):
            times = []
            for _ in range(LOADS):
                context = browser.new_context(base_url=url, storage_state=session, viewport={"width": 1280, "height": 900})
                page = context.new_page()
                page.goto(path)
                times.append(float(page.wait_for_function(PAINTED).json_value()))
                context.close()
            figures += [
                Figure(f"{title}, best", min(times), "ms", MOST_MS),
                Figure(f"{title}, median", median(times), "ms", MOST_MS),
            ]
    return figures
