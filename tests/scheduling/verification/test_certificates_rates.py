"""Jobs of PD-ORS in certificates: few workers at the internal rate, or many at the external one."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import linprog

from scheduling.model.values import Utility
from scheduling.slotted.branching.search import search
from scheduling.slotted.branching.tree import tree_bound
from scheduling.slotted.certificate import SAFE, certify, dual_bound, pooled_lp, recheck, trivial
from scheduling.slotted.certificate_problem import Problem, Task, problem
from scheduling.slotted.solvers.optimum import optimum
from tests.cases import cases
from tests.scheduling.primal_dual import builders_pd_ors

WORTH = Utility(200.0, 0.0, 1.0)  # 100 whenever it completes


def task_of(need, near, far=0.0, slow=1.0, window=4, worth=WORTH):
    uses = tuple((count * rate, count, count) for count, rate in ((near, 1.0), (far, slow)) if count)
    return Task(0, 0, need, near, far, slow, worth, window, 0.0, np.array([1.0, 0, 0, 0, 0]), np.zeros(5), uses)


def problem_of(task, slots):
    nothing = np.zeros((slots, 1), dtype=bool)
    everyone = np.ones(1, dtype=bool)
    return Problem((task,), np.zeros((slots, 3, 5)), np.ones((1, 5)), nothing, (everyone, everyone), (0,))


def cheapest(task, prices):
    """Least cost of the work by the end of these slots, as a linear program over the workers of each slot."""
    slots = len(prices)
    ways = [(task.near, 1.0), (task.far, task.slow)]
    used = [(workers, rate) for workers, rate in ways if workers > 0]
    shares = np.concatenate([np.diag(np.full(slots, 1 / workers)) for workers, _ in used], axis=1)
    work = -np.concatenate([np.full(slots, rate) for _, rate in used])
    found = linprog(np.tile(prices, len(used)), np.vstack([shares, work]), [*np.ones(slots), -task.need])
    return found.fun if found.status == 0 else np.inf


def test_two_rates_by_hand():
    """4 worker-slots; in a slot 1 near worker does 1, or 2 far workers do 0.75 each, 1.5: the half costs a worker."""
    task = task_of(4.0, 1.0, 2.0, 0.75)
    assert task.most == 1.5
    assert task.shortest == 3  # 4 / 1.5
    assert task.steps == ((1.0, 1.0), (0.5, 2.0))
    three, four = (problem_of(replace(task, window=slots), slots) for slots in (3, 4))
    prices = np.zeros((4, 3, 5))
    prices[:, 0, 0] = 10.0
    # by slot 3: three near units for 30, and two halves for 20; by slot 4: four near units
    assert dual_bound(three, prices[:3]) == pytest.approx(100 - 50)
    assert dual_bound(four, prices) == pytest.approx(100 - 40)


def test_a_job_that_fits_on_no_server_with_its_parameter_server_has_the_external_rate():
    task = task_of(3.0, 0.0, 4.0, 0.5)
    assert (task.most, task.steps, task.shortest) == (2.0, ((2.0, 2.0),), 2)


@pytest.mark.parametrize("seed", range(60))
def test_what_a_job_pays_is_the_least_of_all_ways_to_use_its_slots(seed):
    rng = np.random.default_rng(seed)
    near, far = float(rng.integers(0, 4)), float(rng.integers(1, 7))
    slow = float(rng.choice([0.3, 0.5, 0.75, 0.9]))
    if far * slow <= near:
        far, slow = 0.0, 1.0
    slots = int(rng.integers(1, 7))
    task = task_of(float(rng.uniform(0.5, 12)), near, far, slow, window=slots)
    dear = rng.uniform(0, 30, slots)
    prices = np.zeros((slots, 3, 5))
    prices[:, 0, 0] = dear
    # a utility that does not fall: the least cost of any completion is that of the last slot
    expected = max(0.0, 100 - cheapest(task, dear)) * SAFE
    assert dual_bound(problem_of(task, slots), prices) == pytest.approx(expected, rel=1e-6, abs=1e-6)


def test_what_fits_on_one_server_with_its_parameter_servers_is_near():
    """Servers of 3 GPUs and 1 vCPU: a worker and its parameter server take 1 GPU and 1 vCPU; 4 of 9 workers count."""
    cluster = builders_pd_ors.cluster(*(builders_pd_ors.server(f"h{n}", 3, 1) for n in range(3)), slots=6)
    given = builders_pd_ors.job(work=4.0, batch=4, slower=4 / 3)
    (task,) = problem(cluster, [given], [0], "pd-ors").tasks
    assert (task.need, task.near, task.far) == (pytest.approx(4.0), 1.0, 4.0)
    assert task.slow == pytest.approx(0.75)
    (shares,) = problem(cluster, [replace(given, workers_per_ps=2)], [0], "pd-ors").tasks
    assert shares.near == 2.0
    (alike,) = problem(cluster, [builders_pd_ors.job(batch=4)], [0], "pd-ors").tasks
    assert (alike.near, alike.far) == (4.0, 0.0)


@pytest.mark.slow
@pytest.mark.parametrize("block", range(20))
def test_no_bound_is_below_the_optimum_of_a_thousand_instances(block):
    for seed in range(10_000 + block * 50, 10_000 + block * 50 + cases(50, 8)):
        cluster, jobs = builders_pd_ors.shared_instance(seed)
        best = optimum(cluster, jobs, "pd-ors").value
        task = problem(cluster, jobs, range(len(jobs)), "pd-ors")
        value, duals = pooled_lp(task)
        divided = search(task, duals)
        bounds = [trivial(task), value * (1 + 1e-6), dual_bound(task, duals)]
        if divided is not None:
            assert tree_bound(task, divided[1]) == divided[0]
            bounds.append(divided[0] * SAFE)
        assert min(bounds) >= best - 1e-6 * max(1, best), seed
        recheck(task, certify(task, best))
