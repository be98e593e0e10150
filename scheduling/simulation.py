"""The kernel: plays jobs against a scheduler on a cluster and tells what happens as events. It knows no clock.

At one instant: completions (in the order of the jobs), then servers that leave or return, then arrivals, then the alarm that was
asked for, then `on_slot` when a slot begins and something has happened since the last call or a wake-up was asked for, and last of all
another world where one begins (handover.py). Events depend on cluster, jobs, scheduler, phases and seed alone: not on how the run is cut
into calls of `run_until`, nor on whether it was saved and restored in between.
"""

from __future__ import annotations

import heapq
import json
from bisect import bisect_right
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from dataclasses import asdict
from time import perf_counter
from typing import Any

import numpy as np

from scheduling.handover import Carried, Phase, carry, check_phases, goes_on, with_shares
from scheduling.lane_ledger import LaneLedger
from scheduling.ledger import Ledger, Overbooked
from scheduling.model import LARGEST, NONE, NOTHING, Cluster, Decision, Event, Job, LanePlan, ModelError, Placement, Role
from scheduling.pricing import price_event, slots_of
from scheduling.registry import BaseScheduler
from scheduling.utility import duration_slots, utility_at

_NEVER = 1 << 62  # ms, later than anything
_WORKER = int(Role.WORKER)


def simulate(cluster: Cluster, jobs: Sequence[Job], scheduler: BaseScheduler, seed: int) -> Iterator[Event]:
    """All events of a run, in order, lazily."""
    return Simulation(cluster, jobs, scheduler, seed).events()


class Simulation:
    """A run that advances step by step and can be saved between two steps and continued, to the byte.

    A step is one completion, one arrival, one call of `on_slot`, the beginning or the end, with all events that it causes.
    jobs: sorted by arrival_ms; at equal arrivals their order decides. phases: the worlds that follow, in order.
    """

    def __init__(
        self, cluster: Cluster, jobs: Sequence[Job], scheduler: BaseScheduler, seed: int, phases: Sequence[Phase] = ()
    ) -> None:
        check_phases(phases, cluster, jobs)
        self.seed, self.phases = seed, phases
        self.phase = 0  # phases[:phase] have begun
        self.slot_ms = cluster.slot_ms
        self.horizon_ms = cluster.horizon_slots * cluster.slot_ms if cluster.horizon_slots else _NEVER
        self.end_ms = min(self.horizon_ms, LARGEST)  # a server that is away until LARGEST never returns
        self.decision_seconds: list[float] = []  # wall time of each hook; never in an event
        self.seq = 0
        self.now_ms = 0
        self.begun = self.ended = False
        self.out: list[Event] = []
        self.arrived = 0  # jobs[:arrived] have arrived
        self.changed = 0  # changes[:changed] have happened
        self.open: set[int] = set()  # arrived, neither rejected nor completed
        self.finishes: dict[int, int] = {}  # job -> when its work is done under its newest plan
        self.completions: list[tuple[int, int]] = []  # heap of (finish_ms, job); stale where `finishes` says otherwise
        self.slot_due = _NEVER  # the boundary at which on_slot is owed
        self.wakes: list[int] = []  # heap of boundaries asked for
        self.alarm_ms = _NEVER  # when on_alarm is owed
        self.shares: list[tuple[int, float]] = []  # what hand-overs left of jobs' records, in order
        self.begun_ms: dict[int, int] = {}  # open jobs -> when they first ran or will: plans of lanes tell it after a hand-over
        self._enter(cluster, jobs, scheduler)
        self.ledger = _ledger(cluster, jobs, scheduler)

    def _enter(self, cluster: Cluster, jobs: Sequence[Job], scheduler: BaseScheduler) -> None:
        """Makes a world the present one, and starts its scheduler."""
        self.cluster, self.jobs, self.scheduler = cluster, jobs, scheduler
        self.arrivals = [job.arrival_ms for job in jobs] + [_NEVER]
        for index, (earlier, later) in enumerate(zip(self.arrivals, self.arrivals[1:], strict=False)):
            if later < earlier:
                raise ModelError(f"job {jobs[index + 1].id}: arrives at {later} ms, before the job in front of it ({earlier} ms)")
        self.changes = [
            *sorted({(ms, i) for i, s in enumerate(cluster.servers) for away in s.away for ms in away if 0 < ms < self.end_ms}),
            (_NEVER, 0),
        ]  # when a server leaves or returns
        cls = type(scheduler)
        self.on_arrival, self.on_completion, self.on_cluster_change, self.on_slot, self.on_alarm, self.prices = (
            getattr(scheduler, name) if getattr(cls, name) is not getattr(BaseScheduler, name) else None
            for name in ("on_arrival", "on_completion", "on_cluster_change", "on_slot", "on_alarm", "prices")
        )  # hooks that the class does not override are not called
        scheduler.start(cluster, jobs, np.random.default_rng(self.seed))

    def events(self) -> Iterator[Event]:
        """Everything from here to the end; `state` then stands behind the step of the last event taken."""
        while self.next_ms is not None:
            yield from self.run_until(max_events=1)

    def run_until(self, limit_ms: int | None = None, max_events: int = 1_000) -> list[Event]:
        """Steps until the next one lies behind limit_ms or max_events are reached (the last step may exceed it)."""
        out: list[Event] = []
        self.out = out
        limit = _NEVER if limit_ms is None else limit_ms
        while len(out) < max_events and not self.ended:
            at_ms, step = self._next()
            if at_ms > limit:
                break
            step(at_ms)
        return out

    @property
    def next_ms(self) -> int | None:
        """When the next step happens; None when the run is over."""
        return None if self.ended else self._next()[0]

    def state(self) -> dict[str, Any]:
        """All that a continuation needs: numpy arrays, numbers and text."""
        return {
            "seq": self.seq, "now_ms": self.now_ms, "begun": self.begun, "ended": self.ended, "arrived": self.arrived,
            "changed": self.changed, "phase": self.phase, "shares": list(self.shares), "begun_ms": sorted(self.begun_ms.items()),
            "open": np.array(sorted(self.open), dtype=np.int64),
            "finishes": np.array(sorted(self.finishes.items()), dtype=np.int64).reshape(-1, 2),
            "slot_due": self.slot_due, "wakes": sorted(self.wakes), "alarm_ms": self.alarm_ms,
            "bars": np.array(self.ledger.bars(self.now_ms), dtype=np.int64).reshape(-1, len(Placement._fields)),
            "rng": json.dumps(self.scheduler.rng.bit_generator.state),  # text: it holds integers of 128 bits
            "scheduler": self.scheduler.state(),
        }  # fmt: skip

    def restore(self, state: Mapping[str, Any]) -> None:
        """Continues where `state` was taken, in a simulation just made from the same arguments."""
        self.seq, self.now_ms, self.arrived = state["seq"], state["now_ms"], state["arrived"]
        self.changed, self.phase = state["changed"], state["phase"]
        self.shares = [(int(job), share) for job, share in state["shares"]]
        self.begun_ms = {int(job): int(ms) for job, ms in state["begun_ms"]}
        if self.phase:
            phase = self.phases[self.phase - 1]
            self._enter(phase.cluster, with_shares(phase.jobs, self.shares), phase.scheduler)
        self.begun, self.ended, self.slot_due = state["begun"], state["ended"], state["slot_due"]
        self.open, self.wakes = set(state["open"].tolist()), list(state["wakes"])
        self.alarm_ms = state["alarm_ms"]
        self.finishes = dict(state["finishes"].tolist())
        self.completions = sorted((at_ms, job) for job, at_ms in self.finishes.items())
        self.ledger = _ledger(self.cluster, self.jobs, self.scheduler)
        self.ledger.rebuild(self.now_ms, map(Placement._make, state["bars"].tolist()))
        self.scheduler.rng.bit_generator.state = json.loads(state["rng"])
        self.scheduler.restore(state["scheduler"])

    def _next(self) -> tuple[int, Callable[[int], None]]:
        """The next step and its time; at equal times completions before arrivals before the alarm before slots before phases."""
        if not self.begun:
            return 0, self._begin
        completions, finishes = self.completions, self.finishes
        while completions and finishes.get(completions[0][1]) != completions[0][0]:
            heapq.heappop(completions)
        at_ms, step = (completions[0][0], self._complete) if completions else (_NEVER, self._end)
        to_come = self.phase < len(self.phases)
        if self.changes[self.changed][0] < at_ms and (self.open or to_come or self.arrivals[self.arrived] != _NEVER):
            at_ms, step = self.changes[self.changed][0], self._change
        if self.arrivals[self.arrived] < at_ms:
            at_ms, step = self.arrivals[self.arrived], self._arrive
        if self.alarm_ms < at_ms:
            at_ms, step = self.alarm_ms, self._ring
        slot_ms = min(self.slot_due, self.wakes[0]) if self.wakes else self.slot_due
        if slot_ms < at_ms:
            at_ms, step = slot_ms, self._slot
        if to_come and self.phases[self.phase].at_ms < at_ms:
            return self.phases[self.phase].at_ms, self._change_world
        if at_ms == _NEVER:  # what is still open waits for the horizon
            at_ms = max(self.now_ms, self.horizon_ms) if self.open and self.horizon_ms != _NEVER else self.now_ms
        return at_ms, step

    def _begin(self, at_ms: int) -> None:
        self.begun = True
        cluster, scheduler = self.cluster, self.scheduler
        self._tell(at_ms, "run_started", {
            "scheduler": scheduler.name, "parameters": asdict(scheduler.parameters), "seed": self.seed, "jobs": len(self.jobs),
            "servers": len(cluster.servers), "slot_ms": cluster.slot_ms, "horizon_slots": cluster.horizon_slots,
        })  # fmt: skip
        if self.prices and scheduler.horizon:
            self._price(at_ms, range(scheduler.horizon))

    def _complete(self, at_ms: int) -> None:
        _, job = heapq.heappop(self.completions)
        del self.finishes[job]
        self.begun_ms.pop(job, None)
        self.open.discard(job)
        self.ledger.forget(job)
        self._happened(at_ms)
        row = self.jobs[job]
        worth = utility_at(row.utility, duration_slots(at_ms, row.arrival_ms, self.slot_ms))
        self._tell(at_ms, "job_completed", {"job": job, "utility": worth})
        if self.on_completion:
            self._ask(self.on_completion, at_ms, job)

    def _arrive(self, at_ms: int) -> None:
        job = self.arrived
        self.arrived += 1
        self.open.add(job)
        self._happened(at_ms)
        self._tell(at_ms, "job_arrived", {"job": job})
        if self.on_arrival:
            self._ask(self.on_arrival, at_ms, job)

    def _change(self, at_ms: int) -> None:
        _, server = self.changes[self.changed]
        self.changed += 1
        self._happened(at_ms)
        self._tell(at_ms, "server_changed", {"server": server, "away": self.cluster.servers[server].is_away(at_ms)})
        if self.on_cluster_change:
            self._ask(self.on_cluster_change, at_ms, server)

    def _slot(self, at_ms: int) -> None:
        self.now_ms = at_ms
        self.slot_due = _NEVER
        while self.wakes and self.wakes[0] <= at_ms:
            heapq.heappop(self.wakes)
        if self.on_slot:
            self._ask(self.on_slot, at_ms, at_ms // self.slot_ms)

    def _ring(self, at_ms: int) -> None:
        self.now_ms = at_ms
        self.alarm_ms = _NEVER
        if self.on_alarm:
            self._ask(self.on_alarm, at_ms, at_ms)

    def _change_world(self, at_ms: int) -> None:
        """The next phase begins."""
        self.now_ms = at_ms
        phase = self.phases[self.phase]
        self.phase += 1
        if goes_on(self.cluster, self.scheduler, phase):
            before = self.scheduler
            self._enter(phase.cluster, with_shares(phase.jobs, self.shares), phase.scheduler)
            self.scheduler.restore(before.state())
            self.scheduler.rng.bit_generator.state = before.rng.bit_generator.state
            stood, self.ledger = self.ledger.bars(at_ms), _ledger(self.cluster, self.jobs, self.scheduler)
            self.ledger.rebuild(at_ms, stood)
            self._tell_phase(at_ms, phase, Carried({}, [], [], []))
        else:
            self._hand_over(at_ms, phase)
        if self.prices and self.scheduler.horizon:
            self._price(at_ms, range(self.scheduler.horizon))

    def _hand_over(self, at_ms: int, phase: Phase) -> None:
        """Another cluster or scheduler: plans that fit are kept where they may be, all other open jobs are offered anew."""
        before, old, stood = self.scheduler, self.cluster, self.ledger.bars(at_ms)
        ledger = _ledger(phase.cluster, phase.jobs, phase.scheduler)
        carried = carry(at_ms, self.open, self.finishes, stood, before, phase, ledger)
        self._tell_phase(at_ms, phase, carried)
        self._let_go(at_ms, before.let_go(at_ms), carried.displaced, {bar.job for bar in stood})
        self.ledger, self.wakes, self.slot_due, self.alarm_ms = ledger, [], _NEVER, _NEVER
        self.shares += carried.shares
        self.begun_ms = {job: start_ms for job, start_ms in self.begun_ms.items() if start_ms < at_ms}
        self._enter(phase.cluster, with_shares(phase.jobs, self.shares), phase.scheduler)
        self.changed = bisect_right(self.changes, (at_ms, len(phase.cluster.servers)))
        for index, server in enumerate(phase.cluster.servers):
            if server.is_away(at_ms) != (index >= len(old.servers) or old.servers[index].is_away(at_ms)):
                self._tell(at_ms, "server_changed", {"server": index, "away": server.is_away(at_ms)})
        self.scheduler.take_over(at_ms, before, carried.kept)
        if self.on_arrival:
            for job in carried.offered:
                self._ask(self.on_arrival, at_ms, job)
        self._commit(at_ms, self.scheduler.taken_over(at_ms))
        self._happened(at_ms)

    def _tell_phase(self, at_ms: int, phase: Phase, carried: Carried) -> None:
        self._tell(at_ms, "edited", {
            "phase": self.phase, "said": list(phase.said), "scheduler": phase.scheduler.name,
            "parameters": asdict(phase.scheduler.parameters), "kept": len(carried.kept), "displaced": carried.displaced,
            "offered": len(carried.offered),
        })  # fmt: skip

    def _let_go(self, at_ms: int, decision: Decision, displaced: Sequence[int], planned: Container[int]) -> None:
        """Tells what ends now. planned: jobs that have plans of their own."""
        if decision.lanes is not None:
            for job, start_ms, _ in decision.lanes.jobs.tolist():
                if start_ms != NONE:
                    self.begun_ms.setdefault(job, start_ms)
        for job in displaced:
            self.finishes.pop(job, None)
            self._tell(
                at_ms, "decided", {"job": job, "kind": "preempted", "code": "place_taken", "values": {"phase": self.phase}}
            )
            if job in planned:
                self._tell(at_ms, "planned", {"job": job, "finish_ms": None, "bars": []})
        self._commit(at_ms, decision)

    def _end(self, at_ms: int) -> None:
        """Nothing more can happen: what is still open stays unfinished."""
        code = "stuck" if self.horizon_ms == _NEVER else "horizon"
        values = {} if self.horizon_ms == _NEVER else {"horizon_slots": self.cluster.horizon_slots}
        for job in sorted(self.open):
            self._tell(at_ms, "decided", {"job": job, "kind": "unfinished", "code": code, "values": values})
        self._tell(at_ms, "run_finished", {})
        self.now_ms = at_ms
        self.ended = True

    def _happened(self, at_ms: int) -> None:
        """From now on `on_slot` is owed at the next boundary."""
        self.now_ms = at_ms
        if self.on_slot and self.slot_due == _NEVER:
            boundary = -(-at_ms // self.slot_ms) * self.slot_ms
            if boundary < self.horizon_ms:
                self.slot_due = boundary

    def _ask(self, hook: Callable[[int, int], Decision], at_ms: int, argument: int) -> None:
        began = perf_counter()
        decision = hook(at_ms, argument)
        self.decision_seconds.append(perf_counter() - began)
        if decision is not NOTHING:
            self._commit(at_ms, decision)

    def _commit(self, at_ms: int, decision: Decision) -> None:
        """Checks the decision, tells it, and makes it the future."""
        plan, finishes = decision.plan, decision.finishes
        dropped = self.ledger.replace(at_ms, plan) if plan else []
        for job, kind, reason in decision.verdicts:
            if kind == "rejected":
                self.open.discard(job)
            self._tell(at_ms, "decided", {"job": job, "kind": kind, "code": reason.code, "values": reason.values})
        for job, bars in plan.items():
            if self.phases:
                self._note_start(at_ms, job, bars)
            finish_ms = finishes.get(job)
            if finish_ms is None:
                self.finishes.pop(job, None)
            else:
                self._promise(at_ms, job, finish_ms, bars)
            self._tell(at_ms, "planned", {"job": job, "finish_ms": finish_ms, "bars": bars})
        if decision.lanes is not None:
            self._commit_lanes(at_ms, decision.lanes)
        for kind, data in decision.told:
            self._tell(at_ms, kind, data)
        if decision.wake_ms is not None and self.on_slot:
            self._wake(at_ms, decision.wake_ms)
        if decision.alarm_ms is not None:
            self._set_alarm(at_ms, decision.alarm_ms)
        if plan and self.prices:
            self._price(at_ms, slots_of([*dropped, *(bar for bars in plan.values() for bar in bars)], at_ms, self.slot_ms))

    def _note_start(self, at_ms: int, job: int, bars: Sequence[Placement]) -> None:
        """A plan moves the start of a job that has not begun."""
        if self.begun_ms.get(job, at_ms) < at_ms:
            return
        starts = [bar.start_ms for bar in bars if bar.role == _WORKER]
        if starts:
            self.begun_ms[job] = min(starts)
        else:
            self.begun_ms.pop(job, None)

    def _commit_lanes(self, at_ms: int, plan: LanePlan) -> None:
        """The same for the futures of lanes, which must not outlast the jobs on them."""
        if not isinstance(self.ledger, LaneLedger):
            raise ModelError(f"scheduler {self.scheduler.name}: plans lanes, so it must set `lanes`")
        self.ledger.replace_lanes(at_ms, plan)
        if self.begun_ms:
            plan.jobs[:, 1] = [self.begun_ms.get(job, start_ms) for job, start_ms, _ in plan.jobs.tolist()]
        for job, _, finish_ms in plan.jobs.tolist():
            if finish_ms < 0:
                self.finishes.pop(job, None)
            else:
                self.finishes[job] = finish_ms
                heapq.heappush(self.completions, (finish_ms, job))
        order = np.argsort(plan.bars[:, 0], kind="stable")
        jobs, first = np.unique(plan.bars[order, 0], return_index=True)
        ends = np.maximum.reduceat(plan.bars[order, 4], first) if len(jobs) else jobs
        for job, end_ms in zip(jobs.tolist(), ends.tolist(), strict=True):
            if self.finishes.get(job, end_ms) < max(at_ms, end_ms):
                raise Overbooked(
                    f"job {self.jobs[job].id}: must hold nothing after its work is done at {self.finishes[job]} ms; its plan goes on until {end_ms} ms"
                )
        self._tell(at_ms, "lanes_planned", {"lanes": plan.lanes, "jobs": plan.jobs, "bars": plan.bars})

    def _promise(self, at_ms: int, job: int, finish_ms: int, bars: list[Placement]) -> None:
        """Notes when the job completes: at the end of its last worker bar."""
        last_ms = max([bar.end_ms for bar in bars if bar.role == _WORKER], default=finish_ms)
        if finish_ms < at_ms or finish_ms != last_ms or max([bar.end_ms for bar in bars], default=0) > finish_ms:
            raise Overbooked(
                f"job {self.jobs[job].id}: must finish when its last worker stops ({last_ms} ms), not before now ({at_ms} ms), and "
                f"hold nothing afterwards; its plan finishes at {finish_ms} ms"
            )
        self.finishes[job] = finish_ms
        heapq.heappush(self.completions, (finish_ms, job))

    def _wake(self, at_ms: int, wake_ms: int) -> None:
        if wake_ms <= at_ms:
            raise ModelError(f"scheduler {self.scheduler.name}: a wake-up must lie after now ({at_ms} ms), got {wake_ms} ms")
        boundary = -(-wake_ms // self.slot_ms) * self.slot_ms
        if boundary < self.end_ms and boundary not in self.wakes:
            heapq.heappush(self.wakes, boundary)

    def _set_alarm(self, at_ms: int, alarm_ms: int) -> None:
        if alarm_ms < at_ms:
            raise ModelError(f"scheduler {self.scheduler.name}: an alarm must not lie before now ({at_ms} ms), got {alarm_ms} ms")
        self.alarm_ms = alarm_ms if alarm_ms < self.horizon_ms else _NEVER

    def _price(self, at_ms: int, slots: Sequence[int]) -> None:
        data = price_event(self.scheduler, slots, all_slots=self.scheduler.horizon)
        if data is not None:
            self._tell(at_ms, "priced", data)

    def _tell(self, at_ms: int, kind: str, data: Mapping[str, Any]) -> None:
        self.seq += 1
        self.out.append(Event(self.seq, at_ms, kind, data))


def _ledger(cluster: Cluster, jobs: Sequence[Job], scheduler: BaseScheduler) -> Ledger | LaneLedger:
    """An empty one."""
    return LaneLedger(cluster, jobs) if scheduler.lanes else Ledger(scheduler.seen(cluster), jobs, scheduler.limits_on(cluster))
