"""Small random clusters of typed workers with jobs of a few chunks and uploads; times are single ms to tens of them."""

from __future__ import annotations

import numpy as np

from scheduling.model.values import Cluster, Job, Server


def cluster(rng: np.random.Generator, *, cloud: bool, away: bool = False, storage_mb: int = 8) -> Cluster:
    """1 to 3 servers with 0 to 2 workers of each of two types, and enough parameter servers."""
    servers = []
    for i in range(int(rng.integers(1, 4))):
        workers = {kind: int(rng.integers(0, 3)) for kind in ("a", "b")}
        gone = ()
        if away and i and rng.random() < 0.5:
            times = np.sort(rng.choice(60, size=2 * int(rng.integers(1, 3)), replace=False))
            gone = tuple((int(a), int(b)) for a, b in times.reshape(-1, 2))
        ps = {"x": int(rng.integers(1, 4)), "y": 12 if i == 0 else 1}
        servers.append(
            Server(
                f"s{i}",
                "edge",
                (4_000, 8_000, 8_000, int(rng.integers(3, storage_mb + 1)), 10_000),
                worker_lanes=workers,
                ps_lanes=ps,
                away=gone,
            )
        )
    return Cluster("tiny", 10, tuple(servers), None, unlimited_cloud=cloud)


def jobs(rng: np.random.Generator, world: Cluster, count: int) -> list[Job]:
    """Sorted by arrival; small numbers, so that ties are everywhere."""
    arrivals = np.sort(rng.integers(0, 40, size=count)).tolist()
    out = []
    for i, at_ms in enumerate(arrivals):
        chunks = int(rng.integers(1, 5))
        out.append(
            Job(
                f"j{i}", int(at_ms), epochs=int(rng.integers(1, 3)), num_chunks=chunks,
                minibatches_per_chunk=int(rng.integers(1, 4)), minibatch_ms=float(rng.choice([1.0, 2.0, 2.5, 4.0])),
                gradient_mb=float(rng.choice([0.0, 0.25, 0.5])), worker=(1_000, 0, 0, 0, 4_000), ps=(0, 1_000, 0, 0, 0),
                ps_update_ms=float(rng.choice([0.0, 0.5])), worker_type=str(rng.choice(["a", "b"])),
                ps_type=str(rng.choice(["x", "y"])),
                upload_ms=tuple(int(n) for n in rng.integers(0, 6, size=len(world.servers))),
                cloud_upload_ms=int(rng.integers(5, 40)), chunk_mb=float(rng.choice([0.5, 1.0, 1.5])),
                requested_workers=int(rng.integers(1, 4)),
            )
        )  # fmt: skip
    return out


def world(seed: int, *, cloud: bool, away: bool = False) -> tuple[Cluster, list[Job]]:
    """A cluster and up to seven jobs."""
    rng = np.random.default_rng(seed)
    machines = cluster(rng, cloud=cloud, away=away)
    return machines, jobs(rng, machines, int(rng.integers(1, 8)))
