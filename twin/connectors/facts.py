"""Facts about a real cluster, as every connector reports them: jobs, nodes, and a snapshot of all of them.

Units: times are Unix milliseconds of the cluster's own clock; GPUs, CPUs and memory (MiB) are whole numbers per node.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

WAITING, HELD, RUNNING, SUSPENDED, ENDED = "waiting", "held", "running", "suspended", "ended"
JOB_STATES = (WAITING, HELD, RUNNING, SUSPENDED, ENDED)
COMPLETED, FAILED, CANCELLED, TIMEOUT = "completed", "failed", "cancelled", "timeout"
NODE_FAIL, OUT_OF_MEMORY, PREEMPTED, REQUEUED = "node_fail", "out_of_memory", "preempted", "requeued"
LOST = "lost"  # the cluster no longer knows the job, and no history tells how it ended
OUTCOMES = (COMPLETED, FAILED, CANCELLED, TIMEOUT, NODE_FAIL, OUT_OF_MEMORY, PREEMPTED, REQUEUED, LOST)
UP, DRAINING, DRAINED, DOWN = "up", "draining", "drained", "down"
NODE_STATES = (UP, DRAINING, DRAINED, DOWN)
UNAVAILABLE = (DRAINED, DOWN)  # states of nodes that take no work


class ConnectorError(RuntimeError):
    """A cluster that cannot be read: one sentence with the subject, the rule, the value, and what would help."""


class NoAccounting(ConnectorError):
    """A cluster that keeps no accounting of what has ended."""


@dataclass(frozen=True, slots=True)
class Share:
    """Part of a node that a job holds while it runs.

    memory_mb here and in the other facts: MiB (2^20 bytes), as clusters count it
    gpu_ids   indices of the GPUs on the node, empty where the cluster does not state them (yet)
    from_ms   time from which the node is held, if not from the start of the attempt on (a pod that was placed earlier
              or joined later); None = from its start
    until_ms  time until which the node is held, if not until the end of the attempt (a pod that ended earlier);
              None = until its end
    """

    node: str
    gpus: int = 0
    cpus: int = 0
    memory_mb: int = 0
    gpu_ids: tuple[int, ...] = ()
    from_ms: int | None = None
    until_ms: int | None = None


@dataclass(frozen=True, slots=True)
class Attempt:
    """One execution of a job; a requeued job has several.

    ended_ms     None while it runs
    ended_after_ms  where the end was not seen: it lies between this time and ended_ms; else None
    """

    started_ms: int
    ended_ms: int | None
    shares: tuple[Share, ...]
    outcome: str = ""  # among OUTCOMES once it has ended
    ended_after_ms: int | None = None


@dataclass(frozen=True, slots=True)
class JobFact:
    """A job as the cluster shows it at one moment.

    key           name that the cluster prints (54_1, 55+0, namespace/name)
    submitted_ms  first submit time that is known; a cluster may use a key again: (key, submitted_ms) is the identity
    uid           the cluster's own identity of the job, which no other job ever has; "" where it has none
    resubmitted_ms  later submit times of the same job, oldest first: Slurm gives it a new one at a requeue. Facts with
                  one key and a common submit time are about one job (twin/mirror/jobs/identity.py)
    restarts      number of earlier attempts that the cluster counts
    attempts      those that this fact states, oldest first; the last one is the current one if the job runs
    complete_history  True: the attempts are all that the job has had (an accounting record), not only the newest one
    reason        the cluster's own code for the state (Resources, JobHeldUser, NodeFail, Unschedulable); "" = none
    message       the cluster's own words for it in one line, where it has more than the code; a change of them alone is
                  no event
    gpus, cpus, memory_mb  asked for in total; shares say what is held where
    limit_ms      time limit; None = no limit
    gang          key of the gang that starts together with it; None = a gang of its own
    suspensions   (begin, end) of each time in which it was suspended, oldest first, end None = until further notice;
                  None where the cluster does not say
    frees_cpus    True: its suspensions free its CPUs for other jobs; its memory and GPUs stay held
    """

    key: str
    submitted_ms: int
    state: str
    reason: str = ""
    message: str = ""
    outcome: str = ""
    restarts: int = 0
    attempts: tuple[Attempt, ...] = ()
    complete_history: bool = False
    nodes: int = 1
    gpus: int = 0
    cpus: int = 0
    memory_mb: int = 0
    limit_ms: int | None = None
    queue: str = ""
    user: str = ""
    account: str = ""
    gang: str | None = None
    priority: int | None = None
    depends_on: str = ""  # as the cluster prints it
    reservation: str = ""
    ended_ms: int | None = None  # also of a job that ended without having run
    resubmitted_ms: tuple[int, ...] = ()
    uid: str = ""
    suspensions: tuple[tuple[int, int | None], ...] | None = None
    frees_cpus: bool = False

    def __post_init__(self) -> None:
        if self.state not in JOB_STATES:
            raise ValueError(f"job {self.key}: state must be one of {', '.join(JOB_STATES)}, got {self.state!r}")
        if self.outcome and self.outcome not in OUTCOMES:
            raise ValueError(f"job {self.key}: outcome must be one of {', '.join(OUTCOMES)}, got {self.outcome!r}")

    @property
    def submit_times(self) -> tuple[int, ...]:
        """All submit times of the job, oldest first; the cluster shows the last one."""
        return (self.submitted_ms, *self.resubmitted_ms)


@dataclass(frozen=True, slots=True)
class NodeFact:
    """A node as the cluster shows it at one moment.

    since_ms     when it became available, draining or unavailable, in the cluster's time; None where the cluster does
                 not say
    """

    name: str
    state: str = UP
    reason: str = ""
    gpus: int = 0
    cpus: int = 0
    memory_mb: int = 0
    queues: tuple[str, ...] = ()
    labels: Mapping[str, str] = field(default_factory=dict)
    since_ms: int | None = None

    def __post_init__(self) -> None:
        if self.state not in NODE_STATES:
            raise ValueError(f"node {self.name}: state must be one of {', '.join(NODE_STATES)}, got {self.state!r}")


@dataclass(frozen=True, slots=True)
class ReservationFact:
    """Nodes that are kept for maintenance, or for some users, during an interval; its name is used for others, too."""

    name: str
    from_ms: int
    until_ms: int
    nodes: tuple[str, ...]
    maintenance: bool = False
    holders: str = ""  # users or accounts that may use it, as the cluster prints them


@dataclass(frozen=True, slots=True)
class Contact:
    """Newest contact of a cluster that reports by itself.

    at_ms     when it last reported, by this machine's clock; a heartbeat counts
    event_ms  time of its newest event, by the cluster's clock
    """

    at_ms: int
    event_ms: int


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The result of one poll of a cluster.

    at_ms     the cluster's clock when it was taken
    jobs      every job that the cluster shows, ended ones too as long as it keeps them
    nodes     None where this poll did not read them
    reservations  present and future ones; None where this poll did not read them
    complete  False: a part of the answer is missing; a job that is not in it must not be taken as gone
    own       the only user whose jobs the account can see, if it may not see all; that a job of another user is
              missing does not mean that it is gone
    partial   a snapshot of some jobs only (a stream's change): that a job is missing does not mean that it is gone
    calls     milliseconds that each call to the cluster took, by name
    backfilled_ms  when the last backfill pass ran, in the cluster's time; None where this poll did not read it
    """

    at_ms: int
    jobs: tuple[JobFact, ...] = ()
    nodes: tuple[NodeFact, ...] | None = None
    reservations: tuple[ReservationFact, ...] | None = None
    complete: bool = True
    partial: bool = False
    own: str = ""
    why: str = ""  # in one line: what is missing, where it is not complete; or what was left out, and why
    calls: Mapping[str, int] = field(default_factory=dict)
    backfilled_ms: int | None = None


@dataclass(frozen=True, slots=True)
class Finding:
    """One line of a connection test: its subject, whether it is well, and a remedy."""

    subject: str
    well: bool
    message: str
    remedy: str = ""  # a command or a setting that mends it
    needed: bool = True  # False: the cluster can be followed without it


@dataclass(frozen=True, slots=True)
class Found:
    """Result of a connection test."""

    version: str = ""
    clock_offset_ms: int | None = None  # the cluster's clock minus ours
    findings: tuple[Finding, ...] = ()

    @property
    def well(self) -> bool:
        """True if the cluster can be followed."""
        return all(finding.well for finding in self.findings if finding.needed)
