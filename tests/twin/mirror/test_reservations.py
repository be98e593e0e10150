"""Reservations of a mirrored cluster: each is stated once, again when it changes, and keeps its past."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.twin.mirror.builders import EPOCH, NODES, S, at, polled
from tests.twin.mirror.builders_stored import following
from twin.connectors.facts import ReservationFact
from twin.eventlog import event_log, fold
from twin.mirror import borders, stored
from twin.mirror.differ import Mirror
from twin.models import Connection, Run
from twin.runs import lease

COOLING = ReservationFact("cooling", at(100), at(200), (NODES[0].name, NODES[1].name), True)
COURSE = ReservationFact("course", at(50), at(80), (NODES[1].name, "unknown"), False, "ann")


def seen(seconds, *facts):
    return replace(polled(seconds), reservations=facts)


def stated(mirror, *polls):
    """[number, from, until in s] of each statement."""
    events = [event for each in polls for event in mirror.apply(each)]
    return [
        [data["reservation"], data["from_ms"] / S, data["until_ms"] / S]
        for kind, data in events if kind == "reserved"
    ]  # fmt: skip


def test_a_reservation_is_stated_once_with_the_servers_that_the_log_has():
    mirror = Mirror(EPOCH)
    events = [
        event
        for each in (seen(1, COURSE, COOLING), seen(2, COOLING, COURSE), polled(3))
        for event in mirror.apply(each)
    ]
    first, second = [data for kind, data in events if kind == "reserved"]
    assert first == {
        "reservation": 0, "name": "course", "from_ms": 50 * S, "until_ms": 80 * S, "servers": [1],
        "maintenance": False, "holders": "ann",
    }  # fmt: skip
    assert (second["servers"], second["maintenance"]) == ([0, 1], True)


def test_one_that_is_moved_before_its_start_is_the_same_one():
    moved = replace(COOLING, from_ms=at(300), until_ms=at(400))
    assert stated(Mirror(EPOCH), seen(1, COOLING), seen(2, moved)) == [[0, 100, 200], [0, 300, 400]]


def test_a_daily_one_keeps_its_past_when_its_start_moves():
    tomorrow = replace(COOLING, from_ms=at(86_500), until_ms=at(86_600))
    assert stated(Mirror(EPOCH), seen(1, COOLING), seen(201, tomorrow)) == [
        [0, 100, 200], [0, 100, 200], [1, 86_500, 86_600],
    ]  # fmt: skip


def test_one_that_is_deleted_ends_then_or_is_withdrawn_before_its_start():
    assert stated(Mirror(EPOCH), seen(1, COOLING, COURSE), seen(60)) == [
        [0, 100, 200], [1, 50, 80], [0, 100, 100], [1, 50, 60],
    ]  # fmt: skip
    again = replace(COURSE, from_ms=at(500), until_ms=at(600))
    assert stated(Mirror(EPOCH), seen(1, COURSE), seen(60), seen(70, again))[-1] == [1, 500, 600]


def test_a_poll_that_did_not_ask_changes_nothing():
    assert stated(Mirror(EPOCH), seen(1, COOLING), polled(2), seen(3, COOLING)) == [[0, 100, 200]]


@pytest.mark.django_db
def test_they_go_on_after_a_restart_and_in_the_next_run_and_are_folded():
    connection = Connection.objects.create(name="lab", connector="slurm")
    following(connection, seen(1, COOLING, COURSE)).apply(seen(1, COOLING, COURSE))
    Run.objects.update(lease_until=None)
    following(connection, seen(60, COOLING)).apply(seen(60, COOLING))
    connection.refresh_from_db()
    run = connection.run
    rows = folded(run).reservations
    zero_ms = round(run.clock_wall.timestamp() * 1_000) - EPOCH
    spans = [[row[0], row[2], *((ms + zero_ms) / S for ms in row[3:5])] for row in rows]
    assert spans == [[0, fold.NEVER, 100, 200], [1, rows[2][1], 50, 80], [1, fold.NEVER, 50, 60]]
    Run.objects.update(lease_until=None)
    new = borders.cross(connection, lease.take(run.pk, simulated=False), stored.load(connection))
    assert [row[5] for row in folded(new).reservations] == ["cooling"]


def folded(run):
    return fold.RunState().feed(event for batch in event_log.after(run.pk, 0) for event in batch)
