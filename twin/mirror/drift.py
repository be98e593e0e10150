"""Drift audit: differences between the log of a mirrored cluster and what the cluster itself reports. It is pure.

The logged state is read from the log alone, not from the records that the differ works with: a mistake of the differ,
of the writing or of the recovery after a crash shows up as a difference.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from scheduling.model.bars import COUNT, END, ROLE, SERVER, START, WIDTH, Placement, Role
from scheduling.model.values import STORAGE
from scheduling.reporting.quantities import counted
from twin.connectors.facts import ENDED, HELD, RUNNING, SUSPENDED, UNAVAILABLE, WAITING, JobFact, NodeFact, Snapshot
from twin.mirror.as_values import OPEN, bars_of, joined, plain_name, server_name, server_of
from twin.moments import run_moment

Held = tuple[int, int, int, int]  # server, start_ms, end_ms, workers
STATE_AFTER = {"started": RUNNING, "resumed": RUNNING, "suspended": SUSPENDED, "requeued": WAITING, "ended": ENDED,
         "rejected": ENDED}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Difference:
    """One fact on which log and cluster disagree."""

    subject: str  # job 54_1, node edge1
    field: str
    log: str
    cluster: str


@dataclass(slots=True)
class LoggedJob:
    """A job as the log has it."""

    name: str
    state: str = WAITING
    outcome: str = ""
    bars: frozenset[Held] = frozenset()
    submitted_ms: int = 0  # in ms of the log
    user: str = ""


@dataclass(frozen=True, slots=True)
class LoggedNode:
    """A node as the log has it; capacity: GPUs and CPUs in thousandths, memory in MB."""

    server: int
    available: bool
    capacity: tuple[int, ...]


@dataclass(slots=True)
class LoggedState:
    """State of jobs and nodes by a log, after its last event."""

    jobs: list[LoggedJob] = field(default_factory=list)
    nodes: dict[str, LoggedNode] = field(default_factory=dict)  # by the name of its server

    def feed(self, lines: Iterable[Sequence[Any]], bars: np.ndarray) -> LoggedState:
        """Addition of the events of one batch, as event_log.lines_and_bars gives it."""
        for _, at_ms, kind, data in lines:
            if kind == "job_added":
                self.jobs.append(LoggedJob(data["fields"]["id"], user=data["fields"].get("user") or ""))
            elif kind == "job_arrived":
                self.jobs[data["job"]].submitted_ms = data.get("submitted_ms", at_ms)
            elif kind == "decided":
                self._decided(self.jobs[data["job"]], data)
            elif kind == "plan_changed":
                self.jobs[data["keys"][0]].bars = _held(_without_suspensions(data["bars"].of(bars)))
            elif kind in ("server_added", "server_set"):
                fields, index = data["fields"], data["server"]
                away = bool(fields["away"]) and fields["away"][-1][1] >= OPEN
                self.nodes[fields["name"]] = LoggedNode(index, not away, tuple(fields["capacity"][:3]))
        return self

    def _decided(self, job: LoggedJob, data: Mapping[str, Any]) -> None:
        if data["kind"] == "waits":
            job.state = HELD if data["code"] == "held" else WAITING
        elif data["kind"] in STATE_AFTER:
            job.state = STATE_AFTER[data["kind"]]
        if job.state == ENDED:
            job.outcome = data["values"].get("outcome", job.outcome)


def compare(
    logged: LoggedState, snapshot: Snapshot, history: Iterable[JobFact], epoch_ms: int, first_ms: int
) -> tuple[int, list[Difference]]:
    """(jobs and nodes compared, differences) between a log and a complete snapshot with the accounting of what ended.

    first_ms is the time from which on the log must have every job; one that was submitted before and has ended may be
    missing. Of jobs that the cluster has given one key, the one with the submit time of the fact is compared, or else
    the newest. A job that snapshot and accounting both have counts once, as does a difference that both show.
    """
    by_key = _by_key(logged)
    nodes = {server_name(node.name): node for node in snapshot.nodes or ()}
    names = {node.server: name for name, node in logged.nodes.items()}
    found: list[Difference] = []
    reported = set()
    for fact in (*snapshot.jobs, *history):
        job = _matching(by_key.get(plain_name(fact.key), ()), fact, epoch_ms)
        if job is None:
            if fact.state != ENDED or fact.submitted_ms >= first_ms:
                found.append(Difference(f"job {fact.key}", "presence", "absent", fact.state))
            continue
        reported.add(job.name)
        found += _job_differences(job, fact, names, epoch_ms)
    for job in logged.jobs:
        if job.state != ENDED and job.name not in reported and snapshot.own in ("", job.user):
            found.append(Difference(f"job {job.name}", "presence", job.state, "absent"))
    both = logged.nodes.keys() | nodes.keys() if snapshot.nodes is not None else set()
    for name in sorted(both):
        found += _node_differences(name, logged.nodes.get(name), nodes.get(name))
    return len(reported) + len(both), list(dict.fromkeys(found))


def _job_differences(job: LoggedJob, fact: JobFact, names: Mapping[int, str], epoch_ms: int) -> Iterable[Difference]:
    """Differences of one job; names: {index: name} of all servers of the log, also of nodes that have left since."""
    subject = f"job {fact.key}"
    if job.state != fact.state:
        yield Difference(subject, "state", job.state, fact.state)
    elif fact.state == ENDED and job.outcome != fact.outcome:
        yield Difference(subject, "outcome", *(outcome.replace("_", " ") for outcome in (job.outcome, fact.outcome)))
    indices = {name: index for index, name in names.items()}
    held_on = {share.node: server_name(share.node) for attempt in fact.attempts for share in attempt.shares}
    servers = {node: indices[name] for node, name in held_on.items() if name in indices}
    bars = bars_of(0, fact, fact.attempts, servers, epoch_ms)
    wanted = _held(np.asarray(bars, dtype=np.int64).reshape(-1, WIDTH))
    if (fact.complete_history and job.bars != wanted) or not wanted <= job.bars:
        yield Difference(subject, "placements", _shown(job.bars, names, epoch_ms), _shown(wanted, names, epoch_ms))


def _node_differences(name: str, logged: LoggedNode | None, node: NodeFact | None) -> Iterable[Difference]:
    if logged is None or node is None:
        if logged is None or logged.available:  # a node that the cluster no longer lists is not available in the log
            there = ("absent", "present") if logged is None else ("present", "absent")
            yield Difference(f"node {name}", "presence", *there)
        return
    available = node.state not in UNAVAILABLE
    if logged.available != available:
        yield Difference(f"node {name}", "availability", _yes(logged.available), _yes(available))
    capacity = server_of(node, "edge", ()).capacity[:STORAGE]
    if logged.capacity != capacity:
        yield Difference(f"node {name}", "capacity", _amounts(logged.capacity), _amounts(capacity))


def _yes(available: bool) -> str:
    return "available" if available else "unavailable"


def _amounts(capacity: tuple[int, ...]) -> str:
    gpus, cpus, memory = (amount / 1_000 for amount in capacity)
    return f"{gpus:g} GPUs, {cpus:g} CPUs, {memory:,.3f} GB"


def _by_key(logged: LoggedState) -> dict[str, list[LoggedJob]]:
    """Jobs of each key, the newest last: where a key is used again, a number is appended to the name."""
    found: dict[str, list[LoggedJob]] = {}
    for job in logged.jobs:
        base, mark, number = job.name.rpartition("~")
        for key in (job.name, base) if mark and number.isdigit() else (job.name,):
            found.setdefault(key, []).append(job)
    return found


def _matching(jobs: Sequence[LoggedJob], fact: JobFact, epoch_ms: int) -> LoggedJob | None:
    """The job with the fact's submit time; the newest where none has it, as a requeue may have given it another one.

    Not one that was submitted after the end of the fact's job: its key is used again.
    """
    submitted_ms = max(0, fact.submitted_ms - epoch_ms)
    exact = next((job for job in jobs if job.submitted_ms == submitted_ms), None)
    if exact is not None or not jobs:
        return exact
    over = fact.state == ENDED and fact.ended_ms is not None and fact.ended_ms - epoch_ms <= jobs[-1].submitted_ms
    return None if over else jobs[-1]


def _without_suspensions(bars: np.ndarray) -> np.ndarray:
    """The bars of a job as workers: polls see its suspensions, its accounting does not state them."""
    if not (bars[:, ROLE] == Role.SUSPENDED).any():
        return bars
    whole = joined(map(Placement._make, bars[:, :WIDTH].tolist()))
    return np.asarray(whole, dtype=np.int64).reshape(-1, WIDTH)


def _held(bars: np.ndarray) -> frozenset[Held]:
    """(server, start, end, workers) of bars; those that differ only in the GPU are added up."""
    if not len(bars):
        return frozenset()
    rows, places = np.unique(bars[:, [SERVER, START, END]], axis=0, return_inverse=True)
    counts = np.bincount(places.ravel(), weights=bars[:, COUNT]).astype(np.int64)
    return frozenset((*row, count) for row, count in zip(map(tuple, rows.tolist()), counts.tolist(), strict=True))


def _shown(bars: frozenset[Held], names: Mapping[int, str], epoch_ms: int) -> str:
    """Bars as text."""
    return "; ".join(
        f"{counted(workers, 'worker')} on {names.get(server, f'server {server}')} from {run_moment(start, epoch_ms)}"
        + ("" if end == OPEN else f" to {run_moment(end, epoch_ms)}")
        for server, start, end, workers in sorted(bars)
    )
