"""The real stack, once a session, and a real Chromium: every page must leave the console empty."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Literal, NamedTuple

import pytest
from django.conf import settings
from playwright.sync_api import BrowserContext, Page, Playwright, StorageState, ViewportSize, expect, sync_playwright

from benchmarks._stack import environment, stack
from tests.browser.contexts import VIEWPORT, Contexts
from tests.browser.pushed import Pushed
from tests.twin.runtime import prepared
from twin.studies.demo import SPEED as DEMO_SPEED

# Chromium's own word on a page that is left while its socket opens
LEFT = "closed before the connection is established"
MAX_WAIT_MS = 20_000  # the machine may be busy; every wait ends as soon as its condition holds
expect.set_options(timeout=MAX_WAIT_MS)

Theme = Literal["light", "dark"]


class Twin(NamedTuple):
    """A running stack: where it listens, and how to get a login link of a role."""

    url: str
    folder: Path

    def login_link(self, role: str = "operator") -> str:
        command = [sys.executable, str(settings.BASE_DIR / "manage.py"), "login_link", "--role", role]
        done = subprocess.run(command, env=environment(self.folder), capture_output=True, text=True, check=True)
        return self.url + done.stdout.strip()


@pytest.fixture(scope="session")
def chromium() -> str:
    """The path of the program."""
    found = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if found is None:
        say = pytest.fail if os.environ.get("TWIN_REQUIRE_BROWSER") == "1" else pytest.skip
        say("no Chromium on PATH (on Debian: apt-get install chromium)")
    return found


@pytest.fixture(scope="session")
def twin(chromium: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Twin]:
    folder = tmp_path_factory.mktemp("twin")
    prepared.fill(folder)
    with stack(folder, "--demo") as (_, url):
        yield Twin(url, folder)


@pytest.fixture(scope="session")
def playwright() -> Iterator[Playwright]:
    """Playwright's driver: a process can have one."""
    with sync_playwright() as driver:
        yield driver


@pytest.fixture(scope="session")
def contexts(
    playwright: Playwright, chromium: str, twin: Twin, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Contexts]:
    made = Contexts(playwright.chromium, chromium, tmp_path_factory.mktemp("profiles"), twin.url, MAX_WAIT_MS)
    yield made
    made.close()


@pytest.fixture(scope="session")
def operator_session(contexts: Contexts, twin: Twin) -> StorageState:
    """The cookies of a logged-in operator."""
    with contexts.lent() as context:
        context.new_page().goto(twin.login_link())
        return context.storage_state()


def open_controls(page: Page) -> None:
    """The controls of a run page are behind a button on a phone."""
    if page.locator("#fold").is_visible():
        page.locator("#fold").click()


def posted(page: Page, path: str, body: dict) -> dict:
    """The answer to a POST of the API, as a page sends it."""
    script = """async ([path, body]) => {
      const token = document.querySelector('meta[name="csrf-token"]').content;
      const headers = { 'Content-Type': 'application/json', 'X-CSRFToken': token };
      return (await fetch(path, { method: 'POST', headers, body: JSON.stringify(body) })).json(); }"""
    return dict(page.evaluate(script, [path, body]))


def posted_scenario(page: Page, name: str = "Small", jobs: int = 30, servers: int = 10) -> dict:
    """A new scenario of a workload of OASiS under OASiS."""
    made = posted(page, "/api/workloads/", {"profile": "oasis", "jobs": jobs, "servers": servers, "seed": 4})
    inputs = {"cluster": made["cluster"]["id"], "trace": made["trace"]["id"]}
    return posted(page, "/api/scenarios/", {"name": name, **inputs, "scheduler": "oasis", "seed": 1})


@pytest.fixture
def live_run(contexts: Contexts, operator_session: StorageState) -> Iterator[int]:
    """A live run of the demo's scenario that has just begun: the demo itself ends after 200 s and is replaced."""
    with contexts.lent(operator_session) as context:
        page = context.new_page()
        page.goto("/clusters/")
        run = int(posted(page, "/api/runs/", {"scenario": 1, "mode": "live", "speed": DEMO_SPEED})["id"])
        yield run
        posted(page, f"/api/runs/{run}/cancel/", {})


@pytest.fixture(scope="session")
def followed(contexts: Contexts, twin: Twin, operator_session: StorageState) -> Iterator[str]:
    """The name of a made-up cluster that posts its events and is followed."""
    with contexts.lent(operator_session) as context:
        page = context.new_page()
        page.goto("/live/")
        token = posted(page, "/api/tokens/", {"name": "shown", "scopes": ["ingest:shown"]})["value"]
        cluster = Pushed(twin.url, "shown", token)
        cluster.begin()
        posted(page, "/api/connections/", {"name": "shown", "connector": "push", "parameters": {"source": "shown"}})
        page.goto("/live/shown/")
        page.wait_for_function("() => window.twin?.store.bars.length > 0", timeout=2 * MAX_WAIT_MS)
    with cluster.beating():
        yield "shown"


@pytest.fixture(scope="session")
def finished_run(contexts: Contexts, operator_session: StorageState) -> int:
    """A batch run of the demo's scenario (80 jobs, 80 servers, OASiS), to its end."""
    with contexts.lent(operator_session) as context:
        page = context.new_page()
        page.goto("/")
        run = posted(page, "/api/runs/", {"scenario": 1, "mode": "batch"})["id"]
        page.goto(f"/runs/{run}/")
        expect(page.locator("#status")).to_have_text("finished")
    return int(run)


@pytest.fixture
def context(contexts: Contexts, operator_session: StorageState) -> Iterator[BrowserContext]:
    """Of an operator's pages that may write to their consoles: of a lost connection, or of an answer refused."""
    with contexts.lent(operator_session) as context:
        yield context


@pytest.fixture
def open_page(contexts: Contexts, operator_session: StorageState) -> Iterator[Callable[..., Page]]:
    """open_page(path, ...) -> a page of a context of its own; at the end no page may have written to its console."""
    with watched(contexts, operator_session) as opener:
        yield opener


@contextmanager
def watched(contexts: Contexts, session: StorageState | None) -> Iterator[Callable[..., Page]]:
    written: list[str] = []
    expected = [LEFT]
    with ExitStack() as lent:

        def open_page(
            path: str, refused: int = 0, viewport: ViewportSize = VIEWPORT, color_scheme: Theme = "light"
        ) -> Page:
            """refused: a status of an answer that is refused on purpose, which Chromium reports on the console."""
            if refused:
                expected.append(f"responded with a status of {refused}")
            page = lent.enter_context(contexts.lent(session)).new_page()
            page.set_viewport_size(viewport)
            page.emulate_media(color_scheme=color_scheme)
            page.on("console", lambda message: written.append(f"{page.url}: {message.type}: {message.text}"))
            page.on("pageerror", lambda error: written.append(f"{page.url}: {error}"))
            page.goto(path)
            return page

        yield open_page
    assert [line for line in written if not any(part in line for part in expected)] == []
