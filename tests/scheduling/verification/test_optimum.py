"""The optimum by integer programming, against enumeration and against the oracle that shares no code with it."""

import numpy as np
import pytest

from scheduling.slotted.solvers.optimum import optimum
from tests.cases import cases
from tests.scheduling import oracle, tiny
from tests.scheduling.primal_dual import builders_pd_ors, oracle_pd_ors


@pytest.mark.parametrize("block", range(4))
def test_it_is_that_of_the_oracle_in_the_world_of_oasis(block):
    for seed in range(block * 10, block * 10 + cases(10, 3)):
        rng = np.random.default_rng([1, seed])
        cluster = tiny.cluster(int(rng.integers(1, 3)), 1, 3, int(rng.integers(1, 4)), int(rng.integers(1, 4)))
        jobs = [tiny.random_job(rng, n, 3) for n in range(3)]
        found = optimum(cluster, jobs, "oasis")
        assert found.value == pytest.approx(oracle.optimum(cluster, jobs), abs=1e-6)
        assert found.bound == found.value


@pytest.mark.parametrize("block", range(4))
def test_it_is_the_best_of_all_schedules_in_the_world_of_pd_ors(block):
    for seed in range(block * 10, block * 10 + cases(10, 3)):
        rng = np.random.default_rng([2, seed])
        servers = [builders_pd_ors.server(f"h{h}", int(rng.integers(0, 3)), int(rng.integers(1, 3))) for h in range(2)]
        machines = builders_pd_ors.cluster(*servers, slots=2)
        jobs = [builders_pd_ors.random_job(rng, n, 2) for n in range(2)]
        best = oracle_pd_ors.enumerated(machines, jobs)
        assert optimum(machines, jobs, "pd-ors").value == pytest.approx(best, abs=1e-6)


def test_where_nobody_can_finish_it_is_nothing():
    late = [tiny.job("late", arrival_ms=2_500), tiny.job("long", work=9)]
    assert optimum(tiny.cluster(slots=2), late, "oasis").value == 0.0
    assert optimum(tiny.cluster(slots=2), [], "oasis").bound == 0.0


def test_a_search_that_is_cut_off_still_bounds():
    cluster = tiny.cluster(2, 1, 4, 3, 3)
    jobs = [tiny.random_job(np.random.default_rng(n), n, 3) for n in range(5)]
    whole, cut = optimum(cluster, jobs, "oasis"), optimum(cluster, jobs, "oasis", node_limit=1)
    assert cut.value - 1e-6 <= whole.value <= cut.bound + 1e-6
