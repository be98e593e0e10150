"""Uses: the newest sample of each node, and the events by which the log catches up with an answer. It is pure.

Laws (tests/twin/mirror/sampling/test_uses_laws.py): repeating an answer gives no events; whatever answers are lost,
repeated or out of order, the newest sample of each node is the newest one reported; time never runs backwards.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from scheduling.model.values import SITES
from twin.connectors.facts import RUNNING, NodeFact
from twin.eventlog.samples import SUMMED, UNKNOWN
from twin.mirror.as_values import MIB, EventData, memory_of
from twin.mirror.differ import Mirror
from twin.mirror.nodes.known import KnownNode
from twin.samplers.base import STALE_INTERVALS
from twin.samplers.facts import NodeUse, Occupancy, Running, Sample

# Amounts are rounded to these steps, so that a row of the log needs few bytes (eventlog/batch_codec.py).
CPU_STEP, MEMORY_STEP, BUSY_STEP, TIME_STEP_MS = 10, 16, 5, 1_000
MAX_NODES = 20_000  # of one event; more have no samples


@dataclass(slots=True)
class Uses:
    """Newest samples by node. now_ms: the newest clock that the source has shown."""

    interval_ms: int
    newest: dict[str, NodeUse] = field(default_factory=dict)
    now_ms: int = 0

    def take(self, sample: Sample, mirror: Mirror) -> list[EventData]:
        """The event of an answer; none where it tells nothing new."""
        self.now_ms = max(self.now_ms, sample.now_ms)
        fresh = [use for use in sample.uses if self._is_new(use) and use.node in mirror.nodes]
        for use in fresh:
            self.newest[use.node] = use
        if not fresh:
            return []
        rows = [self._row(use, mirror) for use in fresh[:MAX_NODES]]
        return [("sampled", {"use": self._sums(mirror), "rows": rows})]

    def _is_new(self, use: NodeUse) -> bool:
        known = self.newest.get(use.node)
        return (known is None or use.at_ms > known.at_ms) and self._counts(use)

    def _counts(self, use: NodeUse) -> bool:
        """True if the sample is recent enough."""
        return self.now_ms - use.at_ms <= STALE_INTERVALS * self.interval_ms

    def known(self, mirror: Mirror) -> int:
        """Number of nodes of the cluster with a sample that counts."""
        return sum(name in mirror.nodes and self._counts(use) for name, use in self.newest.items())

    def _row(self, use: NodeUse, mirror: Mirror) -> list[int]:
        """[server, SAMPLE_FIELDS]; the time in ms of the log, to which the age of the sample leads."""
        at_ms = max(0, mirror.log_ms - max(0, self.now_ms - use.at_ms))
        node = mirror.nodes[use.node]
        return [node.index, at_ms // TIME_STEP_MS * TIME_STEP_MS, *_amounts(use, node.fact), _busy(use)]

    def _sums(self, mirror: Mirror) -> list[list[int]]:
        """USE_FIELDS of each site with samples that count."""
        until_ms = mirror.log_ms + STALE_INTERVALS * self.interval_ms
        sums: dict[int, list[int]] = {}
        for name, use in self.newest.items():
            known = mirror.nodes.get(name)
            if known is None or not self._counts(use):
                continue
            site = SITES.index(mirror.sites.site(known.fact))
            row = sums.setdefault(site, [0] * len(SUMMED))
            for place, value in enumerate(_summands(use, known)):
                row[place] += value
        return [[mirror.log_ms, until_ms, site, *row] for site, row in sorted(sums.items())]


def _amounts(use: NodeUse, node: NodeFact) -> tuple[int, int, int]:
    """(GPUs, CPUs, memory) in the units of the log, at most the capacity."""
    return (
        _whole(use.gpus, 1_000, 1, node.gpus * 1_000),
        _whole(use.cpus, 1_000, CPU_STEP, node.cpus * 1_000),
        _whole(use.memory_mb, MIB, MEMORY_STEP, memory_of(node.memory_mb)),
    )


def _busy(use: NodeUse) -> int:
    return UNKNOWN if use.gpus_busy is None else _whole(use.gpus_busy / use.gpus_known, 1_000, BUSY_STEP, 1_000)


def _summands(use: NodeUse, known: KnownNode) -> list[int]:
    """Values of SUMMED for one node."""
    node = known.fact
    amounts = _amounts(use, node)
    capacity = (node.gpus * 1_000, node.cpus * 1_000, memory_of(node.memory_mb))
    busy = 0 if use.gpus_busy is None else round(use.gpus_busy * 1_000)
    return [
        1,
        *(max(0, amount) for amount in amounts),
        busy,
        *(0 if amount == UNKNOWN else whole for amount, whole in zip(amounts, capacity, strict=True)),
        use.gpus_known * 1_000,
    ]


def _whole(amount: float | None, scale: float, step: int, most: int) -> int:
    return UNKNOWN if amount is None else min(most, max(0, round(amount * scale / step) * step))


def occupancy(mirror: Mirror) -> Occupancy:
    """Nodes and running jobs of the cluster, as samplers need them."""
    return Occupancy({name: node.fact for name, node in mirror.nodes.items()}, dict(_running(mirror)))


def _running(mirror: Mirror) -> Iterable[tuple[str, Running]]:
    for index in mirror.open:
        job = mirror.jobs[index]
        if job.fact.state == RUNNING and job.attempts:
            yield job.fact.key, Running(job.attempts[-1].started_ms, job.attempts[-1].shares)
