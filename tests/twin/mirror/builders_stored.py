"""Followers of polls that are written down, with and without a database, and the files of a mirror."""

from __future__ import annotations

from scheduling.observed.scheduler import ObservedScheduler
from scheduling.reporting.metrics import summarize
from tests.twin.mirror.builders import EPOCH, NODES, S, Scripted, at, ended, job, polled, running
from twin.connectors.facts import Snapshot
from twin.files.outputs import OutputWriter
from twin.management.commands.verify import problems_of
from twin.mirror import stored
from twin.mirror.differ import Mirror
from twin.mirror.following import Following
from twin.mirror.history import history_of
from twin.models import Connection, Run
from twin.runs import lease

POLLS = (
    polled(3_601, running("1", 3_600, gpu_ids=(0, 1)), job("2", submitted_ms=EPOCH + 3_500 * S, reason="Resources")),
    polled(3_610, running("1", 3_600, gpu_ids=(0, 1)), running("2", 3_605, submitted_ms=EPOCH + 3_500 * S)),
    polled(
        3_620,
        ended(running("1", 3_600, gpu_ids=(0, 1)), 3_615),
        running("2", 3_605, submitted_ms=EPOCH + 3_500 * S),
        nodes=NODES[:1],
    ),
    polled(3_700, running("2", 3_605, submitted_ms=EPOCH + 3_500 * S)),
)


def recorded(*polls: Snapshot) -> Run:
    """The run of a connection whose follower was restarted after each of these polls."""
    connection = Connection.objects.create(name="lab", connector="slurm")
    for each in polls:
        Run.objects.update(lease_until=None)
        following(connection, each).apply(each)
    connection.refresh_from_db()
    assert connection.run is not None
    return connection.run


def log_ms(run: Run, second: int) -> int:
    """Time of the log of a run, in ms, at a second of the polls."""
    return at(second) - stored.load_run(run).epoch_ms


def following(connection: Connection, *polls: Snapshot) -> Following:
    """A follower that begins now."""
    connection.refresh_from_db()
    if connection.run is None:
        stored.begin(connection, polls[0])
    run = lease.take(connection.run.pk, simulated=False)
    assert run is not None
    mirror = stored.load(connection)
    return Following(Scripted(*polls), mirror, stored.Writer(run, mirror), stopped=lambda seconds: True)


def follow(connector: Scripted, polls: int):
    """Follows for so many waits; (following, events, the waits in seconds)."""
    events, waits = [], []

    def stopped(seconds: float) -> bool:
        if seconds:
            waits.append(seconds)
        return len(waits) >= polls

    following = Following(
        connector,
        Mirror(EPOCH),
        lambda batch, log_ms: events.extend((log_ms, *each) for each in batch),
        stopped=stopped,
    )
    following.run()
    return following, events, waits


def write(mirror: Mirror, folder) -> list[str]:
    """Writes the files; the problems that the verifier finds in them."""
    cluster, jobs, events = history_of(mirror, "lab")
    writer = OutputWriter(folder, cluster, jobs)
    metrics = summarize(writer.passing(events), cluster, jobs)
    scheduler = ObservedScheduler()
    writer.finish({
        "scheduler": scheduler.name, "parameters": {}, "seed": 0, "execution": scheduler.execution_on(cluster),
        "metrics": metrics, "certificate": None, "decision_ms": None, "wall_s": 0.0,
    })  # fmt: skip
    return problems_of(folder)
