"""A Chromium for the rows that measure the browser."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from twin.bench import Skip

NAMES = ("chromium", "chromium-browser", "google-chrome")
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-sync",
         "--disable-component-update", "--disable-dev-shm-usage"]  # fmt: skip


@contextmanager
def chromium() -> Iterator[Any]:
    """A headless browser of Playwright's; Skip when it or Chromium is missing."""
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        raise Skip("playwright is not installed (bin/prepare requirements-dev.txt)") from None
    found = next(filter(None, map(shutil.which, NAMES)), None)
    if found is None:
        raise Skip("no Chromium on PATH")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=found, args=FLAGS)
        try:
            yield browser
        finally:
            browser.close()
