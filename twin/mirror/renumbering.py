"""A cluster that has lost its state numbers its jobs from 1 again: those jobs belong to another run."""

from __future__ import annotations

import re

from twin.connectors.facts import JobFact, Snapshot
from twin.mirror.differ import RESOLUTION_MS, Mirror

NUMBER = re.compile(r"\d+")


class Numbers:
    """The highest job number of a mirror, for clusters whose numbers grow with the time of submission."""

    def __init__(self, mirror: Mirror) -> None:
        self.mirror = mirror
        self.read = 0  # jobs of the mirror that are taken into account
        self.highest, self.submitted_ms = -1, 0

    def begun_again(self, snapshot: Snapshot) -> tuple[JobFact, ...]:
        """Jobs of the snapshot that are numbered from the beginning again; none while numbers grow.

        One that was submitted after the job with the highest number has a higher one, unless the cluster forgot it. A
        job that is queued again keeps its number and may get a new submit time; once numbers have begun again, it is
        a new one too, unless the log has its submit time.
        """
        for known in self.mirror.jobs[self.read :]:
            if (number := _number(known.fact.key)) > self.highest:
                self.highest, self.submitted_ms = number, known.fact.submitted_ms
        self.read = len(self.mirror.jobs)
        since_ms = min((
            fact.submitted_ms for fact in snapshot.jobs
            if fact.submitted_ms > self.submitted_ms + RESOLUTION_MS and not fact.restarts
            and 0 <= _number(fact.key) <= self.highest and not self.mirror.knows(fact)
        ), default=None)  # fmt: skip
        if since_ms is None:
            return ()
        return tuple(f for f in snapshot.jobs if f.submitted_ms >= since_ms and not self.mirror.has_time_of(f))


def _number(key: str) -> int:
    match = NUMBER.match(key)
    return int(match[0]) if match else -1
