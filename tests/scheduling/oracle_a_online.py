"""The least total completion time of a tiny A_online instance, as a time-indexed MILP by HiGHS.

Shares no code with the scheduler.

A ms is a slot. Each chunk stays on one worker, preempted at will; or it is in the cloud, apart, or the whole job is
there, together. Parameter servers bind nobody.
"""

from __future__ import annotations

import numpy as np
from scipy.optimize import LinearConstraint, milp
from scipy.sparse import lil_matrix

from scheduling.model.values import Cluster, Job
from tests.scheduling.reference_a_online import times, workers_of


def optimum(cluster: Cluster, jobs: list[Job], last_ms: int) -> float:
    """Sum of completion - arrival, by last_ms at the latest."""
    workers = workers_of(cluster)
    columns: dict[tuple, int] = {}

    def column(*name) -> int:
        return columns.setdefault(name, len(columns))

    rows: list[tuple[dict[int, float], float, float]] = []  # coefficients, low, high
    busy: dict[tuple[int, int], dict[int, float]] = {}
    for j, job in enumerate(jobs):
        apart, together = times(job, 1.0)
        done = column("c", j)
        cloud = cluster.unlimited_cloud and job.cloud_upload_ms is not None
        if cloud:
            rows.append(({done: 1.0, column("z", j): -float(job.cloud_upload_ms + together)}, 0.0, np.inf))
        for d in range(job.num_chunks):
            choice = {column("z", j): 1.0, column("x", j, d, "cloud"): 1.0} if cloud else {}
            if cloud:
                rows.append(({done: 1.0, column("x", j, d, "cloud"): -float(job.cloud_upload_ms + apart)}, 0.0, np.inf))
            for w, worker in enumerate(workers):
                if worker.kind != job.worker_type:
                    continue
                chosen = column("x", j, d, w)
                choice[chosen] = 1.0
                work = {chosen: -float(apart)}
                for t in range(job.arrival_ms + job.upload_ms[worker.server], last_ms):
                    y = column("y", j, d, w, t)
                    work[y] = 1.0
                    busy.setdefault((w, t), {})[y] = 1.0
                    rows.append(({done: 1.0, y: -float(t + 1 - job.arrival_ms)}, 0.0, np.inf))
                rows.append((work, 0.0, 0.0))
            rows.append((choice, 1.0, 1.0))
    rows += [(used, 0.0, 1.0) for used in busy.values()]
    matrix = lil_matrix((len(rows), len(columns)))
    for i, (coefficients, _, _) in enumerate(rows):
        for place, value in coefficients.items():
            matrix[i, place] = value
    cost, whole = np.zeros(len(columns)), np.ones(len(columns))
    for name, place in columns.items():
        if name[0] == "c":
            cost[place], whole[place] = 1.0, 0
    upper = np.where(whole, 1.0, np.inf)
    limits = LinearConstraint(matrix.tocsr(), [row[1] for row in rows], [row[2] for row in rows])
    found = milp(
        cost,
        constraints=limits,
        integrality=whole,
        bounds=(np.zeros(len(columns)), upper),
        options={"time_limit": 60.0},
    )
    assert found.status == 0, found.message
    return float(found.fun)
