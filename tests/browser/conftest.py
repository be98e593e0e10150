"""The real stack, once a session, and a real Chromium: every page must leave the console empty."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import pytest
from django.conf import settings
from playwright.sync_api import Browser, BrowserContext, Page, expect, sync_playwright

from benchmarks._stack import environment, stack
from tests.browser.pushed import Pushed
from twin.studies.demo import SPEED as DEMO_SPEED

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
# Chromium's own word on a page that is left while its socket opens
LEFT = "closed before the connection is established"
PATIENCE_MS = 20_000  # the machine may be busy; every wait ends as soon as its condition holds
expect.set_options(timeout=PATIENCE_MS)


class Twin(NamedTuple):
    """A running stack: where it listens, and how to get a login link of a role."""

    url: str
    folder: Path

    def login_link(self, role: str = "operator") -> str:
        command = [sys.executable, str(settings.BASE_DIR / "manage.py"), "login_link", "--role", role]
        done = subprocess.run(command, env=environment(self.folder), capture_output=True, text=True, check=True)
        return self.url + done.stdout.strip()


@pytest.fixture(scope="session")
def chromium() -> Iterator[Browser]:
    found = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if found is None:
        say = pytest.fail if os.environ.get("TWIN_REQUIRE_BROWSER") == "1" else pytest.skip
        say("no Chromium on PATH (on Debian: apt-get install chromium)")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=found, args=FLAGS)
        yield browser
        browser.close()


@pytest.fixture(scope="session")
def twin(chromium: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Twin]:
    folder = tmp_path_factory.mktemp("twin")
    with stack(folder, "--demo") as (_, url):
        yield Twin(url, folder)


@pytest.fixture(scope="session")
def operator_session(chromium: Browser, twin: Twin) -> dict:
    """The cookies of a logged-in operator."""
    context = chromium.new_context()
    context.new_page().goto(twin.login_link())
    state = context.storage_state()
    context.close()
    return dict(state)


def posted(page: Page, path: str, body: dict) -> dict:
    """The answer to a POST of the API, as a page sends it."""
    script = """async ([path, body]) => {
      const token = document.querySelector('meta[name="csrf-token"]').content;
      const headers = { 'Content-Type': 'application/json', 'X-CSRFToken': token };
      return (await fetch(path, { method: 'POST', headers, body: JSON.stringify(body) })).json(); }"""
    return dict(page.evaluate(script, [path, body]))


@pytest.fixture
def live_run(chromium: Browser, twin: Twin, operator_session: dict) -> Iterator[int]:
    """A live run of the demo's scenario that has just begun: the demo itself ends after 200 s and is replaced."""
    context = chromium.new_context(base_url=twin.url, storage_state=operator_session)  # type: ignore[arg-type]
    page = context.new_page()
    page.goto("/clusters/")
    run = int(posted(page, "/api/runs/", {"scenario": 1, "mode": "live", "speed": DEMO_SPEED})["id"])
    yield run
    posted(page, f"/api/runs/{run}/cancel/", {})
    context.close()


@pytest.fixture(scope="session")
def followed(chromium: Browser, twin: Twin, operator_session: dict) -> str:
    """The name of a made-up cluster that posts its events and is followed."""
    context = chromium.new_context(base_url=twin.url, storage_state=operator_session)
    page = context.new_page()
    page.goto("/live/")
    token = posted(page, "/api/tokens/", {"name": "shown", "scopes": ["ingest:shown"]})["value"]
    Pushed(twin.url, "shown", token).begin()
    posted(page, "/api/connections/", {"name": "shown", "connector": "push", "parameters": {"source": "shown"}})
    page.goto("/live/shown/")
    page.wait_for_function("() => window.twin?.store.bars.length > 0", timeout=2 * PATIENCE_MS)
    context.close()
    return "shown"


@pytest.fixture(scope="session")
def finished_run(chromium: Browser, twin: Twin, operator_session: dict) -> int:
    """A batch run of the demo's scenario (80 jobs, 80 servers, OASiS), to its end."""
    context = chromium.new_context(base_url=twin.url, storage_state=operator_session)
    page = context.new_page()
    page.goto("/")
    run = posted(page, "/api/runs/", {"scenario": 1, "mode": "batch"})["id"]
    page.goto(f"/runs/{run}/")
    expect(page.locator("#status")).to_have_text("finished")
    context.close()
    return int(run)


@pytest.fixture
def open_page(chromium: Browser, twin: Twin, operator_session: dict) -> Iterator[Callable[..., Page]]:
    """open_page(path, **context options) -> a page; at the end no page may have written anything to its console."""
    with watched(chromium, twin, operator_session) as opener:
        yield opener


@contextmanager
def watched(chromium: Browser, twin: Twin, session: dict | None) -> Iterator[Callable[..., Page]]:
    contexts: list[BrowserContext] = []
    written: list[str] = []
    expected = [LEFT]

    def open_page(path: str, refused: int = 0, **options: object) -> Page:
        """refused: a status of an answer that is refused on purpose, which Chromium reports on the console."""
        if refused:
            expected.append(f"responded with a status of {refused}")
        given: dict = {"viewport": {"width": 1280, "height": 900}, "storage_state": session, **options}
        context = chromium.new_context(base_url=twin.url, **given)
        context.set_default_timeout(PATIENCE_MS)
        contexts.append(context)
        page = context.new_page()
        page.on("console", lambda message: written.append(f"{page.url}: {message.type}: {message.text}"))
        page.on("pageerror", lambda error: written.append(f"{page.url}: {error}"))
        page.goto(path)
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert [line for line in written if not any(part in line for part in expected)] == []
