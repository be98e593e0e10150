"""Summary of a run at its newest time: jobs by state, utility, allocation by site, metrics so far."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from scheduling.model.bars import COUNT, END, JOB, ROLE, SERVER, START
from scheduling.model.values import RESOURCES, SITES, Server
from twin.analysis.comparison import side_of
from twin.analysis.comparison.metrics import figures, slowdown, unknown
from twin.analysis.situation import load, present_ms
from twin.eventlog.fold import DIED, NEVER, UTILITY
from twin.eventlog.job_states import STATES, job_states
from twin.eventlog.state_cache import Newest
from twin.files.stored_jobs import any_utility, demands_by_role, some_of
from twin.models import Run
from twin.scenarios import store

ROLES = ("worker", "ps")
THOUSAND = 1_000  # of a unit of a resource


def now(run: Run) -> dict[str, Any]:
    """{sim_ms, jobs: {state: count}, utility, unavailable_jobs, sites}.

    sites: [{site, servers, roles, capacity, allocated: {resource: share}}].
    utility: None where jobs have none. servers, roles: the servers of the site, without those that edits have removed;
    capacity, allocated: of the servers that are available now; unavailable_jobs: number of jobs on the others.
    Allocated are the limited resources under the current scheduler; none while jobs are on typed workers or share
    machines.
    """
    with Newest(run) as state:
        cluster, jobs = store.of_run(run)
        at_ms = max(state.sim_ms, present_ms(run))
        codes = job_states(state, at_ms)
        counts = np.bincount(codes[codes >= 0], minlength=len(STATES)).tolist()
        done = codes == STATES.index("completed")
        utility = float(state.jobs.rows[done, UTILITY].sum()) if any_utility(jobs) else None
        bars = state.bars.rows
        bars = bars[
            (bars[:, START] <= at_ms) & (bars[:, END] > at_ms) & (bars[:, DIED] == NEVER) & (bars[:, SERVER] >= 0)
        ]
    servers = [one for begin, one in store.clusters(run) if begin <= at_ms][-1].servers
    there = np.array([not server.is_away(at_ms) for server in servers], dtype=bool)
    available = there[bars[:, SERVER]]
    unavailable_jobs = len(np.unique(bars[~available, JOB]))
    bars = bars[available]
    placed = some_of(jobs, bars[:, JOB].tolist())
    demand = demands_by_role(placed)[bars[:, ROLE], np.arange(len(bars))]
    packed = store.packed(run, at_ms)
    site = np.array([SITES.index(server.site) for server in cluster.servers], dtype=np.int64)
    used = np.zeros((len(SITES), len(RESOURCES)))
    if len(bars):
        np.add.at(used, site[bars[:, SERVER]], demand * bars[:, COUNT, None])
    kept = [server for server, left in zip(servers, load.gone(run, servers, at_ms), strict=True) if not left]
    mirrored = ("worker",)  # a real cluster reports no parameter servers

    def roles_of(server: Server) -> Sequence[str]:
        return mirrored if run.mode == Run.MIRROR else server.roles

    capacity = np.zeros_like(used)
    for server, is_there in zip(servers, there.tolist(), strict=True):
        if is_there:
            capacity[SITES.index(server.site)] += server.capacity
    return {
        "sim_ms": at_ms,
        "jobs": dict(zip(STATES, counts, strict=True)),
        "utility": utility,
        "unavailable_jobs": unavailable_jobs,
        "sites": [
            {
                "site": name,
                "servers": sum(server.site == name for server in kept),
                "roles": {
                    role: sum(server.site == name and role in roles_of(server) for server in kept) for role in ROLES
                },
                "capacity": dict(zip(RESOURCES, (capacity[i] / THOUSAND).tolist(), strict=True)),
                "allocated": {
                    r: float(u / c)
                    for r, u, c in zip(RESOURCES, used[i], capacity[i], strict=True)
                    if c and r in packed
                },
            }
            for i, name in enumerate(SITES)
            if (site == i).any()
        ],
    }


def metrics_so_far(run: Run) -> dict[str, Any]:
    """Metrics of a run that was cancelled or failed, up to the time reached."""
    with Newest(run) as state:
        side = side_of(run, state, run.sim_ms)
    none_in_common = np.empty(0, dtype=np.int64)
    found = figures(side.outcomes, side.bars, side.clusters, side.jobs, run.sim_ms, none_in_common, side.packed)
    found |= slowdown(side.outcomes, side.cluster, side.jobs, side.basis.models) | unknown(side.basis.models)
    nested: dict[str, Any] = {}
    for key, value in found.items():
        group, _, name = key.rpartition(".")
        if value is not None:
            (nested.setdefault(group, {}) if group else nested)[name] = value
    return nested
