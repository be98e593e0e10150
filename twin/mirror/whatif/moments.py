"""A mirrored run at a moment, and the cut that a what-if begins with."""

from __future__ import annotations

from dataclasses import dataclass

from scheduling.model.values import Cluster, ModelError, Server
from twin.connectors.facts import DRAINING, UP
from twin.eventlog import event_log
from twin.eventlog.additions import server_of
from twin.files.job_table import JobTable
from twin.infra.errors import Refused
from twin.mirror import stored
from twin.mirror.differ import Mirror
from twin.mirror.reached import reached_ms
from twin.mirror.whatif.cut import Choice, Cut, cut, started_before
from twin.mirror.whatif.jobs import job_table, slot_for
from twin.models import Run

EVENTS = ("server_added", "server_set", "job_added", "decided")


@dataclass(frozen=True)
class Moment:
    """A mirrored run at a moment: what its log says of nodes and held jobs then, and of all jobs until now."""

    run: Run
    mirror: Mirror
    at_ms: int
    servers: tuple[Server, ...]
    held: frozenset[int]
    draining: tuple[str, ...] = ()  # names of the nodes on which the cluster places no new job then


@dataclass(frozen=True)
class Made:
    """A cut as cluster and jobs of a scenario. purpose: what its jobs were changed for; empty where they were not."""

    moment: Moment
    cut: Cut
    choice: Choice
    cluster: Cluster
    table: JobTable
    purpose: str = ""


def moment_of(run: Run, at_ms: int | None = None) -> Moment:
    """The run at at_ms (None: its newest moment); Refused where the cluster was not followed then."""
    reached = reached_ms(run)
    at_ms = reached if at_ms is None else at_ms
    if at_ms > reached:
        raise Refused(
            f"run {run.pk} has reached {run.moment(reached)}, not {run.moment(at_ms)}; choose a time up to that"
        )
    servers: dict[int, Server] = {}
    states: dict[int, str] = {}
    nodes: dict[int, str] = {}  # states of nodes
    first_ms: int | None = None
    for _, event_ms, kind, data in event_log.lines_of(run.pk, EVENTS, up_to_ms=reached):
        first_ms = event_ms if first_ms is None else first_ms
        if event_ms > at_ms:
            break
        if kind in ("server_added", "server_set"):
            servers[data["server"]] = server_of(data["fields"])
            nodes[data["server"]] = data.get("state", nodes.get(data["server"], UP))  # another site states none
        elif kind == "decided":
            states[data["job"]] = data["code"]
    if first_ms is None or at_ms < first_ms:
        since = "nothing of the cluster yet" if first_ms is None else f"the cluster from {run.moment(first_ms)} on"
        raise Refused(f"run {run.pk} shows {since}, so no cut can be made at {run.moment(at_ms)}; choose a later time")
    held = frozenset(job for job, code in states.items() if code == "held")
    known = tuple(servers[index] for index in sorted(servers))
    draining = tuple(servers[index].name for index in sorted(servers) if nodes[index] == DRAINING)
    return Moment(run, stored.load_run(run), at_ms, known, held, draining)


def made(of: Moment, choice: Choice) -> Made:
    """The cut at the moment; Refused without a node."""
    try:
        found = cut(of.mirror, of.at_ms, of.servers, of.held, choice)
    except ModelError as error:
        raise Refused(f"run {of.run.pk} at {of.run.moment(of.at_ms)}: {error}") from error
    slot_ms = slot_for(found.parts)
    found = started_before(found, slot_ms)
    cluster = Cluster(name=of.run.scenario.cluster.name, slot_ms=slot_ms, servers=tuple(found.servers))
    return Made(of, found, choice, cluster, job_table(found.parts, slot_ms))
