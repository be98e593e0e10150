"""Small clusters and jobs whose numbers can be followed by hand. A slot is 1,000 ms."""

from __future__ import annotations

import numpy as np

from scheduling.model.values import Cluster, Job, Server, Utility

SLOT = 1_000


def cluster(workers: int = 1, ps: int = 1, slots: int = 4, gpus: int = 2, ps_cpus: int = 2) -> Cluster:
    """Worker servers w0.. with `gpus` GPUs, parameter server machines p0.. with `ps_cpus` vCPUs; 100 Gbps each."""
    servers = [Server(f"w{h}", "edge", (gpus * 1000, 0, 0, 0, 100_000), roles=("worker",)) for h in range(workers)]
    servers += [Server(f"p{k}", "cloud", (0, ps_cpus * 1000, 0, 0, 100_000), roles=("ps",)) for k in range(ps)]
    return Cluster("tiny", SLOT, tuple(servers), slots)


def job(id: str = "j1", arrival_ms: int = 0, *, work: int = 2, chunks: int = 2, gbps: int = 1, ps_gbps: int = 1,
        priority: float = 100.0, sensitivity: float = 0.0, target: float = 2.0, gpus: int = 1) -> Job:  # fmt: skip
    """A worker holds `gpus` GPUs, a parameter server 1 vCPU; the work is `work` worker-slots.

    Worth priority / 2 when insensitive.
    """
    return Job(
        id=id, arrival_ms=arrival_ms, epochs=1, num_chunks=chunks, minibatches_per_chunk=1,
        minibatch_ms=work * SLOT / chunks, gradient_mb=0.0, worker=(gpus * 1000, 0, 0, 0, gbps * 1000),
        ps=(0, 1000, 0, 0, ps_gbps * 1000), requested_workers=min(2, chunks),
        utility=Utility(priority, sensitivity, target),
    )  # fmt: skip


def random_job(rng: np.random.Generator, number: int, slots: int) -> Job:
    """Up to 6 worker-slots, up to 3 at a time."""
    chunks = int(rng.integers(1, 4))
    gbps = int(rng.integers(1, 4))
    return job(
        f"j{number}", int(rng.integers(0, slots)) * SLOT, work=int(rng.integers(1, 7)), chunks=chunks, gbps=gbps,
        ps_gbps=int(rng.integers(gbps, 5)), priority=float(rng.uniform(1, 100)),
        sensitivity=float(rng.choice([0, 0.5, 2])), target=float(rng.uniform(0, 4)), gpus=int(rng.integers(1, 3)),
    )  # fmt: skip
