"""Jobs of Harmony's Table I by its performance model alone, as in its motivation (Section II)."""

from __future__ import annotations

import numpy as np

from scheduling.colocation.job_mapping import GANG
from scheduling.colocation.selection.performance import iteration_ms, utilization
from scheduling.colocation.workload import COMBINATIONS, Combination

NOTE = (
    "computed by Eq. (1) to (3); the times of the jobs of Table I are calibrated to the text of the paper, as its Fig. "
    "9, which gives them, was not available; nothing is sampled"
)


def row(name: str) -> Combination:
    """Combination of Table I by its name."""
    return next(row for row in COMBINATIONS if row.name == name)


def times_ms(of: Combination, machines: int) -> tuple[float, float]:
    """(computation, communication) of an iteration on n machines."""
    return 1000 * of.comm_s * of.share / (1 - of.share) * GANG / machines, 1000 * of.comm_s


def alone(of: Combination, machines: int) -> tuple[float, float, float]:
    """(iteration in s, CPU, network) of a job alone: shares of an iteration."""
    comp, comm = (np.array([value]) for value in times_ms(of, machines))
    cpu, net = utilization(comp, comm)
    return float(iteration_ms(comp, comm)) / 1000, float(cpu), float(net)
