"""Small clusters and jobs of PD-ORS: numbers that can be followed by hand."""

import numpy as np

from scheduling.model.values import Cluster, Job, Server, Utility

SLOT = 1_000


def server(name="h0", gpus=2, cpus=2, roles=("worker", "ps"), **changes):
    return Server(name, "edge", (gpus * 1000, cpus * 1000, 0, 0, 0), roles=roles, **changes)


def cluster(*servers, slots=4):
    return Cluster("tiny", SLOT, servers or (server(),), slots)


def job(
    id="j1",
    arrival_ms=0,
    *,
    work=2.0,
    batch=2,
    gamma=1,
    slower=1.0,
    priority=100.0,
    sensitivity=0.0,
    target=2.0,
    gpus=1,
    cpus=1,
):
    """`work` worker-slots on one machine, `slower` times that otherwise: workers hold GPUs, parameter servers vCPUs.

    10 samples; a tenth of the work each, of which half is communication (the external rate stretches only that).
    """
    each = work * SLOT / 10
    exchange = each / 2 if slower > 1 else 0.0
    # gamma / F * 16 g / b = exchange at the internal rate of 16 Gbps
    gradient = exchange * batch / gamma
    external = 16 * exchange / (slower * each - each / 2) if slower > 1 else 16.0
    return Job(
        id=id, arrival_ms=arrival_ms, epochs=1, num_samples=10, global_batch=batch, sample_ms=each - exchange,
        gradient_mb=gradient, workers_per_ps=gamma, internal_gbps=16.0, external_gbps=external,
        worker=(gpus * 1000, 0, 0, 0, 1000), ps=(0, cpus * 1000, 0, 0, 1000), requested_workers=1,
        utility=Utility(priority, sensitivity, target),
    )  # fmt: skip


def random_job(rng, number, slots):
    return job(
        f"j{number}", int(rng.integers(0, slots)) * SLOT, work=float(rng.uniform(0.5, 5)),
        batch=int(rng.integers(1, 5)), gamma=int(rng.integers(1, 4)), slower=float(rng.choice([1.0, 1.25, 1.7, 3.0])),
        priority=float(rng.uniform(1, 100)), sensitivity=float(rng.choice([0, 0.5, 2])),
        target=float(rng.uniform(0, 4)), gpus=int(rng.integers(0, 3)), cpus=int(rng.integers(1, 3)),
    )  # fmt: skip


def shared_instance(seed: int):
    """1-3 servers, some of which take one role only, 2-4 slots, 3-4 jobs."""
    rng = np.random.default_rng([7, seed])
    slots = int(rng.integers(2, 5))
    roles = [("worker", "ps"), ("worker", "ps"), ("worker", "ps"), ("worker",), ("ps",)]
    servers = [
        server(f"h{h}", int(rng.integers(0, 4)), int(rng.integers(1, 4)), roles[rng.integers(len(roles))])
        for h in range(int(rng.integers(1, 4)))
    ]
    jobs = [random_job(rng, n, slots) for n in range(int(rng.integers(3, 5)))]
    return cluster(*servers, slots=slots), sorted(jobs, key=lambda job: job.arrival_ms)
