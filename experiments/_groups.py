"""Outcome of a run with co-location groups: Harmony's metrics, from the events alone."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from statistics import mean
from typing import Any

from experiments import Part, Values
from experiments._grid import Instance, Maker, Player, play
from scheduling.colocation.workload import harmony
from scheduling.model.values import Event

SLOT_MS = 60_000
SEEDS = 4
NAIVE_CASES = [(parts, jobs) for parts in (5, 8, 10) for jobs in (2, 3)]  # those that hold every job without spilling


@dataclass(frozen=True)
class Outcome:
    """Times in ms; shares of all machines from the first arrival to the last completion; counts: means over it."""

    makespan: float
    completion: float  # mean over the jobs
    cpu: float
    net: float
    jobs: float
    groups: float
    parallelism: float  # mean degree of parallelism of a group
    moving: float  # share of machine time that groups wait for jobs to move, counted as if nobody used it
    done: int


def outcome(instance: Instance, player: Player) -> Outcome:
    """Metrics of one run of the instance."""
    cluster, jobs = instance
    events = play(instance, player)
    ends = {e.data["job"]: e.at_ms for e in events if e.kind == "job_completed"}
    first = min(job.arrival_ms for job in jobs)
    makespan = max(ends.values()) - first
    area = makespan * len(cluster.servers)
    machine_ms = {"cpu_utilization": 0.0, "net_utilization": 0.0}
    job_ms = group_ms = used_ms = 0.0
    for start, end, data in spans(events):
        for key in machine_ms:
            machine_ms[key] += data[key] * data["machines"] * (end - start)
        job_ms += len(data["jobs"]) * (end - start)
        group_ms += end - start
        used_ms += data["machines"] * (end - start)
    away = sum(
        e.data["values"]["away_ms"] * e.data["values"]["machines"] / e.data["values"]["jobs"]
        for e in events if e.kind == "decided" and e.data["code"] == "grouped"
    )  # fmt: skip
    return Outcome(
        makespan, mean(at - jobs[job].arrival_ms for job, at in ends.items()), machine_ms["cpu_utilization"] / area,
        machine_ms["net_utilization"] / area, job_ms / makespan, group_ms / makespan, used_ms / group_ms, away / area,
        len(ends),
    )  # fmt: skip


def spans(events: Sequence[Event]) -> list[tuple[int, int, Mapping[str, Any]]]:
    """(start, end, data) of each stretch of a group."""
    standing: dict[int, tuple[int, Mapping[str, Any]]] = {}
    out = []
    for event in events:
        if event.kind == "grouped":
            since, data = standing.pop(event.data["group"], (0, {}))
            if data and since < event.at_ms:
                out.append((since, event.at_ms, data))
            if event.data["jobs"]:
                standing[event.data["group"]] = event.at_ms, event.data
    return out


def table1(seed: int, jobs: int = 80, servers: int = 100, **options: Any) -> Instance:
    """The paper's jobs and machines."""
    return harmony("calibrated", jobs, servers, seed, None, SLOT_MS, **options)


def parts_of(runs: Mapping[str, tuple[Maker, Player]], seeds: Sequence[int]) -> dict[str, Part]:
    """The outcomes of a workload and a scheduler, a part each."""
    return {title: partial(_outcomes, make, player, seeds) for title, (make, player) in runs.items()}


def _outcomes(make: Maker, player: Player, seeds: Sequence[int]) -> list[dict[str, Any]]:
    return [asdict(outcome(make(seed), player)) for seed in seeds]


def outcomes_of(values: Values, runs: Iterable[str]) -> dict[str, list[Outcome]]:
    """Outcomes by seed of each run, from the values of its part."""
    return {title: [Outcome(**row) for row in values[title]] for title in runs}


def ratio(one: Sequence[Outcome], other: Sequence[Outcome], key: str) -> float:
    """Mean over the workloads of `key` in the first divided by `key` in the other."""
    return mean(getattr(a, key) / getattr(b, key) for a, b in zip(one, other, strict=True))


def ratio_range(one: Sequence[Outcome], other: Sequence[Outcome], key: str) -> tuple[float, float]:
    """Smallest and largest such ratio of a workload."""
    found = [getattr(a, key) / getattr(b, key) for a, b in zip(one, other, strict=True)]
    return min(found), max(found)


def value_range(outcomes: Sequence[Outcome], key: str) -> tuple[float, float]:
    """Smallest and largest value of a figure."""
    found = [getattr(outcome, key) for outcome in outcomes]
    return min(found), max(found)


def of(outcomes: Sequence[Outcome], key: str) -> float:
    """The mean of a figure."""
    return mean(getattr(outcome, key) for outcome in outcomes)
