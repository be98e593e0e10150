"""Confirmation of attempts: what polls did not see exactly of jobs that ran again is asked of the cluster's accounting.

The accounting learns of an attempt some seconds late, and it may never learn of it: it is asked when its records are
settled, then less and less often, and at last no more. After a restart of the follower this begins again.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass

from twin.connectors.base import Connector
from twin.connectors.facts import ConnectorError
from twin.mirror.as_values import EventData
from twin.mirror.differ import Mirror

log = logging.getLogger(__name__)
MAX_QUESTIONS = 8  # about one state of a job
MAX_WAIT_MS = 600_000  # between two of them
MAX_JOBS = 1_000  # of one round


@dataclass(slots=True)
class Asked:
    """Questions about one state of a job: how many there were, and when the next one is due."""

    state: tuple[str, int]
    due_ms: int
    questions: int = 0


class Confirming:
    """The jobs of a mirror whose attempts are uncertain."""

    def __init__(self, connector: Connector, mirror: Mirror) -> None:
        self.connector, self.mirror = connector, mirror
        self.asked: dict[int, Asked] = {}
        self.round_ms = 0  # when the accounting may be asked again

    @property
    def unasked(self) -> bool:
        """True if the accounting was not asked yet about some job."""
        return any(index not in self.asked or not self.asked[index].questions for index in self.mirror.uncertain)

    def events(self, at_ms: int) -> list[EventData]:
        """Events from the accounting about the jobs that are due at this time of the cluster."""
        due = self._due(at_ms) if at_ms >= self.round_ms else []
        if not due:
            return []
        self.round_ms = at_ms + self.connector.settled_ms // 3
        keys = [self.mirror.jobs[index].fact.key for index in due]
        try:
            events = self.mirror.accounted(self.connector.accounted(keys))
        except ConnectorError as error:
            log.warning("earlier attempts of %d jobs are not exact: %s", len(due), error)
            events = []
        for index in due:
            self._answered(index, at_ms)
        return events

    def _due(self, at_ms: int) -> list[int]:
        before, self.asked = self.asked, {}
        for index in self.mirror.uncertain:
            fact = self.mirror.jobs[index].fact
            asked = before.get(index)
            if asked is None or asked.state != (fact.state, fact.restarts):
                asked = Asked((fact.state, fact.restarts), at_ms + self.connector.settled_ms)
            self.asked[index] = asked
        due = [index for index, asked in self.asked.items() if asked.due_ms <= at_ms]
        return sorted(due, key=lambda index: self.asked[index].due_ms)[:MAX_JOBS]

    def _answered(self, index: int, at_ms: int) -> None:
        asked = self.asked[index]
        asked.questions += 1
        asked.due_ms = at_ms + min(MAX_WAIT_MS, self.connector.settled_ms << asked.questions)
        if asked.questions >= MAX_QUESTIONS:
            self.mirror.uncertain.discard(index)
