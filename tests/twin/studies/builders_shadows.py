"""An hour of a busy cluster in the database, and sets of shadows that are computed without a worker."""

from __future__ import annotations

from dataclasses import replace
from itertools import islice
from pathlib import Path

import pytest

from scheduling.kernel.registry import scheduler_class
from tests.twin.mirror.builders import EPOCH, S, ended, job, polled, running
from tests.twin.mirror.builders_stored import following
from twin.connectors.base import build
from twin.connectors.facts import Snapshot
from twin.connectors.facts_json import dumps
from twin.models import Connection, ShadowSet
from twin.studies.shadows import sets, task

MINUTE = 60 * S
RUN_S, EVERY_S, JOBS = 600, 120, 24
END_S = 3_600


def poll(second: int, jobs: int = JOBS) -> Snapshot:
    """The cluster as a poll shows it at that second."""
    free = [0, 0, 0, 0]  # when each half of a node is free, in s
    facts = []
    for number in range(jobs):
        arrival = number * EVERY_S
        slot = min(range(4), key=lambda place: (free[place], place))
        start = max(arrival, free[slot]) + 2  # the cluster takes two seconds
        free[slot] = start + RUN_S
        given = {"submitted_ms": EPOCH + arrival * S, "user": f"u{number % 3}", "limit_ms": 60 * MINUTE}
        runs = {"node": ("edge1", "cloud1")[slot // 2], **given}
        if free[slot] <= second:
            facts.append(ended(running(f"{number}", start, **runs), free[slot]))
        elif start < second:
            facts.append(running(f"{number}", start, **runs))
        elif arrival < second:
            facts.append(job(f"{number}", **given))
    return polled(second, *facts)


def busy_cluster(name: str = "lab", jobs: int = JOBS) -> Connection:
    """Jobs of 2 GPUs and 10 minutes, one each 2 minutes; two nodes of 4 GPUs take them in their order."""
    connection = Connection.objects.create(name=name, connector="slurm")
    one = following(connection, polled(0))
    for each in (polled(0), poll(END_S, jobs)):
        one.apply(each)
    return seen(connection)


def busy_cluster_with_passes(interval_s: int, first_s: int) -> Connection:
    """The same, polled every 15 s: each poll shows the last backfill pass."""
    connection = Connection.objects.create(name="lab", connector="slurm")
    one = following(connection, polled(0))
    for second in range(0, END_S + 1, 15):
        last = (second - first_s) // interval_s * interval_s + first_s
        one.apply(replace(poll(second), backfilled_ms=EPOCH + last * S if last >= first_s else None))
    return seen(connection)


def replayed(path: Path, name: str = "lab") -> Connection:
    """The same cluster, polled each minute, as its recording plays it."""
    path.write_bytes(b"".join(dumps(poll(second)) + b"\n" for second in range(0, END_S + 1, 60)))
    connection = Connection.objects.create(name=name, connector="replay", parameters={"path": str(path), "speed": 0})
    connector = build("replay", connection.parameters)
    first = connector.snapshot()
    one = following(connection, first)
    for each in (first, *islice(connector.changes() or (), END_S // 60)):
        one.apply(each)
    connector.close()
    return seen(connection)


def seen(connection: Connection) -> Connection:
    """The connection, whose cluster was last seen at the end of the hour."""
    Connection.objects.filter(pk=connection.pk).update(health={"seen_ms": polled(END_S).at_ms})
    connection.refresh_from_db()
    return connection


def only(monkeypatch: pytest.MonkeyPatch, *names: str) -> None:
    """Sets have shadows of these schedulers alone: the others take seconds, and a test may not look at them."""
    monkeypatch.setattr("twin.studies.shadows.entrants.schedulers", lambda: {n: scheduler_class(n) for n in names})


def computed(connection: Connection, **asked) -> ShadowSet:
    """A set after workers have computed all of it, in this process."""
    of = sets.request(connection, **asked)
    task.prepare(of.pk)
    for shadow in of.shadows.all():
        task.compute(shadow.pk)
    of.refresh_from_db()
    if of.status in ShadowSet.ACTIVE:
        sets.end(of, ShadowSet.FINISHED)
    return of
