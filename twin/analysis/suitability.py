"""Suitability of a trace for a scheduler on a cluster: jobs that it would reject because they lack a field, or because
one of their units fits on no server; and jobs whose upload times are for a different number of servers, for which the
run is refused.

Computed from the columns of the job table, so that a form can ask for it before each start.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import NamedTuple

import numpy as np

from scheduling.kernel.parameters import UnknownName
from scheduling.kernel.registry import build, schedulers
from scheduling.kernel.scheduler import BaseScheduler
from scheduling.model.admission import Room
from scheduling.model.decision import Reason
from scheduling.model.training_models import needs_of
from scheduling.model.values import GPU, RESOURCES, Cluster, ModelError
from scheduling.reporting.quantities import counted
from scheduling.reporting.reasons import readable
from twin.files.job_fields import all_present, present, uploads_off
from twin.files.job_table import JobTable

ROLES = ("worker", "ps")
CELLS = 4_000_000  # comparisons of demands and capacities at a time


class Unfit(NamedTuple):
    """Jobs of which a unit fits on no server, and the reason of the most common demand among them."""

    jobs: int
    reason: Reason | None


class Demands:
    """Distinct demands of the jobs of a table by role, with the number of jobs of each.

    Answers are kept: most schedulers ask the same of a cluster.
    """

    def __init__(self, table: JobTable) -> None:
        self.jobs = len(table)
        self.roles = {role: _distinct(table, role) for role in ROLES}
        self.kept: dict[Hashable, tuple[np.ndarray, Reason | None]] = {}

    def unfit(self, scheduler: BaseScheduler, cluster: Cluster) -> Unfit:
        """Jobs that fit on no server, for a scheduler that allocates resources; 0 for others."""
        refused, reason = self.refused(scheduler, cluster)
        return Unfit(int(refused.sum()), reason)

    def refused(self, scheduler: BaseScheduler, cluster: Cluster) -> tuple[np.ndarray, Reason | None]:
        """[job] whether it fits on no server, and the reason of the most common demand among these jobs."""
        limits = scheduler.model.packs(scheduler, cluster)
        servers = scheduler.seen(cluster).servers
        key = (*limits, None, *((server.capacity, server.roles) for server in servers))
        if key not in self.kept:
            self.kept[key] = self._refused(Room(scheduler.seen(cluster), limits=limits) if limits else None)
        return self.kept[key]

    def _refused(self, room: Room | None) -> tuple[np.ndarray, Reason | None]:
        """The same in this room; nothing is refused without one."""
        refused = np.zeros(self.jobs, dtype=bool)
        if room is None:
            return refused, None
        reason, most = None, 0
        for role, (demands, place, counts) in self.roles.items():
            if not len(demands):
                continue
            fits = _fits(demands[:, room.limited], np.array(room.capacities[role], dtype=np.int64), room.limited)
            if fits.all():
                continue
            refused |= np.append(~fits, False)[place]  # the place -1 of a job without demand is the last one
            commonest = int(np.argmax(np.where(fits, 0, counts)))
            if counts[commonest] > most:
                most, demand = int(counts[commonest]), demands[commonest].tolist()
                reason = room.refuses(role, tuple(demand))
        return refused, reason


class Judgement(NamedTuple):
    """Jobs of a trace that a scheduler cannot run, by cause."""

    jobs: int
    runnable: int  # jobs that have the fields and fit; 0 if the run would be refused
    lacking: dict[str, int]  # field -> jobs without it
    without: int  # jobs that lack any needed field
    unfit: Unfit
    off: int  # jobs with upload times for a different number of servers: the run is refused

    @property
    def fine(self) -> bool:
        """True if every job has the fields and fits, and the run would not be refused for its upload times."""
        return not self.without and not self.unfit.jobs and not self.off


def judge(scheduler: BaseScheduler, cluster: Cluster, table: JobTable, demands: Demands) -> Judgement:
    """Jobs of the table that the scheduler would reject on the empty cluster for lack of a field or of room, and those
    with upload times for a different number of servers.
    """
    needs = fields_needed(scheduler, cluster)
    complete = all_present(table, needs)
    lacking = {part: len(table) - int(present(table, part).sum()) for part in needs}
    if scheduler.alternatives:
        covered = able(scheduler, table)
        lacking |= {part: int((~covered & ~present(table, part)).sum()) for part in scheduler.alternatives[0]}
        complete &= covered
    lacking = {part: count for part, count in lacking.items() if count}
    refused, reason = demands.refused(scheduler, cluster)
    off = int(uploads_off(table, len(cluster.servers)).sum()) if scheduler.model.uploads_to_servers else 0
    without, runnable = len(table) - int(complete.sum()), 0 if off else int((complete & ~refused).sum())
    return Judgement(len(table), runnable, lacking, without, Unfit(int(refused.sum()), reason), off)


def fields_needed(scheduler: BaseScheduler, cluster: Cluster) -> tuple[str, ...]:
    """Fields that a job must have, with the scheduler's training model on this cluster."""
    if len(scheduler.model.supports) == 1:
        return scheduler.needs
    return needs_of(scheduler.needs, scheduler.model.training(scheduler, cluster))


def able(scheduler: BaseScheduler, table: JobTable) -> np.ndarray:
    """[job] whether one of the scheduler's alternative sets of fields is there as a whole."""
    if not scheduler.alternatives:
        return np.ones(len(table), dtype=bool)
    found = np.zeros(len(table), dtype=bool)
    for parts in scheduler.alternatives:
        found |= all_present(table, parts)
    return found


def alternatives_text(scheduler: BaseScheduler) -> str:
    """'comm_ms and iterations; or epochs and num_chunks'"""
    return "; or ".join(" and ".join(fields) for fields in scheduler.alternatives)


def warnings(scheduler: BaseScheduler, found: Judgement) -> list[str]:
    """Sentences about the jobs that would be rejected, or for which the run would be refused."""
    lines = []
    total = counted(found.jobs, "job")
    if found.off:
        lines.append(
            f"The upload times of {found.off:,} of {total} are for a different number of servers than this cluster "
            f"has; a run with {scheduler.title} would be refused."
        )
    if found.lacking:
        lines.append(
            f"{_lacking_words(found)}, needed by {scheduler.title}; "
            f"{'it' if found.without == 1 else 'they'} would be rejected."
        )
    if found.unfit.jobs and found.unfit.reason is not None:
        why = readable(found.unfit.reason.code, found.unfit.reason.values, ()).removeprefix("Rejected: ")
        do = "does" if found.unfit.jobs == 1 else "do"
        lines.append(f"{found.unfit.jobs:,} of {total} {do} not fit: {why}")
    return lines


class Chance(NamedTuple):
    """Jobs that a scheduler with its defaults can run, and why it cannot run the others; empty if it can run all."""

    runnable: int
    reason: str


def chances(cluster: Cluster, table: JobTable, demands: Demands) -> dict[str, Chance]:
    """Each scheduler with its defaults, by name."""
    found = {}
    for name in schedulers():
        scheduler = build(name)
        try:
            scheduler.check(cluster)
        except (ModelError, UnknownName) as error:
            found[name] = Chance(0, str(error))
        else:
            judged = judge(scheduler, cluster, table, demands)
            found[name] = Chance(judged.runnable, " ".join(warnings(scheduler, judged)))
    return found


def made_fields(table: JobTable, fields: Sequence[str]) -> dict[str, dict[str, int]]:
    """{drawn | derived: {field: jobs}} of these fields: how many jobs have a value that is not the trace's own."""
    if table.provenance is None:
        return {}
    counts = np.bincount(table.provenance.codes[table.provenance.codes >= 0], minlength=len(table.provenance.words))
    found: dict[str, dict[str, int]] = {}
    for words, jobs in zip(table.provenance.words, counts.tolist(), strict=True):
        for name in fields:
            for origin in {own for part, own in words.items() if part.partition(".")[0] == name} - {"trace"}:
                of = found.setdefault(origin, {})
                of[name] = of.get(name, 0) + jobs
    return {origin: {name: jobs for name, jobs in of.items() if jobs} for origin, of in sorted(found.items())}


def _lacking_words(found: Judgement) -> str:
    """'80 of 80 jobs lack num_samples and sample_ms, 3 lack gradient_mb'"""
    by_count: dict[int, list[str]] = {}
    for part, count in found.lacking.items():
        by_count.setdefault(count, []).append(part)
    words: list[str] = []
    for count, parts in sorted(by_count.items(), reverse=True):
        *others, last = parts
        named = f"{', '.join(others)} and {last}" if others else last
        of = "" if words else f" of {counted(found.jobs, 'job')}"
        words.append(f"{count:,}{of} {'lacks' if count == 1 else 'lack'} {named}")
    return ", ".join(words)


def _distinct(table: JobTable, role: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Demands [distinct, resource], the place of each job's among them (-1 without one), and jobs of each."""
    column = table.columns.get(role)
    place = np.full(len(table), -1, dtype=np.int64)
    if column is None:
        return np.empty((0, len(RESOURCES)), dtype=np.int64), place, np.empty(0, dtype=np.int64)
    given = column[:, GPU] >= 0
    demands, inverse, counts = np.unique(column[given], axis=0, return_inverse=True, return_counts=True)
    place[given] = inverse.reshape(-1)
    return demands, place, counts


def _fits(demands: np.ndarray, capacities: np.ndarray, limited: Sequence[int]) -> np.ndarray:
    """[demand] whether one unit fits on any of the servers."""
    if not len(capacities):
        return np.zeros(len(demands), dtype=bool)
    kinds = np.unique(capacities[:, limited], axis=0)
    step = max(1, CELLS // kinds.size)
    found = np.zeros(len(demands), dtype=bool)
    for first in range(0, len(demands), step):
        piece = slice(first, first + step)
        found[piece] = np.any(np.all(demands[piece, None, :] <= kinds[None], axis=2), axis=1)
    return found
