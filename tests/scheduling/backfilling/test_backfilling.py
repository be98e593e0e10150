"""What both backfilling schedulers promise: runs verify, go on the same after a restart, and survive outages."""

import numpy as np
import pytest

from scheduling.model.values import Server
from tests.scheduling.builders_slotted import cluster, job, ps_server, worker_server
from tests.scheduling.rivals import completed, cuts_of, events_of, in_pieces, verified, workload

BOTH = pytest.mark.parametrize("name", ["easy", "conservative"])


@BOTH
@pytest.mark.parametrize("training", ["oasis", "pd-ors"])
@pytest.mark.parametrize("order", ["arrival", "fair-share", "shortest"])
def test_a_run_verifies_and_goes_on_the_same_after_a_restart(name, training, order):
    machines, jobs = workload(training, seed=5)
    parameters = {"order": order, "user_percent": 60}
    events = events_of(machines, jobs, name, **parameters)
    assert completed(events)
    assert in_pieces(machines, jobs, name, cuts_of(events, 5), **parameters) == events
    verified(machines, jobs, name, **parameters)


def test_a_run_with_an_interval_of_backfilling_goes_on_the_same_after_a_restart():
    machines, jobs = workload("oasis", seed=5)
    events = events_of(machines, jobs, "easy", backfill_ms=5_000)
    assert any(event.kind == "decided" and event.data["code"] == "easy.backfilled" for event in events)
    assert in_pieces(machines, jobs, "easy", cuts_of(events, 9), backfill_ms=5_000) == events
    verified(machines, jobs, "easy", backfill_ms=5_000)


@BOTH
@pytest.mark.parametrize("seed", range(30))
def test_with_outages_every_job_that_can_run_completes(name, seed):
    rng = np.random.default_rng(seed)
    away = tuple((int(a), int(a) + int(rng.integers(1_000, 9_000))) for a in np.cumsum(rng.integers(9_001, 20_000, 3)))
    machines = cluster(
        worker_server("w0"), Server("w1", "edge", worker_server("w").capacity, ("worker",), away=away), ps_server("s0"),
        horizon=None,
    )  # fmt: skip
    jobs = [
        job(f"j{i}", int(ms), workers=int(rng.integers(1, 5)), slots=int(rng.integers(1, 6)))
        for i, ms in enumerate(np.sort(rng.integers(0, 30_000, 12)))
    ]
    events = events_of(machines, jobs, name)
    assert len(completed(events)) == len(jobs)
    assert in_pieces(machines, jobs, name, cuts_of(events, seed)) == events
