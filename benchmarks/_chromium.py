"""A Chromium for the rows that measure the browser."""

from __future__ import annotations

import os
import shutil
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from types import FrameType
from typing import Any

from benchmarks import Skip
from benchmarks._stack import process_tree

NAMES = ("chromium", "chromium-browser", "google-chrome")
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
         "--disable-sync", "--disable-component-update", "--disable-dev-shm-usage"]  # fmt: skip


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
    before = set(process_tree(os.getpid()))
    with sync_playwright() as playwright:
        driver = next(pid for pid in process_tree(os.getpid()) if pid not in before)
        with _stopped_with(driver):
            browser = playwright.chromium.launch(executable_path=found, args=FLAGS)
            try:
                yield browser
            finally:
                browser.close()


@contextmanager
def _stopped_with(driver: int) -> Iterator[None]:
    """SIGTERM and SIGINT end Playwright's driver first, and only then do what they did before.

    An exception that a handler raises inside Playwright's loop ends the loop, and the next call, be it close(), waits
    for it for ever at full speed. Without its driver every call fails at once.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    signals: list[int] = []

    def stop(number: int, frame: FrameType | None) -> None:
        signals.append(number)
        with suppress(ProcessLookupError):
            os.kill(driver, signal.SIGTERM)

    before = {number: signal.signal(number, stop) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    except Exception:
        if not signals:
            raise
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        if signals:
            signal.raise_signal(signals[0])
