"""Gavel: shares of time on each type of machine by a linear program, in rounds (Narayanan et al., OSDI 2020).

At every round that follows an arrival, a completion or a change of the machines, a policy gives each job a share of
time on each type of machine, from the throughputs of the jobs on the types (rounds/share_programs.py). In each round
the pairs of a job and a type run in the order of share due / share received, as far as machines are free
(rounds/round_choice.py); a job that runs on the same type again stays on its machines [Sections 3 to 5].

Types of machines are those of the cluster: capacity, speed, network and disk (rounds/machine_types.py). The throughput
of a job follows from its record and the type; Gavel measures it or estimates it from similar jobs (Section 6).

Differs from the paper: a job has whole machines, as many of a type as its workers fill, so that their number may differ
by type. Moving to other machines takes the time of reading the model and the input there; in the paper the cost of a
preemption is measured, and small. What is due and received is added up since the job arrived, so that a change of the
shares forgets nothing; the public code starts again whenever shares change and keeps a separate deficit. Of the shares
with the greatest minimum those with the greatest sum are taken. The total of throughputs counts each as a share of the
job's best one. Each site has its own shares, since a group runs at one site; a job goes to the site with the least work
for its machines. Not modelled: space sharing, hierarchical policies, costs and objectives of service level.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from scheduling.colocation.rounds.machine_types import (
    Fit,
    MachineType,
    available_by_type,
    fit,
    least_machines,
    types_of,
)
from scheduling.colocation.rounds.round_choice import choose
from scheduling.colocation.rounds.share_programs import MAKESPAN, MAX_MIN, MAX_SUM, shares
from scheduling.colocation.rounds.standings import RECEIVED, TARGET, Standings
from scheduling.colocation.scheduler_base import GroupedScheduler, cloud_pool
from scheduling.colocation.site_pool import DONE, Change, Group, Pool
from scheduling.kernel.parameters import Parameters, parameter
from scheduling.model.bars import NONE
from scheduling.model.decision import Reason
from scheduling.model.values import Cluster, Job
from scheduling.reporting.quantities import counted, duration

EQUAL, PRIORITY = "equal", "priority"


@dataclass(frozen=True, slots=True)
class GavelParameters(Parameters):
    policy: str = parameter(
        MAX_MIN,
        "What the shares maximize: the least normalized throughput, the sum of throughputs, or the speed at which all "
        "jobs end together",
        choices={MAX_MIN: "Max-min fairness", MAX_SUM: "Total throughput", MAKESPAN: "Makespan"},
    )
    round_min: float = parameter(
        6.0, "Time for which machines are assigned to jobs", low=0.01, high=10_080.0, unit="min",
        title="Length of a round",
    )  # fmt: skip
    machines: int = parameter(
        0,
        "Number of machines of a job; 0: as many as its workers fill",
        low=0,
        high=100_000,
        title="Machines per job",
    )
    weights: str = parameter(
        EQUAL,
        "Weights of the jobs under max-min fairness: equal, or the priorities of their utilities",
        choices={EQUAL: "Equal", PRIORITY: "By priority"},
    )
    cloud_pool: int = cloud_pool()


@dataclass
class Site:
    """Types of machines of a site, and the standings of its jobs.

    counts: available machines of each type. fits: of each job on these, by type.
    """

    types: list[MachineType]
    counts: list[int]
    standings: Standings
    fits: dict[int, list[Fit]] = field(default_factory=dict)


def _runs(values: Any) -> str:
    due, received = (f"{100 * values[name]:.3g} %" for name in ("share", "received"))
    away = f" Reading its model and input takes {duration(values['away_ms'])}." if values["away_ms"] else ""
    return (
        f"Runs this round on {counted(values['machines'], 'machine')} of the type of {values['like']}: its share of "
        f"time there is {due}, and it has received {received} so far. Time per iteration: "
        f"{duration(values['pace_ms'])}.{away}"
    )


class Gavel(GroupedScheduler):
    """Gavel: each group is one job on machines of one type; groups change at the beginning of rounds."""

    name = "gavel"
    title = "Gavel"
    paper = (
        "Narayanan, Santhanam, Kazhamiaka, Phanishayee and Zaharia: Heterogeneity-Aware Cluster Scheduling Policies "
        "for Deep Learning Workloads, OSDI 2020"
    )
    summary = (
        "Computes for each job a share of time on each type of machine, by a linear program over its throughput there, "
        "and assigns machines in rounds so that each job receives its shares."
    )
    uses = ("requested_workers", "worker")
    Parameters = GavelParameters
    spill = False
    balanced = True
    reasons = {
        "gavel.runs": _runs,
        "gavel.waits": lambda v: (
            f"Suspended after {v['iterations']:,.1f} iterations: jobs that are further behind their shares run in this "
            f"round. Its share of time is {100 * v['share']:.3g} %, and it has received {100 * v['received']:.3g} % so "
            "far."
        ),
        "gavel.no_type": lambda v: (
            f"Rejected: needs {v['need']:.4g} GB of memory on machines of one type; the type with the most memory has "
            f"{v['most']:.4g} GB."
        ),
        "gavel.machine_left": lambda v: (
            f"Suspended after {v['iterations']:,.1f} iterations: a machine of its group is unavailable. It is "
            "considered again in the next round."
        ),
    }

    def start(self, cluster: Cluster, jobs: Sequence[Job], rng: np.random.Generator) -> None:
        super().start(cluster, jobs, rng)
        self.round_ms = max(1, round(self.parameters.round_min * 60_000))
        self.sites: list[Site] = []
        for pool in self.pools:
            types = types_of(pool)
            self.sites.append(Site(types, available_by_type(types, pool.available), Standings(len(types))))

    def adopt_plans(self, now_ms: int, before: Any, kept: Mapping[int, Any]) -> None:
        super().adopt_plans(now_ms, before, kept)
        for pool, site in zip(self.pools, self.sites, strict=True):
            site.counts, site.standings.last_ms = available_by_type(site.types, pool.available), now_ms

    def state(self) -> dict[str, Any]:
        return super().state() | {"standings": [site.standings.state() for site in self.sites]}

    def restore(self, state: Mapping[str, Any]) -> None:
        super().restore(state)
        for pool, site, saved in zip(self.pools, self.sites, state["standings"], strict=True):
            site.counts = available_by_type(site.types, pool.available)
            site.standings.restore(saved)

    def _form(self, pool: Pool, id_: int, servers: list[int], jobs: list[int]) -> Group:
        times = pool.times(servers, jobs)
        nothing = [0.0] * len(jobs)
        return Group(id_, servers, jobs, times, [times.iteration_ms] * len(jobs), nothing, nothing[:])

    def _due_ms(self, at_ms: int) -> int:
        """Time of the decision about events at `at_ms`: at once about servers, else at the beginning of a round."""
        return at_ms if self.moved else -(-at_ms // self.round_ms) * self.round_ms

    def _fits(self, pool: Pool, job: int) -> bool:
        """True if the machines of one type together hold the job alone."""
        site = self._site(pool)
        known, row = self.facts(job), self.jobs[job]
        return any(fit(one, row, known, len(one.servers)).machines for one in site.types)

    def _too_small(self, job: int) -> Reason:
        # memory of all machines of a type without what the runtime keeps, and what the job needs on them
        most, need = max(
            (len(one.servers) * one.usable_gb, least_machines(one, self.facts(job)) * one.usable_gb)
            for site in self.sites
            for one in site.types
        )
        return Reason("gavel.no_type", {"need": need, "most": most})

    def _arrived(self, pool: Pool, job: int) -> None:
        super()._arrived(pool, job)
        self._site(pool).standings.add(job)

    def _left(self, pool: Pool, job: int) -> None:
        site = self._site(pool)
        site.standings.remove(job)
        site.fits.pop(job, None)

    def _next_alarm(self, now_ms: int) -> int | None:
        """Start of the next round, if its choice could differ from that of this one."""
        return now_ms + 1 if any(site.standings.may_change() for site in self.sites) else None

    def _cause(self, finished: Sequence[tuple[int, int]], moved: Sequence[int]) -> str:
        return super()._cause(finished, moved) if finished or moved else "round"

    def _decide(self, pool: Pool, change: Change, finished: list[tuple[int, int]], moved: list[int]) -> None:
        site = self._site(pool)
        for server in moved:
            (pool.available.discard if self.cluster.servers[server].is_away(change.now_ms) else pool.available.add)(
                server
            )
        for group in list(pool.groups.values()):
            if not group.jobs:
                pool.dissolve(change, group.id)
            elif not pool.available.issuperset(group.servers):
                self._stop(pool, site, change, group)
        if moved:
            site.counts, site.standings.stale = available_by_type(site.types, pool.available), True
            site.fits.clear()
        if change.now_ms % self.round_ms == 0:
            self._round(pool, site, change)

    def _round(self, pool: Pool, site: Site, change: Change) -> None:
        """Start of a round: accounts of the earlier rounds, new shares if something has changed, and the choice."""
        own = site.standings
        own.account(change.now_ms, self.round_ms)
        jobs = own.jobs.tolist()
        machines = np.array([[one.machines for one in self._fits_of(site, job)] for job in jobs], dtype=np.int64)
        machines = machines.reshape(own.rounds[TARGET].shape)
        if own.stale:
            self._share(pool, site, jobs, machines, change.now_ms)
        target, due, received = own.rounds
        chosen = choose(target, due + target, received, machines, site.counts, own.current)
        place_of = {jobs[row]: place for row, place in chosen}
        kept: set[int] = set()
        for group in list(pool.groups.values()):
            job = group.jobs[0]
            row, place = own.row(job), place_of.get(job)
            if place is None:
                self._stop(pool, site, change, group)
            elif place == own.current[row] and len(group.servers) == machines[row, place]:
                kept.add(job)
            else:
                pool.dissolve(change, group.id)
        free = set(pool.idle)
        for row, place in chosen:
            if jobs[row] not in kept:
                servers = [server for server in site.types[place].servers if server in free][: machines[row, place]]
                free.difference_update(servers)
                own.current[row] = place
                pool.place(change, self.next_group, servers, [jobs[row]])
                self.next_group += 1

    def _share(self, pool: Pool, site: Site, jobs: Sequence[int], machines: np.ndarray, now_ms: int) -> None:
        """New shares of all jobs of the site."""
        own = site.standings
        own.stale = False
        if not jobs:
            return
        rates = np.array([[one.rate for one in self._fits_of(site, job)] for job in jobs])
        left = np.array([max(DONE, self.facts(job).iterations - pool.of[job].at(now_ms)) for job in jobs])
        own.rounds[TARGET] = shares(
            self.parameters.policy, rates, machines, np.array(site.counts), self._weights(jobs), left
        )

    def _weights(self, jobs: Sequence[int]) -> np.ndarray:
        if self.parameters.weights == EQUAL:
            return np.ones(len(jobs))
        utilities = (self.jobs[job].utility for job in jobs)
        return np.array([1.0 if utility is None else utility.priority for utility in utilities])

    def _site(self, pool: Pool) -> Site:
        return self.sites[self.pools.index(pool)]

    def _fits_of(self, site: Site, job: int) -> list[Fit]:
        """The job on the available machines of each type."""
        found = site.fits.get(job)
        if found is None:
            row, known, requested = self.jobs[job], self.facts(job), self.parameters.machines
            found = site.fits[job] = [
                fit(one, row, known, there, requested) for one, there in zip(site.types, site.counts, strict=True)
            ]
        return found

    def _stop(self, pool: Pool, site: Site, change: Change, group: Group) -> None:
        job = group.jobs[0]
        pool.leave(change, job)
        pool.dissolve(change, group.id)
        site.standings.current[site.standings.row(job)] = NONE

    def _why_grouped(self, pool: Pool, job: int, values: dict[str, Any]) -> Reason:
        site = self._site(pool)
        own, row = site.standings, site.standings.row(job)
        place = int(own.current[row])
        share, received = (float(own.rounds[book, row, place]) for book in (TARGET, RECEIVED))
        values = {name: values[name] for name in ("group", "machines", "pace_ms", "away_ms")}
        values |= {"like": site.types[place].example.name, "share": share}
        return Reason("gavel.runs", values | {"received": own.had(row, received, self.round_ms)})

    def _why_paused(self, pool: Pool, change: Change, job: int) -> Reason:
        own, row = self._site(pool).standings, self._site(pool).standings.row(job)
        iterations = {"iterations": pool.of[job].done}
        if not pool.available.issuperset(change.servers[change.before[job].group]):
            return Reason("gavel.machine_left", iterations)
        share, received = (float(own.rounds[book, row].sum()) for book in (TARGET, RECEIVED))
        return Reason("gavel.waits", iterations | {"share": share, "received": own.had(row, received, self.round_ms)})
