"""The drift audit finds what a log lacks, and nothing where log and cluster agree."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings

from scheduling.model.values import Event
from tests.cases import cases
from tests.twin.mirror.builders import EPOCH, NODES, Log, at, attempt, ended, job, polled, running
from tests.twin.mirror.builders_moves import MOVES, polls_of
from twin.connectors.facts import DOWN, FAILED, REQUEUED, JobFact, Snapshot
from twin.eventlog import batch_codec
from twin.mirror.drift import LoggedState, compare
from twin.moments import moment_utc


def differences(events: Sequence[Event], seen: Snapshot, history: Sequence[JobFact] = ()) -> list[tuple[str, str]]:
    logged = LoggedState().feed(*batch_codec.read(batch_codec.encode(events))) if events else LoggedState()
    return [(found.subject, found.field) for found in compare(logged, seen, history, EPOCH, EPOCH)[1]]


@settings(max_examples=cases(150, 20))
@given(MOVES)
def test_a_log_that_the_differ_wrote_agrees_with_the_newest_look(moves):
    log = Log()
    for seen in polls_of(moves):
        log.apply(seen)
        assert differences(log.events, seen) == []


@pytest.fixture
def log() -> Log:
    """One job runs, one waits, one has ended; two nodes."""
    log = Log()
    log.apply(polled(0, job("2"), running("1", 0), running("3", 0, node="cloud1")))
    log.apply(polled(9, job("2"), running("1", 0), ended(running("3", 0, node="cloud1"), 8)))
    return log


@pytest.mark.parametrize(
    ("kind", "index", "found"),
    [
        ("plan_changed", {"keys": [1]}, [("job 1", "placements")]),
        ("decided", {"job": 1}, [("job 1", "state")]),
        ("server_set", {"server": 0}, []),
    ],
)
def test_a_lost_event_is_a_difference(log, kind, index, found):
    seen = polled(9, job("2"), running("1", 0), ended(running("3", 0, node="cloud1"), 8))
    lost = [e for e in log.events if not (e.kind == kind and index.items() <= dict(e.data).items())]
    assert differences(lost, seen) == found


def test_executions_that_differ_are_told_in_utc(log):
    lost = [event for event in log.events if event.kind != "plan_changed"]
    logged = LoggedState().feed(*batch_codec.read(batch_codec.encode(lost)))
    (found,) = compare(logged, polled(9, job("2"), running("1", 0)), (), EPOCH, EPOCH)[1]
    assert (found.log, found.cluster) == ("", f"2 workers on edge1 from {moment_utc(at(0))}")


def test_jobs_that_the_account_may_not_see_are_no_difference():
    log = Log()
    log.apply(polled(0, running("1", 0, user="ada"), running("2", 0, user="twin")))
    assert differences(log.events, polled(1, own="twin")) == [("job 2", "presence")]


def test_a_job_that_ended_before_its_key_was_used_again_is_not_compared_with_the_other_one():
    log = Log()
    again = running("1", 21, submitted_ms=at(20))
    log.apply(polled(30, again))
    old = ended(running("1", 1, submitted_ms=at(-60)), 15, "cancelled", complete_history=True)
    assert differences(log.events, polled(30, again), [old]) == []
    requeued = replace(again, submitted_ms=at(25))
    assert differences(log.events, polled(30, requeued)) == [], "a requeue gave it another submit time"


def test_the_end_of_a_job_is_compared_with_the_accounting(log):
    seen = polled(9, job("2"), running("1", 0))
    fact = ended(running("3", 0, node="cloud1"), 8, complete_history=True)
    assert differences(log.events, seen, [fact]) == []
    later = replace(fact, attempts=(attempt(0, 7, node="cloud1"),))
    assert differences(log.events, seen, [later]) == [("job 3", "placements")]
    assert differences(log.events, seen, [replace(fact, outcome=FAILED)]) == [("job 3", "outcome")]


def test_what_only_one_of_both_knows_is_a_difference(log):
    assert differences(log.events, polled(9, running("1", 0))) == [("job 2", "presence")]
    seen = polled(9, job("2"), running("1", 0), job("4"))
    assert differences(log.events, seen) == [("job 4", "presence")]
    brief = ended(running("5", 3, submitted_ms=at(3)), 5, complete_history=True)
    assert differences(log.events, polled(9, job("2"), running("1", 0)), [brief]) == [("job 5", "presence")]
    before = ended(running("0", -20, submitted_ms=at(-20)), -10)
    assert differences(log.events, polled(9, job("2"), running("1", 0), before)) == [], "it ended before the log began"


def test_a_key_that_is_used_again_is_compared_with_its_own_job():
    log = Log()
    first = ended(running("1", 0), 4, complete_history=True)
    again = running("1", 6, submitted_ms=at(5), node="cloud1")
    log.apply(polled(2, running("1", 0)))
    log.apply(polled(5, first))
    log.apply(polled(9, again))
    assert [job.name for job in log.mirror.jobs] == ["1", "1~2"]
    assert differences(log.events, polled(9, again), [first]) == []
    later = Log()  # a log that begins when the key was already in its second use
    later.mirror.called = {"1": "1~2"}
    later.apply(polled(9, again))
    assert [job.name for job in later.mirror.jobs] == ["1~2"]
    assert differences(later.events, polled(9, again)) == []


def test_nodes_are_compared_by_capacity_and_availability(log):
    jobs = job("2"), running("1", 0)
    small = (replace(NODES[0], gpus=2), replace(NODES[1], state=DOWN))
    found = compare(
        LoggedState().feed(*batch_codec.read(batch_codec.encode(log.events))),
        polled(9, *jobs, nodes=small),
        (),
        EPOCH,
        EPOCH,
    )[1]
    assert sorted((d.subject, d.field, d.log, d.cluster) for d in found) == [
        ("node cloud1", "availability", "available", "unavailable"),
        ("node edge1", "capacity", "4 GPUs, 8 CPUs, 16.777 GB", "2 GPUs, 8 CPUs, 16.777 GB"),
    ]
    assert differences(log.events, polled(9, *jobs, nodes=NODES[:1])) == [("node cloud1", "presence")]
    assert differences(log.events, polled(9, *jobs, nodes=None)) == []


def test_every_job_and_node_is_counted(log):
    compared, found = compare(
        LoggedState().feed(*batch_codec.read(batch_codec.encode(log.events))),
        polled(9, job("2"), running("1", 0)),
        [ended(running("3", 0, node="cloud1"), 8)],
        EPOCH,
        EPOCH,
    )
    assert (compared, found) == (5, [])
    assert np.asarray(compared).dtype.kind == "i"


def test_attempts_on_a_node_that_the_cluster_no_longer_has_are_no_difference():
    log = Log()
    first, second = running("1", 0, node="cloud1"), running("2", 0, node="cloud1")
    log.apply(polled(2, first, second))
    requeued = job("1", restarts=1, attempts=(attempt(0, 5, node="cloud1", outcome=REQUEUED),), complete_history=True)
    over = ended(second, 5, FAILED, complete_history=True)
    seen = polled(9, requeued, over, nodes=NODES[:1])
    log.apply(seen)
    assert differences(log.events, seen, [over]) == []


def test_a_placement_on_a_node_that_the_cluster_no_longer_has_names_it_and_is_told_once():
    """The fact of the job is in the snapshot and in the accounting."""
    log = Log()
    held = running("1", 0, node="cloud1")
    over = ended(held, 5, complete_history=True)
    log.apply(polled(2, held))
    log.apply(polled(9, over, nodes=NODES[:1]))
    none = replace(over, attempts=())
    logged = LoggedState().feed(*batch_codec.read(batch_codec.encode(log.events)))
    compared, found = compare(logged, polled(9, none, nodes=NODES[:1]), [none], EPOCH, EPOCH)
    text = f"2 workers on cloud1 from {moment_utc(at(0))} to {moment_utc(at(5))}"
    assert [(one.subject, one.field, one.log, one.cluster) for one in found] == [("job 1", "placements", text, "")]
    assert compared == 3, "a job and two nodes"
