"""Harmony's performance model (Section IV-B2, Eq. 1 to 4) over arrays of groups.

Arrays are [..., group, member]; a place without a job holds zeros. Follows the paper as written; the time of one
iteration of a job is the sum of its computation and its communication, for PULL, COMP and PUSH follow each other within
a job.
"""

from __future__ import annotations

import numpy as np

WEIGHT = 0.8  # of the CPU in a score: above 1/2, or one-job groups could not be distinguished
MIN_ITERATION_MS = 1e-6  # of an iteration: jobs that need nothing still have a rate


def iteration_ms(comp_ms: np.ndarray, comm_ms: np.ndarray) -> np.ndarray:
    """Eq. (1): max(sum of computation, sum of communication, longest job) of each group."""
    longest = (comp_ms + comm_ms).max(axis=-1)
    return np.maximum(np.maximum(comp_ms.sum(axis=-1), comm_ms.sum(axis=-1)), np.maximum(longest, MIN_ITERATION_MS))


def utilization(
    comp_ms: np.ndarray, comm_ms: np.ndarray, busy_ms: np.ndarray | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Eq. (3): the share of an iteration in which CPU and network of each group are busy.

    busy_ms: computation that a machine has on average, where jobs compute on a part of the machines; None: comp_ms.
    """
    period = iteration_ms(comp_ms, comm_ms)
    return (comp_ms if busy_ms is None else busy_ms).sum(axis=-1) / period, comm_ms.sum(axis=-1) / period


def score(cpu: np.ndarray, net: np.ndarray, weight: float = WEIGHT) -> np.ndarray:
    """A utilization as one number. The paper compares vectors and says only that the CPU counts more."""
    return weight * cpu + (1 - weight) * net
