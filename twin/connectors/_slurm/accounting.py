"""Ended jobs with all their attempts, from `sacct -D`: one row an attempt, of which requeued jobs have several."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from twin.connectors import facts
from twin.connectors._slurm import amounts, states
from twin.connectors._slurm.hostlist import hosts
from twin.connectors._slurm.queue import KEY, array_tasks, even_shares
from twin.connectors._slurm.rows import Separators
from twin.connectors.facts import Attempt, ConnectorError, JobFact

COLUMNS = (
    "JobID", "State", "Submit", "Start", "End", "TimelimitRaw", "NNodes", "NodeList", "ReqTRES", "AllocTRES",
    "Partition", "User", "Account", "Priority", "Reason", "Reservation",
)  # fmt: skip


# by these, sacct selects by the time of the end; else it leaves out what was held till its end
ENDED = "BF,CA,CD,DL,F,NF,OOM,PR,RQ,TO"
RAN = {"COMPLETED", "FAILED", "TIMEOUT", "OUT_OF_MEMORY", *states.AGAIN}  # states of jobs that had nodes
MIN_TIME_S = 1_000_000_000  # the least Unix time that sacct takes
MAX_REQUEUE_MS = 3_600_000  # between the end of an attempt and the submit time of the next one


@dataclass(frozen=True, slots=True)
class Record:
    """One row of sacct: an attempt, or a job that ended without one."""

    key: str
    shown: str
    submitted_ms: int
    started_ms: int | None
    ended_ms: int | None
    row: dict[str, str]

    @property
    def lacks_nodes(self) -> bool:
        """True if the job ran, and the record does not say where."""
        refused = self.shown == "FAILED" and self.started_ms == self.ended_ms
        return self.shown in RAN and not refused and not amounts.known(self.row["NodeList"])


def time(ms: int) -> str:
    """A time as sacct takes it in every time zone."""
    return f"uts{max(ms // 1000, MIN_TIME_S)}"


def read_records(text: str, separators: Separators, max_tasks: int) -> list[Record]:
    """Records of an answer of `sacct --parsable`, each column with its separator, each row with a line break.

    A record without a partition is left out: slurmdbd has made it from the end of a job whose start slurmctld, which
    reports starts every 5 s, has not reported yet. It does not say of which array the job is a task. If slurmctld is
    killed meanwhile, the start is never reported, and the record lacks it and the nodes: it is left out, too. The
    record of the task that has the array's own number then names all tasks.
    """
    records: list[Record] = []
    cells = text.split(separators.column)
    width = len(COLUMNS)
    if len(cells) % width != 1 or cells[-1].strip():
        raise ConnectorError(
            f"sacct: the answer ends in the middle of a row, or is not a table: {text.strip()[:100]!r}"
        )
    for start in range(0, len(cells) - 1, width):
        row = {column: cell.strip() for column, cell in zip(COLUMNS, cells[start : start + width], strict=True)}
        if not row["Partition"]:
            continue
        shown = row["State"].split(" ")[0].rstrip("+")  # CANCELLED by 1000
        times = [amounts.seconds_ms(row[name]) for name in ("Submit", "Start", "End")]
        for key in _keys(row["JobID"], max_tasks):
            record = Record(key, shown, times[0] or 0, times[1], times[2], row)
            if not record.lacks_nodes:
                records.append(record)
    return records


def jobs_of(records: list[Record]) -> Iterator[JobFact]:
    """Jobs from all records of their keys."""
    by_key: dict[str, list[Record]] = {}
    for record in records:
        by_key.setdefault(record.key, []).append(record)
    for rows in by_key.values():
        rows.sort(key=lambda record: (record.submitted_ms, record.started_ms or record.ended_ms or record.submitted_ms))
        job = rows[:1]
        for record in rows[1:]:
            if not _goes_on(job[-1], record):
                yield _fact(job)
                job = []
            job.append(record)
        yield _fact(job)


def _goes_on(record: Record, following: Record) -> bool:
    """True if the following record is the next attempt of the job, and not another job with its number."""
    if record.shown not in states.AGAIN or record.ended_ms is None:
        return False
    return following.submitted_ms == record.submitted_ms or following.submitted_ms - record.ended_ms <= MAX_REQUEUE_MS


def _fact(job: list[Record]) -> JobFact:
    last = job[-1]
    submits = sorted({record.submitted_ms for record in job})
    row, reason = last.row, amounts.known(last.row["Reason"])
    state, outcome = states.job_state(last.shown, reason)
    asked, held = amounts.tres(row["ReqTRES"]), amounts.tres(row["AllocTRES"])
    amount = asked | held
    minutes = row["TimelimitRaw"]
    return JobFact(
        key=last.key, submitted_ms=submits[0], state=state, reason=states.job_reason(last.shown, reason),
        outcome=outcome, restarts=len(job) - 1, resubmitted_ms=tuple(submits[1:]),
        attempts=tuple(attempt for record in job for attempt in _attempts(record)), complete_history=True,
        nodes=amounts.count(row["NNodes"]) or 1, gpus=amounts.count(amount.get("gres/gpu", "")),
        cpus=amounts.count(amount.get("cpu", "")), memory_mb=amounts.megabytes(amount["mem"]) if "mem" in amount else 0,
        limit_ms=int(minutes) * 60_000 if minutes.isdecimal() else None, queue=row["Partition"], user=row["User"],
        account=row["Account"], gang=f"{last.key.split('+')[0]}+0" if "+" in last.key else None,
        priority=amounts.count(row["Priority"]), reservation=row["Reservation"],
        ended_ms=last.ended_ms if state == facts.ENDED else None,
    )  # fmt: skip


def _attempts(record: Record) -> Iterator[Attempt]:
    names = hosts(amounts.known(record.row["NodeList"]))
    if names and record.started_ms is not None:
        held = amounts.tres(record.row["AllocTRES"])
        memory = amounts.megabytes(held["mem"]) if "mem" in held else 0
        shares = even_shares(names, amounts.count(held.get("gres/gpu", "")), amounts.count(held.get("cpu", "")), memory)
        outcome = states.AGAIN.get(record.shown) or states.OUTCOMES.get(record.shown, "")
        yield Attempt(record.started_ms, record.ended_ms, shares, outcome if record.ended_ms is not None else "")


def _keys(name: str, max_tasks: int) -> list[str]:
    if KEY.fullmatch(name):
        return [name]
    base, tasks = array_tasks(name)
    return [f"{base}_{task}" for task in tasks[:max_tasks]]
