"""Facts about the use of a cluster, as every sampler reports them, and the occupancy that it is given."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from twin.connectors.facts import NodeFact, Share, Snapshot


@dataclass(frozen=True, slots=True)
class Running:
    """A job that runs: since when (Unix ms of the cluster's clock), and what it holds."""

    started_ms: int
    shares: tuple[Share, ...]


@dataclass(frozen=True, slots=True)
class Occupancy:
    """The cluster at one moment: its nodes by name, and its running jobs by key."""

    nodes: Mapping[str, NodeFact] = field(default_factory=dict)
    running: Mapping[str, Running] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class NodeUse:
    """Use of a node at one moment; None where it is not known. Amounts are in the units of its capacities.

    at_ms       Unix ms by the clock of the source
    gpus        GPUs in use: busy, or with memory in use
    gpus_busy   GPUs that were busy: the sum of the shares of time
    gpus_known  number of GPUs that gpus_busy counts
    """

    node: str
    at_ms: int
    gpus: float | None = None
    cpus: float | None = None
    memory_mb: float | None = None
    gpus_busy: float | None = None
    gpus_known: int = 0


@dataclass(frozen=True, slots=True)
class Sample:
    """One answer of a sampler.

    now_ms  the clock of the source when it answered
    why     in one sentence: what is missing in it; "" = nothing
    """

    now_ms: int
    uses: tuple[NodeUse, ...] = ()
    why: str = ""


def occupancy_of(snapshot: Snapshot) -> Occupancy:
    """The occupancy that a poll shows."""
    running = {
        job.key: Running(job.attempts[-1].started_ms, job.attempts[-1].shares)
        for job in snapshot.jobs
        if job.state == "running" and job.attempts
    }
    return Occupancy({node.name: node for node in snapshot.nodes or ()}, running)
