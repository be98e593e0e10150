"""Gap between the groups of a run and a wider search (Harmony Section V-F): a comparison at some moments, not a bound.

At some times of a run, its jobs are also grouped by the Oracle (exhaustive.py): exactly for small cases, otherwise over
all numbers of jobs, each with up to MAX_GROUPS groups. The paper measures Harmony in this way. The groups are compared
only where both have the same input: one site, machines that are all alike, exact times, memory that does not run out,
with or without spilling; and up to MAX_JOBS jobs. The groups of the run may score higher: beyond small cases, the wider
search considers only prefixes of the jobs in the order of Algorithm 1.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from scheduling.colocation.job_mapping import facts
from scheduling.colocation.memory.usage import machines_needed
from scheduling.colocation.selection.exhaustive import MAX_EXACT_JOBS, MAX_EXACT_MACHINES, all_pairs, exact
from scheduling.colocation.site_pool import Group, Pool
from scheduling.kernel.scheduler import BaseScheduler
from scheduling.model.values import Cluster, Job

MAX_JOBS = 100  # all pairs of 80 jobs on 100 machines take about a second
# of the numbers of compared regroupings: the first, then growing by this factor, and the newest
GROWTH = 4

Segment = Sequence[Any]  # (from_ms, until_ms or -1, data of `grouped`), in the order of the log


class Moment(NamedTuple):
    """Score of the groups from a time on, and the result of the wider search for the same jobs."""

    at_ms: int
    jobs: int
    groups: int
    score: float
    best: float
    best_jobs: int
    best_groups: int


def applies(scheduler: BaseScheduler) -> bool:
    """True for a scheduler that searches for groups."""
    return hasattr(scheduler.parameters, "regroup_gain")


def why_not(scheduler: BaseScheduler, cluster: Cluster) -> str | None:
    """Obstacle to a comparison; None where there is none."""
    chosen = scheduler.parameters
    if not applies(scheduler):
        return "this scheduler does not search for groups"
    sites = {server.site for server in cluster.servers if "worker" in server.roles}
    if len(sites) != 1:
        return "jobs are on two sites" if sites else "no server accepts workers"
    kinds = {(s.capacity, s.speed, s.nic_gbps, s.disk_gbps) for s in cluster.servers if "worker" in s.roles}
    if len(kinds) > 1:
        return "the search requires identical machines"
    if chosen.profiling != "instant" or chosen.profile_error:
        return "the scheduler did not know the exact times of its jobs"
    return "memory is not checked with fixed disk ratios" if chosen.memory == "fixed" else None


def regroupings(segments: Sequence[Segment]) -> list[int]:
    """Times at which jobs or machines of some group changed, in order."""
    last: dict[int, Mapping[str, Any]] = {}
    found = []
    for from_ms, _, data in segments:
        old = last.get(data["group"])
        if old is None or (old["servers"], old["jobs"]) != (data["servers"], data["jobs"]):
            found.append(from_ms)
        last[data["group"]] = data
    return sorted(set(found))


def chosen(moments: Sequence[int]) -> list[int]:
    """Regroupings to compare; most remain the same when more follow."""
    places = {0, len(moments) - 1}
    place = 1
    while place < len(moments):
        places.add(place)
        place *= GROWTH
    return [moments[place] for place in sorted(places) if 0 <= place < len(moments)]


def compare(
    scheduler: BaseScheduler, cluster: Cluster, jobs: Sequence[Job], segments: Sequence[Segment],
    arrived: Iterable[int], ends_ms: Mapping[int, int], at_ms: int,
) -> Moment | None:  # fmt: skip
    """Comparison at one time.

    arrived: jobs submitted until then and not rejected; ends_ms: their completions. None if it is too large or empty.
    """
    servers = [i for i, server in enumerate(cluster.servers) if "worker" in server.roles]
    if cluster.servers[servers[0]].site == "cloud":
        servers = servers[: scheduler.parameters.cloud_pool]
    machines = sum(not cluster.servers[i].is_away(at_ms) for i in servers)
    open_jobs = [job for job in arrived if jobs[job].arrival_ms <= at_ms < ends_ms.get(job, at_ms + 1)]
    if not open_jobs or not machines or len(open_jobs) > MAX_JOBS:
        return None
    standing = [data for from_ms, until_ms, data in segments if from_ms <= at_ms and (until_ms < 0 or at_ms < until_ms)]
    known = {job: one for job in open_jobs if (one := facts(jobs[job])) is not None}
    order = _order(open_jobs, segments, at_ms)
    pool = Pool(cluster, servers, known.__getitem__, _unused)
    spill = float(scheduler.parameters.memory != "none")

    def needs(job: int, memory_gb: float) -> tuple[float, float]:
        return machines_needed(known[job].data, memory_gb, spill, spill)

    work, weight = (
        pool.work([job for job in order if job in known], machines, known.__getitem__, needs),
        scheduler.parameters.cpu_weight,
    )
    tiny = len(work.comp) <= MAX_EXACT_JOBS and machines <= MAX_EXACT_MACHINES
    best = (exact if tiny else all_pairs)(work, weight)
    if best is None:
        return None
    score = (
        sum(g["machines"] * (weight * g["cpu_utilization"] + (1 - weight) * g["net_utilization"]) for g in standing)
        / machines
    )
    own = best.lists()
    return Moment(at_ms, len(open_jobs), len(standing), score, best.score, sum(map(len, own)), len(own))


def _order(open_jobs: Sequence[int], segments: Sequence[Segment], at_ms: int) -> list[int]:
    """Order of Algorithm 1: running jobs by start, paused jobs by the time of their pause, the others by arrival."""
    stretches: dict[int, tuple[int, int]] = {}  # job -> (begin, end or -1) of its last stretch in groups
    for from_ms, until_ms, data in segments:
        if from_ms > at_ms:
            break
        until_ms = -1 if until_ms > at_ms else until_ms
        for job in data["jobs"]:
            begin, end = stretches.get(job, (from_ms, from_ms))
            stretches[job] = (begin if end in (from_ms, -1) else from_ms, until_ms)

    def key(job: int) -> tuple[int, int, int]:
        begin, end = stretches.get(job, (0, 0))
        if job not in stretches:
            return 2, 0, job
        return (0, begin, job) if end == -1 else (1, end, job)

    return sorted(open_jobs, key=key)


def _unused(pool: Pool, id_: int, servers: list[int], jobs: list[int]) -> Group:
    raise NotImplementedError  # no job is placed here
