"""The part `lanes` of the metrics of summary.json, recomputed from the bars."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence
from typing import Any

import numpy as np

from scheduling.model.bars import END, ROLE, SERVER
from scheduling.model.limits import MAX_INT
from scheduling.typed_workers.verification.intervals import Spans, united
from scheduling.typed_workers.verification.work import PARTS, chunk_work
from scheduling.typed_workers.verification.worker_types import declares_types, slot_types
from scheduling.verification.replay import CLOUD, Outcome
from scheduling.verification.rules import TRANSFER, WORKER, Row


def metrics_of(cluster: Row, jobs: Sequence[Row], outcome: Outcome) -> dict[str, Any]:
    """Suspensions, slowdown, communication and utilization of workers."""
    bars = [bar for plan in outcome.bars.values() for bar in plan]
    runs: dict[int, Spans] = defaultdict(list)
    chunks: set[tuple[int, int, int]] = set()
    worked: dict[int, int] = defaultdict(int)
    edge: set[int] = set()
    whole: dict[int, int] = {}  # gangs in the cloud
    transfer_ms = 0
    for job, role, server, start_ms, end_ms, count, _, chunk, _ in bars:
        if role == TRANSFER:
            transfer_ms += end_ms - start_ms
        elif role == WORKER:
            runs[job].append((start_ms, end_ms))
            worked[job] += (end_ms - start_ms) * count
            chunks.add((job, chunk, server))
            if server != CLOUD:
                edge.add(job)
            elif chunk < 0:
                whole[job] = count
    upload_ms = sum(count * (jobs[job].get("cloud_upload_ms") or 0) for job, count in whole.items())
    for job, chunk, server in chunks:
        if chunk >= 0:
            row = jobs[job]
            upload_ms += (
                (row.get("cloud_upload_ms") or 0)
                if server == CLOUD
                else (row["upload_ms"][server] if row.get("upload_ms") else 0)
            )
    exchange_ms = 0
    for job in edge:
        if all(jobs[job].get(part) is not None for part in PARTS):
            remote, local = chunk_work(jobs[job])
            exchange_ms += round(worked[job] * (remote - local) / remote)
    slow = sorted(filter(None, (_slowdown(cluster, jobs[job], at_ms) for job, (at_ms, _) in outcome.completed.items())))
    return {
        "job_suspensions": sum(len(united(spans)) - 1 for spans in runs.values()),
        "cloud_chunks": len({(job, chunk) for job, chunk, server in chunks if server == CLOUD}),
        "mean_slowdown": sum(slow) / len(slow) if slow else None,
        "median_slowdown": float(np.percentile(slow, 50)) if slow else None,
        "p95_slowdown": float(np.percentile(slow, 95)) if slow else None,
        "upload_ms": upload_ms, "transfer_ms": transfer_ms, "exchange_ms": exchange_ms,
        "communication_ms": upload_ms + transfer_ms + exchange_ms,
        **_busy(cluster, jobs, bars),
    }  # fmt: skip


def _slowdown(cluster: Row, row: Row, completed_ms: int) -> float | None:
    """Slowdown: JCT over that of the job alone, in the cloud or with the D-th chunk that its workers can complete."""
    if any(row.get(part) is None for part in PARTS):
        return None
    remote, local = chunk_work(row)
    untyped = not declares_types(cluster)
    delays = sorted(
        (row["upload_ms"][s] if row.get("upload_ms") else 0)
        for s, types in enumerate(slot_types(cluster, WORKER))
        for kind in types
        if not any(left <= 0 and back >= MAX_INT for left, back in cluster["servers"][s]["away"])
        if untyped or kind == row.get("worker_type")
    )
    options = []
    if cluster["cloud"] and row.get("cloud_upload_ms") is not None:
        options.append(row["cloud_upload_ms"] + local)
    if delays:
        count, rounds = (
            row["num_chunks"],
            math.ceil(row["num_chunks"] / len(delays)) + 1 + (delays[-1] - delays[0]) // remote,
        )
        few = delays[:count]
        ends = np.add.outer(np.array(few), remote * np.arange(1, min(rounds, count) + 1)).ravel()
        options.append(int(np.partition(ends, count - 1)[count - 1]))
    return (completed_ms - row["arrival_ms"]) / min(options) if options else None


def _busy(cluster: Row, jobs: Sequence[Row], bars: Sequence[Sequence[int]]) -> dict[str, Any]:
    workers = [bar for bar in bars if bar[ROLE] == WORKER and bar[SERVER] != CLOUD]
    types = slot_types(cluster, WORKER)
    if not workers or not any(types):
        return {"busy": {}, "mean_busy": None, "peak_busy": None}
    first, last = min(job["arrival_ms"] for job in jobs), max(bar[END] for bar in workers)
    offered: dict[tuple[str, str], float] = defaultdict(float)
    used: dict[tuple[str, str], float] = defaultdict(float)
    sites = [server.get("site") or "edge" for server in cluster["servers"]]
    total = 0
    for s, server in enumerate(cluster["servers"]):
        gone = sum(max(0, min(end, last) - max(begin, first)) for begin, end in server["away"])
        total += len(types[s]) if gone < last - first else 0
        for kind in types[s]:
            offered[sites[s], kind or "any"] += last - first - gone
    changes: dict[int, int] = defaultdict(int)
    for _, _, server, start_ms, end_ms, _, worker_slot, _, _ in workers:
        used[sites[server], types[server][worker_slot] or "any"] += end_ms - start_ms
        changes[start_ms] += 1
        changes[end_ms] -= 1
    peak = running = 0
    for at_ms in sorted(changes):
        running += changes[at_ms]
        peak = max(peak, running)
    busy: dict[str, dict[str, float]] = {}
    for (site, kind), ms in offered.items():
        if ms:
            busy.setdefault(site, {})[kind] = used[site, kind] / ms
    return {"busy": busy, "mean_busy": sum(used.values()) / sum(offered.values()), "peak_busy": peak / total}
