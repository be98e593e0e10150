"""The kernel: runs jobs with a scheduler on a cluster and emits events. It has no clock.

Steps at one instant follow the order of agenda.Priority; they are in steps.py. `on_slot` is called when a slot begins
and something has happened since the last call, or when a wake-up was requested. Events depend on cluster, jobs,
scheduler, phases and seed alone: not on how the run is cut into calls of `run_until`, nor on whether it was saved and
restored in between.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from itertools import pairwise
from typing import Any

import numpy as np

from scheduling.kernel import saved_state
from scheduling.kernel.agenda import Agenda, Entry, Priority
from scheduling.kernel.beliefs.belief import Beliefs
from scheduling.kernel.beliefs.knowledge import Knowledge
from scheduling.kernel.changes import growth
from scheduling.kernel.changes.phases import Phase, check_phases, with_shares
from scheduling.kernel.plans import Plans
from scheduling.kernel.scheduler import BaseScheduler
from scheduling.kernel.steps import STEPS
from scheduling.model.limits import MAX_INT
from scheduling.model.values import Cluster, Event, Job, ModelError, Server

_OUTAGE, _SLOT, _END = int(Priority.OUTAGE), int(Priority.SLOT), int(Priority.END)
HOOKS = ("on_arrival", "on_completion", "on_cluster_change", "on_slot", "on_alarm", "prices")


NO_CHANGES = "a run on predicted run times accepts no edits and no additions; simulate with the actual run times"


def simulate(
    cluster: Cluster, jobs: Sequence[Job], scheduler: BaseScheduler, seed: int, beliefs: Beliefs | None = None
) -> Iterator[Event]:
    """Events of a run, in order, lazily."""
    return Simulation(cluster, jobs, scheduler, seed, beliefs=beliefs).events()


class Simulation:
    """Simulation that advances step by step and can be saved between two steps and continued, to the byte.

    A step is one entry of the agenda with all events that it causes. jobs: sorted by arrival_ms; at equal arrivals
    their order decides. phases: the clusters, jobs and schedulers that follow, in order. `add_jobs`, `add_server` and
    `set_server` change cluster and jobs while it runs; an open-ended run waits for them until it is closed (`close`).
    beliefs: schedulers know these run times instead of the true work (beliefs/); such a run cannot be changed.
    """

    def __init__(
        self, cluster: Cluster, jobs: Sequence[Job], scheduler: BaseScheduler, seed: int, phases: Sequence[Phase] = (),
        *, open_ended: bool = False, beliefs: Beliefs | None = None,
    ) -> None:  # fmt: skip
        check_phases(phases, cluster, jobs)
        if beliefs is not None and (phases or open_ended):
            raise ModelError(NO_CHANGES)
        self.seed, self.phases = seed, phases
        self.open_ended = open_ended  # the run waits for jobs to be added instead of ending
        self.phase = 0  # phases[:phase] have begun
        self.slot_ms = cluster.slot_ms
        self.horizon_ms = cluster.horizon_slots * cluster.slot_ms if cluster.horizon_slots else None
        self.end_ms = self.horizon_ms or MAX_INT  # a server that is unavailable until MAX_INT never returns
        self.decision_seconds: list[float] = []  # wall time of each hook; never in an event
        self.seq = 0
        self.now_ms = 0
        self.ended = False
        self.out: list[Event] = []
        self.arrived = 0  # jobs[:arrived] have arrived
        self.open: set[int] = set()  # arrived, neither rejected nor completed
        self.shares: list[tuple[int, float]] = []  # remaining shares of jobs' records after hand-overs, in order
        self.agenda = Agenda()
        self.plans = Plans(self.agenda, self.emit)
        self.knowledge = None if beliefs is None else Knowledge(beliefs, scheduler, cluster, jobs)
        self.plans.knowledge = self.knowledge
        self.agenda.schedule(0, Priority.BEGIN)
        self.enter(cluster, jobs, scheduler)
        self.plans.ledger = scheduler.model.ledger(cluster, jobs, scheduler)

    def enter(self, cluster: Cluster, jobs: Sequence[Job], scheduler: BaseScheduler) -> None:
        """Start of the scheduler on the current cluster and jobs, with the remaining work of the jobs."""
        self.cluster, self.records, self.scheduler = cluster, jobs, scheduler
        jobs = self.jobs = self.plans.jobs = with_shares(jobs, self.shares) if self.shares else jobs
        for earlier, later in pairwise(jobs):
            if later.arrival_ms < earlier.arrival_ms:
                raise ModelError(
                    f"job {later.id} arrives at {later.arrival_ms} ms, "
                    f"before the previous job ({earlier.arrival_ms} ms)"
                )
        self.outages = sorted(
            {(ms, i) for i, s in enumerate(cluster.servers) for away in s.away for ms in away if ms > 0}
        )
        self.agenda.clear(Priority.ARRIVAL)
        self.expect_arrival()
        self.expect_outage((self.now_ms, len(cluster.servers)))
        self.expect_phase()
        cls = type(scheduler)
        self.on_arrival, self.on_completion, self.on_cluster_change, self.on_slot, self.on_alarm, self.prices = (
            getattr(scheduler, name) if getattr(cls, name) is not getattr(BaseScheduler, name) else None
            for name in HOOKS
        )  # hooks that the class does not override are not called
        cls(scheduler.parameters).check_jobs(cluster, jobs)
        records = jobs if self.knowledge is None else self.knowledge.records
        self.known = list(scheduler.known_jobs(records, self.arrived))  # a list of the scheduler, too
        scheduler.start(cluster, self.known, np.random.default_rng(self.seed))
        self.priced_slots = scheduler.horizon or 0  # slots whose prices the log has, or gets when the phase has begun

    def announce(self, job: int) -> None:
        """Record of a job that has arrived, for the scheduler; one that is clairvoyant has another record by now."""
        record = self.jobs[job] if self.knowledge is None else self.knowledge.records[job]
        if job == len(self.known):
            self.known.append(record)
        elif self.known[job] is not record:
            self.known[job] = record
            self.scheduler.record_changed(job)

    def events(self) -> Iterator[Event]:
        """Events from here to the end; `state` is then that after the step of the last event taken."""
        while self.next_ms is not None:
            yield from self.run_until(max_events=1)

    def run_until(self, limit_ms: int | None = None, max_events: int = 1_000) -> list[Event]:
        """Events of the steps up to limit_ms, or until there are max_events (the last step may exceed it)."""
        out = self.out = []
        while len(out) < max_events and not self.ended:
            entry = self.peek()
            if entry is None or (limit_ms is not None and entry[0] > limit_ms):
                break
            self.now_ms, priority, id_ = entry
            if priority != _END:
                self.agenda.take()
            STEPS[priority](self, self.now_ms, id_)
        return out

    @property
    def next_ms(self) -> int | None:
        """Time of the next step; None when the run has ended, or waits for jobs."""
        entry = None if self.ended else self.peek()
        return None if entry is None else entry[0]

    def schedule(self, at_ms: int, priority: Priority, id_: int = 0) -> None:
        """Agenda entry of a step, new or moved; none at the horizon or later."""
        if at_ms < self.end_ms:
            self.agenda.schedule(at_ms, priority, id_)
        else:
            self.agenda.cancel(priority, id_)

    def peek(self) -> Entry | None:
        """Next step; None where an open-ended run waits.

        When nothing more can happen, open jobs stay unfinished at the horizon, and the run ends.
        """
        entry = self.agenda.peek()
        if entry is not None and entry[1] == _OUTAGE and not self._awaited:
            self.agenda.clear(Priority.OUTAGE)
            entry = self.agenda.peek()
        if entry is not None or self.open_ended:
            return entry
        waits = self.open and self.horizon_ms is not None
        return max(self.now_ms, self.horizon_ms or 0) if waits else self.now_ms, _END, 0

    def close(self) -> None:
        """End of additions: the run ends when no entries remain."""
        self.open_ended = False

    def add_jobs(self, jobs: Sequence[Job]) -> list[Event]:
        """Addition of jobs, logged now with all their fields; they arrive after now and after the others."""
        added = [("job_added", {"job": len(self.jobs) + i, "fields": asdict(job)}) for i, job in enumerate(jobs)]
        return growth.extend(self, added, self.cluster, [*self.records, *jobs])

    def add_server(self, server: Server) -> list[Event]:
        """Addition of a server; the scheduler plans again as after an edit of the cluster."""
        added = [("server_added", {"server": len(self.cluster.servers), "fields": asdict(server)})]
        return growth.extend(self, added, replace(self.cluster, servers=(*self.cluster.servers, server)), self.records)

    def set_server(self, index: int, **fields: Any) -> list[Event]:
        """Change of the fields of a server, such as capacity or outages; its name stays."""
        before = self.cluster.servers[index]
        changed = replace(before, **fields)
        servers = tuple(changed if i == index else server for i, server in enumerate(self.cluster.servers))
        was = {} if changed.capacity == before.capacity else {"was": before.capacity}
        added = [("server_set", {"server": index, "fields": asdict(changed), **was})]
        return growth.extend(self, added, replace(self.cluster, servers=servers), self.records)

    def state(self) -> dict[str, Any]:
        """State for a continuation: numpy arrays, numbers and text."""
        return saved_state.save(self)

    def restore(self, state: Mapping[str, Any]) -> None:
        """Restoration of `state` in a new simulation with the same arguments and the same additions."""
        saved_state.restore(self, state)

    @property
    def _awaited(self) -> bool:
        """True if a server that leaves or returns can still matter."""
        return bool(self.open) or self.phase < len(self.phases) or self.arrived < len(self.jobs)

    def expect_arrival(self) -> None:
        """Agenda entry of the next job."""
        if self.arrived < len(self.jobs):
            self.agenda.schedule(self.jobs[self.arrived].arrival_ms, Priority.ARRIVAL, self.arrived)

    def expect_outage(self, after: tuple[int, int]) -> None:
        """Agenda entry of the next server that leaves or returns after `after` (ms, server)."""
        self.agenda.clear(Priority.OUTAGE)
        place = bisect_right(self.outages, after)
        if place < len(self.outages):
            at_ms, server = self.outages[place]
            self.schedule(at_ms, Priority.OUTAGE, server)

    def expect_phase(self) -> None:
        """Agenda entry of the next phase."""
        self.agenda.clear(Priority.PHASE)
        if self.phase < len(self.phases):
            self.agenda.schedule(self.phases[self.phase].at_ms, Priority.PHASE, self.phase)

    def request_slot(self, at_ms: int) -> None:
        """Request for a call of `on_slot` at the next start of a slot, from at_ms on."""
        if self.on_slot:
            slot = -(-at_ms // self.slot_ms)
            if slot not in self.agenda.due[_SLOT]:
                self.schedule(slot * self.slot_ms, Priority.SLOT, slot)

    def emit(self, at_ms: int, kind: str, data: Mapping[str, Any]) -> None:
        """Addition of an event at the end of the log."""
        self.seq += 1
        self.out.append(Event(self.seq, at_ms, kind, data))
