"""Replay in step: the model decides from the real state of the cluster, not from the one that its own starts led to.

A start at another pass changes all that follow, so a free replay says little about single starts. Here the model knows
at each moment what really ran and waited, and says which jobs a pass would start. A start agrees if the model would
have started the job within the tolerance before, and not earlier.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from scheduling.kernel.resource_vector import GUARD
from scheduling.model.decision import NOTHING
from scheduling.model.values import Cluster, Job
from scheduling.slotted.gang_queue import Units
from scheduling.slotted.gangs.packing import WORKER

if TYPE_CHECKING:  # its file may be missing
    from scheduling.algorithms.slurm import Slurm

MAX_JOBS = 2_000  # more would take minutes


class Real(NamedTuple):
    """History of a real job, in ms of the log; -1 where an event did not happen. servers: those that it held."""

    arrival_ms: int
    start_ms: int
    end_ms: int
    servers: tuple[int, ...]
    counts: bool  # its start is compared


def in_step(model: Slurm, cluster: Cluster, jobs: Sequence[Job], real: Sequence[Real], within_ms: int) -> float | None:
    """Share of the compared starts that agree with the model; None where there are none, or too many jobs."""
    compared = [number for number, one in enumerate(real) if one.counts and one.start_ms >= 0]
    if not compared or len(jobs) > MAX_JOBS:
        return None
    model.start(cluster, jobs, np.random.default_rng(0))
    return _Play(model, real).agreeing(set(compared), within_ms) / len(compared)


class _Play:
    """The real cluster, moment by moment, in the model. spans: job -> since and until when the model would start it."""

    def __init__(self, model: Slurm, real: Sequence[Real]) -> None:
        self.model, self.real = model, real
        self.moments: dict[int, tuple[list[int], list[int], list[int]]] = defaultdict(lambda: ([], [], []))
        slot_ms = model.cluster.slot_ms
        for number, one in enumerate(real):
            for place, ms in enumerate((one.arrival_ms, one.end_ms, one.start_ms)):
                if ms >= 0 and (place == 0 or one.start_ms >= 0):
                    self.moments[-(-ms // slot_ms) * slot_ms][place].append(number)
        self.spans: dict[int, tuple[int, int]] = {}
        self.absent: set[int] = set()  # jobs that the model refuses

    def agreeing(self, compared: set[int], within_ms: int) -> int:
        """Number of the starts that agree."""
        found = 0
        for now_ms, (arrived, ended, started) in sorted(self.moments.items()):
            for job in arrived:
                if self.model.on_arrival(now_ms, job) is not NOTHING:
                    self.absent.add(job)
            self._ask(now_ms)  # ends and starts of one second have an order that is not known
            for job in ended:
                if job in self.model.running:
                    self.model.on_completion(now_ms, job)
            self._ask(now_ms)
            for job in started:
                since, until = self.spans.pop(job, (-1, -1))
                agrees = since >= 0 and now_ms - until <= within_ms and now_ms - since <= within_ms
                found += agrees and job in compared
                self._start(now_ms, job)
        return found

    def _ask(self, now_ms: int) -> None:
        """Spans of the jobs that the model would start now; a span continues while no moment between says otherwise."""
        self.model.extend_overdue(now_ms // self.model.cluster.slot_ms)
        for job in self.model.would_start(now_ms):
            since_ms, until_ms = self.spans.get(job, (now_ms, now_ms))
            self.spans[job] = (since_ms if until_ms == self.asked_ms else now_ms, now_ms)
        self.asked_ms = now_ms

    asked_ms = -1  # moment of the last question

    def _start(self, now_ms: int, job: int) -> None:
        """A job starts on the servers that it really held; one for which they have no room is left out."""
        if job in self.absent:
            return
        gang = self.model.gangs[job]
        units: Units = [(WORKER, server, 1) for server in self.real[job].servers]
        self.model.leave(job)
        free = self.model.packing.free
        if any((free[server] - gang.shape.worker) & GUARD != GUARD for server in self.real[job].servers):
            self.absent.add(job)
            return
        self.model.packing.take(gang.shape, units)
        self.model.hold(job, units, now_ms)
