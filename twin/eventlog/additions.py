"""Servers and jobs that a log adds while the run is in progress: for mirrored runs, instead of cluster and trace."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from scheduling.model.values import Cluster, Job, Server, Utility
from twin.eventlog.event_log import lines_and_bars
from twin.infra.kept import KEPT
from twin.models import Run

SLOT_MS = 60_000  # of charts that count in slots; a real cluster has none
JOBS, SERVERS = ("job_added", "job_set"), ("server_added", "server_set")


class Additions:
    """Servers and jobs by index, up to event `last_seq`."""

    def __init__(self, name: str) -> None:
        self.name, self.last_seq = name, 0
        self.jobs: list[Job] = []
        self.cluster = Cluster(name=name, slot_ms=SLOT_MS, servers=(), unlimited_cloud=True)

    def feed(self, run_id: int) -> Additions:
        """Additions with those of the events after `last_seq`."""
        servers = list(self.cluster.servers)
        for lines, _ in lines_and_bars(run_id, self.last_seq):
            for seq, _, kind, data in lines:
                if seq <= self.last_seq:
                    continue
                self.last_seq = seq
                if kind in JOBS:
                    _set(self.jobs, data["job"], job_of(data["fields"]))
                elif kind in SERVERS:
                    _set(servers, data["server"], server_of(data["fields"]))
        if tuple(servers) != self.cluster.servers:
            self.cluster = Cluster(name=self.name, slot_ms=SLOT_MS, servers=tuple(servers))
        return self


def of_run(run: Run) -> tuple[Cluster, Sequence[Job]]:
    """The cluster and the jobs of a run whose log adds them, as they are now."""
    key = ("additions", run.pk)
    with KEPT.lock(key):
        found = KEPT.get(key, lambda: Additions(run.scenario.cluster.name)).feed(run.pk)
        return found.cluster, list(found.jobs)


def _set(values: list[Any], index: int, value: Any) -> None:
    if index == len(values):
        values.append(value)
    else:
        values[index] = value


def job_of(fields: Mapping[str, Any]) -> Job:
    """A job from the fields of an event."""
    utility = fields.get("utility")
    tuples = {name: tuple(fields[name]) for name in ("worker", "ps", "upload_ms") if fields.get(name) is not None}
    return Job(**{**fields, **tuples, "utility": None if utility is None else Utility(**utility)})


def server_of(fields: Mapping[str, Any]) -> Server:
    """A server from the fields of an event."""
    away = tuple((begin, end) for begin, end in fields.get("away", ()))
    return Server(**{**fields, "capacity": tuple(fields["capacity"]), "roles": tuple(fields["roles"]), "away": away})
