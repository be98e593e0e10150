"""The twin's own jobs.swf: the jobs of its comments, as long as no row was changed; otherwise plain SWF."""

from __future__ import annotations

from collections.abc import Sequence

from twin.formats.swf import MARK, restored
from twin.importers import swf
from twin.importers.drafts import Ask, Read, Skipped, Source
from twin.jobtable import JobTable

FORMAT = "jobs_swf"
TITLE = "native jobs.swf"


def sniff(head: bytes) -> tuple[bool, str, float]:
    """(fits, why, closeness): jobs in comments."""
    fits = MARK in head
    return fits, "jobs stand in its comments" if fits else "no comment holds a job", 1.0 if fits else 0.0


def read(sources: Sequence[Source], ask: Ask) -> Read:
    """The jobs as they were exported, or what the rows say."""
    jobs = restored(sources[0].stream) if len(sources) == 1 else None
    if jobs is not None:
        return Read(len(jobs), Skipped(), jobs=JobTable.of(jobs))
    sources[0].stream.seek(0)
    found = swf.read(sources, ask)
    found.notes.append("Rows were changed since the export, so they count and not the jobs in the comments.")
    return found
