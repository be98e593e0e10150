"""Who comes before whom in the papers' comparisons, on small samples (primal-dual specification, section 6).

The figures of the full grids stand in docs/papers/primal_dual.md; what holds here with room to spare is what may not be lost.
"""

from statistics import mean

import pytest

from scheduling.registry import build
from scheduling.simulation import Simulation
from scheduling.workloads import generate

pytestmark = pytest.mark.slow


def earned(instances, scheduler, **parameters):
    """Mean total utility."""
    return mean(
        sum(
            e.data["utility"]
            for e in Simulation(cluster, jobs, build(scheduler, parameters), 0).events()
            if e.kind == "job_completed"
        )
        for cluster, jobs in instances
    )


@pytest.mark.parametrize(("slots", "num_jobs"), [(100, 200), (300, 200)])
def test_oasis_earns_most_among_separate_servers(slots, num_jobs):
    """O3: at least 1.3 times the best of the others from 200 jobs on; RRH is the strongest of them, FIFO the weakest.

    Measured 1.74 and 1.45 times. Dorm takes a minute here, and earns less than RRH (docs).
    """
    instances = [generate("oasis", num_jobs=num_jobs, num_servers=100, seed=seed, horizon_slots=slots) for seed in (7, 8, 9)]
    others = {name: earned(instances, name) for name in ("rrh", "drf", "fifo")}
    assert earned(instances, "oasis") >= 1.3 * max(others.values())
    assert list(others) == sorted(others, key=lambda name: -others[name])


def test_the_gap_of_oasis_grows_with_the_number_of_jobs():
    """O3, T = 100: OASiS less the best of the others is about 590 at 100 jobs and 1,860 at 300."""

    def gap(num_jobs):
        instances = [generate("oasis", num_jobs=num_jobs, num_servers=100, seed=seed, horizon_slots=100) for seed in (7, 8, 9)]
        return earned(instances, "oasis") - max(earned(instances, name) for name in ("rrh", "drf", "fifo"))

    assert gap(300) > 2 * gap(100)


def shared(num_jobs, num_servers, slots, seeds=5):
    return [
        generate("pd-ors", num_jobs=num_jobs, num_servers=num_servers, seed=seed, horizon_slots=slots) for seed in range(seeds)
    ]


@pytest.mark.parametrize("num_servers", [10, 30, 60])
def test_pd_ors_earns_most_among_shared_servers(num_servers):
    """P6: at least 1.5 times each. Measured against the best, Dorm from 20 servers on: 8.3, 4.2 and 1.8 times.

    With 100 servers there is room for nearly all, and it is 1.4 times: beyond the band (docs).
    """
    instances = shared(50, num_servers, 20)
    others = [earned(instances, name) for name in ("fifo", "drf", "rrh")] + [earned(instances, "dorm", time_limit=600.0)]
    assert earned(instances, "pd_ors") >= 1.5 * max(others)


def test_sharing_machines_pays_more_when_there_are_more_jobs():
    """P8, 100 servers: PD-ORS earns no less than OASiS on divided machines; about 1.0, 1.06 and 1.31 times with 10, 30, 50 jobs."""
    gains = []
    for num_jobs in (10, 30, 50):
        instances = shared(num_jobs, 100, 20)
        gains.append(earned(instances, "pd_ors") / earned(instances, "oasis", model="pd-ors"))
    assert min(gains) >= 1.0 - 1e-9
    assert gains == sorted(gains)
    assert gains[-1] > 1.1


def test_where_machines_are_short_pd_ors_comes_first_oasis_second():
    """P12 without the trace: T = 80, 100 jobs, 30 servers: 1,603, 1,209 and at most 299 for the others."""
    instances = shared(100, 30, 80, seeds=3)
    best, second = earned(instances, "pd_ors"), earned(instances, "oasis", model="pd-ors")
    assert best > 1.1 * second
    assert second > 2 * max(earned(instances, name) for name in ("fifo", "drf", "rrh"))
