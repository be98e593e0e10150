"""Proved lower bounds on the total completion time of any schedule of typed jobs, and so how far from optimal a run can be.

Two bounds (specification of 002, section 4; the paper's own dual is not feasible, (e1) and (e2) there, so nothing of it is claimed):

    jct_lb   weak duality with any beta >= 0 on the workers. A chunk of job j earns a_j less what it may pay anywhere:
             LB = sum_j D_j [a_j - int_{t >= r} max_w((a_j - (t-r)/D_j)/p_w - 1/(2 D_j) - beta_w(t))^+ dt] - sum_w int beta_w,
             w over the workers of its type from r + up_w on, and one machine in the cloud at the rate of one place. Any a and beta
             give a bound; beta is a share kappa of what the run's own unfinished chunks weigh, on whole cells of time.
    jct_iso  every job alone in the empty system; for gangs, with its work spread over all workers of its type at once.

Valid for schedules at speed 1, clairvoyant ones too, of the jobs that are counted; limits of storage and of parameter servers only raise
the optimum. jct_lb allows a chunk to move among edge workers, not between edge and cloud.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from scheduling import typed
from scheduling.model import CLOUD, Certificate, Cluster, Job, ModelError, Role

KINDS = ("jct_lb", "jct_iso")
KAPPAS = (0.5, 0.8, 0.95)
CELLS = 400
STEPS = 40  # of the search for each a
SAFE = 1 - 1e-9  # sums in floating point: rounded down by this
_WORKER = int(Role.WORKER)


def certify(
    cluster: Cluster, jobs: Sequence[Job], completions: Mapping[int, int], bars: np.ndarray, *, gangs: bool = False
) -> Certificate:
    """The better of the two bounds for the jobs in `completions` ({job: ms at which it is or will be done}).

    bars: int64 [bar, 9], the run's bars. gangs: the scheduler moves work between workers, so chunks are no chunks.
    """
    achieved = float(sum(at_ms - jobs[job].arrival_ms for job, at_ms in completions.items()))
    if not completions:
        return Certificate("jct_iso", 0.0, 0.0, {"gangs": gangs})
    counted = sorted(completions)
    best = Certificate("jct_iso", achieved, isolated(cluster, jobs, counted, gangs), {"gangs": gangs})
    edges, loads = _loads(cluster, jobs, completions, bars, gangs)
    for kappa in KAPPAS:
        beta = {kind: kappa * load for kind, load in loads.items()}
        found = Certificate(
            "jct_lb", achieved, 0.0, {"edges": edges, "beta": beta, "a": _levels(cluster, jobs, counted, edges, beta)}
        )
        bound = recheck(cluster, jobs, counted, found)
        if bound > best.bound:
            best = Certificate("jct_lb", achieved, bound, found.duals)
    return best


def recheck(cluster: Cluster, jobs: Sequence[Job], counted: Sequence[int], certificate: Certificate) -> float:
    """The bound on the total completion time of these jobs that the certificate's duals prove, whoever made them.

    ModelError when they are no duals.
    """
    duals = certificate.duals
    if certificate.kind == "jct_iso":
        return isolated(cluster, jobs, counted, bool(duals["gangs"]))
    if certificate.kind != "jct_lb":
        raise ModelError(f"certificate: kind must be one of {', '.join(KINDS)}, got {certificate.kind!r}")
    edges = np.asarray(duals["edges"], dtype=np.int64)
    lanes = typed.lanes(cluster, _WORKER)
    if len(edges) < 2 or (np.diff(edges) <= 0).any():
        raise ModelError("certificate: edges must ascend")
    if edges[0] > min((jobs[job].arrival_ms for job in counted), default=0):
        raise ModelError("certificate: edges must begin by the first arrival")
    total = 0.0
    for kind, beta in duals["beta"].items():
        if beta.shape != (len(edges) - 1, len(lanes.of(kind))) or not (beta >= 0).all():
            raise ModelError(f"certificate: beta of type {kind} must be >= 0, a row per cell and a column per worker")
        total -= float((beta * np.diff(edges)[:, None]).sum())
    for job in counted:
        row, a = jobs[job], float(duals["a"][job])
        total += (row.num_chunks or 0) * _net(_Market(cluster, row, lanes, edges, duals["beta"]), a)
    return max(0.0, total * SAFE)


def isolated(cluster: Cluster, jobs: Sequence[Job], counted: Sequence[int], gangs: bool) -> float:
    """The sum over the jobs of each one's completion time alone in the empty system, or of less."""
    lanes = typed.lanes(cluster, _WORKER)
    total = 0
    for job in counted:
        row = jobs[job]
        upload_ms = typed.uploads(row, lanes.server[lanes.of(row.worker_type)])
        if not gangs:
            total += typed.alone_ms(row, upload_ms, cluster.unlimited_cloud) or 0
            continue
        times = typed.chunk_times(row)
        options = []
        if len(upload_ms):
            options.append(int(upload_ms.min()) + (row.num_chunks or 0) * times.apart // len(upload_ms))
        if cluster.unlimited_cloud and row.cloud_upload_ms is not None:
            options.append(row.cloud_upload_ms + times.together)
        total += min(options, default=0)
    return float(total)


def ratio(certificate: Certificate) -> float:
    """The share of optimal that is proved, bound / achieved, rounded down to four decimals."""
    return int(min(1.0, certificate.bound / certificate.achieved) * 10_000) / 10_000 if certificate.achieved else 1.0


class _Market:
    """What a chunk of one job meets in each cell of time: the least beta among the workers that it may have reached by the cell's end."""

    def __init__(
        self, cluster: Cluster, row: Job, lanes: typed.Lanes, edges: np.ndarray, betas: Mapping[Any, np.ndarray]
    ) -> None:
        times = typed.chunk_times(row)
        self.arrival_ms, self.chunks, self.edge_ms = row.arrival_ms, row.num_chunks or 1, times.apart
        first = int(np.searchsorted(edges, row.arrival_ms, side="right")) - 1
        self.start = np.maximum(edges[max(first, 0) : -1], row.arrival_ms)
        self.end = edges[max(first, 0) + 1 :]
        self.last_ms = max(int(edges[-1]), row.arrival_ms)
        own = lanes.of(row.worker_type)
        upload_ms = typed.uploads(row, lanes.server[own])
        beta = betas.get(lanes.name(row.worker_type))
        self.least = np.full(len(self.start), np.inf)
        if beta is not None and len(own):
            rows = beta[len(beta) - len(self.start) :]
            for delay in np.unique(upload_ms).tolist():
                reached = self.end > row.arrival_ms + delay
                self.least[reached] = np.minimum(self.least[reached], rows[reached][:, upload_ms == delay].min(axis=1))
        elif len(own):
            self.least[:] = 0.0
        cloud = cluster.unlimited_cloud and row.cloud_upload_ms is not None
        self.cloud_ms = times.together if cloud else None
        self.in_cloud = self.end > row.arrival_ms + (row.cloud_upload_ms or 0) if cloud else np.zeros(len(self.start), dtype=bool)
        rates = ([times.apart] if len(own) else []) + ([times.together] if cloud else [])
        self.fastest_ms = min(rates, default=None)


def _net(market: _Market, a: float) -> float:
    """a less the integral, with each cell at its start, where the integrand is greatest, and everything open behind the last cell."""
    chunks, half = market.chunks, 0.5 / market.chunks
    value = a - (market.start - market.arrival_ms) / chunks
    paid = np.where(
        np.isinf(market.least), 0.0, value / market.edge_ms - half - np.where(np.isinf(market.least), 0.0, market.least)
    )
    if market.cloud_ms is not None:
        paid = np.maximum(paid, np.where(market.in_cloud, value / market.cloud_ms - half, 0.0))
    integral = float((np.maximum(paid, 0.0) * np.maximum(market.end - market.start, 0)).sum())
    if market.fastest_ms is not None:
        height = max(0.0, (a - (market.last_ms - market.arrival_ms) / chunks) / market.fastest_ms - half)
        integral += height * height * chunks * market.fastest_ms / 2
    return a - integral


def _levels(
    cluster: Cluster, jobs: Sequence[Job], counted: Sequence[int], edges: np.ndarray, beta: Mapping[Any, np.ndarray]
) -> dict[int, float]:
    """For each job an a that earns nearly the most: the net is concave in a."""
    lanes = typed.lanes(cluster, _WORKER)
    found = {}
    for job in counted:
        market = _Market(cluster, jobs[job], lanes, edges, beta)
        low, high = 0.0, 2.0 * ((market.last_ms - market.arrival_ms) + (market.fastest_ms or 0)) / market.chunks
        for _ in range(STEPS):
            left, right = low + (high - low) / 3, high - (high - low) / 3
            low, high = (left, high) if _net(market, left) < _net(market, right) else (low, right)
        found[job] = (low + high) / 2
    return found


def _loads(
    cluster: Cluster, jobs: Sequence[Job], completions: Mapping[int, int], bars: np.ndarray, gangs: bool
) -> tuple[np.ndarray, dict[str | None, np.ndarray]]:
    """(edges of the cells, {type: weight of the unfinished chunks [cell, worker]}); a chunk counts in cells that it covers wholly.

    For gangs each job that is not done weighs on all workers of its type alike.
    """
    lanes = typed.lanes(cluster, _WORKER)
    first_ms = min(jobs[job].arrival_ms for job in completions)
    last_ms = max([*completions.values(), first_ms + 1])
    edges = np.unique(np.linspace(first_ms, last_ms, min(CELLS, last_ms - first_ms) + 1).astype(np.int64))
    names = {lanes.name(jobs[job].worker_type) for job in completions}
    changes = {name: np.zeros((len(edges), len(lanes.of(name)))) for name in names}
    if gangs:
        for job, at_ms in completions.items():
            own = changes[lanes.name(jobs[job].worker_type)]
            if own.shape[1]:
                begin, end = _covered(edges, jobs[job].arrival_ms, at_ms)
                own[begin] += 1 / own.shape[1]
                own[max(begin, end)] -= 1 / own.shape[1]
    else:
        sizes = np.bincount(lanes.server, minlength=len(cluster.servers))
        at = {name: {int(lane): place for place, lane in enumerate(lanes.of(name).tolist())} for name in names}
        firsts = np.cumsum(sizes) - sizes
        for (job, _), (end_ms, server, lane) in _chunk_ends(bars).items():
            if server != CLOUD and job in completions:
                name = lanes.name(jobs[job].worker_type)
                place = at[name][int(firsts[server]) + lane]
                begin, end = _covered(edges, jobs[job].arrival_ms, end_ms)
                weight = 1.0 / (jobs[job].num_chunks or 1)
                changes[name][begin, place] += weight
                changes[name][max(begin, end), place] -= weight
    return edges, {name: np.maximum(np.cumsum(change, axis=0)[:-1], 0.0) for name, change in changes.items()}


def _covered(edges: np.ndarray, from_ms: int, to_ms: int) -> tuple[int, int]:
    """The cells that lie wholly within: from the first to before the second."""
    return int(np.searchsorted(edges, from_ms, side="left")), int(np.searchsorted(edges, to_ms, side="right")) - 1


def _chunk_ends(bars: np.ndarray) -> dict[tuple[int, int], tuple[int, int, int]]:
    """{(job, chunk): (end, server, lane)}"""
    workers = bars[bars[:, 1] == _WORKER]
    workers = workers[np.argsort(workers[:, 4], kind="stable")]
    return {(job, chunk): (end, server, lane) for job, _, server, _, end, _, lane, chunk, _ in workers.tolist()}
