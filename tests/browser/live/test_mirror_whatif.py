"""What-if from a real cluster: the form on the page of a mirrored run, the fork that it makes, comparison, and Ask."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Callable

import pytest
from django.conf import settings
from playwright.sync_api import Page, expect

from benchmarks._stack import environment
from tests.browser.conftest import Twin, open_controls

pytestmark = [pytest.mark.browser, pytest.mark.slow]
MAKE = """
from tests.twin.mirror.whatif.builders_forty import mirrored_run
from twin.models import Connection
run = mirrored_run("{name}")
Connection.objects.filter(name="{name}").update(wanted=Connection.PAUSED)
print(run.pk)
"""


def mirrored(twin: Twin, name: str) -> int:
    """Forty minutes of a cluster in the database of the stack; nobody follows it further."""
    command = [sys.executable, str(settings.BASE_DIR / "manage.py"), "shell", "-c", MAKE.format(name=name)]
    environ = environment(twin.folder) | {"PYTHONPATH": str(settings.BASE_DIR)}
    done = subprocess.run(command, env=environ, cwd=settings.BASE_DIR, capture_output=True, text=True, check=True)
    return int(done.stdout.split()[-1])


@pytest.mark.parametrize("width", [1280, 390])
def test_a_mirrored_run_is_forked_compared_and_asked(open_page: Callable[..., Page], twin: Twin, width: int) -> None:
    run = mirrored(twin, f"lab-{width}")
    page = open_page(f"/runs/{run}/", viewport={"width": width, "height": 900})
    page.wait_for_function("() => window.twin?.store.simMs > 0 && window.twin.store.bars.length > 1")
    page.evaluate("() => window.twin.playhead.scrub(window.twin.store.simMs - 1150e3)")  # minute 11
    open_controls(page)
    page.get_by_role("button", name="What-if", exact=True).click()
    dialog = page.locator("dialog.confirm")
    expect(dialog.get_by_role("heading")).to_contain_text("What-if from")
    inside = "(form) => form.scrollWidth <= form.clientWidth && form.getBoundingClientRect().right <= innerWidth"
    assert page.locator("#cut-form").evaluate(inside)
    page.locator("#cut-assumed").fill("soon")
    dialog.get_by_role("button", name="Run", exact=True).click()
    expect(page.locator("#cut-error")).to_contain_text("must be a duration")
    page.locator("#cut-assumed").fill("30 min")
    page.locator("#cut-arrivals").select_option("yes")
    dialog.get_by_role("button", name="Run", exact=True).click()
    page.wait_for_url(lambda url: re.search(r"/runs/\d+/", url) is not None and f"/runs/{run}/" not in url)
    expect(page.locator("#status")).to_have_text("finished")
    expect(page.locator("#cut-notes")).to_contain_text("2 running jobs, 1 waiting job, 1 job that arrived later")
    expect(page.locator("#cut-notes")).to_contain_text("placed again on any node")
    page.get_by_role("link", name=f"Compare with run {run}").click()
    expect(page.locator("main")).to_contain_text("different execution models")
    page.goto(f"/runs/{run}/")
    page.locator("#ask-like").fill("3")
    page.get_by_role("button", name="Add a field").click()
    page.get_by_label("Field", exact=True).select_option(label="Duration")
    page.get_by_label("Duration", exact=True).fill("2")
    page.get_by_label("Unit of Duration").select_option(label="min")
    page.get_by_role("button", name="Ask", exact=True).click()
    expect(page.locator(".answer")).to_contain_text("Answered by FIFO.")
    expect(page.locator(".answer")).to_contain_text("with duration 2m")
    expect(page.locator(".answer")).to_contain_text("FIFO would start it")
