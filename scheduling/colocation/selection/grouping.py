"""Assignment of jobs to groups [Harmony, Section IV-B3]: number of groups, members and swaps.

Differs from the paper where it leaves things open:
- The number of groups minimizes a convex function, so it is a weighted median, not a search.
- Jobs are dealt out as equal blocks of the list sorted by iteration time; balancing is left to the swaps.
- Swaps go in rounds: the k-th most CPU-heavy group trades with the k-th most network-heavy one; the first pair of the
  first round is the paper's. A pair swaps the two jobs that bring both closest to balance, and only if their
  utilization rises.

Many choices (number of jobs, number of groups) are evaluated at once: arrays are [choice, group, member].
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from scheduling.colocation.selection.allocation import allocate, ratios
from scheduling.colocation.selection.performance import MIN_ITERATION_MS, WEIGHT, score, utilization

ROUNDS = 12
RISES = 1e-12  # of a score; less is no improvement
MIN_RISE = 1e-4  # of a group's score on average; when a round brings less, it is the last
EQUAL = 1e-12  # relative; two sums of absolute values this close are the same


class Work(NamedTuple):
    """Jobs in the order in which they are considered, and the machines to share out.

    comp, comm  [job] machine-ms on the average machine, and ms
    spread      [job] machines that the job's part of memory fills, which add up in a group
    peak        [job] machines that its work set fills; only the largest of a group counts, for one job computes at
                a time
    most        [job] average machines that the job can use; None: any number, for all jobs
    """

    comp: np.ndarray
    comm: np.ndarray
    machines: int
    spread: np.ndarray
    peak: np.ndarray
    most: np.ndarray | None = None


class Groups(NamedTuple):
    """Grouping: members [group, place] are positions in the order of jobs, -1 for none; machines [group]."""

    members: np.ndarray
    machines: np.ndarray
    score: float
    cpu: float
    net: float

    def lists(self) -> list[list[int]]:
        """The members of each group."""
        return [[job for job in row if job >= 0] for row in self.members.tolist()]


def numbers_of_groups(comp: np.ndarray, comm: np.ndarray, machines: int, counts: np.ndarray) -> np.ndarray:
    """Best number of groups [Harmony, Algorithm 1] by prefix of `counts` jobs.

    It is the n in 1..min(jobs, machines) that minimizes sum |comp n / machines - comm|; of equal ones the larger: fewer
    jobs in a group, by the performance model [Harmony, Section IV-B2].
    """
    with np.errstate(divide="ignore"):
        turns = np.where(comp > 0, comm * machines / np.where(comp > 0, comp, 1), np.inf)  # where each term turns round
    order = np.argsort(turns, kind="stable")
    weights = np.where(order[None, :] < counts[:, None], comp[order], 0.0)  # [prefix, job in the order of its turn]
    passed = np.cumsum(weights, axis=1)
    half = passed[:, -1:] / 2
    middle = np.argmax(passed > half * (1 + 1e-12), axis=1)  # the upper median: the last n of a flat bottom
    most = np.minimum(counts, machines)
    flat = passed[:, -1] <= 0
    at = np.floor(np.where(flat, 1, np.minimum(turns[order[middle]], most)))
    first = np.clip(at, 1, most).astype(np.int64)
    second = np.clip(first + 1, 1, most)
    inside = np.arange(len(comp))[None, :] < counts[:, None]
    sums = [
        np.where(inside, np.abs(comp[None, :] * (n[:, None] / machines) - comm[None, :]), 0.0).sum(axis=1)
        for n in (first, second)
    ]
    chosen = np.where(sums[1] <= sums[0] * (1 + EQUAL), second, first)
    return np.where(flat, most, chosen)


def scores(work: Work, counts: np.ndarray, groups: np.ndarray, weight: float = WEIGHT) -> np.ndarray:
    """[choice]: score of the best grouping of the first `counts` jobs in `groups` groups; -1: memory lacks."""
    _, machines, cpu, net = _evaluate(work, counts, groups, weight)
    return np.where(machines[:, 0] > 0, score(cpu, net, weight), -1.0)


def grouping(work: Work, count: int, groups: int, weight: float = WEIGHT) -> Groups:
    """The grouping of one choice."""
    members, machines, cpu, net = _evaluate(work, np.array([count]), np.array([groups]), weight)
    total = float(score(cpu, net, weight)[0]) if machines[0, 0] > 0 else -1.0
    return Groups(members[0], machines[0], total, float(cpu[0]), float(net[0]))


def _evaluate(
    work: Work, counts: np.ndarray, groups: np.ndarray, weight: float
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """(members, machines, Eq. 4 for the CPU, for the network); without machines where memory lacks."""
    members = _swapped(work, _blocks(work, counts, groups), groups, weight)
    there = members >= 0
    comp, comm = np.where(there, work.comp[members], 0.0), np.where(there, work.comm[members], 0.0)
    floors = np.ceil(
        np.where(there, work.spread[members], 0.0).sum(axis=2)
        + np.where(there, work.peak[members], 0.0).max(axis=2)
        - 1e-9
    ).astype(np.int64)
    exists = there.any(axis=2)
    floors = np.where(exists, np.maximum(floors, 1), 0)
    fits = floors.sum(axis=1) <= work.machines
    ratio = np.where(exists, ratios(comp.sum(axis=2), comm.sum(axis=2)), -1.0)
    machines = np.zeros(floors.shape, dtype=np.int64)
    if fits.any():
        machines[fits] = allocate(ratio[fits], work.machines, floors[fits])
    held = np.maximum(machines, 1)[:, :, None]
    used = held if work.most is None else np.minimum(held, np.where(there, work.most[members], 1.0))
    cpu, net = utilization(comp / used, comm, comp / held)
    share = machines / work.machines
    return members, machines, (cpu * share).sum(axis=1), (net * share).sum(axis=1)


def _blocks(work: Work, counts: np.ndarray, groups: np.ndarray) -> np.ndarray:
    """Members: equal blocks of jobs in descending order of iteration time at the uniform degree of parallelism."""
    most = int(counts.max())
    inside = np.arange(most)[None, :] < counts[:, None]
    times = work.comp[None, :most] * (groups[:, None] / work.machines) + work.comm[None, :most]
    order = np.argsort(np.where(inside, -times, np.inf), axis=1, kind="stable")
    size, larger = np.divmod(counts, groups)
    number = np.arange(int(groups.max()))[None, :]
    first = number * size[:, None] + np.minimum(number, larger[:, None])
    length = np.where(number < groups[:, None], size[:, None] + (number < larger[:, None]), 0)
    place = np.arange(int((size + (larger > 0)).max()))
    position = first[:, :, None] + place
    there = place < length[:, :, None]
    flat = np.take_along_axis(order, np.minimum(position, most - 1).reshape(len(counts), -1), axis=1)
    return np.where(there, flat.reshape(position.shape), -1)


def _swapped(work: Work, members: np.ndarray, groups: np.ndarray, weight: float) -> np.ndarray:
    """Members after rounds of swaps between pairs of groups; a choice takes part as long as its score rises."""
    active = np.flatnonzero(groups >= 2)
    if not len(active):
        return members
    # [place, choice, group]: sums over a group's places are fast
    places = np.ascontiguousarray(np.moveaxis(members, 2, 0))
    factor = groups / work.machines
    for _ in range(ROUNDS):
        rise = _round(work, places, active, groups[active], factor[active], weight)
        active = active[rise > MIN_RISE * groups[active]]
        if not len(active):
            break
    return np.moveaxis(places, 0, 2)


def _round(
    work: Work, members: np.ndarray, active: np.ndarray, groups: np.ndarray, factor: np.ndarray, weight: float
) -> np.ndarray:
    """Round of exchanges, in place, for the active choices; the total increase of their groups' scores.

    Arrays are [place, choice, group]. Pairs are disjoint, so all of them are decided at once.
    """
    own = members[:, active]
    there = own >= 0
    comp = np.where(there, work.comp[own] * factor[:, None], 0.0)
    comm = np.where(there, work.comm[own], 0.0)
    sums_comp, sums_comm = comp.sum(axis=0), comm.sum(axis=0)
    tilts, volumes = sums_comp - sums_comm, sums_comp + sums_comm
    lean = np.where(there[0], -tilts / np.maximum(volumes, MIN_ITERATION_MS), np.inf)  # jobs fill the first positions
    order = np.argsort(lean, axis=1, kind="stable")  # most CPU-heavy first, no group last
    couples = np.arange(int(groups.max()) // 2)[None, :]
    real = couples < (groups // 2)[:, None]
    row = np.arange(len(active))[:, None]
    heavy, light = order[row, couples], order[row, np.where(real, groups[:, None] - 1 - couples, 0)]
    time, tilt = comp + comm, comp - comm
    # [place, choice, pair]; a place without a job is far from everything
    give, take = np.where(there, tilt, np.inf)[:, row, heavy], np.where(there, tilt, -np.inf)[:, row, light]
    wanted = (tilts[row, heavy] - tilts[row, light]) / 2
    off = (give - wanted)[:, None] - take[None]
    np.abs(off, out=off)
    width = len(members)
    best = off.reshape(width * width, *wanted.shape).argmin(axis=0)
    out, back = best // width, best % width
    left, right = (out, row, heavy), (back, row, light)
    rise = np.zeros(wanted.shape)
    for mine, theirs in ((left, right), (right, left)):
        group = mine[1:]
        times = time[:, *group]
        old = _score(sums_comp[group], sums_comm[group], times.max(axis=0), weight)
        times[mine[0], row, couples] = time[theirs]
        new_comp, new_comm = sums_comp[group] - comp[mine] + comp[theirs], sums_comm[group] - comm[mine] + comm[theirs]
        rise += _score(new_comp, new_comm, times.max(axis=0), weight) - old
    accepted = real & (rise > RISES)
    choice = active[np.nonzero(accepted)[0]]
    here, yonder = (out[accepted], choice, heavy[accepted]), (back[accepted], choice, light[accepted])
    members[here], members[yonder] = members[yonder], members[here]
    return np.asarray(np.where(accepted, rise, 0.0).sum(axis=1))


def _score(comp: np.ndarray, comm: np.ndarray, longest: np.ndarray, weight: float) -> np.ndarray:
    """Score of groups by Eq. (1) and (3), times and utilization, from the sums and the longest job."""
    period = np.maximum(np.maximum(comp, comm), np.maximum(longest, MIN_ITERATION_MS))
    return score(comp / period, comm / period, weight)
