"""Planning in whole slots up to a horizon, as in OASiS and PD-ORS: the horizon, outages, and bars as cells."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np

from scheduling.model.bars import END, START, Placement, Role
from scheduling.model.utility import arrival_slot
from scheduling.model.values import RESOURCES, Cluster, Job, ModelError, Server

FINISH_SHARE = 95  # per cent of the jobs that can finish after the last arrival, in a horizon of our own
# slots from an arrival that are planned where neither the horizon nor the jobs to come are known: the most protects
# memory from a single job, which is rejected if it needs more
MIN_AHEAD, MAX_AHEAD = 100, 2_000
MAX_CELLS = 60_000_000  # prices that are kept, slots x servers x resources: 480 MB for each array over them


def own_horizon(jobs: Sequence[Job], least: Sequence[int], slot_ms: int) -> int:
    """Slots up to the last arrival, and as many more as FINISH_SHARE per cent of the jobs need.

    least: slots of each job that can end at all, with all its workers
    """
    return last_arrival(jobs, slot_ms) + max(1, math.ceil(np.percentile(least, FINISH_SHARE)) if len(least) else 1)


def last_arrival(jobs: Sequence[Job], slot_ms: int) -> int:
    """Slot of the last arrival; 0 without jobs."""
    return max((arrival_slot(job.arrival_ms, slot_ms) for job in jobs), default=0)


def slots_ahead(longest: int) -> int:
    """Slots from an arrival that are planned where the horizon is unknown: twice those of the longest job so far."""
    return min(max(MIN_AHEAD, 2 * longest), MAX_AHEAD)


def most_slots(cluster: Cluster) -> int:
    """Slots whose prices fit into memory."""
    return MAX_CELLS // max(1, len(cluster.servers) * len(RESOURCES))


def check_size(scheduler: str, cluster: Cluster, horizon: int) -> None:
    """Check of the size: ModelError if the prices of n slots would take too much memory."""
    if horizon > most_slots(cluster):
        raise ModelError(
            f"scheduler {scheduler}: {horizon:,} slots of {len(cluster.servers):,} servers are "
            f"{horizon * len(cluster.servers) * len(RESOURCES):,} prices, more than {MAX_CELLS:,}; set horizon_slots "
            f"to at most {most_slots(cluster):,}, or lengthen the slot of {cluster.slot_ms:,} ms"
        )


def away_slots(servers: Sequence[Server], slots: int, slot_ms: int, first: int = 0) -> np.ndarray:
    """Outages [slot, server] in the slots first..slots: whether the server is unavailable for any part of the slot."""
    away = np.zeros((slots - first, len(servers)), dtype=bool)
    for i, server in enumerate(servers):
        for begin, end in server.away:
            away[max(0, begin // slot_ms - first) : max(0, -(-end // slot_ms) - first), i] = True
    return away


def bars_of(
    job: int, role: Role, slots: np.ndarray, servers: np.ndarray, counts: np.ndarray, slot_ms: int
) -> list[Placement]:
    """Bars of consecutive slots with equal counts on a server, by server and time, from parallel arrays."""
    if not len(slots):
        return []
    order = np.lexsort((slots, servers))
    slots, servers, counts = slots[order], servers[order], counts[order]
    new = np.ones(len(order), dtype=bool)
    new[1:] = (servers[1:] != servers[:-1]) | (counts[1:] != counts[:-1]) | (slots[1:] != slots[:-1] + 1)
    starts = np.flatnonzero(new)
    past = slots[np.append(starts[1:], len(order)) - 1] + 1
    columns = (
        servers[starts].tolist(),
        (slots[starts] * slot_ms).tolist(),
        (past * slot_ms).tolist(),
        counts[starts].tolist(),
    )
    return [Placement(job, int(role), *row) for row in zip(*columns, strict=True)]


def cells_of(bars: np.ndarray, slot_ms: int) -> tuple[np.ndarray, np.ndarray]:
    """The slots of bars, rows in the order of Placement: for each slot of each bar the bar (its row) and the slot."""
    lengths = (bars[:, END] - bars[:, START]) // slot_ms
    rows = np.repeat(np.arange(len(bars)), lengths)
    return rows, bars[rows, START] // slot_ms + np.arange(len(rows)) - np.repeat(np.cumsum(lengths) - lengths, lengths)


def whole_slots(plans: Mapping[int, Sequence[Placement]], slot_ms: int, horizon: int) -> np.ndarray:
    """Bars of plans, rows in the order of Placement, each from the beginning of its first slot, cut at the horizon."""
    bars = np.array([bar for plan in plans.values() for bar in plan], dtype=np.int64).reshape(
        -1, len(Placement._fields)
    )
    return in_whole_slots(bars, slot_ms, horizon)


def in_whole_slots(bars: np.ndarray, slot_ms: int, horizon: int) -> np.ndarray:
    """Bars, rows in the order of Placement, each from the beginning of its first slot, cut at the horizon."""
    bars = bars.copy()
    bars[:, START] = bars[:, START] // slot_ms * slot_ms
    bars[:, END] = np.minimum(bars[:, END], horizon * slot_ms)
    return bars[bars[:, START] < bars[:, END]]
