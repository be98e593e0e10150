"""The queue: one row of `squeue -O` a job; a waiting array is one row for all its tasks."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from twin.connectors import facts
from twin.connectors._slurm import amounts, states
from twin.connectors._slurm.hostlist import hosts, numbers
from twin.connectors._slurm.rows import Separators
from twin.connectors.facts import Attempt, ConnectorError, JobFact, Share

COLUMNS = (
    "JobArrayID", "State", "Reason", "SubmitTime", "StartTime", "EndTime", "TimeLimit", "RestartCnt", "NumNodes",
    "NumCPUs", "NumTasks", "NodeList", "tres-alloc", "tres-per-job", "tres-per-node", "tres-per-task", "Partition",
    "UserName", "Account", "PriorityLong", "Dependency", "Reservation",
)  # fmt: skip
KEY = re.compile(r"\d+(?:_\d+|\+\d+)?", re.ASCII)
ARRAY = re.compile(r"(\d+)_\[([\d,:-]+)(?:%\d+)?\]", re.ASCII)
CLOCK_SLACK_MS = 2000  # Slurm's times are whole seconds


class Read(NamedTuple):
    """A row that has been read; tasks counts those of the array that the bound left out too."""

    facts: tuple[JobFact, ...]
    start_ms: int | None
    tasks: int


@dataclass(slots=True)
class Queue:
    """Reader of the queue, which remembers the rows of the poll before: most do not change.

    max_tasks  bound on the waiting tasks taken from one array
    left_out   what the bound left out at the last poll, in one line
    starts     {key: Unix ms} of waiting jobs for which a start after the last poll is expected
    """

    max_tasks: int
    left_out: str = ""
    starts: dict[str, int] = field(default_factory=dict)
    _kept: dict[str, Read] = field(default_factory=dict)

    def read(self, text: str, separators: Separators, at_ms: int) -> list[JobFact]:
        """Facts of an answer of squeue."""
        kept, self._kept, self.left_out, self.starts = self._kept, {}, "", {}
        found: list[JobFact] = []
        column = separators.column
        for row in separators.rows("squeue", text):
            same = row.replace(column, "\x1f")
            read = kept.get(same)
            if read is None or read.facts[0].reason == "COMPLETING":  # what this means depends on the clock
                read = self._read(separators.cells("squeue", row, COLUMNS), at_ms)
            self._kept[same] = read
            found += read.facts
            if read.start_ms is not None and read.start_ms > at_ms and read.facts[0].state == facts.WAITING:
                self.starts[read.facts[0].key] = read.start_ms  # of an array only that of its next task is expected
            if read.tasks > len(read.facts):
                self.left_out = (
                    f"array {read.facts[0].key.split('_')[0]} has {read.tasks} waiting tasks, of which "
                    f"the first {len(read.facts):,} are shown"
                )
        return found

    def _read(self, row: dict[str, str], at_ms: int) -> Read:
        name = row["JobArrayID"]
        start_ms = amounts.seconds_ms(row["StartTime"]) if row["State"] == "PENDING" else None  # else no expectation
        if KEY.fullmatch(name):
            return Read((job(row, name, at_ms),), start_ms, 1)
        base, tasks = array_tasks(name)
        first = job(row, f"{base}_{tasks[0]}", at_ms)
        shown = tuple(replace(first, key=f"{base}_{task}") for task in tasks[: self.max_tasks])
        return Read(shown, start_ms, len(tasks))


def array_tasks(name: str) -> tuple[str, list[str]]:
    """`54_[5-6%2]` as ("54", ["5", "6"])."""
    match = ARRAY.fullmatch(name)
    if match is None:
        raise ConnectorError(f"job id {name[:100]!r} cannot be read; expected 54, 54_1, 54_[5-6%2] or 55+0")
    return match[1], numbers(match[2], name)


def job(row: dict[str, str], key: str, at_ms: int) -> JobFact:
    """The fact that a row tells; shares are even until the details of the job are known."""
    shown = row["State"]
    reason, _, more = amounts.known(row["Reason"]).partition(", ")  # ReqNodeNotAvail, UnavailableNodes:edge2
    state, outcome = states.job_state(shown, reason)
    start_ms, end_ms = amounts.seconds_ms(row["StartTime"]), amounts.seconds_ms(row["EndTime"])
    if shown == "COMPLETING" and (end_ms is None or end_ms > at_ms + CLOCK_SLACK_MS):
        state, start_ms = facts.WAITING, None  # requeued: the start it shows is the next one
    names = hosts(amounts.known(row["NodeList"]))
    held = amounts.tres(row["tres-alloc"])
    size = len(names) or amounts.count(row["NumNodes"]) or 1
    total = (
        asked_gpus(row, held, size),
        amounts.count(row["NumCPUs"]),
        amounts.megabytes(held["mem"]) if "mem" in held else 0,
    )
    ended = end_ms if state == facts.ENDED else None
    attempts: tuple[Attempt, ...] = ()
    if names and start_ms is not None and state in (facts.RUNNING, facts.SUSPENDED, facts.ENDED):
        attempts = (Attempt(start_ms, ended, even_shares(names, *total), outcome),)
    return JobFact(
        key=key, submitted_ms=amounts.seconds_ms(row["SubmitTime"]) or 0, state=state, outcome=outcome,
        reason=states.job_reason(shown, reason), message=more, restarts=amounts.count(row["RestartCnt"]),
        attempts=attempts, nodes=size, gpus=total[0], cpus=total[1], memory_mb=total[2],
        limit_ms=amounts.limit_ms(row["TimeLimit"]), queue=row["Partition"], user=row["UserName"],
        account=amounts.known(row["Account"]), gang=f"{key.split('+')[0]}+0" if "+" in key else None,
        priority=amounts.count(row["PriorityLong"]), depends_on=amounts.known(row["Dependency"]),
        reservation=amounts.known(row["Reservation"]), ended_ms=ended, frees_cpus=shown == "SUSPENDED",
    )  # fmt: skip


def asked_gpus(row: dict[str, str], held: dict[str, str], nodes: int) -> int:
    """GPUs in total: as slurmctld adds them up where it tracks gres/gpu, else as asked per job, node or task."""
    if "gres/gpu" in held:
        return amounts.count(held["gres/gpu"])
    tasks = amounts.count(row["NumTasks"])
    asked = (("tres-per-job", 1), ("tres-per-node", nodes), ("tres-per-task", tasks))
    return next((found * times for column, times in asked if (found := amounts.gpus(row[column]))), 0)


def even_shares(names: tuple[str, ...], gpus: int, cpus: int, memory_mb: int) -> tuple[Share, ...]:
    """The totals over the nodes; what is left over goes to the first ones."""
    n = len(names)

    def part(total: int, i: int) -> int:
        return total // n + (i < total % n)

    return tuple(Share(name, part(gpus, i), part(cpus, i), part(memory_mb, i)) for i, name in enumerate(names))
