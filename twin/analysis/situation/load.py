"""Load of each server: the share in use now, and over the last hour or slots.

The measure is the one of the execution model: shares of the resources that it packs, else typed workers that run, else
machines that belong to a group.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from scheduling.model.bars import COUNT, END, JOB, ROLE, SERVER, START, WORKER_SLOT
from scheduling.model.values import MAX_INT, RESOURCES, Cluster, Job, Server
from twin.eventlog.fold import BAR_FIELDS, BORN, DIED, NEVER, WORKER, RunState
from twin.files.stored_jobs import demands_by_role
from twin.models import Run
from twin.scenarios import store

RESOURCE, TYPED_WORKER, MACHINE = "resources", "workers", "machines"  # measures
AVAILABLE, AWAY, GONE = range(3)  # states of servers
PER_MILLE = 1000
OPEN = 2**53  # the end of what has not ended


class Held(NamedTuple):
    """Amounts that bars hold, beside those of the servers.

    scale     names of what is counted: resources, or the one thing of the measure
    bars      [bar, BAR_FIELDS] of servers, not replaced, that end after the beginning of the window
    amounts   [bar, scale]
    capacity  [server, scale], of every server
    offered   [server] whether it is available now: what the amounts of sites refer to
    outages   [server] its outages, (from, until) in ms
    """

    measure: str
    scale: list[str]
    bars: np.ndarray
    amounts: np.ndarray
    capacity: np.ndarray
    offered: np.ndarray
    outages: Sequence[Sequence[tuple[int, int]]]


def held(
    run: Run,
    state: RunState,
    cluster: Cluster,
    jobs: Sequence[Job],
    at_ms: int,
    since_ms: int,
    until_ms: int | None = None,
    known_ms: int | None = None,
) -> Held:
    """Amounts that the bars of the window hold, by the measure of the model at at_ms, which is by default its end.

    known_ms: the bars as they were planned at the end of that time; by default as they are now.
    """
    bars = state.bars.rows
    until_ms = at_ms if until_ms is None else until_ms
    valid = bars[:, DIED] == NEVER
    if known_ms is not None:
        valid = (bars[:, BORN] <= known_ms) & (valid | (bars[:, DIED] > known_ms))
    bars = bars[valid & (bars[:, SERVER] >= 0) & (bars[:, END] > since_ms) & (bars[:, START] <= until_ms)]
    packed = store.packed_since(run, since_ms, at_ms)
    servers = cluster.servers
    offered = np.array([not server.is_away(at_ms) for server in servers], dtype=bool)
    outages = [server.away for server in servers]
    if packed:
        columns = [RESOURCES.index(name) for name in packed]
        amounts = demands_by_role(jobs)[bars[:, ROLE], bars[:, JOB]][:, columns] * bars[:, COUNT, None]
        if store.typed_since(run, since_ms, at_ms):
            amounts[bars[:, WORKER_SLOT] >= 0] = 0  # bars of that phase are on typed workers and take no resources
        capacity = np.array([server.capacity for server in servers], dtype=np.int64).reshape(-1, len(RESOURCES))
        return Held(RESOURCE, packed, bars, amounts, capacity[:, columns], offered, outages)
    lanes = store.lanes_at(run, cluster, at_ms)
    if lanes is not None:
        typed = lanes.reshape(-1, 1)
        bars = bars[bars[:, WORKER_SLOT] >= 0]
        ones = np.ones((len(bars), 1), dtype=np.int64)
        return Held(TYPED_WORKER, [TYPED_WORKER], bars, ones, typed, offered, outages)
    bars = _of_groups(state, since_ms, at_ms)
    ones = np.ones((len(bars), 1), dtype=np.int64)
    return Held(MACHINE, [MACHINE], bars, ones, np.ones((len(servers), 1), dtype=np.int64), offered, outages)


def _of_groups(state: RunState, since_ms: int, at_ms: int) -> np.ndarray:
    """[bar, BAR_FIELDS] one bar for each job on each machine of its group."""
    rows = [
        (job, WORKER, server, from_ms, OPEN if until_ms == NEVER else until_ms, 1, NEVER, NEVER, group, from_ms, NEVER)
        for from_ms, until_ms, data in state.groups
        if from_ms <= at_ms and (until_ms == NEVER or until_ms > since_ms)
        for group in [data["group"]]
        for server in data["servers"]
        for job in data["jobs"]
    ]
    return np.array(rows, dtype=np.int64).reshape(-1, len(BAR_FIELDS))


def loads(of: Held, cluster: Cluster, at_ms: int, gone: np.ndarray) -> dict[str, Any]:
    """{measure, scale, servers, sites, unavailable_jobs}: of each server name, site, per mille in use, jobs, and state.

    state: AVAILABLE, AWAY for a time, or GONE: an edit has removed it. used and capacity of a site are those of its
    available servers; unavailable_jobs: number of jobs that hold something on other ones.
    """
    now = (of.bars[:, START] <= at_ms) & (of.bars[:, END] > at_ms)
    bars, count = of.bars[now], len(cluster.servers)
    used = np.zeros_like(of.capacity)
    np.add.at(used, bars[:, SERVER], of.amounts[now])
    if of.measure == MACHINE:
        used = np.minimum(used, 1)
    jobs_on = np.bincount(np.unique(bars[:, [SERVER, JOB]], axis=0)[:, 0], minlength=count) if len(bars) else None
    site = np.array([server.site for server in cluster.servers])
    return {
        "measure": of.measure,
        "scale": of.scale,
        "servers": {
            "name": [server.name for server in cluster.servers],
            "site": site.tolist(),
            "shares": _per_mille(used, of.capacity),
            "jobs": [0] * count if jobs_on is None else jobs_on.tolist(),
            "state": np.where(gone, GONE, np.where(of.offered, AVAILABLE, AWAY)).tolist(),
        },
        "unavailable_jobs": len(np.unique(bars[~of.offered[bars[:, SERVER]], JOB])),
        "sites": [
            {
                "site": name, "servers": int(((site == name) & ~gone).sum()),
                "used": used[(site == name) & of.offered].sum(axis=0).tolist(),
                "capacity": of.capacity[(site == name) & of.offered].sum(axis=0).tolist(),
            }
            for name in dict.fromkeys(site.tolist())
        ],
    }  # fmt: skip


def gone(run: Run, servers: Sequence[Server], at_ms: int) -> np.ndarray:
    """[server] whether it has left for ever, by an edit; a server of a real cluster may always return."""
    left = [any(begin <= at_ms and end >= MAX_INT for begin, end in server.away) for server in servers]
    return np.array(left, dtype=bool) & (run.mode != Run.MIRROR)


def away(servers: dict[str, Any], cluster: Cluster, at_ms: int) -> list[dict[str, Any]]:
    """{server: index, name, site, since_ms} of each server that is away; servers: as from `loads`."""
    return [
        {
            "server": index,
            "name": server.name,
            "site": server.site,
            "since_ms": next(begin for begin, end in server.away if begin <= at_ms < end),
        }
        for index, (server, state) in enumerate(zip(cluster.servers, servers["state"], strict=True))
        if state == AWAY
    ]


def curve(of: Held, from_ms: int, to_ms: int, points: int) -> dict[str, Any]:
    """{at_ms, shares}: share of the whole cluster of each thing of the scale, at evenly spaced times."""
    times = np.linspace(max(0, from_ms), to_ms, points).astype(np.int64)
    return {"at_ms": times.tolist(), "shares": _shares(of, times, np.ones(len(of.offered), dtype=bool))}


def site_shares(
    of: Held, cluster: Cluster, from_ms: int, to_ms: int, points: int
) -> dict[str, list[list[float | None]]]:
    """{site: [scale][point]}: the same of each site."""
    times = np.linspace(max(0, from_ms), to_ms, points).astype(np.int64)
    site = np.array([server.site for server in cluster.servers])
    return {name: _shares(of, times, site == name) for name in dict.fromkeys(site.tolist())}


def _shares(of: Held, times: np.ndarray, servers: np.ndarray) -> list[list[float | None]]:
    """[scale][time] what bars hold on some of the servers, as a share of what those offer that are available then."""
    own = servers[of.bars[:, SERVER]]
    bars, amounts = _available(of, of.bars[own], of.amounts[own], int(times[0]), int(times[-1]))
    total = _offered(of, times, servers)
    if of.measure == MACHINE:
        used = np.array([[len(np.unique(bars[_running(bars, t), SERVER]))] for t in times])
    else:
        used = _up_to(bars[:, START], amounts, times) - _up_to(bars[:, END], amounts, times)
    return [
        [round(u / t, 4) if t else None for u, t in zip(used[:, i].tolist(), total[:, i].tolist(), strict=True)]
        for i in range(len(of.scale))
    ]


def _offered(of: Held, times: np.ndarray, servers: np.ndarray) -> np.ndarray:
    """[time, scale] capacity of those of the servers that are available then."""
    total = np.repeat(of.capacity[servers].sum(axis=0)[None, :], len(times), axis=0)
    for server in np.flatnonzero(servers).tolist():
        for begin, end in of.outages[server]:
            total[(times >= begin) & (times < end)] -= of.capacity[server]
    return total


def _available(
    of: Held, bars: np.ndarray, amounts: np.ndarray, from_ms: int, to_ms: int
) -> tuple[np.ndarray, np.ndarray]:
    """Bars and their amounts without the outages of their servers then: a bar that one interrupts becomes two."""
    then = [
        (server, *one) for server, own in enumerate(of.outages) for one in own if one[1] > from_ms and one[0] <= to_ms
    ]
    for server, begin, end in then:
        cut = (bars[:, SERVER] == server) & (bars[:, START] < end) & (bars[:, END] > begin)
        before, after = bars[cut].copy(), bars[cut].copy()
        before[:, END], after[:, START] = begin, end
        bars = np.vstack([bars[~cut], before, after])
        amounts = np.vstack([amounts[~cut], amounts[cut], amounts[cut]])
        kept = bars[:, START] < bars[:, END]
        bars, amounts = bars[kept], amounts[kept]
    return bars, amounts


def _running(bars: np.ndarray, at_ms: int) -> np.ndarray:
    return (bars[:, START] <= at_ms) & (bars[:, END] > at_ms)


def _up_to(when: np.ndarray, amounts: np.ndarray, times: np.ndarray) -> np.ndarray:
    """[time, scale] sum of the amounts of bars whose time is not later."""
    order = when.argsort(kind="stable")
    sums = np.vstack([np.zeros((1, amounts.shape[1]), dtype=np.int64), amounts[order].cumsum(axis=0)])
    return sums[np.searchsorted(when[order], times, side="right")]


def _per_mille(used: np.ndarray, capacity: np.ndarray) -> list[list[int]]:
    """[scale][server], rounded; -1 where a server has none of it."""
    shares = np.where(capacity > 0, (2 * used * PER_MILLE + capacity) // np.maximum(2 * capacity, 1), -1)
    return shares.T.tolist()
