"""Current plans of a simulation: changes by a decision are checked, logged as events, and put on the agenda."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from scheduling.kernel.agenda import Agenda, Priority
from scheduling.kernel.beliefs.knowledge import Knowledge
from scheduling.kernel.ledger import Ledger, Overbooked
from scheduling.kernel.plan_scopes import OF_JOBS, OF_WORKERS, PlanScope
from scheduling.model.bars import END, JOB, NONE, Placement, Role
from scheduling.model.decision import Decision, WorkerPlan
from scheduling.model.values import Job

_WORKER = int(Role.WORKER)
Emit = Callable[[int, str, Mapping[str, Any]], None]  # (at_ms, kind, data) of an event


class Plans:
    """Plans of a simulation: the ledger, and the starts and completions of jobs by their newest plans."""

    def __init__(self, agenda: Agenda, emit: Emit) -> None:
        self.agenda, self.emit = agenda, emit
        self.ledger: Ledger
        self.jobs: Sequence[Job] = ()
        self.knowledge: Knowledge | None = None  # of the true work, in runs on beliefs
        self.begun_ms: dict[int, int] = {}  # open jobs -> first start, past or planned

    def finishes(self) -> Mapping[int, int]:
        """{job: when it completes by its newest plan}."""
        return self.agenda.due[Priority.COMPLETION]

    def forget(self, job: int) -> None:
        """Removal of a job that has ended."""
        self.begun_ms.pop(job, None)
        self.ledger.forget(job)

    def record_starts(self, jobs: Iterable[Sequence[int]]) -> None:
        """Record of the starts of [job, start_ms, finish_ms] in plans of workers: a hand-over keeps started jobs."""
        for job, start_ms, _ in jobs:
            if start_ms != NONE:
                self.begun_ms.setdefault(job, start_ms)

    def keep_starts(self, at_ms: int, kept: Container[int]) -> None:
        """Removal of planned starts at a hand-over, which ends the plans of all jobs but the kept ones."""
        starts = self.begun_ms.items()
        self.begun_ms = {job: start_ms for job, start_ms in starts if start_ms < at_ms or job in kept}

    def end(self, at_ms: int, job: int) -> None:
        """End of the plan of the job now, before its work is done."""
        self._change(at_ms, OF_JOBS, [job], [[job, self._start_ms(at_ms, job, ()), NONE]], [])

    def cut(self, at_ms: int, job: int) -> list[Placement]:
        """End of the plan of a job whose work is done now; the bars that it had left, which may have begun."""
        dropped = self.ledger.replace(at_ms, {job: []})
        self._change(at_ms, OF_JOBS, [job], [[job, self._start_ms(at_ms, job, ()), at_ms]], [])
        return dropped

    def commit(self, at_ms: int, decision: Decision) -> None:
        """Log of the plans of a decision; plans of jobs are in the ledger already (`Ledger.replace`)."""
        for job, bars in decision.plan.items():
            start_ms, finish_ms = self._start_ms(at_ms, job, bars), decision.finishes.get(job)
            self._promise(at_ms, job, finish_ms, bars)
            self._change(at_ms, OF_JOBS, [job], [[job, start_ms, NONE if finish_ms is None else finish_ms]], bars)
        if decision.workers is not None:
            self._commit_workers(at_ms, decision.workers)

    def _commit_workers(self, at_ms: int, plan: WorkerPlan) -> None:
        """Log of plans of workers, which must not outlast the jobs on them."""
        self.ledger.replace_workers(at_ms, plan)
        jobs = plan.jobs.tolist()
        if self.begun_ms:
            jobs = [[job, self.begun_ms.get(job, start_ms), finish_ms] for job, start_ms, finish_ms in jobs]
        for job, _, finish_ms in jobs:
            self._complete_at(job, None if finish_ms < 0 else finish_ms)
        order = np.argsort(plan.bars[:, JOB], kind="stable")
        owners, first = np.unique(plan.bars[order, JOB], return_index=True)
        ends = np.maximum.reduceat(plan.bars[order, END], first) if len(owners) else owners
        finishes = self.finishes()
        for job, end_ms in zip(owners.tolist(), ends.tolist(), strict=True):
            if finishes.get(job, end_ms) < max(at_ms, end_ms):
                raise Overbooked(
                    f"job {self.jobs[job].id} must not hold resources after its work is done at {finishes[job]} ms; "
                    f"its plan ends at {end_ms} ms"
                )
        self._change(at_ms, OF_WORKERS, plan.workers.tolist(), jobs, plan.bars)

    def _start_ms(self, at_ms: int, job: int, bars: Sequence[Placement]) -> int:
        """Start of the job under its new plan, past or planned; NONE without workers."""
        begun_ms = self.begun_ms.get(job, at_ms)
        if begun_ms < at_ms:
            return begun_ms
        starts = [bar.start_ms for bar in bars if bar.role == _WORKER]
        if not starts:
            self.begun_ms.pop(job, None)
            return NONE
        self.begun_ms[job] = start_ms = min(starts)
        return start_ms

    def _promise(self, at_ms: int, job: int, finish_ms: int | None, bars: Sequence[Placement]) -> None:
        """Planned completion of a job: the end of its last worker bar."""
        if finish_ms is not None:
            last_ms = max([bar.end_ms for bar in bars if bar.role == _WORKER], default=finish_ms)
            if finish_ms < at_ms or finish_ms != last_ms or max([bar.end_ms for bar in bars], default=0) > finish_ms:
                raise Overbooked(
                    f"job {self.jobs[job].id} must finish when its last worker stops ({last_ms} ms), not before now "
                    f"({at_ms} ms), and not hold resources afterwards; its plan finishes at {finish_ms} ms"
                )
        if self.knowledge is not None:
            finish_ms = self.knowledge.planned(at_ms, job, list(bars), finish_ms)
        self._complete_at(job, finish_ms)

    def _complete_at(self, job: int, finish_ms: int | None) -> None:
        if finish_ms is None:
            self.agenda.cancel(Priority.COMPLETION, job)
        else:
            self.agenda.schedule(finish_ms, Priority.COMPLETION, job)

    def _change(self, at_ms: int, scope: PlanScope, keys: list[Any], jobs: list[list[int]], bars: Any) -> None:
        """jobs: [job, start_ms, finish_ms] of each whose times change."""
        self.emit(at_ms, "plan_changed", {"scope": scope.name, "keys": keys, "jobs": jobs, "bars": bars})
