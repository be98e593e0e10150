"""Cluster and jobs, the events of a run and its certificate: frozen values that schedulers, twin and files share.

Units, once and for all: time is int milliseconds since the scenario's start, intervals are half open; slot t is
``[t * slot_ms, (t + 1) * slot_ms)``, 0-based; capacities and demands are int thousandths of GPU, vCPU, GB memory,
GB storage and Gbps (so 1 is a milli-GPU, a MB, a Mbps) in the order of :data:`RESOURCES`. Inside the core, jobs and
servers are named by their **index** in ``jobs`` and ``Cluster.servers``; text ids live at the edges.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from scheduling.model.limits import MAX_INT, MAX_SLOT_MS, MIN_REAL

RESOURCES = ("gpu", "cpu", "memory", "storage", "bandwidth")
GPU, CPU, MEMORY, STORAGE, BANDWIDTH = range(len(RESOURCES))  # positions in it
RESOURCE_UNITS = ("GPU", "vCPU", "GB", "GB", "Gbps")
RESOURCE_TITLES = ("GPU", "vCPU", "Memory", "Storage", "Bandwidth")
SITES = ("edge", "cloud")
ROLES = ("worker", "ps")
MAX_SERVERS = 100_000  # of a cluster, however it is made


Demand = tuple[int, int, int, int, int]  # thousandths, in the order of RESOURCES
ZERO: Demand = (0, 0, 0, 0, 0)


def with_bandwidth(demand: Demand, bandwidth: int) -> Demand:
    """Demand with another bandwidth."""
    gpu, cpu, memory, storage, _ = demand
    return (gpu, cpu, memory, storage, bandwidth)


class ModelError(ValueError):
    """Error: a value breaks a rule. The message gives subject, rule, unit and value."""


def shorten(text: str) -> str:
    """Value, shortened for a message."""
    return text if len(text) <= 80 else text[:77] + "..."


def shown(name: str) -> str:
    """Name for a message: short, and on one line whatever it holds."""
    return shorten(name if name.isprintable() else repr(name))


@dataclass(frozen=True, slots=True)
class Utility:
    """Sigmoid of the completion time: priority / (1 + exp(sensitivity * (duration - target_slots))).

    priority    theta_1 / gamma_1, MIN_REAL to MAX_INT: utility of an early finish
    sensitivity theta_2 / gamma_2, 0 to MAX_INT, 1/slot: 0 = insensitive, then the utility is priority / 2 at any time
    target_slots theta_3 / gamma_3, 0 to MAX_INT slots
    """

    priority: float
    sensitivity: float
    target_slots: float

    def __post_init__(self) -> None:
        _require("utility", "priority", MIN_REAL <= self.priority <= MAX_INT, _POSITIVE, self.priority)
        _require("utility", "sensitivity", 0 <= self.sensitivity <= MAX_INT, f"{_FROM_ZERO} per slot", self.sensitivity)
        _require("utility", "target_slots", 0 <= self.target_slots <= MAX_INT, f"{_FROM_ZERO} slots", self.target_slots)


@dataclass(frozen=True, slots=True)
class Server:
    """Server of a cluster.

    `capacity` in thousandths; `worker_lanes` / `ps_lanes` count typed workers and parameter servers (A_online).

    away: outages [from_ms, to_ms), in order and disjoint. Schedulers know them: one that is not announced yet is not
        here, but in the cluster of a later phase (kernel/changes/phases.py).
    queues: those whose jobs (Job.group) it takes; empty: all. Only the scheduler `slurm` uses them.
    """

    name: str
    site: str  # edge | cloud
    capacity: Demand
    roles: tuple[str, ...] = ROLES
    worker_lanes: Mapping[str, int] = field(default_factory=dict)
    ps_lanes: Mapping[str, int] = field(default_factory=dict)
    speed: float = 1.0
    nic_gbps: float | None = None
    disk_gbps: float | None = None
    away: tuple[tuple[int, int], ...] = ()
    queues: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        subject = f"server {self.name}"
        _check_name("server", self.name)
        _require(subject, "name", self.name != "cloud", "other than the reserved 'cloud'", self.name)
        _require(subject, "site", self.site in SITES, f"one of {', '.join(SITES)}", self.site)
        _require(subject, "roles", bool(self.roles) and set(self.roles) <= set(ROLES), f"among {ROLES}", self.roles)
        _check_demand(subject, "capacity", self.capacity)
        _require(subject, "speed", MIN_REAL <= self.speed <= MAX_INT, _POSITIVE, self.speed)
        for worker_slots in (self.worker_lanes, self.ps_lanes):
            for kind, count in worker_slots.items():
                _require(
                    subject, f"workers of type {kind}", isinstance(count, int) and count >= 0, "an integer >= 0", count
                )
        ends = 0
        for begin, end in self.away:
            _require(
                subject,
                "away",
                ends <= begin < end,
                "non-empty intervals in ms, in order and without overlap",
                (begin, end),
            )
            ends = end + 1

    def is_away(self, at_ms: int) -> bool:
        """True if the server is unavailable at that time."""
        return any(begin <= at_ms < end for begin, end in self.away)

    def next_away_ms(self, at_ms: int) -> int | None:
        """Start of the next outage after that time; None if there is none."""
        return next((begin for begin, _ in self.away if begin > at_ms), None)


@dataclass(frozen=True, slots=True)
class Cluster:
    """Servers in a fixed order. `horizon_slots` binds slot schedulers; None = no end."""

    name: str
    slot_ms: int
    servers: tuple[Server, ...]
    horizon_slots: int | None = None
    unlimited_cloud: bool = False

    def __post_init__(self) -> None:
        _check_name("cluster", self.name)
        subject = f"cluster {shown(self.name)}"
        _require(
            subject, "slot_ms", isinstance(self.slot_ms, int) and self.slot_ms > 0, "an integer > 0 ms", self.slot_ms
        )
        _require(subject, "slot_ms", self.slot_ms <= MAX_SLOT_MS, f"at most {MAX_SLOT_MS:,} ms, a year", self.slot_ms)
        horizon = self.horizon_slots
        _require(
            subject,
            "horizon_slots",
            horizon is None or (isinstance(horizon, int) and horizon > 0),
            "null or > 0",
            horizon,
        )
        _require(subject, "servers", bool(self.servers) or self.unlimited_cloud, "at least 1", len(self.servers))
        seen: set[str] = set()
        for server in self.servers:
            _require(subject, "server names", server.name not in seen, "distinct", server.name)
            seen.add(server.name)


class EarlierSize(NamedTuple):
    """Size that a job of a real cluster had before it restarted with another one."""

    until_ms: int  # the bars that start before have workers of this size
    worker: Demand
    requested_workers: int


@dataclass(frozen=True, slots=True)
class Job:
    """Training job with the fields that schedulers need; an absent field is None.

    Times of one mini-batch, sample or iteration may be fractional milliseconds; points in time are integers.
    """

    id: str
    arrival_ms: int
    model: str = "unknown"
    epochs: int | None = None
    num_chunks: int | None = None
    minibatches_per_chunk: int | None = None
    minibatch_ms: float | None = None
    gradient_mb: float | None = None
    worker: Demand | None = None  # worker.bandwidth is b
    ps: Demand | None = None  # ps.bandwidth is B
    num_samples: int | None = None
    global_batch: int | None = None
    sample_ms: float | None = None
    workers_per_ps: int | None = None
    internal_gbps: float | None = None
    external_gbps: float | None = None
    ps_update_ms: float | None = None
    worker_type: str | None = None
    ps_type: str | None = None
    upload_ms: tuple[int, ...] | None = None  # one per server
    cloud_upload_ms: int | None = None
    chunk_mb: float | None = None
    requested_workers: int | None = None
    comp_machine_ms: float | None = None  # Harmony's W
    comm_ms: float | None = None  # Harmony's T_net
    iterations: int | None = None
    iterations_per_epoch: int | None = None
    input_gb: float | None = None
    model_gb: float | None = None
    user: str | None = None
    limit_ms: int | None = None  # time limit that the user stated: it caps the run time, and says no more
    group: str | None = None  # the virtual cluster, queue or partition it was sent to
    utility: Utility | None = None
    earlier_sizes: tuple[EarlierSize, ...] | None = None  # of a job of a real cluster, in the order of time
    provenance: Mapping[str, str] = field(default_factory=dict)  # field -> origin (provenance.py)

    def __post_init__(self) -> None:
        _check_name("job", self.id)
        subject = f"job {shown(self.id)}"
        whole = isinstance(self.arrival_ms, int) and self.arrival_ms >= 0
        _require(subject, "arrival_ms", whole, "an integer >= 0 ms", self.arrival_ms)
        _require(subject, "arrival_ms", self.arrival_ms <= MAX_INT, "at most 2^53 ms", self.arrival_ms)
        for name in _POSITIVE_INTEGERS:
            value = getattr(self, name)
            _require(subject, name, value is None or _is_whole(value, 1), "an integer from 1 to 2^53", value)
        for name in _POSITIVE_NUMBERS:
            value = getattr(self, name)
            _require(subject, name, value is None or MIN_REAL <= value <= MAX_INT, _POSITIVE, value)
        for name in _NUMBERS_FROM_ZERO:
            value = getattr(self, name)
            _require(subject, name, value is None or 0 <= value <= MAX_INT, _FROM_ZERO, value)
        for name, demand in (("worker", self.worker), ("ps", self.ps)):
            if demand is not None:
                _check_demand(subject, name, demand)
        if self.upload_ms is not None:
            whole = all(_is_whole(ms, 0) for ms in self.upload_ms)
            _require(subject, "upload_ms", whole, "integers from 0 to 2^53 ms", self.upload_ms)
        self._check_work(subject)

    def _check_work(self, subject: str) -> None:
        """Check of the total work: at most MAX_INT ms for one worker (285,000 years), so that every sum is exact."""
        if self.epochs is None:
            return
        exchange_ms = 16.0 * (self.gradient_mb or 0)  # at 1 Gbps, both ways
        update_ms = self.ps_update_ms or 0.0
        if self.num_chunks is not None and self.minibatches_per_chunk is not None and self.minibatch_ms is not None:
            bandwidth = self.worker[BANDWIDTH] / 1000 if self.worker else 0
            each_ms = self.minibatch_ms + update_ms + (exchange_ms / bandwidth if bandwidth else 0.0)
            work_ms = self.epochs * self.num_chunks * self.minibatches_per_chunk * each_ms
            name = "epochs x num_chunks x minibatches_per_chunk x time of a mini-batch"
            _require(subject, name, work_ms <= MAX_INT, "at most 2^53 ms", work_ms)
        if self.num_samples is not None and self.sample_ms is not None:
            rate = min(self.internal_gbps or MAX_INT, self.external_gbps or MAX_INT)
            exchange_ms = exchange_ms / rate + update_ms
            each_ms = self.sample_ms + (self.workers_per_ps or 1) / (self.global_batch or 1) * exchange_ms
            work_ms = self.epochs * self.num_samples * each_ms
            _require(subject, "epochs x num_samples x time of a sample", work_ms <= MAX_INT, "at most 2^53 ms", work_ms)


class Event(NamedTuple):
    """Fact of a run. `seq` counts from 1 without gaps. docs/formats.md lists the event types."""

    seq: int
    at_ms: int
    kind: str
    data: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Certificate:
    """Proved bound on what any schedule could achieve; it is rechecked without the scheduler."""

    kind: str
    achieved: float
    bound: float
    duals: Mapping[str, Any] = field(default_factory=dict)


_POSITIVE = "a number from 1e-9 to 2^53"
_FROM_ZERO = "a number from 0 to 2^53"
_POSITIVE_INTEGERS = (
    "epochs", "num_chunks", "minibatches_per_chunk", "num_samples", "global_batch", "workers_per_ps",
    "requested_workers", "iterations", "iterations_per_epoch", "limit_ms",
)  # fmt: skip
_POSITIVE_NUMBERS = ("minibatch_ms", "sample_ms", "internal_gbps", "external_gbps")
_NUMBERS_FROM_ZERO = (
    "gradient_mb", "ps_update_ms", "cloud_upload_ms", "chunk_mb", "comp_machine_ms", "comm_ms", "input_gb", "model_gb",
)  # fmt: skip


def _require(subject: str, name: str, holds: bool, rule: str, value: object) -> None:
    if not holds:
        raise ModelError(f"{subject}: {name} must be {rule}, got {shorten(repr(value))}")


def _is_whole(value: object, least: int) -> bool:
    return isinstance(value, int) and least <= value <= MAX_INT


def _check_name(kind: str, name: str) -> None:
    holds = bool(name) and len(name) <= 200 and not any(c in ", \t\r\n" for c in name) and name.isprintable()
    _require(kind, "name", holds, "1-200 printable characters without spaces or commas", name)


def _check_demand(subject: str, name: str, demand: Demand) -> None:
    _require(subject, name, len(demand) == len(RESOURCES), f"{len(RESOURCES)} amounts", demand)
    for resource, amount in zip(RESOURCES, demand, strict=True):
        holds = isinstance(amount, int) and 0 <= amount < 2**53
        _require(subject, f"{name}.{resource}", holds, "an integer >= 0 thousandths", amount)
