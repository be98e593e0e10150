"""The twin's own jobs.swf: the jobs of its comments, as long as no row was changed; otherwise plain SWF."""

from __future__ import annotations

from collections.abc import Sequence

from twin.files.job_table import JobTable
from twin.files.swf import MARK, restored
from twin.traces.importers import swf
from twin.traces.importing.drafts import Read, ReadOptions, Skipped, Source

FORMAT = "jobs_swf"
TITLE = "Native jobs.swf"
ROW_IS_LINE = False  # the jobs are in comments


def sniff(head: bytes) -> tuple[bool, str, float]:
    """(fits, why, closeness): jobs in comments."""
    fits = MARK in head
    return fits, "its comments contain jobs" if fits else "no comment contains a job", 1.0 if fits else 0.0


def read(sources: Sequence[Source], options: ReadOptions) -> Read:
    """The jobs as they were exported, or what the rows say."""
    jobs = restored(sources[0].stream) if len(sources) == 1 else None
    if jobs is not None:
        return Read(len(jobs), Skipped(), jobs=JobTable.of(jobs))
    sources[0].stream.seek(0)
    found = swf.read(sources, options)
    found.notes.append("Rows were changed after the export; the rows are used instead of the jobs in the comments.")
    return found
