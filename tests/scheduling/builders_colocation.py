"""Small clusters and jobs that share machines in groups: numbers that can be followed by hand."""

import numpy as np

from scheduling.colocation.selection.grouping import Work
from scheduling.colocation.workload import harmony, table1
from scheduling.model.values import Cluster, Job, Server


def machines(count, away=None, memory_gb=32, **changes):
    servers = tuple(
        Server(f"m{i}", "edge", (0, 8_000, memory_gb * 1_000, 0, 1_100), nic_gbps=1.1, disk_gbps=1.2,
               away=(away or {}).get(i, ()), **changes)
        for i in range(count)
    )  # fmt: skip
    return Cluster("machines", 1_000, servers)


def job(name, comp_s, comm_s, iterations, arrival_s=0, **changes):
    """comp_s: machine-seconds of computation in an iteration."""
    fields = {
        "comp_machine_ms": comp_s * 1000.0,
        "comm_ms": comm_s * 1000.0,
        "iterations": iterations,
        "iterations_per_epoch": 10,
    }
    return Job(name, arrival_s * 1_000, **(fields | changes))


def small(seed, jobs=24, servers=18, minutes=15):
    return harmony("calibrated", jobs, servers, seed, None, 60_000, arrivals="poisson", mean_minutes=minutes)


A, B = (16, 2), (4, 8)  # on two machines 8 + 2 and 2 + 8 seconds: together both tracks are full, 10 s an iteration


def plain(comp, comm, machines):
    return Work(np.array(comp, float), np.array(comm, float), machines, np.zeros(len(comp)), np.zeros(len(comp)))


def table(jobs, machines, seed):
    """The generator's jobs as Algorithm 1 sees them."""
    rows = table1(np.random.default_rng([seed, 2]), jobs)
    return plain([row.comp_machine_ms for row in rows], [row.comm_ms for row in rows], machines)
