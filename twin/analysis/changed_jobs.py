"""Jobs that edits changed between two runs, and the metrics that can be ranked in spite of it.

Utilities depend on the time in slots, so slots of another length give every job another utility.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields
from typing import NamedTuple

import numpy as np

from scheduling.kernel.parameters import UnknownName
from scheduling.model.values import Job, ModelError
from twin.files.stored_jobs import any_utility, field_of
from twin.models import MirrorRecord, Run
from twin.scenarios import store
from twin.scenarios.edits import parse

UTILITY = "utility"
# upload times are those of the links; a limit is what a scheduler knows, not what a job has to do
NOT_OF_THE_JOB = ("id", "upload_ms", "cloud_upload_ms", "limit_ms", "earlier_sizes")
OF_UTILITY = ("total_utility",)  # keys of metrics that depend on the utilities of jobs
OF_UNCHANGED = ("common_jct_ms", "certificate_ratio")  # not of all jobs, or ranked by rules of their own


class Changes(NamedTuple):
    """Differences between the jobs of the first run and of another one."""

    only_first: int  # jobs without one of the same id in the other run
    only_other: int
    work: np.ndarray  # bool [job of the first run]: in both, with other work, another arrival or other demands
    worth: np.ndarray  # bool [job of the first run]: in both, with another utility
    slots: bool = False  # utilities that count slots of another length

    @property
    def any(self) -> bool:
        """True if a job differs."""
        return bool(self.only_first or self.only_other or self.work.any() or self.worth.any())

    def ranked(self, key: str, common: bool = False) -> bool:
        """True if values of the metric can be ranked. common: if it covers only the jobs that both runs have."""
        if key in OF_UNCHANGED:
            return True
        alike = not self.work.any() and (common or not (self.only_first or self.only_other))
        return alike and not (key in OF_UTILITY and (self.slots or self.worth.any()))


def changes(first: Sequence[Job], other: Sequence[Job], slots_ms: tuple[int, int]) -> Changes:
    """Differences between the jobs of two runs of one trace, matched by id. slots_ms: lengths of the runs' slots."""
    work, worth = np.zeros(len(first), dtype=bool), np.zeros(len(first), dtype=bool)
    slots = slots_ms[0] != slots_ms[1] and any_utility(first)
    if first is other:
        return Changes(0, 0, work, worth, slots)
    ids, index = field_of(first, "id"), {name: i for i, name in enumerate(field_of(other, "id"))}
    mine = [i for i, name in enumerate(ids) if name in index]
    yours = [index[ids[i]] for i in mine]
    aligned = mine == yours and len(first) == len(other)
    for name in (field.name for field in fields(Job)):
        values, others = field_of(first, name), field_of(other, name)
        if name in NOT_OF_THE_JOB or (aligned and values == others):
            continue
        unlike = [values[i] != others[j] for i, j in zip(mine, yours, strict=True)]
        (worth if name == UTILITY else work)[mine] |= np.array(unlike, dtype=bool)
    return Changes(len(first) - len(mine), len(other) - len(mine), work, worth, slots)


def edits_of_jobs(run: Run) -> list[str]:
    """Sentences of the run's edits that change jobs."""
    return [edit.sentence() for edit in parse(run.edits, run.epoch_ms) if edit.of_jobs]


def job_count(run: Run) -> int:
    """Number of jobs of a run: of its trace, as edits leave them, or of the log of a live cluster."""
    if run.mode_rules.inputs_in_log:
        return MirrorRecord.objects.filter(run=run, kind=MirrorRecord.JOB).count()
    try:
        if any(edit.of_jobs for edit in parse(run.edits)):
            return len(store.of_run(run)[1])
    except (UnknownName, ModelError):  # an edit or scheduler that is not installed any more
        pass
    return int(run.scenario.trace.job_count)
