"""Gangs of jobs that an accounting describes by totals: a worker is a GPU with its share of the rest, or a CPU."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from scheduling.model.values import CPU, GPU, MEMORY


def shapes(
    gpus: np.ndarray, cpus: np.ndarray, memory_mb: np.ndarray, rounded: Callable[[np.ndarray], np.ndarray] = np.rint
) -> tuple[np.ndarray, np.ndarray]:
    """(workers [job], demand [job, 5] of one worker in thousandths, -1: not stated). cpus, memory: or NaN."""
    workers = np.where(gpus > 0, gpus, cpus)
    workers = np.where(np.isnan(workers) | (workers < 1), 1, workers).astype(np.int64)
    demand = np.full((len(workers), 5), -1, dtype=np.int64)
    demand[:, GPU] = np.select([gpus > 0, ~np.isnan(cpus)], [1000, 0], -1)
    for column, amounts in ((CPU, cpus * 1000), (MEMORY, memory_mb)):
        known = ~np.isnan(amounts)
        demand[known, column] = rounded(amounts[known] / workers[known])
    return workers, demand
