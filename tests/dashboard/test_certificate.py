"""The certificate by API: the figures and the prices that prove them."""

import numpy as np
import pytest

from dashboard.api import certificates
from tests.twin.runtime.conftest import work
from twin.analysis import certificate_task
from twin.eventlog import frames
from twin.infra.columns import unpack
from twin.models import AuditEntry
from twin.runs import runner


def test_it_holds_the_bound_and_the_prices_of_its_proof(viewer, make_run, monkeypatch):
    finished_run = make_run(scheduler="fifo", jobs=80, servers=8)
    runner.enqueue(finished_run.pk)
    work()
    address = f"/api/runs/{finished_run.pk}/certificate/"
    assert viewer.get(address).json() == {"certificate": None, "prices": None}
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
    refused = operator.delete(address)
    assert (refused.status_code, refused.json()["detail"]) == (400, f"no certificate of run {run.pk} is being computed")
    certificate_task._claim(run.pk)
    run.refresh_from_db()
    assert frames.status(run)["certifying"]
    assert operator.delete(address).status_code == 204
    assert operator.get(address).json()["certificate"] == {"kind": "none", "why": "the computation was cancelled"}
    assert AuditEntry.objects.get(action="certificate.cancel").subject == f"run {run.pk}"
