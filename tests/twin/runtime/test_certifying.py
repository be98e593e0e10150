"""Certificates of stored runs: made from the log, told to the pages, refreshed as jobs arrive."""

from datetime import timedelta

import pytest
from django.utils import timezone

from scheduling.certificates import problem, trivial
from twin import certifying, runner, scenarios
from twin.columns import unpack
from twin.models import Run

from .conftest import messages, work


def finished(make_run, **scenario) -> Run:
    run = make_run(**scenario)
    runner.enqueue(run.pk)
    work()
    run.refresh_from_db()
    assert run.status == Run.FINISHED
    return run


@pytest.mark.parametrize("scheduler", ["oasis", "fifo"])
def test_a_finished_run_is_certified_from_its_log(make_run, layer, scheduler):
    run = finished(make_run, scheduler=scheduler, jobs=30, servers=20)
    assert certifying.refresh() == [run.pk]
    assert certifying.refresh() == [], "asked for once"
    assert work("io") == 1
    run.refresh_from_db()
    found = run.certificate
    assert found["achieved"] == pytest.approx(run.metrics["total_utility"])
    cluster, jobs = scenarios.of_run(run)
    assert found["achieved"] <= found["bound"] <= trivial(problem(cluster, jobs, range(len(jobs)), "oasis"))
    assert 0 <= found["ratio"] <= 1
    assert (found["jobs"], found["seq"], run.certified_seq) == (30, run.last_seq, run.last_seq)
    _, columns = unpack(run.certificate_prices)
    assert columns["prices"].shape == (cluster.horizon_slots, 3, 5)
    Run.objects.update(certify_after=timezone.now() - timedelta(1))
    assert certifying.refresh() == [], "its log has not grown"


def test_what_goes_wrong_costs_the_certificate_alone(make_run, layer, monkeypatch):
    run = finished(make_run, scheduler="oasis")
    monkeypatch.setattr(certifying, "of_state", lambda *_: 1 / 0)
    certifying.run(run.pk)
    run.refresh_from_db()
    assert (run.status, run.certificate["kind"]) == (Run.FINISHED, "none")
    assert run.certificate["why"].startswith("ZeroDivisionError")
    assert messages("io") == []


def test_promised_utility_counts_as_achieved(make_run, layer):
    """Half of a run: what is planned counts as if it came true."""
    from scheduling.registry import build
    from scheduling.simulation import Simulation
    from twin import eventlog

    run = make_run(scheduler="oasis", jobs=30, servers=20)
    cluster, jobs = scenarios.of_run(run)
    events = list(Simulation(cluster, jobs, build("oasis"), run.scenario.seed).events())
    admitted = [e for e in events if e.kind == "decided" and e.data["kind"] == "admitted"]
    eventlog.append(run.pk, run.epoch, events[: admitted[-1].seq + 1])
    certifying.run(run.pk)
    run.refresh_from_db()
    assert run.certificate["achieved"] == pytest.approx(sum(e.data["values"]["utility"] for e in admitted))
