"""Facts of a cluster as the input of a forecast: nodes, gangs, dependencies, holds, limits, begin times."""

from dataclasses import replace

import pytest

from scheduling.forecast import values
from scheduling.forecast.forecasting import forecasts_of
from tests.twin.mirror.builders import NODES, at, job, running
from twin.connectors import facts
from twin.connectors.constraints import Asked, Constraints, QueueLimits, from_plain
from twin.connectors.facts import Attempt, NodeFact, ReservationFact, Share
from twin.mirror.forecasts.cluster_state import ASSUMED_MS, cluster_state, identity
from twin.mirror.forecasts.rows import NEVER as NEVER_STARTS

MINUTE = 60_000
NOW = at(600)


def known(*jobs, nodes=NODES, run_ms=MINUTE, **more):
    return cluster_state(NOW, jobs, nodes, lambda fact: run_ms, **more)


def rows(*jobs, **more):
    return {row.id.split("@")[0]: row for row in forecasts_of(known(*jobs, **more))}


def starts(*jobs, **more):
    return {key: None if row.start_ms is None else row.start_ms - NOW for key, row in rows(*jobs, **more).items()}


def test_running_jobs_end_as_predicted_and_waiting_ones_follow():
    held = running("1", 570, gpus=4, limit_ms=60 * MINUTE)
    assert starts(held, job("2", gpus=4), nodes=NODES[:1]) == {"2": 30_000}
    assert known(held).running[0].limit_end_ms == at(570) + 60 * MINUTE


def test_a_job_that_outlived_its_prediction_is_expected_to_run_twice_as_long():
    assert known(running("1", 500)).running[0].end_ms == at(500) + 160_000, "100 s elapsed, and at least 60 s more"
    assert known(running("1", 500, limit_ms=110_000)).running[0].end_ms == at(610)


def test_jobs_wait_in_the_order_of_priority_then_of_submission_then_of_their_number():
    jobs = [job("10", priority=5), job("9", priority=5), job("8", submitted_ms=at(5)), job("7", priority=9)]
    assert [row.id.split("@")[0] for row in known(*jobs).waiting] == ["7", "9", "10", "8"]


def test_partitions_and_nodes_that_take_no_jobs():
    drained = (replace(NODES[0], state=facts.DRAINING), NODES[1])
    found = rows(job("1", queue="edge"), job("2", queue="cloud"), job("3", queue="edge,cloud"), nodes=drained)
    assert [found[key].why for key in "123"] == [values.TOO_LARGE, values.NOW, values.NOW]


def test_a_job_larger_than_a_node_is_spread_over_several():
    (row,) = known(job("1", gpus=6)).waiting
    assert row.groups == (values.Group(2, (3, 1, 2_000)),)


@pytest.mark.parametrize(
    ("fact", "why"),
    [
        (job("1", facts.HELD), values.HELD), (job("1", reason="QOSMaxJobsPerUserLimit"), values.UNKNOWN_LIMIT),
        (job("1", reason="AssocGrpCpuLimit"), values.UNKNOWN_LIMIT), (job("1", gpus=99), values.TOO_LARGE),
        (job("1", reason="DependencyNeverSatisfied", depends_on="afterok:9(failed)"), values.UNMET),
        (job("1", depends_on="afternotok:3(unfulfilled)"), values.UNKNOWN_LIMIT),
        (job("1", reservation="gone"), values.NO_RESERVATION),
    ],
)  # fmt: skip
def test_jobs_that_cannot_start_as_far_as_is_known(fact, why):
    row = rows(fact)["1"]
    assert (row.why, row.waits_for) == (why, ())
    assert NEVER_STARTS[why]


def test_dependencies_name_jobs_arrays_and_starts():
    held = running("5", 570)
    found = starts(
        held, job("1", depends_on="afterok:5(unfulfilled)"), job("2", depends_on="after:5+10"),
        job("3", depends_on="afterany:99"), job("4", depends_on="afterok:7_*"), job("7_1", gpus=4), job("7_2", gpus=4),
    )  # fmt: skip
    assert found["1"] == 30_000
    assert found["2"] == found["3"] == 0
    assert found["4"] > max(found["7_1"], found["7_2"])


def test_a_gang_of_several_jobs_starts_at_once():
    members = (job("55+0", gpus=4, gang="55+0"), job("55+1", gpus=4, gang="55+0"))
    (row,) = known(*members).waiting
    assert [group.amounts[0] for group in row.groups] == [4, 4]
    assert starts(running("1", 570, gpus=4), *members) == {"55+0": 30_000}


def test_reservations_licences_exclusive_jobs_and_begin_times():
    more = Constraints({"sw": 1}, {}, {
        "1": Asked({"sw": 2}), "2": Asked(exclusive=True), "3": Asked(eligible_ms=at(640)),
    })  # fmt: skip
    kept = ReservationFact("maint", at(620), at(700), ("edge1",))
    jobs = (job(key, queue="edge", limit_ms=30 * MINUTE) for key in "123")
    assert starts(*jobs, constraints=more, reservations=(kept,)) == {"1": None, "2": 100_000, "3": 160_000}
    assert starts(job("1", reason="BeginTime"), begins={"1": at(900)}) == {"1": 300_000}


def test_a_job_of_which_nothing_is_known_takes_its_limit_or_an_hour():
    assert known(job("1", limit_ms=5 * MINUTE), run_ms=None).waiting[0].run_ms == 5 * MINUTE
    assert known(job("1"), run_ms=None).waiting[0].run_ms == ASSUMED_MS
    year = job("1", limit_ms=365 * 86_400_000)
    assert known(year, run_ms=None).waiting[0].limit_ms == values.NEVER, "UNLIMITED is no limit"


def test_a_node_on_which_more_is_held_than_it_states_takes_no_more_until_enough_is_free():
    """4 GPUs, of which two jobs hold 3 each until 30 s and 50 s from now; what holds no GPU starts at once."""
    held = [
        replace(running(key, second), attempts=(Attempt(at(second), None, (Share("edge1", 3, 1, 1),)),))
        for key, second in (("1", 570), ("2", 590))
    ]
    assert known(*held, nodes=NODES[:1]).nodes[0].capacity == (4, 8, 16_000)
    waiting = (job("3", gpus=1), job("4", gpus=4), job("5", gpus=0))
    assert starts(*held, *waiting, nodes=NODES[:1]) == {"3": 30_000, "4": 90_000, "5": 0}


def test_a_node_that_has_lost_its_gpus_starts_nothing_on_those_that_jobs_still_hold():
    lost = (replace(NODES[0], gpus=0),)
    found = rows(running("1", 570, gpus=4), job("2", gpus=1), job("3", gpus=0), nodes=lost)
    assert (found["2"].why, found["3"].why) == (values.TOO_LARGE, values.NOW)


def test_a_cluster_without_memory_in_its_capacities_starts_nothing_that_asks_for_memory():
    bare = (NodeFact("n", gpus=4, cpus=8),)
    assert rows(job("1"), nodes=bare)["1"].why == values.TOO_LARGE
    assert identity(job("1")) == f"1@{at(0)}"


def test_a_licence_of_one_serializes_two_jobs_and_an_array_shares_what_it_asks():
    more = Constraints({"sw": 1}, {}, {"7": Asked({"sw": 1})})
    assert starts(job("7_1"), job("7_2"), job("8"), constraints=more) == {"7_1": 0, "7_2": MINUTE, "8": 0}
    held = running("7_1", 570)
    assert starts(held, job("7_2"), constraints=more) == {"7_2": 30_000}, "a running job holds its licence"


@pytest.mark.parametrize(
    ("limits", "why"),
    [
        (QueueLimits(max_nodes=1), values.TOO_MANY_NODES), (QueueLimits(max_ms=MINUTE), values.TOO_LONG),
        (QueueLimits(open=False), values.CLOSED), (QueueLimits(2, 2 * MINUTE), values.NOW),
    ],
)  # fmt: skip
def test_limits_of_a_queue(limits, why):
    nodes = tuple(replace(node, queues=("edge", "late")) for node in NODES)
    asks = job("1", nodes=2, limit_ms=2 * MINUTE, queue="edge")
    more = Constraints(queues={"edge": limits})
    assert rows(asks, nodes=nodes, constraints=more)["1"].why == why
    both = replace(asks, queue="edge,late")
    assert rows(both, nodes=nodes, constraints=more)["1"].why == values.NOW, "the other queue takes it"
    assert rows(replace(asks, state=facts.HELD), nodes=nodes, constraints=more)["1"].why == values.HELD


def test_a_job_without_a_limit_has_that_of_its_queue():
    for limits in (QueueLimits(max_ms=5 * MINUTE), QueueLimits(max_ms=9 * MINUTE, default_ms=5 * MINUTE)):
        (row,) = known(job("1", queue="edge"), run_ms=None, constraints=Constraints(queues={"edge": limits})).waiting
        assert (row.limit_ms, row.run_ms) == (5 * MINUTE, 5 * MINUTE)


def test_jobs_of_an_exclusive_queue_take_whole_nodes():
    more = Constraints(queues={"edge": QueueLimits(exclusive=True)})
    jobs = [job(key, queue="edge", gpus=1) for key in "12"]
    assert starts(*jobs, nodes=NODES[:1], constraints=more) == {"1": 0, "2": MINUTE}


def test_named_nodes_are_the_only_ones_where_they_suffice():
    more = Constraints(jobs={"1": Asked(only=("cloud1",))})
    assert known(job("1"), constraints=more).waiting[0].only == {"cloud1"}
    assert known(job("1", nodes=2), constraints=more).waiting[0].only == frozenset()


def test_constraints_are_stored_as_plain_data():
    full = Constraints(
        {"sw": 1}, {"edge": QueueLimits(1, 2, 3, False, True)}, {"1": Asked({"sw": 2}, True, 5, ("a",), ("b",))}, 7
    )
    assert from_plain(full.plain()) == full
    assert from_plain({}) == Constraints()
