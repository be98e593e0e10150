"""The page of shadows: empty, after a set was computed by the stack's own workers, and what its links open."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from django.conf import settings
from playwright.sync_api import Page, expect

from benchmarks._stack import environment
from tests.browser.conftest import Twin

pytestmark = [pytest.mark.browser, pytest.mark.slow]
MAKE = """
from tests.twin.studies.builders_shadows import busy_cluster
from twin.models import Connection
busy_cluster("{name}")
Connection.objects.filter(name="{name}").update(wanted=Connection.PAUSED)
"""


def busy(twin: Twin, name: str) -> None:
    """An hour of a cluster in the database of the stack; nobody follows it further."""
    command = [sys.executable, str(settings.BASE_DIR / "manage.py"), "shell", "-c", MAKE.format(name=name)]
    environ = environment(twin.folder) | {"PYTHONPATH": str(settings.BASE_DIR)}
    subprocess.run(command, env=environ, cwd=settings.BASE_DIR, capture_output=True, text=True, check=True)


def pictured(page: Page, name: str) -> None:
    """A screenshot where one is asked for (TWIN_PICTURES=folder)."""
    if folder := os.environ.get("TWIN_PICTURES"):
        page.screenshot(path=Path(folder) / f"{name}.png", full_page=True)


def test_a_set_is_computed_and_its_runs_are_opened_and_compared(open_page: Callable[..., Page], twin: Twin) -> None:
    busy(twin, "busy")
    page = open_page("/live/busy/", viewport={"width": 1280, "height": 900})
    page.get_by_role("link", name="Shadows", exact=True).click()
    expect(page.locator("#sets")).to_contain_text("No shadows yet")
    pictured(page, "shadows-empty")
    page.locator("#hours").select_option("1")
    page.get_by_role("button", name="Compute now").click()
    expect(page.locator("#cancel")).to_be_visible()
    expect(page.locator("#going")).to_have_text(re.compile(r"\d+ of \d+ shadows computed"), timeout=60_000)
    pictured(page, "shadows-progress")
    expect(page.locator("#sets")).to_contain_text("Actual durations", timeout=180_000)
    heading = page.get_by_role("heading", name="Durations predicted at submission")
    predicted = page.locator("section", has=heading)
    expect(predicted).to_contain_text("Schedulers know only the run time that was predicted when the job arrived")
    expect(predicted).to_contain_text(
        re.compile(r"A_online.*: cannot run on predicted run times, because it places each chunk of a job separately\.")
    )
    expect(predicted.locator("tr[data-scheduler=fifo]")).not_to_contain_text("better")
    row = page.locator("tr[data-scheduler=fifo]").last
    expect(row).to_contain_text("6 s")
    expect(row).not_to_contain_text("better")
    expect(page.locator("#facts")).to_contain_text("different execution models")
    expect(page.locator("#facts")).to_contain_text("24 jobs, 20 of them ended")
    for width in (390, 1280, 1920):
        page.set_viewport_size({"width": width, "height": 900})
        for scheme in ("light", "dark"):
            page.emulate_media(color_scheme=scheme)
            assert page.evaluate("() => document.documentElement.scrollWidth <= innerWidth")
            pictured(page, f"shadows-{width}-{scheme}")
    row.get_by_role("link", name="compare").click()
    expect(page.locator("main")).to_contain_text("different execution models")
