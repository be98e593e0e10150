"""Time from sbatch to a pixel: from the start of sbatch to the animation frame that draws the job.

A real slurmctld is polled each second, without hooks.
"""

from __future__ import annotations

import tempfile
import time
from pathlib import Path

from benchmarks import Figure
from benchmarks._pixels import SUBMITTED, Watched, delays, figures, load_figure, watched
from benchmarks._slurm import NODES, Slurm, slurm

TITLE = "sbatch to pixel, polls each second"
SAMPLES = 120
STEP_S = 0.618034  # the golden ratio: submissions are spread evenly over the time between two polls
TARGETS = {100: (0.6, 1.2), 5_000: (0.8, 1.6)}  # waiting jobs: (p50, p99) in s


def run() -> list[Figure]:
    """Figures with few and with many waiting jobs."""
    return [figure for waiting, (p50, p99) in TARGETS.items() for figure in _figures(waiting, p50, p99)]


def _figures(waiting: int, p50: float, p99: float) -> list[Figure]:
    with tempfile.TemporaryDirectory(prefix="twin-bench-") as name, slurm(Path(name) / "slurm") as cluster:
        cluster.fill(waiting)
        parameters = {"conf": cluster.conf, "interval_ms": 1_000}
        with watched(Path(name) / "twin", "slurm", parameters, waiting + NODES) as page:
            submitted_ms, took_s = _submissions(cluster)
            page.wait(SUBMITTED, SAMPLES)
            seconds = delays(submitted_ms, page.drawn()[SUBMITTED])
            return [*figures(f"{waiting:,} waiting", seconds, p50, p99), *_parts(page, took_s), load_figure()]


def _submissions(cluster: Slurm) -> tuple[dict[str, float], list[float]]:
    """{job: Unix ms before its submission}, and the seconds that each sbatch took."""
    before: dict[str, float] = {}
    took = []
    first = time.monotonic()
    for number in range(SAMPLES):
        time.sleep(max(0.0, first + number * STEP_S - time.monotonic()))
        began = time.time()
        job = cluster.run("sbatch", "--parsable", "--gres=gpu:1", "-t", "10", "--wrap=sleep 60").strip()
        took.append(time.time() - began)
        before[job] = began * 1_000
    return before, took


def _parts(page: Watched, took_s: list[float]) -> list[Figure]:
    lag = page.condition()["condition"]["lag"]
    return [
        Figure("of which: sbatch, mean", sum(took_s) / len(took_s), "s"),
        Figure("lag that the page states (from whole seconds), p50", lag["p50_ms"] / 1_000, "s"),
    ]
