"""The forecast: equal to the plain reference, its rules by hand, and jobs that cannot start."""

import pytest

from scheduling.forecast import values
from scheduling.forecast.forecasting import forecasts_of
from scheduling.forecast.values import After, Closed, ClusterState, Group, Node, Running, Waiting
from tests.cases import cases
from tests.scheduling.forecast import reference_forecast as reference

FOUR = Node("n0", (4,))


def plan(of):
    return {
        row.id: None if row.start_ms is None else (row.start_ms, row.finish_ms, row.nodes) for row in forecasts_of(of)
    }


@pytest.mark.parametrize("rich", [False, True])
@pytest.mark.parametrize("block", range(10))
def test_the_forecast_is_that_of_the_plain_reference(block, rich):
    for seed in range(100 * block, 100 * block + cases(100, 20)):
        of = reference.cluster_state(seed, rich)
        assert plan(of) == reference.forecast(of), seed


def running(name, node, amount, end, limit):
    return Running(name, ((node, (amount,)),), end, limit)


def one(name, amount=4, run=10, limit=100, count=1, **more):
    return Waiting(name, (Group(count, (amount,)),), run, limit, **more)


def only(of):
    (row,) = forecasts_of(of)
    return row


def test_a_job_waits_for_the_predicted_end_and_a_later_one_is_backfilled_by_limits():
    """r ends at 50, its limit at 100. b fits beside r and ends by its limit before 100; c would not."""
    of = ClusterState(
        0, (FOUR,), (running("r", 0, 2, 50, 100),),
        (one("a"), one("b", 2, run=5, limit=90), one("c", 2, run=5, limit=101)),
    )  # fmt: skip
    assert plan(of) == {"a": (50, 60, (0,)), "b": (0, 5, (0,)), "c": (60, 65, (0,))}
    a, b, c = forecasts_of(of)
    assert (a.why, a.waits_for, a.ahead) == (values.RESOURCES, ("r",), 1)
    assert b.why == values.NOW
    assert (c.why, c.waits_for) == (values.RESOURCES, ("a",))


def test_each_start_is_a_cycle_after_the_end_before_it():
    of = ClusterState(0, (FOUR,), (running("r", 0, 4, 50, 100),), (one("a"), one("b")), cycle_ms=3)
    assert plan(of) == {"a": (53, 63, (0,)), "b": (66, 76, (0,))}
    assert only(ClusterState(0, (FOUR,), (), (one("a"),), cycle_ms=3)).start_ms == 3


def test_a_queue_does_not_wait_for_the_first_job_of_another_queue_on_other_nodes():
    nodes = (Node("n0", (4,), frozenset("a")), Node("n1", (4,), frozenset("b")))
    of = ClusterState(
        0, nodes, (running("r", 0, 4, 50, 60),),
        (one("a1", queues=frozenset("a")), one("b1", queues=frozenset("b"))),
    )  # fmt: skip
    assert plan(of) == {"a1": (50, 60, (0,)), "b1": (0, 10, (1,))}


def test_a_gang_starts_when_all_of_its_nodes_are_free():
    nodes = tuple(Node(f"n{i}", (4,)) for i in range(3))
    held = (running("r0", 0, 4, 20, 99), running("r1", 1, 4, 40, 99))
    assert plan(ClusterState(0, nodes, held, (one("g", count=3),))) == {"g": (40, 50, (0, 1, 2))}
    two = Waiting("het", (Group(1, (4,)), Group(2, (1,))), 10, 100)
    assert plan(ClusterState(0, nodes, held, (two,))) == {"het": (40, 50, (0, 1, 2))}


def test_an_exclusive_job_takes_idle_nodes_whole():
    nodes = (FOUR, Node("n1", (4,)))
    of = ClusterState(0, nodes, (running("r", 0, 1, 50, 60),), (one("e", 1, count=2, exclusive=True), one("s", 1)))
    assert plan(of) == {"e": (50, 60, (0, 1)), "s": (60, 70, (0,))}, "s would delay e by its limit"


def test_a_reservation_of_nodes_keeps_other_jobs_out_by_their_limits():
    nodes = (Node("n0", (4,), closed=(Closed(50, 80, "course"),)),)
    waiting = (one("long", limit=60), one("short", limit=50), one("own", reservation="course"))
    assert plan(ClusterState(0, nodes, (), waiting)) == {
        "long": (80, 90, (0,)), "short": (0, 10, (0,)), "own": (50, 60, (0,)),
    }  # fmt: skip


def test_dependencies_wait_for_the_predicted_end_or_start_of_the_other_job():
    of = ClusterState(
        0, (Node("n0", (40,)),), (running("r", 0, 4, 30, 99),),
        (one("a", after=(After("r"),)), one("b", after=(After("a", start=True),)), one("c", after=(After("old"),))),
    )  # fmt: skip
    assert plan(of) == {"a": (30, 40, (0,)), "b": (30, 40, (0,)), "c": (0, 10, (0,))}
    first = forecasts_of(of)[0]
    assert (first.why, first.waits_for) == (values.DEPENDENCY, ("r",))


def test_licences_are_counted_and_nobody_waits_behind_a_job_without_one():
    of = ClusterState(
        0, (Node("n0", (8,)),), (Running("r", ((0, (1,)),), 30, 99, {"sw": 1}),),
        (one("a", licences={"sw": 1}), one("b")), {"sw": 1},
    )  # fmt: skip
    assert plan(of) == {"a": (30, 40, (0,)), "b": (0, 10, (0,))}


@pytest.mark.parametrize(
    ("job", "why"),
    [
        (one("j", 5), values.TOO_LARGE), (one("j", 1, count=2), values.TOO_LARGE),
        (one("j", blocked=values.HELD), values.HELD), (one("j", licences={"sw": 3}), values.NO_LICENCE),
        (one("j", reservation="none"), values.NO_RESERVATION), (one("j", only=frozenset({"n7"})), values.TOO_LARGE),
        (one("j", after=(After("j"),)), values.DEPENDENCY),
    ],
)  # fmt: skip
def test_a_job_that_can_never_start_is_given_the_reason(job, why):
    row = only(ClusterState(0, (FOUR,), (), (job,), {"sw": 2}))
    assert (row.start_ms, row.finish_ms, row.why) == (None, None, why)


def test_what_waits_for_a_job_that_never_starts_never_starts():
    held = one("held", blocked=values.HELD)
    rows = forecasts_of(ClusterState(0, (FOUR,), (), (held, one("then", after=(After("held"),)))))
    assert [(row.start_ms, row.why, row.waits_for) for row in rows] == [
        (None, values.HELD, ()), (None, values.DEPENDENCY, ("held",)),
    ]  # fmt: skip


def test_a_prediction_of_0_and_an_overdue_job_end_at_once():
    of = ClusterState(10, (FOUR,), (running("r", 0, 4, 5, 5),), (one("a", run=0), one("b", run=0)))
    assert plan(of) == {"a": (10, 11, (0,)), "b": (11, 12, (0,))}


def test_jobs_without_limits_reserve_nothing_that_another_job_would_delay():
    """No end is certain, so whatever fits starts, as a scheduler without limits does it."""
    of = ClusterState(
        0, (FOUR,), (running("r", 0, 2, 50, values.NEVER),), (one("a", limit=values.NEVER), one("b", 2, run=60))
    )
    assert plan(of) == {"a": (60, 70, (0,)), "b": (0, 60, (0,))}


def test_a_cluster_without_nodes_or_jobs():
    assert forecasts_of(ClusterState(0, (), (), ())) == []
    assert only(ClusterState(0, (), (), (one("a"),))).why == values.TOO_LARGE
    gone = Node("n0", (4,), available=False)
    assert only(ClusterState(0, (gone,), (running("r", 0, 2, 9, 9),), (one("a"),))).why == values.TOO_LARGE
