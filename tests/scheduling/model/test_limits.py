"""What a job may say at most; and that the most extreme job that is accepted is decided like any other."""

import re
import resource
import subprocess
import sys
import warnings
from dataclasses import replace
from functools import partial

import numpy as np
import pytest

from scheduling.kernel.registry import build
from scheduling.kernel.simulation import Simulation
from scheduling.model.limits import MAX_INT, MAX_SLOT_MS, MIN_REAL
from scheduling.model.speed import restated
from scheduling.model.training_models import MAX_GANG, gang_size
from scheduling.model.values import Cluster, Job, ModelError, Server, Utility
from scheduling.slotted.pricing.prices import PriceBook
from scheduling.slotted.solvers import window
from scheduling.workloads import generate
from tests.scheduling import tiny
from tests.scheduling.builders import curves_of

INTEGERS = (
    "epochs",
    "num_chunks",
    "minibatches_per_chunk",
    "num_samples",
    "global_batch",
    "workers_per_ps",
    "requested_workers",
)
TIMES = ("minibatch_ms", "sample_ms", "internal_gbps", "external_gbps")
SIZES = (
    "gradient_mb",
    "chunk_mb",
    "input_gb",
    "model_gb",
    "comp_machine_ms",
    "comm_ms",
    "ps_update_ms",
    "cloud_upload_ms",
)


@pytest.mark.parametrize(("names", "least", "rule"), [
    (INTEGERS, 1, "an integer from 1 to 2^53"), (TIMES, MIN_REAL, "a number from 1e-9 to 2^53"),
    (SIZES, 0, "a number from 0 to 2^53"),
])  # fmt: skip
def test_every_number_of_a_job_has_both_limits(names, least, rule):
    for name in names:
        for value in (least, MAX_INT):
            Job("a", 0, **{name: value})
        for value in (least - 1 if least != MIN_REAL else 1e-308, MAX_INT * 2, 10**400):
            with pytest.raises(ModelError, match=rf"job a: {name} must be {re.escape(rule)}, got \S+$"):
                Job("a", 0, **{name: value})
    with pytest.raises(ModelError, match="must be a number from 1e-9"):
        Job("a", 0, minibatch_ms=float("inf"))


def test_points_in_time_and_slots_end_somewhere():
    with pytest.raises(ModelError, match=r"job a: arrival_ms must be at most 2\^53 ms"):
        Job("a", MAX_INT + 1)
    with pytest.raises(ModelError, match=r"cluster c: slot_ms must be at most 31,536,000,000 ms, a year"):
        Cluster("c", MAX_SLOT_MS + 1, (Server("s", "edge", (0, 0, 0, 0, 0)),))


@pytest.mark.parametrize(
    "values", [(1e308, 0, 0), (0, 0, 0), (5e-324, 0, 0), (1, 1e308, 0), (1, -1, 0), (1, 0, 1e308), (float("nan"), 0, 0)]
)
def test_utilities_have_limits(values):
    with pytest.raises(ModelError, match="utility: "):
        Utility(*values)


def test_the_work_of_a_job_is_at_most_285_000_years_of_one_worker():
    """Oasis: 2^20 epochs x 2^13 chunks x 2^20 ms = 2^53 ms; one chunk more is too much. PD-ORS: the same of samples."""
    Job("a", 0, epochs=2**20, num_chunks=2**13, minibatches_per_chunk=1, minibatch_ms=2.0**20)
    with pytest.raises(
        ModelError, match=r"job a: epochs x num_chunks x minibatches_per_chunk x .* must be at most 2\^53 ms, got 9\S+"
    ):
        Job("a", 0, epochs=2**20, num_chunks=2**13 + 1, minibatches_per_chunk=1, minibatch_ms=2.0**20)
    Job("a", 0, epochs=2**20, num_samples=2**13, sample_ms=2.0**20)
    with pytest.raises(ModelError, match=r"job a: epochs x num_samples x time of a sample must be at most 2\^53 ms"):
        Job("a", 0, epochs=2**20, num_samples=2**13, sample_ms=2.0**20, gradient_mb=1.0, external_gbps=1.0)
    with pytest.raises(ModelError, match=r"epochs x num_chunks"):  # 16,000 MB x 2^50 at 1 Mbps
        Job(
            "a",
            0,
            epochs=2**50,
            num_chunks=1,
            minibatches_per_chunk=1,
            minibatch_ms=1.0,
            gradient_mb=1.0,
            worker=(0, 0, 0, 0, 1),
        )


@pytest.mark.parametrize("name", ["x" * 500, "a\nb", "a,b", ""])
def test_messages_are_short_and_on_one_line(name):
    for make in (lambda: Job(name, 0), lambda: Cluster(name, 0, ())):
        with pytest.raises(ModelError) as refusal:
            make()
        assert len(str(refusal.value)) < 300
        assert "\n" not in str(refusal.value)


EXTREMES = [
    {"utility": Utility(float(MAX_INT), 0.0, 0.0)}, {"utility": Utility(MIN_REAL, float(MAX_INT), float(MAX_INT))},
    {"utility": Utility(float(MAX_INT), float(MAX_INT), 0.0)}, {"minibatch_ms": MIN_REAL},
    {"gradient_mb": 1e11, "epochs": 1, "num_chunks": 1, "minibatches_per_chunk": 1},
    {"num_chunks": MAX_INT, "minibatches_per_chunk": 1, "minibatch_ms": 1.0, "epochs": 1, "gradient_mb": 0.0},
    {"num_chunks": 10**9, "minibatches_per_chunk": 1, "epochs": 1},
    {"num_chunks": 10**9, "minibatches_per_chunk": 1, "epochs": 1, "worker": (0,) * 5},
    {"epochs": 10**9, "num_chunks": 1, "minibatches_per_chunk": 1},
    {"minibatch_ms": 2.0**52, "epochs": 1, "num_chunks": 1, "minibatches_per_chunk": 1},
    {"requested_workers": MAX_INT, "num_chunks": MAX_INT, "epochs": 1, "minibatches_per_chunk": 1,
     "minibatch_ms": MIN_REAL, "gradient_mb": 0.0},
    {"worker": (1, 0, 0, 0, 1), "gradient_mb": 1e9, "epochs": 1, "num_chunks": 1, "minibatches_per_chunk": 1},
    {"num_samples": MAX_INT, "epochs": 1, "sample_ms": MIN_REAL, "global_batch": MAX_INT, "workers_per_ps": MAX_INT,
     "internal_gbps": MIN_REAL,
     "external_gbps": MIN_REAL, "gradient_mb": 0.0},
]  # fmt: skip


@pytest.mark.parametrize("scheduler", ["oasis", "fifo"])
@pytest.mark.parametrize("horizon", [100, None])
@pytest.mark.parametrize("extreme", EXTREMES, ids=lambda e: ",".join(e))
def test_an_extreme_job_does_not_keep_the_others_from_running(scheduler, horizon, extreme):
    """Without a warning, and every number within 64 bits."""
    cluster, (first, *others) = generate("oasis", num_jobs=30, num_servers=10, seed=7)
    jobs = [restated(first, **extreme), *others]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        events = list(Simulation(replace(cluster, horizon_slots=horizon), jobs, build(scheduler), 1).events())
    assert {event.data["job"] for event in events if event.kind == "decided"} == set(range(30))
    assert all(-(2**63) <= number < 2**63 for event in events for number in integers(event.data))


def integers(value):
    if isinstance(value, dict | list | tuple):
        for item in value.values() if isinstance(value, dict) else value:
            yield from integers(item)
    elif isinstance(value, int):
        yield value


def test_a_gang_of_workers_that_need_nothing_is_bounded():
    job = tiny.job(chunks=5)
    assert gang_size(replace(job, requested_workers=7), 5) == 5
    assert gang_size(replace(job, requested_workers=MAX_INT), None) == MAX_GANG


def test_a_job_that_the_empty_cluster_cannot_hold_is_rejected_before_anything_is_allocated():
    """10^9 chunks of one worker-slot each; 2 GPUs x 4 slots hold 8. In 1.5 GB, of which Python and numpy take most."""
    script = (
        "from tests.scheduling import tiny; from scheduling.kernel.registry import build; from "
        "scheduling.kernel.simulation import simulate\njob = tiny.job(work=10**9, chunks=10**9)\n"
        "print([e.data for e in simulate(tiny.cluster(), [job], build('oasis'), 0) if e.kind == 'decided'])"
    )
    limit = partial(resource.setrlimit, resource.RLIMIT_AS, (3 * 2**29, 3 * 2**29))
    done = subprocess.run(
        [sys.executable, "-c", script],
        capture_output=True,
        text=True,
        preexec_fn=limit,
        env={"OPENBLAS_NUM_THREADS": "1"},
    )
    assert done.stderr == ""
    values = {"role": "worker", "need_worker_slots": 10**9, "left_slots": 4}
    assert eval(done.stdout) == [{"job": 0, "kind": "rejected", "code": "no_capacity", "values": values}]


def test_with_too_many_states_the_window_is_planned_roughly(monkeypatch):
    """Two slots of 3 workers at cost 1 each: 4 worker-slots cost 4 either way; the rough plan holds them all."""
    curves = curves_of(np.ones((2, 3)), np.zeros((2, 3)), np.arange(4), 1.0)
    exact = window.best_completion(4, np.full(2, 10.0), curves)
    monkeypatch.setattr(window, "MAX_STATES", 3)
    rough = window.best_completion(4, np.full(2, 10.0), curves)
    assert (rough.last, rough.workers.sum(), rough.cost, rough.payoff) == (1, 4, 4.0, 6.0)
    assert rough.payoff == exact.payoff
    assert window.best_completion(4, np.full(2, 4.0), curves) is None  # a payoff of 0 is none, roughly as well


def test_the_room_of_workers_that_need_nothing_is_infinite():
    book = PriceBook(np.array([[1000, 0, 0, 0, 0]]), 1, 1.0, [1.0] * 5)
    assert book.empty_room((0, 0, 0, 0, 0)) == float("inf")


@pytest.mark.parametrize(("given", "sentence"), [
    ({"num_jobs": 10**9}, "jobs of a workload must be at most 1,000,000, got 1,000,000,000"),
    ({"num_servers": 10**9}, "servers of a workload must be at most 20,000, got 1,000,000,000"),
    ({"slot_ms": 2**53}, "slot_ms of a workload must be at most 31,536,000,000, got 9,007,199,254,740,992"),
    ({"horizon_slots": 2**53}, r"slot_ms x horizon_slots of a workload must be at most 9,007,199,254,740,992, got 3"),
    ({"profile": "x" * 500}, "unknown profile 'x{76}[.][.][.]; known: oasis"),
])  # fmt: skip
def test_generated_workloads_have_limits(given, sentence):
    with pytest.raises(ModelError, match=sentence):
        generate(**{"profile": "oasis", "num_jobs": 1} | given)
