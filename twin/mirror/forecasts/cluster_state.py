"""A mirrored cluster in the form from which its forecast is made. It is pure.

Times are Unix ms of the cluster's clock. Jobs are named by `identity`; a gang of several jobs waits as one.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import groupby

from scheduling.forecast.values import (
    CLOSED,
    HELD,
    NEVER,
    TOO_LONG,
    TOO_MANY_NODES,
    UNKNOWN_LIMIT,
    UNMET,
    After,
    Amounts,
    Closed,
    ClusterState,
    Group,
    Node,
    Running,
    Waiting,
)
from scheduling.run_times.overrun import expected_run_ms
from twin.connectors import facts
from twin.connectors.constraints import NO_CONSTRAINTS, Constraints, QueueLimits
from twin.connectors.facts import JobFact, NodeFact, ReservationFact

ASSUMED_MS = 3_600_000  # run time of a job without a limit of which nothing is known
MAX_LIMIT_MS = 365 * 86_400_000  # beyond, a limit is none
LIMITED = re.compile(r"QOS|Assoc|^PartitionNodeLimit|^PartitionTimeLimit|NotAllowed|^InvalidQOS|^BadConstraints")
NEVER_MET = "DependencyNeverSatisfied"
DEPENDENCY = re.compile(r"(after\w*):([\w.+*/-]+(?::[\w.+*/-]+)*)")
Predict = Callable[[JobFact], int | None]
NO_LIMITS = QueueLimits()


def identity(fact: JobFact) -> str:
    """The name of a job in forecasts: a cluster may use a key again."""
    return f"{fact.key}@{fact.submitted_ms}"


def cluster_state(
    at_ms: int, jobs: Iterable[JobFact], nodes: Sequence[NodeFact], predict: Predict,
    constraints: Constraints = NO_CONSTRAINTS, begins: Mapping[str, int] | None = None, cycle_ms: int = 0,
    reservations: Sequence[ReservationFact] = (),
) -> ClusterState:  # fmt: skip
    """predict: run time of a job in ms, None where nothing is known. begins: {key: ms} for jobs with a begin time."""
    open_ = [job for job in jobs if job.state != facts.ENDED]
    runs = [job for job in open_ if job.state in (facts.RUNNING, facts.SUSPENDED) and job.attempts]
    places = {node.name: place for place, node in enumerate(nodes)}
    held = tuple(_running(job, at_ms, places, predict, constraints) for job in runs)
    machines = tuple(_node(node, reservations) for node in nodes)
    waits = [job for job in open_ if job.state in (facts.WAITING, facts.HELD)]
    waits.sort(key=lambda job: (-(job.priority or 0), job.submitted_ms, _natural(job.gang or job.key)))
    named = _named(open_)
    largest = _largest(machines)
    queue = []
    for members in _gangs(waits):
        queue.append(_waiting(members, at_ms, largest, named, predict, constraints, begins or {}))
    return ClusterState(at_ms, machines, held, tuple(queue), constraints.licences, cycle_ms)


def gang_of(fact: JobFact) -> str:
    """The name of what a job waits as: its own, or its gang's."""
    return f"{fact.gang}@{fact.submitted_ms}" if fact.gang else identity(fact)


def _node(node: NodeFact, reservations: Sequence[ReservationFact]) -> Node:
    """A node with the capacity that the cluster states, even if jobs hold more."""
    capacity = node.gpus, node.cpus, node.memory_mb
    closed = tuple(Closed(one.from_ms, one.until_ms, one.name) for one in reservations if node.name in one.nodes)
    return Node(node.name, capacity, frozenset(node.queues), node.state == facts.UP, closed)


def _running(
    job: JobFact, at_ms: int, places: Mapping[str, int], predict: Predict, constraints: Constraints
) -> Running:
    attempt = job.attempts[-1]
    frees_cpus = job.state == facts.SUSPENDED and job.frees_cpus
    shares = tuple(
        (places[share.node], (share.gpus, 0 if frees_cpus else share.cpus, share.memory_mb))
        for share in attempt.shares
        if share.node in places and share.until_ms is None
    )
    limit_ms = _limit_ms(job, constraints)
    elapsed_ms = max(0, at_ms - attempt.started_ms)
    end_ms = attempt.started_ms + expected_run_ms(_run_ms(job, predict, constraints), elapsed_ms, job.limit_ms)
    limit_end_ms = NEVER if limit_ms >= NEVER else attempt.started_ms + limit_ms
    return Running(identity(job), shares, end_ms, limit_end_ms, constraints.asked(job.key).licences)


def _waiting(
    members: Sequence[JobFact], at_ms: int, largest: Mapping[str, Amounts], named: Mapping[str, Sequence[str]],
    predict: Predict, constraints: Constraints, begins: Mapping[str, int],
) -> Waiting:  # fmt: skip
    job = members[0]
    asked = constraints.asked(job.key)
    eligible_ms = asked.eligible_ms
    if job.reason == "BeginTime":
        eligible_ms = max(eligible_ms, begins.get(job.key, 0))
    queues = [queue for queue in job.queue.split(",") if queue]
    refused = {queue: _refused(members, queue, constraints) for queue in queues}
    blocked = _blocked(members, [*refused.values()])
    exclusive = asked.exclusive or any(constraints.queues.get(queue, NO_LIMITS).exclusive for queue in queues)
    only = asked.only if len(asked.only) >= sum(max(1, one.nodes) for one in members) else ()  # else others as well
    after = [one for member in members for one in _after(member.depends_on, named)]
    return Waiting(
        gang_of(job), tuple(_group(one, largest) for one in members),
        max(_run_ms(one, predict, constraints) for one in members), max(_limit_ms(one, constraints) for one in members),
        frozenset(queue for queue in queues if blocked or not refused[queue]), eligible_ms, tuple(after), exclusive,
        asked.licences, job.reservation, frozenset(only), frozenset(asked.not_on), blocked,
    )  # fmt: skip


def _group(job: JobFact, largest: Mapping[str, Amounts]) -> Group:
    """Equal parts on as many nodes as the job asks for; on more where no node of its queue can hold such a part."""
    total = (job.gpus, job.cpus, job.memory_mb)
    most = largest.get(job.queue.split(",")[0], largest[""])
    count = max(1, job.nodes)
    for amount, there in zip(total, most, strict=True):
        if there and -(-amount // count) > there:
            count = -(-amount // there)
    return Group(count, tuple(-(-amount // count) for amount in total))


def _largest(nodes: Sequence[Node]) -> dict[str, Amounts]:
    """The largest amounts of a node, by queue; "" for all."""
    found: dict[str, Amounts] = {"": (0, 0, 0)}
    for node in nodes:
        for queue in ("", *node.queues):
            most = found.get(queue, (0, 0, 0))
            found[queue] = tuple(max(a, b) for a, b in zip(most, node.capacity, strict=True))
    return found


def _blocked(members: Sequence[JobFact], refused: Sequence[str]) -> str:
    """Reason why no event of the forecast lets the jobs start; empty if one may. refused: of each of their queues."""
    if any(one.state == facts.HELD for one in members):
        return HELD
    if any(one.reason == NEVER_MET for one in members):
        return UNMET
    if refused and all(refused):
        return refused[0]
    limited = any(LIMITED.search(one.reason) or "afternotok" in one.depends_on for one in members)
    return UNKNOWN_LIMIT if limited else ""


def _refused(members: Sequence[JobFact], queue: str, constraints: Constraints) -> str:
    """Reason why the queue does not start these jobs; empty if it does."""
    limits = constraints.queues.get(queue, NO_LIMITS)
    if not limits.open:
        return CLOSED
    if limits.max_nodes is not None and any(max(1, one.nodes) > limits.max_nodes for one in members):
        return TOO_MANY_NODES
    if limits.max_ms is not None and any((one.limit_ms or 0) > limits.max_ms for one in members):
        return TOO_LONG
    return ""


def _run_ms(job: JobFact, predict: Predict, constraints: Constraints) -> int:
    predicted = predict(job)
    limit_ms = _limit_ms(job, constraints)
    return predicted if predicted is not None else ASSUMED_MS if limit_ms >= NEVER else limit_ms


def _limit_ms(job: JobFact, constraints: Constraints) -> int:
    """The time limit of the job, or that of its queue where it states none."""
    if job.limit_ms is not None and job.limit_ms < MAX_LIMIT_MS:
        return job.limit_ms
    known = [constraints.queues.get(queue, NO_LIMITS) for queue in job.queue.split(",")]
    return max((limits.default_ms or limits.max_ms or NEVER for limits in known), default=NEVER)


def _gangs(jobs: Sequence[JobFact]) -> list[list[JobFact]]:
    """Jobs that start together, where the first of them stands."""
    found: dict[str, list[JobFact]] = {}
    for job in jobs:
        found.setdefault(gang_of(job), []).append(job)
    return list(found.values())


def _named(jobs: Sequence[JobFact]) -> dict[str, list[str]]:
    """Names of open jobs by what a dependency calls them: a key, the number of an array, a gang."""
    found: dict[str, list[str]] = {}
    for job in jobs:
        name = gang_of(job) if job.state in (facts.WAITING, facts.HELD) else identity(job)
        for key in {job.key, re.split(r"[_+]", job.key)[0], re.sub(r"_.*", "_*", job.key)}:
            found.setdefault(key, []).append(name)
    return found


def _after(text: str, named: Mapping[str, Sequence[str]]) -> list[After]:
    """Dependencies as Slurm prints them: afterok:1(unfulfilled),after:54_1+5."""
    found = []
    for kind, keys in DEPENDENCY.findall(text):
        for key in keys.split(":"):
            key = re.sub(r"\+\d+$", "", key) if kind == "after" else key  # minutes after the start
            found += [After(name, kind == "after") for name in named.get(key, ())]
    return found


def _natural(text: str) -> list[tuple[int, str]]:
    """Order of keys with numbers: 9 before 10."""
    return [(int("".join(part)), "") if digit else (0, "".join(part)) for digit, part in groupby(text, str.isdigit)]
