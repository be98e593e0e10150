"""A cluster that begins again with an empty state: its jobs are lost, and new jobs with their numbers begin a run."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings

from tests.cases import cases
from tests.twin.mirror.builders import Log, Scripted, at, ended, job, polled, running
from tests.twin.mirror.builders_moves import MOVES, polls_of
from twin.connectors.facts import ConnectorError, Snapshot
from twin.eventlog.additions import of_run
from twin.mirror import borders, stored
from twin.mirror.following import Following
from twin.mirror.renumbering import Numbers
from twin.models import Connection, Run
from twin.runs import lease

OLD = polled(10, running("7", 5), running("8", 6), job("9_3"))
NEW = polled(40, running("1", 35, submitted_ms=at(30)), ended(running("7", 36, submitted_ms=at(31)), 38))


class Numbered(Scripted):
    numbers_jobs = True


def fresh(first: Snapshot, then: Snapshot) -> list[str]:
    log = Log()
    log.apply(first)
    return [fact.key for fact in Numbers(log.mirror).begun_again(then)]


@pytest.mark.parametrize(
    ("then", "found"),
    [
        (NEW, ["1", "7"]),
        (polled(40, *OLD.jobs, job("10", submitted_ms=at(30))), []),
        (polled(40, *OLD.jobs, job("9_1")), []),  # a task of the array that a bound had left out
        (polled(40, *OLD.jobs[1:], job("7", submitted_ms=at(30), restarts=1)), []),  # queued again by a failed node
        (polled(40, job("2", submitted_ms=at(30)), job("7", submitted_ms=at(31), restarts=1)), ["2", "7"]),
        (polled(40, *OLD.jobs, job("2", submitted_ms=at(1))), []),  # within the resolution of the clock
        (polled(40, *OLD.jobs, job("lab/train", submitted_ms=at(30))), []),
        (polled(40, job("9", submitted_ms=at(30)), job("10", submitted_ms=at(31))), ["9", "10"]),
    ],
)
def test_what_is_numbered_anew(then, found):
    assert fresh(OLD, then) == found


def test_numbers_that_were_taken_later_count():
    log = Log()
    log.apply(polled(1))
    numbers = Numbers(log.mirror)
    assert numbers.begun_again(polled(2, job("5", submitted_ms=at(2)))) == ()
    log.apply(polled(2, job("5", submitted_ms=at(2))))
    assert numbers.begun_again(polled(9, job("1", submitted_ms=at(8))))


@settings(max_examples=cases(60, 10))
@given(MOVES)
def test_jobs_that_move_are_not_numbered_anew(moves):
    log = Log()
    numbers = Numbers(log.mirror)
    for each in polls_of([(str(10 + place), *move[1:]) for place, move in enumerate(moves)]):
        assert numbers.begun_again(each) == ()
        log.apply(each)


@pytest.mark.django_db
def test_the_old_run_ends_with_lost_jobs_and_the_next_one_has_the_new_jobs():
    connection = Connection.objects.create(name="lab", connector="slurm")
    stored.begin(connection, OLD)
    run = lease.take(connection.run.pk, simulated=False)
    mirror = stored.load(connection)
    following = Following(
        Numbered(OLD, NEW), mirror, stored.Writer(run, mirror), stopped=lambda seconds: False, bordered=True
    )
    following.apply(OLD)
    following.apply(NEW)
    assert [fact.key for fact in following.after.values()] == ["1", "7"]
    assert [(known.fact.key, known.fact.outcome) for known in mirror.jobs] == [
        ("7", "lost"),
        ("8", "lost"),
        ("9_3", "lost"),
    ]
    made = borders.cross(connection, run, mirror, tuple(following.after.values()))
    run.refresh_from_db()
    assert (run.status, run.message) == (
        Run.FINISHED,
        "lab restarted with an empty state and numbers its jobs from 1 again.",
    )
    assert [one.id for one in of_run(made)[1]] == ["1", "7"], "also the one that has ended already"
    Run.objects.update(lease_until=None)
    connection.refresh_from_db()
    run = lease.take(made.pk, simulated=False)
    mirror = stored.load(connection)
    again = Following(Numbered(NEW), mirror, stored.Writer(run, mirror), stopped=lambda seconds: True, bordered=True)
    again.apply(replace(NEW, at_ms=at(41)))
    assert (again.after, [known.name for known in mirror.jobs]) == ({}, ["1", "7"])


def test_a_failing_second_look_ends_nothing():
    log = Log()
    first = polled(10, *(running(str(number), 5) for number in range(20, 26)))
    log.apply(first)
    following = Following(
        Numbered(ConnectorError("slurmctld does not answer")), log.mirror, lambda events, ms: log.write(events),
        stopped=lambda seconds: True, bordered=True,
    )  # fmt: skip
    with pytest.raises(ConnectorError):
        following.apply(NEW)
    assert len(log.mirror.open) == 6


def test_a_following_without_borders_keeps_them_apart_by_name():
    log = Log()
    following = Following(
        Numbered(OLD, NEW), log.mirror, lambda events, ms: log.write(events), stopped=lambda seconds: True
    )
    following.apply(OLD)
    following.apply(NEW)
    assert [known.name for known in log.mirror.jobs] == ["7", "8", "9_3", "1", "7~2"]
