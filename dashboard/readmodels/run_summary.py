"""Summary of a run at its newest time: jobs by state, utility, allocation by site, metrics so far."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from scheduling.model.values import RESOURCES, SITES, Server
from twin.analysis.comparison import side_of
from twin.analysis.comparison.metrics import metrics_of, slowdown, unknown
from twin.analysis.situation import load, present_ms
from twin.eventlog.fold import UTILITY
from twin.eventlog.job_states import STATES, job_states
from twin.eventlog.state_cache import Newest
from twin.files.stored_jobs import any_utility
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
        present = [one for begin, one in store.clusters(run) if begin <= at_ms][-1]
        held = load.held(run, state, present, jobs, at_ms, at_ms)
    servers, used = present.servers, load.in_use(held, at_ms)
    capacity = load.capacity_of(run, present, load.RESOURCE, RESOURCES, at_ms)
    site = np.array([server.site for server in servers])
    kept = [server for server, left in zip(servers, load.gone(run, servers, at_ms), strict=True) if not left]

    def roles_of(server: Server) -> Sequence[str]:
        return server.roles if run.mode_rules.parameter_servers else ("worker",)

    def allocated(own: np.ndarray) -> dict[str, float]:
        """Share of each resource on some of the servers."""
        amounts = zip(held.scale, used[own].sum(axis=0).tolist(), held.capacity[own].sum(axis=0).tolist(), strict=True)
        return {name: u / c for name, u, c in amounts if c} if held.measure == load.RESOURCE else {}

    return {
        "sim_ms": at_ms,
        "jobs": dict(zip(STATES, counts, strict=True)),
        "utility": utility,
        "unavailable_jobs": load.unavailable_jobs(held, at_ms),
        "sites": [
            {
                "site": name,
                "servers": sum(server.site == name for server in kept),
                "roles": {
                    role: sum(server.site == name and role in roles_of(server) for server in kept) for role in ROLES
                },
                "capacity": dict(zip(RESOURCES, (capacity[own].sum(axis=0) / THOUSAND).tolist(), strict=True)),
                "allocated": allocated(own),
            }
            for name in SITES
            if any(server.site == name for server in cluster.servers)
            for own in [(site == name) & held.offered]
        ],
    }


def metrics_so_far(run: Run) -> dict[str, Any]:
    """Metrics of a run that was cancelled or failed, up to the time reached."""
    with Newest(run) as state:
        side = side_of(run, state, run.sim_ms)
    none_in_common = np.empty(0, dtype=np.int64)
    found = metrics_of(side.outcomes, side.bars, side.clusters, side.jobs, run.sim_ms, none_in_common, side.packed)
    found |= slowdown(side.outcomes, side.clusters, side.jobs, side.basis.models) | unknown(side.basis.models)
    nested: dict[str, Any] = {}
    for key, value in found.items():
        group, _, name = key.rpartition(".")
        if value is not None:
            (nested.setdefault(group, {}) if group else nested)[name] = value
    return nested
