"""Certificates of stored runs: computed from the log, announced to the pages, refreshed as jobs arrive."""

import socket
import subprocess
from datetime import timedelta

import pytest
from django.utils import timezone

from scheduling.model.values import Event
from scheduling.slotted.certificate import trivial
from scheduling.slotted.certificate_problem import problem
from tests.twin.runtime.queues import drop_messages, messages, work
from twin.analysis import certificate_task
from twin.eventlog.fold import RunState
from twin.infra.columns import unpack
from twin.models import Run
from twin.runs import runner
from twin.scenarios import store


def finished(make_run, **scenario) -> Run:
    run = make_run(**scenario)
    runner.enqueue(run.pk)
    work()
    run.refresh_from_db()
    assert run.status == Run.FINISHED
    return run


@pytest.mark.parametrize("scheduler", ["oasis", "fifo"])
@pytest.mark.thorough
def test_a_finished_run_is_certified_from_its_log(make_run, layer, scheduler):
    run = finished(make_run, scheduler=scheduler, jobs=30, servers=20)
    assert certificate_task.refresh() == run.pk
    assert certificate_task.refresh() is None, "asked for once"
    assert work(certificate_task.QUEUE) == 1
    run.refresh_from_db()
    found = run.certificate
    assert found["training"] == "OASiS"
    assert found["achieved"] == pytest.approx(run.metrics["total_utility"])
    cluster, jobs = store.of_run(run)
    assert found["achieved"] <= found["bound"] <= trivial(problem(cluster, jobs, range(len(jobs)), "oasis"))
    assert 0 <= found["ratio"] <= 1
    assert (found["jobs"], found["seq"], run.certified_seq) == (30, run.last_seq, run.last_seq)
    _, columns = unpack(run.certificate_prices)
    assert columns["prices"].shape == (cluster.horizon_slots, 3, 5)
    Run.objects.update(certify_after=timezone.now() - timedelta(1))
    assert certificate_task.refresh() is None, "its log has not grown"


def test_what_goes_wrong_costs_the_certificate_alone(make_run, layer, monkeypatch):
    run = finished(make_run, scheduler="oasis")
    monkeypatch.setattr(certificate_task, "of_state", lambda *_: 1 / 0)
    certificate_task.run(run.pk)
    run.refresh_from_db()
    assert (run.status, run.certificate["kind"]) == (Run.FINISHED, "none")
    assert run.certificate["why"].startswith("ZeroDivisionError")
    assert messages(certificate_task.QUEUE) == []


def test_an_error_keeps_the_earlier_certificate(make_run, layer, monkeypatch):
    run = finished(make_run, scheduler="oasis")
    certificate_task.run(run.pk)
    before = Run.objects.get(pk=run.pk)
    assert "bound" in before.certificate
    assert certificate_task.request(run.pk)
    monkeypatch.setattr(certificate_task, "of_state", lambda *_: 1 / 0)
    certificate_task.run(run.pk)
    run.refresh_from_db()
    why = "ZeroDivisionError: division by zero"
    assert run.certificate == {**before.certificate, "why": why, "given_up": True}
    assert bytes(run.certificate_prices) == bytes(before.certificate_prices)
    assert certificate_task.refresh() is None, "not again before GIVEN_UP"


def test_promised_utility_counts_as_achieved(make_run, layer):
    """Half of a run: what is planned counts as if it came true."""
    from scheduling.kernel.registry import build
    from scheduling.kernel.simulation import Simulation
    from twin.eventlog import event_log

    run = make_run(scheduler="oasis", jobs=30, servers=20)
    cluster, jobs = store.of_run(run)
    events = list(Simulation(cluster, jobs, build("oasis"), run.scenario.seed).events())
    admitted = [e for e in events if e.kind == "decided" and e.data["kind"] == "admitted"]
    event_log.append(run.pk, run.epoch, events[: admitted[-1].seq + 1])
    certificate_task.run(run.pk)
    run.refresh_from_db()
    assert run.certificate["achieved"] == pytest.approx(sum(e.data["values"]["utility"] for e in admitted))


def test_one_certificate_is_computed_at_a_time_and_its_lease_can_be_taken_away(make_run, layer):
    """A second request, a second worker, a worker that is gone, a cancel: nobody computes twice, nothing is lost."""
    first, second = finished(make_run, jobs=6), finished(make_run, jobs=6)
    owner = certificate_task._claim(first.pk)
    assert owner is not None
    assert certificate_task._claim(first.pk) is None, "another worker got the same message"
    assert certificate_task.refresh() is None, "one is in progress"
    assert certificate_task._renew(first.pk, owner)
    gone = subprocess.Popen(["true"])
    gone.wait()
    Run.objects.filter(pk=first.pk).update(certify_owner=f"{socket.gethostname()}/{gone.pid}.1")
    assert not certificate_task._renew(first.pk, owner), "the lease is somebody else's"
    assert certificate_task.refresh() == second.pk, "whoever held it is gone: the other run is as due, and newer"
    drop_messages()
    assert certificate_task._claim(first.pk) is not None
    assert certificate_task.cancel(first.pk)
    first.refresh_from_db()
    assert first.certificate == {"kind": "none", "why": "the computation was cancelled", "given_up": True}
    assert (first.certify_owner, first.certify_until, first.certified_seq) == ("", None, first.last_seq)
    assert not certificate_task.cancel(first.pk)
    assert certificate_task._claim(first.pk) is None, "nothing is left to do until the log grows"


def test_a_certificate_that_stands_is_kept_when_a_newer_one_is_given_up(make_run, layer):
    run = finished(make_run, jobs=6)
    certificate_task.run(run.pk)
    run.refresh_from_db()
    before = run.certificate
    Run.objects.filter(pk=run.pk).update(certified_seq=1)
    certificate_task._claim(run.pk)
    certificate_task.cancel(run.pk)
    run.refresh_from_db()
    assert run.certificate == {**before, "why": "the computation was cancelled", "given_up": True}


def test_a_computation_that_took_too_long_is_given_up_by_its_owner(make_run, layer):
    run = finished(make_run, jobs=6)
    owner = certificate_task._claim(run.pk)
    assert not certificate_task._give_up(run.pk, "too long", certify_owner="another")
    assert certificate_task._give_up(run.pk, "too long", certify_owner=owner)
    run.refresh_from_db()
    assert run.certificate == {"kind": "none", "why": "too long", "given_up": True}
    assert (run.certify_owner, run.certified_seq) == ("", run.last_seq)


def test_a_job_that_was_rejected_after_its_admission_counts_as_rejected(make_run, layer):
    """Up to its rejection its planned completion counts; the rejection is in the log before the end of its plan."""
    cluster, jobs = store.of_run(make_run(scheduler="fifo", jobs=1))
    verdict = {"job": 0, "code": "in_order", "values": {}}
    plan = {"scope": "job", "keys": [0], "jobs": [[0, 0, 1_000]], "bars": [[0, 0, 0, 0, 1_000, 1, -1, -1, -1]]}
    state = RunState().feed(
        [
            Event(1, 0, "job_arrived", {"job": 0}),
            Event(2, 0, "decided", verdict | {"kind": "admitted"}),
            Event(3, 0, "plan_changed", plan),
        ]
    )
    before = certificate_task.of_state(state, cluster, jobs)
    assert before.completions == {0: 1_000}
    assert before.utility > 0
    state.feed([Event(4, 0, "decided", verdict | {"kind": "rejected"})])
    after = certificate_task.of_state(state, cluster, jobs)
    assert (after.completions, after.utility) == ({}, 0)
