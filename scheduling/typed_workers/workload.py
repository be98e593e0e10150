"""The workload of A_online (Section V): `simulator` and `testbed`.

Separate streams for cluster, jobs and arrivals: another number of jobs leaves the cluster as it is. Where the paper
gives no number:
- Workers per server follow the machines of the Philly trace, 2 or 8 GPUs; parameter servers are twice the workers
  (its CPUs).
- Arrivals are uniform for 40 % and form the two peaks of Fig. 11 for the rest, over the 137 days of the trace; `load`
  divides the span.
- A gang asks for half of its chunks (`gang_share`): the paper computes it from GPU counts, which alone would make
  jobs 10 times as long.
- The other schedulers count more: a parameter server has the highest bandwidth of a worker, and utilities are sampled
  as for OASiS, in units of an eighth of a job's time with a worker for each chunk, as long as it has no competitors.
- Chunks hold 100 MB to 2,500 MB, and a server of the simulator stores 500 GB, as the machines of the testbed do.
- The testbed: 8 servers of 12 cores and 16 GB, which one GPU worker, two CPU workers and three parameter servers fill
  exactly.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from scheduling.model.utility import sampled_utility, stretched
from scheduling.model.values import Cluster, Demand, Job, ModelError, Server, shorten
from scheduling.typed_workers.workers import chunk_times

HOUR_MS = 3_600_000
TABLE_II = (
    ("resnet-50", 27, 58), ("resnet-101", 27, 58), ("googlenet", 115, 58), ("lenet", 115, 58), ("alexnet", 60, 58),
    ("inception-bn", 60, 58),
)  # fmt: skip  # model, chunks, mini-batches per chunk
PRESETS = ("simulator", "testbed")
SPAN_HOURS = {"simulator": 3_288.0, "testbed": 240.0}
MACHINES, SHARES = (2, 8), (0.58, 0.42)  # workers of a server
TYPES = (8, 10)
EPOCHS, UPDATE_MS, GRADIENT_MB = (20, 60), (10.0, 100.0), (30.0, 575.0)
MINIBATCH_HOURS = {"simulator": (0.001, 0.05), "testbed": (0.001, 0.01)}
MBPS = (100, 5_120)
EDGE_HOURS, CLOUD_HOURS = (1, 4), (10, 15)
CHUNK_MB = (100, 2_500)
STORAGE_MB = 500_000
PEAKS = ((0.4, None), (0.3, 0.3), (0.3, 0.7))  # share of the jobs, and the middle of its peak as a share of the span
PEAK_WIDTH = 0.05
TESTBED_SERVERS, TESTBED_MBPS = 8, 2_000
PS: dict[str, Demand] = {"simulator": (0, 1_000, 3_000, 0, MBPS[1]), "testbed": (0, 2_000, 3_000, 0, TESTBED_MBPS)}
SAMPLED = (
    "arrival_ms", "model", "epochs", "num_chunks", "minibatches_per_chunk", "minibatch_ms", "gradient_mb", "worker",
    "ps", "ps_update_ms", "worker_type", "ps_type", "upload_ms", "cloud_upload_ms", "chunk_mb",
)  # fmt: skip


def a_online(
    variant: str, num_jobs: int, num_servers: int, seed: int, horizon_slots: int | None, slot_ms: int, *,
    preset: str = "simulator", workers: int | None = None, span_hours: float | None = None, load: float = 1.0,
    gang_share: float = 0.5, arrivals: Sequence[int] | None = None,
) -> tuple[Cluster, list[Job]]:  # fmt: skip
    """The cluster and the jobs, sorted by arrival.

    workers: of every server, instead of sampled ones. load: > 0, divides the span. arrivals: ms, of a trace; the rest
    is sampled as without it.
    """
    if preset not in PRESETS:
        raise ModelError(f"unknown preset {shorten(repr(preset))}; known: {', '.join(PRESETS)}")
    for name, value, low, high in (
        ("load", load, 1e-6, 1e6), ("span_hours", span_hours, 1e-3, 1e6), ("gang_share", gang_share, 0, 1),
        ("workers", workers, 1, 1_000),
    ):  # fmt: skip
        if value is not None and not low <= value <= high:
            raise ModelError(f"{name} must be from {low:g} to {high:g}, got {value:g}")
    cluster = (
        _testbed(seed, horizon_slots, slot_ms)
        if preset == "testbed"
        else _simulator(seed, num_servers, workers, horizon_slots, slot_ms)
    )
    span_ms = (span_hours or SPAN_HOURS[preset]) * HOUR_MS / load
    times = (
        _arrivals(np.random.default_rng([seed, 3]), num_jobs, span_ms)
        if arrivals is None
        else sorted(arrivals)[:num_jobs]
    )
    return cluster, _jobs(seed, cluster, times, preset, gang_share, "drawn" if arrivals is None else "trace")


def _testbed(seed: int, horizon_slots: int | None, slot_ms: int) -> Cluster:
    """12 cores and 16 GB: a GPU worker of 3 GB, two CPU workers of 3 cores and 2 GB, three PS of 2 CPUs and 3 GB."""
    capacity: Demand = (1_000, 12_000, 16_000, STORAGE_MB, TESTBED_MBPS)
    servers = [
        Server(f"edge{i}", "edge", capacity, worker_lanes={"gpu": 1, "cpu": 2}, ps_lanes={"ps": 3})
        for i in range(TESTBED_SERVERS)
    ]
    return Cluster("a-online-testbed", slot_ms, tuple(servers), horizon_slots, unlimited_cloud=True)


def _simulator(seed: int, count: int, workers: int | None, horizon_slots: int | None, slot_ms: int) -> Cluster:
    rng = np.random.default_rng([seed, 1])
    num_types, num_ps_types = (int(n) for n in rng.integers(TYPES[0], TYPES[1] + 1, size=2))
    sizes = rng.choice(MACHINES, size=count, p=SHARES) if workers is None else np.full(count, workers)
    sampled = [_typed(rng, int(sizes.sum()) * factor, kinds) for factor, kinds in ((1, num_types), (2, num_ps_types))]
    servers, first = [], 0
    width = max(2, len(str(count - 1)))
    for i, size in enumerate(sizes.tolist()):
        worker_lanes = _counted("w", sampled[0][first : first + size])
        ps_lanes = _counted("p", sampled[1][2 * first : 2 * (first + size)])
        first += size
        capacity: Demand = (size * 1_000, 2 * size * 1_000, size * 16_000, STORAGE_MB, size * MBPS[1])
        servers.append(Server(f"edge{i:0{width}d}", "edge", capacity, worker_lanes=worker_lanes, ps_lanes=ps_lanes))
    return Cluster(f"a-online-{count}", slot_ms, tuple(servers), horizon_slots, unlimited_cloud=True)


def _typed(rng: np.random.Generator, count: int, kinds: int) -> np.ndarray:
    """[unit] its type, uniform; every type exists as far as there are units."""
    types = rng.integers(0, kinds, size=count)
    missing = np.setdiff1d(np.arange(kinds), types)[:count]
    types[rng.permutation(count)[: len(missing)]] = missing
    return types


def _counted(letter: str, types: np.ndarray) -> dict[str, int]:
    found, counts = np.unique(types, return_counts=True)
    return {f"{letter}{kind}": count for kind, count in zip(found.tolist(), counts.tolist(), strict=True)}


def _arrivals(rng: np.random.Generator, count: int, span_ms: float) -> list[int]:
    """Whole hours, sorted."""
    kind = rng.choice(len(PEAKS), size=count, p=[share for share, _ in PEAKS])
    uniform = rng.uniform(0, 1, size=count)
    middles = np.array([0.5 if middle is None else middle for _, middle in PEAKS])[kind]
    at = np.where(kind == 0, uniform, np.clip(rng.normal(middles, PEAK_WIDTH), 0, 1))
    return sorted((np.floor(at * span_ms / HOUR_MS) * HOUR_MS).astype(np.int64).tolist())


def _jobs(
    seed: int, cluster: Cluster, arrivals: Sequence[int], preset: str, gang_share: float, origin: str
) -> list[Job]:
    rng, worths = np.random.default_rng([seed, 2]), np.random.default_rng([seed, 4])
    kinds = sorted({kind for server in cluster.servers for kind in server.worker_lanes})
    ps_kinds = sorted({kind for server in cluster.servers for kind in server.ps_lanes})
    # one draw per type
    rates = dict(zip(kinds, rng.integers(MBPS[0], MBPS[1] + 1, size=len(kinds)).tolist(), strict=True))
    # the same objects for all jobs: a job has a delay for every server
    hours = [h * HOUR_MS for h in range(CLOUD_HOURS[1] + 1)]
    width = max(4, len(str(len(arrivals))))
    low, high = MINIBATCH_HOURS[preset]
    provenance = {
        **dict.fromkeys((*SAMPLED, "utility"), "drawn"), "arrival_ms": origin,
        **dict.fromkeys(("requested_workers", "ps.bandwidth"), "derived"),
    }  # fmt: skip
    jobs = []
    for i, at_ms in enumerate(arrivals):
        model, chunks, minibatches = TABLE_II[rng.integers(len(TABLE_II))]
        kind, ps_kind = kinds[rng.integers(len(kinds))], ps_kinds[rng.integers(len(ps_kinds))]
        gpus = 0 if kind == "cpu" else 1_000
        worker: Demand = (gpus, 3_000 if kind == "cpu" else 0, (2_000 if kind == "cpu" else 3_000), 0, rates[kind])
        job = Job(
            id=f"j{i + 1:0{width}d}", arrival_ms=int(at_ms), model=model,
            epochs=int(rng.integers(EPOCHS[0], EPOCHS[1] + 1)), num_chunks=chunks, minibatches_per_chunk=minibatches,
            minibatch_ms=float(rng.uniform(low, high)) * HOUR_MS, gradient_mb=float(rng.uniform(*GRADIENT_MB)),
            worker=worker, ps=PS[preset],
            ps_update_ms=float(rng.uniform(*UPDATE_MS)), worker_type=kind, ps_type=ps_kind,
            upload_ms=tuple(
                hours[h] for h in rng.integers(EDGE_HOURS[0], EDGE_HOURS[1] + 1, size=len(cluster.servers)).tolist()
            ),
            cloud_upload_ms=hours[rng.integers(CLOUD_HOURS[0], CLOUD_HOURS[1] + 1)],
            chunk_mb=float(rng.integers(CHUNK_MB[0], CHUNK_MB[1] + 1)),
            requested_workers=max(1, round(gang_share * chunks)), provenance=provenance,
        )  # fmt: skip
        alone_slots = chunk_times(job).remote / cluster.slot_ms
        jobs.append(replace(job, utility=stretched(sampled_utility(worths), alone_slots)))
    return jobs
