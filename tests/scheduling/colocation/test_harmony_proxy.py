"""The comparison of standing groups with the Oracle's search: where it is made, and that it says the truth."""

from dataclasses import replace

import pytest

from scheduling.colocation import oracle_gap
from scheduling.colocation.workload import harmony
from scheduling.kernel.registry import build
from scheduling.kernel.simulation import Simulation
from tests.scheduling.builders_colocation import A, B, job, machines
from twin.eventlog.fold import RunState


def moments_of(cluster, jobs, name="harmony", parameters=None):
    scheduler, state = build(name, parameters or {}), RunState()
    state.feed(Simulation(cluster, jobs, scheduler, 0).events())
    ends = {index: int(row[4]) for index, row in enumerate(state.jobs.rows.tolist()) if row[4] >= 0}
    every = oracle_gap.regroupings(state.groups)
    return [
        oracle_gap.compare(scheduler, cluster, jobs, state.groups, range(len(jobs)), ends, at)
        for at in oracle_gap.chosen(every)
    ]


def test_two_opposite_jobs_stand_as_well_as_any_grouping():
    """At the beginning both tracks are full, at 30 s b is done: a alone computes 8 of 10 s."""
    first, last = moments_of(machines(2), [job("a", *A, 6), job("b", *B, 3)])
    assert (first.at_ms, first.jobs, first.groups, first.score, first.best) == (
        0,
        2,
        1,
        pytest.approx(1.0),
        pytest.approx(1.0),
    )
    assert (last.at_ms, last.jobs, last.score, last.best) == (
        30_000,
        1,
        pytest.approx(0.8 * 0.8 + 0.2 * 0.2),
        pytest.approx(0.68),
    )


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.thorough
def test_the_oracle_finds_itself_and_harmony_is_near(seed):
    """The first decision has nothing before it: the Oracle's groups are the search's, Harmony's 0.5 % below at most."""
    cluster, jobs = harmony("calibrated", 40, 50, seed, None, 60_000)
    own = moments_of(cluster, jobs, "oracle")
    assert own[0].score == pytest.approx(own[0].best, rel=1e-9)
    ours = moments_of(cluster, jobs)
    assert ours[0].best == pytest.approx(own[0].best, rel=1e-9)
    assert ours[0].score >= 0.995 * ours[0].best
    assert all(moment.score >= 0.94 * moment.best for moment in ours)  # the threshold of 5 %, and prefixes


def test_the_moments_are_few_and_stay_the_same_when_more_come():
    every = list(range(0, 5_000, 10))
    assert oracle_gap.chosen(every) == [0, 10, 40, 160, 640, 2_560, 4_990]
    assert oracle_gap.chosen(every[:100])[:-1] == [0, 10, 40, 160, 640]
    assert oracle_gap.chosen([]) == []
    assert oracle_gap.chosen([7]) == [7]


@pytest.mark.parametrize(
    ("parameters", "change", "why"),
    [
        ({}, {}, None),
        ({"memory": "none"}, {}, None),
        ({"memory": "fixed"}, {}, "memory is not checked"),
        ({"profiling": "online"}, {}, "did not know the exact times"),
        ({"profile_error": 0.1}, {}, "did not know the exact times"),
        ({}, {"speed": 2.0}, "identical machines"),
        ({}, {"site": "cloud"}, "two sites"),
    ],
)
def test_it_is_made_only_where_both_see_the_same(parameters, change, why):
    cluster = machines(2)
    cluster = replace(cluster, servers=(cluster.servers[0], replace(cluster.servers[1], **change)))
    found = oracle_gap.why_not(build("harmony", parameters), cluster)
    assert found is None if why is None else why in found
    assert "does not search" in oracle_gap.why_not(build("isolated"), machines(2))


def test_it_applies_to_schedulers_that_search_for_groups():
    applies = {name: oracle_gap.applies(build(name)) for name in ("harmony", "oracle", "isolated", "fifo")}
    assert applies == {"harmony": True, "oracle": True, "isolated": False, "fifo": False}


def test_too_many_jobs_are_not_compared(monkeypatch):
    monkeypatch.setattr(oracle_gap, "MAX_JOBS", 1)
    first, last = moments_of(machines(2), [job("a", *A, 6), job("b", *B, 3)])
    assert first is None
    assert last.jobs == 1
