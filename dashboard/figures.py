"""A run in figures at its newest moment: jobs by state, utility earned, and what each site has allocated."""

from __future__ import annotations

from typing import Any

import numpy as np

from dashboard.jobs import STATES, states
from dashboard.states import Newest
from scheduling.model import RESOURCES, SITES, ZERO
from twin import scenarios
from twin.models import Run
from twin.state import BAR_FIELDS, DIED, END, NEVER, START

SERVER, COUNT = BAR_FIELDS.index("server"), BAR_FIELDS.index("count")


def now(run: Run) -> dict[str, Any]:
    """{sim_ms, jobs: {state: count}, utility, sites: [{site, servers, allocated: {resource: share of the site's capacity}}]}."""
    cluster, jobs = scenarios.of_run(run)
    with Newest(run) as state:
        at_ms = max(state.sim_ms, run.sim_ms)
        codes = states(state, at_ms)
        counts = np.bincount(codes[codes >= 0], minlength=len(STATES)).tolist()
        done = codes == STATES.index("completed")
        utility = float(state.jobs.rows[done, 5].sum())
        bars = state.bars.rows
        bars = bars[(bars[:, START] <= at_ms) & (bars[:, END] > at_ms) & (bars[:, DIED] == NEVER) & (bars[:, SERVER] >= 0)]
    demand = np.array([(jobs[j].worker, jobs[j].ps)[role] or ZERO if role < 2 else ZERO for j, role in bars[:, :2].tolist()])
    site = np.array([SITES.index(server.site) for server in cluster.servers])
    used = np.zeros((len(SITES), len(RESOURCES)))
    if len(bars):
        np.add.at(used, site[bars[:, SERVER]], demand * bars[:, COUNT, None])
    capacity = np.zeros_like(used)
    np.add.at(capacity, site, np.array([server.capacity for server in cluster.servers]))
    return {
        "sim_ms": at_ms,
        "jobs": dict(zip(STATES, counts, strict=True)),
        "utility": utility,
        "sites": [
            {
                "site": name,
                "servers": int((site == i).sum()),
                "allocated": {r: float(u / c) for r, u, c in zip(RESOURCES, used[i], capacity[i], strict=True) if c},
            }
            for i, name in enumerate(SITES)
            if (site == i).any()
        ],
    }
