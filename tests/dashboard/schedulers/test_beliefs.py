"""Runs whose schedulers know believed run times: prices, counterfactuals, downloads, and what is refused."""

import json

import numpy as np
import pytest

from scheduling.model.values import RESOURCES
from scheduling.slotted.counterfactuals import unit_of
from tests.dashboard.builders import downloaded
from tests.twin.runtime.queues import work
from twin.models import Run, Scenario
from twin.runs import runner
from twin.scenarios import store


@pytest.fixture
def believed_run(make_run) -> Run:
    """OASiS on jobs of which every other one is believed to take a third of its time, and the others twice."""
    run = make_run(scheduler="oasis")
    cluster, jobs = store.of_run(run)
    simulation = store.simulation(run)
    pace = simulation.scheduler.model.pace(simulation.scheduler, cluster)
    shares = (0.33, 2.0)
    believed = [max(1, round(pace.alone_ms(row) * shares[place % 2])) for place, row in enumerate(jobs)]
    Scenario.objects.filter(pk=run.scenario_id).update(beliefs={"name": "similar-p90", "believed_ms": believed})
    runner.enqueue(run.pk)
    work()
    return Run.objects.select_related("scenario").get(pk=run.pk)


def test_prices_are_the_schedulers_own(viewer, believed_run):
    assert believed_run.status == Run.FINISHED
    simulation = store.simulation(believed_run)
    events = list(simulation.events())
    assert sum(event.data.get("kind") == "overran" for event in events) > 1
    wanted = simulation.scheduler.prices(np.arange(simulation.scheduler.horizon))
    for server in (0, 5):
        found = viewer.get(f"/api/runs/{believed_run.pk}/prices/{server}/").json()
        for r, name in enumerate(RESOURCES):
            prices = [np.nan if price is None else price for price in found["prices"][name]]
            assert prices == pytest.approx(wanted[:, server, r].tolist(), rel=1e-5, nan_ok=True)


def test_counterfactuals_are_about_the_first_decision_with_what_was_known(viewer, believed_run):
    """Of the jobs whose first decision was a rejection: the least priority is that of a utility above the cost."""
    first = {}
    for event in store.simulation(believed_run).events():
        if event.kind == "decided":
            first.setdefault(event.data["job"], event.data)
    rejected = [data for data in first.values() if data["code"] == "payoff_not_positive"]
    assert rejected
    for data in rejected:
        address = f"/api/runs/{believed_run.pk}/jobs/{data['job']}/counterfactuals/?seconds=30"
        rows = viewer.get(address).json()["rows"]
        priority = next(row for row in rows if row["what"] == "priority")
        values = data["values"]
        factor = values["cost"] / values["utility"]  # with which the schedule that was considered would pay
        if factor > 1e6:
            assert priority["value"] is None, "the search ends at a million"
        else:
            value, actual = priority["value"], priority["actual"]
            assert actual < value <= factor * actual + unit_of(value)


def test_summary_and_log_state_the_beliefs(viewer, believed_run):
    summary = viewer.get(f"/api/runs/{believed_run.pk}/summary.json").json()
    assert summary["beliefs"] == "similar-p90"
    answer = viewer.get(f"/api/runs/{believed_run.pk}/events.jsonl")
    lines = downloaded(answer).splitlines()
    assert json.loads(lines[0])["data"]["beliefs"] == "similar-p90"


def test_forks_are_refused_with_what_would_work(operator, believed_run):
    answer = operator.post(f"/api/runs/{believed_run.pk}/forks/", {"at_ms": 1}, content_type="application/json")
    assert answer.status_code == 400
    assert "uses predicted run times and cannot be forked; choose the shadow" in answer.json()["detail"]
