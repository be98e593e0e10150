"""A cut of a mirror: which jobs are in it, in which order, with how much work, and where each duration is from."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scheduling.model.limits import MAX_INT
from scheduling.model.values import ModelError
from tests.cases import cases
from tests.twin.mirror.builders import NODES, Log, S, ended, job, polled, running, suspended
from tests.twin.mirror.builders_moves import MOVES, polls_of
from tests.twin.mirror.whatif.builders_servers import servers_of
from twin.connectors.facts import DOWN, ENDED, HELD
from twin.mirror.differ import Mirror
from twin.mirror.whatif.cut import ACTUAL, ASSUMED, DURATIONS, LEFT_OUT, LIMIT, RUNNING, WAITING, Choice, cut
from twin.mirror.whatif.jobs import job_table

MINUTE = 60 * S


def at(mirror: Mirror, ms: int, held=(), **choice):
    return cut(mirror, ms, servers_of(mirror), set(held), Choice(**choice))


def rows(found):
    return [(part.known.name, part.state, part.run_ms, part.origin) for part in found.parts]


@pytest.fixture
def mirror() -> Mirror:
    """At 60 s `run` and `long` run, `next` and `free` wait. `late` comes at 70 s, `run` ends at 95 s, `next` at 190."""
    log = Log()
    next_, free = job("next", limit_ms=10 * MINUTE), job("free")
    log.apply(polled(0, running("run", 0), running("long", 20, limit_ms=5 * MINUTE), next_, free))
    late = job("late", submitted_ms=polled(70).at_ms, limit_ms=2 * MINUTE)
    log.apply(
        polled(
            100, ended(running("run", 0), 95), running("long", 20, limit_ms=5 * MINUTE), running("next", 96), free, late
        )
    )
    log.apply(
        polled(
            200,
            running("long", 20, limit_ms=5 * MINUTE),
            ended(running("next", 96, limit_ms=10 * MINUTE), 190),
            free,
            late,
        )
    )
    return log.mirror


def test_durations_as_they_turned_out_and_by_limit_where_the_end_is_not_known(mirror):
    found = at(mirror, 60 * S)
    assert rows(found) == [
        ("run", RUNNING, 35 * S, ACTUAL),
        ("long", RUNNING, 5 * MINUTE - 40 * S, LIMIT),
        ("next", WAITING, 94 * S, ACTUAL),
        ("free", WAITING, 60 * MINUTE, ASSUMED),
    ]
    assert {part.arrival_ms for part in found.parts} == {60 * S}
    assert found.left_out == {"arrives_later": 1}


def test_by_limit_nothing_of_what_followed_is_used(mirror):
    assert rows(at(mirror, 60 * S, durations=LIMIT, assumed_ms=5 * S)) == [
        ("run", RUNNING, 5 * S, ASSUMED),
        ("long", RUNNING, 5 * MINUTE - 40 * S, LIMIT),
        ("next", WAITING, 10 * MINUTE, LIMIT),
        ("free", WAITING, 5 * S, ASSUMED),
    ]


def test_arrivals_that_followed_keep_their_times(mirror):
    last = at(mirror, 60 * S, arrivals=True).parts[-1]
    assert (last.known.name, last.arrival_ms, last.run_ms, last.origin) == ("late", 70 * S, 2 * MINUTE, LIMIT)


def test_a_job_that_has_used_up_its_limit_still_has_some_work(mirror):
    running_on = at(mirror, 199 * S, durations=LIMIT)
    assert running_on.parts[0].run_ms == 5 * MINUTE - 179 * S
    log = Log()
    log.apply(polled(0, running("over", 0, limit_ms=10 * S)))
    log.apply(polled(60, running("over", 0, limit_ms=10 * S)))
    assert at(log.mirror, 50 * S).parts[0].run_ms == MINUTE


def test_held_jobs_and_those_that_never_ran_are_counted():
    log = Log()
    log.apply(polled(0, job("held"), job("gone")))
    log.apply(
        polled(50, job("held"), replace(job("gone"), state=ENDED, outcome="cancelled", ended_ms=polled(40).at_ms))
    )
    assert at(log.mirror, 10 * S, held=[0]).left_out == {"held": 1, "never_ran": 1}
    assert rows(at(log.mirror, 10 * S, durations=LIMIT)) == [
        ("held", WAITING, 60 * MINUTE, ASSUMED),
        ("gone", WAITING, 60 * MINUTE, ASSUMED),
    ]


def test_a_suspended_job_holds_its_place_in_the_order_of_running_ones():
    log = Log()
    log.apply(polled(0, job("first"), running("stopped", 0)))
    log.apply(polled(10, job("first"), suspended(running("stopped", 0))))
    assert [part.known.name for part in at(log.mirror, 20 * S).parts] == ["stopped", "first"]


@pytest.mark.parametrize(
    ("wanted", "left_out"),
    [({"gpus": 10**6}, {}), ({"gpus": 10**12}, {"too_large": 1}), ({"gpus": 0, "cpus": 10**12}, {"too_large": 1})],
)
def test_a_job_larger_than_can_be_simulated_is_counted_and_the_others_are_cut(wanted, left_out):
    log = Log()
    alike = {"gpus": 0} if "cpus" in wanted else {}
    log.apply(polled(0, replace(job("huge", limit_ms=60 * MINUTE), **wanted), job("1", **alike)))
    found = at(log.mirror, S)
    assert found.left_out == left_out
    assert [len(job_table(found.parts, slot_ms)) for slot_ms in (MINUTE, 60 * MINUTE)] == [2 - len(left_out)] * 2


def test_jobs_without_gpus_are_left_out_where_others_have_some():
    log = Log()
    log.apply(polled(0, job("gpus"), job("cpus", gpus=0)))
    assert at(log.mirror, S).left_out == {"no_gpu": 1}
    log = Log()
    log.apply(polled(0, job("cpus", gpus=0)))
    (only,) = at(log.mirror, S).parts
    assert (only.gpus, only.cpus, only.memory_mb) == (0, 2, 4_000)


def test_a_node_that_is_down_then_does_not_come_back_and_one_that_fails_later_stays():
    log = Log()
    down = replace(NODES[0], state=DOWN)
    log.apply(polled(0, nodes=(down, NODES[1])))
    assert [server.away for server in at(log.mirror, S).servers] == [((0, MAX_INT),), ()]
    log.apply(polled(10, nodes=(NODES[0], replace(NODES[1], state=DOWN))))
    assert [server.away for server in at(log.mirror, 5 * S).servers] == [((0, MAX_INT),), ()]
    assert [server.away for server in at(log.mirror, 10 * S).servers] == [(), ((0, MAX_INT),)]
    log.apply(polled(20, nodes=(down, replace(NODES[1], state=DOWN))))
    with pytest.raises(ModelError, match="no node is available at this time"):
        at(log.mirror, 20 * S)


@settings(max_examples=cases(150, 20))
@given(MOVES, st.integers(1, 45), st.sampled_from(DURATIONS), st.booleans(), st.data())
def test_every_job_of_the_mirror_is_in_the_cut_or_counted(moves, second, durations, arrivals, data):
    log = Log()
    for each in polls_of(moves):
        log.apply(each)
    mirror, at_ms = log.mirror, second * S
    held = data.draw(st.sets(st.integers(0, 5)))
    nodes = [replace(server, away=()) for server in servers_of(mirror)]
    if not nodes:
        return
    found = cut(mirror, at_ms, nodes, held, Choice(durations=durations, arrivals=arrivals))
    assert len({part.known.index for part in found.parts}) == len(found.parts)
    assert len(found.parts) + found.left_out.total() == len(mirror.jobs)
    assert set(found.left_out) <= set(LEFT_OUT)
    order = [(part.arrival_ms, part.state, part.since_ms) for part in found.parts]
    assert order == sorted(order)
    for part in found.parts:
        assert part.run_ms > 0
        assert part.arrival_ms >= at_ms
        over = [attempt.ended_ms for attempt in part.known.attempts if attempt.ended_ms is not None]
        runs = any(
            attempt.started_ms <= mirror.epoch_ms + at_ms
            and (attempt.ended_ms is None or attempt.ended_ms > mirror.epoch_ms + at_ms)
            for attempt in part.known.attempts
        )
        assert (part.state == RUNNING) == runs
        if part.origin == ACTUAL:
            assert durations == ACTUAL
            assert part.known.fact.state == ENDED
            assert max(over) > mirror.epoch_ms + at_ms


def test_jobs_that_are_held_since_their_arrival_and_jobs_of_less_than_a_second():
    log = Log()
    log.apply(polled(0, running("run", 0)))
    held, quick = job("held", HELD, submitted_ms=polled(70).at_ms), running("quick", 90, submitted_ms=polled(70).at_ms)
    log.apply(polled(100, running("run", 0), held, ended(quick, 90)))
    found = at(log.mirror, 60 * S, arrivals=True)
    assert [(part.known.name, part.run_ms) for part in found.parts] == [("run", 3_600 * S), ("quick", 1)]
    assert found.left_out == {"held": 1}
