"""manage.py screenshots: every page of a demo twin of its own, light and dark, wide and narrow, into a folder to be looked at."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import CommandParser

from scheduling.registry import UnknownName
from twin.bench._chromium import chromium
from twin.bench._stack import environment, stack
from twin.management.headless import HeadlessCommand

WIDTHS = (1280, 390)
THEMES = ("light", "dark")
HEIGHT = 900
PATIENCE_MS = 60_000
# What is on its way when a page has come; a page is looked at when none of this is left.
SETTLED = (
    "() => document.readyState === 'complete' && !/Loading …|Comparing the runs …/.test(document.querySelector('main').innerText)"
)
HEARD = "() => window.twin?.store.lastSeq > 0"
POST = """async ([path, body]) => {
  const headers = { 'Content-Type': 'application/json', 'X-CSRFToken': document.querySelector('meta[name="csrf-token"]').content };
  return (await fetch(path, { method: 'POST', headers, body: JSON.stringify(body) })).json(); }"""
STATUS = "async (id) => ['finished', 'failed', 'cancelled'].includes((await (await fetch(`/api/runs/${id}/`)).json()).status)"


class Command(HeadlessCommand):
    help = "Saves a picture of every page, light and dark, at 1280 and 390 px."
    unwinds = True

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--to", type=Path, default=settings.BASE_DIR / "screenshots", metavar="FOLDER")
        parser.add_argument("--only", action="append", metavar="PAGE", help="a page by its name; may be given again")

    def work(self, **options: Any) -> None:
        folder: Path = options["to"]
        folder.mkdir(parents=True, exist_ok=True)
        with (
            tempfile.TemporaryDirectory(prefix="twin-screenshots-") as data,
            chromium() as browser,
            stack(Path(data), "--demo") as (_, url),
        ):
            context = browser.new_context(base_url=url)
            page = context.new_page()
            page.set_default_timeout(PATIENCE_MS)
            page.goto(_login_link(Path(data)))
            pages = _pages(page)
            unknown = [name for name in options["only"] or () if name not in pages]
            if unknown:
                raise UnknownName(f"unknown page {unknown[0]!r}; known: {', '.join(pages)}")
            session = context.storage_state()
            for name in options["only"] or pages:
                for width in WIDTHS:
                    for theme in THEMES:
                        self._save(browser, url, session, folder / f"{name}-{width}-{theme}.png", pages[name])
        self.stdout.write(f"{len(options['only'] or pages) * len(WIDTHS) * len(THEMES)} pictures in {folder}")

    def _save(self, browser: Any, url: str, session: Any, file: Path, path: str) -> None:
        _, width, theme = file.stem.rsplit("-", 2)
        open_to_all = path == "/login/"
        context = browser.new_context(
            base_url=url,
            viewport={"width": int(width), "height": HEIGHT},
            color_scheme=theme,
            storage_state=None if open_to_all else session,
        )
        page = context.new_page()
        page.set_default_timeout(PATIENCE_MS)
        page.goto(path)
        page.wait_for_function(SETTLED)
        if path.startswith("/runs/"):
            page.wait_for_function(HEARD)
        page.wait_for_load_state("networkidle")
        page.screenshot(path=file, full_page=True)
        context.close()


def _login_link(folder: Path) -> str:
    command = [sys.executable, str(settings.BASE_DIR / "manage.py"), "login_link", "--role", "operator"]
    return subprocess.run(command, env=environment(folder), capture_output=True, text=True, check=True).stdout.strip()


def _pages(page: Any) -> Mapping[str, str]:
    """{name: path} of every page, after the runs that they show have ended: a race of three, and Harmony's groups."""
    race = page.evaluate(POST, ["/api/scenarios/1/race/", {"schedulers": ["oasis", "fifo", "drf"]}])
    made = page.evaluate(POST, ["/api/workloads/", {"profile": "harmony", "jobs": 40, "servers": 20}])
    scenario = {
        "name": "Harmony, 40 jobs on 20 machines",
        "scheduler": "harmony",
        "cluster": made["cluster"]["id"],
        "trace": made["trace"]["id"],
    }
    groups = page.evaluate(
        POST, ["/api/runs/", {"scenario": page.evaluate(POST, ["/api/scenarios/", scenario])["id"], "mode": "batch"}]
    )
    runs = [run["id"] for run in race["runs"]]
    for run in (*runs, groups["id"]):
        page.wait_for_function(STATUS, arg=run, polling=500)
    first = f"/runs/{runs[0]}/"
    return {
        "login": "/login/", "overview": "/", "traces": "/traces/", "trace": "/traces/1/", "clusters": "/clusters/", "scenarios": "/scenarios/",
        "run": first, "run-live": "/runs/1/", "run-past": f"{first}?t=150000000&job=12&colour=state", "run-jobs": f"{first}?rows=jobs&colour=payoff&events=1",
        "run-groups": f"/runs/{groups['id']}/", "server": f"{first}servers/5/?t=150000000", "server-groups": f"/runs/{groups['id']}/servers/3/?t=30000000",
        "compare": "/compare/", "compared": race["compare"], "audit": "/audit/",
    }  # fmt: skip
