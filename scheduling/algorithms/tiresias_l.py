"""Tiresias-L: queues by service received, for jobs of unknown length (Gu et al., NSDI 2019).

The baseline of A_online (Section V).

Follows its public code: service is workers x executed time. A new job enters the first queue and moves to the next when
its service reaches the queue's limit. The jobs of a queue run in the order of their first start, those that run before
those that wait, jobs that never ran last and by arrival. With a promotion factor above 0 (the paper's knob) a job that
waits in a later queue, having run, returns to the first one with its service forgotten, once it has waited for this
factor x its executed time.

Differs from the code: the time at which a running job reaches a limit is (limit - service) / workers, where the code
subtracts the executed time from the limit before dividing. The limits of the code, thousands of GPU seconds, mean
nothing for chunks of 64 hours: the default is one limit of 500 worker-hours, hence two queues.
"""

from __future__ import annotations

import heapq
from bisect import bisect_left, insort
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from scheduling.kernel.parameters import Parameters, parameter
from scheduling.model.decision import NOTHING, Decision, Reason, Verdict
from scheduling.model.values import Cluster, Job, ModelError, shorten
from scheduling.typed_workers.gang_pool import Gang, Key
from scheduling.typed_workers.gang_scheduler import TypedGangScheduler

_HOUR_MS = 3_600_000
_NEVER = 1 << 60  # ms


@dataclass(frozen=True, slots=True)
class TiresiasParameters(Parameters):
    limits: str = parameter(
        "500",
        "Limits of attained service, one for each queue except the last, ascending, for example 500,2000",
        unit="worker-hours",
        title="Service limits",
    )
    knob: float = parameter(
        0.0,
        "Multiple of its run time after which a waiting job is promoted to the first queue; 0: never",
        low=0.0,
        title="Promotion factor",
    )
    overhead_ms: int = parameter(
        0, "Time in which a suspended gang loads its data before it resumes", low=0, high=86_400_000, unit="ms",
        title="Reload time of a gang",
    )  # fmt: skip

    def __post_init__(self) -> None:
        super(TiresiasParameters, self).__post_init__()
        limits_of(self.limits)


def limits_of(text: str) -> list[int]:
    """The limits in worker-ms; ModelError when they are no ascending numbers above 0."""
    try:
        found = [float(part) for part in text.split(",")]
    except ValueError:
        found = []
    if not found or not all(0 < low < high for low, high in zip(found, [*found[1:], 1e12], strict=True)):
        raise ModelError(
            "parameter limits must be ascending numbers above 0 separated by commas, for example "
            f"500,2000; got {shorten(repr(text))}"
        )
    return [round(hours * _HOUR_MS) for hours in found]


class TiresiasL(TypedGangScheduler):
    """Tiresias-L: jobs change queues at alarms."""

    name = "tiresias_l"
    title = "Tiresias-L"
    paper = "Gu et al.: Tiresias: A GPU Cluster Manager for Distributed Deep Learning, NSDI 2019; baseline of A_online"
    summary = (
        "Runs the gangs with the least attained service first, in multi-level queues on "
        "typed edge workers; a gang gets all of its workers or none."
    )
    Parameters = TiresiasParameters

    def start(self, cluster: Cluster, jobs: Sequence[Job], rng: np.random.Generator) -> None:
        super().start(cluster, jobs, rng)
        self.limits_ms = limits_of(self.parameters.limits)
        # heap of (when a job changes queues, job); stale where `_move_ms` says otherwise
        self.moves: list[tuple[int, int]] = []

    def waiting_key(self, gang: Gang) -> Key:
        return gang.queue, 1, gang.first_ms if gang.first_ms >= 0 else _NEVER, gang.job

    def running_key(self, gang: Gang) -> Key:
        return gang.queue, 0, gang.first_ms, gang.job

    def started(self, now_ms: int, gang: Gang, again: bool, load_ms: int) -> Reason:
        self._expect(gang)
        servers = len({server for server, _ in gang.worker_slots})
        values = {"workers": gang.size, "servers": servers, "load_ms": load_ms, "again": again}
        return Reason("least_served", {**values, "queue": gang.queue, "served_ms": gang.executed_ms * gang.size})

    def on_alarm(self, now_ms: int, due_ms: int) -> Decision:
        pools = {}
        verdicts: list[Verdict] = []
        while self.moves and self.moves[0][0] <= now_ms:
            at_ms, job = heapq.heappop(self.moves)
            gang = self.gangs.get(job)
            if gang is None or self._move_ms(gang) != at_ms:
                continue
            pools[id(gang.pool)] = gang.pool
            verdicts.append(Verdict(job, "moved", self._moved(now_ms, gang)))
            self._expect(gang)
        if not verdicts:
            alarm_ms = self.next_alarm(now_ms)
            return Decision(alarm_ms=alarm_ms) if alarm_ms is not None else NOTHING
        return self._changed(now_ms, list(pools.values()), verdicts)

    def next_alarm(self, now_ms: int) -> int | None:
        while self.moves:
            at_ms, job = self.moves[0]
            gang = self.gangs.get(job)
            if gang is not None and self._move_ms(gang) == at_ms:
                return max(at_ms, now_ms)  # a job that another scheduler has left may be due since before
            heapq.heappop(self.moves)
        return None

    def _put(self, saved: Sequence[Any]) -> None:
        super()._put(saved)
        self._expect(self.gangs[saved[0]])

    def _remember(self, now_ms: int, gang: Gang, past: Gang) -> None:
        super()._remember(now_ms, gang, past)
        self._expect(gang)

    def prolonged(self, gang: Gang) -> None:
        self._expect(gang)

    def _stop(self, now_ms: int, gang: Gang) -> None:
        super()._stop(now_ms, gang)
        self._expect(gang)

    def _expect(self, gang: Gang) -> None:
        """Registration of the time of the next queue change, if nothing happens before."""
        at_ms = self._move_ms(gang)
        if at_ms is not None:
            heapq.heappush(self.moves, (at_ms, gang.job))

    def _move_ms(self, gang: Gang) -> int | None:
        if gang.worker_slots:
            if gang.queue == len(self.limits_ms):
                return None
            at_ms = gang.work_ms + max(0, -(-self.limits_ms[gang.queue] // gang.size) - gang.executed_ms)
            return at_ms if at_ms < gang.finish_ms else None
        if not self.parameters.knob or not gang.queue or gang.stopped_ms < 0:
            return None
        return gang.stopped_ms + max(1, int(np.ceil(self.parameters.knob * gang.executed_ms)))

    def _moved(self, now_ms: int, gang: Gang) -> Reason:
        """Queue change: to the next queue while the job runs, to the first one while it waits."""
        if gang.worker_slots:
            running = gang.pool.running
            del running[bisect_left(running, (self.running_key(gang), gang.job))]
            gang.queue += 1
            insort(running, (self.running_key(gang), gang.job))
            return Reason(
                "demoted", {"queue": gang.queue, "served_ms": (gang.executed_ms + gang.ran_ms(now_ms)) * gang.size}
            )
        gang.pool.unwait(gang)
        gang.queue, gang.executed_ms = 0, 0
        gang.pool.wait(gang, self.waiting_key(gang))
        return Reason("promoted", {"waited_ms": now_ms - gang.stopped_ms})
