"""Beliefs from a table, and small random instances for every scheduler that can run on beliefs."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from scheduling.kernel.beliefs.belief import Beliefs
from scheduling.kernel.registry import build, schedulers
from scheduling.kernel.simulation import Simulation
from scheduling.model.values import Cluster, Event, Job, Server, Utility
from scheduling.run_times.beliefs import Recorded
from tests.scheduling import builders_random_typed
from tests.scheduling.builders import random_away
from tests.scheduling.builders_slotted import PS, WORKER

SLOT_MS = 1_000
BELIEVING = sorted(name for name, cls in schedulers().items() if cls.believes)
TYPED = {"srtf", "tiresias_l"}


class Table(Recorded):
    """Believed run times by job; one that is used up grows by `more_ms`. before_ms: of each job before it arrives."""

    def __init__(self, believed_ms, more_ms=2 * SLOT_MS, before_ms=None):
        super().__init__("table", believed_ms)
        self.more_ms, self.before_ms = more_ms, before_ms or [3 * SLOT_MS] * len(believed_ms)

    def before(self, job: int, row: Job) -> int:
        return self.before_ms[job]

    def later(self, job: int, row: Job, believed_ms: int, ran_ms: int) -> int:
        return max(believed_ms, ran_ms) + self.more_ms


def instance(name: str, seed: int) -> tuple[Cluster, list[Job], dict]:
    """(cluster, up to nine jobs, parameters) for that scheduler; half of them with servers that leave."""
    rng = np.random.default_rng(seed)
    if name in TYPED:
        cluster, jobs = builders_random_typed.world(seed, cloud=False, away=bool(seed % 2))
        return cluster, [replace(job, upload_ms=None) if seed % 3 else job for job in jobs], {}
    cls = schedulers()[name]
    samples = name == "pd_ors" or ("pd-ors" in cls.model.supports and bool(seed % 3 == 0))
    roles = [("worker", "ps")] * 3 if samples and name != "oasis" else [("worker",), ("worker", "ps"), ("ps",)]
    servers = tuple(
        Server(f"h{i}", "edge", (int(rng.integers(1, 4)) * 1_000, 8_000, 8_000, 8_000, 8_000), own)
        for i, own in enumerate(roles)
    )
    cluster = Cluster("small", SLOT_MS, servers, 60)
    cluster = random_away(cluster, rng, 40) if seed % 2 else cluster
    arrivals = np.sort(rng.integers(0, 12, size=int(rng.integers(1, 10)))) * 500
    jobs = [_job(rng, f"j{i}", int(at_ms)) for i, at_ms in enumerate(arrivals)]
    return cluster, jobs, {"model": "pd-ors"} if samples and name != "pd_ors" else {}


def _job(rng: np.random.Generator, name: str, arrival_ms: int) -> Job:
    """1 to 3 workers for 1 to 6 slots, in both training models."""
    workers, slots = int(rng.integers(1, 4)), int(rng.integers(1, 7))
    rates = {"internal_gbps": 16.0, "external_gbps": float(rng.choice([2.0, 16.0]))}
    return Job(
        name, arrival_ms, epochs=1, num_chunks=workers, minibatches_per_chunk=slots, minibatch_ms=1_000.0,
        gradient_mb=float(rng.choice([0.0, 25.0])), num_samples=10 * workers, global_batch=workers,
        sample_ms=100.0 * slots, workers_per_ps=2, worker=WORKER, ps=PS, requested_workers=workers,
        utility=Utility(float(rng.uniform(1, 100)), float(rng.choice([0.0, 0.5])), 5.0), user=f"u{int(name[1:]) % 2}",
        limit_ms=20_000, **rates,
    )  # fmt: skip


def simulation(name: str, cluster: Cluster, jobs: list[Job], parameters: dict, beliefs: Beliefs | None) -> Simulation:
    return Simulation(cluster, jobs, build(name, parameters), 0, beliefs=beliefs)


def true_ms(name: str, cluster: Cluster, jobs: list[Job], parameters: dict) -> list[float]:
    """Run time of each job with its requested workers."""
    scheduler = build(name, parameters)
    pace = scheduler.model.pace(scheduler, cluster)
    return [pace.alone_ms(job) for job in jobs]


def plain(events: list[Event]) -> list[Event]:
    """The log without what only runs on beliefs state."""
    said = ("believed_ms", "beliefs")
    return [event._replace(data={k: v for k, v in event.data.items() if k not in said}) for event in events]
