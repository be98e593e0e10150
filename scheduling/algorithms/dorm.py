"""Dorm (Sun et al. 2017), a baseline of OASiS and PD-ORS.

An integer program divides the cluster whenever a job arrives or ends.

The method of Sun et al. as far as it is known; their program is restated for jobs with chunks or samples. Of all ways
to give the active jobs workers and parameter servers on types of servers, the program takes the one that uses most,
summed over resources, where

- fairness: the shares differ from those of (divisible) DRF by at most theta1 x 2 x resources, added up over the jobs,
  and
- adjustment: of the jobs that run, at most the share theta2 (rounded up) get another number of workers.

Then jobs that keep their number stay in place, and the others are placed round robin; one that does not fit loses
worker after worker until it does. When the solver finds nothing, because there is no such allocation or it runs out of
time or nodes, the last allocation stays.

Differs from that:
- A job has exactly as many parameter servers as its workers need; else the objective fills servers with idle ones.
- Which type a worker goes to does not enter the placement, so only the sums are integers.
- Types are servers of equal capacity but for bandwidth; where there are more than MAX_TYPES, or MAX_PAIRS with the
  jobs, those of equal GPUs, or all of a role.
- When nothing runs and the fairness cannot be had in whole workers, it is given up: the cluster would stay idle for
  ever.
- A job that holds nothing can be given workers without counting as adjusted.
- With `narrow` the running jobs that may change are chosen before the program is solved (solvers/dorm_program.py);
  the gap is then relative to the relaxation of the whole program, and allocations may be missed.
A job has at most MAX_WORKERS workers. The node limit ends the search, so that the same inputs give the same result; the
time limit is a safeguard for stalled machines; a reason then states the solver status "time".
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from scheduling.kernel.parameters import parameter
from scheduling.model.decision import Reason, Verdict
from scheduling.model.values import BANDWIDTH, GPU, Cluster, Job
from scheduling.slotted.gangs.packing import PS, WORKER, Packing, Units, workers_of
from scheduling.slotted.gangs.rates import GangParameters
from scheduling.slotted.reallocation import MAX_WORKERS, ReallocatingScheduler
from scheduling.slotted.solvers.dorm_program import Answer, Demands, Pool, share_out

MAX_TYPES = 12
MAX_PAIRS = 400  # of jobs and types


@dataclass(frozen=True, slots=True)
class DormParameters(GangParameters):
    theta1: float = parameter(
        0.1,
        "Total deviation from fair shares, relative to twice the number of resources",
        low=0.0,
        high=1.0,
        title="Bound on unfairness",
    )
    theta2: float = parameter(
        0.1,
        "Share of running jobs whose number of workers may change per event",
        low=0.0,
        high=1.0,
        title="Bound on reallocations",
    )
    gap: float = parameter(0.01, "Relative gap at which the solver may stop", low=0.0, high=1.0, title="Optimality gap")
    narrow: bool = parameter(
        True,
        "Select the running jobs that may change before solving the integer program; faster, but not always optimal",
        title="Preselection of jobs",
    )
    node_limit: int = parameter(1, "Maximum number of branch-and-bound nodes", low=1)
    time_limit: float = parameter(
        60.0, "Safety limit, normally not reached; if reached, results may differ between runs",
        low=0.01, high=3600.0, unit="s",
    )  # fmt: skip


class Dorm(ReallocatingScheduler):
    """Dorm: numbers of workers from the program, placement round robin."""

    name = "dorm"
    title = "Dorm"
    paper = "Sun, Wen, Ta, Yan: Towards Distributed Machine Learning in Shared Clusters, SMARTCOMP 2017"
    summary = (
        "Maximizes utilization by an integer program, within bounds on unfairness and on the "
        "number of jobs that are reallocated."
    )
    Parameters = DormParameters

    def start(self, cluster: Cluster, jobs: Sequence[Job], rng: np.random.Generator) -> None:
        super().start(cluster, jobs, rng)
        self.pointers = [0, 0]  # per role, the server at which the next search begins
        self.waiting: set[int] = set()  # jobs with a decision that they wait for an allocation
        self.answer = Answer("optimal", None, 0.0)
        self.wanted: dict[int, int] = {}  # workers in the newest allocation

    def allocate(self, now_ms: int, slot: int) -> tuple[Mapping[int, Units], Sequence[Verdict]]:
        jobs = sorted(self.shapes)
        before = {job: workers_of(self.held.get(job, ())) for job in jobs}
        self.answer = self._ask(jobs, before)
        if self.answer.workers is None:
            self.wanted = before
            verdicts = [
                Verdict(job, "admitted", self._waits())
                for job in jobs
                if job not in self.left and job not in self.waiting
            ]
            self.waiting.update(verdict.job for verdict in verdicts)
        else:
            self.wanted = dict(zip(jobs, self.answer.workers.tolist(), strict=True))
            verdicts = []
        return self._pack(before), verdicts

    def why(self, job: int, kind: str, units: Units) -> Reason:
        workers = workers_of(units)
        values = {
            "workers": workers, "ps": self.shapes[job].ps_of(workers), "wanted": self.wanted[job],
            "jobs": len(self.shapes), "solver": self.answer.status,
            "gap": self.answer.gap if math.isfinite(self.answer.gap) else None,
        }  # fmt: skip
        return Reason("shared_out", values) if workers else Reason("shared_out_nothing", values)

    def state(self) -> dict[str, Any]:
        return super().state() | {"pointers": list(self.pointers), "waiting": sorted(self.waiting)}

    def restore(self, state: Mapping[str, Any]) -> None:
        super().restore(state)
        self.pointers, self.waiting = (
            [int(server) for server in state["pointers"]],
            {int(job) for job in state["waiting"]},
        )

    def _waits(self) -> Reason:
        return Reason(
            "allocation_kept", {"solver": self.answer.status, "jobs": len(self.shapes), "running": len(self.held)}
        )

    def _ask(self, jobs: Sequence[int], before: Mapping[int, int]) -> Answer:
        """The solver's answer; without the fairness if that is all that keeps an idle cluster idle."""
        parameters, limited = self.parameters, self.servers.limited
        pools = list(self._pools(jobs))
        if not pools:
            return Answer("infeasible", None, math.inf)
        shapes, rows = [self.shapes[job] for job in jobs], [self.jobs[job] for job in jobs]
        rooms = np.minimum(np.sum([p.worker_room for p in pools], axis=0), MAX_WORKERS)
        demands = Demands(
            worker=np.array([row.worker for row in rows])[:, limited],
            ps=np.array([row.ps for row in rows])[:, limited],
            most=np.minimum([shape.most for shape in shapes], rooms),
            need=np.array([shape.need for shape in shapes]),
            give=np.array([shape.give for shape in shapes]),
            before=np.array([before[job] for job in jobs]),
        )
        unfair = parameters.theta1 * 2 * len(limited)
        changes = math.ceil(parameters.theta2 * len(self.held))
        limits = parameters.gap, parameters.node_limit, parameters.time_limit, parameters.narrow
        answer = share_out(demands, pools, unfair, changes, *limits)
        if answer.workers is None and not self.held:
            answer = share_out(demands, pools, None, changes, *limits)
        return answer

    def _pools(self, jobs: Sequence[int]) -> Iterator[Pool]:
        """Types of the available servers, and how many units of each job their empty servers hold."""
        limited = self.servers.limited
        for roles, members in self._types():
            capacity = np.array([self.servers.amounts[i] for i in members])[:, limited]
            kinds, number = np.unique(capacity, axis=0, return_counts=True)
            rooms = []
            for role in (WORKER, PS):
                room = np.zeros(len(jobs), dtype=np.int64)
                for place, job in enumerate(jobs):
                    demand = self.jobs[job].worker if role == WORKER else self.jobs[job].ps
                    wanted = np.array(demand)[limited]
                    if not roles[role]:
                        continue
                    if not wanted.any():
                        room[place] = MAX_WORKERS
                        continue
                    each = (kinds[:, wanted > 0] // wanted[wanted > 0]).min(axis=1)
                    room[place] = min(int((each * number).sum()), MAX_WORKERS)
                rooms.append(room)
            yield Pool(capacity.sum(axis=0), *rooms)

    def _types(self) -> list[tuple[tuple[bool, bool], list[int]]]:
        """Types of servers as (takes workers, takes parameter servers) and members, as fine as the limits allow."""
        servers = self.servers
        here = [i for i, there in enumerate(servers.open) if there]
        groups: dict[Any, list[int]] = {}
        for key in (lambda amounts: amounts[:BANDWIDTH], lambda amounts: amounts[GPU], lambda amounts: None):
            groups = defaultdict(list)
            for i in here:
                groups[(servers.roles[0][i], servers.roles[1][i]), key(servers.amounts[i])].append(i)
            if len(groups) <= MAX_TYPES and len(groups) * len(self.shapes) <= MAX_PAIRS:
                break
        return [(roles, members) for (roles, _), members in groups.items()]

    def _pack(self, before: Mapping[int, int]) -> dict[int, Units]:
        """Jobs that keep their number stay; the others are placed in order, with as many workers as fit."""
        packing = Packing(self.servers, self.pointers)
        allocations = {
            job: units for job, units in self.held.items()
            if self.wanted[job] == before[job] and all(self.servers.open[server] for _, server, _ in units)
        }  # fmt: skip
        for job, units in allocations.items():
            packing.take(self.shapes[job], units)
        for job, workers in self.wanted.items():
            for fewer in range(0 if job in allocations else workers, 0, -1):
                placed = packing.gang(self.shapes[job], fewer)
                if placed is not None:
                    allocations[job] = placed
                    break
        self.pointers = packing.pointers
        return allocations
