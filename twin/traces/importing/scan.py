"""Scan of an upload before anything is imported: its content, arrivals, sizes and owners of jobs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np

from scheduling.model.values import GPU
from twin.traces.importing.chosen_jobs import first_jobs
from twin.traces.importing.formats import unit_of
from twin.traces.importing.parsing import Part
from twin.traces.importing.report import Origins, build_report

BINS = 120  # of the arrivals
Sizes = list[list[float]]  # [size, jobs] of each
MAX_GROUPS = 200  # virtual clusters that are named; the others are counted together


def summary_of(parts: Sequence[Part], seed: int, slot_ms: int) -> dict[str, Any]:
    """{format, report, jobs, servers, arrivals, gpus, workers, run_ms, groups, preview}; all jobs, before any choice.

    gpus: the sizes of the jobs in GPUs; None where jobs have none or not all are known: then `workers` has the sizes.
    """
    reads = [part.read for part in parts]
    found = next((r for r in reads if r.drafts is not None or r.jobs is not None), None)
    arrival, run, sizes, groups = _columns(found) if found else (np.empty(0, np.int64), None, {}, None)
    report = build_report([part.format for part in parts], reads, len(arrival), Origins(), Counter(), seed, slot_ms)
    return {
        "format": report["format"],
        "report": report,
        "jobs": len(arrival),
        "servers": sum(len(read.cluster.servers) for read in reads if read.cluster),
        "gpus_of_servers": sum(s.capacity[GPU] for read in reads if read.cluster for s in read.cluster.servers) / 1000,
        "arrivals": _histogram(arrival),
        "gpus": None,
        "workers": None,
        **sizes,
        "run_ms": None if run is None or not len(run)
        else dict(zip(QUANTILES, np.quantile(run, SHARES).astype(int).tolist(), strict=True)),
        "groups": None if groups is None else _groups(groups),
        "preview": first_jobs(parts, seed, slot_ms),
        "files": [{**begun, "format": part.format} for part in parts for begun in part.beginnings],
        "time_unit": next((unit for part in parts if (unit := unit_of(part.format))), ""),
    }  # fmt: skip


QUANTILES, SHARES = ("least", "median", "p95", "most"), (0, 0.5, 0.95, 1)


def _columns(read: Any) -> tuple[np.ndarray, np.ndarray | None, dict[str, Sizes], np.ndarray | None]:
    """(arrival ms, run ms, sizes, group) of the jobs, as far as the source states them."""
    if read.drafts is not None:
        drafts = read.drafts
        sizes = sizes_of(drafts.workers, drafts.demand[:, GPU])
        return drafts.arrival_ms, drafts.run_ms, sizes, drafts.known.get("group")
    columns = read.jobs.columns
    workers = columns.get("requested_workers")
    worker = columns.get("worker")
    sizes = sizes_of(workers, np.maximum(worker[:, GPU], 0)) if workers is not None and worker is not None else {}
    return columns["arrival_ms"], None, sizes, None


def sizes_of(workers: np.ndarray, gpu: np.ndarray) -> dict[str, Sizes]:
    """Sizes of the jobs in GPUs; in workers if no job has a GPU, or if the GPUs of some job are unknown.

    gpu: thousandths of a GPU of a worker of each job, below 0 where unknown.
    """
    if (gpu >= 0).all() and gpu.any():
        return {"gpus": _sizes(workers * gpu / 1000)}
    return {"workers": _sizes(workers.astype(float))}


def _histogram(arrival_ms: np.ndarray) -> dict[str, Any]:
    """{from_ms, bin_ms, counts, ranks}: jobs that arrive in each of at most BINS pieces of the span.

    ranks: [[n, arrival of the n-th job], ...] for n of at most two significant digits and for the last job, so that the
    time over which the first n jobs arrive is exact for the numbers that people type.
    """
    if not len(arrival_ms):
        return {"from_ms": 0, "bin_ms": 1, "counts": [], "ranks": []}
    ordered = np.sort(arrival_ms)
    first, last = int(ordered[0]), int(ordered[-1])
    bin_ms = max(1, -(-(last - first + 1) // BINS))
    tens = 10 ** np.arange(len(str(len(ordered))))
    ranks = np.unique(np.append(np.outer(tens, np.arange(1, 100)).ravel(), len(ordered)))
    ranks = ranks[ranks <= len(ordered)]
    return {
        "from_ms": first, "bin_ms": bin_ms, "counts": np.bincount((ordered - first) // bin_ms).tolist(),
        "ranks": np.column_stack([ranks, ordered[ranks - 1]]).tolist(),
    }  # fmt: skip


def _sizes(of: np.ndarray) -> Sizes:
    """[[size, jobs], ...] by size."""
    sizes, counts = np.unique(np.round(of, 3), return_counts=True)
    if len(sizes) > BINS:  # as many as a chart shows: by powers of two
        powers = np.floor(np.log2(np.maximum(of, 2**-10)))
        exponents, counts = np.unique(powers, return_counts=True)
        sizes = 2.0**exponents
    return [[size, count] for size, count in zip(sizes.tolist(), counts.tolist(), strict=True)]


def _groups(groups: np.ndarray) -> list[list[Any]]:
    """[[name, jobs], ...], the largest first; the last is the sum of the others."""
    counts = Counter(groups.tolist()).most_common()
    rest = sum(count for _, count in counts[MAX_GROUPS:])
    return [[name, count] for name, count in counts[:MAX_GROUPS]] + ([["", rest]] if rest else [])
