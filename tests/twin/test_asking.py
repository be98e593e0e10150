"""Ask before you submit: the scheduler's own answer, whom it displaces, and nothing is kept."""

from __future__ import annotations

import pytest

from scheduling.model import Job, ModelError
from tests.scheduling.worlds import cluster, job, ps_server, worker_server
from twin import asking, control, runner
from twin.models import AuditEntry, Checkpoint, EventBatch, Run, Scenario
from twin.refused import Refused
from twin.scenarios import store_cluster

pytestmark = pytest.mark.django_db(transaction=True)


def paused(scheduler, jobs: list[Job], steps: int, **options) -> Run:
    """A live run of the jobs on two GPUs after so many instants."""
    from twin.jobtable import JobTable, pack_jobs
    from twin.models import Trace

    spec = store_cluster(cluster(worker_server("w"), ps_server("p"), horizon=20), "test")
    trace = Trace.objects.create(name="few", status=Trace.READY, job_count=len(jobs), jobs=pack_jobs([JobTable.of(jobs)]))
    scenario = Scenario.objects.create(name="asked", cluster=spec, trace=trace, scheduler=scheduler, **options)
    run = control.start_run(scenario, mode=Run.LIVE, speed=1e-6)
    runner.advance(run.pk)
    control.pause(run)
    runner.advance(run.pk)
    for _ in range(steps):
        runner.step(run.pk)
    run.refresh_from_db()
    return run


def test_a_job_that_fits_beside_displaces_nobody():
    run = paused("fifo", [job("a", workers=1, slots=4), job("late", 15_000)], 0)
    assert run.status == Run.PAUSED
    before = (run.last_seq, EventBatch.objects.count(), Checkpoint.objects.count(), AuditEntry.objects.count())
    answer = asking.ask(run, asking.job_of(run, "a", {"minibatches_per_chunk": 2}))
    assert (answer["verdict"], answer["start_ms"], answer["finish_ms"]) == ("started", 1_000, 3_000)
    assert (answer["workers"], answer["servers"], answer["complete"]) == (1, ["w"], True)
    assert answer["displaced"] == {"count": 0, "later_ms": 0, "rows": []}
    run.refresh_from_db()
    assert (run.last_seq, EventBatch.objects.count(), Checkpoint.objects.count(), AuditEntry.objects.count()) == before


def test_a_job_that_goes_first_makes_others_wait():
    """FIFO: `b` arrives a second later and needs both GPUs, so it waits for the job that is asked about."""
    run = paused("fifo", [job("a", workers=1, slots=2), job("b", 2_000, workers=2, slots=1)], 0)
    answer = asking.ask(run, asking.job_of(run, "a", {"minibatches_per_chunk": 6}))
    assert answer["finish_ms"] == 7_000
    assert answer["displaced"] == {
        "count": 1,
        "later_ms": 5_000,
        "rows": [{"id": "b", "was_ms": 3_000, "now_ms": 8_000, "rejected": False}],
    }


def test_oasis_says_its_price_and_what_would_flip_it():
    run = paused("oasis", [job("a", workers=2, slots=18), job("late", 15_000)], 0)
    answer = asking.ask(run, asking.job_of(run, "a", {"minibatches_per_chunk": 10}))
    assert answer["verdict"] == "rejected"
    assert "Rejected" in answer["sentence"]
    assert {row["what"] for row in answer["counterfactuals"]} >= {"priority", "workers"}
    small = asking.ask(run, asking.job_of(run, "a", {"num_chunks": 1, "minibatches_per_chunk": 1, "requested_workers": 1}))
    assert small["verdict"] == "admitted"
    assert small["values"]["payoff"] == pytest.approx(small["values"]["utility"] - small["values"]["cost"])


def test_what_cannot_be_asked_is_said():
    run = paused("fifo", [job("a"), job("late", 15_000)], 0)
    with pytest.raises(ModelError, match="has no job 'nobody'; name one of its jobs"):
        asking.job_of(run, "nobody", {})
    with pytest.raises(ModelError, match="epochs must be an integer"):
        asking.job_of(run, "a", {"epochs": 0})
    with pytest.raises(ModelError, match="unknown key 'colour'; known: id"):
        asking.job_of(run, "a", {"colour": "red"})
    control.cancel(run)
    runner.advance(run.pk)
    run.refresh_from_db()
    with pytest.raises(Refused, match="is cancelled; ask a run that is under way"):
        asking.ask(run, asking.job_of(run, "a", {}))
