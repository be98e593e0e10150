"""Choice of the jobs of a round, and of a type of machines for each (Gavel, Section 5, Algorithm 1)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np


def choose(
    target: np.ndarray, due: np.ndarray, received: np.ndarray, machines: np.ndarray, counts: Sequence[int],
    current: np.ndarray,
) -> list[tuple[int, int]]:  # fmt: skip
    """(job, type) of the round, in the order of their priorities; each job at most once, within the machines.

    target    [job, type] shares; only pairs above 0 take part
    due       [job, type] rounds that are due by the shares so far, with this one
    received  [job, type] rounds so far; the priority is due / received, infinite where there was none
    machines  [job, type] of the pair
    counts    [type] machines
    current   [job] type on which the job runs now, -1 for none

    Ours: of equal priorities the larger amount due comes first, then the pair that runs now, then the first job.
    """
    job, kind = np.nonzero(target)
    own_due, own_received = due[job, kind], received[job, kind]
    with np.errstate(divide="ignore"):
        priority = np.where(own_received > 0, own_due / np.where(own_received > 0, own_received, 1.0), np.inf)
    stays = current[job] == kind
    # a priority is the quotient of sums of shares: equal up to rounding is equal
    order = np.lexsort((kind, job, ~stays, -np.round(own_due, 9), -np.round(priority, 9)))
    free = list(counts)
    least = int(machines[job, kind].min()) if len(job) else 0
    chosen: list[tuple[int, int]] = []
    taken: set[int] = set()
    for at in order.tolist():
        one, place = int(job[at]), int(kind[at])
        need = int(machines[one, place])
        if one in taken or need > free[place]:
            continue
        free[place] -= need
        taken.add(one)
        chosen.append((one, place))
        if max(free) < least:
            break
    return chosen
