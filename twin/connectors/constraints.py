"""Constraints of a cluster that its jobs and nodes do not show: licences, limits of queues, and what jobs ask for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import msgspec


@dataclass(frozen=True, slots=True)
class Asked:
    """Request of a waiting or running job beside amounts.

    only    nodes by name that it has to get: all others are excluded
    not_on  nodes by name that it excludes
    """

    licences: Mapping[str, int] = field(default_factory=dict)
    exclusive: bool = False
    eligible_ms: int = 0
    only: tuple[str, ...] = ()
    not_on: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class QueueLimits:
    """Limits of a queue; None where there is none.

    default_ms  time limit of a job that states none
    open        it starts jobs
    exclusive   its jobs get whole nodes
    """

    max_nodes: int | None = None
    max_ms: int | None = None
    default_ms: int | None = None
    open: bool = True
    exclusive: bool = False


@dataclass(frozen=True, slots=True)
class Constraints:
    """licences: the number of each that there is; queues: by name; jobs: by key, an array under its number.

    backfill_ms: time between two passes of the cluster's backfilling; None where it is not known.
    passes: the settings of a Slurm that backfills, as parameters of the scheduler `slurm`; empty for other clusters.
    """

    licences: Mapping[str, int] = field(default_factory=dict)
    queues: Mapping[str, QueueLimits] = field(default_factory=dict)
    jobs: Mapping[str, Asked] = field(default_factory=dict)
    backfill_ms: int | None = None
    passes: Mapping[str, int] = field(default_factory=dict)

    def asked(self, key: str) -> Asked:
        """Request of the job of that key."""
        return self.jobs.get(key) or self.jobs.get(key.split("_")[0]) or NOTHING_ASKED

    def plain(self) -> dict[str, Any]:
        """The same as plain data, for `from_plain`."""
        found: dict[str, Any] = msgspec.to_builtins(self)
        return found


def from_plain(data: Any) -> Constraints:
    """The inverse of `Constraints.plain`; none from nothing."""
    return msgspec.convert(data, Constraints) if data else NO_CONSTRAINTS


NOTHING_ASKED, NO_CONSTRAINTS = Asked(), Constraints()
