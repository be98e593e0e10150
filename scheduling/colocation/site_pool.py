"""Machines of one site, the groups of jobs on them, and the progress of each job: the fluid layer of Harmony and
baselines.

Between two changes every job of a group makes 1 / pace iterations a ms, from the moment it is ready (a job that moves
first restores its model and reads its input again). A job is done at the first whole ms at which all its iterations
are. Everything else follows from (servers, jobs) of the groups and from these records, so that is all that a checkpoint
holds.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from scheduling.colocation.job_mapping import REFERENCE_DISK, REFERENCE_NIC, Facts, workers_on
from scheduling.colocation.memory.hill_climbing import Climb
from scheduling.colocation.memory.usage import GroupMachines
from scheduling.colocation.selection.grouping import Work
from scheduling.model.bars import NONE
from scheduling.model.values import BANDWIDTH, MEMORY, Cluster, Server

DONE = 1e-9  # iterations; less than that is left of a job that is done
EARLY_MS = 1e-6  # a product that is a whole ms up to rounding is that ms
GB_PER_MS = 0.125 / 1000  # of 1 Gbps


class Record(NamedTuple):
    """Progress of a job. Waiting jobs are in group NONE; `begun_ms` is when the present stretch in groups began."""

    done: float  # iterations, at since_ms
    since_ms: int
    ready_ms: int
    pace_ms: float
    group: int
    begun_ms: int

    def at(self, now_ms: int) -> float:
        """Iterations done by now."""
        if self.group == NONE:
            return self.done
        return self.done + max(0, now_ms - max(self.since_ms, self.ready_ms)) / self.pace_ms


FRESH = Record(0.0, 0, 0, 1.0, NONE, NONE)


class Times(NamedTuple):
    """Times of the jobs of a group on its machines: ms of computation and of communication per iteration.

    busy: ms of computation that each machine has on average, where a job can use only a part of them; None: `comp`.
    """

    comp: list[float]
    comm: list[float]
    busy: list[float] | None = None

    @property
    def computed(self) -> list[float]:
        """Mean computation of a machine, by job."""
        return self.comp if self.busy is None else self.busy

    @property
    def iteration_ms(self) -> float:
        """Eq. (1)."""
        longest = max((c + n for c, n in zip(self.comp, self.comm, strict=True)), default=0.0)
        return max(sum(self.comp), sum(self.comm), longest, 1e-6)

    @property
    def utilization(self) -> tuple[float, float]:
        """Eq. (3)."""
        period = self.iteration_ms
        return sum(self.computed) / period, sum(self.comm) / period


@dataclass(slots=True)
class Group:
    """Jobs that run together, on these servers. Lists of numbers are in the order of the jobs."""

    id: int
    servers: list[int]
    jobs: list[int]
    times: Times
    paces_ms: list[float]
    disk: list[float]
    model: list[float]
    coordinated: bool = True  # Eq. (1) holds; else jobs contend
    guess: tuple[float, float] = (0.0, 0.0)  # Eq. (3) by what the scheduler believes of its jobs
    climb: Climb | None = None  # how the ratios are found, where they are not given
    due_ms: int = NONE  # when its epoch under way is over
    # the share of time in which CPU and network are busy with the jobs' work
    utilization: tuple[float, float] = field(init=False)

    def __post_init__(self) -> None:
        if self.coordinated:
            self.utilization = self.times.utilization
        else:
            cpu = sum(c / pace for c, pace in zip(self.times.computed, self.paces_ms, strict=True))
            self.utilization = cpu, sum(n / pace for n, pace in zip(self.times.comm, self.paces_ms, strict=True))


@dataclass
class Change:
    """Change at one instant: the earlier records of the touched jobs, and the groups."""

    now_ms: int
    before: dict[int, Record] = field(default_factory=dict)
    groups: set[int] = field(default_factory=set)
    adapted: set[int] = field(default_factory=set)  # groups of which only the ratios on disk may have changed
    measured: set[int] = field(default_factory=set)  # jobs whose profiling ended
    servers: dict[int, list[int]] = field(default_factory=dict)  # of groups that were touched, as they were
    # jobs whose machines ran out of memory -> iterations that are left to them
    lost: dict[int, float] = field(default_factory=dict)


class Pool:
    """Pool of one site. form: makes a Group of (id, servers, jobs)."""

    def __init__(
        self, cluster: Cluster, servers: Sequence[int], facts: Callable[[int], Facts],
        form: Callable[[Pool, int, list[int], list[int]], Group]
    ) -> None:  # fmt: skip
        self.servers = list(servers)
        self.facts, self._form = facts, form
        self.rows = {s: cluster.servers[s] for s in servers}
        kinds: dict[Any, int] = {}
        self.kind = {s: kinds.setdefault((row.capacity, row.speed), len(kinds)) for s, row in self.rows.items()}
        self.examples: list[Server] = [
            next(self.rows[s] for s in servers if self.kind[s] == kind) for kind in kinds.values()
        ]
        self.by_speed = sorted(range(len(self.examples)), key=lambda kind: -self.examples[kind].speed)
        self.slowest = min(server.speed for server in self.examples)
        self.shares = [sum(kind == k for kind in self.kind.values()) / len(servers) for k in kinds.values()]
        self.available = {s for s in servers if not self.rows[s].is_away(0)}
        self.nic = {s: row.nic_gbps or row.capacity[BANDWIDTH] / 1000 or REFERENCE_NIC for s, row in self.rows.items()}
        self.disk = {s: (row.disk_gbps or REFERENCE_DISK) * GB_PER_MS for s, row in self.rows.items()}
        self.memory = {s: row.capacity[MEMORY] / 1000 for s, row in self.rows.items()}
        self.least_memory = min(self.memory.values())
        self.slowest_nic = min(self.nic.values())
        self.groups: dict[int, Group] = {}
        self.of: dict[int, Record] = {}  # of the jobs that are neither done nor rejected
        self.paused: list[int] = []  # by the time of their pause
        self.profiled: list[int] = []  # first come first
        self.powers: dict[int, list[float]] = {}

    @property
    def idle(self) -> list[int]:
        """Available machines in no group."""
        used = {s for group in self.groups.values() for s in group.servers}
        return sorted(self.available - used)

    @property
    def waiting(self) -> list[int]:
        """Jobs that could run: the paused, then the profiled."""
        return self.paused + self.profiled

    def running(self, groups: Iterable[Group]) -> list[int]:
        """The jobs of groups, by start."""
        return sorted((job for group in groups for job in group.jobs), key=lambda job: (self.of[job].begun_ms, job))

    def power(self, job: int) -> list[float]:
        """Speed of a machine of each type for the job, in workers of the reference speed."""
        found = self.powers.get(job)
        if found is None:
            found = self.powers[job] = [workers_on(self.facts(job).demand, server) for server in self.examples]
        return found

    def times(self, servers: Sequence[int], jobs: Sequence[int], facts: Callable[[int], Facts] | None = None) -> Times:
        """Eq. (2) on these machines: computation is shared by their power, communication takes the slowest network.

        Ours: a job computes with at most the workers that it can use, those on the fastest machines.
        """
        nic = REFERENCE_NIC / min(self.nic[s] for s in servers)
        facts_of = facts or self.facts
        counts = [0] * len(self.examples)
        for s in servers:
            counts[self.kind[s]] += 1
        comp, comm, busy = [], [], []
        one = counts[0] if len(counts) == 1 else None  # machines, where all are alike
        for job in jobs:
            known, power = facts_of(job), self.power(job)
            total = one * power[0] if one else sum(n * p for n, p in zip(counts, power, strict=True))
            used = total if known.most is None else self._used(known.most, counts, power, total)
            comp.append(known.comp / used)
            busy.append(known.comp / total)
            comm.append(known.comm * nic)
        return Times(comp, comm, None if busy == comp else busy)

    def _used(self, most: int, counts: Sequence[int], power: Sequence[float], total: float) -> float:
        """Power of at most n workers, on the fastest of these machines; it is `total` if all of them are used."""
        if total <= most * self.slowest:
            return total
        left, used = float(most), 0.0
        for kind in self.by_speed:
            speed = self.examples[kind].speed
            workers = min(left, counts[kind] * power[kind] / speed)
            left -= workers
            used += workers * speed
        return used if left < EARLY_MS else total

    def group_machines(self, servers: Sequence[int]) -> GroupMachines:
        """Machines in the form of the memory model."""
        return GroupMachines(len(servers), min(self.memory[s] for s in servers), min(self.disk[s] for s in servers))

    def work(
        self,
        jobs: Sequence[int],
        machines: int,
        facts: Callable[[int], Facts],
        needs: Callable[[int, float], tuple[float, float]],
    ) -> Work:
        """The jobs as Algorithm 1 sees them: on average machines of the site, its slowest network and least memory.

        needs: the machines of this memory that a job fills (spread, peak).
        """
        known = [facts(job) for job in jobs]
        power = [sum(n * p for n, p in zip(self.shares, self.power(job), strict=True)) for job in jobs]
        need = [needs(job, self.least_memory) for job in jobs]
        most = [np.inf if k.most is None else k.most / p for k, p in zip(known, power, strict=True)]
        return Work(
            np.array([k.comp / p for k, p in zip(known, power, strict=True)], dtype=float),
            np.array([k.comm for k in known], dtype=float) * (REFERENCE_NIC / self.slowest_nic),
            machines,
            np.array([spread for spread, _ in need], dtype=float),
            np.array([peak for _, peak in need], dtype=float),
            None if np.isinf(most).all() else np.array(most, dtype=float),
        )

    def take(self, job: int) -> None:
        """Registration of a job that can run from now on."""
        self.of[job] = FRESH
        self.profiled.append(job)

    def finish(self, job: int) -> int:
        """End of a job, and the id of the group that it leaves.

        Records of other jobs stay until the group is placed again.
        """
        id_ = self.of.pop(job).group
        group = self.groups[id_]
        self.groups[id_] = self.form(id_, group.servers, [other for other in group.jobs if other != job])
        return id_

    def place(self, change: Change, id_: int, servers: list[int], jobs: Sequence[int], moving: bool = True) -> None:
        """Assignment of these jobs and servers to group `id_` from now on.

        The caller places what it held before and no other group takes.

        moving: jobs that come from another group, from a pause, or to other machines do not run while they move.
        """
        now_ms, old = change.now_ms, self.groups.get(id_)
        group = self.form(id_, sorted(servers), sorted(jobs))
        change.groups.add(id_)
        change.servers.setdefault(id_, old.servers if old is not None else [])
        for place, job in enumerate(group.jobs):
            was = self._touch(change, job)
            pace_ms = group.paces_ms[place]
            if was.group == id_ and change.servers[id_] == group.servers:
                if was.pace_ms == pace_ms and job not in change.lost:
                    self.of[job] = was
                    continue
                ready_ms = was.ready_ms
            else:
                ready_ms = now_ms + (self.moving_ms(job, group, place) if moving and was.begun_ms != NONE else 0)
            begun_ms = was.begun_ms if was.group != NONE else now_ms
            self.of[job] = Record(change.lost.get(job, was.at(now_ms)), now_ms, ready_ms, pace_ms, id_, begun_ms)
        self.groups[id_] = group
        self._resume(group.jobs)

    def form(self, id_: int, servers: list[int], jobs: list[int]) -> Group:
        """Group that is not placed yet; it may be empty."""
        return self._form(self, id_, servers, jobs) if jobs else Group(id_, servers, [], Times([], []), [], [], [])

    def dissolve(self, change: Change, id_: int) -> None:
        """End of the group; its jobs have to be placed elsewhere."""
        group = self.groups.pop(id_)
        change.groups.add(id_)
        change.servers.setdefault(id_, group.servers)

    def leave(self, change: Change, job: int) -> None:
        """Pause of the job; its work done is kept."""
        was = self._touch(change, job)
        self.of[job] = was
        if was.group != NONE:
            done = change.lost.get(job, was.at(change.now_ms))
            self.of[job] = was._replace(done=done, since_ms=change.now_ms, group=NONE)
        if job not in self.paused:
            self.paused.append(job)

    def set_back(self, change: Change, job: int) -> None:
        """Loss of a job's work since its last epoch, as memory ran out; the job is placed again or has to leave."""
        was, per_epoch = self._touch(change, job), self.facts(job).per_epoch
        if was.group != NONE:
            change.lost[job] = float(was.at(change.now_ms) // per_epoch * per_epoch)

    def moving_ms(self, job: int, group: Group, place: int) -> int:
        """Checkpoint, its restoring, and reading the input that belongs in memory, by all disks of the group."""
        data = self.facts(job).data
        size = data.input_gb * (1 - group.disk[place]) + 2 * data.model_gb
        return math.ceil(size / (len(group.servers) * min(self.disk[s] for s in group.servers)) - EARLY_MS)

    def finish_ms(self, job: int) -> int:
        """Time at which the job's last iteration ends, if nothing changes."""
        record, known = self.of[job], self.facts(job)
        left = known.iterations - record.done
        begin = max(record.since_ms, record.ready_ms)
        return begin if left <= DONE else math.ceil(begin + left * record.pace_ms - EARLY_MS)

    def state(self) -> dict[str, Any]:
        """The groups, the records and the queues."""
        return {
            "present": sorted(self.available),
            "groups": [[group.id, group.servers, group.jobs] for group in self.groups.values()],
            "jobs": np.array(sorted(self.of), dtype=np.int64),
            "records": np.array([[*self.of[job]] for job in sorted(self.of)],
                                dtype=np.float64).reshape(-1, len(Record._fields)),
            "paused": self.paused,
            "profiled": self.profiled,
        }  # fmt: skip

    def restore(self, state: Mapping[str, Any]) -> None:
        """The inverse of `state`."""
        self.available = {int(s) for s in state["present"]}
        for job, row in zip(state["jobs"].tolist(), state["records"].tolist(), strict=True):
            done, since_ms, ready_ms, pace_ms, group, begun_ms = row
            self.of[job] = Record(done, int(since_ms), int(ready_ms), pace_ms, int(group), int(begun_ms))
        self.groups = {
            int(id_): self.form(int(id_), list(servers), list(jobs)) for id_, servers, jobs in state["groups"]
        }
        self.paused, self.profiled = list(state["paused"]), list(state["profiled"])

    def _touch(self, change: Change, job: int) -> Record:
        """The job's record as it was before this instant."""
        return change.before.setdefault(job, self.of[job])

    def _resume(self, jobs: Iterable[int]) -> None:
        chosen = set(jobs)
        if self.paused:
            self.paused = [job for job in self.paused if job not in chosen]
        if self.profiled:
            self.profiled = [job for job in self.profiled if job not in chosen]
