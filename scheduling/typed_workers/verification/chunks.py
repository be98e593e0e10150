"""Checks of jobs that run in chunks, each on one worker, with one parameter server while any of them runs."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from itertools import pairwise

from scheduling.typed_workers.verification.checks import TOLERANCE_MS, Checks
from scheduling.typed_workers.verification.intervals import Spans, outside, united
from scheduling.typed_workers.verification.work import chunk_work
from scheduling.verification.replay import CLOUD
from scheduling.verification.rules import PS, TRANSFER, WORKER


def check_chunks(check: Checks, job: int, bars: Sequence[Sequence[int]]) -> None:
    """Check of a job that runs in chunks: uploads, work, completion and parameter server."""
    row = check.jobs[job]
    by_chunk: dict[int, list[Sequence[int]]] = defaultdict(list)
    for bar in bars:
        if bar[1] == WORKER:
            by_chunk[bar[7]].append(bar)
        elif bar[1] == TRANSFER:
            check.problem("mig", job, f"moves data at {bar[3]} ms")
    servers = [bar for bar in bars if bar[1] == PS]
    local = all(bar[2] == CLOUD for bar in bars)
    remote_ms, local_ms = chunk_work(row, check.speed)
    need = local_ms if local else remote_ms
    done = 0
    last_ms = 0
    for chunk, own in by_chunk.items():
        if not 0 <= chunk < row["num_chunks"]:
            check.problem("2c", job, f"has no chunk {chunk}: there are {row['num_chunks']}")
        if len({(bar[2], bar[6]) for bar in own}) > 1:
            check.problem("mig", job, f"chunk {chunk} moves from one worker to another")
        spans = sorted((bar[3], bar[4]) for bar in own)
        if any(start < end for (_, end), (start, _) in pairwise(spans)):
            check.problem("4e", job, f"chunk {chunk} runs twice at once")
        if spans[0][0] < check.arrival_ms(job, own[0][2]):
            check.problem(
                "2i",
                job,
                f"chunk {chunk} starts at {spans[0][0]} ms, before its upload can end at "
                f"{check.arrival_ms(job, own[0][2])} ms",
            )
        worked = sum(end - start for start, end in spans)
        if worked > need + TOLERANCE_MS:
            check.problem("over", job, f"chunk {chunk} works {worked} ms and needs {need} ms")
        done += worked >= need - TOLERANCE_MS
        last_ms = max(last_ms, spans[-1][1])
    completed = check.outcome.completed.get(job)
    whole = done >= row["num_chunks"]
    if completed is not None and not whole:
        check.problem("4a", job, f"completes with {done} of {row['num_chunks']} chunks done, each of {need} ms")
    elif completed is not None and completed[0] != last_ms:
        check.problem("2j", job, f"completes at {completed[0]} ms, and its last worker stops at {last_ms} ms")
    elif completed is None and whole:
        check.problem("2j", job, f"is done at {last_ms} ms and never completes")
    _check_parameter_server(
        check,
        job,
        [(bar[3], bar[4]) for own in by_chunk.values() for bar in own],
        [(bar[3], bar[4]) for bar in servers],
    )


def _check_parameter_server(check: Checks, job: int, runs: Spans, served: Spans) -> None:
    """Check that the job has one parameter server exactly while it runs."""
    held = sorted(served)
    for (_, end), (start, _) in pairwise(held):
        if start < end:
            check.problem("2e", job, f"holds two parameter servers at {start} ms")
    runs, held = united(runs), united(held)
    for start, end in outside(runs, held):
        check.problem("2e", job, f"runs from {start} to {end} ms without a parameter server")
    for start, end in outside(held, runs):
        check.problem("ps_idle", job, f"holds a parameter server from {start} to {end} ms, while it does not run")
