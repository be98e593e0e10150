"""Bounds that divide the schedules by the completions of jobs: never below the optimum, and what they prove by hand."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import linprog

from scheduling.model.values import ModelError
from scheduling.slotted.branching.plans import Plans
from scheduling.slotted.branching.search import search
from scheduling.slotted.branching.tree import Branch, Leaf, tree_bound, value_within
from scheduling.slotted.certificate import certify, dual_bound, plain, pooled_lp, recheck
from scheduling.slotted.certificate_problem import problem
from scheduling.slotted.solvers.optimum import optimum
from scheduling.workloads import generate
from tests.scheduling import tiny
from tests.scheduling.primal_dual import builders_pd_ors


def three_jobs(slots=2):
    """One server with 2 GPUs; three jobs of 3 worker-slots worth 50 each: of 4 worker-slots one job gets 3."""
    cluster = tiny.cluster(slots=slots, gpus=2, ps_cpus=2)
    return cluster, [tiny.job(f"j{n}", work=3, chunks=2) for n in range(3)]


def test_a_job_does_not_complete_in_fractions():
    cluster, jobs = three_jobs()
    task = problem(cluster, jobs, range(3), "oasis")
    value, prices = pooled_lp(task)
    assert value == pytest.approx(4 / 3 * 50)
    bound, tree = search(task, prices)
    assert optimum(cluster, jobs, "oasis").value == pytest.approx(50)
    assert 50 <= bound <= 50 * 1.001
    assert isinstance(tree, Branch)
    found = certify(task, 50.0)
    recheck(task, found)
    assert (found.kind, plain(found)["ratio"]) == ("branched_dual", pytest.approx(1.0, abs=1e-3))


def test_parameter_servers_are_whole():
    """4 vCPUs for a worker of 1 GPU and its parameter server of 2 vCPUs, which could serve 4: two workers need one."""
    cluster = builders_pd_ors.cluster(builders_pd_ors.server("h0", 6, 4), slots=4)
    (task,) = problem(cluster, [builders_pd_ors.job(work=4.0, batch=5, gamma=4, cpus=2)], [0], "pd-ors").tasks
    assert task.uses == ((4.0, 4.0, 4.0), (5.0, 5.0, 8.0))
    (spread,) = problem(
        cluster, [builders_pd_ors.job(work=4.0, batch=6, gamma=4, cpus=3, slower=4 / 3)], [0], "pd-ors"
    ).tasks
    assert spread.near == 5.0, "with parts of parameter servers five workers fit on the server, with whole ones four"
    assert spread.uses[0] == (4.0, 4.0, 4.0)
    assert spread.uses[1:] == (pytest.approx((3.0, 4.0, 4.0)), pytest.approx((4.5, 6.0, 8.0)))


@pytest.mark.parametrize("seed", range(40))
def test_the_cheapest_plan_is_the_least_of_all_mixtures_of_uses(seed):
    """Against a linear program over shares of the uses in each slot."""
    rng = np.random.default_rng(seed)
    cluster, jobs = builders_pd_ors.shared_instance(seed + 500)
    task_problem = problem(cluster, jobs, range(len(jobs)), "pd-ors")
    plans = Plans(task_problem)
    prices = rng.uniform(0, 12, size=task_problem.capacity.shape)
    _, _, found = value_within(task_problem, plans, prices, plans.everything())
    for task, plan in zip(plans.tasks, found, strict=True):
        best = 0.0
        for last in range(task.window):
            slots = np.arange(task.first, task.first + last + 1)
            worker = (prices[slots, 0] + prices[slots, 2]) @ task.worker
            ps = (prices[slots, 1] + prices[slots, 2]) @ task.ps
            cost = np.concatenate([workers * worker + served * ps for _, workers, served in task.uses])
            once = np.tile(np.eye(len(slots)), len(task.uses))
            work = np.concatenate([np.full(len(slots), -work) for work, _, _ in task.uses])
            solved = linprog(cost, np.vstack([once, work]), [*np.ones(len(slots)), -task.need])
            if solved.status == 0:
                best = max(best, float(task.worth[last]) - solved.fun)
        assert plan.surplus == pytest.approx(best, abs=1e-6)


@pytest.mark.parametrize("seed", range(40))
def test_without_a_branch_it_is_the_bound_of_its_prices(seed):
    """Parameter servers in parts cost no more than whole ones, so it is never greater than the bound of all prices."""
    cluster, jobs = builders_pd_ors.shared_instance(seed + 900)
    task_problem = problem(cluster, jobs, range(len(jobs)), "pd-ors")
    prices = np.random.default_rng(seed).uniform(0, 12, size=task_problem.capacity.shape)
    assert tree_bound(task_problem, Leaf(prices)) <= dual_bound(task_problem, prices)


@pytest.mark.parametrize("world", ["oasis", "pd-ors"])
@pytest.mark.parametrize("seeds", [range(60), pytest.param(range(60, 560), marks=pytest.mark.slow)], ids=["60", "500"])
@pytest.mark.thorough
def test_it_is_never_below_the_optimum(world, seeds):
    """Also when the search is cut off, and with prices that nobody computed at the leaves."""
    rng = np.random.default_rng(seeds[0])
    reached = 0
    for seed in seeds:
        if world == "oasis":
            slots = int(rng.integers(2, 5))
            cluster = tiny.cluster(int(rng.integers(1, 3)), 1, slots, int(rng.integers(1, 4)), int(rng.integers(1, 4)))
            jobs = sorted((tiny.random_job(rng, n, slots) for n in range(4)), key=lambda job: job.arrival_ms)
        else:
            cluster, jobs = builders_pd_ors.shared_instance(20_000 + seed)
        best = optimum(cluster, jobs, world).value
        task_problem = problem(cluster, jobs, range(len(jobs)), world)
        _, prices = pooled_lp(task_problem)
        for work in (80_000, 21 * sum(task.window for task in task_problem.tasks)):
            divided = search(task_problem, prices, max_work=work)
            if divided is None:
                assert task_problem.tasks == ()
                continue
            bound, tree = divided
            assert bound >= best - 1e-6 * max(1, best), (seed, work)
            assert tree_bound(task_problem, tree) == bound
            assert tree_bound(task_problem, _repriced(tree, rng)) >= best - 1e-6 * max(1, best)
            reached += work == 80_000 and bound <= best * (1 + 1e-3) + 1e-6
    assert reached >= len(seeds) / 3


def _repriced(tree, rng):
    if isinstance(tree, Leaf):
        return Leaf(tree.prices * rng.uniform(0, 2, size=tree.prices.shape))
    return tree._replace(before=_repriced(tree.before, rng), after=_repriced(tree.after, rng))


def test_without_a_horizon_late_completions_count():
    cluster, jobs = three_jobs()
    cluster = replace(cluster, horizon_slots=None)
    jobs = [replace(job, utility=replace(job.utility, sensitivity=0.0)) for job in jobs]
    task_problem = problem(cluster, jobs, range(3), "oasis", horizon=2)
    bound, tree = search(task_problem, pooled_lp(task_problem)[1])
    assert bound == tree_bound(task_problem, tree) >= 150 - 1e-6


def test_a_branch_that_divides_nothing_is_refused():
    cluster, jobs = three_jobs()
    task_problem = problem(cluster, jobs, range(3), "oasis")
    leaf = Leaf(np.zeros(task_problem.capacity.shape))
    for offset in (0, 3, 7):
        with pytest.raises(ModelError, match=r"^certificate: a branch must divide the completions 0 to 2 of task 1"):
            tree_bound(task_problem, Branch(1, offset, leaf, leaf))
    never = Branch(1, 2, leaf, leaf)
    with pytest.raises(ModelError, match=r"completions 0 to 1 of task 1, got 2$"):
        tree_bound(task_problem, never._replace(before=never))


def test_a_certificate_with_another_bound_than_its_tree_is_refused():
    cluster, jobs = three_jobs()
    task_problem = problem(cluster, jobs, range(3), "oasis")
    found = certify(task_problem, 50.0)
    with pytest.raises(ModelError, match="branched_dual proves a bound of"):
        recheck(task_problem, replace(found, bound=found.bound * 0.99, achieved=0.0))


@pytest.mark.thorough
def test_equal_problems_have_equal_bounds():
    cluster, jobs = generate("pd-ors", variant="calibrated", num_jobs=30, num_servers=8, seed=3, horizon_slots=20)
    task_problem = problem(cluster, jobs, range(30), "pd-ors")
    _, prices = pooled_lp(task_problem)
    first, again = (search(task_problem, prices, max_work=20_000) for _ in range(2))
    assert first[0] == again[0] < dual_bound(task_problem, prices)
