"""Servers and jobs that a log adds while the run is in progress: for mirrored runs, instead of cluster and trace."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np

from scheduling.model.bars import SERVER, START
from scheduling.model.limits import MAX_INT
from scheduling.model.resizes import Resize, clusters_of
from scheduling.model.values import ZERO, Cluster, EarlierSize, Job, Server, Utility
from twin.eventlog.event_log import lines_and_bars
from twin.infra.kept import KEPT
from twin.models import Run

SLOT_MS = 60_000  # of charts that count in slots; a real cluster has none
JOBS, SERVERS = ("job_added", "job_set"), ("server_added", "server_set")


class NodeState(NamedTuple):
    """State of a node of a real cluster from a time on."""

    at_ms: int
    state: str
    reason: str


class Additions:
    """Servers and jobs by index, up to event `last_seq`.

    states: of each server in the order of time, with the reason that the cluster gives; none as long as it is up.
    resizes: changes of capacities, in the order of the log. added: {server: time in ms} of nodes of a real cluster that
    came after the beginning of the log; before it they have no capacity.
    """

    def __init__(self, name: str) -> None:
        self.name, self.last_seq = name, 0
        self.jobs: list[Job] = []
        self.states: list[list[NodeState]] = []
        self.resizes: list[Resize] = []
        self.added: dict[int, int] = {}
        self.cluster = Cluster(name=name, slot_ms=SLOT_MS, servers=(), unlimited_cloud=True)
        self._clusters: list[tuple[int, Cluster]] = []  # empty until they are asked for

    @property
    def clusters(self) -> list[tuple[int, Cluster]]:
        """(start in ms, cluster) of each time between two changes of a capacity; the last one is `cluster`."""
        added = [Resize(at_ms, server, ZERO) for server, at_ms in self.added.items()]
        self._clusters = self._clusters or clusters_of(self.cluster, self.resizes + added)
        return self._clusters

    def feed(self, run_id: int) -> Additions:
        """Additions with those of the events after `last_seq`."""
        servers, changed = list(self.cluster.servers), False
        for lines, bars in lines_and_bars(run_id, self.last_seq):
            for seq, at_ms, kind, data in lines:
                if seq <= self.last_seq:
                    continue
                self.last_seq = seq
                if kind in JOBS:
                    _set(self.jobs, data["job"], job_of(data["fields"]))
                elif kind in SERVERS:
                    server, changed = server_of(data["fields"]), True
                    if kind == "server_added":
                        _set(self.states, data["server"], [])
                        if "since_ms" in data:
                            self.added[data["server"]] = data["since_ms"]
                    elif (was := servers[data["server"]].capacity) != server.capacity:
                        self.resizes.append(Resize(data.get("since_ms", at_ms), data["server"], was))
                    _set(servers, data["server"], server)
                    if "state" in data:
                        self.states[data["server"]].append(NodeState(at_ms, data["state"], data["reason"]))
            changed = self._used(bars) or changed
        if changed:
            self.cluster = Cluster(name=self.name, slot_ms=SLOT_MS, servers=tuple(servers))
            self._clusters = []
        return self

    def _used(self, bars: np.ndarray) -> bool:
        """True if a job began on an added node before the poll that first showed the node: it was there by then."""
        own = bars[np.isin(bars[:, SERVER], list(self.added))] if self.added else bars[:0]
        servers, place = np.unique(own[:, SERVER], return_inverse=True)
        first_ms = np.full(len(servers), MAX_INT)
        np.minimum.at(first_ms, place, own[:, START])
        earlier = {
            server: at_ms
            for server, at_ms in zip(servers.tolist(), first_ms.tolist(), strict=True)
            if at_ms < self.added[server]
        }
        self.added |= earlier
        return bool(earlier)


def of_run(run: Run) -> tuple[Cluster, Sequence[Job]]:
    """The cluster and the jobs of a run whose log adds them, as they are now."""
    with _of(run) as found:
        return found.cluster, list(found.jobs)


def clusters(run: Run) -> list[tuple[int, Cluster]]:
    """Clusters of such a run with their start times, in order: a node of a real cluster may change its capacity."""
    with _of(run) as found:
        return found.clusters


def node_states(run: Run) -> list[list[NodeState]]:
    """States of each server of a mirrored run."""
    with _of(run) as found:
        return [list(states) for states in found.states]


@contextmanager
def _of(run: Run) -> Iterator[Additions]:
    key = ("additions", run.pk)
    with KEPT.lock(key):
        yield KEPT.get(key, lambda: Additions(run.scenario.cluster.name)).feed(run.pk)


def _set(values: list[Any], index: int, value: Any) -> None:
    if index == len(values):
        values.append(value)
    else:
        values[index] = value


def job_of(fields: Mapping[str, Any]) -> Job:
    """A job from the fields of an event."""
    utility = fields.get("utility")
    tuples: dict[str, tuple[Any, ...]] = {
        name: tuple(fields[name]) for name in ("worker", "ps", "upload_ms") if fields.get(name) is not None
    }
    if fields.get("earlier_sizes"):
        tuples["earlier_sizes"] = tuple(
            EarlierSize(until_ms, tuple(worker), workers) for until_ms, worker, workers in fields["earlier_sizes"]
        )
    return Job(**{**fields, **tuples, "utility": None if utility is None else Utility(**utility)})


def server_of(fields: Mapping[str, Any]) -> Server:
    """A server from the fields of an event."""
    away = tuple((begin, end) for begin, end in fields.get("away", ()))
    return Server(**{**fields, "capacity": tuple(fields["capacity"]), "roles": tuple(fields["roles"]), "away": away})
