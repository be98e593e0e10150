"""manage.py screenshots: every page and state of a separate demo twin, light and dark, wide and narrow."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from django.conf import settings
from django.core.management.base import CommandParser

from scheduling.kernel.parameters import UnknownName
from twin.management.headless import HeadlessCommand

if TYPE_CHECKING:
    from benchmarks._views import View

WIDTHS = (1920, 1280, 390)
THEMES = ("light", "dark")
HEIGHT = 900
MAX_WAIT_MS = 60_000
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
# Scrolls through the page: some pictures are drawn when they are first seen.
SEEN = """async () => {
  for (let y = 0; y < document.body.scrollHeight; y += innerHeight) {
    scrollTo(0, y);
    await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
  }
  scrollTo(0, 0);
}"""
DRAWN = "() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(true))))"


class Command(HeadlessCommand):
    help = "Captures every page and state, light and dark, at 1920, 1280 and 390 px."
    unwinds = True

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--to",
            type=Path,
            default=settings.BASE_DIR / "screenshots",
            metavar="FOLDER",
            help="folder for the pictures",
        )
        parser.add_argument("--only", action="append", metavar="PAGE", help="name of a page or state; repeatable")
        parser.add_argument("--width", action="append", type=int, metavar="PX", help="width; repeatable; default: all")
        parser.add_argument(
            "--big", action="store_true", help="also capture a run of 20,000 jobs, which takes some minutes"
        )

    def work(self, **options: Any) -> None:
        from benchmarks._chromium import chromium
        from benchmarks._stack import stack
        from benchmarks._views import EMPTY, views

        folder: Path = options["to"]
        folder.mkdir(parents=True, exist_ok=True)
        widths = options["width"] or WIDTHS
        taken = 0
        with tempfile.TemporaryDirectory(prefix="twin-screenshots-") as data, chromium() as browser:
            for name in ("demo", "empty"):
                own = Path(data) / name
                own.mkdir()
                with stack(own, *(["--demo"] if name == "demo" else [])) as (_, url):
                    context, page = _entered(browser, own, url)
                    known = views(page, url, options["big"]) if name == "demo" else EMPTY
                    if name == "demo":
                        _checked(options["only"], [*known, *EMPTY])
                    wanted = {view: known[view] for view in known if view in (options["only"] or known)}
                    session = context.storage_state()
                    context.close()
                    for width in widths:
                        self._save(browser, url, session, wanted, folder, width)
                    taken += len(wanted) * len(widths) * len(THEMES)
        self.stdout.write(f"{taken} pictures in {folder}")

    def _save(self, browser: Any, url: str, session: Any, wanted: Mapping[str, View], folder: Path, width: int) -> None:
        """Screenshots of every view at that width in both themes; the login last, without the session."""
        context = browser.new_context(base_url=url, viewport={"width": width, "height": HEIGHT}, storage_state=session)
        context.add_init_script(f"({COUNT})()")
        page = context.new_page()
        page.set_default_timeout(MAX_WAIT_MS)
        for name, view in sorted(wanted.items(), key=lambda named: named[0] == "login"):
            if name == "login":
                context.clear_cookies()
            page.emulate_media(color_scheme=THEMES[0], media=view.media)
            page.mouse.move(0, 0)  # from a button of the view before
            page.goto(view.path)
            page.wait_for_function(SETTLED, polling=50)
            page.evaluate(SEEN)
            if view.act:
                view.act(page)
            for theme in THEMES:
                page.emulate_media(color_scheme=theme, media=view.media)
                page.wait_for_function(SETTLED, polling=50)
                page.evaluate(DRAWN)
                page.screenshot(path=folder / f"{name}-{width}-{theme}.png", full_page=True)
        context.close()


def _entered(browser: Any, data: Path, url: str) -> tuple[Any, Any]:
    """A context of an administrator, and its page."""
    from benchmarks._demo import login_link

    context = browser.new_context(base_url=url)
    page = context.new_page()
    page.set_default_timeout(MAX_WAIT_MS)
    page.goto(login_link(data, "admin"))
    return context, page


def _checked(wanted: Sequence[str] | None, known: Sequence[str]) -> None:
    unknown = [name for name in wanted or () if name not in known]
    if unknown:
        raise UnknownName(f"unknown page {unknown[0]!r}; known: {', '.join(known)}")
