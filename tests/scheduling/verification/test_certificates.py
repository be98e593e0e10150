"""Bounds are never below the optimum, and no certificate says more than its duals prove."""

from dataclasses import replace

import numpy as np
import pytest

from scheduling.kernel.registry import build
from scheduling.kernel.simulation import Simulation
from scheduling.model.values import Certificate, ModelError
from scheduling.slotted.certificate import (
    BOUND_TYPES,
    certify,
    dual_bound,
    dual_of_servers,
    plain,
    pooled_lp,
    ratio,
    recheck,
    trivial,
)
from scheduling.slotted.certificate_problem import problem
from scheduling.slotted.solvers.optimum import optimum
from scheduling.workloads import generate
from tests.cases import cases
from tests.scheduling import oracle, tiny
from tests.scheduling.primal_dual import builders_pd_ors


def run(cluster, jobs, scheduler="oasis", **parameters):
    simulation = Simulation(cluster, jobs, build(scheduler, parameters), 0)
    events = list(simulation.events())
    return simulation, sum(e.data["utility"] for e in events if e.kind == "job_completed")


def instance(seed: int):
    """2-3 servers, 2-4 slots, 3-4 jobs; sometimes a server is away."""
    rng = np.random.default_rng(seed)
    slots = int(rng.integers(2, 5))
    cluster = tiny.cluster(int(rng.integers(1, 3)), 1, slots, int(rng.integers(1, 4)), int(rng.integers(1, 4)))
    jobs = sorted(
        (tiny.random_job(rng, n, slots) for n in range(int(rng.integers(3, 5)))), key=lambda job: job.arrival_ms
    )
    return cluster, jobs


@pytest.mark.parametrize("block", range(25))
def test_every_bound_is_at_least_the_optimum(block):
    """250 tiny instances against the MILP; the schedule itself is checked on the way."""
    for seed in range(block * 10, block * 10 + cases(10, 3)):
        cluster, jobs = instance(seed)
        best = oracle.optimum(cluster, jobs)
        simulation, achieved = run(cluster, jobs)
        task = problem(cluster, jobs, range(len(jobs)), "oasis")
        prices = simulation.scheduler.prices(np.arange(task.slots))
        value, duals = pooled_lp(task)
        bounds = [trivial(task), dual_of_servers(task, prices), value * (1 + 1e-6), dual_bound(task, duals)]
        assert min(bounds) >= best - 1e-6 * max(1, best), (seed, bounds, best)
        assert dual_bound(task, duals) <= value * (1 + 1e-6) + 1e-6
        found = certify(task, achieved, prices)
        assert max(achieved, best) * (1 - 1e-6) <= found.bound <= max(min(bounds), achieved) * (1 + 1e-6)
        recheck(task, found, prices)


SCHEDULERS = {
    "oasis": ("oasis", "fifo", "drf", "rrh", "dorm"),
    "pd-ors": ("pd_ors", "oasis", "fifo", "drf", "rrh", "dorm"),
}


@pytest.mark.parametrize("block", range(25))
def test_every_bound_is_at_least_the_optimum_on_shared_servers(block):
    """250 tiny instances of PD-ORS against the MILP."""
    for seed in range(block * 10, block * 10 + cases(10, 3)):
        cluster, jobs = builders_pd_ors.shared_instance(seed)
        best = optimum(cluster, jobs, "pd-ors").value
        simulation, achieved = run(cluster, jobs, "pd_ors")
        task = problem(cluster, jobs, range(len(jobs)), "pd-ors")
        prices = simulation.scheduler.prices(np.arange(task.slots))
        value, duals = pooled_lp(task)
        bounds = [trivial(task), dual_of_servers(task, prices), value * (1 + 1e-6), dual_bound(task, duals)]
        assert min(bounds) >= best - 1e-6 * max(1, best), (seed, bounds, best)
        assert achieved <= best + 1e-6
        assert dual_bound(task, duals) <= value * (1 + 1e-6) + 1e-6
        found = certify(task, achieved, prices)
        assert max(achieved, best) * (1 - 1e-6) <= found.bound <= max(min(bounds), achieved) * (1 + 1e-6)
        recheck(task, found, prices)


@pytest.mark.parametrize("world", ["oasis", "pd-ors"])
def test_no_scheduler_exceeds_the_optimum_nor_its_bound(world):
    """40 tiny instances, every scheduler that works in slots."""
    for seed in range(cases(40, 8)):
        cluster, jobs = instance(2_000 + seed) if world == "oasis" else builders_pd_ors.shared_instance(2_000 + seed)
        best = optimum(cluster, jobs, world).value
        task = problem(cluster, jobs, range(len(jobs)), world)
        for scheduler in SCHEDULERS[world]:
            given = {} if scheduler == "pd_ors" else {"model": world}
            _, achieved = run(cluster, jobs, scheduler, **given)
            assert achieved <= best + 1e-6, (seed, scheduler)
            found = certify(task, achieved)
            assert found.bound >= best - 1e-6
            recheck(task, found)


def test_any_prices_bound_the_optimum():
    """Weak duality holds for prices that nobody computed, too."""
    rng = np.random.default_rng(0)
    for seed in range(cases(60, 12)):
        cluster, jobs = instance(1_000 + seed)
        task = problem(cluster, jobs, range(len(jobs)), "oasis")
        best = oracle.optimum(cluster, jobs)
        for scale in (0.01, 1.0, 30.0):
            assert dual_bound(task, scale * rng.random((task.slots, 3, 5))) >= best - 1e-9
            assert dual_of_servers(task, scale * rng.random((task.slots, len(cluster.servers), 5))) >= best - 1e-9


def test_a_bound_by_hand():
    """2 GPUs, 2 slots, three jobs that each need both GPUs for one slot and are worth 50: two fit, 100 of 150."""
    cluster = tiny.cluster(slots=2, gpus=2, ps_cpus=2)
    jobs = [tiny.job(f"j{n}", work=2, chunks=2) for n in range(3)]
    task = problem(cluster, jobs, range(3), "oasis")
    assert trivial(task) == pytest.approx(150)
    value, duals = pooled_lp(task)
    assert value == pytest.approx(100)
    assert dual_bound(task, duals) == pytest.approx(100)
    found = certify(task, 100.0)
    assert (found.kind in BOUND_TYPES, ratio(found)) == (True, pytest.approx(1.0, abs=1e-4))


def test_jobs_that_nobody_could_finish_count_for_nothing():
    cluster = tiny.cluster(slots=3, gpus=2)
    jobs = [
        tiny.job("big", gpus=3),
        tiny.job("long", work=7, chunks=2),
        replace(tiny.job("bare"), utility=None),
        tiny.job("late", arrival_ms=2_500),
    ]
    task = problem(cluster, jobs, range(len(jobs)), "oasis")
    assert task.tasks == ()
    assert certify(task, 0.0) == Certificate("trivial", 0.0, 0.0, {})
    assert ratio(certify(task, 0.0)) is None


def test_without_a_horizon_late_completions_count():
    """One slot is looked at; a job that is worth the same at any time may end after it."""
    cluster = replace(tiny.cluster(gpus=2), horizon_slots=None)
    jobs = [tiny.job(f"j{n}", work=2, chunks=2, sensitivity=0.0) for n in range(3)]
    task = problem(cluster, jobs, range(3), "oasis", horizon=1)
    value, duals = pooled_lp(task)
    assert value >= 150 - 1e-6
    assert dual_bound(task, duals) >= 150 - 1e-6


def test_a_server_that_is_away_offers_nothing():
    cluster = tiny.cluster(slots=2, gpus=2, ps_cpus=2)
    cluster = replace(cluster, servers=(replace(cluster.servers[0], away=((0, 1_000),)), *cluster.servers[1:]))
    jobs = [tiny.job(f"j{n}", work=2, chunks=2) for n in range(3)]
    task = problem(cluster, jobs, range(3), "oasis")
    value, duals = pooled_lp(task)
    assert value == pytest.approx(50)
    assert dual_bound(task, duals) == pytest.approx(50)


def test_a_certificate_that_says_too_much_is_refused():
    cluster, jobs = instance(3)
    task = problem(cluster, jobs, range(len(jobs)), "oasis")
    found = certify(task, 0.0)
    for wrong in (
        replace(found, bound=found.bound * 0.9),
        replace(found, achieved=found.bound * 1.1),
        replace(found, kind="dream"),
    ):
        with pytest.raises(ModelError, match=r"^certificate: "):
            recheck(task, wrong)


@pytest.mark.parametrize("grouped", [False, True])
def test_slots_taken_together_only_raise_the_bound(monkeypatch, grouped):
    cluster, jobs = generate("oasis", variant="calibrated", num_jobs=40, num_servers=20, seed=5, horizon_slots=60)
    task = problem(cluster, jobs, range(len(jobs)), "oasis")
    value, _ = pooled_lp(task)
    if grouped:
        monkeypatch.setattr("scheduling.slotted.certificate.MAX_COLUMNS", 600)
    coarse, duals = pooled_lp(task)
    assert coarse >= value - 1e-6
    _, achieved = run(cluster, jobs)
    assert dual_bound(task, duals) >= achieved > 0


@pytest.mark.parametrize("world", ["oasis", "pd-ors"])
@pytest.mark.thorough
def test_no_scheduler_beats_its_bound(world):
    """At the paper's scale, for schedulers that know nothing of each other."""
    cluster, jobs = generate(world, variant="calibrated", num_jobs=60, num_servers=40, seed=2)
    task = problem(cluster, jobs, range(len(jobs)), world)
    for scheduler in (SCHEDULERS[world][0], "fifo", "drf", "rrh"):
        simulation, achieved = run(cluster, jobs, scheduler)
        found = certify(task, achieved)
        recheck(task, found)
        assert 0.02 < ratio(found) <= 1
        assert found.kind in ("branched_dual", "lp_priced_dual", "pooled_lp", "trivial")
        assert simulation.ended


def test_a_sample_of_many_jobs_prices_a_bound_about_all_of_them(monkeypatch):
    """Nearly as tight as the relaxation of all jobs, and valid whichever jobs are sampled."""
    cluster, jobs = generate("oasis", variant="calibrated", num_jobs=400, num_servers=20, seed=5, horizon_slots=60)
    task = problem(cluster, jobs, range(len(jobs)), "oasis")
    whole = certify(task, 0.0)
    monkeypatch.setattr("scheduling.slotted.certificate.MAX_LP_JOBS", 100)
    found = certify(task, 0.0)
    recheck(task, found)
    assert found.kind == "lp_priced_dual"
    assert found.duals["sampled"] == 100
    assert plain(found)["sampled"] == 100
    assert whole.bound <= found.bound <= 1.3 * whole.bound < trivial(task)
    with pytest.raises(ModelError, match=r"^certificate: the relaxation accepts at most 100 jobs, got 251$"):
        pooled_lp(task)


@pytest.mark.thorough
def test_more_jobs_than_the_relaxation_has_columns():
    """The slots cannot be taken together any further: the search for a size of groups ends all the same."""
    cluster, few = generate("oasis", variant="calibrated", num_jobs=20, num_servers=20, seed=5, horizon_slots=60)
    jobs = [replace(few[i % 20], id=f"j{i}") for i in range(12_000)]
    task = problem(cluster, jobs, range(len(jobs)), "oasis")
    found = certify(task, 0.0)
    recheck(task, found)
    assert 0 < found.bound < trivial(task)
