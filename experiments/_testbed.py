"""The testbed of OASiS: 12 jobs on 9 servers in 10 slots of 20 minutes.

From the paper: servers, slots, what a worker holds, epochs, and chunks of 20 or 30 images in batches of 10. It does not
say the rest; here a job has 5 to 100 chunks, a batch takes 1 to 10 s, gradients, parameter servers' bandwidth and
utilities are drawn as in the simulations, a parameter server holds as much as a worker, and every server has 500 GB and
40 Gbps.
"""

from __future__ import annotations

import numpy as np

from experiments._grid import Instance
from scheduling.model.values import Cluster, Job, Server
from scheduling.slotted.workload_oasis import draw_utility

SLOT_MS, SLOTS, JOBS = 1_200_000, 10, 12
WITH_GPU, WORKER_SERVERS, PS_SERVERS = 4, 7, 2


def testbed(seed: int) -> Instance:
    rng = np.random.default_rng([seed, 7])
    workers = [
        Server(f"w{i}", "edge", (4_000 if i < WITH_GPU else 0, 32_000, 80_000, 500_000, 40_000), ("worker",))
        for i in range(WORKER_SERVERS)
    ]
    servers = [
        *workers,
        *(Server(f"p{i}", "cloud", (0, 8_000, 32_000, 500_000, 40_000), ("ps",)) for i in range(PS_SERVERS)),
    ]
    arrivals = np.sort(rng.integers(0, SLOTS * SLOT_MS // 2, JOBS))
    jobs = [_job(rng, f"j{i:02}", int(at_ms)) for i, at_ms in enumerate(arrivals.tolist())]
    return Cluster("testbed", SLOT_MS, tuple(servers), SLOTS), jobs


def _job(rng: np.random.Generator, id_: str, at_ms: int) -> Job:
    chunks = int(rng.integers(5, 101))
    gpu, cpu, memory, mbps = (
        int(rng.integers(low, high + 1)) for low, high in ((0, 1), (1, 5), (2, 10), (1_000, 3_000))
    )
    return Job(
        id=id_, arrival_ms=at_ms, epochs=int(rng.integers(4, 31)), num_chunks=chunks,
        minibatches_per_chunk=int(rng.integers(2, 4)), minibatch_ms=float(rng.uniform(1_000, 10_000)),
        gradient_mb=float(rng.uniform(30, 575)), worker=(gpu * 1000, cpu * 1000, memory * 1000, 5_000, mbps),
        ps=(0, int(rng.integers(1, 6)) * 1000, int(rng.integers(2, 11)) * 1000, 5_000,
            int(rng.integers(5_000, 20_001))),
        requested_workers=min(int(rng.integers(1, 31)), chunks), utility=draw_utility(rng),
    )  # fmt: skip
