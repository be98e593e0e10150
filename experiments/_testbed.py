"""The testbed of OASiS: 12 jobs on 9 servers in 10 slots of 20 minutes.

From the paper: servers and slots; what a worker or a parameter server holds; arrivals in the first 9 slots; jobs that
run for 40 minutes to 2 hours; epochs; 200 images in chunks of 20 or 30, in batches of 10; utilities as in the
simulations.

Assumptions where it states nothing: a job runs that long alone with the workers that it requests, from which the time
of a batch follows; the exchange of gradients, of sizes as in the simulations, takes at most half of that; a parameter
server's bandwidth is no less than a worker's; a worker takes 5 GB of storage.
"""

from __future__ import annotations

import numpy as np

from experiments._grid import Instance
from scheduling.model.values import Cluster, Job, Server
from scheduling.slotted.workload_oasis import sampled_utility

SLOT_MS, SLOTS, JOBS = 1_200_000, 10, 12
ARRIVAL_SLOTS = 9
MIN_MS, MAX_MS = 2_400_000, 7_200_000  # of a job
IMAGES, BATCH = 200, 10
NIC_MBPS = 22_000  # two ports of 10 and two of 1 Gbps
WITH_GPU, WORKER_SERVERS, PS_SERVERS = 4, 7, 2


def testbed(seed: int) -> Instance:
    rng = np.random.default_rng([seed, 7])
    workers = [
        Server(f"w{i}", "edge", (4_000 if i < WITH_GPU else 0, 32_000, 80_000, 600_000, NIC_MBPS), ("worker",))
        for i in range(WORKER_SERVERS)
    ]
    servers = [
        *workers,
        *(Server(f"p{i}", "cloud", (0, 8_000, 32_000, 1_500_000, NIC_MBPS), ("ps",)) for i in range(PS_SERVERS)),
    ]
    arrivals = np.sort(rng.integers(0, ARRIVAL_SLOTS * SLOT_MS, JOBS))
    jobs = [_job(rng, f"j{i:02}", int(at_ms)) for i, at_ms in enumerate(arrivals.tolist())]
    return Cluster("testbed", SLOT_MS, tuple(servers), SLOTS), jobs


def _job(rng: np.random.Generator, id_: str, at_ms: int) -> Job:
    of_chunk = int(rng.choice((20, 30)))
    chunks, batches = -(-IMAGES // of_chunk), of_chunk // BATCH
    epochs, workers = int(rng.integers(4, 31)), int(rng.integers(1, chunks + 1))
    gpu, cpu, memory, mbps = (
        int(rng.integers(low, high + 1)) for low, high in ((0, 1), (1, 5), (2, 10), (1_000, 3_000))
    )
    batch_ms = float(rng.uniform(MIN_MS, MAX_MS)) * workers / (epochs * chunks * batches)
    gradient_mb = min(float(rng.uniform(30, 575)), batch_ms / 2 * mbps / 16_000)  # sent and received: 16 bits a byte
    return Job(
        id=id_, arrival_ms=at_ms, epochs=epochs, num_chunks=chunks, minibatches_per_chunk=batches,
        minibatch_ms=batch_ms - 16_000 * gradient_mb / mbps, gradient_mb=gradient_mb,
        worker=(gpu * 1000, cpu * 1000, memory * 1000, 5_000, mbps),
        ps=(0, int(rng.integers(1, 6)) * 1000, int(rng.integers(2, 11)) * 1000, 5_000,
            int(rng.integers(mbps, 3_001))),
        requested_workers=workers, utility=sampled_utility(rng),
    )  # fmt: skip
