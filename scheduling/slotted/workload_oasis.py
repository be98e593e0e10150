"""Workload of the OASiS paper [OASiS, Section V-A]: a cluster and jobs, all sampled.

Decided where the paper leaves a choice or contradicts itself:
- `literal` draws tau from [0.001, 0.1] slots per mini-batch, so that two thirds of the jobs cannot finish; `calibrated`
  (the default) divides it by 100, which gives the scale of the paper's figures.
- Workers run on P2 and G3 machines, parameter servers on C4 (the paper's text has them swapped).
- Arrivals: the paper replays a trace that it does not name; here they are uniform over the first half of the horizon.
- Sites: the paper knows none; every second server of each kind is in the cloud.
"""

from __future__ import annotations

import numpy as np

from scheduling.model.utility import sampled_utility as sampled_utility
from scheduling.model.values import BANDWIDTH, Cluster, Demand, Job, Server, with_bandwidth

# GPU, vCPU, GB: EC2 P2, G3
WORKER_MACHINES = ((1, 4, 61), (8, 32, 488), (16, 64, 732), (1, 16, 122), (2, 32, 244), (4, 64, 488))
PS_MACHINES = ((0, 8, 15), (0, 16, 30), (0, 36, 60))  # EC2 C4
STORAGE_GB = 500
OASIS_PARTS = (
    "arrival_ms", "model", "epochs", "num_chunks", "minibatches_per_chunk", "minibatch_ms", "gradient_mb", "worker",
    "ps", "requested_workers", "utility",
)  # fmt: skip
MODELS = ("resnet-50", "resnet-101", "vgg-16", "inception-v3", "alexnet", "googlenet")


def oasis(
    variant: str, num_jobs: int, num_servers: int, seed: int, horizon_slots: int, slot_ms: int
) -> tuple[Cluster, list[Job]]:
    """The workload of the OASiS paper. Separate streams: another number of jobs leaves the cluster as it is."""
    cluster = _oasis_cluster(np.random.default_rng([seed, 1]), num_servers, horizon_slots, slot_ms)
    rng = np.random.default_rng([seed, 2])
    arrivals = np.sort(rng.integers(0, max(1, horizon_slots * slot_ms // 2), size=num_jobs))
    width = max(4, len(str(num_jobs)))
    return cluster, [
        _oasis_job(rng, f"j{i + 1:0{width}d}", int(at_ms), variant, slot_ms) for i, at_ms in enumerate(arrivals)
    ]


def _oasis_cluster(rng: np.random.Generator, num_servers: int, horizon_slots: int, slot_ms: int) -> Cluster:
    servers = []
    for role, letter, machines, count in (
        ("worker", "w", WORKER_MACHINES, (num_servers + 1) // 2),
        ("ps", "p", PS_MACHINES, num_servers // 2),
    ):
        width = max(2, len(str(count - 1)))
        for i in range(count):
            gpu, cpu, memory = machines[rng.integers(len(machines))]
            bandwidth = int(rng.integers(20_000, 50_001))
            capacity: Demand = (gpu * 1000, cpu * 1000, memory * 1000, STORAGE_GB * 1000, bandwidth)
            servers.append(Server(f"{letter}{i:0{width}d}", ("edge", "cloud")[i % 2], capacity, roles=(role,)))
    return Cluster(f"oasis-{num_servers}", slot_ms, tuple(servers), horizon_slots)


def _oasis_job(rng: np.random.Generator, id_: str, arrival_ms: int, variant: str, slot_ms: int) -> Job:
    chunks = int(rng.integers(5, 101))
    slots_per_minibatch = float(rng.uniform(0.001, 0.1)) * (0.01 if variant == "calibrated" else 1.0)
    worker = _demand(rng, gpus=int(rng.integers(0, 5)), bandwidth=(100, 5_000))
    ps = _demand(rng, gpus=0, bandwidth=(5_000, 20_000))
    if worker[BANDWIDTH] > ps[BANDWIDTH]:  # b <= B by (6) and (7): the ranges touch at 5 Gbps
        ps = with_bandwidth(ps, worker[BANDWIDTH])
    return Job(
        id=id_,
        arrival_ms=arrival_ms,
        model=MODELS[rng.integers(len(MODELS))],
        epochs=int(rng.integers(50, 201)),
        num_chunks=chunks,
        minibatches_per_chunk=int(rng.integers(10, 101)),
        minibatch_ms=slots_per_minibatch * slot_ms,
        gradient_mb=float(rng.uniform(30, 575)),
        worker=worker,
        ps=ps,
        requested_workers=min(int(rng.integers(1, 31)), chunks),
        utility=sampled_utility(rng),
        provenance=dict.fromkeys(OASIS_PARTS, "drawn"),
    )


def _demand(rng: np.random.Generator, gpus: int, bandwidth: tuple[int, int]) -> Demand:
    """vCPU 1-10, memory 2-32 GB, storage 5-10 GB, bandwidth in Mbps, as thousandths."""
    cpu, memory, storage = int(rng.integers(1, 11)), int(rng.integers(2, 33)), int(rng.integers(5, 11))
    return gpus * 1000, cpu * 1000, memory * 1000, storage * 1000, int(rng.integers(bandwidth[0], bandwidth[1] + 1))
