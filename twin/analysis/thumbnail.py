"""The thumbnail of a run: a raster of how much of each group of servers is allocated over time, with what is planned.

A row is a group of neighbouring servers of one site, a column an interval; all intervals are equally long. A cell is
the mean allocation of its group over its interval, as a share of the group's mean capacity over it: that of each phase
counts for its time, a server counts from its addition to its removal, and outages count as capacity; of the resources,
the one with the largest share counts. Where jobs use the unlimited cloud, the last row shows it: its mean number of
workers, as a share of the largest such mean. The raster is computed once per event of the run.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Sequence
from typing import Any

import numpy as np

from scheduling.model.bars import CLOUD, COUNT, END, ROLE, SERVER, START
from scheduling.model.values import Cluster, Server
from twin.analysis.situation import load
from twin.analysis.situation.load import MACHINE, OPEN, Held
from twin.eventlog.fold import ARRIVED, DIED, NEVER, WORKER, RunState
from twin.eventlog.state_cache import Newest
from twin.infra.kept import KEPT
from twin.models import Run
from twin.scenarios import store

MAX_ROWS, COLUMNS = 16, 96
PER_CENT = 100
NONE = 255  # of a group that has nothing of what is counted
UNLIMITED = "unlimited"  # site of the row of the unlimited cloud, which has no servers


def thumbnail(run: Run) -> dict[str, Any]:
    """{seq, sim_ms, from_ms, to_ms, measure, scale, columns, rows: [{site, servers}], raster}.

    raster: a byte per cell, row by row, as base64: the share in per cent, rounded up, or NONE.
    """
    key, at = ("thumbnail", run.pk), (run.last_seq, run.status)
    with KEPT.lock(key):
        kept: tuple[Any, dict[str, Any]] | None = KEPT.take(key)
        if kept is None or kept[0] != at:
            kept = at, _thumbnail(run)
        KEPT.put(key, kept)
        return kept[1]


def _thumbnail(run: Run) -> dict[str, Any]:
    """Raster of the state; large runs have none (levels.py)."""
    with Newest(run) as state:
        _, jobs = store.of_run(run)
        at_ms = max(state.sim_ms, run.sim_ms)
        phases = [one for one in store.clusters(run) if one[0] <= at_ms]
        cluster = phases[-1][1]
        from_ms, to_ms = _span(run, state, at_ms, cluster.slot_ms)
        held = load.held(run, state, cluster, jobs, at_ms, from_ms, to_ms)
        bars = state.bars.rows
        in_cloud = bars[(bars[:, DIED] == NEVER) & (bars[:, SERVER] == CLOUD) & (bars[:, ROLE] == WORKER)]
    groups, rows = grouped(cluster.servers)
    edges = from_ms + (to_ms - from_ms) * np.arange(COLUMNS + 1) // COLUMNS
    cells, _ = raster(held, capacity_over(run, held, phases, groups, edges, at_ms), groups, edges)
    if len(in_cloud):
        rows.append({"site": UNLIMITED, "servers": 0})
        cells = np.vstack([cells, _of_its_peak(in_cloud, edges)])
    return {
        "seq": state.last_seq, "sim_ms": at_ms, "from_ms": from_ms, "to_ms": to_ms,
        "measure": held.measure, "scale": held.scale, "columns": COLUMNS, "rows": rows,
        "raster": b64encode(cells.tobytes()).decode(),
    }  # fmt: skip


def _of_its_peak(bars: np.ndarray, edges: np.ndarray) -> np.ndarray:
    """[column] uint8: workers of the bars, as a share of the largest mean of a column in per cent, rounded up."""
    one, workers = np.zeros(len(bars), dtype=np.int64), bars[:, COUNT, None]
    begun, ended = (_held_until(one, bars[:, which], workers, 1, edges) for which in (START, END))
    means = (begun - ended)[0, :, 0] / np.diff(edges)
    return np.ceil(means * PER_CENT / max(means.max(), 1e-9)).astype(np.uint8)


def _span(run: Run, state: RunState, at_ms: int, slot_ms: int) -> tuple[int, int]:
    """Span from the first arrival to the newest time or the last planned end, at most as far ahead as has passed."""
    arrived = state.jobs.rows[:, ARRIVED]
    from_ms = int(arrived[arrived >= 0].min(initial=at_ms))
    to_ms = at_ms
    if run.status in Run.ACTIVE:
        bars = state.bars.rows
        ends = bars[(bars[:, DIED] == NEVER) & (bars[:, END] < OPEN), END]
        to_ms = min(int(ends.max(initial=at_ms)), at_ms + max(at_ms - from_ms, slot_ms))
    return from_ms, max(to_ms, at_ms, from_ms + COLUMNS)


def grouped(servers: Sequence[Server], most: int = MAX_ROWS) -> tuple[np.ndarray, list[dict[str, Any]]]:
    """([server] its row, [row] {site, servers}): at most n rows of neighbours, all but a site's last equal."""
    sites = [server.site for server in servers]
    names = list(dict.fromkeys(sites))
    size = max(1, -(-len(servers) // (most - len(names) + 1)))
    of, rows = np.empty(len(servers), dtype=np.int64), list[dict[str, Any]]()
    for name in names:
        own = np.flatnonzero(np.array(sites) == name)
        of[own] = len(rows) + np.arange(len(own)) // size
        rows += [{"site": name, "servers": min(size, len(own) - first)} for first in range(0, len(own), size)]
    return of, rows


def raster(held: Held, offered: np.ndarray, groups: np.ndarray, edges: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """`largest` of the shares that the bars hold of what `capacity_over` states."""
    amounts = used(held, groups, len(offered), edges)
    return largest(np.where(offered > 0, -(-amounts * PER_CENT // np.maximum(offered, 1)), -1))


def largest(shares: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """([row, column] uint8 largest share of the scale, or NONE without capacity, [row, column] uint8 its place there).

    shares: [row, column, scale] in per cent, rounded up; negative without capacity.
    """
    place = shares.argmax(axis=2)
    most = np.take_along_axis(shares, place[:, :, None], axis=2)[:, :, 0]
    return np.where(most < 0, NONE, np.minimum(most, PER_CENT)).astype(np.uint8), place.astype(np.uint8)


def capacity_over(
    run: Run, held: Held, phases: Sequence[tuple[int, Cluster]], groups: np.ndarray, edges: np.ndarray, at_ms: int
) -> np.ndarray:
    """[row, column, scale] capacity times ms of its servers. phases: as store.clusters; the last one has all servers.

    The measure is that of the model at at_ms.
    """
    rows = int(groups.max(initial=-1)) + 1
    found = np.zeros((rows, len(edges) - 1, len(held.scale)), dtype=np.int64)
    for (begin, cluster), end in zip(phases, [*(begin for begin, _ in phases[1:]), OPEN], strict=True):
        capacity = load.capacity_of(run, cluster, held.measure, held.scale, at_ms)
        left = load.left_ms(run, cluster.servers)
        own = groups[: len(cluster.servers)]  # servers that later phases add are the last ones
        found += _held_until(own, np.minimum(begin, left), capacity, rows, edges)
        found -= _held_until(own, np.minimum(end, left), capacity, rows, edges)
    return found


def used(held: Held, groups: np.ndarray, rows: int, edges: np.ndarray) -> np.ndarray:
    """[row, column, scale] amount times ms that the bars hold."""
    bars, amounts = held.bars, held.amounts
    if held.measure == MACHINE:  # its groups have a bar for each job: a machine is held once
        bars, first = np.unique(bars[:, [SERVER, START, END]], axis=0, return_index=True)
        amounts, (server, start, end) = amounts[first], bars.T
    else:
        server, start, end = bars[:, SERVER], bars[:, START], bars[:, END]
    begun = _held_until(groups[server], start, amounts, rows, edges)
    begun -= _held_until(groups[server], end, amounts, rows, edges)
    return begun


def _held_until(group: np.ndarray, when: np.ndarray, amounts: np.ndarray, rows: int, edges: np.ndarray) -> np.ndarray:
    """[row, column, scale] amount times ms within the column, if each amount is held from `when` on.

    Sums may wrap around; the difference of two of them, which fits, is exact.
    """
    columns = len(edges) - 1
    when = np.clip(when, edges[0], edges[-1])
    column = np.minimum(np.searchsorted(edges, when, side="right") - 1, columns - 1)
    cell = group * columns + column
    first = np.zeros((rows * columns, amounts.shape[1]), dtype=np.int64)
    begun = np.zeros_like(first)
    np.add.at(first, cell, amounts * (edges[column + 1] - when)[:, None])
    np.add.at(begun, cell, amounts)
    here = begun.reshape(rows, columns, -1)
    before = here.cumsum(axis=1) - here
    return first.reshape(here.shape) + before * np.diff(edges)[None, :, None]
