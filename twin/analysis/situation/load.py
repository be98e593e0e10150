"""Load of each server: the share in use now, and over the last hour or slots.

The measure is the one of the execution model: shares of the resources that it packs, else typed workers that run, else
machines that belong to a group.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from scheduling.model.bars import COUNT, END, JOB, ROLE, SERVER, START, WORKER_SLOT
from scheduling.model.limits import MAX_INT
from scheduling.model.values import RESOURCES, Cluster, Job, Server
from twin.eventlog import additions
from twin.eventlog.additions import NodeState
from twin.eventlog.fold import BAR_FIELDS, DIED, NEVER, WORKER, RunState, valid_at
from twin.eventlog.memberships import memberships
from twin.files.stored_jobs import sizes_of_jobs
from twin.mirror.nodes.known import is_removed
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
    capacity  [server, scale], of every server at the end of the window
    phases    [(from_ms, capacity)] the same of each phase since since_ms: edits resize, add and remove servers, and
              nodes of a real cluster change their capacity
    offered   [server] whether it is available now: what the amounts of sites refer to
    outages   [server] its outages, (from, until) in ms
    """

    measure: str
    scale: list[str]
    bars: np.ndarray
    amounts: np.ndarray
    capacity: np.ndarray
    phases: Sequence[tuple[int, np.ndarray]]
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
    valid = bars[:, DIED] == NEVER if known_ms is None else valid_at(bars, known_ms)
    bars = bars[valid & (bars[:, SERVER] >= 0) & (bars[:, END] > since_ms) & (bars[:, START] <= until_ms)]
    packed = store.packed_since(run, since_ms, at_ms)
    servers = cluster.servers
    offered = np.array([not server.is_away(at_ms) for server in servers], dtype=bool)
    outages = [server.away for server in servers]
    if packed:
        columns = [RESOURCES.index(name) for name in packed]
        sizes = sizes_of_jobs(jobs)
        amounts = sizes.demands[bars[:, ROLE], sizes.of(bars)][:, columns] * bars[:, COUNT, None]
        if store.typed_since(run, since_ms, at_ms):
            amounts[bars[:, WORKER_SLOT] >= 0] = 0  # bars of that phase are on typed workers and take no resources
        capacity, phases = _capacities(run, cluster, RESOURCE, packed, since_ms, at_ms)
        return Held(RESOURCE, packed, bars, amounts, capacity, phases, offered, outages)
    if store.worker_slots_at(run, cluster, at_ms) is not None:
        capacity, phases = _capacities(run, cluster, TYPED_WORKER, [TYPED_WORKER], since_ms, at_ms)
        bars = bars[bars[:, WORKER_SLOT] >= 0]
        ones = np.ones((len(bars), 1), dtype=np.int64)
        return Held(TYPED_WORKER, [TYPED_WORKER], bars, ones, capacity, phases, offered, outages)
    bars = _of_groups(state, since_ms, at_ms)
    ones = np.ones((len(bars), 1), dtype=np.int64)
    capacity, phases = _capacities(run, cluster, MACHINE, [MACHINE], since_ms, at_ms)
    return Held(MACHINE, [MACHINE], bars, ones, capacity, phases, offered, outages)


def _capacities(
    run: Run, cluster: Cluster, measure: str, scale: list[str], since_ms: int, at_ms: int
) -> tuple[np.ndarray, list[tuple[int, np.ndarray]]]:
    """Capacity and phases of Held."""
    clusters, phases = store.clusters(run), []
    first = max(0, bisect_right(clusters, since_ms, key=lambda phase: phase[0]) - 1)
    for from_ms, then in clusters[first:]:
        capacity = np.zeros((len(cluster.servers), len(scale)), dtype=np.int64)  # 0 for servers that are added later
        own = capacity_of(run, then, measure, scale, at_ms)[: len(capacity)]
        capacity[: len(own)] = own
        phases.append((from_ms, capacity))
    return capacity_of(run, cluster, measure, scale, at_ms), phases


def capacity_of(run: Run, cluster: Cluster, measure: str, scale: Sequence[str], at_ms: int) -> np.ndarray:
    """[server, scale] of every server of the cluster, by the measure of the model at at_ms."""
    if measure == RESOURCE:
        capacity = np.array([server.capacity for server in cluster.servers], dtype=np.int64)
        return capacity.reshape(-1, len(RESOURCES))[:, [RESOURCES.index(name) for name in scale]]
    slots = store.worker_slots_at(run, cluster, at_ms) if measure == TYPED_WORKER else None
    return np.ones((len(cluster.servers), 1), dtype=np.int64) if slots is None else slots.reshape(-1, 1)


def _of_groups(state: RunState, since_ms: int, at_ms: int) -> np.ndarray:
    """[bar, BAR_FIELDS] one bar for each job on each machine of its group."""
    rows = [
        (
            one.job,
            WORKER,
            server,
            one.from_ms,
            OPEN if one.until_ms == NEVER else one.until_ms,
            1,
            NEVER,
            NEVER,
            one.data["group"],
            one.from_ms,
            NEVER,
        )
        for one in memberships(state, at_ms)
        if one.until_ms == NEVER or one.until_ms > since_ms
        for server in one.data["servers"]
    ]
    return np.array(rows, dtype=np.int64).reshape(-1, len(BAR_FIELDS))


def loads(of: Held, cluster: Cluster, at_ms: int, gone: np.ndarray) -> dict[str, Any]:
    """{measure, scale, servers, sites, unavailable_jobs}: of each server name, site, per mille in use, jobs, and state.

    state: AVAILABLE, AWAY for a time, or GONE: it is removed. used and capacity of a site are those of its
    available servers; unavailable_jobs: number of jobs that hold something on other ones.
    """
    count, used = len(cluster.servers), in_use(of, at_ms)
    bars = of.bars[_running(of.bars, at_ms)]
    server, _ = np.unique(bars[:, [SERVER, JOB]], axis=0).T
    jobs_on = np.bincount(server, minlength=count) if len(bars) else None
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
        "unavailable_jobs": unavailable_jobs(of, at_ms),
        "sites": [
            {
                "site": name, "servers": int(((site == name) & ~gone).sum()),
                "used": used[(site == name) & of.offered].sum(axis=0).tolist(),
                "capacity": of.capacity[(site == name) & of.offered].sum(axis=0).tolist(),
            }
            for name in dict.fromkeys(site.tolist())
        ],
    }  # fmt: skip


def in_use(of: Held, at_ms: int) -> np.ndarray:
    """[server, scale] amounts that bars hold at a time of the window."""
    now, used = _running(of.bars, at_ms), np.zeros_like(of.capacity)
    np.add.at(used, of.bars[now, SERVER], of.amounts[now])
    return np.minimum(used, 1) if of.measure == MACHINE else used


def unavailable_jobs(of: Held, at_ms: int) -> int:
    """Number of jobs that hold something at a time of the window on servers that are not available now."""
    bars = of.bars[_running(of.bars, at_ms)]
    return len(np.unique(bars[~of.offered[bars[:, SERVER]], JOB]))


def gone(run: Run, servers: Sequence[Server], at_ms: int) -> np.ndarray:
    """[server] whether it has left: for ever by an edit, or as a node that its real cluster no longer has."""
    if not run.mode_rules.servers_return:
        return left_ms(run, servers) <= at_ms
    states = additions.node_states(run)
    return np.array([server.is_away(at_ms) and _removed(states[index], at_ms) for index, server in enumerate(servers)],
                    dtype=bool)  # fmt: skip


def _removed(states: Sequence[NodeState], at_ms: int) -> bool:
    """True if the newest of these states of a node at that time says that the cluster no longer has it."""
    newest = [each for each in states if each.at_ms <= at_ms][-1:]
    return any(is_removed(each.state, each.reason) for each in newest)


def left_ms(run: Run, servers: Sequence[Server]) -> np.ndarray:
    """[server] time at which an edit removes it for ever; OPEN where none does: a node may always return."""
    if run.mode_rules.servers_return:
        return np.full(len(servers), OPEN)
    left = [min((begin for begin, end in server.away if end >= MAX_INT), default=OPEN) for server in servers]
    return np.array(left, dtype=np.int64)


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
    phase = np.searchsorted([from_ms for from_ms, _ in of.phases], times, side="right") - 1
    capacity = np.stack([capacity for _, capacity in of.phases])  # [phase, server, scale]
    total = capacity[:, servers].sum(axis=1)[phase]
    for server in np.flatnonzero(servers).tolist():
        for begin, end in of.outages[server]:
            away = (times >= begin) & (times < end)
            total[away] -= capacity[phase[away], server]
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
