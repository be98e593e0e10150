"""Jobs in the Standard Workload Format: the fields of SWF in a row, and the whole job in a comment before it.

The comment is `; TwinJob: <line of jobs.jsonl>`. Read back, the jobs are the same as long as no row was changed;
otherwise the rows count.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import IO

from scheduling.model.training_models import oasis_minibatch_ms, pd_ors_sample_ms
from scheduling.model.values import BANDWIDTH, MEMORY, Job, ModelError
from twin.files.jobs_jsonl import job_lines, parse_line

MARK = b"; TwinJob: "
HEADER = """; Version: 2.2
; Computer: Edge-cloud twin
; Conversion: jobs of the twin; submit and run times are rounded to seconds
; MaxJobs: {jobs}
; MaxRecords: {jobs}
; UnixStartTime: 0
; Note: a TwinJob comment contains all fields of the job of the next row; it is used as long as no row is changed
"""


def swf_lines(jobs: Iterable[Job], count: int) -> Iterator[bytes]:
    """The content of jobs.swf; `count` is the number of jobs."""
    yield HEADER.format(jobs=count).encode()
    for number, job in enumerate(jobs, start=1):
        yield MARK + next(job_lines([job])) + row_of(number, job)


def row_of(number: int, job: Job) -> bytes:
    """The row of 18 numbers: id, submit s, wait, run s, procs, cpu, KB per proc, requested procs, time, memory, ..."""
    run_ms, procs = run_time_ms(job), job.requested_workers or -1
    run_s = -1 if run_ms is None else max(1, round(run_ms / 1000))
    memory = job.worker[MEMORY] * 1000 if job.worker and job.worker[MEMORY] else -1
    row = (
        number,
        round(job.arrival_ms / 1000),
        -1,
        run_s,
        procs,
        -1,
        memory,
        procs,
        -1,
        memory,
        1,
        -1,
        -1,
        -1,
        -1,
        -1,
        -1,
        -1,
    )
    return (" ".join(map(str, row)) + "\n").encode()


def run_time_ms(job: Job) -> float | None:
    """Duration for which the job runs with all its requested workers, by its model; None without one."""
    if job.epochs is None:
        return None
    workers = job.requested_workers or 1
    if job.num_chunks and job.minibatches_per_chunk and job.minibatch_ms and job.worker and job.worker[BANDWIDTH]:
        return job.epochs * job.num_chunks * job.minibatches_per_chunk * oasis_minibatch_ms(job) / workers
    if job.num_samples and job.sample_ms and job.external_gbps and job.workers_per_ps and job.global_batch:
        return job.epochs * job.num_samples * pd_ors_sample_ms(job, internal=False) / workers
    return None


def restored(stream: IO[bytes]) -> list[Job] | None:
    """The jobs of a file that `swf_lines` wrote, by arrival; None when it is another file or a row was changed."""
    jobs: list[Job] = []
    marked: Job | None = None
    stream.seek(0)
    for line in stream:
        if line.startswith(MARK):
            try:
                marked = parse_line(line[len(MARK) :], "jobs.swf", 1)
            except ModelError:
                return None
        elif line.strip() and not line.startswith(b";"):
            if marked is None or line.strip() != row_of(len(jobs) + 1, marked).strip():
                return None
            jobs.append(marked)
            marked = None
    ids = {job.id for job in jobs}
    return sorted(jobs, key=lambda job: job.arrival_ms) if jobs and len(ids) == len(jobs) else None
