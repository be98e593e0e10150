"""OASiS and PD-ORS on input at the edge of what is allowed.

Each job is decided, the verifier finds nothing, and nothing warns.
"""

from dataclasses import replace

import pytest

from scheduling.kernel.registry import build
from scheduling.kernel.simulation import Simulation
from scheduling.model.limits import MAX_INT, MIN_REAL
from scheduling.model.values import Cluster, Utility
from scheduling.verification.verify import verify
from scheduling.workloads import generate
from tests.scheduling.builders import output_of

pytestmark = pytest.mark.filterwarnings("error")
SCHEDULERS = [
    ("oasis", {"estimate_from": "clairvoyant"}),
    ("oasis", {"model": "pd-ors"}),
    ("pd_ors", {}),
    ("pd_ors", {"mode": "paper", "tries": 10}),
]


def shared(num_jobs=12, num_servers=4, slots=20, seed=3):
    """Jobs that have the fields of both papers, on servers that take both roles."""
    return generate(
        "pd-ors", variant="calibrated", num_jobs=num_jobs, num_servers=num_servers, seed=seed, horizon_slots=slots
    )


def with_capacity(cluster, change):
    return replace(
        cluster, servers=tuple(replace(s, capacity=change(i, s.capacity)) for i, s in enumerate(cluster.servers))
    )


def codes(cluster: Cluster, jobs, name, parameters):
    """The code of each job's first decision."""
    rows = output_of(cluster, jobs, name, 0, parameters)
    assert verify(**rows) == []
    first: dict[str, str] = {}
    for row in rows["decisions"]:
        first.setdefault(row["job"], row["reason"]["code"])
    assert set(first) == {job.id for job in jobs}
    return [first[job.id] for job in jobs]


@pytest.fixture(params=SCHEDULERS, ids=str)
def scheduler(request):
    return request.param


def test_a_resource_that_no_server_has(scheduler):
    """Without a GPU anywhere, the jobs that want one fit nowhere; the others are decided by price."""
    cluster, jobs = shared()
    for job, code in zip(jobs, codes(with_capacity(cluster, lambda i, c: (0, *c[1:])), jobs, *scheduler), strict=True):
        assert (code == "fits_nowhere") == (job.worker[0] > 0)


def test_a_resource_that_one_server_lacks_and_servers_of_nothing(scheduler):
    cluster, jobs = shared()
    assert "payoff_positive" in codes(
        with_capacity(cluster, lambda i, c: (*c[:2], 0, *c[3:]) if i == 1 else c), jobs, *scheduler
    )
    assert set(codes(with_capacity(cluster, lambda i, c: (0,) * 5), jobs, *scheduler)) == {"fits_nowhere"}


def test_demands_that_fit_nowhere_or_never_together(scheduler):
    cluster, jobs = shared()
    huge = replace(jobs[0], worker=(10**9, *jobs[0].worker[1:]))
    apart = with_capacity(cluster, lambda i, c: (c[0], 0, *c[2:]) if i % 2 else (0, *c[1:]))
    assert codes(cluster, [huge, *jobs[1:]], *scheduler)[0] == "fits_nowhere"
    both = [job for job in jobs if job.worker[0] and job.worker[1]]
    # OASiS gives its workers the servers with GPUs, none of which has a vCPU
    together = {"oasis": "fits_nowhere", "pd_ors": "fits_nowhere_together"}[scheduler[0]]
    assert set(codes(apart, both, *scheduler)) == {together}


def test_no_server_takes_workers(scheduler):
    cluster, jobs = shared()
    only_ps = replace(cluster, servers=tuple(replace(s, roles=("ps",)) for s in cluster.servers))
    assert set(codes(only_ps, jobs, *scheduler)) == {"fits_nowhere"}


def test_a_horizon_of_one_slot_and_none(scheduler):
    cluster, jobs = shared(slots=1)
    small = [replace(job, epochs=1) for job in jobs]
    assert "payoff_positive" in codes(cluster, small, *scheduler)
    assert set(codes(cluster, [replace(job, arrival_ms=1) for job in jobs], *scheduler)) == {"too_late"}
    assert "payoff_positive" in codes(replace(cluster, horizon_slots=None), small, *scheduler)


@pytest.mark.thorough
def test_a_thousand_jobs_in_one_slot(scheduler):
    cluster, jobs = shared(num_servers=2, slots=3)
    many = [replace(jobs[n % len(jobs)], id=f"j{n:04d}", arrival_ms=0, epochs=1 + n % 5) for n in range(1000)]
    found = codes(cluster, many, *scheduler)
    assert 0 < found.count("payoff_positive") < 1000


def test_utilities_that_underflow(scheduler):
    """Worth 100 in the slot of the arrival, and nothing that a double can hold a slot later."""
    cluster, jobs = shared()
    hurried = [replace(job, epochs=200, utility=Utility(100.0, 1e6, 0.0)) for job in jobs]
    assert "payoff_positive" not in codes(cluster, hurried, *scheduler)
    dull = [replace(job, utility=Utility(MIN_REAL, float(MAX_INT), 0.0)) for job in jobs]
    codes(cluster, dull, *scheduler)


@pytest.mark.parametrize("floor_scale", [1e-12, 1.0, 1e12])
@pytest.mark.parametrize("price_mode", ["marginal", "literal"])
def test_prices_at_both_ends_of_what_utilities_allow(scheduler, price_mode, floor_scale):
    """One job is worth 2^53, another 1e-9, and the floor is moved by twelve orders of magnitude either way."""
    cluster, jobs = shared(num_jobs=6)
    jobs = [
        replace(job, utility=replace(job.utility, priority=(float(MAX_INT), MIN_REAL)[n % 2]))
        for n, job in enumerate(jobs)
    ]
    name, parameters = scheduler
    parameters = parameters | {"price_mode": price_mode, "floor_scale": floor_scale}
    codes(cluster, jobs, name, parameters)
    simulation = Simulation(cluster, jobs, build(name, parameters), 0)
    for event in simulation.events():
        numbers = [value for value in event.data.get("values", {}).values() if isinstance(value, float)]
        assert all(abs(value) < 1e300 for value in numbers)


def test_extreme_jobs_do_not_keep_the_others_from_running(scheduler):
    cluster, (first, *others) = shared()
    for changes in (
        {"gradient_mb": 1e11, "epochs": 1, "num_samples": 1, "num_chunks": 1, "minibatches_per_chunk": 1},
        {"num_samples": MAX_INT, "epochs": 1, "sample_ms": MIN_REAL, "global_batch": MAX_INT, "workers_per_ps": MAX_INT,
         "gradient_mb": 0.0},
        {"internal_gbps": MIN_REAL, "external_gbps": MIN_REAL, "num_samples": 1, "epochs": 1, "gradient_mb": 1e-3},
        {"sample_ms": MIN_REAL, "minibatch_ms": MIN_REAL, "gradient_mb": 0.0},
        {"worker": (0,) * 5, "ps": (0,) * 5, "gradient_mb": 0.0},
        {"workers_per_ps": 1, "global_batch": 1},
    ):  # fmt: skip
        found = codes(cluster, [replace(first, **changes), *others], *scheduler)
        assert "payoff_positive" in found[1:]
