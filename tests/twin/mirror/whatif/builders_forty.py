"""Forty minutes of a small cluster, in the database."""

from __future__ import annotations

from tests.twin.mirror.builders import EPOCH, NODES, S, ended, job, polled, running
from tests.twin.mirror.builders_stored import following
from twin.connectors.facts import Snapshot
from twin.models import Connection, Run

MINUTE = 60 * S
ONE, TWO = {"gpu_ids": (0, 1), "limit_ms": 30 * MINUTE}, {"limit_ms": 20 * MINUTE}


def polls() -> tuple[Snapshot, ...]:
    """40 minutes: `1` runs to 25, `2` from 10 on; `3` waits, held at 12; `4` comes at 30; cloud1 is down from 20 on."""
    down = (NODES[0],)
    one, two, three = running("1", 0, **ONE), running("2", 600, node="cloud1", **TWO), job("3", limit_ms=5 * MINUTE)
    four = job("4", submitted_ms=EPOCH + 1_800 * S, limit_ms=10 * MINUTE)
    held = job("3", state="held", limit_ms=5 * MINUTE)
    return (
        polled(0, one, job("2", **TWO), three),
        polled(610, one, two, three),
        polled(720, one, two, held),
        polled(900, one, two, three),
        polled(1_200, one, two, three, nodes=down),
        polled(1_810, ended(one, 1_500), two, three, four, nodes=down),
        polled(2_400, two, three, four, nodes=down),
    )


def mirrored_run(name: str = "lab") -> Run:
    """A run of a connection of that name, which is followed no further."""
    connection = Connection.objects.create(name=name, connector="slurm")
    one = following(connection, polls()[0])
    for each in polls():
        one.apply(each)
    connection.run.refresh_from_db()
    return connection.run


def at(run: Run, second: int) -> int:
    """A time of the polls in the log of the run."""
    return EPOCH + second * S - round(run.clock_wall.timestamp() * 1000)
