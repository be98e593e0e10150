"""Reference searches for Harmony's greedy search (Section V-F): exact for small cases, otherwise a wider search.

The paper's Oracle is an exhaustive search that takes 13.8 minutes for 80 jobs on 100 machines. That cannot be all
groupings (there are more than 10^90), and the paper does not say what it leaves out. So there are two:
- `exact`: every set of jobs, every grouping of it, every allocation of machines, by dynamic programming over sets:
  O(3^jobs machines^2).
- `all_pairs`: every prefix of the jobs with every number of groups up to MAX_GROUPS, each with the swaps and the
  allocation of Algorithm 1.
"""

from __future__ import annotations

import numpy as np

from scheduling.colocation.selection.grouping import Groups, Work, grouping, scores
from scheduling.colocation.selection.performance import WEIGHT, score, utilization

MAX_GROUPS = 24
MAX_EXACT_JOBS, MAX_EXACT_MACHINES = 8, 24  # up to here `exact` takes well below a second


def exact(work: Work, weight: float = WEIGHT) -> Groups | None:
    """Best grouping of any of the jobs that uses all machines; None if no job fits into memory.

    best[mask][m] is the most that the jobs of `mask`, all running, make of m machines: machines x score.
    """
    jobs, machines = len(work.comp), work.machines
    if jobs > MAX_EXACT_JOBS or machines > MAX_EXACT_MACHINES:
        raise ValueError(
            f"exact for at most {MAX_EXACT_JOBS} jobs and {MAX_EXACT_MACHINES} machines, got {jobs:,} and {machines:,}"
        )
    if not jobs or not machines:
        return None
    worth = {mask: _worth(work, mask, weight) for mask in range(1, 1 << jobs)}
    best = {0: np.where(np.arange(machines + 1) == 0, 0.0, -np.inf)}
    choice: dict[tuple[int, int], tuple[int, int]] = {}  # (mask, machines) -> (last group, its machines)
    for mask in range(1, 1 << jobs):
        lowest = mask & -mask
        found = np.full(machines + 1, -np.inf)
        group = mask
        while group:
            if group & lowest:
                rest = best[mask ^ group]
                sums = worth[group][None, :] + _shifted(rest, machines)  # [machines in all, of this group]
                own = sums.argmax(axis=1)
                top = sums[np.arange(machines + 1), own]
                for m in np.flatnonzero(top > found).tolist():
                    found[m] = top[m]
                    choice[mask, m] = (group, int(own[m]))
            group = (group - 1) & mask
        best[mask] = found
    top = max(range(1, 1 << jobs), key=lambda mask: best[mask][machines])
    return _rebuilt(work, choice, top, weight) if best[top][machines] > -np.inf else None


def all_pairs(work: Work, weight: float = WEIGHT, most_groups: int = MAX_GROUPS) -> Groups | None:
    """Best grouping over all (number of jobs, number of groups); of equal ones that with fewer jobs."""
    if not len(work.comp) or work.machines < 1:
        return None
    best, best_score = None, -0.5
    for count in range(1, len(work.comp) + 1):
        groups = np.arange(1, min(count, work.machines, most_groups) + 1)
        found = scores(work, np.full(len(groups), count), groups, weight)
        place = int(found.argmax())
        if found[place] > best_score:
            best, best_score = (count, int(groups[place])), float(found[place])
    return grouping(work, *best, weight) if best is not None else None


def _members(mask: int) -> list[int]:
    return [job for job in range(mask.bit_length()) if mask >> job & 1]


def _worth(work: Work, mask: int, weight: float) -> np.ndarray:
    """Score [machines] of the group times its machines; -inf where its memory does not fit."""
    own = _members(mask)
    counts = np.arange(1, work.machines + 1)
    held = counts[:, None]
    used = held if work.most is None else np.minimum(held, work.most[own][None, :])
    comm = np.broadcast_to(work.comm[own], (len(counts), len(own)))
    cpu, net = utilization(work.comp[own][None, :] / used, comm, work.comp[own][None, :] / held)
    floor = max(1, int(np.ceil(work.spread[own].sum() + work.peak[own].max() - 1e-9)))
    worth = np.where(counts >= floor, counts * score(cpu, net, weight), -np.inf)
    return np.concatenate([[-np.inf], worth])


def _shifted(rest: np.ndarray, machines: int) -> np.ndarray:
    """[machines in all, of the group]: what the rest makes of those left."""
    left = np.arange(machines + 1)[:, None] - np.arange(machines + 1)[None, :]
    return np.where(left >= 0, rest[np.maximum(left, 0)], -np.inf)


def _rebuilt(work: Work, choice: dict[tuple[int, int], tuple[int, int]], mask: int, weight: float) -> Groups:
    parts, left = [], work.machines
    while mask:
        group, machines = choice[mask, left]
        parts.append((_members(group), machines))
        mask, left = mask ^ group, left - machines
    members = np.full((len(parts), max(len(own) for own, _ in parts)), -1)
    for row, (own, _) in enumerate(parts):
        members[row, : len(own)] = own
    counts = np.array([machines for _, machines in parts])
    there = members >= 0
    comp, held = np.where(there, work.comp[members], 0.0), counts[:, None]
    used = held if work.most is None else np.minimum(held, np.where(there, work.most[members], 1.0))
    cpu, net = utilization(comp / used, np.where(there, work.comm[members], 0.0), comp / held)
    mean = [float((share * counts).sum() / work.machines) for share in (cpu, net)]
    return Groups(members, counts, float(score(np.array(mean[0]), np.array(mean[1]), weight)), mean[0], mean[1])
