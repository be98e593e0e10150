"""Plans: what they change, what they leave, and that their changes give the wanted order."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from twin.acting.plan import ORDER, PLACEMENT, SOON_MS, Allowed, Wanted, lease_end, plan, ranking
from twin.actuators.facts import NICE, NODES, NOT_BEFORE, Change, WaitingJob

LEASE_MS = 300_000
NOW = 1_795_000_000_000
MINUTE = 60_000


def waiting(*jobs: WaitingJob) -> dict[str, WaitingJob]:
    return {job.key: job for job in jobs}


def job(key: str, priority: int, **fields) -> WaitingJob:
    return WaitingJob(key, NOW - 600_000, priority, **fields)


def want(key: str, minute: float | None, *nodes: str) -> Wanted:
    return Wanted(key, NOW - 600_000, None if minute is None else NOW + round(minute * MINUTE), nodes)


def test_an_order_hands_the_present_priorities_on():
    found = plan(
        ORDER,
        waiting(job("1", 500), job("2", 400), job("3", 300, nice=10)),
        [want("3", 1), want("1", 2), want("2", 3)],
        Allowed(),
        NOW,
    )
    submitted = NOW - 600_000
    assert found.changes == (
        Change("3", submitted, NICE, 10, -190),  # 300 + 10 - (-190) = 500
        Change("1", submitted, NICE, 0, 100),
        Change("2", submitted, NICE, 0, 100),
    )
    assert found.order == ("1", "2", "3")
    assert found.changes[0].inverse() == Change("3", submitted, NICE, -190, 10)


def test_jobs_of_equal_priority_are_told_apart_by_one():
    found = plan(ORDER, waiting(job("1", 140), job("2", 140)), [want("2", 1), want("1", 2)], Allowed(), NOW)
    assert [(change.key, change.after) for change in found.changes] == [("1", 1)]


def test_the_lowest_priority_does_not_fall_below_what_a_cluster_can_store():
    jobs = waiting(job("1", 1), job("2", 1), job("3", 1))
    found = plan(ORDER, jobs, [want("3", 1), want("2", 2), want("1", 3)], Allowed(), NOW)
    assert [(change.key, change.after) for change in found.changes] == [("3", -3), ("2", -2), ("1", -1)]


def test_a_queue_that_is_in_order_is_left_alone():
    jobs = waiting(job("1", 9), job("2", 9), job("10", 9))
    found = plan(ORDER, jobs, [want("1", 1), want("2", 1), want("10", 2)], Allowed(), NOW)
    assert (found.changes, found.left_out) == ((), ())


def test_jobs_that_start_together_in_the_run_keep_their_order():
    """Jobs that were submitted in one second: 10 came after 9, and 7 has the higher priority."""
    jobs = waiting(job("9", 50), job("10", 40), job("7", 60), job("11", 30))
    found = plan(ORDER, jobs, [want("10", 1), want("9", 1), want("7", 1), want("11", 2)], Allowed(), NOW)
    assert (found.changes, found.goal) == ((), ("7", "9", "10", "11"))
    few = plan(ORDER, jobs, [want("10", 1), want("9", 1), want("7", 1)], Allowed(max_jobs=2), NOW)
    assert few.goal == ("7", "9")


def test_a_placement_holds_later_jobs_by_a_lease_and_names_the_nodes_of_those_that_start_now():
    jobs = waiting(job("1", 5), job("2", 4), job("3", 3, node_count=2))
    found = plan(PLACEMENT, jobs, [want("3", 0.5, "n1", "n2"), want("1", 2), want("2", 60)], Allowed(), NOW)
    assert [(change.key, change.field, change.before, change.after) for change in found.changes] == [
        ("1", NOT_BEFORE, None, NOW + 2 * MINUTE),
        ("2", NOT_BEFORE, None, NOW + LEASE_MS),
        ("3", NODES, "", "n1,n2"),
    ]
    assert found.until == {"1": NOW + 2 * MINUTE, "2": NOW + 60 * MINUTE}


def test_nodes_of_another_number_than_the_job_asks_for_are_not_named():
    assert plan(PLACEMENT, waiting(job("1", 5)), [want("1", 0, "n1", "n2")], Allowed(), NOW).changes == ()


def test_begin_times_are_whole_seconds_and_end_with_the_lease():
    assert lease_end(NOW + 90_500, NOW, LEASE_MS) == NOW + 90_000
    assert lease_end(NOW + 900_000, NOW + 700, LEASE_MS) == NOW + LEASE_MS
    assert SOON_MS < LEASE_MS


def test_each_job_that_is_left_has_its_reason():
    jobs = waiting(
        job("1", 9, held=True), job("2", 8, single=False), job("3", 7, depends_on="afterok:1"),
        job("4", 6, not_before_ms=NOW + 1), job("5", 5, queue="cloud"), job("6", 4, queue="edge", account="b"),
        job("7", 3, queue="edge", account="a", nodes="n1"), job("8", 2, queue="edge", account="a"),
        job("9", 1, queue="edge", account="a"),
    )  # fmt: skip
    wanted = [want(str(number), number) for number in range(1, 10)] + [want("10", 0), want("11", None)]
    found = plan(PLACEMENT, jobs, wanted, Allowed(["edge"], ["a"], max_jobs=1), NOW)
    assert dict(found.left_out) == {
        "1": "it is held",
        "2": "it is part of an array or of a heterogeneous job",
        "3": "it waits for another job",
        "4": "it has a begin time",
        "5": "its queue cloud is not allowed",
        "6": "its account b is not allowed",
        "7": "it requires the nodes n1",
        "9": "the plan is at its limit of 1 job",
        "10": "it no longer waits",
        "11": "it no longer waits",
    }
    assert [change.key for change in found.changes] == ["8"]


def test_a_key_that_is_used_again_is_another_job():
    later = replace(job("1", 9), submitted_ms=NOW)
    assert plan(ORDER, waiting(later), [want("1", 1)], Allowed(), NOW).left_out == (("1", "it no longer waits"),)


@given(
    st.lists(st.tuples(st.integers(0, 30), st.integers(-20, 20)), min_size=1, max_size=8),
    st.randoms(),
    st.integers(1, 8),
)
def test_the_changes_give_the_wanted_order_and_no_job_passes_one_outside_the_plan(rows, random, most):
    jobs = waiting(*(job(str(number), 100 + priority, nice=nice) for number, (priority, nice) in enumerate(rows)))
    keys = list(jobs)
    random.shuffle(keys)
    found = plan(ORDER, jobs, [want(key, place) for place, key in enumerate(keys)], Allowed(max_jobs=most), NOW)
    after = dict(jobs)
    for change in found.changes:
        before = after[change.key]
        assert change.before == before.nice
        after[change.key] = replace(before, nice=change.after, priority=before.priority + before.nice - change.after)
    chosen = keys[:most]
    assert ranking([after[key] for key in chosen]) == tuple(chosen)
    assert max(after[key].priority for key in chosen) <= max(jobs[key].priority for key in chosen)
    taken_back = dict(after)
    for change in reversed(found.changes):
        now, inverse = taken_back[change.key], change.inverse()
        taken_back[change.key] = replace(now, nice=inverse.after, priority=now.priority + now.nice - inverse.after)
    assert taken_back == jobs
