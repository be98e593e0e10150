"""History of a mirrored cluster in its own time: every event at the time at which it happened.

The log of a mirror is ordered by the time of observation, and repeats a job's bars whenever more is known. This is
the same history with everything that is known in the end, in the form that `simulate` writes and `verify` rechecks.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from typing import Any

from scheduling.kernel.plan_scopes import OF_JOBS
from scheduling.model.bars import NONE, Placement
from scheduling.model.held import size_at
from scheduling.model.values import ZERO, Cluster, Demand, Event, Job, ModelError, Server
from scheduling.observed.scheduler import ObservedScheduler
from twin.connectors.facts import ENDED, Attempt
from twin.mirror.as_values import bars_of, job_of, server_of
from twin.mirror.differ import Mirror
from twin.mirror.jobs.known import KnownJob
from twin.mirror.nodes.known import KnownNode

SLOT_MS = 60_000  # of the files; nothing of a real cluster is in slots
# At one instant: what ends, then servers, then arrivals, then what starts.
_ENDS, _SERVERS, _ARRIVES, _STARTS = range(4)


def history_of(mirror: Mirror, name: str) -> tuple[Cluster, list[Job], Iterator[Event]]:
    """(cluster, jobs, events) up to the newest poll; ModelError where the cluster has reported no nodes.

    Jobs that ended before the log begins are left out: nothing of them is known to have happened in it.
    """
    if not mirror.nodes:
        raise ModelError(f"cluster {name} has reported no nodes so far; check that its account may see them")
    until_ms = mirror.log_ms
    known = sorted(
        (job for job in mirror.jobs if not _before(job, mirror)), key=lambda job: (_arrival_ms(job, mirror), job.index)
    )
    indices = {name: node.index for name, node in mirror.nodes.items()}
    jobs: list[Job] = []
    steps: list[_Step] = []
    busy: dict[int, list[tuple[int, int]]] = {}
    holds: dict[int, list[_Hold]] = {}
    for index, job in enumerate(known):
        arrival_ms = _arrival_ms(job, mirror)
        jobs.append(job_of(job.name, replace(job.fact, attempts=job.attempts), arrival_ms, mirror.epoch_ms))
        bars = [
            _within(bars_of(index, job.fact, [attempt], indices, mirror.epoch_ms), until_ms) for attempt in job.attempts
        ]
        for bar in (bar for own in bars for bar in own):
            busy.setdefault(bar.server, []).append((bar.start_ms, bar.end_ms))
            worker = size_at(jobs[-1], bar.start_ms).worker or ZERO
            holds.setdefault(bar.server, []).append((bar.start_ms, bar.end_ms, bar.count, worker))
        steps += _steps(index, job, arrival_ms, bars, mirror)
    nodes = sorted(mirror.nodes.values(), key=lambda node: node.index)
    servers = tuple(
        server_of(
            node.fact,
            node.site or mirror.sites.site(node.fact),
            idle_only(node.away, sorted(busy.get(node.index, ())), until_ms),
        )
        for node in nodes
    )
    cluster = Cluster(name=name, slot_ms=SLOT_MS, servers=servers)
    steps += _outages(servers, until_ms)
    steps += _resizes(nodes, servers, holds)
    steps.sort(key=lambda step: step[:2])  # stable: a job's own steps stay in order
    return cluster, jobs, _events(cluster, jobs, steps, until_ms)


def with_all_outages(cluster: Cluster, mirror: Mirror) -> Cluster:
    """The cluster of the history with its nodes unavailable as the polls have seen it, also while jobs were on them."""
    away = {node.index: node.away for node in mirror.nodes.values()}
    servers = tuple(replace(server, away=away[index]) for index, server in enumerate(cluster.servers))
    return replace(cluster, servers=servers)


_Step = tuple[int, int, str, dict[str, Any]]  # at_ms, order at one instant, kind, data
_Hold = tuple[int, int, int, Demand]  # start_ms, end_ms, count, what each holds


def _before(job: KnownJob, mirror: Mirror) -> bool:
    """True if the job ended before the log begins."""
    return job.fact.state == ENDED and job.ended_ms is not None and job.ended_ms <= mirror.epoch_ms


def _arrival_ms(job: KnownJob, mirror: Mirror) -> int:
    """A job with a new submit time after its first start arrived by that start."""
    first = min((attempt.started_ms for attempt in job.attempts), default=job.fact.submitted_ms)
    return min(mirror.log_ms, max(0, min(job.fact.submitted_ms, first) - mirror.epoch_ms))


def _within(bars: list[Placement], until_ms: int) -> list[Placement]:
    return [bar._replace(end_ms=min(bar.end_ms, until_ms)) for bar in bars if bar.start_ms < until_ms]


def _steps(index: int, job: KnownJob, arrival_ms: int, bars: list[list[Placement]], mirror: Mirror) -> Iterator[_Step]:
    yield arrival_ms, _ARRIVES, "job_arrived", {"job": index}
    first_ms, last_ms = NONE, arrival_ms
    ran = [(attempt, own) for attempt, own in zip(job.attempts, bars, strict=True) if own]
    for number, (attempt, own) in enumerate(ran):
        start_ms, end_ms = min(bar.start_ms for bar in own), max(bar.end_ms for bar in own)
        first_ms = start_ms if first_ms == NONE else first_ms
        final = number + 1 == len(ran) and job.fact.state == ENDED and attempt.ended_ms is not None
        values: dict[str, Any] = {"waited_ms": start_ms - last_ms}
        yield start_ms, _STARTS, "decided", {"job": index, "kind": "started", "code": "started", "values": values}
        triple = [index, first_ms, end_ms if final else NONE]
        yield start_ms, _STARTS, "plan_changed", {"scope": OF_JOBS.name, "keys": [index], "jobs": [triple], "bars": own}
        if final:
            values = {"outcome": job.fact.outcome, "reason": job.fact.reason}
            over_ms = min(mirror.log_ms, max(end_ms, (job.ended_ms or 0) - mirror.epoch_ms))
            yield over_ms, _ENDS, "decided", _decided(index, "ended", "ended", values)
            yield over_ms, _ENDS, "job_completed", {"job": index, "utility": 0.0}
        elif number + 1 < len(ran) or _over(attempt, mirror):
            yield end_ms, _ENDS, "decided", _decided(index, "requeued", "requeued", {"restarts": number + 1})
        last_ms = end_ms
    if not ran and job.fact.state == ENDED:
        ended_ms = (job.fact.ended_ms or mirror.at_ms) - mirror.epoch_ms
        values = {"outcome": job.fact.outcome, "reason": job.fact.reason}
        yield (
            max(arrival_ms, min(ended_ms, mirror.log_ms)),
            _STARTS,
            "decided",
            _decided(index, "rejected", "withdrawn", values),
        )
    elif job.fact.state != ENDED or not ran:
        yield mirror.log_ms, _STARTS + 1, "decided", _decided(index, "unfinished", "still_open", {"attempts": len(ran)})


def _over(attempt: Attempt, mirror: Mirror) -> bool:
    return attempt.ended_ms is not None and attempt.ended_ms - mirror.epoch_ms < mirror.log_ms


def _decided(job: int, kind: str, code: str, values: dict[str, Any]) -> dict[str, Any]:
    return {
        "job": job,
        "kind": kind,
        "code": code,
        "values": {key: value for key, value in values.items() if value != ""},
    }


def idle_only(
    away: tuple[tuple[int, int], ...], busy: list[tuple[int, int]], until_ms: int
) -> tuple[tuple[int, int], ...]:
    """The intervals in which a node was seen unavailable, without those of its work: a poll reports both later."""
    out = []
    for begin, end in away:
        for start_ms, end_ms in busy:
            if end_ms <= begin or start_ms >= end:
                continue
            if start_ms > begin:
                out.append((begin, start_ms))
            begin = max(begin, end_ms)
        if begin < min(end, until_ms):
            out.append((begin, end))
    kept: list[tuple[int, int]] = []
    for begin, end in out:
        if begin < end and (not kept or begin > kept[-1][1]):
            kept.append((begin, end))
    return tuple(kept)


def _outages(servers: tuple[Server, ...], until_ms: int) -> Iterator[_Step]:
    for index, server in enumerate(servers):
        for begin, end in server.away:
            yield begin, _SERVERS, "server_changed", {"server": index, "away": True}
            if end <= until_ms:
                yield end, _SERVERS, "server_changed", {"server": index, "away": False}


def _resizes(
    nodes: Sequence[KnownNode], servers: Sequence[Server], holds: Mapping[int, Sequence[_Hold]]
) -> Iterator[_Step]:
    """Changes of the capacity; each event states the one that it ends."""
    for node, server in zip(nodes, servers, strict=True):
        capacities = [*(capacity for _, capacity in node.was), server.capacity]
        before_ms = -1
        for (seen_ms, was), capacity in zip(node.was, capacities[1:], strict=True):
            at_ms = before_ms = _needed_ms(holds.get(node.index, ()), was, before_ms, seen_ms)
            fields = asdict(replace(server, capacity=capacity))
            yield at_ms, _SERVERS, "server_set", {"server": node.index, "fields": fields, "was": was}


def _needed_ms(holds: Sequence[_Hold], was: Demand, from_ms: int, seen_ms: int) -> int:
    """Time of a change: the first start in the interval of what did not fit before it, as a poll reports both later."""
    for start_ms in sorted({start_ms for start_ms, *_ in holds if from_ms < start_ms < seen_ms}):
        now = [(count, each) for begin, end, count, each in holds if begin <= start_ms < end]
        if any(sum(count * each[r] for count, each in now) > amount for r, amount in enumerate(was)):
            return start_ms
    return seen_ms


def _events(cluster: Cluster, jobs: list[Job], steps: list[_Step], until_ms: int) -> Iterator[Event]:
    started = {
        "scheduler": ObservedScheduler.name, "parameters": {}, "seed": 0, "jobs": len(jobs),
        "servers": len(cluster.servers), "slot_ms": cluster.slot_ms, "horizon_slots": cluster.horizon_slots,
        "execution": ObservedScheduler().execution_on(cluster),
    }  # fmt: skip
    yield Event(1, 0, "run_started", started)
    for seq, (at_ms, _, kind, data) in enumerate(steps, start=2):
        yield Event(seq, at_ms, kind, data)
    yield Event(len(steps) + 2, until_ms, "run_finished", {})
