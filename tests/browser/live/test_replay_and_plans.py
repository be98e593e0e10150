"""The replay on the fidelity page, by the stack's own workers; and a plan that is approved, carried out and undone."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest
from django.conf import settings
from playwright.sync_api import Page, expect

from benchmarks._stack import environment
from tests.browser.conftest import Twin, watched
from tests.browser.contexts import Contexts

pytestmark = [pytest.mark.browser, pytest.mark.slow]
WIDTHS = (390, 1280)
REPLAYED = """
from tests.twin.studies.builders_shadows import busy_cluster
from twin.connectors.constraints import Constraints
from twin.models import Connection, Forecasting
passes = {"main_ms": 3_000, "backfill_ms": 30_000, "resolution_ms": 60_000, "window_ms": 86_400_000, "depth": 500}
connection = busy_cluster("replayed")
constraints = Constraints(backfill_ms=30_000, passes=passes).plain()
Forecasting.objects.update_or_create(connection=connection, defaults={"constraints": constraints})
Connection.objects.filter(pk=connection.pk).update(wanted=Connection.PAUSED)
"""
# a cluster in memory with two waiting jobs, a plan that exchanges them, and the acting process of the twin
ACTING = """
import signal, time
from tests.twin.acting.builders import MemoryCluster, approved
from twin.actuators.facts import WaitingJob
from twin.acting import rules
from twin.acting.actor import Actor
from twin.acting.plan import Wanted
from twin.models import Connection, Proposal
from twin.processes.stop_signal import stop_on
made = Connection.objects.get(name="{name}")
rules.change(made, {{"level": rules.ORDER, "calibrated": False}})
now_ms = time.time_ns() // 1_000_000
cluster = MemoryCluster(WaitingJob("17", now_ms, 200, user="ann", queue="gpu"),
                        WaitingJob("18", now_ms, 100, user="ben", queue="gpu"))
plan = approved(made, cluster, "order", [Wanted("18", now_ms, now_ms + 60_000), Wanted("17", now_ms, now_ms + 120_000)])
rows = plan.plan["rows"]
rows[0]["estimate_ms"] = now_ms + 600_000
plan.plan["waiting"] = 2
Proposal.objects.filter(pk=plan.pk).update(status=Proposal.PROPOSED, approved_at=None, plan=plan.plan)
stop = stop_on(signal.SIGTERM)
print("ready", flush=True)
Actor(made, cluster, stop).run()
"""


def shell(twin: Twin, script: str) -> list[str]:
    return [sys.executable, str(settings.BASE_DIR / "manage.py"), "shell", "-c", script]


def given(twin: Twin) -> dict[str, str]:
    return environment(twin.folder) | {"PYTHONPATH": str(settings.BASE_DIR)}


@contextmanager
def acting(twin: Twin, name: str) -> Iterator[None]:
    """A plan for the waiting jobs of a connection, and an acting process of it."""
    command = shell(twin, ACTING.format(name=name))
    with subprocess.Popen(
        command, env=given(twin), cwd=settings.BASE_DIR, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        try:
            assert "ready\n" in iter(process.stdout.readline, ""), "the acting process begins"
            yield
        finally:
            process.send_signal(signal.SIGTERM)


def narrow_and_wide(page: Page) -> None:
    for width in WIDTHS:
        page.set_viewport_size({"width": width, "height": 900})
        assert page.evaluate("() => document.documentElement.scrollWidth <= innerWidth"), f"{width} px are too few"


@pytest.fixture
def open_page(contexts: Contexts, twin: Twin) -> Iterator[Callable[..., Page]]:
    """The same for somebody who may approve plans."""
    with contexts.lent() as context:
        context.new_page().goto(twin.login_link("approver"))
        session = context.storage_state()
    with watched(contexts, session) as opener:
        yield opener


def test_a_replay_is_computed_and_compared_with_what_happened(open_page: Callable[..., Page], twin: Twin) -> None:
    subprocess.run(shell(twin, REPLAYED), env=given(twin), cwd=settings.BASE_DIR, capture_output=True, check=True)
    page = open_page("/live/replayed/fidelity/")
    section = page.locator("section", has=page.get_by_role("heading", name="Replay by a model of the cluster’s policy"))
    expect(section).to_contain_text("No replay yet")
    section.locator("#hours").select_option("1")
    section.get_by_role("button", name="Compute now").click()
    expect(section.locator("dl div", has_text="Starts in step")).to_contain_text("100 %", timeout=120_000)
    expect(section.locator("dl div", has_text="Starts within 30 s")).to_contain_text("100 %")
    expect(section).to_contain_text("20 jobs that completed in both")
    expect(section).to_contain_text("No start differs by more than 30 s")
    section.get_by_text("Assumptions").click()
    expect(section).to_contain_text("The main scheduler runs at most once every 3 s")
    expect(section).to_contain_text("Reservations of nodes, required nodes and preemption are not simulated")
    narrow_and_wide(page)
    section.get_by_role("link", name="Compare the runs").click()
    expect(page.locator("main")).to_contain_text("Slurm")


def test_a_plan_is_approved_carried_out_and_undone(open_page: Callable[..., Page], twin: Twin, followed: str) -> None:
    with acting(twin, followed):
        page = open_page(f"/live/{followed}/plans/")
        plan = page.get_by_role("region", name=re.compile(r"Plan \d+"))
        expect(plan).to_contain_text("2 jobs of 2 waiting jobs changed")
        first = plan.locator("tbody tr").first
        expect(first).to_contain_text("set 18 nice=-100")
        expect(plan.locator("th", has_text="Cluster's estimate")).to_be_visible()
        expect(first).to_contain_text("not sent")
        narrow_and_wide(page)
        plan.get_by_role("button", name="Approve").click()
        expect(page.get_by_role("dialog")).to_contain_text("makes 2 changes on the cluster")
        page.get_by_role("dialog").get_by_role("button", name="Approve").click()
        expect(plan.locator(".state")).to_have_text("applied")
        expect(plan.locator("tbody tr", has_text="verified")).to_have_count(2)
        plan.get_by_role("button", name="Undo", exact=True).click()
        expect(plan.locator(".state")).to_have_text("undone")
        expect(plan).to_contain_text("Undo: an operator requested it.")
