"""Laws of the differ, over clusters that Hypothesis plays: polls are lost, repeated and come out of order."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given, settings
from hypothesis import strategies as st

from scheduling.model.limits import MAX_INT
from tests.cases import cases
from tests.twin.mirror.builders import Log, S
from tests.twin.mirror.builders_moves import MOVES, polls_of
from twin.connectors.facts import ENDED, RUNNING, SUSPENDED, NodeFact, Snapshot


def picture(log: Log) -> tuple[object, ...]:
    """Open jobs and nodes as the mirror knows them; only the current attempt, as earlier ends may have been missed."""
    mirror = log.mirror
    jobs = {
        (known.fact.key, known.fact.submitted_ms, known.fact.state, known.fact.reason, known.fact.restarts)
        + (
            (known.attempts[-1].started_ms, known.attempts[-1].shares)
            if known.fact.state in (RUNNING, SUSPENDED)
            else ()
        )
        for known in (mirror.jobs[index] for index in mirror.open)
    }
    return jobs, {name: known.fact for name, known in mirror.nodes.items()}


def truth(snapshot: Snapshot) -> tuple[object, ...]:
    jobs = {
        (fact.key, fact.submitted_ms, fact.state, fact.reason, fact.restarts)
        + ((fact.attempts[-1].started_ms, fact.attempts[-1].shares) if fact.state in (RUNNING, SUSPENDED) else ())
        for fact in snapshot.jobs
        if fact.state != ENDED
    }
    nodes: dict[str, NodeFact] = {node.name: node for node in snapshot.nodes or ()}
    return jobs, nodes


@settings(max_examples=cases(100, 15))
@given(MOVES)
def test_the_same_look_again_tells_nothing(moves):
    log = Log()
    for snapshot in polls_of(moves):
        log.apply(snapshot)
        assert log.apply(snapshot) == []


@settings(max_examples=cases(100, 15))
@given(MOVES, st.data())
def test_lost_repeated_and_reordered_looks_end_in_the_picture_of_the_newest(moves, data):
    polls = polls_of(moves)
    if not polls:
        return
    some = data.draw(st.lists(st.sampled_from(polls), max_size=60))
    log = Log()
    for snapshot in [*some, polls[-1], *some]:
        log.apply(snapshot)
    assert picture(log) == truth(polls[-1])


@settings(max_examples=cases(100, 15))
@given(MOVES, st.data())
def test_the_folded_log_is_the_picture(moves, data):
    """Bars in the log: each running job is on its node from its start, without overlaps; time never runs back."""
    polls = polls_of(moves)
    kept = [snapshot for snapshot in polls if data.draw(st.booleans())] or polls[-1:]
    log = Log()
    for snapshot in kept:
        log.apply(snapshot)
    times = [event.at_ms for event in log.events]
    assert times == sorted(times)
    servers = {name: known.index for name, known in log.mirror.nodes.items()}
    standing = {(job, server, start) for job, server, start, end, _, _ in log.bars() if end == MAX_INT}
    expected = {
        (
            log.mirror.newest[fact.key],
            servers[fact.attempts[-1].shares[0].node],
            fact.attempts[-1].started_ms - log.mirror.epoch_ms,
        )
        for fact in (kept[-1].jobs if kept else ())
        if fact.state in (RUNNING, SUSPENDED)
    }
    assert standing == expected
    by_job: dict[int, list[tuple[int, int]]] = {}
    for index, _, start, end, _, _ in log.bars():
        by_job.setdefault(index, []).append((start, end))
    for spans in by_job.values():
        ordered = sorted(spans)
        assert all(first[1] <= second[0] + S for first, second in pairwise(ordered))


@settings(max_examples=cases(60, 10))
@given(MOVES)
def test_every_look_seen_gives_the_exact_history(moves):
    """With no poll lost, every attempt of every job has the start that the cluster reported."""
    log, starts = Log(), set()
    for snapshot in polls_of(moves):
        log.apply(snapshot)
        starts |= {(fact.key, fact.submitted_ms, each.started_ms) for fact in snapshot.jobs for each in fact.attempts}
    assert starts == {
        (known.fact.key, known.fact.submitted_ms, each.started_ms)
        for known in log.mirror.jobs
        for each in known.attempts
    }
