"""The twin's own jobs.jsonl: nothing is sampled, every line is a job or the reason for refusing the file."""

from __future__ import annotations

from collections.abc import Sequence

import orjson

from scheduling.model.values import Job
from twin.files.job_table import JobTable
from twin.files.jobs_jsonl import load_jobs
from twin.traces.importing.drafts import ImportRefused, Read, ReadOptions, Skipped, Source

FORMAT = "jobs_jsonl"
TITLE = "Native jobs.jsonl"
ROW_IS_LINE = False  # a file with a faulty line is refused
MAX_JOBS = 250_000  # as objects on their way to columns: 1 kB each
TICK_EVERY = 2_000


def sniff(head: bytes) -> tuple[bool, str, float]:
    """(fits, why, closeness): the first line is an object with id and arrival_ms."""
    first = next((line for line in head.splitlines() if line.strip()), b"")
    try:
        value = orjson.loads(first)
    except orjson.JSONDecodeError:
        starts = first.lstrip().startswith(b"{")
        return starts and b'"arrival_ms"' in first, "the first line is not a JSON object", 0.4 if starts else 0.0
    if not isinstance(value, dict):
        return False, "the first line is not a JSON object", 0.1
    missing = [key for key in ("id", "arrival_ms") if key not in value]
    return (
        not missing,
        f"the first object has no {missing[0]!r}" if missing else "the first line is a job",
        1 - len(missing) / 2,
    )


def read(sources: Sequence[Source], options: ReadOptions) -> Read:
    """Jobs, or ImportRefused with line and column: a native file has no rows to skip."""
    jobs: list[Job] = []
    for source in sources:
        jobs += load_jobs(source.stream, source.name, _Progress(source, options))
    if not jobs:
        raise ImportRefused(f"{sources[0].name}: the file has no jobs")
    if len(sources) > 1:
        jobs = _merged(jobs, sources)
    return Read(len(jobs), Skipped(), jobs=JobTable.of(jobs))


class _Progress:
    """Progress: the number of jobs read so far."""

    def __init__(self, source: Source, options: ReadOptions) -> None:
        self.source, self.options = source, options

    def __call__(self, number: int) -> None:
        if number % TICK_EVERY == 0:
            self.options.tick(self.source.share(self.source.stream.tell()))
        if number > MAX_JOBS:
            raise ImportRefused(
                f"{self.source.name}: more than {MAX_JOBS:,} jobs; import them in parts, or as jobs.csv"
            )


def _merged(jobs: list[Job], sources: Sequence[Source]) -> list[Job]:
    seen: set[str] = set()
    for job in jobs:
        if job.id in seen:
            raise ImportRefused(
                f"{', '.join(s.name for s in sources)}: job id {job.id!r} occurs twice; ids must be distinct"
            )
        seen.add(job.id)
    return sorted(jobs, key=lambda job: job.arrival_ms)
