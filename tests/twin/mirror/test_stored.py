"""A mirror in the database: a follower that dies at any moment goes on where the log is; pages read it like any run."""

from __future__ import annotations

from dataclasses import replace

import pytest
from django.db import DatabaseError

from tests.twin.mirror.builders import EPOCH, S, job, polled
from tests.twin.mirror.builders_stored import POLLS, following
from twin.eventlog import event_log
from twin.eventlog.additions import of_run
from twin.eventlog.event_log import LeaseLost
from twin.eventlog.fold import RunState
from twin.mirror import stored
from twin.models import Connection, MirrorRecord, Run
from twin.runs import lease, runner

pytestmark = pytest.mark.django_db


def pages(run: Run) -> tuple[object, ...]:
    """What pages read: the folded log, servers and jobs."""
    state = RunState().feed(event for batch in event_log.after(run.pk, 0) for event in batch)
    bars = sorted(tuple(row) for row in state.bars.rows.tolist())
    return state.jobs.rows.tolist(), state.verdicts, bars, of_run(run)


def test_one_follower_after_the_other_writes_what_a_single_one_writes():
    single = Connection.objects.create(name="single", connector="slurm")
    one = following(single, *POLLS)
    for each in POLLS:
        one.apply(each)
    several = Connection.objects.create(name="several", connector="slurm")
    for each in POLLS:
        following(several, each).apply(each)
        lease.release(Run.objects.get(pk=several.run.pk))
    (jobs, verdicts, bars, (cluster, values)), again = (
        pages(single.run),
        pages(Connection.objects.get(name="several").run),
    )
    assert again[:3] == (jobs, verdicts, bars)
    assert again[3][0].servers == cluster.servers
    assert again[3][1] == values
    assert [value.id for value in values] == ["1", "2"]
    begin, end = cluster.servers[1].away[0]
    assert end - begin == 80 * S


def test_a_first_look_at_many_jobs_is_stored_whole():
    connection = Connection.objects.create(name="lab", connector="slurm")
    first = polled(10, *(job(str(number)) for number in range(2 * stored.RECORDS + 1)))
    following(connection, first).apply(first)
    connection.refresh_from_db()
    mirror = stored.load(connection)
    assert tuple(known.fact for known in mirror.jobs) == first.jobs
    assert list(mirror.nodes) == [node.name for node in first.nodes]


def test_backfill_passes_are_stored_with_the_next_event():
    connection = Connection.objects.create(name="lab", connector="slurm")
    first = replace(polled(10, job("1")), backfilled_ms=EPOCH + 5 * S)
    one = following(connection, first)
    for each in (first, replace(polled(40, job("1")), backfilled_ms=EPOCH + 35 * S), polled(45, job("1"))):
        one.apply(each)
    connection.refresh_from_db()
    late = EPOCH - round(connection.run.clock_wall.timestamp() * 1000)
    assert list(stored.load(connection).passes.between(0, late + 50 * S)) == [late + 5 * S]
    one.apply(replace(polled(700, job("1"), job("2")), backfilled_ms=EPOCH + 695 * S))
    passes = stored.load(connection).passes
    assert list(passes.between(0, late + 700 * S)) == [late + 5 * S, late + 35 * S, late + 695 * S]
    assert list(passes.between(late + 35 * S, late + 694 * S)) == [late + 35 * S]


def test_the_time_before_the_first_poll_is_a_gap_once():
    connection = Connection.objects.create(name="lab", connector="slurm")
    for each in POLLS:
        following(connection, each).apply(each)
        lease.release(Run.objects.get(pk=connection.run.pk))
    run = Run.objects.get(pk=connection.run.pk)
    state = RunState().feed(event for batch in event_log.after(run.pk, 0) for event in batch)
    began_ms = round(run.clock_wall.timestamp() * 1000)
    first_ms = POLLS[0].at_ms - began_ms
    assert first_ms > 0
    assert state.gaps == [[0, first_ms, "the cluster was not followed before this time"]]


def test_a_write_that_fails_leaves_neither_events_nor_records(monkeypatch):
    connection = Connection.objects.create(name="lab", connector="slurm")
    one = following(connection, POLLS[0])
    one.apply(POLLS[0])
    before = (connection.run.batches.count(), MirrorRecord.objects.count())

    def fails(*_: object, **__: object) -> None:
        raise DatabaseError("disk full")

    monkeypatch.setattr(MirrorRecord.objects, "bulk_create", fails)
    with pytest.raises(DatabaseError):
        one.apply(POLLS[1])
    monkeypatch.undo()
    assert (connection.run.batches.count(), MirrorRecord.objects.count()) == before
    lease.release(Run.objects.get(pk=connection.run.pk))
    two = following(connection, POLLS[1])
    two.apply(POLLS[1])
    seqs = [event.seq for batch in event_log.after(connection.run.pk, 0) for event in batch]
    assert seqs == list(range(1, len(seqs) + 1))


def test_a_follower_that_lost_its_lease_writes_nothing():
    connection = Connection.objects.create(name="lab", connector="slurm")
    old = following(connection, POLLS[0])
    lease.release(Run.objects.get(pk=connection.run.pk))
    following(connection, POLLS[0])
    with pytest.raises(LeaseLost):
        old.apply(POLLS[0])


def test_a_run_worker_does_not_touch_a_mirrored_run():
    connection = Connection.objects.create(name="lab", connector="slurm")
    run, _ = stored.begin(connection, POLLS[0])
    assert runner.advance(run.pk) in (False, None)
    run.refresh_from_db()
    assert run.status == Run.RUNNING
