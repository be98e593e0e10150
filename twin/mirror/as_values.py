"""Facts of a real cluster as the twin's values: nodes as servers, jobs as jobs, and what a job holds as bars."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import zip_longest
from typing import Any

from scheduling.model.bars import NONE, Placement, Role
from scheduling.model.limits import MAX_INT
from scheduling.model.values import Demand, EarlierSize, Job, Server
from twin.connectors.facts import HELD, WAITING, Attempt, JobFact, NodeFact, Share

EventData = tuple[str, Mapping[str, Any]]  # (kind, data) of an event
OPEN = MAX_INT  # end of a bar that has not ended: nobody knows yet when it will
THOUSAND = 1_000  # of a GPU, a CPU
MIB = 2**20 / 10**6  # memory_mb of facts, which clusters count in MiB, in thousandths of a GB


def plain_name(text: str) -> str:
    """A key of the cluster as a name of the twin: printable, without blanks and commas, at most 180 characters."""
    kept = "".join(c if c.isprintable() and c not in ", \t\r\n" else "_" for c in text[:180])
    return kept or "_"


def memory_of(memory_mb: int) -> int:
    """Memory of a fact in thousandths of a GB; rounded down, so that what fits on a node also fits on its server."""
    return memory_mb * 2**20 // 10**6


def capacity_of(node: NodeFact) -> Demand:
    """Amounts that a node offers to jobs, in thousandths."""
    return (node.gpus * THOUSAND, node.cpus * THOUSAND, memory_of(node.memory_mb), 0, 0)


def server_name(node: str) -> str:
    """Name of the server of a node, by the node's name in the cluster."""
    name = plain_name(node)
    return "cloud_" if name == "cloud" else name


def server_of(node: NodeFact, site: str, away: tuple[tuple[int, int], ...]) -> Server:
    """A node as a server; `away` are the intervals in ms of the log in which it took no work."""
    return Server(name=server_name(node.name), site=site, capacity=capacity_of(node), away=away)


def sizing(fact: JobFact, attempts: Sequence[Attempt]) -> tuple[Attempt, ...]:
    """The attempt that has the job's size: the last one; none of a job that waits, which counts as what it asks for."""
    waits = fact.state in (WAITING, HELD) and (fact.gpus or fact.cpus or fact.memory_mb)
    return () if waits else tuple(attempts[-1:])


def amounts_of(fact: JobFact, attempts: Sequence[Attempt]) -> tuple[int, int, int]:
    """(GPUs, CPUs, memory_mb) that the job held in the last one of these attempts, or asks for."""
    shares = _held_at_once(attempts)
    gpus, cpus = sum(share.gpus for share in shares) or fact.gpus, sum(share.cpus for share in shares) or fact.cpus
    return gpus, cpus, sum(share.memory_mb for share in shares) or fact.memory_mb


def _held_at_once(attempts: Sequence[Attempt]) -> tuple[Share, ...]:
    """The shares of the last attempt; none where they were not all held at the same time."""
    shares = attempts[-1].shares if attempts else ()
    return () if any(share.until_ms is not None for share in shares) else shares


def job_of(name: str, fact: JobFact, arrival_ms: int, epoch_ms: int) -> Job:
    """A job as it asked for resources, or as it holds them. A worker is a GPU with its part of the rest, or a CPU."""
    worker, units = _size(fact, sizing(fact, fact.attempts))
    return Job(
        id=name,
        arrival_ms=arrival_ms,
        worker=worker,
        requested_workers=units,
        user=plain_name(fact.user) if fact.user else None,
        group=plain_name(fact.queue) if fact.queue else None,
        limit_ms=fact.limit_ms or None,
        earlier_sizes=_earlier_sizes(fact, epoch_ms),
    )


def _size(fact: JobFact, attempts: Sequence[Attempt]) -> tuple[Demand, int]:
    """(amounts of a worker, number of workers) that the job held in the last one of these attempts, or asked for."""
    gpus, cpus, memory = amounts_of(fact, attempts)
    units = gpus if _by_gpu(gpus, _held_at_once(attempts)) else max(1, cpus)
    return (gpus * THOUSAND // units, cpus * THOUSAND // units, memory_of(memory) // units, 0, 0), units


def _earlier_sizes(fact: JobFact, epoch_ms: int) -> tuple[EarlierSize, ...] | None:
    """Sizes of the attempts that had another size than what came next, each until its end; None without any."""
    last = sizing(fact, fact.attempts)
    earlier = [each for each in fact.attempts[: len(fact.attempts) - len(last)] if each.shares]
    if not earlier:
        return None
    starts = [attempt.started_ms for attempt in (*earlier[1:], *last)]
    sizes = [*(_size(fact, (attempt,)) for attempt in earlier), _size(fact, last)]
    found = (
        EarlierSize(until_ms - epoch_ms, *size)
        for attempt, next_ms, size, after in zip_longest(earlier, starts, sizes[:-1], sizes[1:])
        if size != after and (until_ms := _over_ms(attempt, next_ms)) > epoch_ms
    )
    return tuple(found) or None


def _over_ms(attempt: Attempt, next_ms: int | None) -> int:
    """End of an attempt, after its start, and at the latest when the next one starts."""
    ends = [ms for ms in (attempt.ended_ms, next_ms) if ms is not None]
    return max(attempt.started_ms + 1, min(ends))


def span_of(bars: Sequence[Placement], attempts: Sequence[Attempt], epoch_ms: int) -> tuple[int, int]:
    """First start and last end of what the job held, in ms of the log; of its attempts where no shares are known."""
    spans = [(bar.start_ms, bar.end_ms) for bar in bars]
    if not spans:
        ends = [(each, OPEN if each.ended_ms is None else each.ended_ms - epoch_ms) for each in attempts]
        spans = [(max(0, each.started_ms - epoch_ms), end_ms) for each, end_ms in ends if end_ms > 0]
    return (min(start_ms for start_ms, _ in spans), max(end_ms for _, end_ms in spans)) if spans else (NONE, NONE)


def _by_gpu(gpus: int, shares: Sequence[Share]) -> bool:
    """True if workers are GPUs: the job has some on every node that it holds."""
    return gpus > 0 and all(share.gpus > 0 for share in shares)


def bars_of(
    job: int, fact: JobFact, attempts: Sequence[Attempt], servers: Mapping[str, int], epoch_ms: int
) -> list[Placement]:
    """Bars that the job held or holds, in ms of the log; shares on nodes that are not known yet are left out."""
    bars: list[Placement] = []
    for attempt in attempts:
        start_ms = max(0, attempt.started_ms - epoch_ms)
        end_ms = OPEN if attempt.ended_ms is None else attempt.ended_ms - epoch_ms
        if end_ms <= 0:  # before the log begins
            continue
        end_ms = max(start_ms + 1, end_ms)  # clusters report whole seconds: shorter executions are shown as 1 ms
        by_gpu = _by_gpu(sum(share.gpus for share in attempt.shares), attempt.shares)
        for share in attempt.shares:
            server = servers.get(share.node)
            if server is None:
                continue
            begin = start_ms if share.from_ms is None else max(start_ms, share.from_ms - epoch_ms)
            end = end_ms if share.until_ms is None else min(end_ms, max(begin + 1, share.until_ms - epoch_ms))
            if begin >= end:
                continue
            if by_gpu and len(share.gpu_ids) == share.gpus:
                bars += [Placement(job, int(Role.WORKER), server, begin, end, 1, gpu) for gpu in share.gpu_ids]
            else:
                count = share.gpus if by_gpu else max(1, share.cpus)
                bars.append(Placement(job, int(Role.WORKER), server, begin, end, count, NONE))
    if not fact.frees_cpus or not fact.suspensions:
        return bars
    spans = [
        (begin_ms - epoch_ms, OPEN if end_ms is None else end_ms - epoch_ms) for begin_ms, end_ms in fact.suspensions
    ]
    return [part for bar in bars for part in _parts(bar, spans)]


def _parts(bar: Placement, suspended: Sequence[tuple[int, int]]) -> Iterator[Placement]:
    """A bar in parts, with the role `suspended` in these intervals, which are in the order of time."""
    reached = bar.start_ms
    for begin, end in suspended:
        begin, end = max(begin, reached), min(end, bar.end_ms)
        if begin >= end:
            continue
        if reached < begin:
            yield bar._replace(start_ms=reached, end_ms=begin)
        yield bar._replace(role=int(Role.SUSPENDED), start_ms=begin, end_ms=end)
        reached = end
    if reached < bar.end_ms:
        yield bar._replace(start_ms=reached)


def joined(bars: Iterable[Placement]) -> list[Placement]:
    """The bars of a job as workers, without the division that suspensions make."""
    found: list[Placement] = []
    before: Placement | None = None
    for bar in sorted(bars, key=lambda bar: (bar.server, bar.worker_slot, bar.start_ms)):
        if before is not None and _divided(before, bar):
            found[-1] = found[-1]._replace(end_ms=bar.end_ms)
        else:
            found.append(bar._replace(role=int(Role.WORKER)))
        before = bar
    return found


def _divided(first: Placement, then: Placement) -> bool:
    """True if a suspension begins or ends between the two bars."""
    same = (first.server, first.worker_slot, first.count, first.end_ms) == (
        then.server,
        then.worker_slot,
        then.count,
        then.start_ms,
    )
    return same and first.role != then.role
