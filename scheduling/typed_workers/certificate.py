"""Proved lower bounds on the total completion time of any schedule of typed jobs.

Two bounds (the paper's own dual is not feasible, so it proves no bound):

    jct_lb   weak duality with any beta >= 0 on the workers. A chunk of job j earns a_j less what it may pay anywhere:
             LB = sum_j D_j [a_j - int_{t >= r} max_w((a_j - (t-r)/D_j)/p_w - 1/(2 D_j) - beta_w(t))^+ dt] - sum_w int
             beta_w, w over the workers of its type from r + up_w on, and one machine in the cloud at the rate of one
             place. Any a and beta give a bound; beta is a share kappa of what the run's own unfinished chunks weigh, on
             whole cells of time.
    jct_iso  every job alone in the empty system. Where chunks stay whole: its true completion time there. For gangs,
             which move work between workers: the time by which the workers of its type, each from its own upload on
             and at most as many at once as the job has chunks, could have done all its work, and no less than one chunk
             takes.

Valid for schedules at speed 1, clairvoyant ones too, of the jobs that are counted; limits of storage and of parameter
servers only raise the optimum. The cloud belongs to the cluster: of a cluster without one, both bound the schedules
that use edge workers only, and are greater. jct_lb allows a chunk to move among edge workers, not between edge and
cloud.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from scheduling.model.bars import CLOUD, END, ROLE, Role
from scheduling.model.values import Certificate, Cluster, Job, ModelError
from scheduling.typed_workers import workers as typed

BOUND_TYPES = ("jct_lb", "jct_iso")
MAX_FINE_JOBS = 3_000  # beyond, the bound is a coarser one: with COARSE in the place of FINE
FINE = ((0.5, 0.8, 0.95), 400)  # kappas that are tried, and cells of time
COARSE = ((0.8,), 100)
STEPS = 30  # of the search for each a: halves its interval
SAFE = 1 - 1e-9  # sums in floating point: rounded down by this
_WORKER = int(Role.WORKER)


def certify(
    cluster: Cluster, jobs: Sequence[Job], completions: Mapping[int, int], bars: np.ndarray, *, gangs: bool = False
) -> Certificate:
    """Better of the two bounds for the jobs in `completions` ({job: ms of the actual or planned completion}).

    bars: int64 [bar, 9], the run's bars. gangs: the scheduler moves work between workers, so chunks are no chunks.
    """
    achieved = float(sum(at_ms - jobs[job].arrival_ms for job, at_ms in completions.items()))
    if not completions:
        return Certificate("jct_iso", 0.0, 0.0, {"gangs": gangs})
    counted = sorted(completions)
    coarse = {"coarse": True} if len(counted) > MAX_FINE_JOBS else {}
    best = Certificate("jct_iso", achieved, isolated(cluster, jobs, counted, gangs), {"gangs": gangs, **coarse})
    kappas, cells = COARSE if coarse else FINE
    edges, loads = _loads(cluster, jobs, completions, bars, gangs, cells)
    prices = _Prices(typed.worker_slots(cluster, _WORKER), edges, loads)
    markets = {job: _Market(cluster, jobs[job], prices) for job in counted}
    for kappa in kappas:
        beta = {kind: kappa * load for kind, load in loads.items()}
        levels = {job: _level(market, kappa) for job, market in markets.items()}
        found = Certificate("jct_lb", achieved, 0.0, {"edges": edges, "beta": beta, "a": levels, **coarse})
        bound = recheck(cluster, jobs, counted, found)
        if bound > best.bound:
            best = Certificate("jct_lb", achieved, bound, found.duals)
    return best


def recheck(cluster: Cluster, jobs: Sequence[Job], counted: Sequence[int], certificate: Certificate) -> float:
    """Bound on the total completion time of these jobs that the certificate's duals prove, whatever their origin.

    ModelError when they are no duals.
    """
    duals = certificate.duals
    if certificate.kind == "jct_iso":
        return isolated(cluster, jobs, counted, bool(duals["gangs"]))
    if certificate.kind != "jct_lb":
        raise ModelError(f"certificate: kind must be one of {', '.join(BOUND_TYPES)}, got {certificate.kind!r}")
    edges = np.asarray(duals["edges"], dtype=np.int64)
    worker_slots = typed.worker_slots(cluster, _WORKER)
    if len(edges) < 2 or (np.diff(edges) <= 0).any():
        raise ModelError("certificate: edges must ascend")
    if edges[0] > min((jobs[job].arrival_ms for job in counted), default=0):
        raise ModelError("certificate: edges must start by the first arrival")
    total = 0.0
    for kind, beta in duals["beta"].items():
        if beta.shape != (len(edges) - 1, len(worker_slots.of(kind))) or not (beta >= 0).all():
            raise ModelError(f"certificate: beta of type {kind} must be >= 0, a row per cell and a column per worker")
        total -= float((beta * np.diff(edges)[:, None]).sum())
    prices = _Prices(worker_slots, edges, duals["beta"])
    for job in counted:
        row, a = jobs[job], float(duals["a"][job])
        total += (row.num_chunks or 0) * _net(_Market(cluster, row, prices), a)
    return max(0.0, total * SAFE)


def isolated(cluster: Cluster, jobs: Sequence[Job], counted: Sequence[int], gangs: bool) -> float:
    """Sum of each job's completion time alone in the empty system; for gangs, of a lower bound on it (`_fluid`)."""
    worker_slots = typed.worker_slots(cluster, _WORKER)
    total = 0
    for job in counted:
        row = jobs[job]
        upload_ms = typed.uploads(row, worker_slots.server[worker_slots.of(row.worker_type)])
        if not gangs:
            total += typed.alone_ms(row, upload_ms, cluster.unlimited_cloud) or 0
            continue
        times = typed.chunk_times(row)
        options = []
        if len(upload_ms):
            options.append(_fluid(row.num_chunks or 0, times.remote, upload_ms))
        if cluster.unlimited_cloud and row.cloud_upload_ms is not None:
            options.append(row.cloud_upload_ms + times.local)
        total += min(options, default=0)
    return float(total)


def _fluid(chunks: int, chunk_ms: int, upload_ms: np.ndarray) -> int:
    """The least time by which work that moves freely between workers can be done: one worker at a time serves a chunk.

    At any time at most `chunks` workers work, so those with the least uploads could do all that any of them do.
    """
    least = np.sort(upload_ms)[:chunks].astype(np.int64)
    most = np.arange(1, len(least) + 1)
    spread = -(-(chunks * chunk_ms + np.cumsum(least)) // most)  # by the first worker alone, the first two, ...
    return int(max(least[0] + chunk_ms, spread.min())) if len(least) else 0


class _Prices:
    """The least beta that a chunk of a job meets in each cell: equal for all jobs of one type and uploads."""

    def __init__(self, worker_slots: typed.WorkerSlots, edges: np.ndarray, betas: Mapping[Any, np.ndarray]) -> None:
        self.worker_slots, self.edges, self.betas = worker_slots, edges, betas
        self.known: dict[tuple[str | None, bytes], list[tuple[int, np.ndarray]]] = {}

    def of(self, row: Job) -> list[tuple[int, np.ndarray]]:
        """[(upload ms, least beta [cell] of the workers that are reached after it)]"""
        own = self.worker_slots.of(row.worker_type)
        upload_ms = typed.uploads(row, self.worker_slots.server[own])
        key = (row.worker_type, upload_ms.tobytes())
        if key not in self.known:
            beta = self.betas.get(self.worker_slots.name(row.worker_type))
            if beta is None:
                beta = np.zeros((len(self.edges) - 1, len(own)))
            delays = np.unique(upload_ms).tolist() if len(own) else []
            self.known[key] = [(delay, beta[:, upload_ms == delay].min(axis=1)) for delay in delays]
        return self.known[key]


class _Market:
    """Prices for a chunk of one job in each cell of time: the smallest beta of the workers in reach by its end."""

    def __init__(self, cluster: Cluster, row: Job, prices: _Prices) -> None:
        times, edges = typed.chunk_times(row), prices.edges
        self.arrival_ms, self.chunks, self.edge_ms = row.arrival_ms, row.num_chunks or 1, times.remote
        first = max(0, int(np.searchsorted(edges, row.arrival_ms, side="right")) - 1)
        start, end = np.maximum(edges[first:-1], row.arrival_ms), edges[first + 1 :]
        self.width = np.maximum(end - start, 0)
        self.waited = (start - row.arrival_ms) / self.chunks
        self.last_ms = max(int(edges[-1]), row.arrival_ms)
        on_edge = prices.of(row)
        self.least = np.full(len(start), np.inf)
        for delay, rows in on_edge:
            reached = end > row.arrival_ms + delay
            self.least[reached] = np.minimum(self.least[reached], rows[first:][reached])
        self.open = np.isfinite(self.least)
        self.least[~self.open] = 0.0
        cloud = cluster.unlimited_cloud and row.cloud_upload_ms is not None
        self.cloud_ms = times.local if cloud else None
        self.in_cloud = end > row.arrival_ms + (row.cloud_upload_ms or 0) if cloud else np.zeros(len(start), dtype=bool)
        rates = ([times.remote] if on_edge else []) + ([times.local] if cloud else [])
        self.fastest_ms = min(rates, default=None)

    def earned(self, a: float, kappa: float) -> tuple[np.ndarray, np.ndarray | float, float]:
        """([cell] gain there per ms of a chunk that earns `a`, its growth with a, and the same after the last cell).

        Each cell counts as at its start, where the gain is greatest.
        """
        half, value = 0.5 / self.chunks, a - self.waited
        gain = np.where(self.open, value / self.edge_ms - half - kappa * self.least, 0.0)
        rate: np.ndarray | float = 1.0 / self.edge_ms
        if self.cloud_ms is not None:
            cloud = np.where(self.in_cloud, value / self.cloud_ms - half, 0.0)
            rate = np.where(cloud > gain, 1.0 / self.cloud_ms, rate)
            gain = np.maximum(gain, cloud)
        behind = 0.0
        if self.fastest_ms is not None:
            behind = max(0.0, (a - (self.last_ms - self.arrival_ms) / self.chunks) / self.fastest_ms - half)
        return np.maximum(gain, 0.0), rate, behind


def _net(market: _Market, a: float) -> float:
    """a less the integral of what a chunk could gain, over the cells and after the last of them."""
    gain, _, behind = market.earned(a, 1.0)
    return a - float((gain * market.width).sum()) - behind * behind * market.chunks * (market.fastest_ms or 0) / 2


def _level(market: _Market, kappa: float) -> float:
    """An a of nearly the greatest net: it is concave in a, so the sign of its slope gives the side of the best a."""
    low, high = 0.0, 2.0 * ((market.last_ms - market.arrival_ms) + (market.fastest_ms or 0)) / market.chunks
    for _ in range(STEPS):
        middle = (low + high) / 2
        gain, rate, behind = market.earned(middle, kappa)
        slope = 1.0 - float((market.width * rate * (gain > 0)).sum()) - behind * market.chunks
        low, high = (middle, high) if slope > 0 else (low, middle)
    return (low + high) / 2


def _loads(
    cluster: Cluster, jobs: Sequence[Job], completions: Mapping[int, int], bars: np.ndarray, gangs: bool, cells: int
) -> tuple[np.ndarray, dict[str | None, np.ndarray]]:
    """(edges of the cells, {type: weight of the unfinished chunks [cell, worker]}).

    A chunk counts in cells that it covers wholly.

    For gangs each job that is not done weighs on all workers of its type alike.
    """
    worker_slots = typed.worker_slots(cluster, _WORKER)
    first_ms = min(jobs[job].arrival_ms for job in completions)
    last_ms = max([*completions.values(), first_ms + 1])
    edges = np.unique(np.linspace(first_ms, last_ms, min(cells, last_ms - first_ms) + 1).astype(np.int64))
    names = {worker_slots.name(jobs[job].worker_type) for job in completions}
    changes = {name: np.zeros((len(edges), len(worker_slots.of(name)))) for name in names}
    if gangs:
        for job, at_ms in completions.items():
            own = changes[worker_slots.name(jobs[job].worker_type)]
            if own.shape[1]:
                begin, end = _covered(edges, jobs[job].arrival_ms, at_ms)
                own[begin] += 1 / own.shape[1]
                own[max(begin, end)] -= 1 / own.shape[1]
    else:
        sizes = np.bincount(worker_slots.server, minlength=len(cluster.servers))
        at = {
            name: {int(worker_slot): place for place, worker_slot in enumerate(worker_slots.of(name).tolist())}
            for name in names
        }
        firsts = np.cumsum(sizes) - sizes
        for (job, _), (end_ms, server, worker_slot) in _chunk_ends(bars).items():
            if server != CLOUD and job in completions:
                name = worker_slots.name(jobs[job].worker_type)
                place = at[name][int(firsts[server]) + worker_slot]
                begin, end = _covered(edges, jobs[job].arrival_ms, end_ms)
                weight = 1.0 / (jobs[job].num_chunks or 1)
                changes[name][begin, place] += weight
                changes[name][max(begin, end), place] -= weight
    return edges, {name: np.maximum(np.cumsum(change, axis=0)[:-1], 0.0) for name, change in changes.items()}


def _covered(edges: np.ndarray, from_ms: int, to_ms: int) -> tuple[int, int]:
    """Range of the cells that lie wholly within."""
    return int(np.searchsorted(edges, from_ms, side="left")), int(np.searchsorted(edges, to_ms, side="right")) - 1


def _chunk_ends(bars: np.ndarray) -> dict[tuple[int, int], tuple[int, int, int]]:
    """{(job, chunk): (end, server, worker)}"""
    workers = bars[bars[:, ROLE] == _WORKER]
    workers = workers[np.argsort(workers[:, END], kind="stable")]
    return {
        (job, chunk): (end, server, worker_slot)
        for job, _, server, _, end, _, worker_slot, chunk, _ in workers.tolist()
    }
