"""The simulations of A_online: completion times against SRTF, suspensions, utilization, linear program of ratios."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import pairwise
from statistics import mean
from typing import Any

import numpy as np

from experiments import Figure, Part, Steps, Values
from experiments._grid import Found, Grid, Instance, Maker, Measure, Player, compare, means, play, table_of
from scheduling.kernel.realized_schedule import Futures
from scheduling.model.bars import CHUNK, END, JOB, ROLE, START, Role
from scheduling.model.values import Event
from scheduling.reporting.metrics import summarize
from scheduling.typed_workers import workers
from scheduling.workloads import generate

PLAYERS: Mapping[str, Player] = {
    "A_online": ("a_online", {}), "A_online-E": ("a_online_edge", {}), "SRTF": ("srtf", {}),
    "Tiresias-L": ("tiresias_l", {}), "BatchSche": ("batch_sche", {}),
}  # fmt: skip
PREEMPTIVE = {name: player for name, player in PLAYERS.items() if name != "BatchSche"}
JOBS, SERVERS = (100, 150, 200, 250, 300), (60, 80, 100, 120, 140)
NOTE = (
    "3 seeds, 137 days, 2 or 8 workers per server, gangs of half the chunks, limit of Tiresias-L 500 worker-hours. An "
    "upload to the cloud takes 10 to 15 h and a chunk 64 h on average, so A_online gains more over SRTF, which has no "
    "cloud, than in the paper; nothing is tuned to its results"
)
HOUR_MS = 3_600_000
TESTBED_JOBS, TESTBED_SERVERS = (6, 12, 18, 24), 8
TESTBED_NOTE = (
    "8 edge servers of the testbed preset, simulated, 3 seeds; assumed: the numbers of jobs, the span of 240 hours, "
    "and the times of jobs, which the paper does not state for its testbed"
)
SEEDS = 3
EPSILONS = (0.0, 0.1, 0.3, 0.5)


def workload(num_jobs: int, num_servers: int) -> Maker:
    """Workload of the simulator preset."""
    return lambda seed: generate("a-online", num_jobs=num_jobs, num_servers=num_servers, seed=seed)


def short_chunks(num_jobs: int, num_servers: int, span_hours: float) -> Maker:
    """A tenth of the mini-batches, so that a chunk takes less than its upload to the cloud, in a shorter span."""

    def make(seed: int) -> Instance:
        cluster, jobs = generate(
            "a-online", num_jobs=num_jobs, num_servers=num_servers, seed=seed, span_hours=span_hours
        )
        tenths = [max(1, round((job.minibatches_per_chunk or 0) / 10)) for job in jobs]
        return cluster, [replace(job, minibatches_per_chunk=n) for job, n in zip(jobs, tenths, strict=True)]

    return make


def testbed(num_jobs: int) -> Maker:
    """Workload of the testbed preset: 8 edge servers with one GPU worker and two CPU workers each, and a cloud."""
    return lambda seed: generate(
        "a-online", num_jobs=num_jobs, num_servers=TESTBED_SERVERS, seed=seed, preset="testbed"
    )


def total(instance: Instance, events: Sequence[Event]) -> float:
    """Hours of completion time over the jobs; nan when one does not complete, as totals are then of different jobs."""
    jobs = instance[1]
    done = {event.data["job"]: event.at_ms for event in events if event.kind == "job_completed"}
    return (
        sum(at_ms - jobs[job].arrival_ms for job, at_ms in done.items()) / HOUR_MS
        if len(done) == len(jobs)
        else float("nan")
    )


def stops(instance: Instance, events: Sequence[Event]) -> float:
    """Suspensions of chunks, or of gangs."""
    return float(summarize(events, *instance)["suspensions"])


def communication(instance: Instance, events: Sequence[Event]) -> float:
    """Hours of uploads, of moves of gangs, and of exchanges with parameter servers, over all chunks."""
    return float(summarize(events, *instance)["lanes"]["communication_ms"]) / HOUR_MS


def rates(
    points: Mapping[Any, Maker], seeds: Sequence[int], measure: Measure = total
) -> Generator[Mapping[str, Part], Values, Found]:
    """The measure, such as total completion times, as shares of SRTF's mean."""
    found = yield from compare(points, PLAYERS, seeds, measure)
    return {
        point: {name: [value / mean(row["SRTF"]) for value in values] for name, values in row.items()}
        for point, row in found.items()
    }


def makespan_and_use(make: Maker, player: Player, seeds: Sequence[int]) -> list[list[float]]:
    """[seed][makespan in hours, mean share of busy workers, largest share]"""
    found = []
    for instance in map(make, seeds):
        figures = summarize(play(instance, player), *instance)
        part = figures["lanes"]
        found.append([figures["makespan_ms"] / HOUR_MS, part["mean_busy"], part["peak_busy"]])
    return found


def small(num_jobs: int, num_servers: int) -> Maker:
    """Jobs whose chunks take 4 to 13 hours, at about the same load at any size: what the linear program can hold."""

    def make(seed: int) -> Instance:
        span = 200 * (num_jobs / 15) * (10 / num_servers)
        cluster, jobs = generate("a-online", num_jobs=num_jobs, num_servers=num_servers, seed=seed, span_hours=span)
        rng = np.random.default_rng([seed, 12])
        scaled = []
        for job in jobs:
            share = int(rng.integers(4, 14)) * HOUR_MS / workers.chunk_times(job).remote
            parts: dict[str, Any] = {
                name: getattr(job, name) * share for name in ("minibatch_ms", "ps_update_ms", "gradient_mb")
            }
            scaled.append(replace(job, **parts))
        return cluster, scaled

    return make


def ratios(what: str, points: Mapping[int, Maker], seeds: Sequence[int]) -> Steps:
    """Competitive ratios at each point, with the bands of Fig. 12 and 13."""
    values = yield {f"{point} {what}": partial(competitive, make, seeds) for point, make in points.items()}
    found = {point: values[f"{point} {what}"] for point in points}
    return table_of(what, found, found[next(iter(points))], list(_bands(what, means(found))))


def _bands(what: str, grid: Grid) -> Iterator[Figure]:
    for point, row in grid.items():
        values = list(row.values())
        yield Figure(f"maximum, {point} {what}", max(values), "x", 1.7)
        yield Figure(f"at epsilon 0.5, {point} {what}", values[-1], "x", 1.1)
        yield never_rises(f"with epsilon, {point} {what}", values, 0.0)


def competitive(make: Maker, seeds: Sequence[int]) -> dict[str, list[float]]:
    """Fractional flow of A_online at speed 1 + epsilon to optimum of the relaxed ILP (4) at speed 1, in one place.

    {epsilon: value of each seed}
    """
    instances = [make(seed) for seed in seeds]
    bounds = [relaxed(instance) for instance in instances]
    return {
        f"epsilon {epsilon:g}": [
            flow(instance, play(instance, ("a_online", {"speed_augmentation": epsilon}))) / bound
            for instance, bound in zip(instances, bounds, strict=True)
        ]
        for epsilon in EPSILONS
    }


def flow(instance: Instance, events: Sequence[Event]) -> float:
    """Eq. (3) over all chunks, in hours: the mean of t - r over the time in which a chunk runs, divided by D."""
    futures = Futures()
    for event in events:
        futures.feed(event)
    bars = futures.matrix()
    bars = bars[bars[:, ROLE] == Role.WORKER]
    jobs = instance[1]
    _, chunk = np.unique(bars[:, [JOB, CHUNK]], axis=0, return_inverse=True)
    length = (bars[:, END] - bars[:, START]).astype(float)
    arrival = np.array([job.arrival_ms for job in jobs])[bars[:, JOB]]
    share = np.array([1 / (job.num_chunks or 1) for job in jobs])[bars[:, JOB]]
    waited = ((bars[:, START] + bars[:, END]) / 2 - arrival) * length * share
    worked = np.bincount(chunk, weights=length)
    return float((np.bincount(chunk, weights=waited) / worked).sum() / HOUR_MS)


def relaxed(instance: Instance) -> float:
    """The optimum of the relaxed ILP (4) with zeta = 1, in hours; slots of an hour, each counted from its start.

    Chunks of a job are one variable per server and slot, workers of a server and type one capacity: they are alike.
    After the time in which the cloud can have done everything, nothing has to be kept.
    """
    from scipy.optimize import linprog  # here: only these ratios need it
    from scipy.sparse import coo_matrix

    cluster, jobs = instance
    worker_slots = workers.worker_slots(cluster, 0)
    cost: list[float] = []
    at: list[tuple[int, int, float]] = []  # row, column, coefficient
    high: list[float] = []
    capacity: dict[tuple[int, str, int], int] = {}

    def row(limit: float) -> int:
        high.append(limit)
        return len(high) - 1

    for job in jobs:
        assert job.num_chunks is not None
        assert job.cloud_upload_ms is not None
        hours = workers.chunk_times(job).local / HOUR_MS
        arrival, cloud = job.arrival_ms // HOUR_MS, -(-job.cloud_upload_ms // HOUR_MS)
        work = row(-float(job.num_chunks))
        servers, counts = np.unique(worker_slots.server[worker_slots.of(job.worker_type)], return_counts=True)
        for slot in range(arrival, arrival + cloud + int(hours) + 2):
            one_place = row(float(job.num_chunks))
            places: list[tuple[int, int]] = [
                (int(server), int(count)) for server, count in zip(servers, counts, strict=True)
                if job.upload_ms is not None and slot >= arrival + job.upload_ms[server] // HOUR_MS
            ]  # fmt: skip
            for server, count in [*places, *([(-1, 0)] if slot >= arrival + cloud else [])]:
                column = len(cost)
                cost.append((slot - arrival) / hours / job.num_chunks)
                at += [(work, column, -1 / hours), (one_place, column, 1.0)]
                if server >= 0:
                    key = (server, str(job.worker_type), slot)
                    if key not in capacity:
                        capacity[key] = row(float(count))
                    at.append((capacity[key], column, 1.0))
    rows, columns, values = zip(*at, strict=True)
    matrix = coo_matrix((values, (rows, columns)), shape=(len(high), len(cost))).tocsr()
    solved = linprog(cost, A_ub=matrix, b_ub=high, method="highs")
    assert solved.status == 0, solved.message
    return float(solved.fun)


def orders(grid: Grid) -> Iterator[Figure]:
    """Differences of suspensions between A_online-E, A_online and SRTF, which have to fall in this order."""
    for point, row in grid.items():
        yield Figure(f"A_online-E − A_online at {point}", row["A_online-E"] - row["A_online"], "", 0.0, at_least=True)
        yield Figure(f"A_online − SRTF at {point}", row["A_online"] - row["SRTF"], "", 0.0, at_least=True)


def never_rises(name: str, values: Sequence[float], slack: float) -> Figure:
    """Largest rise of a value from one point to the next, which has to be at most `slack`."""
    worst = max((later - earlier for earlier, later in pairwise(values)), default=0.0)
    return Figure(f"{name}: largest rise between points", worst, "", slack)
