"""The workload generator of the PD-ORS paper (Section V): shared servers, and jobs that train on samples.

Where the paper leaves something open, this is chosen:
- `literal` draws K from [20,000, 500,000] samples, so that most jobs cannot finish within 20 slots; `calibrated`
  (the default) takes 0.3 of that, which gives the scale of the paper's figures.
- Every server has 18 times what a worker needs on average, after Amazon's C5n; `spread` makes them differ.
- External bandwidth, for which the paper has no range, is OASiS's; internal bandwidth is KAPPA times that.
- Gamma is an integer.
- Timestamps of a trace are mapped linearly onto the slots; scheduling class 0 is time-insensitive, 1 and 2 are
  sensitive, 3 critical.

Jobs arrive as slots begin, with probability 1/3 in an odd slot (the first is odd) and 2/3 in an even one, as the paper
says. The bandwidth of a worker, which OASiS counts, is the external one (servers have 18 times the mean of that, too).
The paper knows no sites; every second server is in the cloud.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from scheduling.model.values import BANDWIDTH, Cluster, Demand, Job, ModelError, Server, Utility, shorten

HORIZON = 20  # slots; the paper's other setting is 80
# time-insensitive, -sensitive, -critical jobs, percent
MIXES = {"10/55/35": (0.10, 0.55, 0.35), "30/69/1": (0.30, 0.69, 0.01)}
CAPACITY: Demand = (36_000, 99_000, 306_000, 135_000, 46_000)  # 18 mean workers
CALIBRATED_SAMPLES = 0.3
KAPPA = 10.0  # internal over external bandwidth
EVEN_SHARE = 2 / 3  # of the arrivals
MAX_FIXED = 30  # workers of the baselines that fix their number
CLASSES = (0, 1, 1, 2)  # scheduling class of Google's trace -> place in a mix
MODELS = ("resnet-50", "resnet-101", "vgg-16", "inception-v3", "alexnet", "googlenet")
SAMPLED = (
    "arrival_ms", "model", "epochs", "num_samples", "global_batch", "sample_ms", "gradient_mb", "workers_per_ps",
    "external_gbps", "worker", "ps", "requested_workers", "utility",
)  # fmt: skip
DERIVED = ("internal_gbps",)


def pd_ors(
    variant: str, num_jobs: int, num_servers: int, seed: int, horizon_slots: int, slot_ms: int, *,
    mix: str = "10/55/35", kappa: float = KAPPA, spread: float = 0.0,
    timestamps: Sequence[float] | None = None, classes: Sequence[int] | None = None,
) -> tuple[Cluster, list[Job]]:  # fmt: skip
    """The cluster and the jobs, sorted by arrival.

    Separate streams: another number of jobs leaves the cluster as it is.

    spread      capacities are sampled from 1 - spread to 1 + spread times the paper's; 0.2 for different servers
    timestamps  of a trace, in any unit; `num_jobs` of them are sampled
    classes     the scheduling class of each timestamp, 0 to 3, which then decides on the sensitivity instead of `mix`
    """
    if mix not in MIXES:
        raise ModelError(f"unknown mix {shorten(repr(mix))}; known: {', '.join(MIXES)}")
    if not 0 <= spread < 1:
        raise ModelError(f"spread must be a share from 0 to below 1, got {spread!r}")
    if not 0 < kappa < np.inf:
        raise ModelError(f"kappa must be a finite number > 0, got {kappa!r}")
    cluster = _cluster(np.random.default_rng([seed, 1]), num_servers, horizon_slots, slot_ms, spread)
    rng = np.random.default_rng([seed, 2])
    if timestamps is None:
        slots, kinds = _alternating(rng, num_jobs, horizon_slots), None
    else:
        slots, kinds = _replayed(rng, num_jobs, horizon_slots, timestamps, classes)
    width = max(4, len(str(num_jobs)))
    jobs = []
    for i, slot in enumerate(slots.tolist()):
        kind = int(rng.choice(3, p=MIXES[mix])) if kinds is None else int(kinds[i])
        jobs.append(
            _job(rng, f"j{i + 1:0{width}d}", slot * slot_ms, variant, kind, kappa, slot_ms, timestamps is not None)
        )
    return cluster, jobs


def _alternating(rng: np.random.Generator, num_jobs: int, horizon_slots: int) -> np.ndarray:
    """The arrival slots in order, 0-based: position 1, 3, ... are the paper's even slots."""
    odd, even = np.arange(0, horizon_slots, 2), np.arange(1, horizon_slots, 2)
    if not len(even):
        return np.zeros(num_jobs, dtype=np.int64)
    late = rng.random(num_jobs) < EVEN_SHARE
    slots = np.where(late, even[rng.integers(len(even), size=num_jobs)], odd[rng.integers(len(odd), size=num_jobs)])
    return np.sort(slots)


def _replayed(
    rng: np.random.Generator,
    num_jobs: int,
    horizon_slots: int,
    timestamps: Sequence[float],
    classes: Sequence[int] | None,
) -> tuple[np.ndarray, np.ndarray | None]:
    """(arrival slots in order, place in the mix of each job or None) of some of a trace's rows."""
    times = np.asarray(timestamps, dtype=float)
    if len(times) < num_jobs or not np.isfinite(times).all():
        raise ModelError(
            f"{num_jobs:,} jobs need as many finite timestamps, got {int(np.isfinite(times).sum()):,} of {len(times):,}"
        )
    if classes is not None and (len(classes) != len(times) or not set(classes) <= {0, 1, 2, 3}):
        raise ModelError(
            f"classes must be one integer from 0 to 3 for each of the {len(times):,} timestamps, got {len(classes):,}"
        )
    rows = np.sort(rng.choice(len(times), size=num_jobs, replace=False))
    rows = rows[np.argsort(times[rows], kind="stable")]
    first, last = (float(times.min()), float(times.max())) if len(times) else (0.0, 0.0)
    share = (times[rows] - first) / (last - first) if last > first else np.zeros(num_jobs)
    slots = np.minimum((share * horizon_slots).astype(np.int64), horizon_slots - 1)
    return slots, None if classes is None else np.array(CLASSES)[np.asarray(classes)[rows]]


def _cluster(rng: np.random.Generator, num_servers: int, horizon_slots: int, slot_ms: int, spread: float) -> Cluster:
    width = max(2, len(str(num_servers - 1)))
    factors = rng.uniform(1 - spread, 1 + spread, size=(num_servers, len(CAPACITY)))
    capacities = np.rint(np.array(CAPACITY) / 1000 * factors).astype(np.int64) * 1000
    servers = [
        Server(f"h{i:0{width}d}", ("edge", "cloud")[i % 2], tuple(row)) for i, row in enumerate(capacities.tolist())
    ]
    return Cluster(f"pd-ors-{num_servers}", slot_ms, tuple(servers), horizon_slots)


def _job(
    rng: np.random.Generator,
    id_: str,
    arrival_ms: int,
    variant: str,
    kind: int,
    kappa: float,
    slot_ms: int,
    replayed: bool,
) -> Job:
    scale = CALIBRATED_SAMPLES if variant == "calibrated" else 1.0
    epochs, batch, ratio = int(rng.integers(50, 201)), int(rng.integers(1, 201)), int(rng.integers(1, 11))
    samples = int(rng.integers(round(20_000 * scale), round(500_000 * scale) + 1))
    sample_ms = float(rng.uniform(1e-5, 1e-4)) * slot_ms
    gradient_mb = float(rng.uniform(30, 575))
    worker = _demand(rng, gpus=int(rng.integers(0, 5)), mbps=(100, 5_000))
    ps = _demand(rng, gpus=0, mbps=(5_000, 20_000))
    external = worker[BANDWIDTH] / 1000
    rng.integers(10, 101)  # unused: without it the jobs of a seed would not be those of earlier versions
    return Job(
        id=id_,
        arrival_ms=arrival_ms,
        model=MODELS[rng.integers(len(MODELS))],
        epochs=epochs,
        gradient_mb=gradient_mb,
        worker=worker,
        ps=ps,
        num_samples=samples,
        global_batch=batch,
        sample_ms=sample_ms,
        workers_per_ps=ratio,
        internal_gbps=kappa * external,
        external_gbps=external,
        requested_workers=min(int(rng.integers(1, MAX_FIXED + 1)), batch),
        utility=_utility(rng, kind),
        provenance=dict.fromkeys(SAMPLED, "drawn")
        | dict.fromkeys(DERIVED, "derived")
        | ({"arrival_ms": "trace"} if replayed else {}),
    )


def _utility(rng: np.random.Generator, kind: int) -> Utility:
    """priority [1, 100], target [1, 15] slots, sensitivity 0 | [0.01, 1] | [4, 6]."""
    sensitivity = (0.0, float(rng.uniform(0.01, 1)), float(rng.uniform(4, 6)))[kind]
    return Utility(float(rng.uniform(1, 100)), sensitivity, float(rng.uniform(1, 15)))


def _demand(rng: np.random.Generator, gpus: int, mbps: tuple[int, int]) -> Demand:
    """vCPU 1-10, memory 2-32 GB, storage 5-10 GB, as thousandths."""
    cpu, memory, storage = int(rng.integers(1, 11)), int(rng.integers(2, 33)), int(rng.integers(5, 11))
    return gpus * 1000, cpu * 1000, memory * 1000, storage * 1000, int(rng.integers(mbps[0], mbps[1] + 1))
