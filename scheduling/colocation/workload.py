"""The workload of the Harmony paper (Section V-B): 4 applications x 2 data sets x 10 settings on 100 m4.2xlarge.

Table I (sizes of inputs and models) is the paper's; Fig. 9, which gives the times, was not available. Times of
communication, shares of computation and lengths are **calibrated** so that the numbers in the paper's text are met:
mean degree of parallelism 15, 44 s for an iteration of the eight combinations on 32 machines, jobs long enough that
arrivals 8 minutes apart hardly matter. Hence no `literal` variant. A worker of the other schedulers fills a machine.

Arrivals: all at once; a Poisson process; a bursty one in place of a trace (a Poisson process whose rate is 0.3 or 3
times the mean, for 10 arrivals on average); or the given timestamps of a trace, a random window of them stretched to
the same mean gap.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from scheduling.colocation.job_mapping import REFERENCE_DISK
from scheduling.model.speed import GANG, PER_EPOCH, REFERENCE_NIC
from scheduling.model.utility import stretched
from scheduling.model.values import Cluster, Demand, Job, ModelError, Server, Utility, shorten


class Combination(NamedTuple):
    """A row of Table I, with what is calibrated: seconds of communication, the share of computation at 16 machines."""

    name: str
    input_gb: float
    model_gb: float
    comm_s: float
    share: float


COMBINATIONS = (
    Combination("nmf-netflix64x", 45.6, 1.0, 2.5, 0.49), Combination("nmf-netflix128x", 91.2, 5.0, 5.0, 0.57),
    Combination("lda-pubmed", 4.3, 2.1, 4.0, 0.74), Combination("lda-nytimes", 0.6, 1.1, 2.0, 0.64),
    Combination("mlr-synth-s", 78.4, 12.0, 6.0, 0.38), Combination("mlr-synth-l", 155.0, 24.0, 10.0, 0.41),
    Combination("lasso-synth-s", 78.4, 12.0, 5.0, 0.40), Combination("lasso-synth-l", 155.0, 24.0, 7.5, 0.44),
)  # fmt: skip
SPREAD = 0.30  # of the logarithms of communication and computation over the settings of a combination
SOLO_S = 9_000.0  # median length of a job alone at 16 machines
# spread of its logarithm, and the greatest length as a multiple of the median
LENGTHS = {"calibrated": (0.5, 2.5), "heavy_tailed": (1.3, 15.0)}
# m4.2xlarge; 1.1 Gbps each for its worker and its parameter server
MACHINE: Demand = (0, 8_000, 32_000, 1_000_000, 2_200)
WORKER: Demand = (0, 8_000, 25_600, 0, 1_100)  # fills a machine
PS: Demand = (0, 0, 0, 0, 1_100)  # beside the worker
ANY = "any"  # type of the one worker of a machine: it takes every job
# three quarters of the jobs: the highest or the lowest computation for their communication
SUBSETS = ("all", "comp60", "comm60")
ARRIVALS = ("all_at_once", "poisson", "bursty", "timestamps")
BURST_RATES, BURST_LENGTH = (0.3, 3.0), 10
PRIORITY, SENSITIVITY, TARGET_SLOTS = (1.0, 100.0), (0.01, 1.0), (1.0, 15.0)
SAMPLED = ("arrival_ms", "comp_machine_ms", "comm_ms", "iterations", "utility")
DERIVED = ("iterations_per_epoch", "worker", "ps", "requested_workers", "chunk_mb")
FROM_PAPER = ("model", "input_gb", "model_gb")


class Row(NamedTuple):
    """A job without its arrival."""

    combination: Combination
    comp_machine_ms: float
    comm_ms: float
    iterations: int


def harmony(
    variant: str, num_jobs: int, num_servers: int, seed: int, horizon_slots: int | None, slot_ms: int, *,
    subset: str = "all", arrivals: str = "all_at_once", mean_minutes: float = 0.0,
    timestamps: Sequence[float] | None = None, lengths: str = "calibrated",
) -> tuple[Cluster, list[Job]]:  # fmt: skip
    """The cluster and the jobs, sorted by arrival. Separate streams: other arrivals leave the jobs as they are.

    subset        comp60 or comm60: of `num_jobs` jobs (80 in the paper) the three quarters at either end
    arrivals      one of ARRIVALS, with a mean gap of `mean_minutes`
    timestamps    when jobs came in a trace, in any unit
    lengths       heavy_tailed: a few jobs with most of the iterations, as times to convergence often are; not
                  calibrated
    """
    if variant == "literal":
        raise ModelError(
            "profile harmony has no literal variant: the values of Fig. 9 of the paper are not "
            "available; use the variant calibrated"
        )
    for name, value, known in (
        ("subset", subset, SUBSETS), ("arrivals", arrivals, ARRIVALS), ("lengths", lengths, tuple(LENGTHS)),
    ):  # fmt: skip
        if value not in known:
            raise ModelError(f"unknown {name} {shorten(repr(value))}; known: {', '.join(known)}")
    if not 0 <= mean_minutes <= 1e6:
        raise ModelError(f"mean_minutes must be a number from 0 to 1e6, got {mean_minutes!r}")
    rows = _subset(table1(np.random.default_rng([seed, 2]), num_jobs, lengths), subset)
    times = _arrivals(np.random.default_rng([seed, 3]), len(rows), arrivals, mean_minutes * 60_000, timestamps)
    rng = np.random.default_rng([seed, 4])
    width = max(4, len(str(len(rows))))
    jobs = [
        _job(rng, f"j{i + 1:0{width}d}", at_ms, row, slot_ms)
        for i, (row, at_ms) in enumerate(zip(rows, times, strict=True))
    ]
    return _cluster(num_servers, horizon_slots, slot_ms), jobs


def table1(rng: np.random.Generator, num_jobs: int, lengths: str = "calibrated") -> list[Row]:
    """The jobs in random order; combinations are repeated as often as needed."""
    rows = []
    spread, most = LENGTHS[lengths]
    for index in range(num_jobs):
        row = COMBINATIONS[index % len(COMBINATIONS)]
        sent, computed, length = rng.standard_normal(3)
        comm_s = row.comm_s * np.exp(SPREAD * sent)
        comp_s = row.comm_s * row.share / (1 - row.share) * np.exp(SPREAD * computed)  # at GANG machines
        solo_s = min(SOLO_S * np.exp(spread * length), most * SOLO_S)
        rows.append(
            Row(row, float(GANG * comp_s * 1000), float(comm_s * 1000), max(5, round(solo_s / (comp_s + comm_s))))
        )
    return [rows[place] for place in rng.permutation(num_jobs)]


def _subset(rows: list[Row], subset: str) -> list[Row]:
    if subset == "all":
        return rows
    ranked = sorted(
        range(len(rows)), key=lambda i: rows[i].comp_machine_ms / rows[i].comm_ms, reverse=subset == "comp60"
    )
    return [rows[i] for i in sorted(ranked[: round(0.75 * len(rows))])]


def _arrivals(
    rng: np.random.Generator, count: int, kind: str, mean_ms: float, timestamps: Sequence[float] | None
) -> list[int]:
    """Points in time; the first is 0."""
    if kind == "timestamps":
        return _window(rng, count, mean_ms, timestamps)
    if kind == "all_at_once" or not count:
        return [0] * count
    gaps = rng.exponential(mean_ms, size=count)
    if kind == "bursty":
        fast = bool(rng.random() < 0.5)
        for i in range(count):
            gaps[i] /= BURST_RATES[fast]
            fast ^= bool(rng.random() < 1 / BURST_LENGTH)
        gaps *= mean_ms * count / gaps.sum()
    gaps[0] = 0
    return np.cumsum(gaps).astype(np.int64).tolist()


def _window(rng: np.random.Generator, count: int, mean_ms: float, timestamps: Sequence[float] | None) -> list[int]:
    """A random run of `count` timestamps, stretched to last count x mean_ms."""
    given = np.sort(np.asarray(timestamps if timestamps is not None else (), dtype=float))
    if len(given) < count:
        raise ModelError(f"{count:,} jobs need at least as many timestamps, got {len(given):,}")
    first = int(rng.integers(0, len(given) - count + 1))
    window = given[first : first + count] - given[first]
    return np.rint(window / (window[-1] or 1) * mean_ms * count).astype(np.int64).tolist() if count else []


def _job(rng: np.random.Generator, id_: str, at_ms: int, row: Row, slot_ms: int) -> Job:
    made = {
        **dict.fromkeys(FROM_PAPER, "trace"), **dict.fromkeys(SAMPLED, "drawn"), **dict.fromkeys(DERIVED, "derived")
    }  # fmt: skip
    utility = Utility(
        float(rng.uniform(*PRIORITY)), float(rng.uniform(*SENSITIVITY)), float(rng.uniform(*TARGET_SLOTS))
    )
    return Job(
        id_, at_ms, row.combination.name, comp_machine_ms=row.comp_machine_ms, comm_ms=row.comm_ms,
        iterations=row.iterations, iterations_per_epoch=min(PER_EPOCH, row.iterations),
        input_gb=row.combination.input_gb, model_gb=row.combination.model_gb, provenance=made,
        utility=stretched(utility, row.iterations * (row.comp_machine_ms / GANG + row.comm_ms) / slot_ms),
        worker=WORKER, ps=PS, requested_workers=GANG, chunk_mb=row.combination.input_gb * 1000 / GANG,
    )  # fmt: skip


def _cluster(num_servers: int, horizon_slots: int | None, slot_ms: int) -> Cluster:
    """m4.2xlarge machines of one site."""
    width = max(3, len(str(num_servers)))
    servers = tuple(
        Server(
            f"m{i + 1:0{width}d}",
            "edge",
            MACHINE,
            worker_lanes={ANY: 1},
            ps_lanes={ANY: 1},
            nic_gbps=REFERENCE_NIC,
            disk_gbps=REFERENCE_DISK,
        )
        for i in range(num_servers)
    )
    return Cluster("harmony", slot_ms, servers, horizon_slots)
