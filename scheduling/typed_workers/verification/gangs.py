"""Checks of gangs: workers that start and stop together, and load the data of the job where it is missing."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from scheduling.model.bars import COUNT, END, ROLE, SERVER, START
from scheduling.model.limits import MAX_INT
from scheduling.typed_workers.verification.checks import TOLERANCE_MS, Checks
from scheduling.typed_workers.verification.intervals import Spans
from scheduling.typed_workers.verification.work import chunk_work
from scheduling.verification.replay import CLOUD
from scheduling.verification.rules import TRANSFER, WORKER, Row


def check_gang(check: Checks, job: int, bars: Sequence[Sequence[int]]) -> None:
    """Check of a job that runs as a gang: its size, work, completion and data."""
    row = check.jobs[job]
    remote_ms, local_ms = chunk_work(row, check.speed)
    cloud = {bar[SERVER] == CLOUD for bar in bars}
    if len(cloud) > 1:
        check.problem("gang", job, "is in the cloud and at the edge")
        return
    in_cloud = cloud == {True}
    workers = sorted((bar for bar in bars if bar[ROLE] == WORKER), key=lambda bar: bar[START])
    need = row["num_chunks"] * (local_ms if in_cloud else remote_ms)
    size = _gang_size(check, job, bars, in_cloud)
    worked = sum((bar[END] - bar[START]) * bar[COUNT] for bar in workers)
    slack = TOLERANCE_MS * row["num_chunks"]
    completed = check.outcome.completed.get(job)
    last_ms = max((bar[END] for bar in workers), default=0)
    if worked > need + size + slack:
        check.problem("excess work", job, f"works {worked} ms and needs {need} ms")
    if (worked >= need - slack) != (completed is not None):
        check.problem(
            "work of the gang",
            job,
            f"{'completes' if completed else 'never completes'} with {worked} of {need} worker-ms done",
        )
    elif completed is not None and completed[0] != last_ms:
        check.problem("completion", job, f"completes at {completed[0]} ms, and its last worker stops at {last_ms} ms")
    _check_loads(check, job, bars)


def _gang_size(check: Checks, job: int, bars: Sequence[Sequence[int]], in_cloud: bool) -> int:
    """Size of the gang, which never changes: all of it works, or all of it loads."""
    changes: dict[int, list[int]] = defaultdict(lambda: [0, 0])
    for _, role, _, start_ms, end_ms, count, *_ in bars:
        place = int(role == TRANSFER)
        changes[start_ms][place] += count
        changes[end_ms][place] -= count
    sizes: set[int] = set()
    present = [0, 0]
    for at_ms in sorted(changes):
        present = [n + by for n, by in zip(present, changes[at_ms], strict=True)]
        if present[0] and present[1]:
            check.problem("gang", job, f"has {present[0]} working and {present[1]} loading workers at {at_ms} ms")
        if any(present):
            sizes.add(sum(present))
    row = check.jobs[job]
    expected = None
    if check.fixed:
        available = sum(
            check.untyped or kind == row.get("worker_type")
            for types, server in zip(check.types[WORKER], check.cluster["servers"], strict=True)
            for kind in types
            if not _left_for_good(server, row["arrival_ms"])
        )
        expected = max(1, min(row.get("requested_workers") or 1, row["num_chunks"], available))
    if len(sizes) > 1 or (expected is not None and sizes - {expected}):
        check.problem(
            "gang", job, f"has gangs of {sorted(sizes)} workers" + (f", not of {expected}" if expected else "")
        )
    if max(sizes, default=0) > row["num_chunks"]:
        check.problem("number of chunks", job, f"has {max(sizes)} workers and {row['num_chunks']} chunks")
    return max(sizes, default=0)


def _left_for_good(server: Row, at_ms: int) -> bool:
    """True if the server is unavailable and does not return."""
    return any(begin <= at_ms and back >= MAX_INT for begin, back in server["away"])


def _check_loads(check: Checks, job: int, bars: Sequence[Sequence[int]]) -> None:
    """Check that a worker starts on a server without the data only after the whole load."""
    if check.may_use_cloud:  # it loads before it starts and stays: the rule of uploads
        for bar in bars:
            if bar[ROLE] == WORKER and bar[START] < check.arrival_ms(job, bar[SERVER]):
                check.problem(
                    "upload",
                    job,
                    f"starts at {bar[START]} ms on server {check.name_of(bar[SERVER])}, before its data have arrived",
                )
        return
    loads: dict[int, Spans] = defaultdict(list)
    first: dict[int, int] = {}
    for _, role, server, start_ms, end_ms, *_ in bars:
        if role == TRANSFER:
            loads[server].append((start_ms, end_ms))
        elif server not in first or start_ms < first[server]:
            first[server] = start_ms
    for server, start_ms in first.items():
        delay = check.arrival_ms(job, server) - check.jobs[job]["arrival_ms"]
        if delay and not any(end <= start_ms and end - begin >= delay for begin, end in loads[server]):
            check.problem(
                "upload",
                job,
                f"starts at {start_ms} ms on server {check.name_of(server)} without loading its data for {delay} ms",
            )
