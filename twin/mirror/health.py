"""Health of following a cluster, for pages: time of the last poll, lag of facts, cost of calls."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from twin.connectors.facts import RUNNING, UP
from twin.mirror.as_values import EventData
from twin.mirror.differ import Mirror

MAX_LAGS = 1_000  # newest facts that percentiles are taken of
COST_S = 30.0  # between two readings of the cost
MAX_LISTED = 3  # of each kind of what does not fit
MAX_NAMED = 20  # nodes that are not up, with their reasons


@dataclass
class Health:
    """State of following one live cluster. Times are Unix seconds of this machine unless the name says otherwise."""

    last_look_at: float | None = None  # time of the newest poll; the name that stored connections have
    seen_ms: int | None = None  # the cluster's time of that poll
    contact_at: float | None = None  # when a cluster that reports by itself did so last
    event_ms: int | None = None  # the cluster's time of the newest event that it reported
    failing_since: float | None = None
    resumed_at: float = 0.0  # end of the newest pause
    unsettled_ms: int | None = None  # the cluster's time from which on the accounting may not have all ends yet
    error: str = ""
    note: str = ""  # what the newest poll left out
    unfit: str = ""  # the result of unfit(), below
    looks: int = 0  # number of polls; the name that stored connections have
    call_ms: dict[str, int] = field(default_factory=dict)  # of the newest poll
    clock_offset_ms: int | None = None  # the cluster's clock minus ours
    lag: dict[str, int] = field(default_factory=dict)  # p50_ms, p99_ms, facts: from the event to its place in the log
    cost: dict[str, float] = field(default_factory=dict)  # calls_per_minute, ms_per_call, share of one core
    counts: dict[str, int] = field(default_factory=dict)  # nodes, and open jobs by state
    not_up: dict[str, Any] = field(default_factory=dict)  # the result of not_up(), below
    samples: dict[str, Any] = field(default_factory=dict)  # sampling.SamplesHealth; {} without a sampler


class Lags:
    """Lag of the newest facts: from the moment at which something happened to the one at which the log has it."""

    def __init__(self) -> None:
        self.newest: deque[int] = deque(maxlen=MAX_LAGS)

    def add(self, mirror: Mirror, events: Sequence[EventData], learned_ms: int) -> None:
        """Lags of submissions, starts and ends among the events; learned_ms: the cluster's time of their writing."""
        for kind, data in events:
            happened_ms = _happened_ms(mirror, kind, data)
            if happened_ms is not None:
                self.newest.append(max(0, learned_ms - happened_ms))

    def summary(self) -> dict[str, int]:
        """{p50_ms, p99_ms, facts}; empty before the first fact."""
        if not self.newest:
            return {}
        ordered = sorted(self.newest)
        last = len(ordered) - 1
        return {"p50_ms": ordered[last // 2], "p99_ms": ordered[round(last * 0.99)], "facts": len(ordered)}


class Costs:
    """Load that following puts on a cluster, by the difference of two answers of `Connector.cost`."""

    def __init__(self, times_controller: bool) -> None:
        self.times_controller = times_controller
        self.before: tuple[float, float, float] | None = None  # (monotonic s, calls, ms)

    def due(self, now_s: float) -> bool:
        """True if the cost is due to be read again."""
        return self.before is None or now_s - self.before[0] >= COST_S

    def add(self, cost: Mapping[str, float], now_s: float) -> dict[str, float]:
        """{calls_per_minute, ms_per_call, share}, as far as known; share: of one core of the controller, 0..1."""
        if "calls" not in cost:
            return {}
        before, self.before = self.before, (now_s, cost["calls"], cost.get("ms", 0.0))
        if before is None or cost["calls"] < before[1]:  # the first answer, or the cluster reset its counters
            return {}
        seconds, calls, ms = (now - was for now, was in zip(self.before, before, strict=True))
        found = {"calls_per_minute": round(calls * 60 / seconds, 1)}
        if "ms" in cost and calls:
            found["ms_per_call"] = round(ms / calls, 2)
        if "ms" in cost and self.times_controller:
            found["share"] = round(ms / 1_000 / seconds, 6)
        return found


def counts(mirror: Mirror) -> dict[str, int]:
    """{nodes: those that the cluster has, jobs: all of the log, and the open ones by state}."""
    states = Counter(mirror.jobs[index].fact.state for index in mirror.open)
    return {"nodes": sum(not node.is_removed for node in mirror.nodes.values()), "jobs": len(mirror.jobs), **states}


def unfit(mirror: Mirror) -> str:
    """Clause on the shares of running jobs that do not fit the nodes; empty if all fit.

    Three kinds: shares on nodes that are not known, which have no bar; jobs whose numbers of GPU ids and
    GPUs differ; and nodes with more GPUs held by jobs than they have.
    """
    strangers: set[str] = set()
    unequal: set[str] = set()
    held: Counter[str] = Counter()
    for index in mirror.open:
        fact = mirror.jobs[index].fact
        shares = fact.attempts[-1].shares if fact.state == RUNNING and fact.attempts else ()
        for share in shares:
            held[share.node] += share.gpus if share.until_ms is None else 0
            if share.node not in mirror.nodes:
                strangers.add(f"{fact.key} on {share.node}")
            if share.gpu_ids and len(share.gpu_ids) != share.gpus:
                unequal.add(fact.key)
    full = {f"{name} ({gpus:,} of {mirror.nodes[name].fact.gpus:,})" for name, gpus in held.items()
            if name in mirror.nodes and gpus > mirror.nodes[name].fact.gpus}  # fmt: skip
    kinds = (
        ("running jobs on nodes that the cluster has not reported, without bars there", strangers),
        ("jobs whose numbers of GPU ids and GPUs differ", unequal),
        ("nodes with more GPUs held by jobs than they have", full),
    )
    return "; ".join(f"{what}: {_listed(found)}" for what, found in kinds if found)


def _listed(found: set[str]) -> str:
    """Up to MAX_LISTED of them, in order."""
    more = f" and {len(found) - MAX_LISTED:,} more" if len(found) > MAX_LISTED else ""
    return f"{', '.join(sorted(found)[:MAX_LISTED])}{more}"


def not_up(mirror: Mirror) -> dict[str, Any]:
    """{total, nodes: [{name, state, reason}]} of the nodes that are draining, drained or down.

    total counts all of them; nodes lists at most MAX_NAMED, in the order of their names.
    """
    found = [node.fact for node in mirror.nodes.values() if node.fact.state != UP and not node.is_removed]
    named = sorted(found, key=lambda fact: fact.name)[:MAX_NAMED]
    return {
        "total": len(found),
        "nodes": [{"name": fact.name, "state": fact.state, "reason": fact.reason} for fact in named],
    }


def _happened_ms(mirror: Mirror, kind: str, data: Mapping[str, Any]) -> int | None:
    """The cluster's time of a submission, a start or an end; None for other events."""
    if kind == "job_arrived":
        return mirror.epoch_ms + int(data["submitted_ms"])
    if kind == "job_completed":
        return mirror.epoch_ms + int(data["ended_ms"])
    if kind == "decided" and data["kind"] == "started":
        known = mirror.jobs[data["job"]]
        if known.fact.state == RUNNING and known.attempts:
            return known.attempts[-1].started_ms
    return None
