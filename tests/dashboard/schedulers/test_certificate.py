"""The certificate by API: the bound, and the prices that prove it."""

from datetime import timedelta

import numpy as np
import pytest
from django.utils import timezone

from dashboard.api.run_parts import certificates
from tests.twin.runtime.queues import work
from twin.analysis import certificate_task
from twin.eventlog import frames
from twin.infra.columns import unpack
from twin.models import AuditEntry, Run
from twin.runs import runner


def test_it_holds_the_bound_and_the_prices_of_its_proof(viewer, make_run, monkeypatch):
    finished_run = make_run(scheduler="fifo", jobs=80, servers=8)
    runner.enqueue(finished_run.pk)
    work()
    address = f"/api/runs/{finished_run.pk}/certificate/"
    assert viewer.get(address).json() == {
        "certificate": None,
        "certifying": False,
        "certificate_queued": True,
        "prices": None,
    }
    certificate_task.run(finished_run.pk)
    finished_run.refresh_from_db()
    found = viewer.get(address).json()
    assert found["certificate"]["bound"] == finished_run.certificate["bound"]
    _, columns = unpack(finished_run.certificate_prices)
    curve = found["prices"]["curves"][0]
    place = (
        ("worker", "ps", "all").index(curve["pool"]),
        ("gpu", "cpu", "memory", "storage", "bandwidth").index(curve["resource"]),
    )
    assert curve["price"] == pytest.approx(columns["prices"][:, *place].tolist(), rel=1e-5)
    monkeypatch.setattr(certificates, "MAX_POINTS", 7)
    short = viewer.get(address).json()["prices"]
    assert short["slots_a_point"] == -(-len(curve["price"]) // 7)
    assert len(short["curves"][0]["price"]) <= 7
    assert np.isclose(
        short["curves"][0]["price"][0], np.mean(curve["price"][: short["slots_a_point"]]), rtol=1e-4, atol=1e-12
    )


def test_a_computation_in_progress_can_be_cancelled(operator, make_run):
    run = make_run(scheduler="fifo", jobs=8, servers=8)
    runner.enqueue(run.pk)
    work()
    address = f"/api/runs/{run.pk}/certificate/"
    certificate_task._claim(run.pk)
    run.refresh_from_db()
    assert frames.status(run)["certifying"]
    assert operator.delete(address).status_code == 204
    cancelled = {"kind": "none", "why": "the computation was cancelled", "given_up": True}
    assert operator.get(address).json()["certificate"] == cancelled
    assert AuditEntry.objects.get(action="certificate.cancel").subject == f"run {run.pk}"
    refused = operator.delete(address)
    assert (refused.status_code, refused.json()["detail"]) == (
        400,
        f"no certificate of run {run.pk} is queued or being computed",
    )


def test_a_request_that_waits_is_shown_and_can_be_cancelled(operator, make_run):
    """While another certificate is computed: queued in the API, and a worker that comes for it finds nothing to do."""
    run, busy = make_run(scheduler="fifo", jobs=8, servers=8), make_run(scheduler="fifo", jobs=8, servers=8)
    for each in (run, busy):
        runner.enqueue(each.pk)
    work()
    address = f"/api/runs/{run.pk}/certificate/"
    certificate_task._claim(busy.pk)
    assert operator.post(address).status_code == 204
    found = operator.get(address).json()
    assert (found["certificate"], found["certifying"], found["certificate_queued"]) == (None, False, True)
    run.refresh_from_db()
    assert frames.status(run)["certificate_queued"]
    assert operator.delete(address).status_code == 204
    found = operator.get(address).json()
    assert found["certificate"] == {"kind": "none", "why": "the request was cancelled", "given_up": True}
    assert not found["certificate_queued"]
    assert certificate_task._claim(run.pk) is None
    assert operator.post(address).status_code == 204
    assert operator.get(address).json()["certificate_queued"]


def test_a_certificate_that_was_cancelled_can_be_requested(operator, viewer, make_run):
    run = make_run(scheduler="fifo", jobs=8, servers=8)
    runner.enqueue(run.pk)
    work()
    address = f"/api/runs/{run.pk}/certificate/"
    certificate_task._claim(run.pk)
    refused = operator.post(address)
    assert refused.status_code == 400
    assert refused.json()["detail"].startswith(f"a certificate of run {run.pk} is being computed")
    operator.delete(address)
    assert certificate_task._due(timezone.now()) is None
    assert viewer.post(address).status_code == 403
    assert operator.post(address).status_code == 204
    assert certificate_task._due(timezone.now()) == run.pk
    certificate_task.run(run.pk)
    assert operator.get(address).json()["certificate"]["bound"] > 0
    assert AuditEntry.objects.filter(action="certificate.request", subject=f"run {run.pk}").exists()


def test_a_computation_whose_process_was_killed_is_not_in_progress(make_run):
    run = make_run(scheduler="fifo", jobs=8, servers=8)
    Run.objects.filter(pk=run.pk).update(
        certify_began=timezone.now(), certify_until=timezone.now() - timedelta(seconds=1), certify_owner="gone/1.0"
    )
    run.refresh_from_db()
    assert not frames.certifying(run)


def test_the_last_certificate_of_a_run_does_not_wait(make_run):
    run = make_run(scheduler="fifo", jobs=8, servers=8)
    later = timezone.now() + timedelta(minutes=5)
    Run.objects.filter(pk=run.pk).update(status=Run.RUNNING, last_seq=9, certified_seq=5, certify_after=later)
    assert certificate_task._due(timezone.now()) is None
    Run.objects.filter(pk=run.pk).update(status=Run.FINISHED)
    assert certificate_task._due(timezone.now()) == run.pk
