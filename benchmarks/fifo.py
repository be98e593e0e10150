"""FIFO on a window of the Philly trace: jobs a second, with placements and the encoded log; and what doubling costs.

TWIN_TRACES names the folder of the public traces; without it a stand-in of the same size and mix is used
and named.
"""

from __future__ import annotations

import os
import time
from pathlib import Path

import numpy as np
from django.conf import settings

from benchmarks import Figure
from scheduling.kernel.registry import build
from scheduling.kernel.simulation import Simulation
from scheduling.model.values import Cluster, Job, Server
from twin.eventlog import batch_codec
from twin.infra import gc_control
from twin.runs.engine import Engine

TITLE = "FIFO, Philly window on 64 GPUs, with placements and full log"
FILE = Path("philly_derived/philly_2017-10-01_2017-10-15.csv")
JOBS = 8_000
JOBS_PER_SECOND = 25_000
MAX_GROWTH = 2.2
REPEATS = 5
# Share of the jobs by number of GPUs, and the log-normal of their run time, as the public window has them.
GPUS, SHARES = (1, 2, 4, 8, 16, 32), (0.9619, 0.0160, 0.0083, 0.0124, 0.0008, 0.0006)
MEDIAN_S, SIGMA = 2_427.0, 2.0


def run() -> list[Figure]:
    jobs, source = window(2 * JOBS)
    single, double = (min(seconds(jobs[:count]) for _ in range(REPEATS)) for count in (JOBS, 2 * JOBS))
    return [
        Figure(f"{JOBS:,} jobs ({source})", JOBS / single, "jobs/s", JOBS_PER_SECOND, at_least=True),
        Figure(f"time, {2 * JOBS:,} jobs / {JOBS:,} jobs", double / single, "x", MAX_GROWTH),
    ]


def cluster() -> Cluster:
    """8 servers of 8 GPUs that run short of nothing else first."""
    capacity = (8_000, 128_000, 1_024_000, 64_000_000, 400_000)
    return Cluster("64-gpus", 3_600_000, tuple(Server(f"gpu{i}", "cloud", capacity) for i in range(8)))


def seconds(jobs: list[Job], scheduler: str = "fifo") -> float:
    """Time of a run as a worker does it, without the database."""
    engine = Engine(Simulation(cluster(), jobs, build(scheduler, {"model": "pd-ors"}), 1))
    gc_control.spare()
    began = time.perf_counter()
    while batch := engine.batch(None):
        batch_codec.encode(batch)
    return time.perf_counter() - began


def window(count: int) -> tuple[list[Job], str]:
    """The first jobs of the window, and where they come from."""
    from twin.traces import importers

    folders = [Path(os.environ["TWIN_TRACES"])] if "TWIN_TRACES" in os.environ else []
    for folder in [*folders, settings.BASE_DIR.parent / "shared" / "traces"]:
        if (folder / FILE).is_file():
            return list(
                importers.read(folder / FILE, seed=1, choice=importers.Choice(limit=count)).jobs
            ), "the public trace"
    return _stand_in(count), "a generated stand-in"


def _stand_in(count: int) -> list[Job]:
    """A stand-in for the trace through the same importer, so that the same fields are sampled."""
    import tempfile
    from datetime import datetime, timedelta

    from twin.traces import importers

    rng = np.random.default_rng(1)
    arrivals = np.sort(rng.uniform(0, 14 * 86_400, count))
    seconds = np.maximum(1, rng.lognormal(np.log(MEDIAN_S), SIGMA, count)).round()
    gpus = rng.choice(GPUS, count, p=SHARES)
    start = datetime(2017, 10, 1)
    with tempfile.NamedTemporaryFile("w", suffix=".csv") as file:
        file.write("timestamp,duration,num_gpus,gpu_time,cluster\n")
        for at, duration, number in zip(arrivals.tolist(), seconds.tolist(), gpus.tolist(), strict=True):
            file.write(f"{start + timedelta(seconds=int(at))},{duration},{number},{duration * number},a\n")
        file.flush()
        return list(importers.read(Path(file.name), format="philly_derived", seed=1).jobs)
