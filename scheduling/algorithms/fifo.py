"""FIFO, the baseline of OASiS and PD-ORS: jobs start in order of arrival with a fixed number of workers.

Follows the papers' descriptions (slotted/gang_queue.py): a job starts at the beginning of a slot when its whole gang
fits, and keeps it until its work is done; the head of the queue blocks those behind it; a job that the horizon cuts off
is worth nothing.

Differs from the papers: a gang that cannot fit even the empty cluster is rejected, since it would block the queue for
ever. Ours: jobs of a server that becomes unavailable go to the head of the queue. The parameter `backfill` is ours: of
each kind of gang the first in the queue is tried; a kind that did not fit is tried again when a job has ended.
"""

from __future__ import annotations

import heapq
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from scheduling.kernel.parameters import parameter
from scheduling.model.bars import Placement
from scheduling.model.decision import NOTHING, Decision, Reason, Verdict
from scheduling.model.values import Cluster, Job
from scheduling.slotted.gang_queue import Gang, GangQueue, Kind
from scheduling.slotted.gangs.rates import GangParameters


@dataclass(frozen=True, slots=True)
class FifoParameters(GangParameters):
    backfill: bool = parameter(False, "Start later jobs when the head of the queue does not fit", title="Backfilling")


class Fifo(GangQueue):
    """A queue in order of arrival; with backfill one line for each kind of gang."""

    name = "fifo"
    title = "FIFO"
    paper = "Baseline of OASiS (INFOCOM 2018) and PD-ORS"
    summary = "Starts jobs in order of arrival with a fixed number of workers; the head of the queue blocks later jobs."
    Parameters = FifoParameters

    def start(self, cluster: Cluster, jobs: Sequence[Job], rng: np.random.Generator) -> None:
        self.lines: dict[Kind | None, deque[int]] = {}
        self.blocked: set[Kind | None] = set()  # lines whose head did not fit; nothing has been freed since
        super().start(cluster, jobs, rng)

    def join(self, job: int) -> None:
        self.lines.setdefault(self._line(self.gangs[job]), deque()).append(job)

    def join_again(self, job: int) -> None:
        self.lines.setdefault(self._line(self.gangs[job]), deque()).appendleft(job)

    def queued(self) -> Sequence[int]:
        return [job for line in self.lines.values() for job in line]

    def freed(self) -> None:
        self.blocked.clear()

    def on_slot(self, now_ms: int, slot: int) -> Decision:
        plan: dict[int, list[Placement]] = {}
        finishes: dict[int, int] = {}
        verdicts: list[Verdict] = []
        heads = [(line[0], kind) for kind, line in self.lines.items() if kind not in self.blocked]
        heapq.heapify(heads)  # jobs differ, so kinds are never compared
        while heads:
            job, kind = heapq.heappop(heads)
            gang = self.gangs[job]
            values = gang.values
            placed = self.packing.place(gang.shape, gang.workers)
            if placed is not None:
                units = [(role, server, count) for (role, server), count in placed.items()]
                plan[job] = self._bars(now_ms, job, gang, units, finishes)
                values = {"waited_ms": now_ms - self.jobs[job].arrival_ms} | values
                reason = Reason("out_of_order", values) if self._overtakes(job) else Reason("in_order", values)
                verdicts.append(Verdict(job, "resumed" if job in self.left else "started", reason))
            elif self.running or self.away:
                self.blocked.add(kind)
            else:
                del self.gangs[job]
                verdicts.append(Verdict(job, "rejected", Reason("gang_fits_nowhere", values)))
            if kind not in self.blocked and self._leave(kind):
                heapq.heappush(heads, (self.lines[kind][0], kind))
        return Decision(plan, finishes, tuple(verdicts)) if verdicts else NOTHING

    def state(self) -> dict[str, Any]:
        return super().state() | {"blocked": sorted(self.lines[kind][0] for kind in self.blocked)}  # the lines' heads

    def restore(self, state: Mapping[str, Any]) -> None:
        super().restore(state)
        self.blocked = {self._line(self.gangs[job]) for job in state["blocked"]}

    def _line(self, gang: Gang) -> Kind | None:
        return gang.kind if self.parameters.backfill else None

    def _overtakes(self, job: int) -> bool:
        """True if an earlier job still waits because it does not fit; jobs that were stopped wait first."""
        return any(self.lines[kind][0] < job for kind in self.blocked)

    def _leave(self, kind: Kind | None) -> bool:
        """Removal of the head of a line; true if the line continues."""
        line = self.lines[kind]
        line.popleft()
        if not line:
            del self.lines[kind]
        return bool(line)
