"""OASiS in the world of PD-ORS: half the machines per role, external rate, ceil(y / gamma) servers, no bandwidth."""

from dataclasses import replace

import numpy as np
import pytest

from scheduling.kernel.registry import build
from scheduling.kernel.simulation import Simulation
from scheduling.model.training_models import as_oasis, oasis_ps, oasis_worker_slots, pd_ors_sample_ms
from scheduling.model.values import Cluster, Job, Server, Utility
from tests.scheduling.builders import random_away
from tests.scheduling.rivals import bars_of, completed, cuts_of, decided, events_of, in_pieces, verified, workload

SHARED = Cluster("shared", 1_000, tuple(Server(f"h{i}", "edge", (0, 4_000, 0, 0, 0)) for i in range(2)), 10)
JOB = Job(
    "a", 0, epochs=2, num_samples=10, global_batch=3, sample_ms=100.0, gradient_mb=1.0, workers_per_ps=2,
    internal_gbps=1e3, external_gbps=0.16, worker=(0, 1_000, 0, 0, 500), ps=(0, 1_000, 0, 0, 100),
    utility=Utility(100.0, 1.0, 3.0),
)  # fmt: skip
IN_PD_ORS = {"model": "pd-ors"}


def test_the_job_in_the_words_of_oasis():
    """A sample takes 100 + 2 / 3 x 100 ms when spread, so 20 take 3,333.3 ms: 4 worker-slots, at most 3 at once."""
    assert pd_ors_sample_ms(JOB, internal=False) == pytest.approx(166.667, abs=0.001)
    seen = as_oasis(JOB)
    assert (oasis_worker_slots(seen, 1_000), seen.num_chunks, seen.worker[4], seen.ps[4]) == (4, 3, 0, 0)
    assert as_oasis(replace(JOB, sample_ms=None)).num_chunks is None
    assert oasis_ps(seen, 3) == 1  # which is why the world says how parameter servers are counted


def test_workers_stand_on_one_machine_and_parameter_servers_on_the_other():
    """2 workers with 1 server for 2 slots: 3 with 2, then 1 with 1 takes one more. Machines without bandwidth do."""
    events = events_of(SHARED, [JOB], "oasis", **IN_PD_ORS)
    assert completed(events) == {0: 2_000}
    assert [(bar.role, bar.server, bar.start_ms, bar.end_ms, bar.count) for bar in bars_of(events)[0]] == [
        (0, 0, 0, 2_000, 2), (1, 1, 0, 2_000, 1),
    ]  # fmt: skip
    values = next(e.data["values"] for e in events if e.kind == "decided")
    assert values["utility"] == pytest.approx(100 / (1 + np.exp(1 - 3)))
    priced = build("oasis", IN_PD_ORS)
    Simulation(SHARED, [JOB], priced, 0)
    assert np.isnan(priced.prices(np.array([0]))[..., 4]).all()


def test_a_job_without_its_parts_is_refused_by_the_needs_of_the_world():
    assert decided(events_of(SHARED, [replace(JOB, external_gbps=None)], "oasis", **IN_PD_ORS)) == [
        (0, 0, "rejected", "missing_part")
    ]
    values = next(e.data["values"] for e in events_of(SHARED, [JOB], "oasis") if e.kind == "decided")
    assert values == {"part": "num_chunks"}  # it lives in its own world unless a parameter says otherwise


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.thorough
def test_generated_workloads_are_verified_with_and_without_absences(seed):
    machines, jobs = workload("pd-ors", seed=seed)
    for machine in (
        machines,
        random_away(machines, np.random.default_rng(seed), 40),
        replace(machines, horizon_slots=None),
    ):
        events = verified(machine, jobs, "oasis", seed, **IN_PD_ORS)
        assert completed(events)
        assert in_pieces(machine, jobs, "oasis", cuts_of(events, seed), seed, **IN_PD_ORS) == events


def test_a_quote_on_the_state_as_it_was_is_what_was_said():
    machines, jobs = workload("pd-ors", seed=2)
    events = events_of(machines, jobs, "oasis", 0, **IN_PD_ORS)
    values_of = {
        e.data["job"]: e.data["values"] for e in events if e.kind == "decided" and e.data["code"].startswith("payoff")
    }
    job = max(values_of)
    earlier = [bar for other, bars in bars_of(events).items() if other < job for bar in bars]
    asked = build("oasis", IN_PD_ORS)
    asked.start(machines, jobs, np.random.default_rng(0))
    asked.assume(np.array(earlier, dtype=np.int64), job + 1)
    assert asked.explain(jobs[job].arrival_ms, jobs[job]).values == values_of[job]
