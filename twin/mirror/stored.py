"""A mirror in the database: its run, its log, and a record of each job and node, to go on from after a restart."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from itertools import islice

import msgspec
from django.db import transaction
from django.db.models import QuerySet

from scheduling.kernel.parameters import parse_declared
from scheduling.model.values import Cluster, Demand, Event
from scheduling.observed.scheduler import ObservedScheduler
from twin.connectors.facts import ENDED, Attempt, JobFact, NodeFact, ReservationFact, Snapshot
from twin.eventlog import event_log
from twin.eventlog.additions import SLOT_MS
from twin.files.job_table import JobTable
from twin.files.packed_jobs import pack_jobs
from twin.infra import pubsub
from twin.mirror.as_values import EventData
from twin.mirror.differ import Mirror, epoch_of
from twin.mirror.jobs.attempts import are_uncertain
from twin.mirror.jobs.known import KnownJob
from twin.mirror.nodes.known import KnownNode
from twin.mirror.nodes.reservations import KnownReservation
from twin.mirror.nodes.sites import SiteRule
from twin.models import ClusterSpec, Connection, EventBatch, MirrorRecord, Run, Scenario, Trace

JOB, NODE, RESERVATION, PASSES = MirrorRecord.JOB, MirrorRecord.NODE, MirrorRecord.RESERVATION, MirrorRecord.PASSES
RECORDS = 500  # that are in memory at a time
MAX_BATCH = 2_000  # events; the first poll of a large cluster has more, and their encoding takes memory


@dataclass(slots=True)
class JobRecord:
    name: str
    fact: JobFact
    attempts: tuple[Attempt, ...]


@dataclass(slots=True)
class NodeRecord:
    fact: NodeFact
    away: tuple[tuple[int, int], ...]
    site: str = ""  # of records that were written before it was stored
    was: tuple[tuple[int, Demand], ...] = ()  # likewise


@dataclass(slots=True)
class ReservationRecord:
    fact: ReservationFact
    over: bool


_encoder = msgspec.msgpack.Encoder()
_jobs, _nodes = msgspec.msgpack.Decoder(JobRecord), msgspec.msgpack.Decoder(NodeRecord)
_reservations, _passes = msgspec.msgpack.Decoder(ReservationRecord), msgspec.msgpack.Decoder(list[int])


def sites_of(connection: Connection) -> SiteRule:
    return parse_declared("sites", SiteRule, connection.sites)


@transaction.atomic
def begin(connection: Connection, first: Snapshot) -> tuple[Run, Mirror]:
    """A new run of the connection, with its first event; the run before, if any, is over."""
    name = connection.name
    cluster = {"name": name, "slot_ms": SLOT_MS, "horizon_slots": None, "cloud": {"unlimited": True}, "servers": []}
    team = connection.team_id
    spec = ClusterSpec.objects.create(
        name=name, source=f"live cluster, connector {connection.connector}", spec=cluster, team_id=team
    )
    trace = Trace.objects.create(
        name=name, format="mirror", status=Trace.READY, progress=1, jobs=pack_jobs([JobTable.of([])]), team_id=team,
        report={"rows": 0, "imported": 0, "skipped": [], "provenance": {}},
    )  # fmt: skip
    scenario = Scenario.objects.create(name=name, cluster=spec, trace=trace, scheduler=ObservedScheduler.name)
    epoch_ms = epoch_of(first)
    began = datetime.fromtimestamp(epoch_ms / 1000, UTC)
    run = Run.objects.create(
        scenario=scenario, mode=Run.MIRROR, status=Run.RUNNING, clock_sim_ms=0, clock_wall=began, clock_speed=1,
        started_at=began, created_by=connection.created_by,
    )  # fmt: skip
    empty = Cluster(name=name, slot_ms=SLOT_MS, servers=(), unlimited_cloud=True)
    started = {
        "scheduler": ObservedScheduler.name, "parameters": {}, "seed": 0, "jobs": 0, "servers": 0, "slot_ms": SLOT_MS,
        "horizon_slots": None, "execution": ObservedScheduler().execution_on(empty),
    }  # fmt: skip
    event_log.append(run.pk, run.epoch, [Event(1, 0, "run_started", started)])
    connection.run = run
    connection.save(update_fields=["run"])
    run.refresh_from_db()
    return run, Mirror(epoch_ms, sites_of(connection))


def load(connection: Connection) -> Mirror:
    """The mirror as the records say, which are written in one transaction with the log."""
    run = connection.run
    assert run is not None
    mirror = load_run(run, sites_of(connection))
    if run.follows is not None:
        mirror.past = _past(_facts(run.follows))
        mirror.since_ms = mirror.epoch_ms + first_ms(run)
    return mirror


def nodes_of(connection: Connection) -> list[NodeFact]:
    """The nodes that the run of the connection knows; none before its first poll."""
    records = MirrorRecord.objects.filter(run=connection.run_id or 0, kind=NODE).order_by("index")
    return [_nodes.decode(bytes(payload)).fact for payload in records.values_list("payload", flat=True)]


def reservations_of(connection: Connection) -> list[ReservationFact]:
    """The reservations that the cluster shows, present and future ones."""
    records = MirrorRecord.objects.filter(run=connection.run_id or 0, kind=RESERVATION).order_by("index")
    known = [_reservations.decode(bytes(payload)) for payload in records.values_list("payload", flat=True)]
    return [record.fact for record in known if not record.over]


def open_jobs(run: Run) -> list[tuple[int, JobFact]]:
    """(index, fact with all its attempts) of the jobs that have not ended, as the records say."""
    return _with_attempts(MirrorRecord.objects.filter(run=run, kind=JOB, is_open=True))


def changed_jobs(run_id: int, seq: int) -> Iterator[tuple[int, int, JobFact]]:
    """(seq, index, fact with all its attempts) of the jobs that have changed since event seq, in their order."""
    records = MirrorRecord.objects.filter(run=run_id, kind=JOB, seq__gt=seq).order_by("seq", "index")
    for at, index, payload in records.values_list("seq", "index", "payload").iterator(chunk_size=RECORDS):
        record = _jobs.decode(bytes(payload))
        yield at, index, replace(record.fact, attempts=record.attempts)


def _with_attempts(records: QuerySet[MirrorRecord]) -> list[tuple[int, JobFact]]:
    found = []
    for index, payload in records.order_by("index").values_list("index", "payload"):
        record = _jobs.decode(bytes(payload))
        found.append((index, replace(record.fact, attempts=record.attempts)))
    return found


def _past(facts: Iterable[JobFact]) -> dict[tuple[str, int], int]:
    """{(key, a submit time): restarts} of the jobs that have ended."""
    return {
        (fact.key, submitted_ms): fact.restarts
        for fact in facts
        if fact.state == ENDED
        for submitted_ms in fact.submit_times
    }


def first_ms(run: Run) -> int:
    """The time of the first poll in ms of the log, after the event that begins the run; 0 before it."""
    batches = EventBatch.objects.filter(run=run).order_by("first_seq").values_list("first_ms", flat=True)
    return next(iter(batches[1:2]), 0)


def _facts(run: Run) -> Iterator[JobFact]:
    """The newest fact of each job, one after the other: a whole mirror would take much memory."""
    records = MirrorRecord.objects.filter(run=run, kind=JOB).values_list("payload", flat=True)
    for payload in records.iterator(chunk_size=RECORDS):
        yield _jobs.decode(bytes(payload)).fact


def load_run(run: Run, sites: SiteRule | None = None) -> Mirror:
    """The mirror of any mirrored run."""
    assert run.epoch_ms is not None
    mirror = Mirror(run.epoch_ms, sites or SiteRule(), log_ms=run.sim_ms, at_ms=run.epoch_ms + run.sim_ms)
    records = MirrorRecord.objects.filter(run=run).order_by("index").values_list("kind", "index", "payload")
    for kind, index, payload in records.iterator(chunk_size=RECORDS):
        if kind == JOB:
            record = _jobs.decode(bytes(payload))
            mirror.jobs.append(KnownJob(index, record.name, record.fact, record.attempts, mirror.at_ms))
            mirror.newest[record.fact.key] = index
            mirror.names.add(record.name)
            if record.fact.state != ENDED:
                mirror.open.add(index)
            if are_uncertain(record.fact, record.attempts):
                mirror.uncertain.add(index)
        elif kind == RESERVATION:
            reservation = _reservations.decode(bytes(payload))
            mirror.reservations.known.append(KnownReservation(index, reservation.fact, reservation.over))
        elif kind == PASSES:
            mirror.passes.parts[index] = _passes.decode(bytes(payload))
        else:
            node = _nodes.decode(bytes(payload))
            mirror.nodes[node.fact.name] = KnownNode(index, node.fact, node.away, node.site, node.was)
    return mirror


class Writer:
    """Writer of events and the records behind them, in one transaction, under the run's epoch; LeaseLost otherwise."""

    def __init__(self, run: Run, mirror: Mirror) -> None:
        self.run, self.mirror, self.seq = run, mirror, 0

    def __call__(self, changes: list[EventData], log_ms: int) -> None:
        run = self.run
        events = [
            Event(run.last_seq + place, log_ms, kind, data) for place, (kind, data) in enumerate(changes, start=1)
        ]
        self.seq = events[-1].seq
        mirror = self.mirror
        records = self._records(
            *mirror.take_changed(), mirror.reservations.take_changed(), mirror.passes.take_changed()
        )
        with transaction.atomic():
            written = [
                event_log.append(run.pk, run.epoch, events[first : first + MAX_BATCH])
                for first in range(0, len(events), MAX_BATCH)
            ]
            while some := list(islice(records, RECORDS)):
                MirrorRecord.objects.bulk_create(
                    some,
                    update_conflicts=True,
                    unique_fields=["run", "kind", "index"],
                    update_fields=["payload", "seq", "is_open"],
                )
        run.last_seq, run.sim_ms = events[-1].seq, log_ms
        for payload in filter(None, written):
            pubsub.publish(pubsub.run_channel(run.pk), payload)

    def _records(
        self,
        jobs: Sequence[KnownJob],
        nodes: Sequence[KnownNode],
        reservations: Sequence[KnownReservation],
        passes: Sequence[tuple[int, list[int]]],
    ) -> Iterator[MirrorRecord]:
        for job in jobs:
            record = self._record(JOB, job.index, JobRecord(job.name, job.fact, job.attempts))
            record.is_open = job.fact.state != ENDED
            yield record
        for node in nodes:
            yield self._record(NODE, node.index, NodeRecord(node.fact, node.away, node.site, node.was))
        for known in reservations:
            yield self._record(RESERVATION, known.index, ReservationRecord(known.fact, known.over))
        for part, moments in passes:
            yield self._record(PASSES, part, moments)

    def _record(
        self, kind: str, index: int, value: JobRecord | NodeRecord | ReservationRecord | list[int]
    ) -> MirrorRecord:
        return MirrorRecord(run=self.run, kind=kind, index=index, payload=_encoder.encode(value), seq=self.seq)
