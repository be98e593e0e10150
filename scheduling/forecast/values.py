"""Input and result of a forecast. Times are int ms on one axis; amounts are ints per resource."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

NEVER = 2**53  # the end of what has none
Amounts = tuple[int, ...]  # one per resource, the same resources everywhere

# Why a job has no start, or what it waits for.
HELD, TOO_LARGE, NO_LICENCE, DEPENDENCY = "held", "too_large", "no_licence", "dependency"
UNKNOWN_LIMIT, NO_RESERVATION, TOO_LONG = "unknown_limit", "no_reservation", "too_long"
TOO_MANY_NODES, CLOSED, UNMET = "too_many_nodes", "closed", "unmet"
RESOURCES, PRIORITY, LICENCE, TIME, NOW = "resources", "priority", "licence", "time", "now"


class Closed(NamedTuple):
    """A reservation of nodes: only jobs of it may run there in [from_ms, to_ms)."""

    from_ms: int
    to_ms: int
    name: str


@dataclass(frozen=True, slots=True)
class Node:
    """queues: those whose jobs it takes; empty for all. available: it takes jobs now, and as far as is known later."""

    name: str
    capacity: Amounts
    queues: frozenset[str] = frozenset()
    available: bool = True
    closed: tuple[Closed, ...] = ()


@dataclass(frozen=True, slots=True)
class Running:
    """A job that holds nodes. end_ms: when it is expected to end; limit_end_ms: when its time limit ends it."""

    id: str
    shares: tuple[tuple[int, Amounts], ...]  # (node, amounts)
    end_ms: int
    limit_end_ms: int = NEVER
    licences: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Group:
    """Equal parts of a job, each on a node of its own."""

    count: int
    amounts: Amounts


class After(NamedTuple):
    """A dependency: on the end of another job, or on its start."""

    id: str
    start: bool = False


@dataclass(frozen=True, slots=True)
class Waiting:
    """A job that waits.

    groups       what it needs, all at once; parts of different groups are on different nodes
    queues       those it was sent to; empty where the cluster has none
    run_ms       predicted run time
    limit_ms     time limit; NEVER without one
    eligible_ms  it does not start before
    exclusive    each part takes a whole node
    reservation  name of the reservation that it uses
    only, not_on  nodes by name that it asked for (all others are excluded), and that it excludes
    blocked      a code of this module where the cluster does not let it start and no event of the forecast changes that
    """

    id: str
    groups: tuple[Group, ...]
    run_ms: int
    limit_ms: int = NEVER
    queues: frozenset[str] = frozenset()
    eligible_ms: int = 0
    after: tuple[After, ...] = ()
    exclusive: bool = False
    licences: Mapping[str, int] = field(default_factory=dict)
    reservation: str = ""
    only: frozenset[str] = frozenset()
    not_on: frozenset[str] = frozenset()
    blocked: str = ""


@dataclass(frozen=True, slots=True)
class ClusterState:
    """A cluster at a moment. waiting: in the order of priority. licences: the number of each there is.

    cycle_ms: what passes between the end of a job and the start of the next one on its nodes.
    """

    now_ms: int
    nodes: tuple[Node, ...]
    running: tuple[Running, ...]
    waiting: tuple[Waiting, ...]
    licences: Mapping[str, int] = field(default_factory=dict)
    cycle_ms: int = 0


class Forecast(NamedTuple):
    """Start and finish of a waiting job, None where it cannot start as far as is known.

    why: what it waits for, or why it cannot start; for: the jobs (by id) behind that: those that end on its nodes when
    it starts, or those that it depends on. ahead: number of waiting jobs that start before it. earliest_ms: eligible_ms
    of the job.
    """

    id: str
    start_ms: int | None
    finish_ms: int | None
    nodes: tuple[int, ...]
    why: str
    waits_for: tuple[str, ...] = ()
    ahead: int = 0
    earliest_ms: int = 0
