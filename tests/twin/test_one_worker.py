"""Background tasks that one worker at a time computes: meanwhile they are neither requested nor computed again."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any, NamedTuple
from unittest.mock import Mock

import pytest
from django.utils import timezone

from tests.twin.mirror.builders_stored import POLLS, following
from twin import tasks
from twin.acting import planning_task
from twin.analysis import closing_metrics, state_task
from twin.eventlog import stored_states
from twin.infra.errors import Refused
from twin.mirror import background_work, borders, drift_task, stored
from twin.mirror.forecasts import forecast_task
from twin.models import Connection, Proposal, Run, TaskLease
from twin.processes import bounded_process
from twin.runs import lease

pytestmark = pytest.mark.django_db


class Lab(NamedTuple):
    """Keys of what is due in a cluster that is in its second run: state and metrics of the first one, and a plan."""

    run: int
    connection: int
    proposal: int


class Case(NamedTuple):
    requests: Callable[[], Any]
    task: Callable[[int], None]
    key: str  # field of Lab


CASES = {
    "state": Case(state_task.Requests, tasks.store_state, "run"),
    "metrics": Case(closing_metrics.Requests, tasks.measure_mirror, "run"),
    "audit": Case(drift_task.Requests, tasks.audit_mirror, "connection"),
    "forecast": Case(forecast_task.Requests, tasks.forecast_mirror, "connection"),
    "plan": Case(planning_task.Requests, tasks.plan_proposal, "proposal"),
}


@pytest.fixture
def lab(monkeypatch) -> Lab:
    monkeypatch.setattr("twin.processes.requests.send", Mock())
    monkeypatch.setattr(forecast_task, "send", Mock())
    monkeypatch.setattr(stored_states, "MIN_BEHIND", 1)
    monkeypatch.setattr(drift_task, "FIRST_S", -1.0)
    connection = Connection.objects.create(name="lab", connector="slurm")
    one = following(connection, *POLLS[:3])
    for each in POLLS[:3]:
        one.apply(each)
    connection.refresh_from_db()
    first = connection.run
    lease.release(one.write.run)
    borders.cross(connection, lease.take(first.pk, simulated=False), stored.load(connection))
    proposal = Proposal.objects.create(connection=connection, run=first, status=Proposal.COMPUTING)
    return Lab(first.pk, connection.pk, proposal.pk)


@pytest.mark.parametrize("name", CASES)
def test_what_is_in_progress_is_neither_requested_nor_computed_again(lab, monkeypatch, name):
    case, computed = CASES[name], []
    key = getattr(lab, case.key)

    def compute(work, *, limit_s, wanted):
        computed.append(key)
        assert wanted()
        assert case.requests().refresh() == [], "not even by a ticker that has just been started"
        case.task(key)  # another worker has accepted a second request
        return "unwanted"

    monkeypatch.setattr(bounded_process, "run", compute)
    assert case.requests().refresh() == [key]
    case.task(key)
    assert computed == [key]
    assert case.requests().refresh() == [key], "it was not done, and its lease is free"


@pytest.mark.parametrize("name", CASES)
def test_work_whose_lease_another_worker_has_taken_over_ends(lab, monkeypatch, name):
    case, wanting = CASES[name], []

    def compute(work, *, limit_s, wanted):
        wanting.append(wanted())
        TaskLease.objects.update(owner="elsewhere.example/1.1")
        wanting.append(wanted())
        return "unwanted"

    monkeypatch.setattr(bounded_process, "run", compute)
    case.task(getattr(lab, case.key))
    assert wanting == [True, False]
    assert TaskLease.objects.get().owner == "elsewhere.example/1.1"


@pytest.mark.parametrize("name", ["metrics", "audit", "forecast"])
def test_work_that_is_cancelled_ends_and_is_not_computed_until_it_is_requested(lab, monkeypatch, name):
    case, wanting = CASES[name], []
    key = getattr(lab, case.key)
    connection, run = Connection.objects.get(), Run.objects.get(pk=lab.run)
    work = {
        "metrics": background_work.metrics_of(run),
        "audit": background_work.audit_of(connection),
        "forecast": background_work.forecast_of(connection),
    }[name]

    def compute(_, *, limit_s, wanted):
        wanting.append((work.state(), wanted()))
        work.cancel()
        wanting.append((work.state(), wanted()))
        return "unwanted"

    monkeypatch.setattr(bounded_process, "run", compute)
    with pytest.raises(Refused, match=r"is not in progress; there is nothing to cancel"):
        work.cancel()
    case.task(key)
    assert wanting == [("computing", True), ("cancelled", False)]
    assert case.requests().refresh() == []
    case.task(key)  # a request from before the cancel
    assert len(wanting) == 2
    sent = Mock()
    monkeypatch.setattr(background_work, "send", sent)
    work.request()
    (asked,) = sent.call_args_list
    assert (asked.args, asked.kwargs["queue"]) == ((case.task.name.removeprefix("twin.tasks."), key), "io")
    with pytest.raises(Refused, match=r"was not cancelled; it begins by itself when it is due"):
        work.request()
    assert sent.call_count == 1, "a refused request sends nothing"
    assert case.requests().refresh() == [key]
    case.task(key)
    assert len(wanting) == 4
    TaskLease.objects.update(until=timezone.now() - timedelta(seconds=1))
    assert (work.state(), case.requests().refresh()) == ("", [key]), "the cancel is over"


@pytest.mark.parametrize("name", ["state", "metrics", "audit"])
def test_a_second_request_after_the_work_was_done_computes_nothing(lab, monkeypatch, name):
    case, outcomes = CASES[name], []
    monkeypatch.setattr(bounded_process, "run", lambda work, **limits: outcomes.append("failed") or "failed")
    for _ in range(2):
        case.task(getattr(lab, case.key))
    assert outcomes == ["failed"], "the failure was stored, so that nothing is due"


@pytest.mark.parametrize(
    ("outcome", "said"),
    [
        ("late", "Making the plan failed: it took longer than 120 s."),
        ("failed", "Making the plan failed: it failed with an error, which is in the log of the background worker."),
    ],
)
def test_a_plan_that_takes_too_long_or_breaks_fails_with_the_reason(lab, monkeypatch, outcome, said):
    monkeypatch.setattr(bounded_process, "run", lambda work, **limits: outcome)
    tasks.plan_proposal(lab.proposal)
    proposal = Proposal.objects.get()
    assert (proposal.status, proposal.message) == (Proposal.FAILED, said)
    assert proposal.ended_at is not None
    assert planning_task.Requests().refresh() == []
