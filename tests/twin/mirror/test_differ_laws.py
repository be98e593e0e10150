"""Laws of the differ, over clusters that Hypothesis plays: looks are lost, repeated and come out of order."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given, settings
from hypothesis import strategies as st

from scheduling.model.values import LARGEST
from tests.twin.mirror.builders import Log, S
from tests.twin.mirror.builders_moves import MOVES, looks_of
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


def truth(look: Snapshot) -> tuple[object, ...]:
    jobs = {
        (fact.key, fact.submitted_ms, fact.state, fact.reason, fact.restarts)
        + ((fact.attempts[-1].started_ms, fact.attempts[-1].shares) if fact.state in (RUNNING, SUSPENDED) else ())
        for fact in look.jobs
        if fact.state != ENDED
    }
    nodes: dict[str, NodeFact] = {node.name: node for node in look.nodes or ()}
    return jobs, nodes


@settings(max_examples=100)
@given(MOVES)
def test_the_same_look_again_tells_nothing(moves):
    log = Log()
    for look in looks_of(moves):
        log.look(look)
        assert log.look(look) == []


@settings(max_examples=100)
@given(MOVES, st.data())
def test_lost_repeated_and_reordered_looks_end_in_the_picture_of_the_newest(moves, data):
    looks = looks_of(moves)
    if not looks:
        return
    some = data.draw(st.lists(st.sampled_from(looks), max_size=60))
    log = Log()
    for look in [*some, looks[-1], *some]:
        log.look(look)
    assert picture(log) == truth(looks[-1])


@settings(max_examples=100)
@given(MOVES, st.data())
def test_the_folded_log_is_the_picture(moves, data):
    """Bars in the log: each running job is on its node from its start, without overlaps; time never runs back."""
    looks = looks_of(moves)
    kept = [look for look in looks if data.draw(st.booleans())] or looks[-1:]
    log = Log()
    for look in kept:
        log.look(look)
    times = [event.at_ms for event in log.events]
    assert times == sorted(times)
    servers = {name: known.index for name, known in log.mirror.nodes.items()}
    standing = {(job, server, start) for job, server, start, end, _, _ in log.bars() if end == LARGEST}
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


@settings(max_examples=60)
@given(MOVES)
def test_every_look_seen_gives_the_exact_history(moves):
    """With no look lost, every attempt of every job has the start that the cluster reported."""
    log, starts = Log(), set()
    for look in looks_of(moves):
        log.look(look)
        starts |= {(fact.key, fact.submitted_ms, each.started_ms) for fact in look.jobs for each in fact.attempts}
    assert starts == {
        (known.fact.key, known.fact.submitted_ms, each.started_ms)
        for known in log.mirror.jobs
        for each in known.attempts
    }
