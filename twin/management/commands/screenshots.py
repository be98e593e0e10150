"""manage.py screenshots: every page of a separate demo twin, light and dark, wide and narrow."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import CommandParser

from scheduling.kernel.parameters import UnknownName
from twin.management.headless import HeadlessCommand

WIDTHS = (1920, 1280, 390)
THEMES = ("light", "dark")
HEIGHT = 900
PATIENCE_MS = 60_000
# How many answers a page waits for, and a moment longer for what it does with them.
COUNT = """() => {
  const { fetch } = window;
  window.waiting = 0;
  window.fetch = (...asked) => {
    window.waiting++;
    return fetch(...asked).finally(() => setTimeout(() => window.waiting--, 100));
  };
}"""
# Pending work of a loaded page; the screenshot is taken when none is left.
SETTLED = (
    "() => document.readyState === 'complete' && window.waiting === 0 && (!window.twin?.store || "
    "window.twin.store.lastSeq > 0) && !/Loading …|Comparing the runs …/.test(document.querySelector('main').innerText)"
)
DRAWN = "() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(true))))"


class Command(HeadlessCommand):
    help = "Captures every page, light and dark, at 1920, 1280 and 390 px."
    unwinds = True

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--to",
            type=Path,
            default=settings.BASE_DIR / "screenshots",
            metavar="FOLDER",
            help="folder for the pictures",
        )
        parser.add_argument("--only", action="append", metavar="PAGE", help="name of a page; repeatable")

    def work(self, **options: Any) -> None:
        from benchmarks._chromium import chromium
        from benchmarks._demo import login_link
        from benchmarks._stack import stack

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
            page.goto(login_link(Path(data)))
            pages = _pages(page)
            unknown = [name for name in options["only"] or () if name not in pages]
            if unknown:
                raise UnknownName(f"unknown page {unknown[0]!r}; known: {', '.join(pages)}")
            wanted = {name: pages[name] for name in options["only"] or pages}
            session = context.storage_state()
            context.close()
            for width in WIDTHS:
                self._save(browser, url, session, wanted, folder, width)
        self.stdout.write(f"{len(wanted) * len(WIDTHS) * len(THEMES)} pictures in {folder}")

    def _save(self, browser: Any, url: str, session: Any, wanted: Mapping[str, str], folder: Path, width: int) -> None:
        """Screenshots of every page at that width in both themes; the login last, without the session."""
        context = browser.new_context(base_url=url, viewport={"width": width, "height": HEIGHT}, storage_state=session)
        context.add_init_script(f"({COUNT})()")
        page = context.new_page()
        page.set_default_timeout(PATIENCE_MS)
        for name, path in sorted(wanted.items(), key=lambda named: named[0] == "login"):
            if name == "login":
                context.clear_cookies()
            page.emulate_media(color_scheme=THEMES[0])
            page.goto(path)
            for theme in THEMES:
                page.emulate_media(color_scheme=theme)
                page.wait_for_function(SETTLED, polling=50)
                page.evaluate(DRAWN)
                page.screenshot(path=folder / f"{name}-{width}-{theme}.png", full_page=True)
        context.close()


def _pages(page: Any) -> Mapping[str, str]:
    """{name: path} of every page, after their runs have ended: a race of three, Harmony's groups, and a sweep."""
    from benchmarks._demo import ask, edited, ended, swept

    race = ask(page, "/api/scenarios/1/race/", {"schedulers": ["oasis", "fifo", "drf"]})
    made = ask(page, "/api/workloads/", {"profile": "harmony", "jobs": 40, "servers": 20})
    harmony = {
        "name": "Harmony, 40 jobs on 20 machines",
        "scheduler": "harmony",
        "cluster": made["cluster"]["id"],
        "trace": made["trace"]["id"],
    }
    groups = ask(page, "/api/runs/", {"scenario": ask(page, "/api/scenarios/", harmony)["id"], "mode": "batch"})
    scenario = edited(page)
    sweep = swept(page, scenario)
    runs = [run["id"] for run in race["runs"]]
    ended(page, [*runs, groups["id"]])
    first = f"/runs/{runs[0]}/"
    return {
        "login": "/login/", "overview": "/", "traces": "/traces/", "trace": "/traces/1/", "clusters": "/clusters/",
        "scenarios": "/scenarios/", "scenario": f"/scenarios/{scenario}/", "sweeps": "/sweeps/",
        "sweep": f"/sweeps/{sweep}/", "run": first, "run-live": "/runs/1/",
        "run-past": f"{first}?t=150000000&job=12&colour=state", "run-jobs": f"{first}?rows=jobs&colour=payoff&events=1",
        "run-groups": f"/runs/{groups['id']}/", "server": f"{first}servers/5/?t=150000000",
        "server-groups": f"/runs/{groups['id']}/servers/3/?t=30000000", "compare": "/compare/",
        "compared": race["compare"], "experiments": "/experiments/",
        "experiment": "/experiments/oasis_fig07_testbed_utility/", "audit": "/audit/",
    }  # fmt: skip
