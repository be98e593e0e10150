"""True state of jobs, known to the kernel and not to schedulers: work done, and the time at which it ends.

Schedulers get records of jobs with the believed work; the true records stay here. A belief that is exactly the true run
time gives the true record, and such a job is left to its plan, as in a run without beliefs.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from scheduling.kernel.beliefs.belief import Beliefs, scaled
from scheduling.model.bars import NONE, Placement
from scheduling.model.limits import MAX_INT
from scheduling.model.values import Cluster, Job, ModelError

if TYPE_CHECKING:
    from scheduling.kernel.scheduler import BaseScheduler


def cannot_believe(scheduler: BaseScheduler, cluster: Cluster) -> str:
    """Reason why a scheduler cannot run on beliefs; empty if it can."""
    if scheduler.believes and scheduler.model.pace(scheduler, cluster) is not None:
        return ""
    return f"cannot run on predicted run times, because {scheduler.no_beliefs or scheduler.model.no_beliefs}"


class Knowledge:
    """Believed records, true progress, and the newest plan of each open job."""

    def __init__(self, beliefs: Beliefs, scheduler: BaseScheduler, cluster: Cluster, jobs: Sequence[Job]) -> None:
        if why := cannot_believe(scheduler, cluster):
            raise ModelError(f"scheduler {scheduler.name}: {why}")
        pace = scheduler.model.pace(scheduler, cluster)
        assert pace is not None
        self.beliefs, self.pace, self.jobs = beliefs, pace, jobs
        self.records = [self._record(row, beliefs.before(job, row)) for job, row in enumerate(jobs)]
        self.submitted: list[int] = []  # believed run times of the jobs that have arrived, in ms
        self.believed: dict[int, int] = {}  # of open jobs, whose beliefs may have been renewed
        self.done: dict[int, float] = {}  # worker-ms before the newest plan
        self.plans: dict[int, tuple[int | None, list[Placement]]] = {}  # (end as planned, bars)

    def submit(self, job: int) -> int:
        """Believed run time of a job that arrives now; its record changes."""
        found = self.believed[job] = self.beliefs.at_submission(job, self.jobs[job])
        self.submitted.append(found)
        self.records[job] = self._record(self.jobs[job], found)
        return found

    def planned(self, at_ms: int, job: int, bars: list[Placement], finish_ms: int | None) -> int | None:
        """Time at which the job has to be checked under its new plan: its work ends, or its belief is used up."""
        row = self.jobs[job]
        self.done[job] = self._done(at_ms, job)
        self.plans[job] = finish_ms, bars
        if self.records[job] is row:
            return finish_ms
        end_ms = self.pace.end_ms(row, self.done[job], bars)
        return finish_ms if end_ms is None else end_ms

    def has_ended(self, at_ms: int, job: int) -> bool:
        """True if the true work is done at a time that `planned` gave."""
        row = self.jobs[job]
        _, bars = self.plans[job]
        if self.records[job] is row:
            return True
        end_ms = self.pace.end_ms(row, self.done[job], bars)
        return end_ms is not None and end_ms <= at_ms

    def cut_short(self, at_ms: int, job: int) -> bool:
        """True if the plan of a job whose work is done goes on, or does not promise its end now."""
        finish_ms, _ = self.plans[job]
        return finish_ms != at_ms

    def complete(self, job: int) -> None:
        """Removal of a job whose work is done; the beliefs learn from it."""
        row = self.jobs[job]
        self.forget(job)
        self.beliefs.ended(job, row, max(1, round(self.pace.alone_ms(row))))

    def forget(self, job: int) -> None:
        """Removal of a job that has ended."""
        for book in (self.believed, self.done, self.plans):
            book.pop(job, None)

    def renew(self, at_ms: int, job: int) -> tuple[Job, dict[str, int]]:
        """(record of the work that is now believed to be left, its numbers) of a job that has used up its belief."""
        row, before = self.jobs[job], self.believed[job]
        ran_ms = math.floor(self._done(at_ms, job) / self.pace.workers(row))
        later_ms = self.beliefs.later(job, row, before, max(ran_ms, before))
        found = self.believed[job] = min(MAX_INT, max(ran_ms + 1, later_ms))
        values = {"believed_ms": before, "ran_ms": ran_ms, "later_ms": found}
        return self._record(row, found - ran_ms, whole=False), values

    def state(self) -> dict[str, Any]:
        """State for `restore`."""
        bars = [bar for _, (_, plan) in sorted(self.plans.items()) for bar in plan]
        finishes = [(job, NONE if at is None else at) for job, (at, _) in sorted(self.plans.items())]
        return {
            "submitted": np.array(self.submitted, dtype=np.int64), "believed": sorted(self.believed.items()),
            "done": sorted(self.done.items()), "finishes": finishes,
            "bars": np.array(bars, dtype=np.int64).reshape(-1, len(Placement._fields)),
            "beliefs": self.beliefs.state(),
        }  # fmt: skip

    def restore(self, state: Mapping[str, Any]) -> None:
        """The inverse of `state`."""
        self.submitted = state["submitted"].tolist()
        for job, believed_ms in enumerate(self.submitted):
            self.records[job] = self._record(self.jobs[job], believed_ms)
        self.believed = {int(job): int(ms) for job, ms in state["believed"]}
        self.done = {int(job): float(done) for job, done in state["done"]}
        bars: dict[int, list[Placement]] = {int(job): [] for job, _ in state["finishes"]}
        for row in map(Placement._make, state["bars"].tolist()):
            bars[row.job].append(row)
        self.plans = {
            int(job): (None if at_ms == NONE else int(at_ms), bars[int(job)]) for job, at_ms in state["finishes"]
        }
        self.beliefs.restore(state["beliefs"])

    def _done(self, at_ms: int, job: int) -> float:
        """Work of the job that is done by then, in worker-ms."""
        _, bars = self.plans.get(job, (None, []))
        stretches = self.pace.rates(self.jobs[job], bars, at_ms)
        return self.done.get(job, 0.0) + sum(rate * (end - begin) for begin, end, rate in stretches)

    def _record(self, row: Job, believed_ms: int, whole: bool = True) -> Job:
        """The job with the believed work; whole: of all of it, which may be the true one."""
        alone_ms = self.pace.alone_ms(row)
        if not alone_ms or not math.isfinite(alone_ms):
            return row  # it has no known work, and is rejected
        share = believed_ms / alone_ms
        return row if whole and share == 1 else scaled(row, share, self.pace.exact(row))
