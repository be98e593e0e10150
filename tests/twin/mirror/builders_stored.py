"""A connection in the database that is followed by looks that are written down."""

from __future__ import annotations

from tests.twin.mirror.builders import EPOCH, NODES, S, Scripted, ended, job, look, running
from twin.connectors.facts import Snapshot
from twin.mirror import stored
from twin.mirror.following import Following
from twin.models import Connection
from twin.runs import lease

LOOKS = (
    look(3_601, running("1", 3_600, gpu_ids=(0, 1)), job("2", submitted_ms=EPOCH + 3_500 * S, reason="Resources")),
    look(3_610, running("1", 3_600, gpu_ids=(0, 1)), running("2", 3_605, submitted_ms=EPOCH + 3_500 * S)),
    look(
        3_620,
        ended(running("1", 3_600, gpu_ids=(0, 1)), 3_615),
        running("2", 3_605, submitted_ms=EPOCH + 3_500 * S),
        nodes=NODES[:1],
    ),
    look(3_700, running("2", 3_605, submitted_ms=EPOCH + 3_500 * S)),
)


def following(connection: Connection, *looks: Snapshot) -> Following:
    """A follower that begins now."""
    connection.refresh_from_db()
    if connection.run is None:
        stored.begin(connection, looks[0])
    run = lease.take(connection.run.pk, mirror=True)
    assert run is not None
    mirror = stored.load(connection)
    return Following(Scripted(*looks), mirror, stored.Writer(run, mirror), stopped=lambda seconds: True)
