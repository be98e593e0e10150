"""The metrics that every run has, from what is known of it at its end or at an instant: the one place of each formula.

Their definitions are in metric_table.py. metrics.py reads what is known from the events of a run, and
twin/analysis/comparison/metrics.py from its folded state at an instant.
"""

from __future__ import annotations

from collections.abc import Container, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from scheduling.model.bars import COUNT, END, ROLE, SERVER, START, Role
from scheduling.model.held import Sizes
from scheduling.model.values import RESOURCES, Cluster
from scheduling.reporting.parts import present_ms

Packed = Sequence[tuple[int, Container[str]]]  # (start in ms, limited resources) of each phase, in order
Span = tuple[int, int]  # from and until in ms


@dataclass(frozen=True)
class Known:
    """Facts known of a run."""

    utility: float | None  # of the completed jobs; None where no job has any
    admitted: int
    rejected: int
    arrived_ms: np.ndarray  # of the jobs that have arrived
    completed_ms: np.ndarray  # of the completed jobs
    jct_ms: np.ndarray  # likewise
    suspensions: int  # counted by the reader: a comparison needs them by job, and with bars whose end is not known
    bars: np.ndarray  # int64 [bar, columns of Placement, ...], none beyond the time up to which it is known
    sizes: Sizes  # of the jobs

    @property
    def first_ms(self) -> int:
        """The first arrival."""
        return int(self.arrived_ms.min()) if len(self.arrived_ms) else 0


def run_metrics(known: Known, clusters: Sequence[tuple[int, Cluster]], packed: Packed) -> dict[str, Any]:
    """Metrics of every run, by the keys of the table; utilization: {resource: share from 0 to 1}.

    clusters: (start in ms, cluster) of each phase, in order; packed: its resources with a utilization.
    """
    return {
        "total_utility": known.utility,
        "jobs": len(known.arrived_ms),
        "admitted": known.admitted,
        "rejected": known.rejected,
        "completed": len(known.completed_ms),
        **jct_metrics(known.jct_ms),
        "makespan_ms": int(known.completed_ms.max()) - known.first_ms if len(known.completed_ms) else None,
        "suspensions": known.suspensions,
        "utilization": _utilization(known, clusters, packed),
    }


def jct_metrics(times: np.ndarray) -> dict[str, float | None]:
    """Metrics of the completion times of some jobs, in ms, by the keys of the table; None without jobs."""
    some = len(times) > 0
    return {
        "mean_jct_ms": float(times.mean()) if some else None,
        "median_jct_ms": float(np.median(times)) if some else None,
        "p95_jct_ms": float(np.percentile(times, 95)) if some else None,
    }


def _utilization(known: Known, clusters: Sequence[tuple[int, Cluster]], packed: Packed) -> dict[str, float | None]:
    """Share of capacity x time held from the first arrival to the end of the last bar, of available servers only.

    A resource is counted in the phases in which it is packed.
    """
    jobs_run = known.bars[known.bars[:, ROLE] != Role.TRANSFER]
    bars = jobs_run[jobs_run[:, SERVER] >= 0]
    found: dict[str, float | None] = dict.fromkeys(RESOURCES)
    if not len(bars):
        return found
    last_ms = int(jobs_run[:, END].max())  # bars of groups and of the unlimited cloud, which are on no server, too
    alike: dict[tuple[Span, ...], list[str]] = {}
    for name in RESOURCES:
        alike.setdefault(_spans(packed, name, known.first_ms, last_ms), []).append(name)
    sizes = known.sizes.of(bars)  # by the starts, so before bars are cut
    for spans, names in alike.items():
        held, of = np.zeros(len(RESOURCES)), np.zeros(len(RESOURCES))
        for begin_ms, end_ms in spans:
            inside = (bars[:, START] < end_ms) & (bars[:, END] > begin_ms)
            held += _held(_within(bars[inside], begin_ms, end_ms), sizes[inside], known.sizes.demands, clusters)
            of += offered(clusters, begin_ms, end_ms)
        found |= {name: share for name, share in shares(held, of, names).items() if name in names}
    return found


def _spans(packed: Packed, name: str, first_ms: int, last_ms: int) -> tuple[Span, ...]:
    """Time from first_ms to last_ms in which a resource is packed."""
    found: list[Span] = []
    ends = [begin for begin, _ in packed[1:]] + [last_ms]
    for (begin_ms, names), end_ms in zip(packed, ends, strict=True):
        begin, end = max(begin_ms, first_ms), min(end_ms, last_ms)
        if name not in names or begin >= end:
            continue
        if found and found[-1][1] == begin:
            begin = found.pop()[0]
        found.append((begin, end))
    return tuple(found)


def _within(bars: np.ndarray, begin_ms: int, end_ms: int) -> np.ndarray:
    """The bars, which all reach into a span, without their parts outside it."""
    own = bars.copy()
    own[:, START] = np.maximum(bars[:, START], begin_ms)
    own[:, END] = np.minimum(bars[:, END], end_ms)
    return own


def _held(
    bars: np.ndarray, sizes: np.ndarray, demands_of: np.ndarray, clusters: Sequence[tuple[int, Cluster]]
) -> np.ndarray:
    """[resource] amount x time that bars hold on available servers; demands_of: of the sizes, by role."""
    time = (bars[:, COUNT] * (bars[:, END] - bars[:, START] - unavailable_ms(bars, clusters))).astype(float)
    held = np.zeros(len(RESOURCES))
    for role, demands in enumerate(demands_of):
        of_role = bars[:, ROLE] == role
        held += np.bincount(sizes[of_role], weights=time[of_role], minlength=len(demands)) @ demands
    return held


def unavailable_ms(bars: np.ndarray, clusters: Sequence[tuple[int, Cluster]]) -> np.ndarray:
    """[bar] time in which its server was unavailable; only on real clusters are there bars on such servers."""
    found = np.zeros(len(bars), dtype=np.int64)
    if not len(bars) or not any(server.away for _, cluster in clusters for server in cluster.servers):
        return found
    order = np.argsort(bars[:, SERVER], kind="stable")
    ends = [begin for begin, _ in clusters[1:]] + [int(bars[:, END].max())]
    for (begin_ms, cluster), end_ms in zip(clusters, ends, strict=True):
        places = np.searchsorted(bars[order, SERVER], np.arange(len(cluster.servers) + 1))
        for server, (first, last) in enumerate(pairwise(places)):
            rows = order[first:last]
            for gone_ms, back_ms in cluster.servers[server].away if len(rows) else ():
                from_ms, to_ms = max(gone_ms, begin_ms), min(back_ms, end_ms)
                found[rows] += np.maximum(
                    0, np.minimum(bars[rows, END], to_ms) - np.maximum(bars[rows, START], from_ms)
                )
    return found


def offered(clusters: Sequence[tuple[int, Cluster]], first_ms: int, last_ms: int) -> np.ndarray:
    """Capacity x time [resource] from first_ms to last_ms; an unavailable server has none.

    clusters: (start in ms, cluster) of each phase, in order.
    """
    total = np.zeros(len(RESOURCES))
    ends = [begin for begin, _ in clusters[1:]] + [last_ms]
    for (begin_ms, cluster), end_ms in zip(clusters, ends, strict=True):
        begin, end = max(begin_ms, first_ms), min(end_ms, last_ms)
        if begin >= end:
            continue
        present = np.array([present_ms(server, begin, end) for server in cluster.servers], dtype=float)
        capacity = np.array([server.capacity for server in cluster.servers], dtype=float)
        total += present @ capacity.reshape(-1, len(total))
    return total


def shares(held: np.ndarray, of: np.ndarray, packed: Container[str]) -> dict[str, float | None]:
    """Shares {resource: share}; None where there is none of it, or where it is not among those packed."""
    return {
        name: float(h / o) if o > 0 and name in packed else None for name, h, o in zip(RESOURCES, held, of, strict=True)
    }
