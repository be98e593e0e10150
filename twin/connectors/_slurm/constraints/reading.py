"""The constraints of a Slurm cluster, read seldom: what a job asks for once, everything else each minute."""

from __future__ import annotations

import logging
import time
from collections.abc import Iterable
from dataclasses import replace

from twin.connectors._slurm.commands import Commands
from twin.connectors._slurm.constraints import answers
from twin.connectors._slurm.rows import Separators
from twin.connectors.constraints import NO_CONSTRAINTS, Asked, Constraints
from twin.connectors.facts import ConnectorError

log = logging.getLogger(__name__)
EVERY_S = 60.0
MAX_IDS = 200  # in one call of squeue; of more new jobs, all are read


class Constraining:
    """Reader of the constraints. What cannot be read stays as it was: a cluster can be followed without it."""

    def __init__(self, commands: Commands) -> None:
        self.commands = commands
        self.known = NO_CONSTRAINTS
        self.seen: set[str] = set()  # numbers of the jobs that have been read
        self.due = float("-inf")

    def constraints(self, keys: Iterable[str]) -> Constraints:
        """The constraints of the cluster and of the open jobs with these keys."""
        ids = {key.split("_")[0].split("+")[0] for key in keys}
        try:
            if time.monotonic() >= self.due:
                self.due = time.monotonic() + EVERY_S
                self.known = self._read()
                self.seen = ids
            elif new := ids - self.seen:
                asked = self._asked(sorted(new, key=int) if len(new) <= MAX_IDS else ())
                kept = {key: one for key, one in self.known.jobs.items() if key.split("+")[0].split("_")[0] in ids}
                self.known = replace(self.known, jobs=kept | asked)
                self.seen = ids
        except ConnectorError as error:
            log.info("constraints are as they were read before: %s", error)
        return self.known

    def _read(self) -> Constraints:
        show = ("scontrol", "show")
        passes = answers.read_passes(self.commands.run(*show, "config"))
        return Constraints(
            answers.read_licences(self.commands.run(*show, "licenses", "-o")),
            answers.read_queues(self.commands.run(*show, "partition", "-o")),
            self._asked(()),
            passes.get("backfill_ms"),
            passes,
        )

    def _asked(self, ids: Iterable[str]) -> dict[str, Asked]:
        """Requests of the open jobs with these numbers, or of all."""
        separators, only = Separators(), ",".join(ids)
        which = ("-j", only) if only else ()
        answer = self.commands.run(
            "squeue", "-h", "-a", "-t", "PD,R,S", *which, "-O", separators.format(answers.COLUMNS)
        )
        return answers.read_asked(answer, separators)
