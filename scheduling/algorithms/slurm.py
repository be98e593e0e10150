"""The two schedulers of Slurm: its main scheduler, and a backfill pass at intervals (Jette, Wickberg 2023).

The main scheduler starts jobs in the order of the queue. The first job of a queue that does not fit ends the pass for
this queue, and for the servers of this queue. It runs when a job arrives or ends, but not again within `main_ms`.

A backfill pass runs one interval after the last one if something has changed, otherwise at the next change; where the
passes of a real cluster are known, it runs at these (slotted/slurm/passes.py). It considers the jobs in their order,
with the time limits as run times: a job that fits beside the reservations of the jobs before it starts, every other one
gets a reservation. A reservation holds whole servers, and its times are multiples of `resolution_ms`. Each pass makes
all reservations again.

Queues are the groups of jobs; `Server.queues` says which queues a server takes. Licences, dependencies, reservations of
administrators, preemption and limits of accounts are not modelled.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from scheduling.kernel.parameters import parameter
from scheduling.kernel.resource_vector import GUARD, pack
from scheduling.model.decision import NOTHING, Decision, Reason, Verdict
from scheduling.model.values import Cluster, Job
from scheduling.slotted.backfill_lines import Candidates, Starts, Walk
from scheduling.slotted.backfilling import BackfillParameters, BackfillScheduler, LineName, sentences
from scheduling.slotted.gang_queue import Units
from scheduling.slotted.gangs.packing import WORKER
from scheduling.slotted.slurm.best_fit import BestFit, bits
from scheduling.slotted.slurm.ends import STEP_MS, Ending, EndsByServers
from scheduling.slotted.slurm.passes import Passes, moments_of
from scheduling.slotted.slurm.planned import Planned

DAY_MS = 86_400_000


@dataclass(frozen=True, slots=True)
class SlurmParameters(BackfillParameters):
    main_ms: int = parameter(
        3_000,
        "Minimum time between two passes of the main scheduler (batch_sched_delay)",
        low=0,
        high=DAY_MS,
        unit="ms",
        title="Main interval",
    )
    backfill_ms: int = parameter(
        30_000,
        "Time between two backfill passes (bf_interval)",
        low=1,
        high=DAY_MS,
        unit="ms",
        title="Backfill interval",
    )
    resolution_ms: int = parameter(
        60_000,
        "Resolution of the times of reservations (bf_resolution)",
        low=1,
        high=DAY_MS,
        unit="ms",
        title="Reservation resolution",
    )
    window_ms: int = parameter(
        DAY_MS,
        "Time ahead for which reservations are made (bf_window)",
        low=1,
        high=2**53,
        unit="ms",
        title="Reservation window",
    )
    depth: int = parameter(
        500,
        "Number of jobs that a backfill pass considers (bf_max_job_test)",
        low=1,
        high=1_000_000,
        title="Backfill depth",
    )
    known_passes: str = parameter(
        "",
        "Times of backfill passes of a real cluster in ms of the run, separated by commas; FIRST*COUNT for COUNT "
        "passes one interval apart; a pass that is not known runs one interval after the last one",
        title="Known backfill passes",
    )
    spread: bool = parameter(False, "Place each worker of a job on a separate server", title="Separate servers")


class Slurm(BackfillScheduler):
    """The queue, and what the next passes have to do. Reservations last for one pass."""

    name = "slurm"
    title = "Slurm’s main and backfill schedulers"
    paper = "Jette and Wickberg: Architecture of the Slurm Workload Manager, JSSPP 2023"
    summary = "Starts jobs in order, queue by queue; at intervals it backfills around reservations of whole servers."
    reasons = sentences("slurm")
    Parameters = SlurmParameters

    def start(self, cluster: Cluster, jobs: Sequence[Job], rng: np.random.Generator) -> None:
        own, slot_ms = self.parameters, cluster.slot_ms
        self.main, interval = own.main_ms // slot_ms, max(1, own.backfill_ms // slot_ms)
        self.passes = Passes([-(-ms // slot_ms) for ms in moments_of(own.known_passes, own.backfill_ms)], interval)
        self.resolution, self.window = max(1, own.resolution_ms // slot_ms), max(1, own.window_ms // slot_ms)
        self.step = max(1, STEP_MS // slot_ms)
        self.main_at: int | None = None  # slot of the last pass of the main scheduler
        self.main_due: int | None = None  # slot of the first change since the last pass
        self.backfill_at: int | None = None  # slot of the last backfill pass
        self.backfill_due: int | None = None
        self.takes: dict[str, int] = {}  # queue -> its servers
        self.empty = [GUARD | pack(server.capacity) for server in cluster.servers]
        super().start(cluster, jobs, rng)
        self.changed = False
        self.choice = BestFit(self.packing.hosts, own.spread)

    def on_arrival(self, now_ms: int, job: int) -> Decision:
        decision = super().on_arrival(now_ms, job)
        if decision is not NOTHING or self._fits_empty(job):
            return decision
        gang = self.gangs[job]
        self.leave(job)
        self.fresh.remove(job)
        del self.gangs[job], self.estimates[job]
        return Decision(verdicts=(Verdict(job, "rejected", Reason("gang_fits_nowhere", gang.values)),))

    def on_slot(self, now_ms: int, slot: int) -> Decision:
        starts = Starts()
        self.extend_overdue(slot)
        self._skip_idle(slot)
        if self.fresh or self.changed:
            self.main_due = slot if self.main_due is None else self.main_due
            self.backfill_due = slot if self.backfill_due is None else self.backfill_due
        self.fresh, self.changed = [], False
        if self._next_main() == slot:
            self.main_at, self.main_due = slot, None
            self._main(starts, now_ms)
        if self._next_backfill() == slot:
            self.backfill_at, self.backfill_due = slot, None
            self._backfill(starts, now_ms, slot)
        if starts.plan and self.backfill_due is None:
            self.backfill_due = slot + 1  # a start moves reservations
        decision = starts.decision()
        wake = [due for due in (self._next_main(), self._next_backfill()) if due is not None]
        return replace(decision, wake_ms=min(wake) * self.cluster.slot_ms) if wake and self.lines else decision

    def would_start(self, now_ms: int) -> list[int]:
        """The jobs that a backfill pass would start now. Nothing changes."""
        starts = Starts()
        fresh = self.fresh
        self._backfill(starts, now_ms, now_ms // self.cluster.slot_ms)
        for job in starts.plan:
            self.release(now_ms, job)
            self.join(job)
        self.fresh = fresh
        return list(starts.plan)

    def state(self) -> dict[str, Any]:
        main = {"main_at": self.main_at, "main_due": self.main_due}
        return super().state() | main | {"backfill_at": self.backfill_at, "backfill_due": self.backfill_due}

    def restore(self, state: Mapping[str, Any]) -> None:
        super().restore(state)
        self.main_at, self.main_due, self.backfill_due = state["main_at"], state["main_due"], state["backfill_due"]
        self.backfill_at = state.get("backfill_at")  # absent in states of another version

    def _next_main(self) -> int | None:
        """Slot of the next pass of the main scheduler; None where nothing has changed."""
        if self.main_due is None or self.main_at is None:
            return self.main_due
        return max(self.main_due, self.main_at + self.main)

    def _next_backfill(self) -> int | None:
        return None if self.backfill_due is None else self.passes.next(self.backfill_due, self.backfill_at)

    def _skip_idle(self, slot: int) -> None:
        """Passes before this slot that had no effect, as no job waited: they are only noted as done."""
        if (due := self._next_main()) is not None and due < slot:
            self.main_at, self.main_due = due, None
        if (due := self._next_backfill()) is not None and due < slot:
            self.backfill_at, self.backfill_due = due, None

    def _name(self, job: int) -> LineName:
        return (*super()._name(job)[:-1], self.jobs[job].group, super()._name(job)[-1])

    def _walk(self, now_ms: int) -> Walk:
        lines = [Candidates(self.rank(line, now_ms), list(line.keys), line) for line in self.lines.values()]
        return Walk(lines, self.estimates)

    def _servers(self, job: int) -> int:
        """The servers that take jobs of this one's queue."""
        queue = self.jobs[job].group or ""
        if queue not in self.takes:
            servers = enumerate(self.cluster.servers)
            self.takes[queue] = bits([i for i, one in servers if not one.queues or not queue or queue in one.queues])
        return self.takes[queue]

    def _available(self, job: int) -> int:
        return self._servers(job) & ~bits(list(self.away))

    def _fits_empty(self, job: int) -> bool:
        """True if the gang fits on the servers of its queue when all of them are free and available."""
        return self.choice.choose(self.gangs[job], self.empty, self._servers(job)) is not None

    def _begin_now(self, starts: Starts, now_ms: int, job: int, allowed: int) -> bool:
        units = self.choice.choose(self.gangs[job], self.packing.free, allowed)
        if units is None:
            return False
        self._begin(starts, now_ms, job, units)
        return True

    def _begin(self, starts: Starts, now_ms: int, job: int, units: Units) -> None:
        first = min((self.rank(line, now_ms), line.keys[0]) for line in self.lines.values())[1][1]
        self.packing.take(self.gangs[job].shape, units)
        if first == job:
            self.begin(starts, now_ms, job, units, "in_turn")
        else:
            self.begin(starts, now_ms, job, units, "backfilled", reserved=self.jobs[first].id)

    def _main(self, starts: Starts, now_ms: int) -> None:
        """A pass of the main scheduler."""
        walk, ended, closed = self._walk(now_ms), set(), 0
        while (job := walk.next()) is not None:
            queue = self.jobs[job].group
            if queue in ended:
                walk.leave_line()
            elif not self.over_quota(job) and not self._begin_now(starts, now_ms, job, self._available(job) & ~closed):
                ended.add(queue)
                closed |= self._servers(job) & self.choice.workers_on
                walk.leave_line()

    def _backfill(self, starts: Starts, now_ms: int, slot: int) -> None:
        """A backfill pass."""
        first = slot // self.resolution * self.resolution
        last = (slot + self.window) // self.resolution * self.resolution
        planned = Planned(first, max(last, first + 1), (1 << len(self.cluster.servers)) - 1)
        walk, considered, ends = self._walk(now_ms), 0, self._ends_by_servers()
        while considered < self.parameters.depth and (job := walk.next()) is not None:
            if self.over_quota(job):
                continue
            considered += 1
            found = self._earliest(job, slot, planned, ends)
            if found is None:
                continue
            begin, units = found
            if begin <= slot:
                self._begin(starts, now_ms, job, units)
                ends = self._ends_by_servers()
            elif begin <= slot + self.window:
                planned.reserve(*self._rounded(begin, job), _on(units))

    def _earliest(self, job: int, slot: int, planned: Planned, ends: EndsByServers) -> tuple[int, Units] | None:
        """The first slot at which the job fits beside all reservations, as far as Slurm looks; None without one."""
        start: int | None = slot
        while start is not None:
            servers, later = planned.open(start, start + self.estimates[job], self._available(job))
            found = self._expected(job, slot, servers, ends)
            if found is not None:
                begin = max(start, found[0])
                if begin <= slot:
                    return found
                if later is None or begin <= later:
                    if not planned.overlaps(*self._rounded(begin, job), _on(found[1])):
                        return begin, found[1]
                    later = begin
            start = later
        return None

    def _expected(self, job: int, slot: int, servers: int, ends: EndsByServers) -> tuple[int, Units] | None:
        """Time at which the job fits on these servers, if running jobs end as estimated and no other job starts."""
        gang = self.gangs[job]
        if servers.bit_count() < (gang.workers if self.parameters.spread else 1):
            return None
        if (units := self.choice.choose(gang, self.packing.free, servers)) is not None:
            return slot, units
        for end, free in ends.of(servers):
            if (units := self.choice.choose(gang, free, servers)) is not None:
                return max(end, slot + 1), units
        return None

    def _rounded(self, begin: int, job: int) -> tuple[int, int]:
        """Start and end of a reservation on the grid of the resolution."""
        grid = self.resolution
        first = begin // grid * grid
        return first, max((begin + self.estimates[job]) // grid * grid, first + grid)

    def _ends_by_servers(self) -> EndsByServers:
        return EndsByServers(self.packing.free, self._endings, self.step)

    def _endings(self) -> list[Ending]:
        found = []
        for end, jobs in self.expected_ends():
            for job in jobs:
                held = list(self.gangs[job].by_server(self.running[job]))
                found.append(Ending(end, bits([server for server, _ in held]), held))
        return found


def _on(units: Units) -> int:
    """The servers of the workers, as a set."""
    return bits([server for role, server, _ in units if role == WORKER])
