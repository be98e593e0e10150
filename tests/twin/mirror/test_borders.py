"""The border between two runs of a live cluster: what is open goes on, nothing is lost, nothing is there twice."""

from __future__ import annotations

import threading
import tracemalloc
from dataclasses import replace

import pytest
from django.db import DatabaseError
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.cases import cases
from tests.twin.mirror.builders import EPOCH, NODES, Log, S, Scripted, ended, job, polled, running
from tests.twin.mirror.builders_moves import MOVES, polls_of
from tests.twin.mirror.builders_stored import following
from twin.connectors.facts import DOWN, ENDED, Snapshot
from twin.eventlog import event_log
from twin.eventlog.additions import of_run
from twin.eventlog.event_log import LeaseLost
from twin.mirror import borders, follower, stored
from twin.mirror.connecting import connections
from twin.mirror.connecting.condition import condition
from twin.mirror.differ import Mirror, epoch_of
from twin.models import Connection, EventBatch, MirrorRecord, Run
from twin.runs import lease

ONE, TWO = running("1", 10, gpu_ids=(0, 1)), running("2", 20, node="cloud1")
THREE = job("3", submitted_ms=polled(30).at_ms, reason="Resources")
POLLS = (
    polled(0, ONE, job("2"), job("4")),
    polled(40, ONE, TWO, THREE, ended(running("4", 15, gpus=1), 35)),
    polled(100, ONE, ended(TWO, 90), THREE, ended(running("4", 15, gpus=1), 35)),
    polled(200, ended(ONE, 150), ended(TWO, 90), running("3", 160, submitted_ms=THREE.submitted_ms)),
)


def followed(*polls: Snapshot) -> Connection:
    connection = Connection.objects.create(name="lab", connector="slurm")
    one = following(connection, *polls)
    for each in polls:
        one.apply(each)
    connection.refresh_from_db()
    return connection


def crossed(connection: Connection) -> Run:
    """The next run, begun by a follower that has the lease of the one before."""
    connection.refresh_from_db()
    Run.objects.filter(pk=connection.run.pk).update(lease_until=None)
    run = lease.take(connection.run.pk, simulated=False)
    assert run is not None
    return borders.cross(connection, run, stored.load(connection))


def events_of(run: Run):
    return [event for batch in event_log.after(run.pk, 0) for event in batch]


def codes(run: Run) -> dict[str, list[str]]:
    ids = [one.id for one in of_run(run)[1]]
    found: dict[str, list[str]] = {}
    for event in events_of(run):
        if event.kind == "decided":
            found.setdefault(ids[event.data["job"]], []).append(event.data["code"])
    return found


@pytest.mark.django_db
def test_what_ended_in_the_run_before_takes_little_memory():
    over = [ended(running(str(number), 10), 20) for number in range(4_000)]
    connection = followed(polled(15, *(running(fact.key, 10) for fact in over)), polled(30, *over))
    crossed(connection)
    connection.refresh_from_db()
    tracemalloc.start()
    mirror = stored.load(connection)
    kept, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert len(mirror.past) == len(over)
    assert peak < 2.5 * kept, "a whole mirror of the run before takes nine times as much"


@pytest.mark.django_db
def test_the_next_run_begins_with_what_is_open():
    connection = followed(*POLLS[:2])
    old = connection.run
    new = crossed(connection)
    old.refresh_from_db()
    connection.refresh_from_db()
    assert (old.status, old.end_ms, connection.run, new.follows) == (Run.FINISHED, old.sim_ms, new, old)
    assert {name: found[-1] for name, found in codes(old).items()} == {
        "1": "continues", "2": "continues", "3": "continues", "4": "ended",
    }  # fmt: skip
    assert events_of(old)[-1].kind == "run_finished"
    assert [one.id for one in of_run(new)[1]] == ["1", "2", "3"]
    ends = [bar.end_ms for event in events_of(old) if event.kind == "plan_changed" for bar in event.data["bars"]]
    assert ends[-1] == old.sim_ms, "what runs is drawn to the end of the run"
    epoch = round(new.clock_wall.timestamp() * 1000)
    bars = [bar for event in events_of(new) if event.kind == "plan_changed" for bar in event.data["bars"]]
    assert {bar.start_ms + epoch - EPOCH for bar in bars} == {10 * S, 20 * S}, "with the true starts"
    assert borders.history(new) == {"earlier": [old], "next": None}
    assert borders.history(old) == {"earlier": [], "next": new}


@pytest.mark.django_db
def test_what_has_ended_is_not_reported_again_after_a_restart():
    connection = followed(*POLLS[:2])
    new = crossed(connection)
    for each in POLLS[2:]:
        Run.objects.update(lease_until=None)
        following(connection, each).apply(each)  # a follower that has just begun
    assert [one.id for one in of_run(new)[1]] == ["1", "2", "3"], "4 had ended in the run before"
    assert {name: found[-1] for name, found in codes(new).items()} == {"1": "ended", "2": "ended", "3": "started"}


@pytest.mark.django_db
def test_the_run_of_a_removed_connection_ends_with_open_jobs_unfinished():
    connection = Connection.objects.create(name="lab", connector="slurm")
    one = following(connection, POLLS[0])
    for each in POLLS[:2]:
        one.apply(each)
    connection.refresh_from_db()
    run = connection.run
    connection.health = {"seen_ms": polled(45).at_ms}  # the newest poll found nothing new
    connections.remove(connection)
    with pytest.raises(LeaseLost):
        one.apply(POLLS[2])
    assert not Connection.objects.exists()
    run.refresh_from_db()
    assert (run.status, run.end_ms, run.lease_until) == (Run.FINISHED, run.sim_ms, None)
    epoch = round(run.clock_wall.timestamp() * 1000)
    assert run.end_ms == polled(45).at_ms - epoch, "jobs that ran are drawn to the last time they were seen"
    ends = [bar.end_ms for event in events_of(run) if event.kind == "plan_changed" for bar in event.data["bars"]]
    assert ends[-2:] == [run.end_ms, run.end_ms]
    assert {name: found[-1] for name, found in codes(run).items()} == {
        "1": "still_open", "2": "still_open", "3": "still_open", "4": "ended",
    }  # fmt: skip


@pytest.mark.django_db
def test_a_connection_without_a_run_or_whose_run_has_ended_is_removed():
    connections.remove(Connection.objects.create(name="new", connector="slurm"))
    connection = followed(*POLLS[:2])
    Run.objects.update(status=Run.FAILED, message="disk full")
    connections.remove(connection)
    assert not Connection.objects.exists()
    assert Run.objects.get().message == "disk full"


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("where", ["begin", "_close", "Writer"])
def test_a_follower_that_dies_at_the_border_leaves_the_old_run(monkeypatch, where):
    connection = followed(*POLLS[:2])
    old = connection.run
    before = (Run.objects.count(), MirrorRecord.objects.count(), events_of(old))

    def dies(*_: object, **__: object) -> None:
        raise DatabaseError("killed")

    if where == "_close":  # the next run has begun, the old one is not closed
        monkeypatch.setattr(borders, "_close", dies)
    elif where == "begin":
        monkeypatch.setattr(stored, "begin", dies)
    else:  # the old run is closed, the next one has no jobs yet
        real = borders._close

        def closed_then_dead(*given: object) -> None:
            real(*given)
            monkeypatch.setattr(stored, "Writer", dies)

        monkeypatch.setattr(borders, "_close", closed_then_dead)
    with pytest.raises(DatabaseError):
        crossed(connection)
    monkeypatch.undo()
    old.refresh_from_db()
    connection.refresh_from_db()
    assert (old.status, connection.run) == (Run.RUNNING, old)
    assert (Run.objects.count(), MirrorRecord.objects.count(), events_of(old)) == before
    new = crossed(connection)
    assert [one.id for one in of_run(new)[1]] == ["1", "2", "3"]
    assert [code for found in codes(old).values() for code in found].count("continues") == 3


@pytest.mark.django_db
def test_a_run_is_full_after_a_day_or_many_events(monkeypatch):
    connection = followed(*POLLS[:2])
    run, mirror = connection.run, stored.load(connection)
    border = borders.Border(run, mirror)
    assert not border.reached()
    mirror.log_ms += borders.MAX_MS - 40 * S
    assert border.reached(), "a day after the first poll, though nothing happened"
    mirror.log_ms -= 1
    assert not border.reached()
    recorded = run.last_seq - border.first[1]
    monkeypatch.setattr(borders, "MAX_EVENTS", recorded)
    assert border.reached()
    monkeypatch.setattr(borders, "MAX_EVENTS", recorded + 1)
    assert not border.reached(), "the events of the first poll do not count"
    assert not borders.Border(Run(pk=0), mirror).reached()
    monkeypatch.setattr(borders, "MAX_EVENTS", recorded)
    border = borders.Border(run, mirror)
    assert not border.reached(unconfirmed=True), "the accounting will know some ends in a few seconds"
    mirror.log_ms += borders.MAX_LATE_MS
    assert border.reached(unconfirmed=True)


@pytest.mark.django_db
def test_a_large_first_poll_is_written_in_several_batches_and_none_of_them_counts(monkeypatch):
    whole = events_of(followed(POLLS[0]).run)
    Connection.objects.all().delete()
    monkeypatch.setattr(stored, "MAX_BATCH", 3)
    connection = followed(POLLS[0])
    run = connection.run
    sizes = list(EventBatch.objects.filter(run=run).order_by("first_seq").values_list("first_seq", "last_seq"))
    assert sizes == [(1, 1), *((seq, min(seq + 2, len(whole))) for seq in range(2, len(whole) + 1, 3))]
    assert events_of(run) == whole
    border = borders.Border(run, stored.load(connection))
    assert not border.reached()
    assert border.first == (whole[1].at_ms, len(whole))


@pytest.mark.django_db(transaction=True)
def test_the_follower_crosses_the_border_and_goes_on(monkeypatch):
    """The real loop, with a border after every few events, over a cluster that shows four polls."""
    connection = Connection.objects.create(name="lab", connector="slurm", interval_ms=200)
    stop = threading.Event()
    left = list(POLLS)

    class Cluster(Scripted):
        def snapshot(self, *, nodes: bool = True) -> Snapshot:
            if len(left) == 1:
                stop.set()
            return left.pop(0) if len(left) > 1 else left[0]

        def changes(self):
            return None

    monkeypatch.setattr(follower, "build", lambda *_: Cluster(POLLS[0]))
    monkeypatch.setattr(borders, "MAX_EVENTS", 2)
    thread = follower.Follow(connection.pk, ("lab",), stop)
    monkeypatch.setattr(thread, "_ended", lambda seconds: stop.is_set())
    thread.run()
    runs = list(Run.objects.filter(mode=Run.MIRROR).order_by("pk"))
    assert len(runs) > 1
    connection.refresh_from_db()
    assert connection.run == runs[-1]
    assert [run.status for run in runs] == [Run.FINISHED] * (len(runs) - 1) + [Run.RUNNING]
    assert [run.follows for run in runs] == [None, *runs[:-1]]
    over = [(name, found[-1]) for run in runs for name, found in codes(run).items() if found[-1] == "ended"]
    assert sorted(over) == sorted(set(over)), "every end is in one run"


@pytest.mark.django_db(transaction=True)
def test_an_error_of_the_follower_itself_is_shown(monkeypatch):
    """A fault of the program is no reason to wait for a first poll without a word."""
    connection = Connection.objects.create(name="lab", connector="slurm")
    stop = threading.Event()

    class Cluster(Scripted):
        def snapshot(self, *, nodes: bool = True) -> Snapshot:
            stop.set()
            raise AttributeError("module has no attribute 'snapshot_times'")

    monkeypatch.setattr(follower, "build", lambda *_: Cluster(POLLS[0]))
    thread = follower.Follow(connection.pk, ("lab",), stop)
    thread.run()
    connection.refresh_from_db()
    found = condition(connection)
    assert found.state == "failing"
    assert found.message.startswith("Internal error of the follower (AttributeError: module has no attribute")


@settings(max_examples=cases(100, 15))
@given(MOVES, st.sets(st.integers(0, 40), max_size=4))
def test_every_job_ends_in_one_run_and_the_last_run_knows_what_is_open(moves, cuts):
    whole, chain = Log(), [Mirror(0)]
    polls = polls_of(moves)
    for place, each in enumerate(polls):
        whole.apply(each)
        if place == 0:
            chain[-1] = Mirror(epoch_of(each))
        chain[-1].apply(each)
        if place in cuts:
            chain.append(successor(chain[-1]))
    if not polls:
        return
    over = [
        (known.fact.key, known.fact.submitted_ms)
        for mirror in chain
        for known in mirror.jobs
        if known.fact.state == ENDED
    ]
    assert len(over) == len(set(over))
    mirror = whole.mirror
    assert set(over) == {(one.fact.key, one.fact.submitted_ms) for one in mirror.jobs if one.fact.state == ENDED}
    assert _open(chain[-1]) == _open(mirror)
    assert {name: node.fact for name, node in chain[-1].nodes.items()} == {
        name: node.fact for name, node in mirror.nodes.items()
    }


def successor(mirror: Mirror) -> Mirror:
    """The mirror of the next run, as `cross` begins it and `load` finds it."""
    snapshot = borders._as_seen(mirror)
    called = {known.fact.key: known.name for known in borders._open(mirror)}
    past = stored._past(known.fact for known in mirror.jobs)
    fresh = Mirror(epoch_of(snapshot), called=dict(called), past=past, since_ms=mirror.at_ms)
    fresh.apply(snapshot)
    assert {known.name for known in fresh.jobs} == set(called.values())
    return fresh


def _open(mirror: Mirror):
    return {
        (known.name.partition("~")[0], known.fact.submitted_ms, known.fact.state, known.fact.restarts, known.attempts)
        for known in (mirror.jobs[index] for index in mirror.open)
    }


@pytest.mark.django_db
def test_a_node_that_is_down_stays_down_and_a_key_that_is_used_again_keeps_its_name():
    down = replace(NODES[0], state=DOWN)
    again = job("1", submitted_ms=polled(50).at_ms)
    connection = followed(polled(0, ONE), polled(60, ended(ONE, 40), again, nodes=(down, NODES[1])))
    new = crossed(connection)
    cluster, jobs = of_run(new)
    assert [one.id for one in jobs] == ["1~2"]
    first_ms = stored.first_ms(new)
    assert [server.is_away(first_ms) for server in cluster.servers] == [True, False]
