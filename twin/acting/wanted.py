"""Starts that a run of a fork gives to the jobs that wait on its real cluster."""

from __future__ import annotations

import numpy as np

from scheduling.model.bars import JOB, ROLE, SERVER, START
from twin.acting.plan import Wanted
from twin.connectors.facts import WAITING
from twin.eventlog import stored_states
from twin.eventlog.fold import BAR_FIELDS, DIED, NEVER, START_AT, WORKER
from twin.mirror import stored
from twin.mirror.as_values import plain_name
from twin.models import Run
from twin.scenarios import store

assert BAR_FIELDS[START] == "start_ms"


def wanted(run: Run) -> list[Wanted]:
    """Start and nodes of each job of the fork that still waits, in the cluster's time. run: one of a mirror's fork."""
    parent = run.scenario.parent
    assert parent is not None
    mirror = stored.load_run(parent)
    waiting = {mirror.jobs[index].name: mirror.jobs[index] for index in mirror.open}
    nodes = {plain_name(name): name for name in mirror.nodes}
    cluster, jobs = store.of_run(run)
    state = stored_states.at(run.pk)
    first = _first_nodes(state.bars.rows)
    found = []
    for index, job in enumerate(jobs):
        known = waiting.get(job.id)
        if known is None or known.fact.state != WAITING:
            continue
        start = state.jobs.rows[index, START_AT] if index < state.jobs.length else NEVER
        servers = sorted({cluster.servers[place].name for place in first.get(index, ())})
        found.append(
            Wanted(
                key=known.fact.key,
                submitted_ms=known.fact.submit_times[-1],
                start_ms=None if start == NEVER else mirror.epoch_ms + int(start),
                nodes=tuple(nodes[server] for server in servers if server in nodes),
            )
        )
    return found


def _first_nodes(bars: np.ndarray) -> dict[int, list[int]]:
    """{job: servers of the workers with which it starts} by the bars that are still true."""
    true = bars[(bars[:, DIED] == NEVER) & (bars[:, ROLE] == WORKER) & (bars[:, SERVER] >= 0)]
    if not len(true):
        return {}
    earliest = np.full(int(true[:, JOB].max()) + 1, np.iinfo(np.int64).max)
    np.minimum.at(earliest, true[:, JOB], true[:, START])
    begin = true[true[:, START] == earliest[true[:, JOB]]]
    found: dict[int, list[int]] = {}
    for job, server in zip(begin[:, JOB].tolist(), begin[:, SERVER].tolist(), strict=True):
        found.setdefault(job, []).append(server)
    return found
