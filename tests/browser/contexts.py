"""Browser contexts that tests use one after the other: what one test has loaded, the next finds in the caches.

A page loads some seventy scripts; their names hold their content, so a cached one is the one the server would send.
Each context is a Chromium with a profile on disk: only such a profile also keeps the scripts as they were compiled.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import BrowserContext, BrowserType, StorageState, ViewportSize

VIEWPORT: ViewportSize = {"width": 1280, "height": 900}
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
]
KEPT_BY_PAGES = "local_storage,indexeddb,cache_storage,service_workers,file_systems"


class Contexts:
    """Contexts for pages of one address; those that nobody uses are as new but for their caches."""

    def __init__(self, chromium: BrowserType, program: str, folder: Path, url: str, patience_ms: float) -> None:
        self.chromium, self.program, self.folder = chromium, program, folder
        self.url, self.patience_ms = url, patience_ms
        self.all: list[BrowserContext] = []
        self.free: list[BrowserContext] = []

    @contextmanager
    def lent(self, session: StorageState | None = None) -> Iterator[BrowserContext]:
        """A context that nobody else has meanwhile, with the cookies of the session."""
        context = self.free.pop() if self.free else self._made()
        if session:
            context.add_cookies(session["cookies"])
        try:
            yield context
        finally:
            self._clear(context)
            self.free.append(context)

    def close(self) -> None:
        for context in self.all:
            context.close()

    def _made(self) -> BrowserContext:
        """Its first page stays empty and open: Chromium ends with its last page."""
        profile = self.folder / str(len(self.all))
        context = self.chromium.launch_persistent_context(
            profile, executable_path=self.program, args=FLAGS, base_url=self.url, viewport=VIEWPORT
        )
        context.set_default_timeout(self.patience_ms)
        self.all.append(context)
        return context

    def _clear(self, context: BrowserContext) -> None:
        first, *others = context.pages
        for page in others:
            page.close()  # its sessionStorage, routes, size and media go with it
        context.set_offline(False)
        context.clear_permissions()
        context.clear_cookies()
        devtools = context.new_cdp_session(first)
        devtools.send("Storage.clearDataForOrigin", {"origin": self.url, "storageTypes": KEPT_BY_PAGES})
        devtools.detach()
