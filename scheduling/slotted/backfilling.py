"""Queue of backfilling schedulers: its order, quotas, and the estimated run times of jobs.

A backfilling scheduler estimates how long a job will hold its gang: by the time limit that its user stated, or, for a
job without one, by the actual run time; or by a predictor (scheduling/run_times) that learns from the jobs that have
ended. A job that outlives a limit is expected to end one slot later; one that outlives a prediction, when it has run
twice as long [Tsafrir et al.], but not beyond its limit.
The queue is kept in lines, one for each kind of gang: gangs of a kind fit on the same servers, so of each line only the
first job that may start has to be tried.
"""

from __future__ import annotations

import math
from bisect import bisect_left, insort
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby, takewhile
from typing import Any

import numpy as np

from scheduling.kernel.parameters import parameter
from scheduling.kernel.resource_vector import GUARD, fits, lesser, pack, unpack
from scheduling.model.decision import NOTHING, Decision, Reason, Verdict
from scheduling.model.training_models import EPSILON
from scheduling.model.values import Cluster, Job
from scheduling.reporting.quantities import counted
from scheduling.run_times import MENU as PREDICTORS
from scheduling.run_times import predictors
from scheduling.slotted.backfill_lines import Key, Line, Starts, has_room
from scheduling.slotted.gang_queue import Gang, GangQueue, Units
from scheduling.slotted.gangs.packing import Packing
from scheduling.slotted.gangs.rates import GangParameters
from scheduling.slotted.reasons import since_arrival

ARRIVAL, UTILITY, SHORTEST, FAIR_SHARE = ORDERS = ("arrival", "utility", "shortest", "fair-share")
LIMITS, ACTUAL = "limits", "actual"
ESTIMATE_TITLES = {
    LIMITS: "Time limit", ACTUAL: "Actual run time",
    **{name: cls.title for name, cls in predictors().items() if cls.learns},
}  # fmt: skip
LineName = tuple[int | str | None, ...]  # GPUs and CPUs of a worker in thousandths, workers, and last the user


@dataclass(frozen=True, slots=True)
class BackfillParameters(GangParameters):
    order: str = parameter(
        ARRIVAL,
        "Arrival; utility (highest priority first); shortest (estimated run time first); or "
        "fair-share (users with the least recent usage first)",
        choices=ORDERS,
        title="Order of the queue",
    )
    estimates: str = parameter(
        LIMITS,
        "Estimated run time of a job: limits (its time limit, or the actual run time if it has none), actual (always "
        "the actual run time), or a predictor that learns from ended jobs (until one has ended, as with limits)",
        choices=ESTIMATE_TITLES,
        left_out=PREDICTORS.notice(),
        title="Run-time estimates",
    )
    half_life_ms: int = parameter(
        7 * 86_400_000,
        "For the order fair-share: time after which past usage counts half",
        low=60_000,
        high=2**53,
        unit="ms",
        title="Half-life of usage",
    )
    user_percent: int = parameter(
        100,
        "Largest share of the cluster that running jobs of one user may hold",
        low=1,
        high=100,
        unit="%",
        title="Quota of a user",
    )
    queue_percent: int = parameter(
        100,
        "Largest share of the cluster that running jobs of one queue may hold",
        low=1,
        high=100,
        unit="%",
        title="Quota of a queue",
    )


class BackfillScheduler(GangQueue):
    """Base: subclasses define reservations, and in `on_slot` who starts."""

    Parameters = BackfillParameters

    def start(self, cluster: Cluster, jobs: Sequence[Job], rng: np.random.Generator) -> None:
        self.lines: dict[LineName, Line] = {}
        self.fresh: list[int] = []  # waiting jobs that no call has considered
        self.changed = True  # capacity was freed or lost since the last call
        self.until: dict[int, int] = {}  # running job -> slot in which it is expected to end
        self.ends: list[tuple[int, int]] = []  # (slot, job) of the same
        learning = predictors().get(self.parameters.estimates)
        self.predictor = learning() if learning is not None else None
        self.estimates: dict[int, int] = {}  # slots, of jobs that wait or run
        self.planned: dict[int, int] = {}  # running jobs that outlived a belief -> slot until which they have bars
        self.usage: dict[str, tuple[float, int]] = {}  # user -> (share x ms of the cluster, when)
        self.held: dict[tuple[str, str], int] = {}  # ("user" | "queue", name) -> packed amounts of running jobs
        super().start(cluster, jobs, rng)
        servers = [server.capacity for server in cluster.servers]
        self.total = [sum(column) for column in zip(*servers, strict=True)]
        percents = (("user", self.parameters.user_percent), ("queue", self.parameters.queue_percent))
        self.quotas = {
            who: GUARD | pack([amount * percent // 100 for amount in self.total]) & self.training.fields
            for who, percent in percents
            if percent < 100
        }

    def on_arrival(self, now_ms: int, job: int) -> Decision:
        decision = super().on_arrival(now_ms, job)
        if decision is NOTHING and (who := self._over(job, {})) is not None:
            percent = getattr(self.parameters, f"{who}_percent")
            reason = Reason(f"{self.name}.exceeds_quota", {"of": who, "percent": percent, **self.gangs[job].values})
            self.leave(job)
            self.fresh.remove(job)
            del self.gangs[job], self.estimates[job]
            return Decision(verdicts=(Verdict(job, "rejected", reason),))
        return decision

    def on_completion(self, now_ms: int, job: int) -> Decision:
        if self.predictor is not None:
            self.predictor.observe(self.jobs[job], now_ms - self.begun[job])
        decision = super().on_completion(now_ms, job)
        del self.estimates[job]
        return decision

    def on_overrun(self, now_ms: int, job: int, rest: Job) -> Decision:
        decision = super().on_overrun(now_ms, job, rest)
        ends = [bar.end_ms for bar in decision.plan[job]]
        self.planned[job] = max(ends, default=now_ms) // self.cluster.slot_ms
        return decision

    def join(self, job: int) -> None:
        gang = self.gangs[job]
        if job not in self.estimates:
            self.estimates[job] = self._estimate(job, gang)
        line = self.line_of(job)
        line.least = lesser(GUARD | line.least, GUARD | gang.shape.worker) & ~GUARD
        insort(line.keys, self.key(job))
        self.fresh.append(job)

    def join_again(self, job: int) -> None:
        del self.estimates[job]  # less of its work is left
        self.join(job)

    def leave(self, job: int) -> None:
        """Removal of a job from the queue."""
        line = self.line_of(job)
        del line.keys[bisect_left(line.keys, self.key(job))]
        if not line.keys:
            del self.lines[self._name(job)]

    def line_of(self, job: int) -> Line:
        """Line of a waiting job."""
        name = self._name(job)
        if name not in self.lines:
            user = self.jobs[job].user or "" if self.parameters.order == FAIR_SHARE else None
            self.lines[name] = Line(self.gangs[job].workers, user, self.gangs[job].shape.worker)
        return self.lines[name]

    def queued(self) -> Sequence[int]:
        return sorted(job for line in self.lines.values() for _, job in line.keys)

    def freed(self) -> None:
        self.changed = True

    def key(self, job: int) -> Key:
        """Rank of a job, and the job."""
        order, utility = self.parameters.order, self.jobs[job].utility
        if order == UTILITY:
            return -utility.priority if utility is not None else 0.0, job
        return self.estimates[job] if order == SHORTEST else 0, job

    def rank(self, line: Line, now_ms: int) -> float:
        """Rank of a line's user; 0 where users are not ranked."""
        return 0.0 if line.user is None else self._used(line.user, now_ms)

    def hold(self, job: int, units: Units, begun_ms: int) -> None:
        super().hold(job, units, begun_ms)
        gang = self.gangs[job]
        if job not in self.estimates:
            self.estimates[job] = self._estimate(job, gang)
        self.expect(job, begun_ms // self.cluster.slot_ms + self.estimates[job])
        for owner in self._owners(job):
            self.held[owner] = self.held.get(owner, 0) + self._amounts(gang)

    def expect(self, job: int, slot: int) -> None:
        """Expected end of a running job."""
        if job in self.until:
            del self.ends[bisect_left(self.ends, (self.until[job], job))]
        self.until[job] = slot
        insort(self.ends, (slot, job))

    def extend_overdue(self, slot: int) -> bool:
        """Later expected ends of running jobs that have used up their estimates; True if there are any."""
        overdue = [job for end, job in takewhile(lambda item: item[0] <= slot, self.ends)]
        for job in overdue:
            self.expect(job, self._later(job, slot))
        return bool(overdue)

    def release(self, now_ms: int, job: int) -> Units:
        begun_ms, user = self.begun[job], self.jobs[job].user or ""
        del self.ends[bisect_left(self.ends, (self.until[job], job))]
        del self.until[job]
        self.planned.pop(job, None)
        if self.parameters.order == FAIR_SHARE:
            self.usage[user] = self._ended(user, now_ms) + self._share(job) * (now_ms - begun_ms), now_ms
        for owner in self._owners(job):
            self.held[owner] -= self._amounts(self.gangs[job])
        return super().release(now_ms, job)

    def begin(self, starts: Starts, now_ms: int, job: int, units: Units, code: str, **values: Any) -> None:
        """Start of a waiting job on units that are reserved for it."""
        self.leave(job)
        gang = self.gangs[job]
        starts.plan[job] = self._bars(now_ms, job, gang, units, starts.finishes)
        numbers = {"waited_ms": now_ms - self.jobs[job].arrival_ms, **gang.values, **values}
        kind = "resumed" if job in self.left else "started"
        starts.verdicts.append(Verdict(job, kind, Reason(f"{self.name}.{code}", numbers)))

    def reject(self, starts: Starts, job: int) -> None:
        """Rejection of a waiting job that does not fit the empty cluster."""
        self.leave(job)
        del self.estimates[job]
        starts.verdicts.append(Verdict(job, "rejected", Reason("gang_fits_nowhere", self.gangs.pop(job).values)))

    def place(self, gang: Gang, packing: Packing | None = None) -> Units | None:
        """Units that fit into what is free, which are reserved there; None if they do not fit."""
        packing = packing or self.packing
        if gang.workers > 1 and not has_room(packing, gang.shape.worker, gang.workers):
            return None  # sooner than by placing one after another
        placed = packing.place(gang.shape, gang.workers)
        return None if placed is None else [(role, server, number) for (role, server), number in placed.items()]

    def over_quota(self, job: int) -> bool:
        """True if a quota does not allow the job to start now."""
        return bool(self.quotas) and self._over(job, self.held) is not None

    def expected_ends(self) -> Iterator[tuple[int, list[int]]]:
        """(slot, jobs that are expected to end then), in order."""
        for end, items in groupby(self.ends, key=lambda item: item[0]):
            yield end, [job for _, job in items]

    def state(self) -> dict[str, Any]:
        return super().state() | {
            "fresh": sorted(self.fresh),
            "changed": self.changed,
            "usage": [[user, used, at_ms] for user, (used, at_ms) in sorted(self.usage.items())],
            "estimates": sorted(self.estimates.items()),
            "until": sorted(self.until.items()),
            "planned": sorted(self.planned.items()),
            "history": self.predictor.state() if self.predictor is not None else [],
        }

    def restore(self, state: Mapping[str, Any]) -> None:
        self.estimates = {int(job): int(slots) for job, slots in state["estimates"]}
        super().restore(state)
        for job, slot in state["until"]:
            self.expect(int(job), int(slot))
        if self.predictor is not None:
            self.predictor.restore(state["history"])
        self.planned = {int(job): int(slot) for job, slot in state.get("planned", ())}
        self.fresh, self.changed = [int(job) for job in state["fresh"]], bool(state["changed"])
        self.usage = {user: (used, at_ms) for user, used, at_ms in state["usage"]}

    def _name(self, job: int) -> LineName:
        gang, user = self.gangs[job], self.jobs[job].user or ""
        gpu, cpu, *_ = unpack(gang.shape.worker)
        return gpu, 0 if gpu else cpu, gang.workers, user if self.parameters.order == FAIR_SHARE else None

    def _estimate(self, job: int, gang: Gang) -> int:
        """Estimated run time in slots, at least 1; at its slowest where the place decides the speed."""
        row, slot_ms = self.jobs[job], self.cluster.slot_ms
        predicted_ms = self.predictor.predict(row) if self.predictor is not None else None
        if predicted_ms is not None:
            return -(-predicted_ms // slot_ms)
        if self.parameters.estimates != ACTUAL and row.limit_ms is not None:
            return -(-row.limit_ms // slot_ms)
        slowest = min(self.training.per_slot(row, gang.workers, internal) for internal in (True, False))
        return max(1, math.ceil(self._work_left(job) / slowest - EPSILON))

    def _later(self, job: int, slot: int) -> int:
        """Expected end of a job that has used up its estimate by that slot."""
        if self.predictor is None:
            return max(slot + 1, self.planned.get(job, 0))
        begun, limit_ms = self.begun[job] // self.cluster.slot_ms, self.jobs[job].limit_ms
        twice = slot + max(slot - begun, 1)
        return twice if limit_ms is None else max(slot + 1, min(twice, begun - (-limit_ms // self.cluster.slot_ms)))

    def _amounts(self, gang: Gang) -> int:
        """Packed amounts of the whole gang."""
        return gang.workers * gang.shape.worker + gang.ps * gang.shape.ps

    def _owners(self, job: int) -> list[tuple[str, str]]:
        row = self.jobs[job]
        return [(who, (row.user if who == "user" else row.group) or "") for who in self.quotas]

    def _over(self, job: int, held: Mapping[tuple[str, str], int]) -> str | None:
        """The quota that the job would exceed in addition to what is held."""
        amounts = self._amounts(self.gangs[job])
        for owner in self._owners(job):
            if not fits(self.quotas[owner[0]], held.get(owner, 0) + amounts):
                return owner[0]
        return None

    def _share(self, job: int) -> float:
        """Largest share of a resource of the cluster that the job holds."""
        amounts = unpack(self._amounts(self.gangs[job]))
        return max((need / there for need, there in zip(amounts, self.total, strict=True) if need and there), default=0)

    def _ended(self, user: str, now_ms: int) -> float:
        """Decayed usage of the user's runs that have ended."""
        used, at_ms = self.usage.get(user, (0.0, now_ms))
        return float(used * 0.5 ** ((now_ms - at_ms) / self.parameters.half_life_ms))

    def _used(self, user: str, now_ms: int) -> float:
        """Usage of a user, with the runs that have not ended."""
        own = [job for job in self.running if (self.jobs[job].user or "") == user]
        return self._ended(user, now_ms) + sum(self._share(job) * (now_ms - self.begun[job]) for job in own)


def sentences(name: str) -> dict[str, Any]:
    """Reasons of a backfilling scheduler."""
    return {
        f"{name}.in_turn": lambda v: f"Started in its turn with {_gang(v)}, {since_arrival(v['waited_ms'])}.",
        f"{name}.backfilled": _backfilled,
        f"{name}.exceeds_quota": lambda v: (
            f"Rejected: its request of {_gang(v)} exceeds {v['percent']} % of the cluster, the quota of a {v['of']}."
        ),
    }


def _backfilled(values: Mapping[str, Any]) -> str:
    when = since_arrival(values["waited_ms"])
    return f"Backfilled with {_gang(values)}, {when}, ahead of job {values['reserved']}: it delays no reservation."


def _gang(values: Mapping[str, Any]) -> str:
    return f"{counted(values['workers'], 'worker')} and {counted(values['ps'], 'parameter server')}"
