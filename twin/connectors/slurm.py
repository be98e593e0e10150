"""Slurm: reads a cluster through squeue, scontrol, sdiag and sacct; nothing is installed on it or changed."""

from __future__ import annotations

import logging
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from scheduling.kernel.parameters import Parameters, parameter
from twin.connectors import facts
from twin.connectors._slurm import accounting, held, prefix, queue, rights
from twin.connectors._slurm.attempts import Attempts
from twin.connectors._slurm.clock import Clock
from twin.connectors._slurm.commands import Commands, call_timeout_ms, configuration_file
from twin.connectors._slurm.constraints.reading import Constraining
from twin.connectors._slurm.diagnostics import Diagnostics, read_diagnostics
from twin.connectors._slurm.hints import Hints
from twin.connectors._slurm.nodes import read_nodes, read_reservations
from twin.connectors._slurm.rows import Separators
from twin.connectors._slurm.testing import Test
from twin.connectors.base import Connector
from twin.connectors.constraints import Constraints
from twin.connectors.facts import ConnectorError, Found, JobFact, ReservationFact, Snapshot
from twin.connectors.polling import Pace, poll
from twin.moments import moment_utc

log = logging.getLogger(__name__)
MAX_SINGLE = 16  # jobs whose details are asked for one by one; more are read in one call
MAX_IDS = 200  # in one call of sacct


@dataclass(frozen=True, slots=True)
class SlurmParameters(Parameters):
    prefix: str = parameter(
        "", "Command put before each call, to reach the cluster through another host, for example "
        "ssh -o BatchMode=yes login1",
        title="Command prefix",
    )  # fmt: skip
    conf: str = configuration_file()
    interval_ms: int = parameter(
        5000,
        "Time between two polls of the queue",
        low=200,
        high=600_000,
        unit="ms",
        title="Poll interval of the queue",
    )
    nodes_interval_ms: int = parameter(
        15_000, "Time between two polls of the nodes", low=200, high=600_000, unit="ms",
        title="Poll interval of the nodes",
    )  # fmt: skip
    hook_port: int = parameter(
        None, "UDP port for hints of PrologSlurmctld and EpilogSlurmctld, which cause a poll at once; empty: none",
        type=int, low=0, high=65_535, title="Port for hints",
    )  # fmt: skip
    hook_host: str = parameter("127.0.0.1", "Address of this host at which hints are received", title="Host for hints")
    timeout_ms: int = call_timeout_ms()
    max_output_mb: int = parameter(
        64,
        "Size of the output above which a call of a Slurm command fails",
        low=1,
        high=1024,
        unit="MB",
        title="Output limit",
    )
    max_array_tasks: int = parameter(
        10_000, "Maximum number of waiting tasks shown per job array", low=1, high=1_000_000, unit="tasks",
        title="Array limit",
    )  # fmt: skip


class SlurmConnector(Connector):
    name = "slurm"
    title = "Slurm"
    summary = "Reads jobs and nodes of a Slurm cluster (22.05 to 26.05) through its own commands."
    Parameters = SlurmParameters
    times_controller = True
    numbers_jobs = True
    settled_ms = 15_000

    def __init__(self, parameters: Any = None) -> None:
        super().__init__(parameters)
        p = self.parameters
        self._commands = Commands(p.prefix, p.conf, p.timeout_ms, p.max_output_mb * 1_000_000)
        self._queue = queue.Queue(p.max_array_tasks)
        self._attempts, self._clock = Attempts(), Clock()
        self._jobs: dict[str, JobFact] = {}  # of the last poll
        self._uid: int | None = None
        self._rights = rights.Rights(self._commands)
        self._constraining = Constraining(self._commands)
        self._hints: Hints | None = None

    def longest_poll_ms(self) -> int:
        return max(self.parameters.interval_ms, self.parameters.nodes_interval_ms)

    def check(self) -> Found:
        return Test(
            self._commands,
            self._diagnostics,
            lambda: self.snapshot(nodes=True),
            self._clock,
            self._rights,
            self.parameters.interval_ms,
        ).found()

    def snapshot(self, *, nodes: bool = True) -> Snapshot:
        counts = self._diagnostics() if nodes or self._clock.low_ms is None else None
        at_ms = _now_ms() + self._clock.offset_ms
        separators = Separators()
        answer = self._commands.run("squeue", "-h", "-a", "-t", "all", "-O", separators.format(queue.COLUMNS))
        jobs = self._attempts.settled(self._queue.read(answer, separators, at_ms), at_ms)
        calls = ["squeue"]
        own = self._rights.only_own(jobs)
        why = self._why_empty() if not jobs and not own else ""
        self._jobs = {job.key: job for job in jobs}
        seen = reservations = None
        if nodes:
            seen = read_nodes(self._commands.run("scontrol", "show", "node", "-d", "-o"))
            reservations = self._reservations()
            calls += ["scontrol", "sdiag"]
            why = why or ("" if seen else "scontrol shows no nodes")
        spent = {call: self._commands.spent_ms[call] for call in calls}
        left_out = f"{rights.sees_own(own)}: {rights.grants(own)}" if own else self._queue.left_out
        return Snapshot(
            at_ms, jobs, seen, reservations, complete=not why, own=own, why=why or left_out, calls=spent,
            backfilled_ms=counts.backfilled_ms if counts else None,
        )  # fmt: skip

    def changes(self) -> Iterator[Snapshot]:
        """Snapshots of the polls at every interval and after each hint; the nodes are polled when they are due."""
        p = self.parameters
        hints = self._hints = self._hints or Hints(p.hook_port, p.hook_host)
        nodes_due_ms = _monotonic_ms() + p.nodes_interval_ms

        def take() -> Snapshot:
            nonlocal nodes_due_ms
            nodes = _monotonic_ms() >= nodes_due_ms
            if nodes:
                nodes_due_ms = _monotonic_ms() + p.nodes_interval_ms
            return self.snapshot(nodes=nodes)

        def silence() -> Snapshot:
            return Snapshot(_now_ms() + self._clock.offset_ms, partial=True)

        def unsettled(snapshot: Snapshot) -> bool:
            return any(job.reason == "COMPLETING" for job in snapshot.jobs)

        return poll(Pace(take, _monotonic_ms, hints.wait, silence, unsettled), p.interval_ms)

    def details(self, keys: Sequence[str]) -> list[JobFact]:
        asked = {
            key: job
            for key in keys
            if (job := self._jobs.get(key)) is not None and job.state in (facts.RUNNING, facts.SUSPENDED)
        }
        records: dict[str, str] = {}
        if len(asked) > MAX_SINGLE:
            records = held.split_records(self._commands.run("scontrol", "show", "job", "-d", "-o"))
        found = []
        for key, job in asked.items():
            known = job.attempts[-1].shares
            shares = held.read_shares(records[key], known) if key in records else None
            if shares is None and (record := self._one(key)):
                shares = held.read_shares(record, known)
            if shares is not None:
                self._jobs[key] = self._attempts.detailed(job, shares)
                found.append(self._jobs[key])
        return found

    def history(self, since_ms: int, until_ms: int) -> Iterator[JobFact]:
        """Jobs that ended in the interval; one that the queue shows as not ended is left out, as it was requeued."""
        if not self._jobs:
            self.snapshot(nodes=False)
        window = ("-S", accounting.time(since_ms), "-E", accounting.time(until_ms + 999))
        ended = self._records("-s", accounting.ENDED, *window)
        for job in self._all_attempts(record.key for record in ended):
            if job.ended_ms is not None and since_ms <= job.ended_ms < until_ms and not self._goes_on(job):
                yield job

    def accounted(self, keys: Sequence[str]) -> Iterator[JobFact]:
        wanted = set(keys)
        return (job for job in self._all_attempts(keys) if job.key in wanted)

    def estimate(self) -> Mapping[str, int]:
        """Expected starts from squeue at the last poll."""
        if not self._jobs:
            self.snapshot(nodes=False)
        return self._queue.starts

    def constraints(self) -> Constraints:
        """Licences, partitions and what the open jobs of the last poll ask for."""
        return self._constraining.constraints(key for key, job in self._jobs.items() if job.state != facts.ENDED)

    def cost(self) -> Mapping[str, float]:
        """Calls of this account and slurmctld's time for them since the controller last began to count."""
        if self._uid is None:
            self._uid = int(self._commands.run("id", "-u"))
        counts = self._diagnostics()
        calls, ms = counts.spent.get(self._uid, (0, 0.0))
        return {"calls": calls, "ms": ms, "since_ms": counts.since_ms}

    def unsafe(self) -> str:
        return prefix.why_unsafe(self.parameters.prefix)

    def close(self) -> None:
        if self._hints is not None:
            self._hints.close()
            self._hints = None

    def _diagnostics(self) -> Diagnostics:
        asked_ms = _now_ms()
        counts = read_diagnostics(self._commands.run("sdiag"))
        self._clock.heard(counts.at_ms, asked_ms, _now_ms())
        return counts

    def _why_empty(self) -> str:
        """Reason why an empty queue may not be true; "" when the controller itself counts no jobs."""
        counts = self._diagnostics()
        if not counts.pending + counts.running:
            return ""
        return (
            f"squeue shows no job, yet slurmctld counted {counts.pending:,} waiting and {counts.running:,} running "
            f"ones at {moment_utc(counts.counted_ms)}: "
            "they have ended since then (slurmctld counts every 30 s), or PrivateData hides them from this account"
        )

    def _reservations(self) -> tuple[ReservationFact, ...] | None:
        """All reservations; None where they cannot be read, as a cluster can be followed without them."""
        try:
            return read_reservations(self._commands.run("scontrol", "show", "reservation", "-o"))
        except ConnectorError as error:
            log.info("reservations are unknown: %s", error)
            return None

    def _one(self, key: str) -> str:
        """The record of one job; "" when it has ended and is forgotten."""
        try:
            return self._commands.run("scontrol", "show", "job", key, "-d", "-o")
        except ConnectorError as error:
            if "Invalid job id" in str(error):
                return ""
            raise

    def _records(self, *which: str) -> list[accounting.Record]:
        separators = Separators()
        answer = self._commands.run(
            "sacct",
            "-D",
            "-X",
            "-a",
            "-n",
            "-p",
            f"--delimiter={separators.column}",
            "-o",
            ",".join(accounting.COLUMNS),
            *which,
        )
        return accounting.read_records(answer, separators, self.parameters.max_array_tasks)

    def _all_attempts(self, keys: Iterable[str]) -> Iterator[JobFact]:
        """Jobs with the numbers of these keys, with the attempts of any time."""
        ids = sorted({key.split("_")[0].split("+")[0] for key in keys}, key=int)
        for start in range(0, len(ids), MAX_IDS):
            yield from accounting.jobs_of(
                self._records("-S", accounting.time(0), "-j", ",".join(ids[start : start + MAX_IDS]))
            )

    def _goes_on(self, job: JobFact) -> bool:
        shown = self._jobs.get(job.key)
        return (
            shown is not None
            and shown.state != facts.ENDED
            and shown.submitted_ms <= (job.ended_ms or 0) + accounting.MAX_REQUEUE_MS
        )


def _now_ms() -> int:
    return time.time_ns() // 1_000_000


def _monotonic_ms() -> int:
    return time.monotonic_ns() // 1_000_000
