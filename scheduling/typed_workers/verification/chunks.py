"""Checks of jobs that run in chunks, each on one worker, with one parameter server while any of them runs."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from itertools import pairwise

from scheduling.model.bars import CHUNK, END, ROLE, SERVER, START, WORKER_SLOT
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
        if bar[ROLE] == WORKER:
            by_chunk[bar[CHUNK]].append(bar)
        elif bar[ROLE] == TRANSFER:
            check.problem("migration", job, f"moves data at {bar[START]} ms")
    servers = [bar for bar in bars if bar[ROLE] == PS]
    local = all(bar[SERVER] == CLOUD for bar in bars)
    remote_ms, local_ms = chunk_work(row, check.speed)
    need = local_ms if local else remote_ms
    done = 0
    last_ms = 0
    for chunk, own in by_chunk.items():
        if not 0 <= chunk < row["num_chunks"]:
            check.problem("number of chunks", job, f"has no chunk {chunk}: there are {row['num_chunks']}")
        if len({(bar[SERVER], bar[WORKER_SLOT]) for bar in own}) > 1:
            check.problem("migration", job, f"chunk {chunk} moves from one worker to another")
        spans = sorted((bar[START], bar[END]) for bar in own)
        if any(start < end for (_, end), (start, _) in pairwise(spans)):
            check.problem("one run per chunk", job, f"chunk {chunk} runs twice at once")
        (begun_ms, _), (_, ended_ms) = spans[0], spans[-1]
        if begun_ms < check.arrival_ms(job, own[0][SERVER]):
            check.problem(
                "upload",
                job,
                f"chunk {chunk} starts at {begun_ms} ms, before its upload can end at "
                f"{check.arrival_ms(job, own[0][SERVER])} ms",
            )
        worked = sum(end - start for start, end in spans)
        if worked > need + TOLERANCE_MS:
            check.problem("excess work", job, f"chunk {chunk} works {worked} ms and needs {need} ms")
        done += worked >= need - TOLERANCE_MS
        last_ms = max(last_ms, ended_ms)
    completed = check.outcome.completed.get(job)
    whole = done >= row["num_chunks"]
    if completed is not None and not whole:
        check.problem(
            "work of the chunks", job, f"completes with {done} of {row['num_chunks']} chunks done, each of {need} ms"
        )
    elif completed is not None and completed[0] != last_ms:
        check.problem("completion", job, f"completes at {completed[0]} ms, and its last worker stops at {last_ms} ms")
    elif completed is None and whole:
        check.problem("completion", job, f"is done at {last_ms} ms and never completes")
    _check_parameter_server(
        check,
        job,
        [(bar[START], bar[END]) for own in by_chunk.values() for bar in own],
        [(bar[START], bar[END]) for bar in servers],
    )


def _check_parameter_server(check: Checks, job: int, runs: Spans, served: Spans) -> None:
    """Check that the job has one parameter server exactly while it runs."""
    held = sorted(served)
    for (_, end), (start, _) in pairwise(held):
        if start < end:
            check.problem("parameter server", job, f"holds two parameter servers at {start} ms")
    runs, held = united(runs), united(held)
    for start, end in outside(runs, held):
        check.problem("parameter server", job, f"runs from {start} to {end} ms without a parameter server")
    for start, end in outside(held, runs):
        check.problem(
            "idle parameter server", job, f"holds a parameter server from {start} to {end} ms, while it does not run"
        )
