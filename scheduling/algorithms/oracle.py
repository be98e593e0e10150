"""The Oracle, the reference for Harmony (Section V-F): Harmony with a wider search in place of Algorithm 1.

Up to 8 jobs on 24 machines the search is exact over all groupings of any of the jobs. Beyond this size it is **not**
exhaustive, and cannot be: it evaluates all pairs of a number of jobs and a number of groups up to 24, each with
Harmony's swaps and allocation (exhaustive.py). Every regrouping is over all groups of the site, with Harmony's
threshold of 5 %.
"""

from __future__ import annotations

from typing import ClassVar

from scheduling.algorithms.harmony import Found, Harmony
from scheduling.colocation.harmony_parameters import RegroupingParameters
from scheduling.colocation.selection.exhaustive import MAX_EXACT_JOBS, MAX_EXACT_MACHINES, all_pairs, exact
from scheduling.colocation.selection.grouping import Work
from scheduling.colocation.selection.regrouping import Side


class Oracle(Harmony):
    """Harmony with a wider search."""

    name = "oracle"
    title = "Oracle (all-pairs search)"
    paper = "Exhaustive search of Harmony (ICDCS 2021)"
    no_beliefs = "it searches with the actual times of all jobs"
    summary = (
        "Harmony with a wider search for groups: exhaustive for small cases, otherwise all "
        "combinations of job count and group count."
    )
    Parameters: ClassVar[type] = RegroupingParameters

    def _found(self, work: Work) -> Found | None:
        tiny = len(work.comp) <= MAX_EXACT_JOBS and work.machines <= MAX_EXACT_MACHINES
        groups = (exact if tiny else all_pairs)(work, self.parameters.cpu_weight)
        return None if groups is None else Found(groups.score, lambda: groups)

    def _sets(self, others: list[Side]) -> list[list[int]]:
        return [[side.group for side in others]]
